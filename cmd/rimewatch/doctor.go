package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

type doctorCmd struct {
	dataFlag
	JSON  bool `help:"Print JSON."`
	Quick bool `help:"Skip the check of every page and row, which takes long for large stores."`

	TLSCert     string   `name:"tls-cert" placeholder:"FILE" help:"Certificate of the server, to check when it expires. This flag and the next four are those of serve."`
	TLSKey      string   `name:"tls-key" placeholder:"FILE" help:"Its key."`
	TLSAuto     []string `name:"tls-auto" placeholder:"DOMAIN" help:"Domain for which the server obtains a certificate automatically."`
	ClusterCert string   `placeholder:"FILE" help:"Certificate of a cluster's node."`
	ClusterKey  string   `placeholder:"FILE" help:"Its key."`
}

// Help is shown by doctor --help.
func (doctorCmd) Help() string {
	return `Changes nothing and works beside a running server. Exits with 1 when something is wrong; warnings alone exit
with 0.`
}

// grade is the severity of a finding.
type grade string

const (
	fine    grade = "ok"
	warning grade = "warning"
	wrong   grade = "problem"
)

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	Grade grade  `json:"status"`
	Text  string `json:"text"`
}

// diagnosis is everything that was found.
type diagnosis struct {
	Data     string         `json:"data"`
	Version  string         `json:"version"`
	At       rimewatch.Time `json:"at"`
	Findings []finding      `json:"checks"`
	Figures  *figures       `json:"figures"` // null when the store cannot be read
}

type figures struct {
	Workspaces     int            `json:"workspaces"`
	Users          int            `json:"users"`
	Tokens         int            `json:"tokens"`
	Devices        int            `json:"devices"`
	ActiveAlerts   int            `json:"active_alerts"`
	SealedReadings int64          `json:"sealed_readings"`
	Chunks         int64          `json:"chunks"`
	LogEntries     int64          `json:"log_entries"`
	FileBytes      int64          `json:"file_bytes"`
	WALBytes       int64          `json:"wal_bytes"`
	NewestSealed   rimewatch.Time `json:"newest_sealed_at"`
	AliveAt        rimewatch.Time `json:"last_server_at"`
}

func (d *diagnosis) add(check string, g grade, format string, args ...any) {
	d.Findings = append(d.Findings, finding{check, g, fmt.Sprintf(format, args...)})
}

// Run examines directory and machine.
func (c *doctorCmd) Run(ctx context.Context, s streams) error {
	if err := c.orInstalled(serviceSettings); err != nil {
		return err
	}
	now := rimewatch.TimeOf(time.Now())
	d := &diagnosis{Data: c.Data, Version: versionText(), At: now}
	if c.Store != "" {
		if err := config.CheckStore(c.Store); err != nil {
			return usageError{err}
		}
		c.examineDatabase(ctx, d, now)
	} else {
		if c.examineDirectory(d) {
			c.examineStore(ctx, d, now)
		}
		examineDisk(d, c.Data)
	}
	c.examineCertificates(ctx, d, now.Std())
	examineClock(d, now)
	print := d.print
	if c.JSON {
		print = d.printJSON
	}
	if err := print(s.out); err != nil {
		return err
	}
	problems := 0
	for _, f := range d.Findings {
		if f.Grade == wrong {
			problems++
		}
	}
	if problems > 0 {
		return fmt.Errorf("found %s", plural(problems, "problem"))
	}
	return nil
}

// examineDirectory reports whether there is a store to look at.
func (c *doctorCmd) examineDirectory(d *diagnosis) bool {
	info, err := os.Stat(c.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add("directory", wrong, "%s does not exist", c.Data)
		return false
	case err != nil:
		d.add("directory", wrong, "%v", err)
		return false
	case !info.IsDir():
		d.add("directory", wrong, "%s is not a directory", c.Data)
		return false
	}
	switch err := tryWriting(c.Data); {
	case err != nil:
		d.add("directory", wrong, "%v", err)
	case info.Mode().Perm()&0o007 != 0:
		d.add("directory", warning, "everybody on this machine may look into %s (mode %v)", c.Data, info.Mode().Perm())
	default:
		d.add("directory", fine, "%s can be written, mode %v", c.Data, info.Mode().Perm())
	}
	switch release, err := app.Lock(c.Data); {
	case err == nil:
		release()
		d.add("server", fine, "no server uses the directory")
	default:
		d.add("server", fine, "a server uses the directory")
	}
	if _, err := os.Stat(c.file()); err != nil {
		d.add("store", wrong, "there is no store in %s", c.Data)
		return false
	}
	return true
}

