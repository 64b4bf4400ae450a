package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Delay is how a person's call waits to be carried out.
type Delay struct {
	About string // the name of the thing
	Now   bool   // it does not wait: it makes alerts louder, or is about little
	// Keep is handed to the route when the call is carried out (Call.Kept), in place of a body.
	Keep string
	// Answer makes the data of the answer, nil = the act alone.
	Answer func(act ActJSON) any
}

// undo finds out whether and how a call waits. It refuses what cannot be done as things are.
type undo func(c *Call) (Delay, error)

// About is an undo of calls that always wait; find returns the thing's name.
func About(find func(c *Call) (string, error)) func(c *Call) (Delay, error) {
	return func(c *Call) (Delay, error) {
		name, err := find(c)
		return Delay{About: name}, err
	}
}

// ActJSON is an act in answers.
type ActJSON struct {
	ID          int64              `json:"id"`
	Does        string             `json:"does" doc:"The operation, by its id in this description." example:"delete-device"`
	About       string             `json:"about" doc:"The name of the thing."`
	By          string             `json:"by"`
	State       rimewatch.ActState `json:"state" doc:"pending, done, undone, or failed."`
	EffectiveAt rimewatch.Time     `json:"effective_at" nullable:"false" doc:"When it is carried out; until then it can be taken back."`
	CreatedAt   rimewatch.Time     `json:"created_at" nullable:"false"`
	SettledAt   rimewatch.Time     `json:"settled_at"`
	SettledBy   string             `json:"settled_by" doc:"Who took it back; empty: nobody did."`
	Failure     string             `json:"failure" doc:"Why it could not be carried out."`
}

// ActData is the data of answers about one act.
type ActData struct {
	Act ActJSON `json:"act"`
}

// ActList are acts of a workspace.
type ActList struct {
	Paged
	Acts []ActJSON `json:"acts"`
}

func actJSON(x *rimewatch.Act) ActJSON {
	return ActJSON{x.ID, x.Does, x.About, x.By, x.State, x.EffectiveAt, x.CreatedAt, x.SettledAt, x.SettledBy, x.Failure}
}

// laterAsked is the preference of a page: a person's act there can be taken back for a
// moment (RFC 7240, 4.1). Programs that use a session are answered as before there was one.
const laterAsked = "respond-async"

// waits reports whether a call may have to wait: those of people in the web UI do.
func (c *Call) waits(a *API) bool {
	return c.route.Undo != nil && a.cfg.Acts != nil && c.act == nil && c.Principal.Session && c.Principal.UserID != 0 &&
		slices.ContainsFunc(c.R.Header["Prefer"], func(v string) bool {
			return slices.ContainsFunc(strings.Split(v, ","), func(p string) bool { return strings.EqualFold(strings.TrimSpace(p), laterAsked) })
		})
}

// Kept is Delay.Keep of a call that has waited, "" = it has not.
func (c *Call) Kept() string { return c.kept }

// answerer answers a call, now or by keeping it for later.
func (a *API) answerer(c *Call) http.Handler {
	if !c.waits(a) {
		return c.route.serve
	}
	return a.rawHandler(func(c *Call) error {
		d, err := c.route.Undo(c)
		if err != nil {
			return err
		}
		if d.Now {
			c.route.serve.ServeHTTP(c.W, c.R)
			return nil
		}
		return a.later(c, &d)
	})
}

