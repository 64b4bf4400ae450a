package main

import "golang.org/x/sys/unix"

// freeBytes returns the bytes that an ordinary user may still write to the file system.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // it has 32 bits on some
}

// clockSynced reports whether the kernel knows its clock to be kept right.
func clockSynced() (bool, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return state != unix.TIME_ERROR, err
}
