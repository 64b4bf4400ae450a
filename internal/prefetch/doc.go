// Package prefetch asks the processor to read memory that will be needed soon. It
// only hints: nothing is read or changed, and any address will do, nil too.
//
// Whoever goes through many things that lie anywhere in memory, and knows which of
// them come next, waits for one thing at a time without it, and for nearly none of
// them with it.
package prefetch

import "unsafe"

// Of asks for the whole of what p points to.
func Of[T any](p *T) { lines(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// Text asks for the bytes of a text.
func Text(s string) { lines(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s))) }
