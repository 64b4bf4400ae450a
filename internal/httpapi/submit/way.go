package submit

import (
	"net/http"
	"net/url"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// call is a request on its way through a route, however it came.
type call struct {
	way
	id    string
	p     account.Principal
	now   rimewatch.Time
	start time.Time
}

// way is how a request came, and where its answer goes: over net/http (direct) or by the short
// path (short).
type way interface {
	// arrived returns when the request came, where now is the present.
	arrived(now rimewatch.Time) rimewatch.Time
	// size returns how large the body is, in bytes; -1 = that is not known.
	size() int64
	// name returns the name that its sender gave the request, "" = none.
	name() string
	// sender authenticates the sender.
	sender(now rimewatch.Time) (account.Principal, *rimewatch.Error)
	// limited says in the answer how many readings a device may send at once.
	limited(l *httpapi.Limiter, left int)
	// head adds a header line to the answer. value has one text, and is never changed.
	head(name string, value []string)
	// send names the answer and sends it.
	send(id string, status int, body []byte)
	// plain returns the answer and the request as net/http has them, for rare cases.
	plain() (http.ResponseWriter, *http.Request)
}

// serve does the common work around a request with readings: it is named, its sender is
// authenticated, his scope checked, an error answered, and the request counted.
func (g *Readings) serve(c *call, meter *httpapi.HotMeter, work func() (int, *rimewatch.Error)) {
	c.start = time.Now()
	status := 0
	var e *rimewatch.Error
	defer func() {
		if v := recover(); v != nil {
			status = http.StatusInternalServerError
			g.panicked(c, v)
		}
		took := time.Since(c.start)
		meter.Observe(status, took)
		g.api.Called(&c.p, e, &httpapi.CalledWith{At: c.now, Method: http.MethodPost, Path: meter.Path(), Status: status, Bytes: c.size(), Took: took, RequestID: c.id})
	}()
	c.now = c.arrived(g.api.Now())
	if c.id = c.name(); !httpapi.SaneID(c.id) {
		c.id = g.api.RequestID(nil)
	}
	if c.p, e = c.sender(c.now); e == nil && !c.p.Scopes.Has(rimewatch.ScopeReadingsWrite) {
		e = httpapi.AsError(c.p.Require(rimewatch.ScopeReadingsWrite))
	}
	if e == nil {
		status, e = work()
	}
	if e != nil {
		status = httpapi.StatusOf[e.Code]
		w, r := c.failing()
		g.api.Fail(&httpapi.Call{ID: c.id, W: w, R: r}, e)
	}
}

// Values of header lines that answers share.
var (
	jsonType = []string{httpapi.TypeJSON}
	noStore  = []string{"no-store"}
)

// finish answers a request for one reading, of which s holds the outcome.
func (g *Readings) finish(c *call, s *Scratch, status int, e *rimewatch.Error) (int, *rimewatch.Error) {
	if s.Left >= 0 {
		c.limited(g.api.DeviceLimit, s.Left)
	}
	if e == nil {
		c.answer(status, s.Out)
	}
	return status, e
}

// answer sends the result of the work.
func (c *call) answer(status int, body []byte) {
	c.head("Content-Type", jsonType)
	c.head("X-Content-Type-Options", httpapi.NoSniff)
	c.head("Cache-Control", noStore)
	c.send(c.id, status, body)
}

// failing begins the answer to a request that has failed.
func (c *call) failing() (http.ResponseWriter, *http.Request) {
	w, r := c.plain()
	w.Header()["X-Content-Type-Options"] = httpapi.NoSniff
	w.Header()[httpapi.RequestIDHeader] = []string{c.id}
	return w, r
}

// panicked answers a request whose work has panicked.
func (g *Readings) panicked(c *call, v any) {
	w, r := c.failing()
	rec := &httpapi.Recorder{ResponseWriter: w}
	g.api.Panicked(&httpapi.Call{ID: c.id, W: rec, R: r}, rec, v)
}

// direct is a request that came over net/http.
type direct struct {
	call
	api   *httpapi.API
	w     http.ResponseWriter
	r     *http.Request
	query url.Values
	done  func() // ends an answer with warnings about the query, nil = there is no query
}

// served makes the handler of a route that goes past the router.
func (g *Readings) served(meter *httpapi.HotMeter, work func(d *direct) (int, *rimewatch.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d := &direct{api: g.api, w: w, r: r}
		d.way = d
		g.serve(&d.call, meter, func() (int, *rimewatch.Error) {
			if r.URL.RawQuery != "" {
				var e *rimewatch.Error
				if d.query, d.w, d.done, e = g.api.DirectQuery(w, r); e != nil {
					return 0, e
				}
			}
			return work(d)
		})
		if d.done != nil {
			d.done()
		}
	}
}

func (d *direct) arrived(now rimewatch.Time) rimewatch.Time {
	return store.ArrivedAt(d.r.Context(), now)
}

func (d *direct) size() int64 { return d.r.ContentLength }

func (d *direct) name() string {
	if sent := d.r.Header[httpapi.RequestIDHeader]; len(sent) == 1 {
		return sent[0]
	}
	return ""
}

func (d *direct) sender(now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	return d.api.Authenticate(d.r, now)
}

func (d *direct) limited(l *httpapi.Limiter, left int) { l.Header(d.w.Header(), left) }

func (d *direct) head(name string, value []string) { d.w.Header()[name] = value }

func (d *direct) send(id string, status int, body []byte) {
	d.w.Header()[httpapi.RequestIDHeader] = []string{id}
	d.w.WriteHeader(status)
	_, _ = d.w.Write(body)
}

func (d *direct) plain() (http.ResponseWriter, *http.Request) { return d.w, d.r }
