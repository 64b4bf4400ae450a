package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// keyHeader names a request, so that it is carried out once however often it is
// sent (draft-ietf-httpapi-idempotency-key-header). An answer that is given again
// says so in replayedHeader.
const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	maxKeyLen      = 255
	// maxKeptAnswer bounds an answer that is kept, and maxKeptAnswers those of a workspace,
	// in bytes: beyond that the oldest go.
	maxKeptAnswer  = 256 << 10
	maxKeptAnswers = 32 << 20
	// keysPerHour is how many requests with a key a caller may make: each takes room
	// for a day.
	keysPerHour = 60_000
)

// takesKey reports whether a route heeds an Idempotency-Key: what devices and programs do. Answers
// to those who manage may hold secrets, which are not kept.
func (rt *Route) takesKey() bool {
	return rt.Method == http.MethodPost && rt.Access.Scopes != 0 && rt.Access.Scopes&rimewatch.ScopesManage == 0
}

// Keyed reports whether a request has an Idempotency-Key.
func Keyed(r *http.Request) bool {
	_, sent := r.Header[keyHeader]
	return sent
}

// keys are the requests with an Idempotency-Key that are being carried out.
type keys struct {
	running sync.Map // callerKey → chan struct{}, closed at its end
	rate    *limit.Keyed
	rooms   sync.Map // by workspace → *room
}

// room counts how much the answers take that are kept of a workspace.
type room struct {
	mu    sync.Mutex
	known bool
	bytes int64
}

// makeRoom counts an answer that is about to be kept, or was, and has the oldest of its
// workspace go where there are too many.
func (a *API) makeRoom(ctx context.Context, x *store.Answer) error {
	found, _ := a.keys.rooms.LoadOrStore(x.WorkspaceID, new(room))
	r := found.(*room)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += x.Bytes(); r.known && r.bytes <= maxKeptAnswers {
		return nil
	}
	most := int64(maxKeptAnswers)
	if r.known {
		most = maxKeptAnswers / 4 * 3 // so that it is not asked for soon again
	}
	kept, err := a.cfg.Auth.TrimAnswers(ctx, x.WorkspaceID, most-x.Bytes())
	if err == nil {
		r.known, r.bytes = true, kept+x.Bytes()
	}
	return err
}

// keyWait is for how long a request waits for one with the same key.
const keyWait = 5 * time.Second

