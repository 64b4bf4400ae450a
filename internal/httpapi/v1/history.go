package v1

import (
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// HistoryInput are the parameters of a device's history.
type HistoryInput struct {
	httpapi.SerialInput
	From      string `query:"from" format:"date-time" doc:"Start, included. Default: 24 hours before to."`
	To        string `query:"to" format:"date-time" doc:"End, not included. Default: now, or just after the newest reading of a device whose clock is a little ahead."`
	Fields    string `query:"fields" maxLength:"300" doc:"Measurements, separated by commas. Default: all eight."`
	Step      string `query:"step" enum:"raw,1m,5m,15m,1h,1d,auto" default:"raw" doc:"raw returns readings, a span returns aggregates, auto picks the shortest span that keeps max_points (raw when all readings fit, 1d when no span does). A span of which more than 50,000 lie between from and to is 422."`
	MaxPoints int64  `query:"max_points" minimum:"1" default:"1000" doc:"For step=auto, at most 10000; larger is taken as 10000."`
	Order     string `query:"order" enum:"asc,desc" default:"asc"`
	PerPage   int64  `query:"per_page" minimum:"1" default:"1000" doc:"Readings per page for step=raw, at most 10000; larger is taken as 10000."`
	Cursor    string `query:"cursor" maxLength:"200" doc:"next_cursor of the answer before, for step=raw. Keep the other parameters the same."`
}

// HistoryData is the data of the answer with a device's history.
type HistoryData struct {
	DeviceID     int64              `json:"device_id"`
	DeviceSerial string             `json:"device_serial"`
	From         rimewatch.Time     `json:"from" nullable:"false"`
	To           rimewatch.Time     `json:"to" nullable:"false"`
	Step         string             `json:"step" enum:"raw,1m,5m,15m,1h,1d" doc:"As used."`
	Readings     []HistoryReading   `json:"readings,omitempty" doc:"For step=raw, with the fields asked for."`
	Buckets      []HistoryBucket    `json:"buckets,omitempty" doc:"For the other steps. Every step of the span that holds a reading, and empty ones between them."`
	Pagination   *HistoryPagination `json:"pagination,omitempty" doc:"For step=raw."`
}

// HistoryReading is a reading of a known device.
type HistoryReading struct {
	RecordedAt   rimewatch.Time `json:"recorded_at" nullable:"false"`
	ReceivedAt   rimewatch.Time `json:"received_at" nullable:"false" doc:"When the service received it, to the second."`
	SensorFaults []string       `json:"sensor_faults"`
}

// HistoryBucket is the aggregate of the readings in one step, by measurement.
type HistoryBucket struct {
	At            rimewatch.Time `json:"at" nullable:"false" doc:"Start of the step."`
	Count         int64          `json:"count" doc:"Readings in the step."`
	DefrostActive bool           `json:"defrost_active,omitempty" doc:"true if a reading in the step reports a defrost; absent otherwise, and in steps of an hour and more."`
}

// HistoryPagination is where raw history continues.
type HistoryPagination struct {
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
}

// The bounds of history answers.
const (
	maxHistoryPage = 10_000
	// maxBuckets bounds an answer in buckets: a year of 15 minutes, a week of
	// minutes. More is refused, not cut off.
	maxBuckets = 50_000
)

var steps = []struct {
	name string
	span rimewatch.Time
}{
	{"1m", rimewatch.Minute}, {"5m", 5 * rimewatch.Minute}, {"15m", 15 * rimewatch.Minute},
	{"1h", rimewatch.Hour}, {"1d", rimewatch.Day},
}

// historyQuery is a checked request for history.
type historyQuery struct {
	device    rimewatch.DeviceView
	from, to  rimewatch.Time
	fields    rimewatch.Fields
	step      string
	span      rimewatch.Time // of the step, 0 for raw
	down      bool
	perPage   int
	maxPoints int
	cursor    string
}

// parseHistory reads the common parameters of histories of one device and of many.
func parseHistory(c *httpapi.Call) (historyQuery, error) {
	q := historyQuery{
		step: c.Param("step", "raw"), down: c.Query.Get("order") == "desc", cursor: c.Query.Get("cursor"),
		perPage: int(c.Number("per_page", 1000, maxHistoryPage)), maxPoints: int(c.Number("max_points", 1000, maxHistoryPage)),
	}
	var f wire.FieldErrors
	q.to, _ = rimewatch.ParseTime(c.Query.Get("to"))
	q.from, _ = rimewatch.ParseTime(c.Query.Get("from"))
	if q.to != 0 && q.from > q.to {
		f.Add("from", "must not be after to")
	}
	q.fields = rimewatch.AllFields
	if list := c.Query.Get("fields"); list != "" {
		q.fields = 0
		for name := range strings.SplitSeq(list, ",") {
			field, ok := rimewatch.FieldByName(strings.TrimSpace(name))
			if !ok {
				f.Add("fields", "%q is not a measurement", wire.Shown([]byte(name)))
				continue
			}
			q.fields = q.fields.With(field)
		}
	}
	for _, s := range steps {
		if s.name == q.step {
			q.span = s.span
		}
	}
	if f.Err != nil {
		return q, f.Err
	}
	return q, nil
}

func (a readings) historyQuery(c *httpapi.Call) (historyQuery, error) {
	q, err := parseHistory(c)
	if err != nil {
		return q, err
	}
	if q.device, err = (&httpapi.SerialInput{Serial: c.R.PathValue("serial")}).Device(c.R.Context(), a.cfg.Fleet, c.Workspace()); err != nil {
		return q, err
	}
	q.settle(c.Now)
	return q, q.checkSteps()
}

// checkSteps refuses a span of too many steps.
func (q *historyQuery) checkSteps() error {
	if q.span > 0 && q.steps(q.span) > maxBuckets {
		return rimewatch.Invalid("step", "gives more than %d buckets, choose a longer one or a shorter span of time", maxBuckets)
	}
	return nil
}

// steps is how many steps, which are aligned to UTC, the span of time touches.
func (q *historyQuery) steps(of rimewatch.Time) int64 {
	if q.to <= q.from {
		return 0
	}
	return int64((q.to-1)/of - q.from/of + 1)
}

// settle fills in the span where it was not named. The end is now, or just
// after the newest reading of a device whose clock is a little ahead.
func (q *historyQuery) settle(now rimewatch.Time) {
	if q.to == 0 {
		q.to = now + 1
		if newest := q.device.Latest.At; newest <= now+rimewatch.FutureTolerance {
			q.to = max(q.to, newest+1)
		}
		q.to = max(q.to, q.from)
	}
	if q.from == 0 {
		q.from = max(q.to-rimewatch.Day, rimewatch.MinTime)
	}
}

// wantsCSV reports whether the client prefers CSV.
func wantsCSV(accept string) bool {
	return httpapi.Preferred(accept, httpapi.TypeJSON, httpapi.TypeCSV) == httpapi.TypeCSV
}

func (a readings) deviceReadings(c *httpapi.Call) error {
	q, err := a.historyQuery(c)
	if err != nil {
		return err
	}
	c.W.Header().Add("Vary", "Accept")
	csv := wantsCSV(c.R.Header.Get("Accept"))
	if q.step == "auto" {
		if err := a.pickStep(c, &q); err != nil {
			return err
		}
	}
	switch {
	case csv && q.span > 0:
		return a.bucketsCSV(c, &q)
	case csv:
		return a.readingsCSV(c, &q)
	case q.span > 0:
		return a.buckets(c, &q)
	default:
		return a.readings(c, &q)
	}
}

// pickStep settles step=auto: raw when all readings of the span fit into
// max_points, otherwise the shortest step that does.
func (a readings) pickStep(c *httpapi.Call, q *historyQuery) error {
	n := 0
	hq := store.HistoryQuery{DeviceID: q.device.ID, From: q.from, To: q.to, Limit: q.maxPoints + 1}
	err := a.cfg.History.Readings(c.R.Context(), hq, func(*rimewatch.Reading) error { n++; return nil })
	if err != nil {
		return err
	}
	if n <= q.maxPoints {
		q.step, q.perPage = "raw", q.maxPoints
		return nil
	}
	for _, s := range steps {
		q.step, q.span = s.name, s.span
		if q.steps(s.span) <= int64(q.maxPoints) {
			break
		}
	}
	return nil
}

// historyOf is the history of a device, corrected by its calibrations.
func (a *core) historyOf(d *rimewatch.Device) store.History {
	return store.Corrected{History: a.cfg.History, Offsets: d.Offsets}
}

// openHistory writes what all JSON answers of history begin with.
func openHistory(q *historyQuery) []byte {
	b := append(make([]byte, 0, httpapi.StreamChunk+4096), `{"success":true,"data":{"device_id":`...)
	b = wire.AppendInt(b, q.device.ID)
	b = append(b, `,"device_serial":"`...)
	b = append(b, q.device.Serial...)
	b = append(b, `","from":`...)
	b = wire.AppendTime(b, q.from)
	b = append(b, `,"to":`...)
	b = wire.AppendTime(b, q.to)
	b = append(b, `,"step":"`...)
	b = append(b, q.step...)
	return append(b, '"')
}

// readings writes one page of raw readings.
func (a readings) readings(c *httpapi.Call, q *historyQuery) error {
	hq := store.HistoryQuery{DeviceID: q.device.ID, From: q.from, To: q.to, Descending: q.down, Limit: q.perPage + 1}
	kind := httpapi.CursorHistory
	if q.down {
		kind = httpapi.CursorHistoryDown
	}
	if q.cursor != "" {
		at, _, e := a.cursors.Decode(kind, q.device.ID, q.cursor)
		switch {
		case e != nil:
			return e
		case q.down:
			hq.To = min(hq.To, rimewatch.Time(at))
		default:
			hq.From = max(hq.From, rimewatch.Time(at)+1)
		}
	}
	b := append(openHistory(q), `,"readings":[`...)
	n, last, more := 0, rimewatch.Time(0), false
	err := a.historyOf(&q.device.Device).Readings(c.R.Context(), hq, func(r *rimewatch.Reading) error {
		if n == q.perPage {
			more = true
			return nil
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		last = r.At
		b = appendHistoryReading(b, r, q.fields)
		return nil
	})
	if err != nil {
		return err
	}
	b = append(b, `],"pagination":{"per_page":`...)
	b = wire.AppendInt(b, int64(q.perPage))
	b = append(b, `,"next_cursor":`...)
	if more {
		cursor := a.cursors.Encode(kind, q.device.ID, int64(last), 0)
		b = wire.AppendString(b, cursor)
		c.LinkNext("cursor", cursor)
	} else {
		b = append(b, "null"...)
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	_, _ = c.W.Write(append(b, "}}}\n"...))
	return nil
}

func appendHistoryReading(b []byte, r *rimewatch.Reading, fields rimewatch.Fields) []byte {
	b = append(b, `{"recorded_at":`...)
	b = wire.AppendTime(b, r.At)
	b = append(b, `,"received_at":`...)
	b = wire.AppendTime(b, r.Received())
	if fields == rimewatch.AllFields {
		return append(wire.AppendMeasurements(b, r), '}')
	}
	for f := range fields.All() {
		b = append(b, wire.FieldKeys[f]...)
		if v, ok := r.Value(f); ok {
			b = wire.AppendNumber(b, v)
		} else {
			b = append(b, "null"...)
		}
	}
	b = append(b, `,"sensor_faults":[`...)
	for i, name := range (r.Faults & fields).Names() {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, name)
	}
	return append(b, "]}"...)
}

// eachBucket calls yield for every step of the span between the first and the
// last reading, in the order asked for; steps without readings have Count 0.
func (a readings) eachBucket(c *httpapi.Call, q *historyQuery, yield func(*store.Bucket)) error {
	found, err := a.historyOf(&q.device.Device).Buckets(c.R.Context(), store.BucketQuery{DeviceID: q.device.ID, From: q.from, To: q.to, Step: q.span, Fields: q.fields})
	if err != nil || len(found) == 0 {
		return err
	}
	full := make([]store.Bucket, 0, len(found))
	for i := range found {
		if i > 0 {
			for at := found[i-1].At + q.span; at < found[i].At; at += q.span {
				full = append(full, store.Bucket{At: at})
			}
		}
		full = append(full, found[i])
	}
	for i := range full {
		if q.down {
			yield(&full[len(full)-1-i])
		} else {
			yield(&full[i])
		}
	}
	return nil
}

func (a readings) buckets(c *httpapi.Call, q *historyQuery) error {
	b := append(openHistory(q), `,"buckets":[`...)
	n := 0
	err := a.eachBucket(c, q, func(k *store.Bucket) {
		if n > 0 {
			b = append(b, ',')
		}
		n++
		b = appendBucket(b, k, q.fields)
	})
	if err != nil {
		return err
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	_, _ = c.W.Write(append(b, "]}}\n"...))
	return nil
}

func appendBucket(b []byte, k *store.Bucket, fields rimewatch.Fields) []byte {
	b = append(b, `{"at":`...)
	b = wire.AppendTime(b, k.At)
	b = append(b, `,"count":`...)
	b = wire.AppendInt(b, k.Count)
	for f := range fields.All() {
		if g := k.Aggregate(f); g.Count > 0 || f.Core() || fields != rimewatch.AllFields {
			b = append(b, wire.FieldKeys[f]...)
			b = appendAggregate(b, f, g)
		}
	}
	if k.Defrost {
		b = append(b, `,"defrost_active":true`...)
	}
	return append(b, '}')
}

func appendAggregate(b []byte, f rimewatch.Field, g store.Aggregate) []byte {
	if g.Count == 0 {
		return append(b, "null"...)
	}
	before := byte('{')
	for i, name := range parts(f) {
		b = append(append(append(b, before, '"'), name...), `":`...)
		b = wire.AppendNumber(b, partsOf(f, g)[i])
		before = ','
	}
	return append(b, '}')
}

// parts names what an aggregate has: what a counter stood at on average says
// nothing, what it counted does.
func parts(f rimewatch.Field) [3]string {
	if f.Info().Kind == rimewatch.Counter {
		return [...]string{"min", "max", "increase"}
	}
	return [...]string{"min", "avg", "max"}
}

// partsOf returns the values of parts.
func partsOf(f rimewatch.Field, g store.Aggregate) [3]float64 {
	if f.Info().Kind == rimewatch.Counter {
		return [...]float64{g.Min, g.Max, g.Increase}
	}
	return [...]float64{g.Min, g.Mean(), g.Max}
}
