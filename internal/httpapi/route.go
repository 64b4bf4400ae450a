package httpapi

import (
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Route is one row of the route table. Everything else is made from it: the
// router, the checks, the description, and the tests of authentication.
type Route struct {
	Method, Path string // the path without Prefix
	ID           string // operation id
	Tag          string
	Summary      string
	Description  string
	Access       access
	Body         BodyRule
	Status       int              // of success, 0 = 200
	OrOK         bool             // 200 is a success too
	Dry          reflect.Type     // of the data of a 200 to dry_run; nil = it has none
	Accepted     reflect.Type     // of the data of a 202, which is a success too; nil = there is none
	Also         []rimewatch.Code // failures beyond those that access, body and path imply
	CSV          bool             // answers CSV to those who accept it
	NDJSON       bool             // and lines of JSON
	PDF          bool             // and PDF
	ZIP          bool             // answers a ZIP alone
	File         []string         // answers a file of one of these types alone
	Text         bool             // answers plain text alone
	PerDevice    bool             // counts against the device, not the token
	Paged        bool             // answers carry pagination and Link
	Sited        bool             // heeds the sites that a principal is limited to; others are refused to such a one
	Listed       string           // the member of the data that has the things of a Resource: its list is exported
	Revised      bool             // is about one thing that has a revision: its ETag, and If-Match of changes
	Undo         undo             // has calls of people wait, so that they can be taken back; nil = none waits
	Repeats      bool             // writes more than once, and changes nothing when it is done again: see Work
	socket       bool             // becomes a WebSocket: also takes tickets, and cookies only from our own pages
	Bind         binder
	Direct       http.HandlerFunc // goes past the router and the checks, which it does itself

	op         *huma.Operation
	ends       []*ending // announced, of its input or answers
	bodySchema *huma.Schema
	serve      http.Handler
}

// access is who may use a route.
type access struct {
	Public bool
	Scopes rimewatch.Scopes // of a token or of a person's role
	Role   rimewatch.Role   // of a person; tokens pass by Scopes, or never
	Own    bool             // a signed-in person, who need not be a member anywhere
	Why    string           // it stays with people, in words
	// Rehearsal is what a call with dry_run=true needs instead of Scopes; 0 = the same.
	Rehearsal rimewatch.Scopes
}

// Who may call a route that asks for no scope and no role.
var (
	Public   = access{Public: true}
	SignedIn = access{Own: true, Why: ownAccount}
)

// Scope admits principals that hold all of s.
func Scope(s rimewatch.Scopes) access { return access{Scopes: s} }

const ownAccount = "it is about that person's own account"

// Myself admits signed-in members to their own data.
var Myself = access{Role: rimewatch.RoleViewer, Why: ownAccount}

// Person admits signed-in people of at least role r, and no token, for a reason.
func Person(r rimewatch.Role, why string) access { return access{Role: r, Why: why} }

// Either admits signed-in people of at least role r, and tokens that hold all of s.
func Either(r rimewatch.Role, s rimewatch.Scopes) access { return access{Role: r, Scopes: s} }

// people reports whether tokens never pass.
func (x *access) people() bool { return x.Own || x.Role != "" && x.Scopes == 0 }

// ScopeOr admits principals that hold all of s, and to a rehearsal of it those that hold all
// of rehearsal.
func ScopeOr(s, rehearsal rimewatch.Scopes) access { return access{Scopes: s, Rehearsal: rehearsal} }

func (x access) check(p *account.Principal, r *http.Request) *rimewatch.Error {
	var err error
	switch {
	case x.Rehearsal != 0 && r.URL.Query().Get("dry_run") == "true":
		err = p.Require(x.Rehearsal)
	case x.Public:
	case x.Own:
		err = p.RequirePerson()
	case x.Role != "" && (p.Session || x.Scopes == 0):
		err = p.RequireRole(x.Role)
	default:
		err = p.Require(x.Scopes)
	}
	if err != nil {
		return AsError(err)
	}
	return nil
}

// admits checks whether a principal may call a route.
func (rt *Route) admits(p *account.Principal, r *http.Request) *rimewatch.Error {
	if e := rt.Access.check(p, r); e != nil {
		return e
	}
	if !rt.Sited && !rt.Access.Public && !rt.Access.Own {
		if err := p.RequireAllSites(); err != nil {
			return AsError(err)
		}
	}
	return nil
}

// BodyRule is the rule for a route's body.
type BodyRule struct {
	Types    []string
	Optional bool
	Bulk     bool // up to maxBulkBody
	// File says that it is a file as somebody has it: its type may be absent, and its
	// charset is found out by what reads it.
	File bool
}

// The bodies that most routes take.
var (
	JSONBody         = BodyRule{Types: []string{TypeJSON}}
	OptionalJSONBody = BodyRule{Types: []string{TypeJSON}, Optional: true}
)

// register builds the table, the router and the description.
func (a *API) register(routes []Route) {
	a.routes = routes
	a.doc = newDocument(a.cfg.Version, a.cfg.PublicURL, a.aliases)
	a.checker.init(a.doc.Components.Schemas)
	for i := range a.routes {
		rt := &a.routes[i]
		if rt.Undo != nil && rt.Accepted == nil {
			rt.Accepted = reflect.TypeFor[ActData]()
		}
		rt.op = describe(rt)
		rt.Bind(a, rt)
		if rt.Direct != nil {
			a.direct[Prefix+rt.Path] = rt.Direct
		}
		a.mux.Handle(rt.Method+" "+Prefix+rt.Path, a.through(rt))
	}
	for i := range a.routes {
		a.checker.prepareRoute(&a.routes[i])
	}
	a.finishDocument()
	a.streamSpec = written(a.streamDocument)
	a.registerPlain()
}

// through takes a request to a route past the checks.
func (a *API) through(rt *Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := CallOf(r.Context())
		c.route, c.W, c.R = rt, w, r
		defer c.done()
		for _, e := range rt.ends {
			e.header(w.Header())
		}
		if e := a.admit(c); e != nil {
			if c.Principal.WorkspaceID != 0 && e.Code != rimewatch.CodeUnauthenticated { // which is recorded already
				a.refused(c.Principal, e, r, rt.Path, c.Now)
			}
			a.Fail(c, e)
			return
		}
		if !rt.Access.Public && a.cfg.Loading != nil && a.cfg.Loading(r.Context()) {
			a.Fail(c, errLoading())
			return
		}
		if c.Principal.Limit != nil {
			r = r.WithContext(store.WithSites(r.Context(), c.Principal.Sites()))
			c.R = r
		}
		if !rt.Access.Public && !safeMethod(rt.Method) {
			who, err := a.AuditActor(r.Context(), c.Principal)
			if err != nil {
				a.Fail(c, AsError(err))
				return
			}
			r = r.WithContext(store.WithActor(r.Context(), who))
			if rt.Revised {
				r = r.WithContext(ifMatch(r.Context(), r.Header["If-Match"]))
			}
			c.R = r
		}
		if len(c.warnings) > 0 {
			rec := &warner{ResponseWriter: w, warnings: c.warnings}
			defer rec.finish()
			c.W, w = rec, rec
		}
		if rt.takesKey() && Keyed(r) {
			a.once(c, r)
			return
		}
		a.answerer(c).ServeHTTP(w, r)
	}
}

func errLoading() *rimewatch.Error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, RetryAfter: 2 * time.Second,
		Message: "The service has just started and is still loading its devices; retry in a moment. Readings are accepted meanwhile."}
}

// rawHandler turns a handler that returns an error into one that answers it.
func (a *API) rawHandler(fn func(c *Call) error) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		c := CallOf(r.Context())
		if err := fn(c); err != nil {
			a.Fail(c, AsError(err))
		}
	}
}

// Fail answers with an error, and logs it when it is ours.
func (a *API) Fail(c *Call, e *rimewatch.Error) {
	a.LogFailure(c.R.Method, LoggedPath(c.R.URL.Path), c.ID, e)
	c.writeFailure(c.W, e)
}

// LogFailure logs the part of an error that a caller does not see.
func (a *API) LogFailure(method, path, id string, e *rimewatch.Error) {
	if e.Code == rimewatch.CodeInternal || e.Code == rimewatch.CodeOutcomeUnknown {
		a.cfg.Log.Error("request failed", "method", method, "path", path, "request_id", id, "error", e)
	}
}

// NoInput is the input of routes that take none.
type NoInput struct{}

// Done is the data of answers that have nothing to say.
type Done struct{}
