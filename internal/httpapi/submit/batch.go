package submit

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Batch is the memory of one batch of readings, for reuse.
type Batch struct {
	Out []byte // the answer

	inputs   []store.Input
	index    []int32 // place in the batch of each input
	rejected []rejection
	ignored  []string
	pending  []pendingItem     // readings of devices that will be registered
	held     []*rimewatch.Held // readings that have to wait for their devices
	heldAt   []int32           // place in the batch of each
	waiting  int               // of those, how many are kept
	vitals   []store.Vitals    // the devices' reports of themselves, one of each
	vitalsAt map[int64]int     // where that of a device is
	reader   wire.Batch

	// Of each input, until its device is known; serials and who are those of runs of
	// inputs with one serial: neighbours are mostly of one device.
	senders []sender
	serials [][]byte
	who     []*store.Identity
	extras  []wire.Extras
}

// sender are the members of an item besides its reading.
type sender struct {
	raw     []byte // its JSON text
	run     int32  // its serial is serials[run]
	extras  int32  // its device's report of itself is extras[extras-1], 0 = none
	refused bool   // but its device was heard
}

// rejection is one item that was not stored.
type rejection struct {
	index  int32
	code   rimewatch.Code
	fields map[string][]string
}

type pendingItem struct {
	input  store.Input
	index  int32
	serial string
	raw    []byte
	vitals *wire.Extras // nil = nothing
}

// batchContext is the common context of a batch's items.
type batchContext struct {
	*Readings
	ctx         context.Context //nolint:containedctx // of one call
	workspaceID int64
	principal   *account.Principal
	now         rimewatch.Time
	settings    rimewatch.Workspace
}

// Batch stores the readings in body and leaves the answer in b.Out. Good items
// are stored even when others are bad. After an error b must not be used again.
func (g *Readings) Batch(ctx context.Context, p *account.Principal, now rimewatch.Time, ndjson bool, body []byte, b *Batch) *rimewatch.Error {
	settings, err := g.api.Settings.Get(ctx, p.WorkspaceID, now)
	if err != nil {
		return httpapi.AsError(err)
	}
	b.reset()
	bc := batchContext{g, ctx, p.WorkspaceID, p, now, settings}
	read := b.reader.ReadDocument
	if ndjson {
		read = b.reader.ReadLines
	}
	if e := read(body, func(e *rimewatch.Error) { b.item(&bc, e) }); e != nil {
		return e
	}
	b.identify(&bc)
	if len(b.pending) > 0 {
		if e := g.registerPending(&bc, b); e != nil {
			return e
		}
	}
	if len(b.inputs) > 0 {
		if err := g.Writer.Submit(ctx, b.inputs, b.vitals); err != nil {
			return httpapi.AsError(err)
		}
	}
	if err := b.keep(&bc); err != nil {
		return httpapi.AsError(err)
	}
	b.answer(settings.OnUnknown)
	return nil
}

func (b *Batch) reset() {
	clear(b.rejected)
	clear(b.pending)
	clear(b.held)
	clear(b.senders)
	clear(b.serials)
	clear(b.who)
	*b = Batch{
		Out: b.Out[:0], inputs: b.inputs[:0], index: b.index[:0],
		rejected: b.rejected[:0], pending: b.pending[:0], held: b.held[:0], heldAt: b.heldAt[:0], reader: b.reader,
		senders: b.senders[:0], serials: b.serials[:0], who: b.who[:0],
	}
}

// item takes in the item that the reader has read.
func (b *Batch) item(bc *batchContext, e *rimewatch.Error) {
	place := int32(b.reader.N - 1)
	if e == nil {
		e = b.add(bc, place)
	}
	b.reject(place, e)
}

// reject notes the error of an item, nil = none.
func (b *Batch) reject(place int32, e *rimewatch.Error) {
	if e != nil {
		b.rejected = append(b.rejected, rejection{place, e.Code, e.Fields})
	}
}

