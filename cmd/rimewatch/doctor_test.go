package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// healthy makes a data directory with something in every kind of table: a
// workspace with an owner, a site, a channel and a source, a device with an alert,
// chunks, a rollup, a checkpoint, and commits that wait in the log.
func healthy(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	now := rimewatch.TimeOf(time.Now())
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, sqlite.FileName), SealReadings: 50})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Recover(t.Context(), 1, func(int, store.Checkpoint) error { return nil }, func(int, *store.Entry) error { return nil }))
	w := rimewatch.Workspace{Name: "Shop", TimeZone: "UTC", RawDays: 2, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
	u := rimewatch.User{Email: "olga@example.com", Locale: rimewatch.Locale{Units: "c"}, Theme: "dark"}
	must(s.People().CreateFirstOwner(t.Context(), &w, &u))
	must(s.Sites().Create(t.Context(), &rimewatch.Site{WorkspaceID: w.ID, Name: "Hall", TimeZone: "UTC"}))
	must(s.Routing().Channels().Create(t.Context(), &rimewatch.Channel{WorkspaceID: w.ID, Name: "mail", Kind: rimewatch.ChannelEmail, To: []string{"a@example.com"}}))
	must(s.Audit().AuditWorkspace(t.Context(), w.ID, "first", "x", nil))
	must(s.Audit().AuditWorkspace(t.Context(), w.ID, "second", "x", nil))
	id := s.NewDeviceID()
	op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "A", Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: "A", Name: "A", EquipmentType: "other", SiteID: 1}}
	must(storetest.Commit(t.Context(), s, &store.Group{Now: now, Devices: []*store.DeviceOp{op}}, &store.Effects{}))
	alert := &rimewatch.Alert{ID: s.NewAlertID(), WorkspaceID: w.ID, DeviceID: id, Type: "t", Status: rimewatch.AlertActive, Severity: rimewatch.Warning, TriggeredAt: now}
	must(storetest.Commit(t.Context(), s, &store.Group{Now: now}, &store.Effects{Alerts: []*rimewatch.Alert{alert}}))
	fill := func(day rimewatch.Time) (seq store.Seq) {
		t.Helper()
		inputs := make([]store.Input, 100)
		for i := range inputs {
			inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id}
			inputs[i].Reading.At = now/rimewatch.Day*rimewatch.Day - day*rimewatch.Day + rimewatch.Time(i)*rimewatch.Minute // no chunk crosses midnight
			inputs[i].Reading.Set(rimewatch.ProductZoneTemp, float64(i))
		}
		g := &store.Group{Now: now, Parts: [][]store.Input{inputs}}
		must(storetest.Commit(t.Context(), s, g, &store.Effects{}))
		return g.Seq
	}
	fill(5)
	seq := fill(1)
	must(s.SaveCheckpoints(t.Context(), []store.Checkpoint{{DeviceID: id, Seq: seq, State: []byte{1, 2, 3}}}, seq+1))
	must(s.Rest(t.Context()))
	must(s.Retain(t.Context(), now)) // what is five days old is a rollup
	must(s.MarkAlive(t.Context(), now))
	fill(0)
	path := filepath.Join(t.TempDir(), sqlite.FileName) // as a crash would leave it, with a log
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, sqlite.FileName) + suffix)
		must(err)
		must(os.WriteFile(path+suffix, data, 0o600))
	}
	must(s.Close())
	must(sqlite.Rest(t.Context(), path))
	return filepath.Dir(path)
}

// diagnose is what doctor prints of a directory.
func diagnose(t *testing.T, dir string, flags ...string) (text string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(append([]string{"doctor", "--data", dir}, flags...), streams{in: strings.NewReader(""), out: &out, err: &errOut})
	return out.String(), code
}