// later keeps a call, and answers that it is kept. The same call by anybody, which already
// waits, is kept once: who takes it back has taken it back.
func (a *API) later(c *Call, d *Delay) error {
	ctx := c.R.Context()
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return err
	}
	x := rimewatch.Act{
		WorkspaceID: c.Workspace(), UserID: c.Principal.UserID, By: by, Does: c.route.ID, About: d.About, Method: c.route.Method, Target: c.R.URL.RequestURI(),
		IfMatch: strings.Join(c.R.Header["If-Match"], ","), Body: string(c.body), EffectiveAt: c.Now.Add(rimewatch.UndoTime), State: rimewatch.ActPending, CreatedAt: c.Now,
	}
	a.acts.Lock()
	defer a.acts.Unlock()
	waiting, _, err := a.cfg.Acts().Select(ctx, c.Workspace(), store.Selection{EndAfter: c.Now})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, func(y rimewatch.Act) bool { return y.State == rimewatch.ActPending && y.Same(&x) })
	if i >= 0 && d.Keep == "" {
		x = waiting[i]
	} else {
		if d.Keep != "" {
			x.Body = d.Keep
		}
		if err := a.cfg.Acts().Create(ctx, &x); err != nil {
			return err
		}
	}
	var data any = ActData{actJSON(&x)}
	if d.Answer != nil {
		data = d.Answer(actJSON(&x))
	}
	b, err := wire.AppendJSON(nil, envelope[any]{true, data})
	if err != nil {
		return err
	}
	c.Header("Preference-Applied", laterAsked)
	c.Header("Location", Prefix+"/v1/acts/"+strconv.FormatInt(x.ID, 10))
	c.Header("Content-Type", TypeJSON)
	c.W.WriteHeader(http.StatusAccepted)
	_, _ = c.W.Write(append(b, '\n'))
	return nil
}

// CarryOut carries out an act that is due, as its route would have, with the rights that the
// person has now. An error means that it is to be tried again.
func (a *API) CarryOut(ctx context.Context, x *rimewatch.Act) error {
	if a.cfg.Serves != nil && !a.cfg.Serves(x.WorkspaceID) || a.cfg.Loading != nil && a.cfg.Loading(ctx) {
		return nil
	}
	now, err := a.cfg.Acts().Get(ctx, x.WorkspaceID, x.ID)
	if err != nil || now.State != rimewatch.ActPending {
		return err
	}
	failure, err := a.carry(ctx, x)
	if err != nil {
		return err
	}
	_, err = a.cfg.Acts().Update(store.WithActor(ctx, x.By), x.WorkspaceID, x.ID, func(x *rimewatch.Act) error {
		x.State, x.SettledAt, x.Failure = rimewatch.ActDone, a.cfg.Now(), failure
		if failure != "" {
			x.State = rimewatch.ActFailed
		}
		return nil
	})
	return err
}

// carry sends an act's request through the API. failure is why it was refused for good. What
// was carried out before a crash, and is not there any more or not active any more, is done.
func (a *API) carry(ctx context.Context, x *rimewatch.Act) (failure string, err error) {
	var body io.Reader
	if x.Body != "" {
		body = strings.NewReader(x.Body)
	}
	r, err := http.NewRequestWithContext(ctx, x.Method, x.Target, body)
	if err != nil {
		return "", err
	}
	r.RequestURI = x.Target
	r.Header.Set(keyHeader, "act-"+strconv.FormatInt(x.ID, 10))
	if x.IfMatch != "" {
		r.Header.Set("If-Match", x.IfMatch)
	}
	if body != nil {
		r.Header.Set("Content-Type", TypeJSON)
	}
	c := &Call{ID: a.ids.Of(nil), Now: a.cfg.Now(), act: x, kept: x.Body}
	w := &inside{header: make(http.Header), status: http.StatusOK}
	a.mux.ServeHTTP(w, seal(r).WithContext(context.WithValue(ctx, callKey{}, c)))
	if w.status/100 == 2 {
		return "", nil
	}
	var said struct {
		Error wire.FailureDetail `json:"error"`
	}
	if err := json.Unmarshal(w.body.Bytes(), &said); err != nil {
		return "", err
	}
	switch said.Error.Code {
	case rimewatch.CodeNotFound, rimewatch.CodeDeviceNotFound, rimewatch.CodeAlertNotFound, rimewatch.CodeAlertNotActive:
		return "", nil
	}
	if w.status >= http.StatusInternalServerError || w.status == http.StatusTooManyRequests {
		return "", errors.New(said.Error.Message)
	}
	return said.Error.Message, nil
}

