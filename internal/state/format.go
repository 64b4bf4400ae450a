package state

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/rimewatch/rimewatch"
)

// Format is how the values of a type are written and read. Every eight numbers are preceded
// by a byte that says which of them are not zero, and only those follow: whole numbers as
// varints, moments as their distance to the first of them, numbers of an array of uint32 as
// the distance to the one before, floats little-endian. Equal values give equal bytes.
type Format[T any] struct {
	version, oldest byte
	runs            []run
}

// Of makes the format of a type, whose version starts what is written. States of oldest and
// later are read. It panics when the type holds anything that is not flat.
func Of[T any](oldest, version byte) *Format[T] {
	f := &Format[T]{version: version, oldest: oldest}
	f.runs = appendRuns(nil, reflect.TypeFor[T](), 0, "", 0)
	return f
}

// kind is how a number is written.
type kind uint8

const (
	truth     kind = iota // one bit
	unsigned8             // as it is
	unsigned16
	unsigned32
	unsigned64
	signed8 // as it is
	signed16
	signed32
	real32 // at an even address
	float
	moment
	stamp
	span
	series // of uint32: the first, then distances
)

// run is numbers of one kind, side by side.
type run struct {
	at      uintptr // of the first, from the start of the value
	n       int
	kind    kind
	unmoved bool // Move leaves these moments alone
	since   byte // version
}

// sizes are the bytes that numbers take in memory.
var sizes = [...]uintptr{truth: 1, unsigned8: 1, unsigned16: 2, unsigned32: 4, unsigned64: 8, signed8: 1, signed16: 2, signed32: 4, real32: 4, float: 4, moment: 8, stamp: 6, span: 8, series: 4}

// kinds are those of types whose reflect.Kind alone does not tell.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[rimewatch.Time](): moment,
	reflect.TypeFor[Stamp]():          stamp,
	reflect.TypeFor[Real]():           real32,
}

var plain = map[reflect.Kind]kind{
	reflect.Bool:  truth,
	reflect.Uint8: unsigned8, reflect.Uint16: unsigned16, reflect.Uint32: unsigned32, reflect.Uint64: unsigned64,
	reflect.Int8: signed8, reflect.Int16: signed16, reflect.Int32: signed32,
	reflect.Float32: float,
}

// appendRuns appends the numbers of a type that lies at an offset. Its tag and that of
// what it is in are one.
func appendRuns(runs []run, t reflect.Type, at uintptr, tag string, since byte) []run {
	if tag == "-" {
		return runs
	}
	if v, ok := strings.CutPrefix(tag, "since="); ok {
		n, err := strconv.ParseUint(v, 10, 8)
		if err != nil {
			panic(fmt.Sprintf("state: tag %q of a %v", tag, t))
		}
		since, tag = byte(n), ""
	}
	k, ok := kinds[t]
	if !ok {
		k, ok = plain[t.Kind()]
	}
	switch {
	case ok:
		if tag == "span" && k == moment {
			k = span
		} else if tag != "" && (tag != "unmoved" || k != moment && k != stamp) {
			panic(fmt.Sprintf("state: tag %q of a %v", tag, t))
		}
		return join(runs, run{at: at, n: 1, kind: k, unmoved: tag == "unmoved", since: since})
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			own := field.Tag.Get("state")
			if own == "" {
				own = tag
			}
			runs = appendRuns(runs, field.Type, at+field.Offset, own, since)
		}
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint32:
		return append(runs, run{at: at, n: t.Len(), kind: series, since: since})
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			runs = appendRuns(runs, t.Elem(), at+uintptr(i)*t.Elem().Size(), tag, since)
		}
	default:
		panic(fmt.Sprintf("state: %v is not flat", t))
	}
	return runs
}

// join appends a run, to the one before where it goes on with it.
func join(runs []run, r run) []run {
	if n := len(runs); n > 0 {
		p := &runs[n-1]
		if p.kind == r.kind && p.kind != series && p.unmoved == r.unmoved && p.since == r.since && p.at+uintptr(p.n)*sizes[p.kind] == r.at {
			p.n++
			return runs
		}
	}
	return append(runs, r)
}

// number is where the nth of a run lies.
func (r *run) number(base unsafe.Pointer, i int) unsafe.Pointer {
	return unsafe.Add(base, r.at+uintptr(i)*sizes[r.kind])
}

// Move moves every moment of a value by so many milliseconds, but for those that are none
// and those that are tagged as unmoved.
func (f *Format[T]) Move(v *T, by rimewatch.Time) {
	for i := range f.runs {
		r := &f.runs[i]
		if r.unmoved || r.kind != moment && r.kind != stamp {
			continue
		}
		for n := range r.n {
			if p := r.number(unsafe.Pointer(v), n); r.kind == stamp {
				(*Stamp)(p).Move(by)
			} else if t := (*rimewatch.Time)(p); *t != 0 {
				*t += by
			}
		}
	}
}