// damage does to a store at rest what a failing disk might do, which asks no
// trigger and knows of no reference.
func damage(t *testing.T, dir string, statements ...string) {
	t.Helper()
	conn, err := engine.OpenConn(filepath.Join(dir, sqlite.FileName), engine.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var triggers, again []string
	err = sqlitex.ExecuteTransient(conn, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", &sqlitex.ExecOptions{ResultFunc: func(stmt *engine.Stmt) error {
		triggers = append(triggers, "DROP TRIGGER "+stmt.ColumnText(0))
		again = append(again, stmt.ColumnText(1))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, statement := range slices.Concat(triggers, statements, again) {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if i >= len(triggers) && strings.HasPrefix(statement, "UPDATE") && conn.Changes() == 0 {
			t.Fatalf("%s changes nothing", statement)
		}
	}
}

// flip is the statement that changes a byte in the middle of a blob.
func flip(table, column, where string) string {
	at := fmt.Sprintf("length(%s) / 2", column)
	return fmt.Sprintf("UPDATE %s SET %s = CAST(substr(%s, 1, %s) || iif(substr(%s, %s + 1, 1) = x'55', x'54', x'55') || substr(%s, %s + 2) AS BLOB) WHERE %s",
		table, column, column, at, column, at, column, at, where)
}

// spy makes a trigger that undoes what a server does.
const spy = "CREATE TRIGGER spy AFTER INSERT ON alert BEGIN DELETE FROM alert WHERE id = NEW.id; END"

// TestDoctorNamesEveryFault: whatever fault is planted, doctor says which it is.
func TestDoctorNamesEveryFault(t *testing.T) {
	dir := healthy(t)
	if text, code := diagnose(t, dir); code != 0 || strings.Contains(text, "PROBLEM") || !strings.Contains(text, "1 workspace, 1 user, 0 tokens, 1 device, 1 active alert") {
		t.Fatalf("of a healthy store: %d\n%s", code, text)
	}
	sql := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { damage(t, dir, statements...) }
	}
	file := func(f func(path string) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := f(filepath.Join(dir, sqlite.FileName)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const checksums, trail = "checksums", "of the audit trail does not follow"
	for _, c := range []struct {
		name        string
		plant       func(t *testing.T, dir string)
		grade       grade
		check, text string
	}{
		{"commit", sql(flip("commit_log", "data", "seq = (SELECT max(seq) FROM commit_log)")), wrong, checksums, "is damaged: checksum"},
		{"commit set aside", sql("INSERT INTO damaged_commit SELECT seq, 1, 'commit 6 is damaged: checksum', data FROM commit_log LIMIT 1"), warning, checksums, "set aside: commit 6"},
		{"chunk", sql(flip("chunk_segment", "data", "true")), wrong, checksums, "chunk"},
		{"chunk without its data", sql("DELETE FROM chunk_segment"), wrong, checksums, "chunk"},
		{"chunk of another device", sql("UPDATE reading_chunk SET device_id = device_id + 64"), wrong, checksums, "of device 65"},
		{"chunk's summary", sql(flip("reading_chunk", "summary", "true")), wrong, checksums, "checksum of its summary"},
		{"chunk set aside", sql("INSERT INTO damaged_chunk VALUES (0, 1, 1, 1, 5, 6, 7, 8, 'checksum')"), warning, checksums, "set aside: chunk 1 of device 1 (7 readings"},
		{"rollup", sql(flip("reading_rollup", "data", "true")), wrong, checksums, "rollup 1 of device 1"},
		{"checkpoint's state", sql(flip("checkpoint", "state", "true")), wrong, checksums, "checkpoint of device 1"},
		{"checkpoint's newest reading", sql(flip("checkpoint", "latest", "true")), wrong, checksums, "checkpoint of device 1"},
		{"entry of the audit trail", sql("UPDATE audit SET action = 'third' WHERE action = 'first'"), wrong, checksums, trail},
		{"entry of the audit trail removed", sql("DELETE FROM audit WHERE action = 'first'"), wrong, checksums, trail},
		{"owner of a site", sql("UPDATE site SET workspace_id = workspace_id + 64"), wrong, checksums, "of table site refers to a row of workspace that does not exist"},
		{"owner of a channel", sql("UPDATE channel SET workspace_id = workspace_id + 64"), wrong, checksums, "of table channel refers to a row of workspace that does not exist"},
		{"page", file(func(path string) error { return overwrite(path, 2*4096, bytes.Repeat([]byte{0xa5}, 4096)) }), wrong, "store", "damaged"},
		{"indexed value", file(flipAddress), wrong, "store", "missing from index"},
		{"newer schema", sql(fmt.Sprintf("PRAGMA user_version = %d", store.SchemaVersion+1)), wrong, "schema", "newer version"},
		{"older schema", sql(fmt.Sprintf("PRAGMA user_version = %d", store.SchemaVersion-1)), wrong, "schema", "older version"},
		{"foreign trigger", sql(spy), wrong, "schema", "the trigger spy is not of this program"},
		{"foreign view", sql("CREATE VIEW peek AS SELECT * FROM secret"), wrong, "schema", "the view peek is not of this program"},
		{"foreign column", sql("ALTER TABLE device ADD COLUMN more TEXT"), wrong, "schema", "the table device is not as this program makes it"},
		{"no table", sql("DROP TABLE route"), wrong, "schema", "the table route is missing"},
		{"no index", sql("DROP INDEX site_by_workspace"), wrong, "schema", "the index site_by_workspace is missing"},
		{"another program's file", sql("PRAGMA application_id = 1"), wrong, "store", sqlite.ErrNotAStore.Error()},
		{"garbage", file(func(path string) error { return os.WriteFile(path, []byte("This is not a database."), 0o600) }), wrong, "store", sqlite.ErrNotAStore.Error()},
		{"no store", file(os.Remove), wrong, "store", "there is no store"},
		{"step of the clock", stepClock, warning, "clock", "stepped by 3600 s"},
		{"clock set back", sql("UPDATE meta SET value = value + 86400000 WHERE key = 'alive_at'"), wrong, "history", "the clock was set back"},
		{"nothing more may wait", sql("INSERT INTO held_total (workspace_id, senders, bytes) VALUES (1, 10000, 5)"), warning, "waiting readings", `10000 of 10000 senders and 0 of 64 MiB wait in workspace "Shop"`},
		{"nobody signs in", sql("DELETE FROM member", "DELETE FROM person"), warning, "people", "nobody can sign in"},
		{"nobody owns it", sql("UPDATE member SET role = 'admin'"), warning, "people", `workspace "Shop" has no owner`},
		{"no break-glass owner", sql("INSERT INTO identity SELECT 'https://id.example', 's', id FROM person"), warning, "people", "rimewatch user break-glass"},
		{"large log", file(func(path string) error { return makeLarge(path+"-wal", largeWAL+1) }), warning, "write-ahead log", "256"},
		{"directory for everybody", func(t *testing.T, dir string) { mode(t, dir, 0o755) }, warning, "directory", "everybody"},
		{"no directory", func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}, wrong, "directory", "does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			mode(t, at, 0o700)
			c.plant(t, at)
			text, code := diagnose(t, at)
			line := regexp.MustCompile(fmt.Sprintf(`(?m)^%s +%s +.*%s`, map[grade]string{warning: "WARNING", wrong: "PROBLEM"}[c.grade], c.check, regexp.QuoteMeta(c.text)))
			if !line.MatchString(text) || (code != 0) != strings.Contains(text, "PROBLEM") {
				t.Errorf("no %s, exit code %d:\n%s", line, code, text)
			}
		})
	}
}

func mode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func overwrite(path string, at int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

func makeLarge(path string, size int64) error {
	return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size))
}

