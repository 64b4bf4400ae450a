package v1

import (
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// loggerFile is a file of a logger in a freezer: readings every step from a local time on,
// warm ones from the tenth to the thirtieth.
func loggerFile(serial, from string, step time.Duration, rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Serial;%s\nTemperature unit;C\n\nTime;Temperature\n", serial)
	at, _ := time.Parse("2006-01-02 15:04", from)
	for i := range rows {
		v := -20 + float64(i%7)/10
		if i >= 10 && i < 30 {
			v += 15
		}
		fmt.Fprintf(&b, "%s;%s\n", at.Format("02.01.2006 15:04"), strings.Replace(fmt.Sprintf("%.1f", v), ".", ",", 1))
		at = at.Add(step)
	}
	return b.String()
}

func sendFile(serial, query, token, file string) request {
	q := post("/v1/devices/"+serial+"/readings/import?"+query, token, file)
	return q.with("Content-Type", httpapi.TypeCSV)
}

func TestReadingsImport(t *testing.T) {
	r := newRig(t)
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "S", TimeZone: "America/New_York"}
	if err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &site); err != nil {
		t.Fatal(err)
	}
	for _, serial := range []string{"W-1", "W-2", "W-3"} {
		r.do(post("/v1/devices", r.full, fmt.Sprintf(`{"serial":%q,"name":"Freezer %s","equipment_type":"walkin_freezer","site_id":%d}`, serial, serial, site.ID)))
	}
	r.events.take(t, 3)
	file := loggerFile("LOG-77", "2026-11-19 20:00", 5*time.Minute, 60) // 01:00 to 05:55 UTC
	const day = "?from=2026-11-19T00:00:00Z&to=2026-11-21T00:00:00Z"
	counts := func(accepted, duplicates, left int) map[string]any {
		return map[string]any{"data.rows": accepted + duplicates + left, "data.accepted": accepted, "data.duplicates": duplicates, "data.left_out": left}
	}
	with := func(m map[string]any, more map[string]any) map[string]any {
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	r.run(t, []scenario{
		{
			name: "preview", req: sendFile("W-1", "dry_run=true", r.read, file), status: 200,
			want: with(counts(60, 0, 0), map[string]any{
				"data.dry_run": true, "data.first_at": "2026-11-20T01:00:00.000Z", "data.last_at": "2026-11-20T05:55:00.000Z", "data.file.first_local": "2026-11-19 20:00:00", "data.file.last_local": "2026-11-20 00:55:00",
				"data.file.serial": "LOG-77", "data.file.zone": "America/New_York", "data.file.zone_from": "site", "data.file.columns.0.field": "product_zone_temp", "data.file.columns.0.unit_stated": true, "data.file.columns.0.min": -20, "data.file.columns.0.max": -4.4,
				"data.gaps.count": 0, "data.warnings": "[]", "data.choices": "[]", "data.belongs_to": "<nil>",
				"data.excursions.0.change": "new", "data.excursions.0.from": "2026-11-20T01:50:00.000Z", "data.out_of_limits_min.before": 0, "data.out_of_limits_min.after": 100,
			}),
		},
		{name: "nothing is stored", req: get("/v1/devices/W-1/readings"+day, r.read), status: 200, want: map[string]any{"data.readings": "[]"}},
		{name: "a preview needs devices:read", req: sendFile("W-1", "dry_run=true", r.feed, file), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "an import needs readings:write", req: sendFile("W-1", "", r.read, file), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "a token of something else", req: sendFile("W-1", "token=0123", r.feed, file), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"token"}},
		{name: "stored", req: sendFile("W-1", "", r.feed, file), status: 200, want: with(counts(60, 0, 0), map[string]any{"data.dry_run": false, "data.token": ""}), anyEvents: true},
		{name: "with its own times, marked", req: get("/v1/devices/W-1/readings"+day, r.read), status: 200, anyEvents: true, want: map[string]any{"data.readings.0.recorded_at": "2026-11-20T01:00:00.000Z", "data.readings.0.product_zone_temp": -20, "data.readings.0.imported": true}},
		{name: "no sign of life, and no alert", req: get("/v1/devices/W-1", r.read), status: 200, want: map[string]any{"data.device.status": "offline", "data.device.last_seen_at": "<nil>", "data.device.active_alerts": 0, "data.device.labels.logger": "LOG-77", "data.device.current_temp": -19.7}},
		{name: "again", req: sendFile("W-1", "", r.feed, file), status: 200, want: counts(0, 60, 0)},
		{name: "again, rehearsed", req: sendFile("W-1", "dry_run=true", r.read, file), status: 200, want: with(counts(0, 60, 0), map[string]any{"data.excursions": "[]", "data.conflicts": 0})},
		{name: "another value at the same time", req: sendFile("W-1", "", r.feed, strings.Replace(file, "-20,0", "-21,0", 1)), status: 200, want: with(counts(0, 60, 0), map[string]any{"data.conflicts": 1})},
		{name: "the same in another time zone", req: sendFile("W-1", "dry_run=true&zone=America/Chicago", r.read, file), status: 200, want: with(counts(12, 48, 0), map[string]any{"data.conflicts": 48, "data.file.zone_from": "query", "data.warnings.0": "The same values are stored already, 1 h earlier: check the time zone."})},
		{name: "of another device's logger, previewed", req: sendFile("W-2", "dry_run=true", r.read, file), status: 200, want: map[string]any{"data.belongs_to.serial": "W-1", "data.belongs_to.name": "Freezer W-1"}},
		{name: "of another device's logger", req: sendFile("W-2", "", r.feed, file), status: 409, code: rimewatch.CodeConflict, fields: []string{"serial"}},
		{name: "nothing of it is stored", req: get("/v1/devices/W-2/readings"+day, r.read), status: 200, want: map[string]any{"data.readings": "[]"}},
		{name: "confirmed", req: sendFile("W-2", "confirm_serial=true", r.feed, file), status: 200, want: counts(60, 0, 0), anyEvents: true},
		{name: "the serial of another device", req: sendFile("W-2", "", r.feed, strings.Replace(file, "LOG-77", "w-3", 1)), status: 409, code: rimewatch.CodeConflict, fields: []string{"serial"}},
		{name: "in the future by a wrong zone", req: sendFile("W-3", "dry_run=true&zone=Pacific/Honolulu", r.read, loggerFile("X1", "2026-11-20 00:00", 10*time.Minute, 40)), status: 200,
			want: with(counts(13, 0, 27), map[string]any{"data.reasons.0.reason": "is in the future", "data.reasons.0.rows": 27, "data.warnings.0": "Some of the rows are in the future: check the time zone."})},
		{name: "all of it in the future", req: sendFile("W-3", "", r.feed, loggerFile("", "2027-01-01 00:00", time.Hour, 10)), status: 200, want: counts(0, 0, 10)},
		{name: "older than readings are kept, and from a clock that was not set", req: sendFile("W-3", "", r.feed, "time,temperature\n2000-01-01 00:00,4\n2016-01-01 00:00,4\n2026-11-20 00:00,-19\n"), status: 200, anyEvents: true,
			want: with(counts(1, 0, 2), map[string]any{"data.before_retention": 1, "data.reasons.0.reason": "is from before 2015: the logger's clock was not set", "data.reasons.1.lines": "[3]"})},
		{name: "one nan among others", req: sendFile("W-3", "dry_run=true", r.read, "time,temperature,humidity\n2026-11-20 01:00,nan,50\n2026-11-20 02:00,-19,Err\n2026-11-20 03:00,nan,\n"), status: 200,
			want: with(counts(2, 0, 1), map[string]any{"data.values_left_out.0.reason": `humidity is "Err", not a number`, "data.reasons.0.reason": "has no measurement", "data.reasons.0.lines": "[4]"})},
		{name: "°F that nobody states", req: sendFile("W-3", "dry_run=true", r.read, "time,temperature\n2026-11-20 01:00,-2\n2026-11-20 02:00,0\n2026-11-20 03:00,6\n"), status: 200, want: map[string]any{"data.warnings.0": "The values look like °F, and the file states no unit."}},
		{name: "°F that is said", req: sendFile("W-3", "dry_run=true&unit=F", r.read, "time,temperature\n2026-11-20 01:00,-2\n2026-11-20 02:00,0\n"), status: 200, want: map[string]any{"data.warnings": "[]", "data.file.columns.0.unit": "°F"}},
		{name: "several sensors, previewed", req: sendFile("W-3", "dry_run=true", r.read, "sensor,time,temperature\nA,2026-11-20 01:00,-2\nB,2026-11-20 01:00,4\n"), status: 200, want: map[string]any{"data.choices.1.parameter": "entity", "data.choices.1.value": "B", "data.choices.1.min": 4, "data.token": "", "data.rows": 0}},
		{name: "several sensors", req: sendFile("W-3", "", r.feed, "sensor,time,temperature\nA,2026-11-20 01:00,-2\nB,2026-11-20 01:00,4\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"entity"}},
		{name: "one of several", req: sendFile("W-3", "entity=A", r.feed, "sensor,time,temperature\nA,2026-11-20 01:00,-18\nB,2026-11-20 01:00,4\n"), status: 200, want: with(counts(1, 0, 1), map[string]any{"data.reasons.0.reason": "is of another sensor", "data.file.entity": "A"}), anyEvents: true},
		{name: "one of several columns", req: sendFile("W-3", "dry_run=true&column="+url.QueryEscape("T2 (°C)"), r.read, "time;T1 (°C);T2 (°C)\n2026-11-20 01:30;4,5;-18,2\n"), status: 200, want: map[string]any{"data.accepted": 1, "data.file.columns.0.min": -18.2, "data.file.unused_columns": "[T1 (°C)]"}},
		{name: "what stands beside a stored one", req: sendFile("W-3", "dry_run=true", r.read, "time,temperature,humidity\n2026-11-20 01:00,-18,60\n"), status: 200, want: counts(1, 0, 0)},
		{name: "UTF-16, of no known type", req: sendFile("W-3", "dry_run=true", r.read, utf16LE("time\tTemperature (°C)\n2026-11-20 04:00\t-18\n")).with("Content-Type", httpapi.TypeBinary), status: 200, want: map[string]any{"data.accepted": 1, "data.file.encoding": "UTF-16"}},
		{name: "as curl sends it", req: sendFile("W-3", "dry_run=true", r.read, "time,temperature\n2026-11-20 04:00,-18\n").with("Content-Type", "application/x-www-form-urlencoded"), status: 200},
		{name: "an odd charset", req: sendFile("W-3", "dry_run=true", r.read, "time,Temperature \xb0C\n2026-11-20 04:00,-18\n").with("Content-Type", "text/csv; charset=windows-1252"), status: 200, want: map[string]any{"data.file.encoding": "windows-1252", "data.file.columns.0.heading": "Temperature °C"}},
		{name: "a form", req: sendFile("W-3", "dry_run=true", r.read, "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"d.csv\"\r\n\r\ntime,temperature\n2026-11-20 04:00,-18\n\r\n--XX--\r\n").with("Content-Type", "multipart/form-data; boundary=XX"), status: 200, want: map[string]any{"data.accepted": 1}},
		{name: "no table", req: sendFile("W-3", "", r.feed, "Dear all,\nit was warm on Monday.\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "another unit", req: sendFile("W-3", "", r.feed, "time,pressure (hPa)\n2026-11-20 04:00,1013\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "binary", req: sendFile("W-3", "", r.feed, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "a workbook", req: sendFile("W-3", "", r.feed, "PK\x03\x04..."), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}, contains: []string{"save the table as CSV"}},
		{name: "JSON", req: post("/v1/devices/W-3/readings/import", r.feed, `{}`).with("Content-Type", httpapi.TypeJSON), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "no such zone", req: sendFile("W-3", "zone=Nowhere/Else", r.feed, file), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"zone"}},
		{name: "no such unit", req: sendFile("W-3", "unit=X", r.feed, file), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"unit"}},
		{name: "no such device", req: sendFile("W-9", "", r.feed, file), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "another workspace", req: sendFile("W-1", "", r.otherFull, file), status: 404, code: rimewatch.CodeDeviceNotFound},
	})
	previewed := r.do(sendFile("W-3", "dry_run=true", r.read, file))
	token, _ := previewed.get("data.token").(string)
	if a := r.do(sendFile("W-3", "confirm_serial=true&zone=Asia/Tokyo&token="+token, r.feed, file)); a.status != 422 {
		t.Errorf("with the token of another time zone: %d %s", a.status, clip(a.body))
	}
	keyed := sendFile("W-3", "confirm_serial=true&token="+token, r.feed, file).with("Idempotency-Key", token)
	if a := r.do(keyed); a.status != 200 || a.get("data.accepted") != 59.0 {
		t.Errorf("with the token: %d %s", a.status, clip(a.body))
	}
	if a := r.do(keyed); a.status != 200 || a.get("data.accepted") != 59.0 || a.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("again with the key: %d %s", a.status, clip(a.body))
	}
	r.advance(24 * time.Hour)
	if a := r.do(get("/v1/alerts?status=active", r.read)); a.get("data.pagination.total") != 0.0 {
		t.Error(clip(a.body))
	}
}