// add takes the reading that was read into the batch, or says why it cannot be. Whose
// it is identify finds out.
func (b *Batch) add(bc *batchContext, place int32) *rimewatch.Error {
	sent := &b.reader.Sent
	sent.Arrived(bc.now)
	b.ignore(sent)
	if n := len(b.serials); n == 0 || !bytes.Equal(sent.Serial, b.serials[n-1]) {
		b.serials = append(b.serials, sent.Serial)
	}
	e := bc.outsideWindow(sent.At, bc.now, bc.settings.RawDays)
	from := sender{raw: b.reader.Raw, run: int32(len(b.serials) - 1), refused: e != nil}
	if sent.Vitals() {
		b.extras = append(b.extras, sent.Extras)
		from.extras = int32(len(b.extras))
	}
	b.inputs = append(b.inputs, store.Input{Reading: sent.Reading, Kind: store.InputReading, AtArrival: sent.At == 0})
	b.index = append(b.index, place)
	b.senders = append(b.senders, from)
	return e
}

// identify finds the devices of the inputs, and takes out those that have none and
// those that were refused.
func (b *Batch) identify(bc *batchContext) {
	b.who = slices.Grow(b.who[:0], len(b.serials))[:len(b.serials)]
	bc.Fleet.IdentifyAll(bc.workspaceID, b.serials, b.who)
	limit := bc.principal.Limit
	kept, last := 0, int32(-1)
	for i := range b.inputs {
		in, from := &b.inputs[i], &b.senders[i]
		who := b.who[from.run]
		if limit != nil && who != nil && !limit.Has(who.SiteID) {
			who = nil
		}
		if from.refused {
			bc.heard(who, in.Reading.At, bc.now)
			continue
		}
		if who == nil {
			if limit != nil {
				b.reject(b.index[i], errUnknownDevice())
				continue
			}
			found, later, err := b.stranger(bc, i)
			if later {
				continue
			}
			if err != nil {
				b.reject(b.index[i], httpapi.AsError(err))
				continue
			}
			who = found
			b.who[from.run] = who
		}
		if from.run != last {
			last = from.run
			bc.heard(who, in.Reading.At, bc.now)
		}
		in.DeviceID = who.ID
		if from.extras > 0 {
			b.report(who, &b.extras[from.extras-1])
		}
		if kept != i {
			b.inputs[kept], b.index[kept] = *in, b.index[i]
		}
		kept++
	}
	b.inputs, b.index = b.inputs[:kept], b.index[:kept]
}

// registerPending creates the devices of unknown serials and takes their
// readings into the batch, in the order in which they came.
func (g *Readings) registerPending(bc *batchContext, b *Batch) *rimewatch.Error {
	type result struct {
		who *store.Identity
		err error
	}
	created := make(map[string]*result)
	slots := make(chan struct{}, httpapi.RegisterAtOnce)
	var wg sync.WaitGroup
	for i := range b.pending {
		serial := b.pending[i].serial
		key := rimewatch.SerialKey(serial)
		if created[key] != nil {
			continue
		}
		r := new(result)
		created[key] = r
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r.who, r.err = g.register(bc.ctx, bc.principal, serial)
		})
	}
	wg.Wait()
	for i := range b.pending {
		item := &b.pending[i]
		r := created[rimewatch.SerialKey(item.serial)]
		if r.err != nil {
			if !waits(r.err) {
				return httpapi.AsError(r.err)
			}
			b.wait(bc, item.index, item.serial, item.raw)
			continue
		}
		item.input.DeviceID = r.who.ID
		if item.vitals != nil {
			b.report(r.who, item.vitals)
		}
		b.inputs = append(b.inputs, item.input)
		b.index = append(b.index, item.index)
	}
	return nil
}

