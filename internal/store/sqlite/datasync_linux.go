package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// dataSync is a file system of the engine that is the usual one but for write-ahead
// logs, of which a sync must not wait for a commit of the file system's journal, on ext4
// and XFS at least. Their sync is fdatasync, as where SQLite is compiled by its own
// configuration (fsync also waits for the file's times; the engine in Go was translated
// for systems without fdatasync), and they grow by logStep, ahead of what is written
// (fdatasync waits for the file's size when it has changed). It lives in the engine's memory.
type dataSync struct {
	vfs     sqlite3.Tsqlite3_vfs
	under   uintptr                     // the usual one
	methods sqlite3.Tsqlite3_io_methods // of write-ahead logs
	usual   uintptr                     // those of which methods is made: 0 = not yet, 1 = it is being made
}

const dataSyncName = "rimewatch"

// syncData makes the engine use it from now on. Once is enough, and it may be
// called by many. Where something else than the usual file system is in use, as in
// tests, it does nothing.
func syncData() error {
	tls := libc.NewTLS()
	defer tls.Close()
	if code := sqlite3.Xsqlite3_initialize(tls); code != sqlite3.SQLITE_OK {
		return errors.New("the database engine cannot be initialized")
	}
	name, err := libc.CString(dataSyncName)
	if err != nil {
		return err
	}
	usual, err := libc.CString("unix")
	if err != nil {
		return err
	}
	defer libc.Xfree(tls, usual)
	under := sqlite3.Xsqlite3_vfs_find(tls, usual)
	if under == 0 || under != sqlite3.Xsqlite3_vfs_find(tls, 0) {
		libc.Xfree(tls, name)
		return nil
	}
	x := pointed[dataSync](libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(dataSync{}))))
	if x == nil {
		libc.Xfree(tls, name)
		return syscall.ENOMEM
	}
	x.vfs, x.under = *pointed[sqlite3.Tsqlite3_vfs](under), under
	x.vfs.FzName, x.vfs.FxOpen = name, pointerTo(openDataSync)
	if code := sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(x)), 1); code != sqlite3.SQLITE_OK {
		return errors.New("the database engine takes no file system")
	}
	return nil
}

type (
	vfsOpen = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	ioSync  = func(tls *libc.TLS, file uintptr, flags int32) int32
	ioWrite = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
)

// pointed returns the bytes that an address of the engine's points to.
func pointed[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointerTo returns the pointer by which the engine calls a function, which must not be a closure:
// nothing but the engine would refer to it.
func pointerTo[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function returns the function that the engine calls by an address.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }

// openDataSync is xOpen.
func openDataSync(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	x := pointed[dataSync](vfs)
	code := function[vfsOpen](pointed[sqlite3.Tsqlite3_vfs](x.under).FxOpen)(tls, x.under, name, file, flags, out)
	if code == sqlite3.SQLITE_OK && flags&sqlite3.SQLITE_OPEN_WAL != 0 {
		x.take(pointed[sqlite3.Tsqlite3_file](file))
	}
	return code
}

// take makes a write-ahead log ours. One whose methods are others than those of the
// first, as on file systems without locks, stays as it is.
func (x *dataSync) take(f *sqlite3.Tsqlite3_file) {
	usual := f.FpMethods
	if atomic.CompareAndSwapUintptr(&x.usual, 0, 1) {
		x.methods = *pointed[sqlite3.Tsqlite3_io_methods](usual)
		writeUsual.Store(x.methods.FxWrite)
		x.methods.FxSync, x.methods.FxWrite = pointerTo(syncLog), pointerTo(writeLog)
		atomic.StoreUintptr(&x.usual, usual)
	}
	if atomic.LoadUintptr(&x.usual) == usual {
		f.FpMethods = uintptr(unsafe.Pointer(&x.methods))
	}
}

// writeUsual is xWrite of the usual file system, for logs that are ours.
var writeUsual atomic.Uintptr

// writeLog is xWrite of a write-ahead log.
func writeLog(tls *libc.TLS, file, from uintptr, n int32, at int64) int32 {
	if entersStep(at, int64(n)) {
		growLog(int(pointed[sqlite3.TunixFile](file).Fh), at+int64(n))
	}
	return function[ioWrite](writeUsual.Load())(tls, file, from, n, at)
}

// logStep is by how much a log grows. Before it has as much in it, it grows as it is
// written: a small store shall stay small.
const logStep = 1 << 20

// entersStep reports whether a write holds the first byte of a step: a log that has grown
// ends nowhere else, so no other write is beyond its end. That is worth knowing, since
// Linux gives a file whose times somebody asked for a new time with its next write, and
// ext4 without a journal syncs that as a second write.
func entersStep(at, n int64) bool { return at%logStep == 0 || at/logStep != (at+n-1)/logStep }

var zeros [64 << 10]byte

// growLog fills a log with zeros up to the next multiple of logStep behind end, unless
// it is as long. The engine ends a log at the first frame that is not of its
// generation, so zeros behind the last are no different from what was left there by
// an earlier one. What fails here, a write that needs the room will be told.
func growLog(fd int, end int64) {
	var info syscall.Stat_t
	if end < logStep || syscall.Fstat(fd, &info) != nil || end <= info.Size {
		return
	}
	to := (end + logStep - 1) / logStep * logStep
	for at := info.Size; at < to; {
		n, err := syscall.Pwrite(fd, zeros[:min(int64(len(zeros)), to-at)], at)
		if err != nil {
			return
		}
		at += int64(n)
	}
}

// syncLog is xSync of a write-ahead log: unixSync of os_unix.c with fdatasync. A sync
// that failed is not tried again, since the next may forget what it has lost.
func syncLog(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := pointed[sqlite3.TunixFile](file)
	err := syscall.EINTR
	for err == syscall.EINTR {
		err = errno(syscall.Fdatasync(int(f.Fh)))
	}
	if err != 0 {
		f.FlastErrno = int32(err)
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	if f.FctrlFlags&sqlite3.UNIXFILE_DIRSYNC == 0 {
		return sqlite3.SQLITE_OK
	}
	f.FctrlFlags &^= sqlite3.UNIXFILE_DIRSYNC // a new file: its name must last, too
	dir, opening := os.Open(filepath.Dir(libc.GoString(f.FzPath)))
	if opening != nil {
		return sqlite3.SQLITE_OK // some systems cannot
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return sqlite3.SQLITE_IOERR_DIR_FSYNC
	}
	return sqlite3.SQLITE_OK
}

func errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e := syscall.Errno(0); errors.As(err, &e) {
		return e
	}
	return syscall.EIO
}
