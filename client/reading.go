package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// MaxBatch is how many readings one batch may hold.
const MaxBatch = 10_000

// Measurements are the measurements of a reading; nil is absent.
type Measurements struct {
	ProductZoneTemp         *float64 `json:"product_zone_temp,omitempty"`         // °C
	CompressorDischargeTemp *float64 `json:"compressor_discharge_temp,omitempty"` // °C
	CompressorSuctionTemp   *float64 `json:"compressor_suction_temp,omitempty"`   // °C
	AmbientTemp             *float64 `json:"ambient_temp,omitempty"`              // °C
	Humidity                *float64 `json:"humidity,omitempty"`                  // %RH
	Voltage                 *float64 `json:"voltage,omitempty"`                   // V RMS
	AmpDraw                 *float64 `json:"amp_draw,omitempty"`                  // A RMS
	VibrationLevel          *float64 `json:"vibration_level,omitempty"`           // mm/s RMS
	CompressorOn            *bool    `json:"compressor_on,omitempty"`
	DefrostActive           *bool    `json:"defrost_active,omitempty"`
	DoorOpen                *bool    `json:"door_open,omitempty"`
	SetpointTemp            *float64 `json:"setpoint_temp,omitempty"`      // °C
	EvaporatorTemp          *float64 `json:"evaporator_temp,omitempty"`    // °C
	LiquidLineTemp          *float64 `json:"liquid_line_temp,omitempty"`   // °C
	SuctionPressure         *float64 `json:"suction_pressure,omitempty"`   // kPa gauge
	DischargePressure       *float64 `json:"discharge_pressure,omitempty"` // kPa gauge
	Power                   *float64 `json:"power,omitempty"`              // W
	Energy                  *float64 `json:"energy,omitempty"`             // kWh, since the meter's own zero
	CO2                     *float64 `json:"co2,omitempty"`                // ppm
	StartCount              *int64   `json:"start_count,omitempty"`        // since the device's own zero
	RunSeconds              *int64   `json:"run_seconds,omitempty"`        // s, since the device's own zero
}

// fields is where m holds each measurement: *float64, or *int64 where only
// integers are accepted.
func (m *Measurements) fields() [rimewatch.MaxFields]any {
	return [rimewatch.MaxFields]any{
		rimewatch.ProductZoneTemp:         &m.ProductZoneTemp,
		rimewatch.CompressorDischargeTemp: &m.CompressorDischargeTemp,
		rimewatch.CompressorSuctionTemp:   &m.CompressorSuctionTemp,
		rimewatch.AmbientTemp:             &m.AmbientTemp,
		rimewatch.Humidity:                &m.Humidity,
		rimewatch.Voltage:                 &m.Voltage,
		rimewatch.AmpDraw:                 &m.AmpDraw,
		rimewatch.VibrationLevel:          &m.VibrationLevel,
		rimewatch.SetpointTemp:            &m.SetpointTemp,
		rimewatch.EvaporatorTemp:          &m.EvaporatorTemp,
		rimewatch.LiquidLineTemp:          &m.LiquidLineTemp,
		rimewatch.SuctionPressure:         &m.SuctionPressure,
		rimewatch.DischargePressure:       &m.DischargePressure,
		rimewatch.Power:                   &m.Power,
		rimewatch.Energy:                  &m.Energy,
		rimewatch.CO2:                     &m.CO2,
		rimewatch.StartCount:              &m.StartCount,
		rimewatch.RunSeconds:              &m.RunSeconds,
	}
}

// Set stores one measurement; those that are integers are rounded.
func (m *Measurements) Set(f rimewatch.Field, v float64) {
	switch p := m.fields()[f].(type) {
	case **float64:
		*p = &v
	case **int64:
		*p = Value(int64(math.Round(v)))
	}
}

// Value returns one measurement; ok is false where it is absent.
func (m *Measurements) Value(f rimewatch.Field) (v float64, ok bool) {
	switch p := m.fields()[f].(type) {
	case **float64:
		if *p != nil {
			return **p, true
		}
	case **int64:
		if *p != nil {
			return float64(**p), true
		}
	}
	return 0, false
}

