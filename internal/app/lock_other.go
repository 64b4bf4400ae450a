//go:build !unix

package app

// lock is left to SQLite's own locks where there is no flock.
func lock(string) (release func(), err error) { return func() {}, nil }
