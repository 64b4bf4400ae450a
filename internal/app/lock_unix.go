//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock keeps a second server out of the data directory. The kernel gives it up
// when the process ends, however it ends.
func lock(dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, syscall.EROFS) { // a lock asks for no right to write
		f, err = os.Open(path) //nolint:gosec // the operator's own directory
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another server uses the data directory %s", dir)
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