// TestReadingsImportAccounts: whatever is in a file, a preview counts each row once, the import
// does the same, and history then has what was accepted, once.
func TestReadingsImportAccounts(t *testing.T) {
	r := newRig(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++ // each has a device
		serial := fmt.Sprintf("P-%d", n)
		r.device(serial, "other")
		stored := 0
		for range rapid.IntRange(1, 3).Draw(t, "files") {
			var b strings.Builder
			b.WriteString("time,temperature,humidity\n")
			rows := rapid.IntRange(1, 60).Draw(t, "rows")
			good := 0
			for i := range rows {
				minute := rapid.IntRange(0, 90).Draw(t, "minute")
				temp := rapid.SampledFrom([]string{"4.5", "4.6", "nan", "", "x"}).Draw(t, "temperature")
				if i == 0 {
					temp = "4.5"
				}
				hum := rapid.SampledFrom([]string{"50", "51", ""}).Draw(t, "humidity")
				if good++; minute > 85 && i > 0 {
					fmt.Fprintf(&b, "2031-01-01 00:%02d,%s,%s\n", minute%60, temp, hum)
				} else {
					fmt.Fprintf(&b, "2026-11-20 %02d:%02d,%s,%s\n", minute/60, minute%60, temp, hum)
				}
			}
			would, did := r.do(sendFile(serial, "dry_run=true", r.read, b.String())), r.do(sendFile(serial, "", r.feed, b.String()))
			for _, a := range []answer{would, did} {
				if a.status != 200 || a.get("data.rows") != float64(rows) || a.get("data.accepted").(float64)+a.get("data.duplicates").(float64)+a.get("data.left_out").(float64) != float64(rows) {
					t.Fatalf("%d rows: %s\n%s", rows, clip(a.body), b.String())
				}
			}
			for _, name := range []string{"data.accepted", "data.duplicates", "data.conflicts", "data.left_out"} {
				if would.get(name) != did.get(name) {
					t.Fatalf("%s would be %v and is %v\n%s", name, would.get(name), did.get(name), b.String())
				}
			}
			stored += int(did.get("data.accepted").(float64))
		}
		a := r.do(get("/v1/devices/"+serial+"/readings?from=2026-11-19T00:00:00Z&to=2026-11-21T00:00:00Z&per_page=1000", r.read))
		if list, _ := a.get("data.readings").([]any); len(list) != stored {
			t.Fatalf("%d were accepted and %d are stored", stored, len(list))
		}
	})
}

