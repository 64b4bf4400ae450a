package submit

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

// Writer stores readings.
type Writer interface {
	// Submit stores readings and their devices' reports of themselves. It sets each
	// input's Outcome, the time of readings without one, and the time of receipt. It keeps
	// no reference to its arguments after it has returned nil. CodeUnavailable means
	// that nothing was stored and a retry is safe.
	Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error
}

// Fleet knows the devices.
type Fleet interface {
	Identify(workspaceID int64, serial []byte) *store.Identity
	IdentifyAll(workspaceID int64, serials [][]byte, who []*store.Identity)
}

// History has the readings that are stored.
type History interface {
	ReadingAt(ctx context.Context, deviceID int64, at rimewatch.Time) (rimewatch.Reading, error)
}

// Config of Readings. Everything but Clock is needed.
type Config struct {
	Writer  Writer
	Waiting Waiting
	Fleet   Fleet
	History History
	Clock   Clock // nil = the time is right
}

// Readings takes readings in.
type Readings struct {
	Config
	api    *httpapi.API
	single sync.Pool // *singleScratch
	batch  sync.Pool // *batchScratch

	singleMeter, batchMeter httpapi.HotMeter
}

// New prepares the reception of readings; Routes puts it into a frame.
func New(cfg Config) *Readings {
	return &Readings{
		Config: cfg,
		single: sync.Pool{New: func() any { return &singleScratch{body: make([]byte, 0, 1024)} }},
		batch:  sync.Pool{New: func() any { return new(batchScratch) }},
	}
}

// Routes is a part of the API.
func (g *Readings) Routes(frame *httpapi.API) []httpapi.Route {
	g.api = frame
	g.singleMeter = frame.HotMeter(http.MethodPost, singlePath)
	g.batchMeter = frame.HotMeter(http.MethodPost, batchPath)
	return g.routes()
}

// Scratch is the memory of one call to Single, for reuse.
type Scratch struct {
	Out    []byte // the answer
	Left   int    // readings that the device may send at once, -1 when no device was found
	sent   wire.SentReading
	one    [1]store.Input
	vitals [1]store.Vitals
}

// reported returns the report of its device in the reading that was read, if there is one.
func (s *Scratch) reported(who *store.Identity) []store.Vitals {
	if !s.sent.Vitals() {
		return nil
	}
	s.vitals[0] = vitalsOf(who, &s.sent.Extras)
	return s.vitals[:]
}

// Single stores the reading in body and leaves the answer in s.Out: 201 for a
// new reading, 200 for one that was there already, 202 for one that waits until
// somebody accepts its device. After an error s must not be
// used again: the write path may still hold it.
func (g *Readings) Single(ctx context.Context, p *account.Principal, now rimewatch.Time, body []byte, s *Scratch) (status int, err *rimewatch.Error) {
	settings, who, err := g.read(ctx, p, now, body, s)
	g.heard(who, s.sent.At, now)
	if err != nil {
		return 0, err
	}
	if who == nil {
		var wait bool
		var failed error
		who, wait, failed = g.unknown(ctx, p, &settings, string(s.sent.Serial))
		if failed != nil {
			return 0, httpapi.AsError(failed)
		}
		if wait {
			return g.hold(ctx, p, settings.OnUnknown, now, body, s)
		}
	}
	in := &s.one[0]
	if err := g.admit(who, now, s, in); err != nil {
		return 0, err
	}
	if failed := g.Writer.Submit(ctx, s.one[:], s.reported(who)); failed != nil {
		return 0, httpapi.AsError(failed)
	}
	return g.outcome(ctx, who, in, s)
}

// read reads the reading in body and finds its device, nil where the
// serial is not registered.
func (g *Readings) read(ctx context.Context, p *account.Principal, now rimewatch.Time, body []byte, s *Scratch) (settings rimewatch.Workspace, who *store.Identity, err *rimewatch.Error) {
	s.Left = -1
	if err = wire.DecodeReading(body, &s.sent); err != nil {
		return settings, nil, err
	}
	s.sent.Arrived(now)
	settings, failed := g.api.Settings.Get(ctx, p.WorkspaceID, now)
	if failed != nil {
		return settings, nil, httpapi.AsError(failed)
	}
	who, outside := g.identify(p, s.sent.Serial)
	if err = g.outsideWindow(s.sent.At, now, settings.RawDays); err == nil && who == nil && outside {
		err = errUnknownDevice()
	}
	return settings, who, err
}

// admit makes the reading an input, unless its device sends too many.
func (g *Readings) admit(who *store.Identity, now rimewatch.Time, s *Scratch, in *store.Input) *rimewatch.Error {
	left, wait := g.api.DeviceLimit.Take(who.ID, now)
	s.Left = left
	if wait > 0 {
		return httpapi.ErrRateLimited(wait)
	}
	*in = store.Input{DeviceID: who.ID, Reading: s.sent.Reading, Kind: store.InputReading, AtArrival: s.sent.At == 0}
	return nil
}

// identify finds a device that p may write to. outside says that p may register
// none: it is limited to sites.
func (g *Readings) identify(p *account.Principal, serial []byte) (who *store.Identity, outside bool) {
	who = g.Fleet.Identify(p.WorkspaceID, serial)
	if p.Limit != nil && who != nil && !p.Limit.Has(who.SiteID) {
		who = nil
	}
	return who, p.Limit != nil
}

