package httpapi

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch/internal/wire"
)

// wireTime describes rimewatch.Time as it is written: huma sees an integer.
type wireTime struct{}

// Schema implements huma.SchemaProvider.
func (wireTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-11-20T19:47:12.000Z"}}
}

// OrNull describes wire.Maybe.
type OrNull[T any] struct{}

// Schema implements huma.SchemaProvider.
func (OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// Optional is a member of a body that changes something: it may be absent, null
// (back to the default) or a value.
type Optional[T any] struct {
	Sent  bool
	Value *T // nil = null
}

// Schema implements huma.SchemaProvider.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct {
		return OrNull[T]{}.Schema(r)
	}
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable = true
	return &s
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Sent = true
	if bytes.Equal(b, []byte("null")) {
		o.Value = nil
		return nil
	}
	o.Value = new(T)
	return json.Unmarshal(b, o.Value)
}

// Set stores the value where one was sent; null stores the default.
func (o *Optional[T]) Set(dst *T, byDefault T) {
	switch {
	case !o.Sent:
	case o.Value == nil:
		*dst = byDefault
	default:
		*dst = *o.Value
	}
}

// Sent stores a value that was sent in a place where null says nothing.
func Sent[T any](dst, value *T) {
	if value != nil {
		*dst = *value
	}
}

// SetPointer stores the value where one was sent; null stores nil.
func (o *Optional[T]) SetPointer(dst **T) {
	if o.Sent {
		*dst = o.Value
	}
}

// DescribeAs has the first shape described as the second is.
func (a *API) DescribeAs(shape, description reflect.Type) {
	a.aliases = append(a.aliases, alias{shape, description})
}

// alias is a shape that is described in another way than by its type.
type alias struct{ shape, description reflect.Type }

// Nullable has wire.Maybe[T] described: huma would see a struct.
func Nullable[T any](a *API) {
	a.DescribeAs(reflect.TypeFor[wire.Maybe[T]](), reflect.TypeFor[OrNull[T]]())
}