// tryWriting reports whether files can be made in a directory.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (c *doctorCmd) examineStore(ctx context.Context, d *diagnosis, now rimewatch.Time) {
	start := time.Now()
	in, err := sqlite.Inspect(ctx, c.file(), !c.Quick)
	if err != nil {
		d.add("store", wrong, "%s: %v", c.file(), err)
		return
	}
	what := "its header can be read"
	if !c.Quick {
		what = fmt.Sprintf("every page is sound (%.1f s)", time.Since(start).Seconds())
	}
	d.add("store", fine, "%s, %s", bytesText(in.Stats.FileBytes), what)
	if err := store.CheckVersion(in.SchemaVersion); err != nil {
		d.add("schema", wrong, "%v", err)
		return
	}
	if len(in.Strange) > 0 {
		d.add("schema", wrong, "it is not as this program makes it: %s", strings.Join(in.Strange, "; "))
	} else {
		d.add("schema", fine, "version %d", in.SchemaVersion)
	}
	if in.Unread {
		return
	}
	c.examineChecksums(d, in.Damage, in.Aside)
	if wal := in.Stats.WALBytes; wal > largeWAL {
		d.add("write-ahead log", warning, "%s: something holds it open, or the disk is too slow", bytesText(wal))
	} else {
		d.add("write-ahead log", fine, "%s", bytesText(wal))
	}
	d.examineLife(in.AliveAt, in.Clock, in.HeldFull, now)
	d.examinePeople(in.Users, in.Provided, in.BreakGlass, in.Ownerless)
	examineMemory(d, int64(in.Stats.Devices))
	d.Figures = &figures{
		in.Workspaces, in.Users, in.Tokens, in.Stats.Devices, in.ActiveAlerts,
		in.Stats.StoredReadings, in.Stats.Chunks, in.Stats.LogEntries, in.Stats.FileBytes, in.Stats.WALBytes, in.Stats.LastSealed, in.AliveAt,
	}
}

func (c *doctorCmd) examineChecksums(d *diagnosis, damage, aside []string) {
	if !c.Quick && len(damage)+len(aside) == 0 {
		d.add("checksums", fine, "every commit, chunk, rollup and checkpoint is what was written")
	}
	for _, what := range damage {
		d.add("checksums", wrong, "%s", what)
	}
	for _, what := range aside {
		d.add("checksums", warning, "set aside: %s", what)
	}
}

func (d *diagnosis) examineLife(alive rimewatch.Time, steps, full []string, now rimewatch.Time) {
	if alive > now+rimewatch.Minute {
		d.add("history", wrong, "a server was here at %s, which is in the future: the clock was set back", alive)
	}
	if len(steps) > 0 {
		d.add("clock", warning, "it has stepped, the newest first: %s", strings.Join(steps, "; "))
	}
	for _, text := range full {
		d.add("waiting readings", warning, "%s: more is refused until some are accepted or deleted", text)
	}
}

// examinePeople looks at who can get in, and whether somebody owns each workspace.
func (d *diagnosis) examinePeople(users, provided, breakGlass int, ownerless []string) {
	if users == 0 {
		d.add("people", warning, "nobody can sign in: open the web page, or use rimewatch user add")
		return
	}
	if provided > 0 && breakGlass == 0 {
		d.add("people", warning, "no owner is sure to get in when the sign-in provider does not answer: name one with rimewatch user break-glass")
	}
	for _, name := range ownerless {
		d.add("people", warning, "workspace %q has no owner: nobody can manage its members; use rimewatch user add --role owner", name)
	}
}

