package v1

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// wireTime describes rimewatch.Time as it is written: huma sees an integer.
type wireTime struct{}

// Schema implements huma.SchemaProvider.
func (wireTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-11-20T19:47:12.000Z"}}
}

// orNull describes wire.Maybe.
type orNull[T any] struct{}

// Schema implements huma.SchemaProvider.
func (orNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// optional is a member of a body that changes something: it may be absent, null
// (back to the default) or a value.
type optional[T any] struct {
	sent  bool
	value *T // nil = null
}

// Schema implements huma.SchemaProvider.
func (optional[T]) Schema(r huma.Registry) *huma.Schema {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct {
		return orNull[T]{}.Schema(r)
	}
	s := *r.Schema(reflect.TypeFor[T](), false, "")
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

// labels describes wire.Labels.
type labels struct{}

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
		Extensions:           map[string]any{httpapi.MaxKeyLen: maxLabelKey},
	}
}

// Describe registers schemas for the shapes of package wire, which itself knows
// nothing of descriptions.
func Describe(r huma.Registry) {
	alias := func(shape, description reflect.Type) { r.RegisterTypeAlias(shape, description) }
	alias(reflect.TypeFor[rimewatch.Time](), reflect.TypeFor[wireTime]())
	alias(reflect.TypeFor[wire.Labels](), reflect.TypeFor[labels]())
	alias(reflect.TypeFor[wire.DeviceReading](), reflect.TypeFor[Reading]())
	maybe[wire.SiteRef](r)
	maybe[wire.DeviceReading](r)
	maybe[wire.CalibrationState](r)
	maybe[wire.MaintenanceState](r)
	maybe[predict.DefrostCourse](r)
	maybe[rimewatch.Prediction](r)
	maybe[rimewatch.Feedback](r)
	maybe[DeliveryRoute](r)
	maybe[QuietHours](r)
}

// Reading describes a stored reading in answers.
type Reading struct {
	DeviceID     int64          `json:"device_id"`
	DeviceSerial string         `json:"device_serial"`
	RecordedAt   rimewatch.Time `json:"recorded_at" nullable:"false" doc:"When it was measured. Unique for a device."`
	ReceivedAt   rimewatch.Time `json:"received_at" nullable:"false" doc:"When the service received it."`
	SensorFaults []string       `json:"sensor_faults" doc:"Measurements whose sensor reported that it is broken; they are null."`
}

// maybe describes wire.Maybe[T].
func maybe[T any](r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[wire.Maybe[T]](), reflect.TypeFor[orNull[T]]())
}
