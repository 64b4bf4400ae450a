package v1

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// futureTolerance is how far a device's clock may be ahead.
const futureTolerance = 5 * rimewatch.Minute

// Ingest takes readings in. It knows nothing of net/http, so that a leaner
// listener can use it too: whoever calls it has authenticated the principal and
// read the body.
type Ingest struct {
	writer   Writer
	fleet    Fleet
	history  History
	settings *settingsCache
	devices  *httpapi.Limiter
}

// Scratch is the memory of one call to Ingest, for reuse.
type Scratch struct {
	Out  []byte // the answer
	Left int    // readings that the device may send at once, -1 when no device was found
	sent wire.SentReading
	one  [1]store.Input
}

// Single stores the reading in body and leaves the answer in s.Out: 201 for a
// new reading, 200 for one that was there already. After an error s must not be
// used again: the write path may still hold it.
func (g *Ingest) Single(ctx context.Context, p *account.Principal, now rimewatch.Time, body []byte, s *Scratch) (status int, err *rimewatch.Error) {
	s.Left = -1
	if e := wire.DecodeReading(body, &s.sent); e != nil {
		return 0, e
	}
	settings, failed := g.settings.get(ctx, p.WorkspaceID, now)
	if failed != nil {
		return 0, httpapi.AsError(failed)
	}
	if what := outsideWindow(s.sent.At, now, settings.RawDays); what != "" {
		return 0, rimewatch.Invalid("recorded_at", "%s", what)
	}
	who := g.fleet.Identify(p.WorkspaceID, s.sent.Serial)
	if who == nil {
		if !settings.AutoRegister {
			return 0, errUnknownDevice()
		}
		if who, failed = g.autoRegister(ctx, p, string(s.sent.Serial)); failed != nil {
			return 0, httpapi.AsError(failed)
		}
	}
	left, wait := g.devices.Take(who.ID, now)
	s.Left = left
	if wait > 0 {
		return 0, httpapi.ErrRateLimited(wait)
	}
	in := &s.one[0]
	*in = store.Input{DeviceID: who.ID, Reading: s.sent.Reading, Kind: store.InputReading, AtArrival: s.sent.At == 0}
	if failed = g.writer.Submit(ctx, p.WorkspaceID, s.one[:]); failed != nil {
		return 0, httpapi.AsError(failed)
	}
	return g.answer(ctx, who, in, s)
}

func (g *Ingest) answer(ctx context.Context, who *store.Identity, in *store.Input, s *Scratch) (status int, err *rimewatch.Error) {
	switch in.Outcome {
	case store.Accepted:
		s.Out = appendStored(s.Out[:0], who.ID, who.Serial, &in.Reading, false)
		return http.StatusCreated, nil
	case store.Duplicate:
		// The first value is kept, so that is the one to show.
		stored, failed := g.history.ReadingAt(ctx, in.DeviceID, in.Reading.At)
		if failed != nil {
			return 0, httpapi.AsError(failed)
		}
		s.Out = appendStored(s.Out[:0], who.ID, who.Serial, &stored, true)
		return http.StatusOK, nil
	default:
		return 0, errUnknownDevice() // deleted a moment ago
	}
}

func appendStored(b []byte, deviceID int64, serial string, r *rimewatch.Reading, duplicate bool) []byte {
	b = append(b, `{"success":true,"data":{"reading":`...)
	b = wire.AppendReading(b, deviceID, serial, r)
	if duplicate {
		return append(b, `,"duplicate":true}}`+"\n"...)
	}
	return append(b, `,"duplicate":false}}`+"\n"...)
}

// outsideWindow tells what is wrong with the time of a reading, "" when it may
// be stored. An absent time is always right.
func outsideWindow(at, now rimewatch.Time, rawDays int) string {
	switch {
	case at == 0:
		return ""
	case at > now+futureTolerance:
		return "must not be more than 5 minutes in the future"
	case at < now-rimewatch.Time(rawDays)*rimewatch.Day:
		return "is before the time for which readings are kept"
	default:
		return ""
	}
}

func errUnknownDevice() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no device with this serial.").With("device_serial", "is not known")
}

// autoRegister creates the device of an unknown serial.
func (g *Ingest) autoRegister(ctx context.Context, p *account.Principal, serial string) (*store.Identity, error) {
	ctx = store.WithActor(ctx, httpapi.TokenActor(p))
	d := rimewatch.Device{WorkspaceID: p.WorkspaceID, Serial: serial, Name: serial, EquipmentType: rimewatch.OtherEquipment}
	view, err := g.writer.CreateDevice(ctx, &d)
	if rimewatch.CodeOf(err) == rimewatch.CodeSerialTaken {
		if who := g.fleet.Identify(p.WorkspaceID, []byte(serial)); who != nil {
			return who, nil // another reading of the device was quicker
		}
	}
	if err != nil {
		return nil, err
	}
	return store.IdentityOf(&view.Device), nil
}

