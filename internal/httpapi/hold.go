package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Body reads a body of at most MaxSingleBody bytes. Those that are held at a time
// are counted by workspace once they are larger than promptBody; beyond its share
// a workspace waits a little and is then turned away. The caller calls release,
// which is never nil, when it is done with the body.
func (a *API) Body(w http.ResponseWriter, r *http.Request, workspaceID int64, buf []byte) (body []byte, release func(), e *rimewatch.Error) {
	release = func() {}
	body, e = readBody(w, r, buf, MaxSingleBody, func() (e *rimewatch.Error) {
		release, e = a.bodies.Take(r.Context(), workspaceID)
		return e
	})
	return body, release, e
}

// BulkBody is Body for a body of at most maxBulkBody bytes, which takes its place
// before it is read, unless it is as small as a single reading's.
func (a *API) BulkBody(w http.ResponseWriter, r *http.Request, workspaceID int64, buf []byte) (body []byte, release func(), e *rimewatch.Error) {
	if r.ContentLength >= 0 && r.ContentLength <= MaxSingleBody && r.Header.Get("Content-Encoding") == "" {
		return a.Body(w, r, workspaceID, buf)
	}
	if release, e = a.bulk.Take(r.Context(), workspaceID); e != nil {
		return buf, release, e
	}
	body, e = readBody(w, r, buf, maxBulkBody, nil)
	return body, release, e
}

// Door are the checks of a body that comes by a path outside the described routes.
type Door struct {
	Most  int                     // bytes, at most MaxSingleBody; 0 = as much as a bulk body
	Check func(body []byte) error // before anything else sees it; nil = it is read as something else than JSON, or by the Scanner of package wire
}

// StrictObject is a Door's Check for one JSON object: CodeInvalidJSON.
func StrictObject(body []byte) error {
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] != '{' {
		return wire.InvalidJSON("it must be an object")
	}
	return wire.CheckBody(body)
}

// MostMessage is how large a body may be that has nothing large to say.
const MostMessage = promptBody

// Take reads the body of a call for a workspace and checks it. It is let go of at the
// end of the call.
func (a *API) Take(c *Call, workspaceID int64, d Door) (body []byte, err error) {
	var e *rimewatch.Error
	release := func() {}
	switch {
	case d.Most == 0:
		body, release, e = a.BulkBody(c.W, c.R, workspaceID, nil)
	case d.Most <= promptBody:
		body, e = readBody(c.W, c.R, nil, d.Most, nil)
	default:
		body, release, e = a.Body(c.W, c.R, workspaceID, nil)
	}
	c.release = release
	if e != nil {
		return nil, e
	}
	if d.Check != nil {
		err = d.Check(body)
	}
	return body, err
}

// Places bound the bodies or jobs at a time, in all and by workspace. Each workspace
// has one place of its own, so that others can slow it down and never keep it out.
type Places struct {
	share int
	full  *rimewatch.Error // the answer where there is none
	all   chan struct{}

	mu sync.Mutex
	by map[int64]*workspacePlaces
}

type workspacePlaces struct {
	own  chan struct{} // reserved for the workspace
	more chan struct{} // those that it has of all
}

// How many bodies are held: with them at their largest 256 MiB and 128 MiB.
const (
	bulkAll         = 16
	bulkWorkspace   = 8
	bodiesAll       = 128
	bodiesWorkspace = 32
	placeWait       = 2 * time.Second
)

func errManyBodies() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many large uploads at once.")
}

// NewPlaces makes places, of which no workspace has more than its share. full is the
// answer where there is none.
func NewPlaces(all, share int, full *rimewatch.Error) *Places {
	return &Places{share: share, full: full, all: make(chan struct{}, all), by: make(map[int64]*workspacePlaces)}
}

func (b *Places) of(workspaceID int64) *workspacePlaces {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.by[workspaceID]
	if w == nil {
		w = &workspacePlaces{make(chan struct{}, 1), make(chan struct{}, b.share-1)}
		b.by[workspaceID] = w
	}
	return w
}

// Take waits a little for a place: CodeRateLimited when there is none. release is
// never nil.
func (b *Places) Take(ctx context.Context, workspaceID int64) (release func(), e *rimewatch.Error) {
	w := b.of(workspaceID)
	timer := time.NewTimer(placeWait)
	defer timer.Stop()
	var taken []chan struct{}
	release = func() {
		for _, c := range taken {
			<-c
		}
	}
	for _, c := range []chan struct{}{w.more, b.all} {
		select {
		case w.own <- struct{}{}:
			release()
			return func() { <-w.own }, nil
		case c <- struct{}{}:
			taken = append(taken, c)
			continue
		case <-timer.C:
			again := *b.full
			again.RetryAfter = time.Second
			e = &again
		case <-ctx.Done():
			e = rimewatch.Errorf(rimewatch.CodeUnavailable, "The request was cancelled.")
		}
		release()
		return func() {}, e
	}
	return release, nil
}
