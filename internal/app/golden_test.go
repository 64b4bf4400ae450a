package app_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var writeGolden = flag.Bool("golden", false, "write the golden store of this schema, which must not have one")

// A golden store is a file as a program of its schema left it, with one of
// everything in it, half of it sealed and half in the log; beside it is what the
// program answered about it. Whatever comes later must open it and answer the
// same, by a step of tables.Current if it has to.
func goldenFiles(schema int) (file, answers string) {
	base := filepath.Join("testdata", "golden", fmt.Sprintf("schema%d", schema))
	return base + ".db.gz", base + ".json.gz"
}

const goldenPassword = "correct horse battery"

// goldenNow is when the golden store was left.
var goldenNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// goldenHouse starts a server on a directory at a moment.
func goldenHouse(t *testing.T, dir string, now time.Time) (*house, func()) {
	t.Helper()
	a := serving(t, within(dir), by(func() time.Time { return now }), func(c *app.Config) {
		c.SealAfter, c.OutboundAllow = 1000*time.Hour, []string{"127.0.0.0/8"}
		c.SMTPHost, c.SMTPPort, c.SMTPFrom, c.SMTPTLS = "127.0.0.1", 1, "a@example.com", "none"
	})
	stop := func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &house{App: a, t: t, http: &http.Client{Transport: transport}}, stop
}

// signIn makes the house the owner's.
func (h *house) signIn() {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), "POST", h.URL()+"/api/v1/auth/sign-in", strings.NewReader(fmt.Sprintf(`{"email":"o@example.com","password":%q}`, goldenPassword)))
	h.must(err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.http.Do(req)
	h.must(err)
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		h.owner.Secret = c.Value
	}
	if resp.StatusCode != http.StatusOK || h.owner.Secret == "" {
		h.t.Fatalf("sign in: %d", resp.StatusCode)
	}
}

