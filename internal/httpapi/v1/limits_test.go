package v1

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestWorkspaceLimits: limits of a type reach every device of the workspace
// that has none of its own, and nobody else's.
func TestWorkspaceLimits(t *testing.T) {
	r := newRig(t)
	invalid := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: r.browser(patch("/v1/workspace", "", body)), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	r.run(t, []scenario{
		{name: "a device", req: post("/v1/devices", r.full, `{"serial":"A","equipment_type":"meat_cooler"}`), status: 201, anyEvents: true},
		{name: "with its own", req: post("/v1/devices", r.full, `{"serial":"B","equipment_type":"meat_cooler","limits":{"temp_max":2}}`), status: 201, anyEvents: true},
		{name: "of another type", req: post("/v1/devices", r.full, `{"serial":"C","equipment_type":"fish_cooler"}`), status: 201, anyEvents: true},
		{name: "of others", req: post("/v1/devices", r.otherFull, `{"serial":"A","equipment_type":"meat_cooler"}`), status: 201, anyEvents: true},
		{name: "none at first", req: r.browser(get("/v1/workspace", "")), status: 200, want: map[string]any{"data.workspace.limits": map[string]any{}}},
		{
			name: "tightening is free", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":{"temp_max":3,"delay_s":600}}}`)), status: 200,
			want: map[string]any{"data.workspace.limits.meat_cooler.temp_max": 3, "data.workspace.limits.meat_cooler.delay_s": 600}, anyEvents: true,
		},
		{name: "in force at once", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.limits.temp_max": 3, "data.device.limits.delay_s": 600, "data.device.limits.temp_min": -1, "data.device.limits.source": "workspace"}},
		{name: "a device's own come last", req: get("/v1/devices/B", r.read), status: 200, want: map[string]any{"data.device.limits.temp_max": 2, "data.device.limits.delay_s": 600, "data.device.limits.source": "device"}},
		{name: "in the list too", req: get("/v1/devices", r.read), status: 200, want: map[string]any{"data.devices.0.limits.temp_max": 3, "data.devices.2.limits.source": "equipment_type"}},
		{name: "not those of others", req: get("/v1/devices/A", r.otherFull), status: 200, want: map[string]any{"data.device.limits.source": "equipment_type"}},
		invalid("loosening by mistake", `{"limits":{"meat_cooler":{"temp_max":5}}}`, "limits.meat_cooler.temp_max"),
		invalid("a delay of food", `{"limits":{"meat_cooler":{"delay_s":3600}}}`, "limits.meat_cooler.delay_s"),
		invalid("no such type", `{"limits":{"spaceship":{"temp_max":5}}}`, "limits.spaceship"),
		invalid("no such limit", `{"limits":{"meat_cooler":{"max":5}}}`, "limits.meat_cooler.max"),
		invalid("out of order", `{"limits":{"meat_cooler":{"temp_min":3.5}}}`, "limits.meat_cooler.temp_min"),
		{name: "nothing of it was stored", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.limits.temp_max": 3, "data.device.limits.temp_min": -1}},
		{name: "within the type's limits a workspace may take its own back", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":{"temp_max":3.5}}}`)), status: 200, anyEvents: true},
		{name: "on purpose", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":{"temp_max":5}},"confirm_loosening":true}`)), status: 200, anyEvents: true},
		{name: "another field does not ask again", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":{"clear_s":60}}}`)), status: 200, anyEvents: true},
		{name: "when silence counts", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":{"offline_after_s":7200}}}`)), status: 200, anyEvents: true},
		{name: "of all of the type", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.offline_after_s": 7200, "data.device.silence.by": "declared"}},
		{name: "of none of another", req: get("/v1/devices/C", r.read), status: 200, want: map[string]any{"data.device.silence.by": "default"}},
		{name: "a device's own goes before", req: patch("/v1/devices/A", r.full, `{"offline_after_s":600}`), status: 200, want: map[string]any{"data.device.offline_after_s": 600}, anyEvents: true},
		invalid("sooner than anything reports", `{"limits":{"meat_cooler":{"offline_after_s":5}}}`, "limits.meat_cooler.offline_after_s"),
		{name: "null goes back", req: r.browser(patch("/v1/workspace", "", `{"limits":{"meat_cooler":null}}`)), status: 200, want: map[string]any{"data.workspace.limits": map[string]any{}}, anyEvents: true},
		{name: "everywhere", req: get("/v1/devices/A", r.read), status: 200, want: map[string]any{"data.device.limits.temp_max": 4, "data.device.limits.source": "equipment_type"}},
	})
	entries, _, err := r.store.Audit().AuditEntries(t.Context(), r.workspace.ID, "workspace.updated", "", store.Page{Limit: 10})
	if err != nil || len(entries) < 2 { // the oldest is the rig's own
		t.Fatal(entries, err)
	}
	if first := entries[len(entries)-2]; !strings.Contains(first.Detail, `"to":{"meat_cooler":{"temp_max":3,"delay_s":600}}`) {
		t.Errorf("the trail says %s", first.Detail)
	}
}

// TestLoosening: a device's safety limits are not loosened by mistake.
func TestLoosening(t *testing.T) {
	r := newRig(t)
	refused := func(name, serial, limits string, fields ...string) scenario {
		return scenario{name: name, req: patch("/v1/devices/"+serial, r.full, `{"limits":`+limits+`}`), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	accepted := func(name, serial, body string) scenario {
		return scenario{name: name, req: patch("/v1/devices/"+serial, r.full, body), status: 200, anyEvents: true}
	}
	r.run(t, []scenario{
		{name: "a cooler", req: post("/v1/devices", r.full, `{"serial":"C","equipment_type":"walkin_cooler"}`), status: 201, anyEvents: true},
		{name: "a freezer", req: post("/v1/devices", r.full, `{"serial":"F","equipment_type":"walkin_freezer"}`), status: 201, anyEvents: true},
		{name: "medicine", req: post("/v1/devices", r.full, `{"serial":"V","equipment_type":"vaccine_refrigerator"}`), status: 201, anyEvents: true},
		{name: "something else", req: post("/v1/devices", r.full, `{"serial":"O"}`), status: 201, anyEvents: true},
		refused("warmer", "C", `{"temp_max":6}`, "limits.temp_max"),
		refused("colder", "C", `{"temp_min":-2}`, "limits.temp_min"),
		refused("critical later", "C", `{"critical_max":9,"critical_delay_s":9000}`, "limits.critical_max", "limits.critical_delay_s"),
		refused("more minutes a day", "V", `{"exposure_min_per_day":{"warm":90,"cold":0}}`, "limits.exposure_min_per_day.cold", "limits.exposure_min_per_day.warm"),
		accepted("fewer minutes a day", "V", `{"limits":{"exposure_min_per_day":{"warm":30}}}`),
		{name: "stand with the others", req: get("/v1/devices/V", r.full), status: 200, want: map[string]any{"data.device.limits.exposure_min_per_day.warm": 30, "data.device.limits.exposure_min_per_day.cold": 15}},
		accepted("minutes of the type again, and none", "V", `{"limits":{"exposure_min_per_day":{"warm":null,"cold":0}},"confirm_loosening":true}`),
		{name: "off is null", req: get("/v1/devices/V", r.full), status: 200, want: map[string]any{"data.device.limits.exposure_min_per_day.warm": 60, "data.device.limits.exposure_min_per_day.cold": nil}},
		{name: "by another type", req: patch("/v1/devices/V", r.full, `{"equipment_type":"other"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"equipment_type"}},
		accepted("by another type on purpose", "V", `{"equipment_type":"other","confirm_loosening":true}`),
		accepted("a stricter type", "V", `{"equipment_type":"blood_refrigerator"}`),
		refused("a longer delay of food", "C", `{"delay_s":7200}`, "limits.delay_s"),
		accepted("tighter", "C", `{"limits":{"temp_max":4,"delay_s":60,"critical_max":6}}`),
		accepted("back within what the type has", "C", `{"limits":{"temp_max":4.5,"delay_s":120}}`),
		accepted("a longer delay of what is only frozen", "F", `{"limits":{"delay_s":7200}}`),
		accepted("on purpose", "C", `{"limits":{"temp_max":5.5},"confirm_loosening":true}`),
		accepted("what was confirmed stays", "C", `{"limits":{"temp_min":1}}`),
		accepted("and may be tightened a little", "C", `{"limits":{"temp_max":5.2}}`),
		refused("but not be loosened further", "C", `{"temp_max":5.4}`, "limits.temp_max"),
		accepted("nothing to loosen", "O", `{"limits":{"temp_max":40}}`),
		{name: "a new device has what it is registered with", req: post("/v1/devices", r.full, `{"serial":"N","equipment_type":"walkin_cooler","limits":{"temp_max":9,"critical_max":9}}`), status: 201, anyEvents: true},
		{name: "by an import", req: request{method: "POST", path: "/api/v1/devices/import", token: r.full, body: "serial,temp_max\nF,-10\n", header: map[string]string{"Content-Type": httpapi.TypeCSV}}, status: 200, want: map[string]any{"data.rows.0.action": "error"}},
		{name: "by an import on purpose", req: request{method: "POST", path: "/api/v1/devices/import?confirm_loosening=true", token: r.full, body: "serial,temp_max\nF,-14\n", header: map[string]string{"Content-Type": httpapi.TypeCSV}}, status: 200, want: map[string]any{"data.rows.0.action": "update"}, anyEvents: true},
		{name: "minutes by an import", req: request{method: "POST", path: "/api/v1/devices/import", token: r.full, body: "serial,exposure_min_per_day_warm\nF,45\n", header: map[string]string{"Content-Type": httpapi.TypeCSV}}, status: 200, want: map[string]any{"data.rows.0.action": "update"}, anyEvents: true},
		{name: "have arrived", req: get("/v1/devices/F", r.full), status: 200, want: map[string]any{"data.device.limits.exposure_min_per_day.warm": 45}},
	})
}
