package v1

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

const keyHeader = "Idempotency-Key"

// TestIdempotencyKey: a POST that is sent again with its key is carried out once and
// answered as before.
func TestIdempotencyKey(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	r.events.take(t, 1)
	r.do(post("/v1/devices", r.full, `{"serial":"W","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
	r.do(post("/v1/readings", r.feed, warm("W")))
	for _, c := range []struct {
		name, path, body, changed string
		token                     string
		status                    int
		seen                      func() any // what the request changes
	}{
		{"a reading without a time", "/v1/readings", `{"device_serial":"a","humidity":50,"foo":1}`, `{"device_serial":"a","humidity":51}`, r.feed, 201, r.stored("A")},
		{"a reading with vitals", "/v1/readings", `{"device_serial":"A","humidity":50,"battery_pct":50}`, `{"device_serial":"A","humidity":50}`, r.feed, 201, r.stored("A")},
		{"a batch without times", "/v1/readings/batch", `{"readings":[{"device_serial":"A","humidity":50},{"device_serial":"none","humidity":1}]}`, `{"readings":[{"device_serial":"A","humidity":51}]}`, r.feed, 200, r.stored("A")},
		{"a device", "/v1/devices", `{"serial":"B"}`, `{"serial":"C"}`, r.full, 201, r.at("/v1/devices", "data.pagination.total")},
		{"a note", "/v1/alerts/1/notes", `{"note":"looked at"}`, `{"note":"again"}`, r.full, 200, r.at("/v1/alerts/1/timeline", "data.transitions")},
		{"a site", "/v1/sites", `{"name":"Main Street","timezone":"UTC"}`, `{"name":"Other Street","timezone":"UTC"}`, r.full, 201, r.at("/v1/sites", "data.sites")},
		{"a silence", "/v1/silences", `{"match":{"device_serials":["A"]},"ends_at":"2026-11-20T13:00:00Z"}`, `{"match":{"device_serials":["A"]},"ends_at":"2026-11-20T14:00:00Z"}`, r.full, 201, r.at("/v1/silences", "data.silences")},
		{"maintenance", "/v1/maintenance-windows", `{"reason":"gaskets","ends_at":"2026-11-20T13:00:00Z"}`, `{"reason":"other","ends_at":"2026-11-20T13:00:00Z"}`, r.full, 201, r.at("/v1/maintenance-windows", "data.maintenance_windows")},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := post(c.path, c.token, c.body).with(keyHeader, "key of "+c.name)
			first := r.do(q)
			if first.status != c.status || first.header.Get("Idempotency-Replayed") != "" {
				t.Fatalf("%d %s", first.status, first.body)
			}
			before := c.seen()
			r.advance(3 * time.Second)
			again := r.do(q)
			if again.status != first.status || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("again: %d %s\nfirst: %d %s", again.status, again.body, first.status, first.body)
			}
			if a := r.do(post(c.path, c.token, c.changed).with(keyHeader, "key of "+c.name)); a.status != 422 || a.get("error.fields."+keyHeader) == nil {
				t.Errorf("another request: %d %s", a.status, a.body)
			}
			if got := c.seen(); !reflect.DeepEqual(got, before) {
				t.Errorf("it was carried out again: %v, %v", before, got)
			}
		})
	}
	r.idempotentWhateverItsForm(t)
	body := `{"device_serial":"A","humidity":60}`
	q := post("/v1/readings", r.feed, body).with(keyHeader, "k")
	first := r.do(q)
	if a := r.do(post("/v1/readings", r.full, body).with(keyHeader, "k")); a.status != 201 || a.body == first.body {
		t.Errorf("another token's key: %d %s", a.status, a.body)
	}
	for _, bad := range []string{strings.Repeat("x", 256), "a\tb", "\x80"} {
		if a := r.do(post("/v1/readings", r.feed, body).with(keyHeader, bad)); a.status != 422 {
			t.Errorf("key %q: %d", bad, a.status)
		}
	}
	r.advance(24 * time.Hour)
	if a := r.do(q); a.status != 201 || a.body == first.body {
		t.Errorf("a day later: %d %s", a.status, a.body)
	}
	refused := post("/v1/readings", r.feed, `{"device_serial":"late","humidity":60}`).with(keyHeader, "refused")
	if a := r.do(refused); a.status != 422 {
		t.Fatal(a.status)
	}
	r.device("late", "walkin_freezer")
	if a := r.do(refused); a.status != 201 {
		t.Errorf("what was refused is not tried again: %d %s", a.status, a.body)
	}
}

// idempotentWhateverItsForm: method, path and body are the request, and of the query what
// changes what is done.
func (r *rig) idempotentWhateverItsForm(t *testing.T) {
	t.Helper()
	for path, body := range map[string]string{
		"/v1/readings": `{"device_serial":"A","humidity":61}`, "/v1/readings/batch": `{"readings":[{"device_serial":"A","humidity":62}]}`, "/v1/devices": `{"serial":"Form"}`,
	} {
		q := post(path, r.full, body).with(keyHeader, "form of "+path)
		first := r.do(q)
		for _, kind := range []string{"", "application/json; charset=utf-8", "text/plain"} {
			if a := r.do(q.with("Content-Type", kind)); a.status != first.status || a.body != first.body {
				t.Errorf("%s as %q: %d %s, first %d %s", path, kind, a.status, a.body, first.status, first.body)
			}
		}
		more := q
		more.path += "?trace=1"
		if a := r.do(more); a.status != first.status || a.header.Get("Idempotency-Replayed") != "true" { // it is named in warnings
			t.Errorf("%s with a parameter that it does not know: %d %s", path, a.status, a.body)
		}
	}
	rows := post("/v1/devices/import", r.full, "serial,equipment_type\nImported,other\n").with("Content-Type", httpapi.TypeCSV).with(keyHeader, "import")
	dry := rows
	dry.path += "?dry_run=true"
	if first := r.do(dry); first.status != 200 {
		t.Fatal(first.body)
	}
	if a := r.do(rows); a.status != 422 || a.get("error.fields."+keyHeader) == nil {
		t.Errorf("for good what was a rehearsal: %d %s", a.status, a.body)
	}
	rows = rows.with(keyHeader, "import for good")
	first := r.do(rows)
	rows.path += "?dry_run=false"
	if a := r.do(rows); a.status != 200 || a.body != first.body {
		t.Errorf("the default by its name: %d %s, first %s", a.status, a.body, first.body)
	}
}

// TestIdempotencyKeyAtOnce: of requests with one key that come at once one is
// carried out; the others are answered as it was, or, where that takes longer than they
// wait, that it is being carried out.
func TestIdempotencyKeyAtOnce(t *testing.T) {
	r := newRig(t)
	r.device("A", "walkin_freezer")
	q := post("/v1/readings", r.feed, `{"device_serial":"A","humidity":50}`).with(keyHeader, "k")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if a := r.do(q); a.status != 201 && !(a.status == 409 && strings.Contains(a.body, "is being carried out")) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	if a := r.do(q); a.status != 201 {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
	if n := len(r.stored("A")().([]any)); n != 1 {
		t.Errorf("%d readings are stored", n)
	}
}

// forgetful keeps no whole answers, as when the service ends before it can.
type forgetful struct{ httpapi.Authenticator }

func (forgetful) KeepAnswer(context.Context, *store.Answer) error { return errors.New("the end") }

// TestLostAnswer: what was carried out is not done again when its answer could not
// be kept; that to a reading is made again.
func TestLostAnswer(t *testing.T) {
	r := newRig(t, func(w *whole) { w.Auth = forgetful{w.Auth} })
	r.device("A", "walkin_freezer")
	r.run(t, []scenario{
		{name: "a device", req: post("/v1/devices", r.full, `{"serial":"B"}`).with(keyHeader, "k1"), status: 201, anyEvents: true},
		{name: "again", req: post("/v1/devices", r.full, `{"serial":"B"}`).with(keyHeader, "k1"), status: 409, code: rimewatch.CodeConflict, anyEvents: true},
		{name: "a batch", req: post("/v1/readings/batch", r.full, `{"readings":[{"device_serial":"A","humidity":50},{"device_serial":"A","humidity":51}]}`).with(keyHeader, "k2"), status: 200, anyEvents: true},
		{name: "the batch again", req: post("/v1/readings/batch", r.full, `{"readings":[{"device_serial":"A","humidity":50},{"device_serial":"A","humidity":51}]}`).with(keyHeader, "k2"), status: 409, code: rimewatch.CodeConflict, anyEvents: true},
		{name: "a reading", req: post("/v1/readings", r.full, `{"device_serial":"A","humidity":52}`).with(keyHeader, "k3"), status: 201, anyEvents: true},
		{name: "the reading again", req: post("/v1/readings", r.full, `{"device_serial":"A","humidity":52}`).with(keyHeader, "k3"), status: 201, want: map[string]any{"data.duplicate": false, "data.reading.humidity": 52}, anyEvents: true},
	})
	if n := len(r.stored("A")().([]any)); n != 3 {
		t.Errorf("%d readings are stored", n)
	}
}

// stored returns what reads the readings of a device.
func (r *rig) stored(serial string) func() any {
	return func() any {
		r.t.Helper()
		return r.do(get("/v1/devices/"+serial+"/readings?from=2026-11-20T00:00:00Z&to=2026-11-30T00:00:00Z", r.read)).get("data.readings")
	}
}

// at returns what reads a part of an answer.
func (r *rig) at(path, part string) func() any {
	return func() any {
		r.t.Helper()
		a := r.do(get(path, r.full))
		if a.get(part) == nil {
			r.t.Errorf("%s has no %s: %s", path, part, a.body)
		}
		return a.get(part)
	}
}
