package httpapi

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// wireTime describes rimewatch.Time as it is written: huma sees an integer.
type wireTime struct{}

// Schema implements huma.SchemaProvider.
func (wireTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-11-20T19:47:12.000Z"}}
}

// maybe is an object or null.
type maybe[T any] struct{ value *T }

// Schema implements huma.SchemaProvider.
func (maybe[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// MarshalJSON implements json.Marshaler.
func (m maybe[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.value) }

// optional is a member of a body that changes something: it may be absent, null
// (back to the default) or a value.
type optional[T any] struct {
	sent  bool
	value *T // nil = null
}

// Schema implements huma.SchemaProvider.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	switch {
	case t == reflect.TypeFor[rimewatch.Time]():
		return wireTime{}.Schema(r)
	case t.Kind() == reflect.Struct:
		return maybe[T]{}.Schema(r)
	}
	s := *huma.SchemaFromType(r, t)
	s.Nullable = true
	return &s
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *optional[T]) UnmarshalJSON(b []byte) error {
	o.sent = true
	if bytes.Equal(b, []byte("null")) {
		o.value = nil
		return nil
	}
	o.value = new(T)
	return json.Unmarshal(b, o.value)
}

// set stores the value where one was sent; null stores the default.
func (o *optional[T]) set(dst *T, byDefault T) {
	switch {
	case !o.sent:
	case o.value == nil:
		*dst = byDefault
	default:
		*dst = *o.value
	}
}

// setPointer stores the value where one was sent; null stores nil.
func (o *optional[T]) setPointer(dst **T) {
	if o.sent {
		*dst = o.value
	}
}

// labels are free pairs of text.
type labels map[string]string

// The limits of labels, notes and the other texts of a device, in characters.
const (
	maxLabels     = 32
	maxLabelKey   = 64
	maxLabelValue = 256
)

// Schema implements huma.SchemaProvider.
func (labels) Schema(huma.Registry) *huma.Schema {
	most, longest := maxLabels, maxLabelValue
	return &huma.Schema{
		Type: huma.TypeObject, MaxProperties: &most,
		AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
		Extensions:           map[string]any{maxKeyLen: maxLabelKey},
	}
}

// readingJSON writes a reading of a device in the form of Reading.
type readingJSON struct {
	deviceID int64
	serial   string
	reading  rimewatch.Reading
}

// Schema implements huma.SchemaProvider.
func (readingJSON) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Reading](), true, "")
}

// MarshalJSON implements json.Marshaler.
func (j readingJSON) MarshalJSON() ([]byte, error) {
	return wire.AppendReading(nil, j.deviceID, j.serial, &j.reading), nil
}

// Reading describes a stored reading in answers.
type Reading struct {
	DeviceID     int64          `json:"device_id"`
	DeviceSerial string         `json:"device_serial"`
	RecordedAt   rimewatch.Time `json:"recorded_at" nullable:"false" doc:"When it was measured. Unique for a device."`
	ReceivedAt   rimewatch.Time `json:"received_at" nullable:"false" doc:"When the service took it."`
	SensorFaults []string       `json:"sensor_faults" doc:"Measurements whose sensor reported that it is broken; they are null."`
}

// SiteRef is a site as it stands in devices and alerts.
type SiteRef struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	TimeZone string `json:"timezone" doc:"IANA name."`
}

func siteRef(s *rimewatch.Site) maybe[SiteRef] {
	if s == nil {
		return maybe[SiteRef]{}
	}
	return maybe[SiteRef]{&SiteRef{s.ID, s.Name, s.TimeZone}}
}