// answer counts outcomes and writes the answer; onUnknown is the treatment of readings of unknown devices.
func (b *Batch) answer(onUnknown rimewatch.OnUnknown) {
	accepted, duplicates := 0, 0
	for i := range b.inputs {
		switch b.inputs[i].Outcome {
		case store.Accepted:
			accepted++
		case store.Duplicate:
			duplicates++
		case store.Failed:
			b.rejected = append(b.rejected, rejection{b.index[i], rimewatch.CodeInternal, nil})
		default:
			b.rejected = append(b.rejected, rejection{b.index[i], errJustDeleted().Code, nil})
		}
	}
	slices.SortFunc(b.rejected, func(x, y rejection) int { return cmp.Compare(x.index, y.index) })
	out := append(b.Out[:0], `{"success":true,"data":{"accepted":`...)
	out = wire.AppendInt(out, int64(accepted))
	out = append(out, `,"duplicates":`...)
	out = wire.AppendInt(out, int64(duplicates))
	out = append(out, `,"held":`...)
	out = wire.AppendInt(out, int64(b.waiting))
	out = append(out, `,"rejected":`...)
	out = wire.AppendInt(out, int64(len(b.rejected)))
	if b.waiting > 0 {
		out = appendWaiting(append(out, ','), onUnknown, b.held[0].ReceivedAt)
	}
	out = appendIgnored(out, b.ignored)
	out = append(out, `,"results":[`...)
	for i := range b.rejected {
		r := &b.rejected[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"index":`...)
		out = wire.AppendInt(out, int64(r.index))
		out = append(out, `,"status":`...)
		out = wire.AppendInt(out, int64(httpapi.StatusOf[r.code]))
		out = append(out, `,"code":"`...)
		out = append(out, r.code...)
		out = append(out, `","fields":`...)
		out = wire.AppendFields(out, r.fields)
		out = append(out, '}')
	}
	b.Out = append(out, "]}}\n"...)
}

func (g *Readings) serveBatch(d *direct) (int, *rimewatch.Error) {
	w, r := d.w, d.r
	mediaType, _, e := httpapi.ContentType(r.Header, httpapi.TypeJSON, httpapi.TypeNDJSON)
	if e != nil && r.ContentLength != 0 {
		return 0, e
	}
	s := g.batch.Get().(*batchScratch)
	body, release, e := g.api.BulkBody(w, r, d.p.WorkspaceID, s.body)
	defer release()
	s.body = body
	if e == nil && len(body) == 0 && mediaType != httpapi.TypeNDJSON { // no lines are no items
		e = httpapi.ErrEmptyBody
	}
	if e == nil && mediaType == httpapi.TypeJSON {
		e = httpapi.MeantAsJSON(r.Header, body)
	}
	if e == nil {
		e = g.batchOnce(w, r, &d.p, d.now, mediaType == httpapi.TypeNDJSON, s)
	}
	if e != nil {
		return 0, e // s is not used again
	}
	httpapi.AllowAnswer(w, d.start)
	d.answer(http.StatusOK, s.Out)
	if cap(s.body) <= 4<<20 {
		g.batch.Put(s)
	}
	return http.StatusOK, nil
}

// vitalsOf returns a reading's report of its device.
func vitalsOf(who *store.Identity, x *wire.Extras) store.Vitals {
	return store.Vitals{DeviceID: who.ID, Heartbeat: rimewatch.Heartbeat{BatteryPct: x.BatteryPct, BatteryLow: x.BatteryLow, RSSI: x.RSSI, FirmwareVersion: x.Firmware}}
}

// report notes an item's report of its device; the newest counts.
func (b *Batch) report(who *store.Identity, x *wire.Extras) {
	i, known := b.vitalsAt[who.ID]
	if known {
		b.vitals[i] = vitalsOf(who, x)
		return
	}
	if b.vitalsAt == nil {
		b.vitalsAt = make(map[int64]int)
	}
	b.vitalsAt[who.ID] = len(b.vitals)
	b.vitals = append(b.vitals, vitalsOf(who, x))
}

// ignore notes the foreign fields of an item.
func (b *Batch) ignore(sent *wire.SentReading) {
	for _, name := range sent.Ignored {
		if len(b.ignored) < wire.MaxIgnored && !slices.Contains(b.ignored, name) {
			b.ignored = append(b.ignored, name)
		}
	}
}