// flipAddress changes a letter of a person's address in the table or in its index,
// whichever comes first in the file.
func flipAddress(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := bytes.Index(data, []byte("olga@example.com"))
	if at < 0 {
		return errors.New("the address is not in the file")
	}
	return overwrite(path, int64(at), []byte("o|ga"))
}

func stepClock(t *testing.T, dir string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, sqlite.FileName), ControlOnly: true})
	if err == nil {
		err = errors.Join(s.Audit().AuditWorkspace(t.Context(), 1, "clock.stepped", "clock", store.Fields{"seconds": 3600}), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDoctorOfCertificates: how long the certificates last that a server shows.
func TestDoctorOfCertificates(t *testing.T) {
	dir, files := healthy(t), t.TempDir()
	cert, key := filepath.Join(files, "cert.pem"), filepath.Join(files, "key.pem")
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	keyText := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for _, c := range []struct {
		left time.Duration
		want string
		code int
	}{
		{60 * 24 * time.Hour, `(?m)^ok +certificate +NAME lasts until 20`, 0},
		{13 * 24 * time.Hour, `(?m)^WARNING +certificate +NAME ends at 20.* and was not renewed`, 0},
		{-time.Hour, `(?m)^PROBLEM +certificate +NAME has ended at 20`, exitFailed},
	} {
		until := time.Now().Add(c.left)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-90 * 24 * time.Hour), NotAfter: until}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
		if err != nil {
			t.Fatal(err)
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		acme := filepath.Join(dir, "acme")
		if err := errors.Join(os.WriteFile(cert, text, 0o600), os.WriteFile(key, keyText, 0o600),
			os.MkdirAll(acme, 0o700), os.WriteFile(filepath.Join(acme, "fridge.example.com"), append(keyText, text...), 0o600)); err != nil {
			t.Fatal(err)
		}
		for name, flags := range map[string][]string{
			"tls-cert": {"--tls-cert", cert, "--tls-key", key}, "cluster-cert": {"--cluster-cert", cert, "--cluster-key", key}, "fridge.example.com": {"--tls-auto", "fridge.example.com"},
		} {
			out, code := diagnose(t, dir, append(flags, "--quick")...)
			if want := strings.ReplaceAll(c.want, "NAME", regexp.QuoteMeta(name)); !regexp.MustCompile(want).MatchString(out) || code != c.code {
				t.Errorf("no %s, exit code %d:\n%s", want, code, out)
			}
		}
	}
	out, code := diagnose(t, dir, "--quick", "--tls-cert", cert, "--tls-key", cert)
	if code != exitFailed || !regexp.MustCompile(`(?m)^PROBLEM +certificate +tls-cert: `).MatchString(out) {
		t.Errorf("of a key that is none: %d\n%s", code, out)
	}
}