// examineDatabase asks a PostgreSQL server for the facts that a file would show by itself.
func (c *doctorCmd) examineDatabase(ctx context.Context, d *diagnosis, now rimewatch.Time) {
	d.Data = ""
	in, err := postgres.Inspect(ctx, c.Store, !c.Quick)
	if err != nil {
		d.add("database", wrong, "%v", err)
		return
	}
	d.add("database", fine, "%s, PostgreSQL %s", in.Place, in.Server)
	for _, text := range in.Problems {
		d.add("database", wrong, "%s", text)
	}
	for _, text := range in.Warnings {
		d.add("durability", warning, "%s", text)
	}
	if len(in.Warnings) == 0 {
		d.add("durability", fine, "commits are on stable storage here and on a standby")
	}
	switch {
	case in.Fresh:
		d.add("store", fine, "there is none yet: the first start makes it")
		return
	case in.Store != nil:
		d.add("store", wrong, "%v", in.Store)
		return
	}
	d.add("store", fine, "%s, schema version %d", bytesText(in.Stats.FileBytes), store.SchemaVersion)
	c.examineChecksums(d, in.Damage, in.Aside)
	if len(in.Nodes) > 0 {
		d.add("server", fine, "%s serves it, or did last", strings.Join(in.Nodes, ", "))
	} else {
		d.add("server", fine, "no server uses it")
	}
	d.examineLife(in.Census.AliveAt, in.Census.Clock, in.Census.HeldFull, now)
	d.examinePeople(in.Census.Users, in.Census.Provided, in.Census.BreakGlass, in.Census.Ownerless)
	examineMemory(d, int64(in.Census.Devices))
	d.Figures = &figures{
		in.Census.Workspaces, in.Census.Users, in.Census.Tokens, in.Census.Devices, in.Census.ActiveAlerts,
		in.Stats.StoredReadings, in.Stats.Chunks, in.Stats.LogEntries, in.Stats.FileBytes, in.Stats.WALBytes, in.Stats.LastSealed, in.Census.AliveAt,
	}
}

// Bounds of large and little, in bytes.
const (
	largeWAL   = 256 << 20
	littleDisk = 1 << 30
	noDisk     = 100 << 20
)

// examineMemory reports whether the states of the devices fit into memory.
func examineMemory(d *diagnosis, devices int64) {
	needed, budget := app.StateMemory(devices)
	if needed > budget {
		d.add("memory", warning, "what is remembered of %d devices takes %s, a quarter of this machine is %s: the quietest are read from the disk when they report",
			devices, bytesText(needed), bytesText(budget))
		return
	}
	d.add("memory", fine, "what is remembered of the devices takes %s of %s", bytesText(needed), bytesText(budget))
}

func examineDisk(d *diagnosis, dir string) {
	free, err := freeBytes(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		d.add("disk", warning, "free space is not known: %v", err)
	case free < noDisk:
		d.add("disk", wrong, "only %s are free", bytesText(free))
	case free < littleDisk:
		d.add("disk", warning, "only %s are free", bytesText(free))
	default:
		d.add("disk", fine, "%s are free", bytesText(free))
	}
}

// examineCertificates reports how long the certificates of a server last.
func (c *doctorCmd) examineCertificates(ctx context.Context, d *diagnosis, now time.Time) {
	settings := config.Serve{Data: c.Data, TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSAuto: c.TLSAuto, ClusterCert: c.ClusterCert, ClusterKey: c.ClusterKey}
	for one := range app.Certificates(ctx, &settings) {
		until := rimewatch.TimeOf(one.Until)
		switch {
		case one.Err != nil:
			d.add("certificate", wrong, "%s: %v", one.Name, one.Err)
		case !now.Before(one.Until):
			d.add("certificate", wrong, "%s has ended at %s: clients refuse it", one.Name, until)
		case one.Soon(now):
			d.add("certificate", warning, "%s ends at %s and was not renewed", one.Name, until)
		default:
			d.add("certificate", fine, "%s lasts until %s", one.Name, until)
		}
	}
}

// earliest is a moment before which no right clock can be.
var earliest = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func examineClock(d *diagnosis, now rimewatch.Time) {
	synced, err := clockSynced()
	switch {
	case now.Std().Before(earliest):
		d.add("clock", wrong, "it is not %s: set the clock", now)
	case err == nil && !synced:
		d.add("clock", warning, "%s, not kept right by NTP: readings and alerts live by it", now)
	default:
		d.add("clock", fine, "%s", now)
	}
}

func (d *diagnosis) printJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

func (d *diagnosis) print(w io.Writer) error {
	mark := map[grade]string{fine: "ok", warning: "WARNING", wrong: "PROBLEM"}
	for _, f := range d.Findings {
		if _, err := fmt.Fprintf(w, "%-8s %-16s %s\n", mark[f.Grade], f.Check, f.Text); err != nil {
			return err
		}
	}
	if d.Figures == nil {
		return nil
	}
	f := d.Figures
	_, err := fmt.Fprintf(w, "\n%s, %s, %s, %s, %s\n%s sealed readings in %s, %s waiting in the log, newest sealed %s, last server %s\n",
		plural(f.Workspaces, "workspace"), plural(f.Users, "user"), plural(f.Tokens, "token"), plural(f.Devices, "device"), plural(f.ActiveAlerts, "active alert"),
		grouped(int(f.SealedReadings)), plural(int(f.Chunks), "chunk"), plural(int(f.LogEntries), "commit"), when(f.NewestSealed, "never"), when(f.AliveAt, "never"))
	return err
}
