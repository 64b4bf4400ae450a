//go:build unix

package app

import "syscall"

// descriptorLimit returns how many descriptors the process may have open, 0 = not
// known.
func descriptorLimit() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || uint64(limit.Cur) > 1<<30 { //nolint:unconvert // signed on FreeBSD
		return 0
	}
	return int(limit.Cur)
}
