package v1

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// Each thing that people set on a device, alone: a PATCH stores it, a GET returns it, the
// audit trail names it, and a column of an import sets it.
func TestEveryDeviceField(t *testing.T) {
	r := newRig(t)
	if err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Hall", TimeZone: "UTC"}); err != nil {
		t.Fatal(err)
	}
	samples := map[string]any{
		"name": "Back", "equipment_type": "walkin_freezer", "site_id": 1, "labels": map[string]any{"aisle": "4"}, "manufacturer": "M", "model": "X",
		"firmware_version": "1.2", "notes": "n", "installed_at": "2024-02-01T00:00:00.000Z", "heartbeat_interval_s": 45, "offline_after_s": 400, "habit": "sleeps",
		"limits.temp_min": -24.5, "limits.temp_max": 3.5, "limits.delay_s": 601, "limits.low_delay_s": 602, "limits.critical_min": -29.5, "limits.critical_max": 9.5,
		"limits.critical_delay_s": 301, "limits.clear_delta": 0.5, "limits.clear_s": 303,
	}
	shown := map[string]string{"site_id": "site.id", "labels": "labels.aisle"} // where the answer has it under another name
	columns := map[string]string{"labels": "label:aisle"}
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[DeviceFields]()) {
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name {
		case "confirm_loosening": // a consent, not a field
		case "limits":
			for _, l := range reflect.VisibleFields(reflect.TypeFor[LimitsPatch]()) {
				name, _, _ := strings.Cut(l.Tag.Get("json"), ",")
				if name != "exposure_min_per_day" { // an object: limits_test.go sets it
					names = append(names, "limits."+name)
				}
			}
		case "": // not of the body
		default:
			names = append(names, name)
		}
	}
	for i, name := range names {
		value, ok := samples[name]
		if !ok {
			t.Errorf("%s: this test has no sample of it", name)
			continue
		}
		want := value
		if labels, ok := value.(map[string]any); ok {
			want = labels["aisle"]
		}
		at := "data.device." + name
		if other, ok := shown[name]; ok {
			at = "data.device." + other
		}
		is := func(how, serial string) {
			if got := r.do(get("/v1/devices/"+serial, r.full)).get(at); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s by %s: %v, want %v", name, how, got, want)
			}
		}
		field, inner, nested := strings.Cut(name, ".")
		patched := map[string]any{field: value}
		if nested {
			patched[field] = map[string]any{inner: value}
		}
		body, err := json.Marshal(patched)
		if err != nil {
			t.Fatal(err)
		}
		serial := fmt.Sprint("F-", i)
		r.device(serial, "other")
		if a := r.do(patch("/v1/devices/"+serial, r.full, string(body))); a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
			continue
		}
		is("PATCH", serial)
		audit := r.do(r.browser(get("/v1/audit?action=device.updated&per_page=1&subject=device%20"+serial, "")))
		if detail, ok := audit.get("data.entries.0.detail").(map[string]any); !ok || len(detail) != 1 {
			t.Errorf("%s: the audit trail says %s", name, audit.body)
		}
		column := name[strings.LastIndex(name, ".")+1:]
		if other, ok := columns[name]; ok {
			column = other
		} else if !slices.Contains(importColumns, column) {
			t.Errorf("%s: no column of an import sets it", name)
		}
		r.do(post("/v1/devices/import?confirm_loosening=true", r.full, fmt.Sprintf("serial,%s\nI-%d,%v\n", column, i, want)).with("Content-Type", httpapi.TypeCSV))
		is("import", fmt.Sprint("I-", i))
	}
	for field := range storetest.EachField() {
		switch field {
		case "ID", "WorkspaceID", "Serial", "CreatedAt", "UpdatedAt", "DeletedAt": // what it is and when
		case "WorkspaceLimits": // the workspace's
		case "Offsets", "CalibrationDue": // set by calibrations
		default:
			spelled := strings.ReplaceAll(field, "ID", "Id")
			name := strings.ToLower(regexp.MustCompile(`(.)([A-Z])`).ReplaceAllString(spelled, "${1}_$2"))
			if !slices.ContainsFunc(names, func(n string) bool { return n == name || strings.HasPrefix(n, name+".") }) {
				t.Errorf("%s: nobody can set it by the API", field)
			}
		}
	}
}