// ingestRoutes serve Ingest over net/http, past router and huma.
type ingestRoutes struct {
	api    *core
	ingest Ingest
	single sync.Pool // *singleScratch
	batch  sync.Pool // *batchScratch

	singleMeter, batchMeter httpapi.HotMeter
}

type singleScratch struct {
	Scratch
	body []byte
}

type batchScratch struct {
	Batch
	body []byte
}

const (
	singlePath = "/v1/readings"
	batchPath  = "/v1/readings/batch"
)

func newIngestRoutes(a *core) *ingestRoutes {
	return &ingestRoutes{
		api: a,
		ingest: Ingest{
			writer: a.cfg.Writer, fleet: a.cfg.Fleet, history: a.cfg.History,
			settings: &a.settings, devices: a.DeviceLimit,
		},
		single:      sync.Pool{New: func() any { return &singleScratch{body: make([]byte, 0, 1024)} }},
		batch:       sync.Pool{New: func() any { return new(batchScratch) }},
		singleMeter: a.Meter.Hot(http.MethodPost, singlePath),
		batchMeter:  a.Meter.Hot(http.MethodPost, batchPath),
	}
}

// Header values that all answers of the hot path share; never changed.
var (
	jsonType = []string{httpapi.TypeJSON}
	noStore  = []string{"no-store"}
)

// begin does what both routes do first: name the request, authenticate it,
// check the scope.
func (g *ingestRoutes) begin(w http.ResponseWriter, r *http.Request, now rimewatch.Time) (id string, p account.Principal, e *rimewatch.Error) {
	id = g.api.IDs.Of(r.Header)
	h := w.Header()
	h["Content-Type"] = jsonType
	h[httpapi.RequestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = httpapi.NoSniff
	h["Cache-Control"] = noStore
	if p, e = g.api.Authenticate(r, now); e != nil {
		return id, p, e
	}
	if !p.Scopes.Has(rimewatch.ScopeReadingsWrite) {
		return id, p, httpapi.AsError(p.Require(rimewatch.ScopeReadingsWrite))
	}
	return id, p, nil
}

func (g *ingestRoutes) serveSingle(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	status := 0
	defer func() {
		if v := recover(); v != nil {
			status = http.StatusInternalServerError
			g.panicked(w, r, v)
		}
		g.singleMeter.Observe(status, time.Since(start))
	}()
	now := g.api.cfg.Now()
	id, p, e := g.begin(w, r, now)
	if e != nil {
		status = g.fail(w, r, id, e)
		return
	}
	if _, _, e = httpapi.ContentType(r.Header, httpapi.TypeJSON); e != nil && r.ContentLength != 0 {
		status = g.fail(w, r, id, e)
		return
	}
	s := g.single.Get().(*singleScratch)
	var release func()
	s.body, release, e = g.api.Body(w, r, p.WorkspaceID, s.body)
	defer release()
	if e == nil && len(s.body) == 0 {
		e = httpapi.ErrEmptyBody
	}
	if e != nil {
		g.single.Put(s)
		status = g.fail(w, r, id, e)
		return
	}
	status, e = g.ingest.Single(r.Context(), &p, now, s.body, &s.Scratch)
	if s.Left >= 0 {
		g.api.DeviceLimit.Header(w.Header(), s.Left)
	}
	if e != nil {
		status = g.fail(w, r, id, e) // s is not used again
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(s.Out)
	if cap(s.body) <= maxKept {
		g.single.Put(s)
	}
}

// maxKept bounds the buffers that a pool keeps for single readings.
const maxKept = 64 << 10

func (g *ingestRoutes) fail(w http.ResponseWriter, r *http.Request, id string, e *rimewatch.Error) int {
	g.api.Fail(&httpapi.Call{ID: id, W: w, R: r}, e)
	return httpapi.StatusOf[e.Code]
}

func (g *ingestRoutes) panicked(w http.ResponseWriter, r *http.Request, v any) {
	rec := &httpapi.Recorder{ResponseWriter: w}
	g.api.Panicked(&httpapi.Call{ID: w.Header().Get(httpapi.RequestIDHeader), W: rec, R: r}, rec, v)
}