// begin waits until no other request has the key, a while.
func (k *keys) begin(ctx context.Context, key callerKey) (done func(), e *rimewatch.Error) {
	ended := make(chan struct{})
	timeout := time.NewTimer(keyWait)
	defer timeout.Stop()
	for {
		other, busy := k.running.LoadOrStore(key, ended)
		if !busy {
			return func() { k.running.Delete(key); close(ended) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-timeout.C:
			return nil, rimewatch.Errorf(rimewatch.CodeConflict, "A request with this %s is being carried out.", keyHeader)
		case <-ctx.Done():
			return nil, rimewatch.Errorf(rimewatch.CodeUnavailable, "The request was cancelled.")
		}
	}
}

type callerKey struct {
	caller int64
	key    string
}

// Work is a request with an Idempotency-Key.
type Work struct {
	Principal *account.Principal
	Now       rimewatch.Time
	Body      []byte
	Query     string // the parameters that change the effect
	// Do carries it out. Its writes with ctx and the key become durable together.
	Do func(ctx context.Context) (status int, body []byte, e *rimewatch.Error)
	// Again makes the answer to a reading that was stored; nil = it has none.
	Again func(ctx context.Context, deviceID int64, at rimewatch.Time) (status int, body []byte, e *rimewatch.Error)
	// Repeats says that doing it a second time changes nothing, but that it writes
	// more than once: only a whole answer means that it was done.
	Repeats bool
}

// Once carries out a request with an Idempotency-Key, or answers again what was
// answered the first time; replayed says which. Only a success is remembered.
func (a *API) Once(r *http.Request, w *Work) (status int, body []byte, replayed bool, e *rimewatch.Error) {
	x, e := answerOf(r, w)
	if e != nil {
		return 0, nil, false, e
	}
	ctx := r.Context()
	done, e := a.keys.begin(ctx, callerKey{x.Caller, x.Key})
	if e != nil {
		return 0, nil, false, e
	}
	defer done()
	old, err := a.cfg.Auth.AnswerTo(ctx, x.Caller, x.Key, w.Now)
	switch {
	case err == nil:
		status, body, e = w.replay(ctx, &old, &x)
		return status, body, true, e
	case rimewatch.CodeOf(err) != rimewatch.CodeNotFound:
		return 0, nil, false, AsError(err)
	}
	if _, wait := a.keys.rate.Take(x.Caller, w.Now); wait > 0 {
		e := ErrRateLimited(wait)
		return 0, nil, false, e.With(keyHeader, "was sent with too many requests within an hour")
	}
	working := ctx
	if !w.Repeats {
		working = store.WithAnswer(ctx, &x)
	}
	status, body, e = w.Do(working)
	if e != nil || status/100 != 2 {
		return status, body, false, e
	}
	// It is carried out, whether or not its answer can be kept and the client waits.
	ctx = context.WithoutCancel(ctx)
	again := x.DeviceID != 0 && w.Again != nil // its answer is made of the reading, and is kept with it
	if !again && len(body) <= maxKeptAnswer {
		x.Status, x.Body = status, body
	}
	err = a.makeRoom(ctx, &x)
	if err == nil && !again {
		err = a.cfg.Auth.KeepAnswer(ctx, &x)
	}
	if err != nil {
		a.cfg.Log.Warn("keep the answer to a request with a key", "path", r.URL.Path, "error", err)
	}
	return status, body, false, nil
}

// answerOf returns a kept answer without its status and body yet.
func answerOf(r *http.Request, w *Work) (x store.Answer, e *rimewatch.Error) {
	sent := r.Header[keyHeader]
	if len(sent) != 1 || sent[0] == "" || len(sent[0]) > maxKeyLen || strings.ContainsFunc(sent[0], func(c rune) bool { return c < ' ' || c > '~' }) {
		return x, rimewatch.Invalid(keyHeader, "must be one of 1 to %d visible ASCII characters", maxKeyLen)
	}
	// Method, path and body are the request. Its type is not, as the same bytes come with one and
	// without: all count as JSON, under which most are kept since before that was so.
	h := sha256.New()
	_, _ = io.WriteString(h, r.Method+" "+r.URL.EscapedPath()+"?"+w.Query+"\n"+TypeJSON+"\n")
	_, _ = h.Write(w.Body)
	x = store.Answer{WorkspaceID: w.Principal.WorkspaceID, Caller: limitKey(w.Principal), Key: sent[0], At: w.Now}
	h.Sum(x.Request[:0])
	return x, nil
}

// replay answers again.
func (w *Work) replay(ctx context.Context, old, x *store.Answer) (status int, body []byte, e *rimewatch.Error) {
	switch {
	case old.Request != x.Request || old.WorkspaceID != x.WorkspaceID:
		return 0, nil, rimewatch.Invalid(keyHeader, "was used for another request")
	case old.Status != 0:
		return old.Status, old.Body, nil
	case old.DeviceID != 0 && w.Again != nil:
		return w.Again(ctx, old.DeviceID, old.ReadingAt)
	}
	return 0, nil, rimewatch.Errorf(rimewatch.CodeConflict, "The request with this %s was carried out, but its answer is lost: check before you send it under another key.", keyHeader)
}

// once takes a request with an Idempotency-Key to its route.
func (a *API) once(c *Call, r *http.Request) {
	w := c.W
	var failed *held
	status, body, replayed, e := a.Once(r, &Work{
		Principal: &c.Principal, Now: c.Now, Body: c.body, Query: c.doing(), Repeats: c.route.Repeats,
		Do: func(ctx context.Context) (int, []byte, *rimewatch.Error) {
			out := &held{ResponseWriter: w, status: http.StatusOK}
			r := r.WithContext(ctx)
			c.W, c.R = out, r
			a.answerer(c).ServeHTTP(out, r)
			c.W = w
			if out.status/100 != 2 {
				failed = out
			}
			return out.status, out.body.Bytes(), nil
		},
	})
	switch {
	case failed != nil:
	case e != nil:
		a.Fail(c, e)
		return
	case replayed:
		c.Header("Content-Type", TypeJSON)
		SetReplayed(w.Header())
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// doing returns the query parameters that change the effect: those that the route knows and that are not
// its default.
func (c *Call) doing() string {
	query := make(url.Values, len(c.Query))
	for name, values := range c.Query {
		usual := slices.ContainsFunc(c.route.op.Parameters, func(p *huma.Param) bool {
			return p.In == "query" && p.Name == name && fmt.Sprint(p.Schema.Default) == values[0]
		})
		if !usual {
			query[name] = values
		}
	}
	return query.Encode()
}

// SetReplayed marks an answer that was given before.
func SetReplayed(h http.Header) { h.Set(replayedHeader, "true") }

// held takes an answer that is kept before it is sent.
type held struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (h *held) WriteHeader(status int)      { h.status = status }
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

func newKeys() keys { return keys{rate: limit.ByKey(limit.PerHour(keysPerHour))} }