// MeasurementsOf returns the measurements of a reading of the domain. A sensor in Faults
// is sent as −127, which is how a real one says that it is broken.
func MeasurementsOf(r *rimewatch.Reading) Measurements {
	var m Measurements
	for f := range r.Faults.All() {
		m.Set(f, -127)
	}
	for f, v := range r.All() {
		m.Set(f, v)
	}
	observed := func(x rimewatch.Flag) *bool {
		if v, ok := r.Flags.Bool(x); ok {
			return &v
		}
		return nil
	}
	m.CompressorOn = observed(rimewatch.CompressorOn)
	m.DefrostActive = observed(rimewatch.DefrostActive)
	m.DoorOpen = observed(rimewatch.DoorOpen)
	return m
}

// Reading is a reading to be stored.
type Reading struct {
	DeviceSerial string         `json:"device_serial"`
	RecordedAt   rimewatch.Time `json:"recorded_at,omitempty"` // 0 = at arrival; then a lost answer cannot be retried
	Measurements
}

// StoredReading is a reading as the service keeps it.
type StoredReading struct {
	DeviceID     int64          `json:"device_id"`
	DeviceSerial string         `json:"device_serial"`
	RecordedAt   rimewatch.Time `json:"recorded_at"`
	ReceivedAt   rimewatch.Time `json:"received_at"`
	Measurements
	SensorFaults []string `json:"sensor_faults"` // measurements whose sensor said that it is broken
	// Held is true for a reading that waits until somebody accepts its device; then
	// DeviceSerial is all that is known of it.
	Held bool `json:"-"`
}

// PostReading stores one reading. When it returns nil, the reading is durable.
// duplicate reports whether a reading of this device and moment was there before;
// stored is that one then. One of an unregistered device may be Held.
// rimewatch.CodeUnknownDevice, CodeValidationFailed.
func (c *Client) PostReading(ctx context.Context, r Reading) (stored StoredReading, duplicate bool, err error) {
	call := send(http.MethodPost, "/readings", r, r.RecordedAt != 0)
	call.readings = true
	data, err := fetch[struct {
		Reading   StoredReading `json:"reading"`
		Duplicate bool          `json:"duplicate"`
		Held      bool          `json:"held"`
		Serial    string        `json:"device_serial"`
	}](ctx, c, call)
	if data.Held {
		return StoredReading{DeviceSerial: data.Serial, Held: true}, false, err
	}
	return data.Reading, data.Duplicate, err
}

// BatchResult is the outcome of a batch.
type BatchResult struct {
	Accepted   int             `json:"accepted"`
	Duplicates int             `json:"duplicates"`
	Held       int             `json:"held"` // waiting until somebody accepts their devices
	Rejected   int             `json:"rejected"`
	Results    []BatchRejected `json:"results"` // only the rejected items
}

// BatchRejected is one item that was not stored.
type BatchRejected struct {
	Index  int                 `json:"index"`  // place in the batch, from 0
	Status int                 `json:"status"` // of the item by itself
	Code   rimewatch.Code      `json:"code"`
	Fields map[string][]string `json:"fields"`
}

// Error is the rejection as an error.
func (r *BatchRejected) Error() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "reading %d: %s", r.Index, r.Code)
	for _, f := range sortedKeys(r.Fields) {
		fmt.Fprintf(b, "; %s %s", f, strings.Join(r.Fields[f], ", "))
	}
	return b.String()
}

// PostBatch stores up to MaxBatch readings, as one JSON document. Good readings
// are stored even when others are rejected. When it returns nil, whatever was
// accepted is durable.
func (c *Client) PostBatch(ctx context.Context, readings []Reading) (BatchResult, error) {
	call := send(http.MethodPost, "/readings/batch", struct {
		Readings []Reading `json:"readings"`
	}{readings}, timed(readings))
	return c.batch(ctx, call)
}

