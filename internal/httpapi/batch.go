package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// maxBatch is how many readings one batch may hold.
const maxBatch = 10_000

// Batch is the memory of one batch of readings, for reuse.
type Batch struct {
	Out []byte // the answer

	inputs   []store.Input
	index    []int32 // place in the batch of each input
	rejected []rejection
	pending  []pendingItem // readings of devices that auto-register will create
	n        int           // items seen
	sent     sentReading
	scan     scanner

	lastSerial []byte // neighbours are mostly of one device
	lastID     int64
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
}

// batchContext is what the items of a batch have in common.
type batchContext struct {
	workspaceID int64
	principal   *account.Principal
	now         rimewatch.Time
	settings    rimewatch.Workspace
	fleet       Fleet
}

// Batch stores the readings in body and leaves the answer in b.Out. Good items
// are stored even when others are bad. After an error b must not be used again.
func (g *Ingest) Batch(ctx context.Context, p *account.Principal, now rimewatch.Time, ndjson bool, body []byte, b *Batch) *rimewatch.Error {
	settings, err := g.settings.get(ctx, p.WorkspaceID, now)
	if err != nil {
		return asError(err)
	}
	b.reset()
	bc := batchContext{p.WorkspaceID, p, now, settings, g.fleet}
	var e *rimewatch.Error
	if ndjson {
		e = b.decodeLines(&bc, body)
	} else {
		e = b.decodeDocument(&bc, body)
	}
	if e != nil {
		return e
	}
	if b.n == 0 {
		return rimewatch.Invalid("readings", "must hold at least one reading")
	}
	if len(b.pending) > 0 {
		if e := g.registerPending(ctx, &bc, b); e != nil {
			return e
		}
	}
	if len(b.inputs) > 0 {
		if err := g.writer.Submit(ctx, p.WorkspaceID, b.inputs); err != nil {
			return asError(err)
		}
	}
	b.answer()
	return nil
}

func (b *Batch) reset() {
	clear(b.rejected)
	clear(b.pending)
	*b = Batch{
		Out: b.Out[:0], inputs: b.inputs[:0], index: b.index[:0],
		rejected: b.rejected[:0], pending: b.pending[:0], scan: scanner{keys: b.scan.keys[:0]},
	}
}

// decodeLines reads one reading a line. A malformed line rejects that item.
func (b *Batch) decodeLines(bc *batchContext, body []byte) *rimewatch.Error {
	for len(body) > 0 {
		line := body
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			line, body = body[:i], body[i+1:]
		} else {
			body = nil
		}
		if isBlank(line) {
			continue
		}
		if e := b.count(); e != nil {
			return e
		}
		if e := decodeReading(line, &b.sent); e != nil {
			b.reject(e)
			continue
		}
		b.add(bc)
	}
	return nil
}

// count counts one item: CodePayloadTooLarge after the last that is allowed.
func (b *Batch) count() *rimewatch.Error {
	b.n++
	if b.n > maxBatch {
		return rimewatch.Errorf(rimewatch.CodePayloadTooLarge, "A batch must not hold more than %d readings.", maxBatch)
	}
	return nil
}

// decodeDocument reads {"readings":[…]}. A malformed document is refused whole.
func (b *Batch) decodeDocument(bc *batchContext, body []byte) *rimewatch.Error {
	const opening = `"readings"`
	i := skipSpace(body, 0)
	if i < len(body) && body[i] == '{' {
		i = skipSpace(body, i+1)
		if bytes.HasPrefix(body[i:], []byte(opening)) {
			i = skipSpace(body, i+len(opening))
			if i < len(body) && body[i] == ':' {
				i = skipSpace(body, i+1)
				if i < len(body) && body[i] == '[' {
					return b.decodeFrom(bc, body, i)
				}
			}
		}
	}
	array, e := readingsMember(body)
	if e != nil {
		return e
	}
	_, e = b.decodeArray(bc, array, 0)
	return e
}

// decodeFrom reads the array at body[i] and what follows it in the document.
func (b *Batch) decodeFrom(bc *batchContext, body []byte, i int) *rimewatch.Error {
	i, e := b.decodeArray(bc, body, i)
	if e != nil {
		return e
	}
	i = skipSpace(body, i)
	if i < len(body) && body[i] == '}' && skipSpace(body, i+1) == len(body) {
		return nil
	}
	if _, e := readingsMember(body); e != nil {
		return e
	}
	return invalidJSON("unexpected data after the readings")
}

// readingsMember finds the array in a document of unusual form and says what is
// wrong with the others.
func readingsMember(body []byte) (array []byte, e *rimewatch.Error) {
	if err := checkJSON(body); err != nil {
		return nil, invalidJSON("%v", err)
	}
	body = body[skipSpace(body, 0):]
	if body[0] != '{' {
		return nil, invalidJSON("it must be an object with the member readings")
	}
	var f found
	members(body, func(key, value []byte) bool {
		switch {
		case string(key) != "readings":
			f.add(shown(key), "is not a known field")
		case value[0] != '[':
			f.add("readings", "must be an array")
		default:
			array = value
		}
		return f.err == nil || len(f.err.Fields) < maxReportedFields
	})
	if f.err == nil && array == nil {
		f.add("readings", "is required")
	}
	return array, f.err
}

// decodeArray reads the items of the array at data[i] and gives the position
// after it.
func (b *Batch) decodeArray(bc *batchContext, data []byte, i int) (end int, e *rimewatch.Error) {
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		if e := b.count(); e != nil {
			return 0, e
		}
		if end, ok := fastReading(data, i, &b.sent); ok {
			b.add(bc)
			i = end
		} else if i, e = b.strictItem(bc, data, i); e != nil {
			return 0, e
		}
		i = skipSpace(data, i)
		switch {
		case i < len(data) && data[i] == ',':
			i = skipSpace(data, i+1)
		case i < len(data) && data[i] == ']':
			return i + 1, nil
		default:
			return 0, invalidJSON("expected , or ] at byte %d", i)
		}
	}
}

