package v1

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// TestErrorsInSpanish: what an error says follows Accept-Language, wherever it comes
// from; its code and the names of its fields do not.
func TestErrorsInSpanish(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	spanish := func(q request) request { return q.with("Accept-Language", "es-MX,es;q=0.9,en;q=0.5") }
	put := get("/v1/devices", r.full)
	put.method = "PUT"
	r.events.take(t, 1)
	message, field := "error.message", func(name string) string { return "error.fields." + name + ".0" }
	r.run(t, []scenario{
		{
			name: "the router", req: spanish(get("/v1/nowhere", "")), status: 404, code: rimewatch.CodeNotFound,
			want: map[string]any{message: "No hay nada en esta dirección."},
		},
		{
			name: "another method", req: spanish(put), status: 405, code: rimewatch.CodeMethodNotAllowed,
			want: map[string]any{message: "Esta dirección acepta GET, HEAD, POST."},
		},
		{
			name: "nobody", req: spanish(get("/v1/devices", "")), status: 401, code: rimewatch.CodeUnauthenticated,
			want: map[string]any{message: "No ha iniciado sesión."},
		},
		{
			name: "a handler", req: spanish(get("/v1/devices/NOPE", r.full)), status: 404, code: rimewatch.CodeDeviceNotFound,
			want: map[string]any{message: "Este equipo no existe."},
		},
		{
			name: "the schema", req: spanish(post("/v1/devices", r.full, `{"serial":"N","name":5,"Notes":"x","offline_after_s":2,"bogus":1}`)), status: 422, code: rimewatch.CodeValidationFailed,
			want: map[string]any{
				message: "Hay campos que no son válidos.", field("name"): "debe ser un texto", field("Notes"): "no es un campo conocido, ¿quiso decir notes?",
				field("offline_after_s"): "debe estar entre 10 y 2592000", field("bogus"): "no es un campo conocido",
			},
		},
		{
			name: "a closed set", req: spanish(get("/v1/devices?status=sleeping&page=0", r.full)), status: 422, code: rimewatch.CodeValidationFailed,
			want: map[string]any{field("status"): "debe ser online o bien offline", field("page"): "debe ser como mínimo 1"},
		},
		{
			name: "a limit", req: spanish(patch("/v1/devices/A", r.full, `{"limits":{"temp_min":5,"temp_max":4}}`)), status: 422, code: rimewatch.CodeValidationFailed,
			want: map[string]any{message: "Los límites se contradicen."},
		},
		{
			name: "taken", req: spanish(post("/v1/devices", r.full, `{"serial":"a"}`)), status: 409, code: rimewatch.CodeSerialTaken,
			want: map[string]any{message: "El número de serie a ya está en uso."},
		},
		{
			name: "no JSON", req: spanish(post("/v1/devices", r.full, `[]`)), status: 400, code: rimewatch.CodeInvalidJSON,
			want: map[string]any{message: "El contenido no es un documento JSON válido: debe ser un objeto."},
		},
		{
			name: "rows of a file", req: spanish(post("/v1/devices/import?dry_run=true", r.full, "serial,site,temp_max\nB,nowhere,\nB,,warm\nC,,warm\n").with("Content-Type", httpapi.TypeCSV)), status: 200,
			want: map[string]any{
				"data.rows.0.errors.0": "site: no se conoce", "data.rows.1.errors.0": "serial: ya está en la fila 2", "data.rows.2.errors.0": "limits.temp_max: debe ser un número",
			},
		},
		{
			name: "English where there is no translation", req: get("/v1/devices/NOPE", r.full).with("Accept-Language", "de"), status: 404, code: rimewatch.CodeDeviceNotFound,
			want: map[string]any{message: "There is no such device."},
		},
	})
	// A person's own language goes before that of the browser.
	r.run(t, []scenario{
		{name: "choose", req: r.browser(patch("/v1/me", "", `{"language":"es"}`)), status: 200},
		{
			name: "chosen", req: r.browser(get("/v1/alerts/7", "")).with("Accept-Language", "en"), status: 404, code: rimewatch.CodeAlertNotFound,
			want: map[string]any{message: "Esta alerta no existe."},
		},
	})
	if a := r.do(get("/v1/devices?status=sleeping", r.full)); !strings.Contains(a.body, `"status":["must be online or offline"]`) || !strings.Contains(a.body, "The request has invalid fields.") {
		t.Errorf("without a language: %s", a.body)
	}
}
