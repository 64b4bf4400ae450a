package v1

import (
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// pieces gathers an answer and sends it in pieces.
type pieces struct {
	c *httpapi.Call
	b []byte
}

// sendFull sends the gathered bytes when they are enough for a piece.
func (x *pieces) sendFull() error {
	if len(x.b) < httpapi.StreamChunk {
		return nil
	}
	return x.flush()
}

func (x *pieces) flush() error {
	err := x.c.Stream(x.b)
	x.b = x.b[:0]
	return err
}

// csvWriter gathers rows.
type csvWriter struct{ pieces }

func newCSV(c *httpapi.Call, q *historyQuery) *csvWriter {
	c.Header("Content-Type", httpapi.TypeCSV) // UTF-8 by default, RFC 7111
	c.Header("Content-Disposition", `attachment; filename="`+strings.ReplaceAll(q.device.Serial, ":", "_")+`.csv"`)
	return &csvWriter{pieces{c, make([]byte, 0, httpapi.StreamChunk+4096)}}
}

func (w *csvWriter) row() error {
	w.b = append(w.b, '\r', '\n') // RFC 4180
	return w.sendFull()
}

// finish sends the rest. err is the error that ended the rows.
func (w *csvWriter) finish(a *core, err error) error {
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return a.BrokenStream(w.c, err)
	}
	return nil
}

// extras writes the cells of what a device may send beside its measurements.
func (w *csvWriter) extras(r *rimewatch.Reading) {
	for x := range rimewatch.NumFlags {
		w.b = append(w.b, ',')
		if v, ok := r.Flags.Bool(x); ok {
			w.b = strconv.AppendBool(w.b, v)
		}
	}
}

// marks writes whether the time is that of the arrival, and whether it came by a file.
func (w *csvWriter) marks(r *rimewatch.Reading) {
	for _, x := range [...]rimewatch.Flag{rimewatch.ClockUnset, rimewatch.Imported} {
		w.b = append(w.b, ',')
		if set, _ := r.Flags.Bool(x); set {
			w.b = append(w.b, "true"...)
		}
	}
}

// readingHead and reading write the cells of a reading, bucketHead and bucket those of the
// aggregate of a step.
func (w *csvWriter) readingHead(fields rimewatch.Fields) {
	w.b = append(w.b, "recorded_at,received_at"...)
	for _, name := range fields.Names() {
		w.b = append(append(w.b, ','), name...)
	}
	if fields == rimewatch.AllFields {
		for x := range rimewatch.NumFlags {
			w.b = append(append(w.b, ','), x.String()...)
		}
	}
	w.b = append(w.b, ",sensor_faults"...)
	if fields == rimewatch.AllFields {
		w.b = append(w.b, ",clock_unset,imported"...)
	}
}

func (w *csvWriter) reading(r *rimewatch.Reading, fields rimewatch.Fields) {
	w.b = r.At.Append(w.b)
	w.b = append(w.b, ',')
	if r.ReceivedAt != 0 {
		w.b = r.Received().Append(w.b)
	}
	for f := range fields.All() {
		w.b = append(w.b, ',')
		if v, ok := r.Value(f); ok {
			w.b = wire.AppendNumber(w.b, v)
		}
	}
	if fields == rimewatch.AllFields {
		w.extras(r)
	}
	w.b = append(w.b, ',')
	w.b = append(w.b, strings.Join((r.Faults&fields).Names(), " ")...)
	if fields == rimewatch.AllFields {
		w.marks(r)
	}
}

func (w *csvWriter) bucketHead(fields rimewatch.Fields) {
	w.b = append(w.b, "at,count"...)
	for f := range fields.All() {
		for _, part := range parts(f) {
			w.b = append(append(append(append(w.b, ','), f.String()...), '_'), part...)
		}
	}
}

func (w *csvWriter) bucket(k *store.Bucket, fields rimewatch.Fields) {
	w.b = k.At.Append(w.b)
	w.b = append(w.b, ',')
	w.b = wire.AppendInt(w.b, k.Count)
	for f := range fields.All() {
		g := k.Aggregate(f)
		if g.Count == 0 {
			w.b = append(w.b, ",,,"...)
			continue
		}
		for _, v := range partsOf(f, g) {
			w.b = wire.AppendNumber(append(w.b, ','), v)
		}
	}
}

// readingsCSV streams all readings of the span, however many.
func (a readings) readingsCSV(c *httpapi.Call, q *historyQuery) error {
	w := newCSV(c, q)
	w.readingHead(q.fields)
	if err := w.row(); err != nil {
		return w.finish(a.core, err)
	}
	hq := store.HistoryQuery{DeviceID: q.device.ID, From: q.from, To: q.to, Descending: q.down}
	return w.finish(a.core, a.historyOf(&q.device.Device).Readings(c.R.Context(), hq, func(r *rimewatch.Reading) error {
		w.reading(r, q.fields)
		return w.row()
	}))
}

// bucketsCSV writes the aggregates of the span.
func (a readings) bucketsCSV(c *httpapi.Call, q *historyQuery) error {
	w := newCSV(c, q)
	w.bucketHead(q.fields)
	failed := w.row()
	err := a.eachBucket(c, q, func(k *store.Bucket) {
		w.bucket(k, q.fields)
		if failed == nil {
			failed = w.row()
		}
	})
	if err == nil {
		err = failed
	}
	return w.finish(a.core, err)
}