// inside takes an answer that is not sent.
type inside struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *inside) Header() http.Header         { return w.header }
func (w *inside) WriteHeader(status int)      { w.status = status }
func (w *inside) Write(b []byte) (int, error) { return w.body.Write(b) }

// actRoutes are the routes of acts that people may still take back: Config.Acts.
func (a *API) actRoutes() []Route {
	r := &Resource[rimewatch.Act]{
		Path: "/v1/acts", ID: "act", Tag: "Workspace", One: "an act", Many: "acts that can be taken back",
		Read: Person(rimewatch.RoleViewer, actsOfPeople), Sited: true,
		Things: func(context.Context) store.Resource[rimewatch.Act] { return a.cfg.Acts() },
		Key:    func(x *rimewatch.Act) (id, revision int64) { return x.ID, x.Revision },
	}
	list := r.ListRow(Handle(func(ctx context.Context, _ *NoInput) (ActList, error) {
		c := CallOf(ctx)
		all, _, err := a.cfg.Acts().Select(ctx, c.Workspace(), store.Selection{EndAfter: c.Now})
		out := ActList{Acts: []ActJSON{}}
		for i := range all {
			if all[i].State == rimewatch.ActPending && a.mayUndo(c, &all[i]) {
				out.Acts = append(out.Acts, actJSON(&all[i]))
			}
		}
		out.turn(whole(len(out.Acts), len(out.Acts)))
		return out, err
	}))
	list.Description = "What people have asked for within the last seconds: what ends, forgets or silences something is carried out after ten seconds, unless it is taken back: where a request of a session says Prefer: respond-async, as those of the web UI do."
	get := r.GetRow(Handle(func(ctx context.Context, in *IDInput) (ActData, error) {
		x, err := a.act(CallOf(ctx), in.Number())
		if err != nil {
			return ActData{}, err
		}
		r.Show(ctx, &x)
		return ActData{actJSON(&x)}, nil
	}))
	undo := r.row(http.MethodPost, "/{id}/undo", "undo", "Take an act back")
	undo.Access, undo.Also = r.Read, []rimewatch.Code{rimewatch.CodeConflict}
	undo.Description = "Before effective_at, by whoever may do the same. 409 afterwards."
	undo.Bind = Handle(func(ctx context.Context, in *IDInput) (ActData, error) {
		c := CallOf(ctx)
		if _, err := a.act(c, in.Number()); err != nil {
			return ActData{}, err
		}
		by, err := a.AuditActor(ctx, c.Principal)
		if err != nil {
			return ActData{}, err
		}
		x, err := a.cfg.Acts().Update(ctx, c.Workspace(), in.Number(), func(x *rimewatch.Act) error {
			switch {
			case x.State == rimewatch.ActUndone:
			case x.State != rimewatch.ActPending || c.Now >= x.EffectiveAt:
				return rimewatch.Errorf(rimewatch.CodeConflict, "It is too late to take this back.")
			default:
				x.State, x.SettledAt, x.SettledBy = rimewatch.ActUndone, c.Now, by
			}
			return nil
		})
		if err != nil {
			return ActData{}, err
		}
		r.Show(ctx, &x)
		return ActData{actJSON(&x)}, nil
	})
	return []Route{list, get, undo}
}

const actsOfPeople = "only what people do waits, tokens act at once"

// act finds one that the caller may take back.
func (a *API) act(c *Call, id int64) (rimewatch.Act, error) {
	x, err := a.cfg.Acts().Get(c.R.Context(), c.Workspace(), id)
	if err == nil && !a.mayUndo(c, &x) {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such act.")
	}
	return x, err
}

// mayUndo reports whether the caller may make the request of an act, and so take it back. People
// who are limited to sites know of their own acts alone: those of others may be about
// things that they do not see.
func (a *API) mayUndo(c *Call, x *rimewatch.Act) bool {
	if x.UserID == c.Principal.UserID {
		return true
	}
	i := slices.IndexFunc(a.routes, func(rt Route) bool { return rt.ID == x.Does })
	return i >= 0 && c.Principal.Limit == nil && a.routes[i].Access.check(&c.Principal, c.R) == nil
}