// PostNDJSON is PostBatch with one reading a line.
func (c *Client) PostNDJSON(ctx context.Context, readings []Reading) (BatchResult, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for i := range readings {
		if err := e.Encode(&readings[i]); err != nil {
			return BatchResult{}, fmt.Errorf("reading %d: %w", i, err)
		}
	}
	return c.batch(ctx, &call{
		method: http.MethodPost, path: "/api/v1/readings/batch", body: b.Bytes(), contentType: typeNDJSON, idempotent: timed(readings),
	})
}

func (c *Client) batch(ctx context.Context, call *call) (BatchResult, error) {
	call.readings = true
	if err := c.o.Encoding.encode(call); err != nil {
		return BatchResult{}, err
	}
	return fetch[BatchResult](ctx, c, call)
}

// timed reports whether all readings have a time of their own, so that the
// service recognises them when they come again.
func timed(readings []Reading) bool {
	for i := range readings {
		if readings[i].RecordedAt == 0 {
			return false
		}
	}
	return true
}

// LatestReading is the newest reading of a device with the facts that people want to know
// of the device.
type LatestReading struct {
	StoredReading
	DeviceName    string           `json:"device_name"`
	EquipmentType string           `json:"equipment_type"`
	DeviceStatus  rimewatch.Status `json:"device_status"`
}

// Latest returns the newest reading of every device that has one. The answer is
// read as it comes, so a large fleet takes no memory.
func (c *Client) Latest(ctx context.Context) iter.Seq2[LatestReading, error] {
	return func(yield func(LatestReading, error) bool) {
		resp, err := c.do(ctx, get("/readings/latest", nil))
		if err != nil {
			yield(LatestReading{}, err)
			return
		}
		defer resp.Body.Close()
		stopped := false
		err = eachMember(resp.Body, "readings", func(d *json.Decoder) (bool, error) {
			var r LatestReading
			if err := d.Decode(&r); err != nil {
				return false, err
			}
			stopped = !yield(r, nil)
			return !stopped, nil
		})
		if err != nil && !stopped {
			yield(LatestReading{}, fmt.Errorf("read the latest readings: %w", err))
		}
	}
}

