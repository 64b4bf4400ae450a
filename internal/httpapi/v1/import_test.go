package v1

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func TestImport(t *testing.T) {
	r := newRig(t)
	if err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Market Hall", TimeZone: "UTC"}); err != nil {
		t.Fatal(err)
	}
	r.device("OLD-1", "other")
	r.events.take(t, 1)
	send := func(csv string) request {
		return post("/v1/devices/import", r.full, csv).with("Content-Type", httpapi.TypeCSV)
	}
	dry := func(csv string) request {
		q := send(csv)
		q.path += "?dry_run=true"
		return q
	}
	const good = "serial,name,equipment_type,site,label:aisle,temp_max,heartbeat_interval_s,notes\n" +
		"NEW-1,\"Freezer, back\",walkin_freezer,market hall,4,-16.5,60,\"two\nlines\"\n" +
		"old-1,,walkin_cooler,,,,,\n"
	form := "--XX\r\nContent-Disposition: form-data; name=\"comment\"\r\n\r\nhello\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"d.csv\"\r\nContent-Type: text/csv\r\n\r\nserial\r\nFORM-1\r\n--XX--\r\n"
	many := "serial\n" + strings.Repeat("X\n", maxImportRows+1)
	r.run(t, []scenario{
		{
			name: "rehearsal", req: dry(good), status: 200,
			want: map[string]any{"data.created": 1, "data.updated": 1, "data.skipped": 0, "data.errors": 0, "data.rows.0.action": "create", "data.rows.0.row": 2, "data.rows.0.serial": "NEW-1", "data.rows.1.action": "update", "data.rows.1.row": 4, "data.rows.1.errors": "[]"},
		},
		{name: "nothing happened", req: get("/v1/devices", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.devices.0.equipment_type": "other"}},
		{name: "for real", req: send(good), status: 200, want: map[string]any{"data.created": 1, "data.updated": 1}, anyEvents: true},
		{name: "created", req: get("/v1/devices/NEW-1", r.read), status: 200, want: map[string]any{"data.device.name": "Freezer, back", "data.device.site.name": "Market Hall", "data.device.labels.aisle": 4, "data.device.limits.temp_max": -16.5, "data.device.heartbeat_interval_s": 60, "data.device.notes": "two\nlines"}, anyEvents: true},
		{name: "updated, and empty cells left things alone", req: get("/v1/devices/OLD-1", r.read), status: 200, want: map[string]any{"data.device.serial": "OLD-1", "data.device.name": "Unit OLD-1", "data.device.equipment_type": "walkin_cooler"}},
		{name: "again changes nothing", req: send(good), status: 200, want: map[string]any{"data.created": 0, "data.updated": 0, "data.skipped": 2, "data.rows.0.action": "skip"}},
		{name: "one label more", req: send("serial;label:row\nnew-1;7\n"), status: 200, want: map[string]any{"data.updated": 1}, events: []string{"device.updated"}},
		{name: "the others stay", req: get("/v1/devices/NEW-1", r.read), status: 200, want: map[string]any{"data.device.labels.aisle": 4, "data.device.labels.row": 7}},
		{
			name: "good and bad rows", req: send("\ufeffserial\tname\ttemp_min\ttemp_max\tsite\theartbeat_interval_s\nOK-1\tx\t\t\t\t\nbad serial\t\t\t\t\t\nA\t\t5\t4\tnowhere\t\nB\t\tcold\t\t\t1.5\nok-1\t\t\t\t\t\nC\tx\t\t\t\t\ttoo many\n"), status: 200,
			want: map[string]any{
				"data.created": 1, "data.errors": 5, "data.rows.0.action": "create", "data.rows.1.errors.0": "serial: must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -",
				"data.rows.2.errors.0": "site: is not known", "data.rows.3.errors": "[heartbeat_interval_s: must be an integer limits.temp_min: must be a number]",
				"data.rows.4.errors.0": "serial: is already in row 2", "data.rows.5.errors.0": "has more cells than the header",
			},
			events: []string{"device.created"},
		},
		{name: "limits that contradict each other", req: dry("serial,temp_min,temp_max\nZ,5,4\n"), status: 200, want: map[string]any{"data.rows.0.action": "error", "data.rows.0.errors.0": "limits.temp_min: must be below temp_max"}},
		{
			name: "a type that is not known", req: dry("serial,equipment_type\nT,walkin_coolr\nU,walkin_cooler\nV,spaceship\n"), status: 200,
			want: map[string]any{
				"data.rows.0.action": "create", "data.rows.0.errors": "[]", "data.rows.0.suggested_type": "walkin_cooler", "data.rows.1.warnings": "[]",
				"data.rows.0.warnings.0": "equipment_type: walkin_coolr is not a known type, so no limits apply and nobody is alerted", "data.rows.2.suggested_type": "",
			},
		},
		{
			name: "as Excel writes it for Germany",
			req:  dry("\ufeffsep=;\r\nSerial;Name;Equipment Type;Temp Max;Installed at;label:Gang Nr\r\nXL-1;K\u00fchlzelle, hinten;walkin_freezer;-15,5;2024-02-01;4,5\r\nXL-2;;walkin_freezer;-16;1.2.2024;\r\nXL-3;;;;02/01/2024;\r\n"), status: 200,
			want: map[string]any{
				"data.rows.0.action": "create", "data.rows.0.errors": "[]", "data.rows.0.row": 3, "data.rows.1.errors": "[]",
				"data.rows.2.errors": "[installed_at: must be an RFC 3339 time such as 2026-11-20T19:47:12.000Z]",
			},
		},
		{name: "a comma in a number between commas", req: dry("serial,temp_max\nZ,\"-15,5\"\n"), status: 200, want: map[string]any{"data.rows.0.errors.0": "limits.temp_max: must be a number"}},
		{name: "UTF-16", req: dry(utf16LE("serial\ttemp_max\nÜ\t4\nXL-1\t-15,5\n")), status: 200, want: map[string]any{"data.rows.0.action": "error", "data.rows.1.errors": "[]"}},
		{name: "a malformed row", req: dry("serial,name\nY,\"a\"b\nX,x\n"), status: 200, want: map[string]any{"data.rows.0.action": "error", "data.rows.1.serial": "X"}},
		{name: "a form", req: send(form).with("Content-Type", "multipart/form-data; boundary=XX"), status: 200, want: map[string]any{"data.created": 1, "data.rows.0.serial": "FORM-1"}, events: []string{"device.created"}},
		{name: "a form without a file", req: send("--XX--\r\n").with("Content-Type", "multipart/form-data; boundary=XX"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "a broken form", req: send(form[:80]).with("Content-Type", "multipart/form-data; boundary=XX"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "compressed", req: dry(zipped(t, good)).with("Content-Encoding", "gzip"), status: 200, want: map[string]any{"data.skipped": 2}},
		{name: "unknown column", req: send("serial,colour\nA,red\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"colour"}},
		{name: "no serial column", req: send("name\nA\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"serial"}},
		{name: "a column twice", req: send("serial,name,NAME\nA,b,c\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "header alone", req: send("serial\n"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"rows"}},
		{name: "half a character of UTF-16", req: send(utf16LE("serial\nX\n") + "\x00"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "nothing but a mark", req: send("\ufeff"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "empty", req: send(""), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "too many rows", req: send(many), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "binary", req: send("serial\n\x00\x01\n"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "bad UTF-8", req: send("serial\n\xff\n"), status: 400, code: rimewatch.CodeInvalidJSON},
		{name: "JSON", req: post("/v1/devices/import", r.full, `{}`), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "bad dry_run", req: request{method: "POST", path: "/api/v1/devices/import?dry_run=1", token: r.full, body: "serial\n", header: map[string]string{"Content-Type": httpapi.TypeCSV}}, status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"dry_run"}},
		{name: "without the scope", req: post("/v1/devices/import", r.feed, "serial\n").with("Content-Type", httpapi.TypeCSV), status: 403, code: rimewatch.CodeForbidden},
	})
	var b strings.Builder
	b.WriteString("serial,name\n")
	for i := range 500 {
		fmt.Fprintf(&b, "BULK-%03d,Device %d\n", i, i)
	}
	if a := r.do(send(b.String())); a.get("data.created") != 500.0 || a.get("data.rows.499.serial") != "BULK-499" {
		t.Error(clip(a.body))
	}
}

// utf16LE is a text as Excel saves it as Unicode text.
func utf16LE(text string) string {
	b := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}