func (b *Batch) strictItem(bc *batchContext, data []byte, i int) (end int, e *rimewatch.Error) {
	b.scan.data, b.scan.pos = data, i
	if !b.scan.value(2) {
		return 0, invalidJSON("%v", &b.scan.err)
	}
	item := data[i:b.scan.pos]
	switch {
	case item[0] != '{':
		b.reject(rimewatch.Errorf(rimewatch.CodeValidationFailed, "A reading must be an object."))
	default:
		if e := strictReading(item, &b.sent); e != nil {
			b.reject(e)
		} else {
			b.add(bc)
		}
	}
	return b.scan.pos, nil
}

func (b *Batch) reject(e *rimewatch.Error) {
	b.rejected = append(b.rejected, rejection{int32(b.n - 1), e.Code, e.Fields})
}

// add takes the decoded reading into the batch.
func (b *Batch) add(bc *batchContext) {
	if what := outsideWindow(b.sent.At, bc.now, bc.settings.RawDays); what != "" {
		b.reject(rimewatch.Invalid("recorded_at", "%s", what))
		return
	}
	in := store.Input{Reading: b.sent.Reading, Kind: store.InputReading, AtArrival: b.sent.At == 0}
	if !bytes.Equal(b.sent.Serial, b.lastSerial) {
		id, ok := bc.fleet.DeviceID(bc.workspaceID, b.sent.Serial)
		if !ok {
			if !bc.settings.AutoRegister {
				b.reject(errUnknownDevice())
				return
			}
			b.pending = append(b.pending, pendingItem{in, int32(b.n - 1), string(b.sent.Serial)})
			return
		}
		b.lastSerial, b.lastID = b.sent.Serial, id
	}
	in.DeviceID = b.lastID
	b.inputs = append(b.inputs, in)
	b.index = append(b.index, int32(b.n-1))
}

// registerAtOnce is how many devices are created side by side: they share the
// commits of the group writer.
const registerAtOnce = 64

// registerPending creates the devices of unknown serials and takes their
// readings into the batch, in the order in which they came.
func (g *Ingest) registerPending(ctx context.Context, bc *batchContext, b *Batch) *rimewatch.Error {
	type result struct {
		id  int64
		err error
	}
	created := make(map[string]*result)
	slots := make(chan struct{}, registerAtOnce)
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
			r.id, r.err = g.autoRegister(ctx, bc.principal, serial)
		})
	}
	wg.Wait()
	for i := range b.pending {
		item := &b.pending[i]
		r := created[rimewatch.SerialKey(item.serial)]
		if r.err != nil {
			return asError(r.err)
		}
		item.input.DeviceID = r.id
		b.inputs = append(b.inputs, item.input)
		b.index = append(b.index, item.index)
	}
	return nil
}

// answer counts outcomes and writes the answer.
func (b *Batch) answer() {
	accepted, duplicates := 0, 0
	for i := range b.inputs {
		switch b.inputs[i].Outcome {
		case store.Accepted:
			accepted++
		case store.Duplicate:
			duplicates++
		default:
			e := errUnknownDevice()
			b.rejected = append(b.rejected, rejection{b.index[i], e.Code, e.Fields})
		}
	}
	slices.SortFunc(b.rejected, func(x, y rejection) int { return cmp.Compare(x.index, y.index) })
	out := append(b.Out[:0], `{"success":true,"data":{"accepted":`...)
	out = appendInt(out, int64(accepted))
	out = append(out, `,"duplicates":`...)
	out = appendInt(out, int64(duplicates))
	out = append(out, `,"rejected":`...)
	out = appendInt(out, int64(len(b.rejected)))
	out = append(out, `,"results":[`...)
	for i := range b.rejected {
		r := &b.rejected[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"index":`...)
		out = appendInt(out, int64(r.index))
		out = append(out, `,"status":`...)
		out = appendInt(out, int64(statusOf[r.code]))
		out = append(out, `,"code":"`...)
		out = append(out, r.code...)
		out = append(out, `","fields":`...)
		out = appendFields(out, r.fields)
		out = append(out, '}')
	}
	b.Out = append(out, "]}}\n"...)
}

func (g *ingestRoutes) serveBatch(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	status := 0
	defer func() {
		if v := recover(); v != nil {
			status = http.StatusInternalServerError
			g.panicked(w, r, v)
		}
		g.batchMeter.observe(status, time.Since(start))
	}()
	now := g.api.cfg.Now()
	id, p, e := g.begin(w, r, now)
	if e != nil {
		status = g.fail(w, r, id, e)
		return
	}
	mediaType, _, e := contentType(r.Header, typeJSON, typeNDJSON)
	if e != nil && r.ContentLength != 0 {
		status = g.fail(w, r, id, e)
		return
	}
	s := g.batch.Get().(*batchScratch)
	body, release, e := g.api.bulkBody(w, r, p.WorkspaceID, s.body)
	defer release()
	s.body = body
	if e == nil && len(body) == 0 && mediaType != typeNDJSON { // no lines are no items
		e = errEmptyBody
	}
	if e == nil {
		e = g.ingest.Batch(r.Context(), &p, now, mediaType == typeNDJSON, body, &s.Batch)
	}
	if e != nil {
		status = g.fail(w, r, id, e) // s is not used again
		return
	}
	status = http.StatusOK
	w.WriteHeader(status)
	_, _ = w.Write(s.Out)
	if cap(s.body) <= 4<<20 {
		g.batch.Put(s)
	}
}
