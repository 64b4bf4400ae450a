package v1

import "github.com/rimewatch/rimewatch/internal/wire"

// objectWriter builds a JSON object from the cells of a row.
type objectWriter struct{ b []byte }

func newObject() *objectWriter { return &objectWriter{b: []byte{'{'}} }

func (o *objectWriter) key(name string) {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = append(wire.AppendString(o.b, name), ':')
}

func (o *objectWriter) text(name, value string) {
	o.key(name)
	o.b = wire.AppendString(o.b, value)
}

func (o *objectWriter) number(name string, value []byte) {
	o.key(name)
	o.b = append(o.b, value...)
}

// cell writes a cell that is meant as a number as one when it is, and as text
// otherwise, which the schema then refuses.
func (o *objectWriter) cell(name, value string, numeric bool) {
	if numeric && wire.IsNumber([]byte(value)) && wire.CheckJSON([]byte(value)) == nil {
		o.number(name, []byte(value))
		return
	}
	o.text(name, value)
}

func (o *objectWriter) object(name string, inner *objectWriter) {
	if len(inner.b) > 1 {
		o.number(name, inner.done())
	}
}

func (o *objectWriter) done() []byte { return append(o.b, '}') }