// eachMember reads the elements of the array data.<name> of an answer until f
// has enough. An array that breaks off is an error.
func eachMember(r io.Reader, name string, f func(*json.Decoder) (more bool, err error)) error {
	d := json.NewDecoder(r)
	if err := enter(d, "data"); err != nil {
		return err
	}
	if err := enter(d, name); err != nil {
		return err
	}
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return errNotTheAPI
	}
	for d.More() {
		if more, err := f(d); err != nil || !more {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// enter moves to the value of a member of the object that comes next.
func enter(d *json.Decoder, name string) error {
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errNotTheAPI
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == name {
			return nil
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	return errNotTheAPI
}

// HistoryQuery asks for a device's readings in [From, To).
type HistoryQuery struct {
	From, To   rimewatch.Time // 0 = the last 24 h, until now
	Fields     rimewatch.Fields
	Descending bool
}

func (q *HistoryQuery) values() url.Values {
	v := url.Values{}
	setText(v, "from", q.From.String())
	setText(v, "to", q.To.String())
	if q.Fields != 0 && q.Fields != rimewatch.AllFields {
		v.Set("fields", strings.Join(q.Fields.Names(), ","))
	}
	if q.Descending {
		v.Set("order", "desc")
	}
	return v
}

func historyPath(serial string) string { return devicePath(serial) + "/readings" }

// largestHistoryPage is the service's largest page of raw history.
const largestHistoryPage = 10_000

// History returns a device's readings in order of time, however many.
func (c *Client) History(ctx context.Context, serial string, q HistoryQuery) iter.Seq2[StoredReading, error] {
	return all(ctx, largestHistoryPage, func(ctx context.Context, p Page) ([]StoredReading, Pagination, error) {
		v := q.values()
		p.set(v)
		data, err := fetch[struct {
			DeviceID     int64           `json:"device_id"`
			DeviceSerial string          `json:"device_serial"`
			Readings     []StoredReading `json:"readings"`
			Pagination   Pagination      `json:"pagination"`
		}](ctx, c, get(historyPath(serial), v))
		for i := range data.Readings {
			data.Readings[i].DeviceID, data.Readings[i].DeviceSerial = data.DeviceID, data.DeviceSerial
		}
		return data.Readings, data.Pagination, err
	})
}

// HistoriesQuery asks for the readings of many devices in [From, To). Empty filters do not filter.
type HistoriesQuery struct {
	From, To      rimewatch.Time // 0 = the last 24 h, until now
	Fields        rimewatch.Fields
	Serials       []string // at most 500
	SiteID        *int64   // 0 = without a site
	EquipmentType string
	Labels        map[string]string
}

// Histories returns the readings of many devices by device, then time, however many.
func (c *Client) Histories(ctx context.Context, q HistoriesQuery) iter.Seq2[StoredReading, error] {
	return all(ctx, largestHistoryPage, func(ctx context.Context, p Page) ([]StoredReading, Pagination, error) {
		v := (&HistoryQuery{From: q.From, To: q.To, Fields: q.Fields}).values()
		setText(v, "serials", strings.Join(q.Serials, ","))
		setText(v, "equipment_type", q.EquipmentType)
		if q.SiteID != nil {
			v.Set("site_id", strconv.FormatInt(*q.SiteID, 10))
		}
		setLabels(v, q.Labels)
		v.Set("step", "raw")
		p.set(v)
		data, err := fetch[struct {
			Readings   []StoredReading `json:"readings"`
			Pagination Pagination      `json:"pagination"`
		}](ctx, c, get("/readings", v))
		return data.Readings, data.Pagination, err
	})
}

// HistoryCSV writes a device's readings in order of time as CSV.
func (c *Client) HistoryCSV(ctx context.Context, serial string, q HistoryQuery, w io.Writer) error {
	call := get(historyPath(serial), q.values())
	call.accept = typeCSV
	resp, err := c.do(ctx, call)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("read the history of %s: %w", serial, err)
	}
	return nil
}

// Aggregate of one measurement over a step.
type Aggregate struct {
	Min      float64 `json:"min"`
	Avg      float64 `json:"avg"` // not of a counter
	Max      float64 `json:"max"`
	Increase float64 `json:"increase"` // of a counter, in the step
}

// Bucket is the aggregate of the readings in one step of time.
type Bucket struct {
	At    rimewatch.Time // start of the step
	Count int64          // readings; 0 is a gap
	// Defrost: a reading says that the unit was defrosting. Steps of an hour and
	// more do not know.
	Defrost bool
	Fields  [rimewatch.MaxFields]*Aggregate // nil = absent
}

// UnmarshalJSON reads the form of the API.
func (b *Bucket) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*b = Bucket{}
	for name, value := range members {
		var dst any
		switch f, known := rimewatch.FieldByName(name); {
		case known:
			dst = &b.Fields[f]
		case name == "at":
			dst = &b.At
		case name == "count":
			dst = &b.Count
		case name == "defrost_active":
			dst = &b.Defrost
		default:
			continue
		}
		if err := json.Unmarshal(value, dst); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Buckets are a device's readings in [From, To) in steps.
type Buckets struct {
	From    rimewatch.Time `json:"from"`
	To      rimewatch.Time `json:"to"`
	Step    string         `json:"step"` // as used: 1m, 5m, 15m, 1h or 1d; raw when all readings fit
	Buckets []Bucket       `json:"buckets"`
	// Readings are given instead of buckets for the step raw.
	Readings []StoredReading `json:"readings"`
}

// Buckets returns aggregates of a device's readings. step is 1m, 5m, 15m, 1h, 1d
// or auto, which keeps to maxPoints (0 = 1,000).
func (c *Client) Buckets(ctx context.Context, serial string, q HistoryQuery, step string, maxPoints int) (Buckets, error) {
	v := q.values()
	v.Set("step", step)
	if maxPoints != 0 {
		v.Set("max_points", strconv.Itoa(maxPoints))
	}
	return fetch[Buckets](ctx, c, get(historyPath(serial), v))
}
