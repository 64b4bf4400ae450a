package fleet

import (
	"syscall"
	"unsafe"
)

// largePage is the size of a large page on most machines, in bytes.
const largePage = 2 << 20

// largePages asks the system to back memory by large pages as it is touched. It
// is only advice.
func largePages(b []byte) {
	skip := -uintptr(unsafe.Pointer(&b[0])) % largePage
	if n := uintptr(len(b)); n >= skip+largePage {
		_ = syscall.Madvise(b[skip:n-(n-skip)%largePage], syscall.MADV_HUGEPAGE)
	}
}