// gunzip reads a packed file.
func gunzip(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// writePacked writes a file packed.
func writePacked(t *testing.T, file string, b []byte) {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err := errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// unpacked is a golden store in a directory of its own.
func unpacked(t *testing.T, schema int) (dir string) {
	t.Helper()
	file, _ := goldenFiles(schema)
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sqlite.FileName), gunzip(t, file), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wanted are the answers that a golden store must give.
func wanted(t *testing.T, schema int) (want map[string]any) {
	t.Helper()
	_, answers := goldenFiles(schema)
	if err := json.Unmarshal(gunzip(t, answers), &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// strangeKeys counts the keys of a store of an older version that are none of their source
// any more, and those of sources of which none is known.
func strangeKeys(t *testing.T, path string) (n int64) {
	t.Helper()
	c, err := engine.OpenConn(path, engine.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = sqlitex.ExecuteTransient(c, `SELECT count(*) FROM source s LEFT JOIN source_key k ON k.source_id = s.id AND (k.hash = s.key_hash AND k.prefix = s.key_prefix OR s.key_prefix = '')
		WHERE s.kind = 'push' AND k.id IS NULL`, &sqlitex.ExecOptions{ResultFunc: func(s *engine.Stmt) error { n = s.ColumnInt64(0); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shapeOf is a store's tables, indexes and triggers as the engine sees them.
func shapeOf(t *testing.T, path string) (list []string) {
	t.Helper()
	c, err := engine.OpenConn(path, engine.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, query := range []string{
		`SELECT m.name, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table' ORDER BY 1, 2`,
		`SELECT type, tbl_name, name, CASE WHEN type = 'table' THEN '' ELSE sql END FROM sqlite_schema ORDER BY 1, 2, 3`,
	} {
		err := sqlitex.ExecuteTransient(c, query, &sqlitex.ExecOptions{ResultFunc: func(s *engine.Stmt) error {
			var line []string
			for i := range s.ColumnCount() {
				line = append(line, s.ColumnText(i))
			}
			list = append(list, strings.Join(line, " "))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// freshShape is that of a store that this program makes.
func freshShape(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), sqlite.FileName)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, ControlOnly: true})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return shapeOf(t, path)
}

// TestGoldenStore: this program reads what every program since the formats were
// frozen left.
func TestGoldenStore(t *testing.T) {
	if *writeGolden {
		makeGolden(t)
	}
	for schema := store.OldestSchema; schema <= store.SchemaVersion; schema++ {
		dir := unpacked(t, schema)
		// As restore and doctor look at it, before it is brought up to date.
		if in, err := sqlite.Inspect(t.Context(), filepath.Join(dir, sqlite.FileName), false); err != nil || len(in.Strange) > 0 {
			t.Errorf("schema %d: its tables are taken for somebody else's: %v, %v", schema, in.Strange, err)
		}
		h, stop := goldenHouse(t, dir, goldenNow.Add(2*time.Minute))
		h.signIn()
		want := wanted(t, schema)
		h.eventually(func() error { // a mail that fails is tried again as soon as the store is open, or a little later
			if n := failures(answerOf(h, "/channels")); n < failures(want["/channels"]) {
				return fmt.Errorf("schema %d: the channels have failed %v times", schema, n)
			}
			return nil
		})
		if list := lost("", want, answersOf(h)); len(list) > 0 {
			t.Errorf("schema %d: %d answers are not what they were, so the format of the store changed: raise store.SchemaVersion and add a step to tables.Current.\n%s", schema, len(list), strings.Join(list[:min(len(list), 20)], "\n"))
		}
		// What is in the log counts: a reading is known again.
		again := h.asOwner("POST", "/readings", goldenReading("F-1", goldenNow.Add(-time.Minute), -11), http.StatusOK)
		if again["duplicate"] != true {
			t.Errorf("schema %d: a reading of the log is not known again: %v", schema, again)
		}
		if status, text := h.push("POST", "/api/v1/readings", keyed, "Cookie", "rimewatch_session="+h.owner.Secret, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json", "Idempotency-Key", "k-1"); !strings.Contains(text, `"recorded_at":"2026-11-20T12:00:00.001Z"`) {
			t.Errorf("schema %d: a request with a key is not known again: %d %s", schema, status, text)
		}
		stop()
		in, err := sqlite.Inspect(t.Context(), filepath.Join(dir, sqlite.FileName), true)
		if err != nil || len(in.Damage)+len(in.Strange) > 0 {
			t.Errorf("schema %d: damage: %v, %v, %v", schema, in.Damage, in.Strange, err)
		}
		if n := strangeKeys(t, filepath.Join(dir, sqlite.FileName)); n != 0 {
			t.Errorf("schema %d: %d keys of sources open nothing any more", schema, n)
		}
		if diff := cmp.Diff(freshShape(t), shapeOf(t, filepath.Join(dir, sqlite.FileName))); diff != "" {
			t.Errorf("schema %d: its tables are not those of a fresh store, so the schema changed: raise store.SchemaVersion and add a step to tables.Current.\n%s", schema, diff)
		}
	}
}

// TestChangedFormat: a format that changed without a step is noticed.
func TestChangedFormat(t *testing.T) {
	for name, change := range map[string]string{
		"a member of a body has another name": `UPDATE alert SET body = replace(body, '"peak_value"', '"peak"')`,
		"a fact of an alert":                  `UPDATE alert SET body = replace(body, 'product_zone_temp', 'product_temp')`,
		"a column in another unit":            `UPDATE excursion SET from_at = from_at / 1000`,
		"the details of devices":              `UPDATE device SET details = '{}'`,
		"a setting":                           `UPDATE route SET body = replace(body, '"quiet"', '"quiet_hours"')`,
		"a byte of chunks":                    `UPDATE chunk_segment SET data = x'00'`,
		"the audit trail":                     `DROP TRIGGER audit_never_changes; UPDATE audit SET detail = '{}'`,
		"a rollup":                            `UPDATE reading_rollup SET data = substr(data, 1, 9)`,
		"the log":                             `DELETE FROM commit_log WHERE seq > (SELECT min(seq) + 2 FROM commit_log)`,
		"what was sent":                       `UPDATE delivery SET body = x'7b7d'`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpacked(t, store.SchemaVersion)
			alter(t, filepath.Join(dir, sqlite.FileName), change)
			h, _ := goldenHouse(t, dir, goldenNow.Add(2*time.Minute))
			h.signIn()
			if list := lost("", wanted(t, store.SchemaVersion), answersOf(h)); len(list) == 0 {
				t.Error("nobody notices")
			}
		})
	}
	path := filepath.Join(unpacked(t, store.SchemaVersion), sqlite.FileName)
	for _, change := range []string{"ALTER TABLE device ADD COLUMN asset TEXT NOT NULL DEFAULT ''", "DROP INDEX alert_by_time", "DROP TRIGGER audit_never_shrinks"} {
		before := shapeOf(t, path)
		if alter(t, path, change); slices.Equal(before, shapeOf(t, path)) {
			t.Errorf("%s: nobody notices", change)
		}
	}
}

// alter changes a closed store.
func alter(t *testing.T, path, change string) {
	t.Helper()
	c, err := engine.OpenConn(path, engine.OpenReadWrite)
	if err == nil {
		err = errors.Join(sqlitex.ExecuteScript(c, change, nil), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goldenReading is a reading of everything that is measured.
func goldenReading(serial string, at time.Time, temp float64) string {
	return fmt.Sprintf(`{"device_serial":%q,"recorded_at":%q,"product_zone_temp":%g,"compressor_discharge_temp":68.25,"compressor_suction_temp":-24.5,"ambient_temp":23.1,"humidity":46,
		"voltage":229.6,"amp_draw":14.8,"vibration_level":1.25,"compressor_on":true,"defrost_active":false,"door_open":false,"start_count":%d,"run_seconds":%d,"battery_pct":81,"rssi_dbm":-70}`,
		serial, at.UTC().Format(time.RFC3339), temp, at.Unix()/3600%100000, at.Unix()/2%1000000)
}

// minutes sends readings of a unit, one a minute, whose temperature is temp's.
func (h *house) minutes(serial string, from, to time.Time, temp func(i int) float64) {
	h.t.Helper()
	var list []string
	for at := from; !at.After(to); at = at.Add(time.Minute) {
		list = append(list, goldenReading(serial, at, temp(len(list))))
	}
	for part := range slices.Chunk(list, 500) {
		h.asOwner("POST", "/readings/batch", `{"readings":[`+strings.Join(part, ",")+`]}`, http.StatusOK)
	}
}

// makeGolden writes the golden store of today's schema.
func makeGolden(t *testing.T) {
	file, answers := goldenFiles(store.SchemaVersion)
	if _, err := os.Stat(file); err == nil {
		t.Fatalf("%s is there: it never changes", file)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	dir := t.TempDir()
	long := goldenNow.Add(-400 * 24 * time.Hour)
	h, stop := goldenHouse(t, dir, long)
	code, _, err := h.Accounts.SetupCode(t.Context())
	h.must(err)
	_, err = h.Accounts.Setup(t.Context(), account.SetupRequest{Code: code, Workspace: "Corner Shop", Email: "o@example.com", Name: "Olga", Password: goldenPassword}, rimewatch.TimeOf(long))
	h.must(err)
	h.signIn()
	h.furnish(hook.URL)
	h.minutes("F-1", long.Add(-3*time.Hour), long, func(i int) float64 { return -20 + float64(i%7)/4 })
	h.must(h.Store.Rest(t.Context()))
	stop()
	h, stop = goldenHouse(t, dir, goldenNow)
	h.signIn()
	retaining, ok := h.Store.(interface {
		Retain(ctx context.Context, now rimewatch.Time) error
	})
	if !ok {
		t.Fatal("the store keeps everything")
	}
	for at := long; at.Before(goldenNow); at = at.Add(24 * time.Hour) { // a pass reckons from a day after the one before at most
		h.must(retaining.Retain(t.Context(), rimewatch.TimeOf(at)))
	}
	h.events()
	stop()
	h, stop = goldenHouse(t, dir, goldenNow.Add(time.Minute)) // what belongs together was waited for
	h.signIn()
	h.told()
	aside := filepath.Join(t.TempDir(), "copy.db")
	s, ok := h.Store.(interface {
		Backup(ctx context.Context, path string) error
	})
	if !ok {
		t.Fatal("the store makes no copies")
	}
	h.must(s.Backup(t.Context(), aside))
	stop()
	b, err := os.ReadFile(aside)
	h.must(err)
	writePacked(t, file, b)
	h, _ = goldenHouse(t, unpacked(t, store.SchemaVersion), goldenNow.Add(2*time.Minute))
	h.signIn()
	text, err := json.MarshalIndent(answersOf(h), "", " ")
	h.must(err)
	writePacked(t, answers, text)
}

// told waits until everybody was told. It is for who makes the golden store, not for a test.
func (h *house) told() {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		text, err := json.Marshal(h.asOwner("GET", "/channels/1/deliveries", "", http.StatusOK))
		h.must(err)
		if !bytes.Contains(text, []byte(`"sent_at":null`)) {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("not told: %s", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// keyed is a reading without a time, which only its Idempotency-Key makes known again.
const keyed = `{"device_serial":"D-1","product_zone_temp":3.5}`

// furnish makes one of every setting.
func (h *house) furnish(hook string) {
	h.t.Helper()
	post := func(path, body string) map[string]any {
		h.t.Helper()
		return h.asOwner("POST", path, body, http.StatusCreated)
	}
	post("/sites", `{"name":"Mitte","timezone":"Europe/Berlin","address":"Here 1"}`)
	post("/sites", `{"name":"Lakeside","timezone":"America/Chicago"}`)
	post("/devices", `{"serial":"F-1","name":"Back freezer","equipment_type":"walkin_freezer","site_id":1,"labels":{"rack":"é"},"manufacturer":"Norvik","model":"X","notes":"n","installed_at":"2025-01-02T03:04:05Z",
		"limits":{"temp_max":-12,"delay_s":600,"critical_max":-5,"critical_delay_s":600},"heartbeat_interval_s":60}`)
	post("/devices", `{"serial":"V-1","name":"Vaccines","equipment_type":"vaccine_refrigerator","site_id":2}`)
	post("/devices", `{"serial":"D-1","name":"Case","equipment_type":"display_case_open","offline_after_s":600}`)
	post("/devices", `{"serial":"GONE-1"}`)
	h.asOwner("DELETE", "/devices/GONE-1", "", http.StatusOK)
	post("/tokens", `{"name":"gateway","scopes":["readings:write"]}`)
	post("/channels", fmt.Sprintf(`{"name":"Hook","kind":"webhook","url":%q}`, hook+"/a"))
	post("/channels", `{"name":"Push","kind":"service","url":"ntfy://ntfy.example/topic","language":"es","units":"f"}`)
	post("/routes", `{"name":"Night","match":{"severities":["critical"],"site_ids":[1]},"steps":[{"after_s":0,"channel_ids":[1]},{"after_s":600,"channel_ids":[1,2]}],"repeat_s":3600,"recovery":true,
		"quiet_hours":{"from":"22:00","to":"06:05"},"digest_at":"07:30"}`)
	post("/routes", `{"name":"All","steps":[{"after_s":0,"channel_ids":[1]}]}`)
	post("/channels", `{"name":"Mail","kind":"email","to":["a@example.com"]}`)
	post("/report-schedules", `{"period":"weekly","site_id":1,"channel_ids":[3]}`)
	post("/contacts", `{"site_id":1,"name":"Polar","role":"service","phone":"+1 555 0142"}`)
	post("/work-orders", `{"site_id":1,"problem":"The door of the machine room sticks","urgency":"routine","assign":{"kind":"contact","id":1}}`)
	post("/rotas", `{"name":"Nights","site_id":1,"shifts":[{"days":["mon","sun"],"from":"22:00","to":"06:00","member_id":1}],"overrides":[{"starts_at":"2026-11-20T12:00:00Z","ends_at":"2026-11-21T12:00:00Z","instead_of":1}]}`)
	post("/check-templates", `{"name":"Vaccines","pack":"us-cdc-vfc","device_ids":[2],"windows":[{"days":["fri"],"from":"05:00","to":"04:00"}]}`)
	post("/maintenance-plans", `{"reason":"Cleaning","site_ids":[1],"device_serials":["F-1"],"days":["mon","fri"],"from":"05:30","to":"07:00"}`)
	source := post("/sources", `{"kind":"push","name":"Probes","on_unknown":"hold","timezone":"America/St_Johns"}`)
	h.asOwner("PATCH", "/workspace", `{"raw_days":366,"timezone":"Europe/Berlin","limits":{"walkin_cooler":{"temp_max":5}}}`, http.StatusOK)
	h.asOwner("POST", "/devices/V-1/calibrations", `{"method":"reference_probe","reference":5,"as_found":5.4,"offset":-0.4,"performed_by":"Ana"}`, http.StatusCreated)
	key := source["key"].(string)
	for _, sender := range []string{"probe-1", "probe-2"} {
		if status, text := h.push("POST", "/in/"+key, fmt.Sprintf(`{"id":%q,"temperature":4.5,"humidity":51,"battery":77}`, sender), "Content-Type", "application/json"); status >= 300 {
			h.t.Fatalf("a payload: %d %s", status, text)
		}
	}
	h.asOwner("POST", "/sources/1/bind", `{"bindings":[{"external_id":"probe-1","device_serial":"P-1","name":"Probe","equipment_type":"reach_in_cooler"}]}`, http.StatusOK)
}

func (h *house) later(d time.Duration) string {
	return goldenNow.Add(d).UTC().Format(time.RFC3339)
}

// events is what happens in the hours before the store was left.
func (h *house) events() {
	h.t.Helper()
	from := goldenNow.Add(-4 * time.Hour)
	h.asOwner("POST", "/silences", fmt.Sprintf(`{"match":{"device_serials":["D-1"]},"ends_at":%q,"comment":"new gaskets"}`, h.later(24*time.Hour)), http.StatusCreated)
	h.asOwner("POST", "/maintenance-windows", fmt.Sprintf(`{"reason":"gaskets","device_serials":["D-1"],"ends_at":%q}`, h.later(time.Hour)), http.StatusCreated)
	h.minutes("F-1", from, goldenNow.Add(-2*time.Hour), func(i int) float64 {
		if i > 30 && i < 90 {
			return -4 + float64(i%5)/8
		}
		return -20 + float64(i%7)/4
	})
	h.minutes("V-1", from, goldenNow.Add(-2*time.Hour), func(i int) float64 { return 5 + float64(i%9)/10 })
	h.must(h.Store.Rest(h.t.Context()))
	h.Ingest.CheckpointAll()
	h.asOwner("POST", "/alerts/1/notes", `{"note":"the door was open"}`, http.StatusOK)
	h.asOwner("POST", "/alerts/1/corrective-action", `{"performed_at":"2026-11-20T11:30:00Z","performed_by":"Ana Silva","verified_by":"Bo Lind","cause":"Door left open","action":"Moved 12 kg",
		"preventive_action":"New door closer","disposition":"discard","product":"Lot 7, 3 kg","repair_reference":"WO-9"}`, http.StatusCreated)
	h.asOwner("POST", "/cases/1/actions", `{"cause":"Door left open","action":"Called Polar","disposition":"hold","disposition_detail":"Moved"}`, http.StatusCreated)
	if status, text := h.push("POST", "/api/v1/cases/1/attachments?name=bill.pdf", "%PDF-1.7 bill", "Cookie", "rimewatch_session="+h.owner.Secret, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/pdf"); status != http.StatusCreated {
		h.t.Fatalf("an attachment: %d %s", status, text)
	}
	h.asOwner("POST", "/cases/1/sign", fmt.Sprintf(`{"meaning":"performed","email":"o@example.com","password":%q}`, goldenPassword), http.StatusCreated)
	h.asOwner("POST", "/devices/F-1/corrective-actions", `{"performed_by":"Ana","action":"condenser cleaned"}`, http.StatusCreated)
	h.asOwner("POST", "/members", `{"email":"new@example.com","role":"technician","site_ids":[1]}`, http.StatusCreated)
	// What follows stays in the log.
	h.minutes("F-1", goldenNow.Add(-2*time.Hour+time.Minute), goldenNow, func(i int) float64 { return -11 + float64(i%3)/4 })
	h.minutes("V-1", goldenNow.Add(-2*time.Hour+time.Minute), goldenNow, func(i int) float64 { return 1 + float64(i%9)/10 })
	h.minutes("D-1", goldenNow.Add(-30*time.Minute), goldenNow, func(i int) float64 { return 3 + float64(i%9)/10 })
	if status, text := h.push("POST", "/api/v1/readings", keyed, "Cookie", "rimewatch_session="+h.owner.Secret, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json", "Idempotency-Key", "k-1"); status != http.StatusCreated {
		h.t.Fatalf("with a key: %d %s", status, text)
	}
	h.asOwner("PATCH", "/devices/V-1/heartbeat", `{"firmware_version":"2.1","battery_pct":55}`, http.StatusOK)
	h.asOwner("POST", "/alerts/2/acknowledge", `{"note":"I look"}`, http.StatusOK)
	h.asOwner("POST", "/alerts/3/resolve", `{}`, http.StatusOK)
	h.asOwner("PATCH", "/devices/V-1", `{"limits":{"temp_max":7.5}}`, http.StatusOK)
	h.must(h.PlanRounds(h.t.Context()))
	h.asOwner("POST", "/checks/1/complete", `{"items":[{"device_id":2,"typed_value":2.5,"note":"door was open"}]}`, http.StatusOK)
	h.asOwner("POST", "/checks/1/notes", `{"text":"gasket replaced"}`, http.StatusCreated)
	// An hour that was too warm comes last.
	warm := func(from, to time.Duration, temp float64) {
		h.minutes("P-1", goldenNow.Add(-from), goldenNow.Add(-to), func(int) float64 { return temp })
	}
	warm(3*time.Hour, 2*time.Hour+time.Minute, 3)
	warm(time.Hour, 0, 3)
	warm(2*time.Hour, time.Hour+time.Minute, 12)
	h.eventually(func() error {
		if text := fmt.Sprint(answerOf(h, "/excursions")); !strings.Contains(text, "found_late_at:2026") {
			return errors.New("the late excursion is not found")
		}
		return nil
	})
}