// outcome writes the outcome of an input to s.Out.
func (g *Readings) outcome(ctx context.Context, who *store.Identity, in *store.Input, s *Scratch) (status int, err *rimewatch.Error) {
	switch in.Outcome {
	case store.Accepted:
		s.Out = appendStored(s.Out[:0], who.ID, who.Serial, &in.Reading, false, in.Conflicts, s.sent.Ignored)
		return http.StatusCreated, nil
	case store.Duplicate:
		// The first value is kept, so that is the one to show.
		stored, failed := g.History.ReadingAt(ctx, in.DeviceID, in.Reading.At)
		if failed != nil {
			return 0, httpapi.AsError(failed)
		}
		s.Out = appendStored(s.Out[:0], who.ID, who.Serial, &stored, true, in.Conflicts, s.sent.Ignored)
		return http.StatusOK, nil
	case store.Failed:
		return 0, rimewatch.Errorf(rimewatch.CodeInternal, "What is stored about this device cannot be read.")
	default:
		return 0, errJustDeleted()
	}
}

func appendStored(b []byte, deviceID int64, serial string, r *rimewatch.Reading, duplicate bool, conflicts rimewatch.Fields, ignored []string) []byte {
	b = append(b, `{"success":true,"data":{"reading":`...)
	b = wire.AppendReading(b, deviceID, serial, r)
	b = appendIgnored(b, ignored)
	for i, name := range conflicts.Names() {
		if b = append(b, ','); i == 0 {
			b = append(b, `"conflicting_fields":[`...)
		}
		b = wire.AppendString(b, name)
	}
	if conflicts != 0 {
		b = append(b, ']')
	}
	if duplicate {
		return append(b, `,"duplicate":true}}`+"\n"...)
	}
	return append(b, `,"duplicate":false}}`+"\n"...)
}

// appendIgnored names the fields that were left out, where there are any.
func appendIgnored(b []byte, names []string) []byte {
	for i, name := range names {
		if i == 0 {
			b = append(b, `,"ignored_fields":[`...)
		} else {
			b = append(b, ',')
		}
		b = wire.AppendString(b, name)
	}
	if len(names) > 0 {
		b = append(b, ']')
	}
	return b
}

// Clock knows how far the service's time can be believed.
type Clock interface {
	// Saw notes that a device claims to have measured at a moment.
	Saw(device uint64, claims, now rimewatch.Time)
	// Gap is how far the machine's clock is ahead of the service's time while a
	// step of it is not believed yet, 0 = they agree.
	Gap() rimewatch.Time
}

// heard notes the time of a device's clock.
func (g *Readings) heard(who *store.Identity, at, now rimewatch.Time) {
	if g.Clock != nil && who != nil && at != 0 {
		g.Clock.Saw(uint64(who.ID), at, now)
	}
}

// outsideWindow returns the complaint about the time of a reading, nil when it may
// be stored. An absent time is always right. One that only a step of the clock
// can explain is refused for the moment, not for good.
func (g *Readings) outsideWindow(at, now rimewatch.Time, rawDays int) *rimewatch.Error {
	switch {
	case at == 0:
		return nil
	case at > now+rimewatch.FutureTolerance:
		if g.Clock != nil {
			if err := rimewatch.Settling(at, now, g.Clock.Gap()); err != nil {
				return err
			}
		}
		return rimewatch.Invalid("recorded_at", "must not be more than 5 minutes in the future")
	case at < now-rimewatch.Time(rawDays)*rimewatch.Day:
		return rimewatch.Invalid("recorded_at", "is before the time for which readings are kept")
	default:
		return nil
	}
}

// errJustDeleted refuses a reading whose device went while it was on its way: sent
// again, it is of an unknown device, which may be held or registered.
func errJustDeleted() *rimewatch.Error {
	return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The device was deleted a moment ago. Send the reading again.", RetryAfter: time.Second}
}

func errUnknownDevice() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no device with this serial.").With("device_serial", "is not known")
}

type singleScratch struct {
	Scratch
	body  []byte
	short short
}

type batchScratch struct {
	Batch
	body []byte
}

const (
	singlePath = "/v1/readings"
	batchPath  = "/v1/readings/batch"
)

func (g *Readings) serveSingle(d *direct) (status int, e *rimewatch.Error) {
	w, r := d.w, d.r
	if _, _, e := httpapi.ContentType(r.Header, httpapi.TypeJSON); e != nil && r.ContentLength != 0 {
		return 0, e
	}
	s := g.single.Get().(*singleScratch)
	var release func()
	s.body, release, e = g.api.Body(w, r, d.p.WorkspaceID, s.body)
	defer release()
	if e == nil && len(s.body) == 0 {
		e = httpapi.ErrEmptyBody
	}
	if e == nil {
		e = httpapi.MeantAsJSON(r.Header, s.body)
	}
	if e != nil {
		g.keep(s)
		return 0, e
	}
	switch {
	case d.query.Get("dry_run") == "true":
		status, e = g.dry(r.Context(), &d.p, d.now, s.body, &s.Scratch)
	case httpapi.Keyed(r):
		status, e = g.singleOnce(w, r, &d.p, d.now, s)
	default:
		status, e = g.Single(r.Context(), &d.p, d.now, s.body, &s.Scratch)
	}
	if status, e = g.finish(&d.call, &s.Scratch, status, e); e != nil {
		httpapi.Reuse(s.body) // nothing else of s is used again
		return 0, e
	}
	g.keep(s)
	return status, nil
}

// keep keeps the memory of a single reading for another one.
func (g *Readings) keep(s *singleScratch) {
	if cap(s.body) > maxKept {
		httpapi.Reuse(s.body)
		s.body = nil
	}
	if cap(s.Out) > maxKept {
		s.Out = nil
	}
	g.single.Put(s)
}

// maxKept bounds the buffers that a pool keeps for single readings.
const maxKept = 64 << 10
