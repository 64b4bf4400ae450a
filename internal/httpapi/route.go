package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// route is one row of the route table. Everything else is made from it: the
// router, the checks, the description, and the tests of authentication.
type route struct {
	method, path string // the path without Prefix
	id           string // operation id
	tag          string
	summary      string
	description  string
	access       access
	body         bodyRule
	status       int              // of success, 0 = 200
	orOK         bool             // 200 is a success too
	also         []rimewatch.Code // failures beyond those that access, body and path imply
	csv          bool             // answers CSV to those who accept it
	pdf          bool             // and PDF
	perDevice    bool             // counts against the device, not the token
	paged        bool             // answers carry pagination and Link
	socket       bool             // becomes a WebSocket: also takes tickets, and cookies only from our own pages
	bind         binder

	op         *huma.Operation
	bodySchema *huma.Schema
	serve      http.Handler
}

// access says who may use a route.
type access struct {
	public bool
	scopes rimewatch.Scopes // of a token or of a person's role
	role   rimewatch.Role   // of a person; tokens never pass
	own    bool             // a signed-in person, who need not be a member anywhere
}

var (
	public   = access{public: true}
	signedIn = access{own: true}
)

func scope(s rimewatch.Scopes) access { return access{scopes: s} }
func person(r rimewatch.Role) access  { return access{role: r} }

func (x access) check(p *account.Principal) *rimewatch.Error {
	var err error
	switch {
	case x.public:
	case x.own:
		err = p.RequirePerson()
	case x.role != "":
		err = p.RequireRole(x.role)
	default:
		err = p.Require(x.scopes)
	}
	if err != nil {
		return asError(err)
	}
	return nil
}

// bodyRule says what a route takes as its body.
type bodyRule struct {
	types    []string
	optional bool
	stream   bool // the handler reads it
}

var (
	jsonBody         = bodyRule{types: []string{typeJSON}}
	optionalJSONBody = bodyRule{types: []string{typeJSON}, optional: true}
)

// envelope is the form of every JSON answer.
type envelope[T any] struct {
	Success bool `json:"success" doc:"Always true here."`
	Data    T    `json:"data"`
}

type reply[T any] struct {
	Body envelope[T]
}

// binder describes a route to huma and ties its handler to it.
type binder func(a *API, api huma.API, rt *route)

// handle binds a handler that takes checked input and gives the data of the
// answer.
func handle[I, T any](fn func(ctx context.Context, in *I) (T, error)) binder {
	return func(_ *API, api huma.API, rt *route) {
		huma.Register(api, *rt.op, func(ctx context.Context, in *I) (*reply[T], error) {
			data, err := fn(ctx, in)
			if err != nil {
				return nil, problem{asError(err)}
			}
			return &reply[T]{envelope[T]{true, data}}, nil
		})
	}
}

// raw binds a handler that writes the answer itself; I and T only describe it.
func raw[I, T any](fn func(c *call) error) binder {
	return func(a *API, api huma.API, rt *route) {
		huma.Register(api, *rt.op, func(context.Context, *I) (*reply[T], error) {
			return nil, nil // never called: rt.serve is set
		})
		rt.serve = a.rawHandler(fn)
	}
}

// problem carries an error through huma to the format that writes it.
type problem struct{ err *rimewatch.Error }

func (p problem) Error() string  { return p.err.Error() }
func (p problem) GetStatus() int { return statusOf[p.err.Code] }

// adapter ties huma's operations to the router, with the API's own checks in
// front of huma's binding.
type adapter struct {
	api  *API
	next *route // the route that is being registered
}

// Handle implements huma.Adapter.
func (d *adapter) Handle(op *huma.Operation, bound func(huma.Context)) {
	rt := d.next
	rt.op = op
	if op.RequestBody != nil {
		if m := op.RequestBody.Content[typeJSON]; m != nil {
			rt.bodySchema = m.Schema
		}
	}
	if rt.serve == nil {
		rt.serve = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			bound(newHumaContext(op, w, r))
		})
	}
}

// ServeHTTP implements huma.Adapter.
func (d *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.api.mux.ServeHTTP(w, r) }

// register builds the table, the router and the description.
func (a *API) register() {
	a.routes = a.table()
	d := &adapter{api: a}
	api := newHuma(a, d)
	a.doc = api.OpenAPI()
	a.checker.init(a.doc.Components.Schemas)
	for i := range a.routes {
		rt := &a.routes[i]
		d.next = rt
		rt.op = describe(rt)
		rt.bind(a, api, rt)
		a.mux.Handle(rt.method+" "+Prefix+rt.path, a.through(rt))
	}
	for i := range a.routes {
		a.checker.prepareRoute(&a.routes[i])
	}
	a.finishDocument()
	a.finishStreamDocument()
	a.registerPlain()
}

// through takes a request to a route past the checks.
func (a *API) through(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.route, c.w, c.r = rt, w, r
		if e := a.admit(c); e != nil {
			a.fail(c, e)
			return
		}
		if !rt.access.public && !safeMethod(rt.method) {
			who, err := a.auditActor(r.Context(), c.principal)
			if err != nil {
				a.fail(c, asError(err))
				return
			}
			r = r.WithContext(store.WithActor(r.Context(), who))
			c.r = r
		}
		rt.serve.ServeHTTP(w, r)
	}
}

// rawHandler turns a handler that returns an error into one that answers it.
func (a *API) rawHandler(fn func(c *call) error) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		if err := fn(c); err != nil {
			a.fail(c, asError(err))
		}
	}
}

// fail answers with an error, and logs it when it is ours.
func (a *API) fail(c *call, e *rimewatch.Error) {
	a.logFailure(c, e)
	writeFailure(c.w, e, c.id)
}

// logFailure logs what a caller is not told.
func (a *API) logFailure(c *call, e *rimewatch.Error) {
	if e.Code == rimewatch.CodeInternal {
		a.cfg.Log.Error("request failed", "method", c.r.Method, "path", c.r.URL.Path, "request_id", c.id, "error", e)
	}
}