// TestLargeReadingsImport: ten megabytes in a wrong time zone are seen to be so, cost memory
// for no more than a few times their size, and are stored whole when they are right.
func TestLargeReadingsImport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	r := newRig(t)
	r.device("BIG", "other")
	var b strings.Builder
	b.WriteString("No,Time,Temperature,Humidity,Remark\n")
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	rows := 0
	for ; b.Len() < 10<<20; rows++ {
		fmt.Fprintf(&b, "%d,%s,%.2f,%d,%s\n", rows, at.Format("2006-01-02 15:04:05"), -18+float64(rows%97)/50, 50+rows%9, "as measured by the logger")
		at = at.Add(25 * time.Second)
	}
	file := b.String()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := r.do(sendFile("BIG", "dry_run=true&zone=Pacific/Kiritimati", r.read, file))
	runtime.ReadMemStats(&after)
	if a.status != 200 || a.get("data.rows") != float64(rows) || a.get("data.file.first_local") != "2026-10-01 00:00:00" || a.get("data.first_at") != "2026-09-30T10:00:00.000Z" {
		t.Fatalf("%d: %s", a.status, clip(a.body))
	}
	t.Logf("%d rows, %d MB allocated for a preview", rows, (after.TotalAlloc-before.TotalAlloc)>>20)
	did := r.do(sendFile("BIG", "", r.feed, file))
	if did.status != 200 || did.get("data.accepted").(float64)+did.get("data.left_out").(float64) != float64(rows) {
		t.Fatalf("%d: %s", did.status, clip(did.body))
	}
	again := r.do(sendFile("BIG", "dry_run=true&zone=Etc/GMT-14", r.read, file))
	if !strings.Contains(again.body, "14 h later: check the time zone") {
		t.Error(clip(again.body))
	}
}
