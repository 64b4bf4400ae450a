package v1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// backlog is a course of temperatures, sampled every few minutes until now and sent
// together.
func (r *rig) backlog(serial string, every, lasts rimewatch.Time, temp func(minute int) float64) request {
	var items []string
	for at := rimewatch.Time(0); at <= lasts; at += every {
		items = append(items, fmt.Sprintf(`{"device_serial":%q,"recorded_at":%d,"product_zone_temp":%v}`, serial, r.now()-lasts+at, temp(int(at/rimewatch.Minute))))
	}
	return post("/v1/readings/batch", r.full, `{"readings":[`+strings.Join(items, ",")+`]}`)
}

// TestExposureThroughTheAPI: courses that touch their limits are alerted for, and another
// type neither ends such an alert by mistake nor as a recovery.
func TestExposureThroughTheAPI(t *testing.T) {
	r := newRig(t)
	for serial, typ := range map[string]string{"V": "vaccine_refrigerator", "C": "walkin_cooler", "B": "walkin_cooler"} {
		if a := r.do(post("/v1/devices", r.full, fmt.Sprintf(`{"serial":%q,"equipment_type":%q}`, serial, typ))); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	either := func(first bool, a, b float64) float64 {
		if first {
			return a
		}
		return b
	}
	cooler := func(m int) float64 { return either(m%50 < 35, 7.5, 4) }
	r.run(t, []scenario{
		{name: "a vaccine refrigerator below 0 °C for 8 of 10 min", req: r.backlog("V", 2*rimewatch.Minute, 8*rimewatch.Hour, func(m int) float64 { return either(m%10 == 6, 2.6, -1.5) }), status: 200, anyEvents: true},
		{name: "is critical", req: get("/v1/alerts?device_serial=V", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.alerts.0.type": "low_temperature", "data.alerts.0.severity": "critical"}},
		{name: "a cooler at 7.5 °C for 35 of 50 min", req: r.backlog("C", 5*rimewatch.Minute, 30*50*rimewatch.Minute, cooler), status: 200, anyEvents: true},
		{name: "is critical too", req: get("/v1/alerts?device_serial=C", r.read), status: 200, want: map[string]any{"data.pagination.total": 1, "data.alerts.0.type": "high_temperature", "data.alerts.0.severity": "critical"}},
		{name: "a backlog whose end is within", req: r.backlog("B", 5*rimewatch.Minute, 30*50*rimewatch.Minute-10*rimewatch.Minute, cooler), status: 200, anyEvents: true},
		{name: "opens nothing", req: get("/v1/alerts?device_serial=B", r.read), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "another type by mistake", req: patch("/v1/devices/V", r.full, `{"equipment_type":"other"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"equipment_type"}},
		{name: "goes on", req: get("/v1/alerts?device_serial=V", r.read), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "another type on purpose", req: patch("/v1/devices/V", r.full, `{"equipment_type":"other","confirm_loosening":true}`), status: 200, anyEvents: true},
		{
			name: "is no recovery", req: get("/v1/alerts?device_serial=V&status=resolved", r.read), status: 200,
			want: map[string]any{
				"data.alerts.0.resolution": "superseded",
				"data.alerts.0.message":    "The limits or the type were changed, and nothing judges this any more. Nothing has recovered.",
			},
		},
		{name: "other limits", req: patch("/v1/devices/C", r.full, `{"limits":{"temp_max":9,"critical_max":12},"confirm_loosening":true}`), status: 200, anyEvents: true},
		{name: "carry it no more", req: get("/v1/alerts?device_serial=C&status=resolved", r.read), status: 200, want: map[string]any{"data.alerts.0.resolution": "superseded"}},
	})
}
