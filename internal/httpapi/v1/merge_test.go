package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// Two programs that each keep a label do not erase each other's by merge patches; JSON replaces all
// labels, as ever.
func TestMergePatch(t *testing.T) {
	r := newRig(t)
	r.device("A", "other")
	merge := func(body string) request {
		return patch("/v1/devices/A", r.full, body).with("Content-Type", httpapi.TypeMergePatch)
	}
	labels := func(want any) map[string]any { return map[string]any{"data.device.labels": want} }
	r.run(t, []scenario{
		{name: "one", req: merge(`{"labels":{"aisle":"4"}}`), status: 200, anyEvents: true, want: labels("map[aisle:4]")},
		{name: "another", req: merge(`{"labels":{"meter":"m-7"},"notes":"by the door"}`), status: 200, anyEvents: true, want: labels("map[aisle:4 meter:m-7]")},
		{name: "a parameter of the type", req: patch("/v1/devices/A", r.full, `{"labels":{"aisle":"5"}}`).with("Content-Type", "application/merge-patch+json; charset=utf-8"), status: 200, anyEvents: true, want: labels("map[aisle:5 meter:m-7]")},
		{name: "null removes", req: merge(`{"labels":{"aisle":null,"none":null}}`), status: 200, anyEvents: true, want: labels("map[meter:m-7]")},
		{name: "what is not named stays", req: merge(`{"name":"B"}`), status: 200, anyEvents: true, want: map[string]any{"data.device.labels": "map[meter:m-7]", "data.device.notes": "by the door"}},
		{name: "null in JSON", req: patch("/v1/devices/A", r.full, `{"labels":{"meter":null}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"labels"}},
		{name: "no text", req: merge(`{"labels":{"meter":7}}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"labels.meter"}},
		{name: "JSON replaces", req: patch("/v1/devices/A", r.full, `{"labels":{"aisle":"6"}}`), status: 200, anyEvents: true, want: labels("map[aisle:6]")},
		{name: "all of them", req: merge(`{"labels":null}`), status: 200, anyEvents: true, want: labels("map[]")},
		{name: "of a PATCH alone", req: post("/v1/devices", r.full, `{"serial":"C"}`).with("Content-Type", httpapi.TypeMergePatch), status: 201, anyEvents: true},
	})
}
