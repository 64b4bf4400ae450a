package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

type backupCmd struct {
	dataFlag
	Force bool   `help:"Replace FILE if it exists."`
	File  string `arg:"" help:"File to write the copy to."`
}

// Help is shown by backup --help.
func (backupCmd) Help() string {
	return `The copy is a complete snapshot of one moment, even while a server writes. FILE appears when it is complete.

  rimewatch backup --data /var/lib/rimewatch /backup/rimewatch-$(date +%F).db`
}

// Run writes the copy under another name first.
func (c *backupCmd) Run(ctx context.Context, s streams) error {
	if err := c.mustExist(); err != nil {
		return err
	}
	if c.Store != "" {
		return errDatabaseTools
	}
	if err := c.notItself(c.File); err != nil {
		return err
	}
	if err := mayWrite(c.File, c.Force); err != nil {
		return err
	}
	partial := c.File + ".partial"
	if err := mayCreate(partial); err != nil {
		return fmt.Errorf("cannot write %s: %w; name a file in a directory that exists and that you may write to", c.File, err)
	}
	defer func() { _ = removeFile(partial) }()
	st, err := sqlite.Open(ctx, sqlite.Config{Path: c.file(), ControlOnly: true})
	if err != nil {
		return err
	}
	if err := errors.Join(st.Backup(ctx, partial), st.Close()); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	in, err := sqlite.Inspect(ctx, partial, true)
	if err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	if err := sqlite.Settle(partial, c.File); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(s.out, "Backed up %s to %s (%s, %s).\n", c.file(), c.File, bytesText(in.Stats.FileBytes), plural(in.Stats.Devices, "device")); err != nil {
		return err
	}
	// The copy is kept: it may be all that is left tomorrow.
	return damageOf(c.File, in.Damage)
}

// damageOf is the error that names damaged rows, nil when there are none.
func damageOf(file string, rows []string) error {
	if len(rows) == 0 {
		return nil
	}
	return fmt.Errorf("%s holds %s: %s", file, plural(len(rows), "damaged row"), strings.Join(rows, "; "))
}

// errDatabaseTools names who copies a database.
var errDatabaseTools = errors.New("a store in PostgreSQL is backed up and restored with the database's tools: pg_basebackup and archived WAL, or pg_dump")

// reason is why something failed, without the call and the path, which the sentence
// around it names in the operator's words.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// mayCreate makes sure that a file can be made, and leaves none.
func mayCreate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return reason(err)
	}
	return errors.Join(f.Close(), removeFile(path))
}

// mayRead refuses everything but files.
func mayRead(path string) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return fmt.Errorf("cannot read %s: %w; name the file of a backup", path, reason(err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory; name the file of a backup in it", path)
	}
	return nil
}

// mayWrite refuses to replace a file that exists, or a directory.
func mayWrite(path string, force bool) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot write %s: %w", path, reason(err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory; name a file in it", path)
	case !force:
		return fmt.Errorf("%s already exists; use --force to replace it", path)
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

type restoreCmd struct {
	dataFlag
	Force   bool   `help:"Replace the store in the directory."`
	Damaged bool   `help:"Restore a backup that has damaged rows."`
	File    string `arg:"" help:"Backup file."`
}

// Help is shown by restore --help.
func (restoreCmd) Help() string {
	return `The server must not run. The backup is checked before anything is touched.`
}

// Run puts the backup in place.
func (c *restoreCmd) Run(ctx context.Context, s streams) error {
	if c.Store != "" {
		return errDatabaseTools
	}
	if err := mayRead(c.File); err != nil {
		return err
	}
	if err := errors.Join(c.notItself(c.File), notInUse(c.File)); err != nil {
		return err
	}
	in, err := sqlite.Inspect(ctx, c.File, true)
	if err != nil {
		return fmt.Errorf("check %s: %w; nothing was restored", c.File, err)
	}
	if err := store.CheckVersion(in.SchemaVersion); err != nil && !errors.Is(err, store.ErrOlder) {
		return fmt.Errorf("check %s: %w", c.File, err)
	}
	if len(in.Strange) > 0 {
		return fmt.Errorf("check %s: it is not made as a store of this program is: %s; nothing was restored", c.File, strings.Join(in.Strange, "; "))
	}
	if err := damageOf(c.File, in.Damage); err != nil && !c.Damaged {
		return fmt.Errorf("%w; use --damaged to restore it all the same", err)
	}
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return fmt.Errorf("cannot make the data directory %s: %w", c.Data, reason(err))
	}
	release, err := app.Lock(c.Data)
	if err != nil {
		return err
	}
	defer release()
	if err := mayWrite(c.file(), c.Force); err != nil {
		return err
	}
	partial := c.file() + ".partial"
	defer func() { _ = removeFile(partial) }()
	if err := copyFile(c.File, partial); err != nil {
		return err
	}
	// A log of the store that was here must not be applied to the new one, and must
	// not be lost before the new one is in place: it goes into its file first.
	if err := c.emptyLog(ctx); err != nil {
		return err
	}
	if err := sqlite.Settle(partial, c.file()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Restored %s to %s (%s, %s).\n", c.File, c.file(), bytesText(in.Stats.FileBytes), plural(in.Stats.Devices, "device"))
	return err
}

// emptyLog brings the store that is to be replaced to rest in one file, so that
// until the rename it is whole. What cannot be read is replaced as it is.
func (c *restoreCmd) emptyLog(ctx context.Context) error {
	if _, err := os.Stat(c.file()); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(removeFile(c.file()+"-wal"), removeFile(c.file()+"-shm"))
	}
	err := sqlite.Rest(ctx, c.file())
	if err == nil {
		return errors.Join(removeFile(c.file()+"-wal"), removeFile(c.file()+"-shm"))
	}
	// It is no store, or a damaged one: all of it is moved away together.
	old := c.file() + ".replaced"
	if err := errors.Join(removeFile(old), removeFile(old+"-wal")); err != nil {
		return err
	}
	if err := os.Rename(c.file()+"-wal", old+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(c.file(), old), removeFile(c.file()+"-shm"))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// notItself refuses a backup that is the store, or a file that belongs to it, by
// whatever name: what a server writes to a file that was replaced is lost.
func (f *dataFlag) notItself(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // there is nothing, or others say what is wrong with it
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if own, err := os.Stat(f.file() + suffix); err == nil && os.SameFile(info, own) {
			return fmt.Errorf("%s belongs to the store in %s: a backup is another file", path, f.Data)
		}
	}
	return nil
}

// notInUse refuses a store that a server writes to, or was killed at: the newest of it
// is in another file.
func notInUse(path string) error {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s is a store with a write-ahead log beside it, and no backup: make one of it with rimewatch backup", path)
	}
	return nil
}
