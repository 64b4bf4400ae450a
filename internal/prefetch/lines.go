//go:build amd64 || arm64

package prefetch

import "unsafe"

// lines asks for n bytes from p on.
//
//go:noescape
func lines(p unsafe.Pointer, n uintptr)
