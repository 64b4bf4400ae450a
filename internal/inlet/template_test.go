package inlet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

func hasField(err error, field string) bool {
	var e *rimewatch.Error
	return errors.As(err, &e) && e.Code == rimewatch.CodeValidationFailed && e.Fields[field] != nil
}

func TestTemplateRefused(t *testing.T) {
	for _, c := range []struct{ document, field string }{
		{`{"version":2}`, "template.version"},
		{`{"version":1,"extra":1}`, "template"},
		{`{"version":1}{}`, "template"},
		{`[`, "template"},
		{strings.Repeat(" ", MaxTemplate+1), "template"},
		{`{"version":1,"id":"payload."}`, "template.id"},
		{`{"version":1,"id":"nothing.known"}`, "template.id"},
		{`{"version":1,"time":"` + strings.Repeat("1+", 300) + `1"}`, "template.time"},
		{`{"version":1,"fields":{"temperature":"payload.t"}}`, "template.fields.temperature"},
		{`{"version":1,"fields":{"humidity":{"from":"payload.t","unit":"furlong"}}}`, "template.fields.humidity.unit"},
		{`{"version":1,"fields":{"humidity":{"from":"payload.t","only_if":")"}}}`, "template.fields.humidity.only_if"},
		{`{"version":1,"device":{"color":"payload.t"}}`, "template.device.color"},
		{`{"version":1,"fields":{"humidity":{"form":"payload.t"}}}`, "template"},
	} {
		if _, err := ParseTemplate([]byte(c.document)); !hasField(err, c.field) {
			t.Errorf("%.60s: %v, want a word on %s", c.document, err, c.field)
		}
	}
}

// bombs are expressions that would take long or grow large, with a payload that
// helps them.
var bombs = []string{
	`map(1..1000000, map(1..1000000, #))`,
	`reduce(1..1000, reduce(1..1000, #acc + #))`,
	`count(payload.list, count(payload.list, count(payload.list, true) > 0) > 0)`,
	`filter(payload.list, any(payload.list, # > 1))`,
	`sortBy(payload.list, #)`,
	`groupBy(payload.list, #)`,
	`repeat("x", 1000000000)`,
	`replace(replace(payload.text, "x", "xxxxxxxx"), "x", "xxxxxxxx")`,
	`join(payload.list, payload.text)`,
	`let a = payload.text + payload.text; let b = a + a; let c = b + b; c`,
	`1..100000000`,
	`2 ** 1000000`,
	`toJSON(payload)`,
	`now()`,
	`toBase64(payload.text)`,
	`flatten([payload.list, payload.list])`,
	`payload.text matches "(x+x+)+y" ? ` + strings.Repeat("(", 50),
}

func TestBombs(t *testing.T) {
	for _, bomb := range bombs {
		if _, err := compile(bomb); err == nil {
			t.Errorf("%s is taken", bomb)
		}
	}
	// What is taken stays cheap with the largest payload.
	body := fmt.Sprintf(`{"text":%q,"list":[%s1]}`, strings.Repeat("x", 400<<10), strings.Repeat("1,", 200<<10))
	for _, x := range []string{
		`payload.text matches "(x+x+)+y"`,
		`payload.text + payload.text + payload.text`,
		`concat(payload.list, payload.list, payload.list)`,
		`split(payload.text, "")`,
		`upper(payload.text) contains "Y"`,
		`max(payload.list)`,
	} {
		m, err := Template{Version: 1, Name: "x", ID: x, Each: x, Auto: "payload", Fields: map[string]Rule{"humidity": {From: x}}}.Compile()
		if err != nil {
			t.Errorf("%s: %v", x, err)
			continue
		}
		began := time.Now()
		m.Decode(&Payload{Body: []byte(body)}, nil)
		if took := time.Since(began); took > 10*time.Minute { // a machine may be busy, and what explodes never ends
			t.Errorf("%s took %v", x, took)
		}
	}
}

// FuzzTemplate: no document and no payload ends the process, and what is decoded
// lies within the ranges of the measurements.
func FuzzTemplate(f *testing.F) {
	for _, bomb := range bombs {
		f.Add(bomb, "payload.t", `{"t":1,"list":[1,2],"text":"xx"}`)
	}
	for _, c := range vendors {
		f.Add("payload.object.temperature", "item", string(c.payload.Body))
	}
	f.Fuzz(func(t *testing.T, from, each, body string) {
		m, err := Template{Version: 1, ID: from, Time: from, Each: each, Auto: each, Fields: map[string]Rule{"product_zone_temp": {From: from, UnitFrom: each}}}.Compile()
		if err != nil {
			return
		}
		checkResult(t, m.Decode(&Payload{Body: []byte(body), Explain: true}, nil))
	})
}

// FuzzAuto: no payload ends the process.
func FuzzAuto(f *testing.F) {
	for _, c := range vendors {
		f.Add(c.payload.Topic, string(c.payload.Body))
	}
	lib := library(f)
	f.Fuzz(func(t *testing.T, topic, body string) {
		checkResult(t, lib.Decode(&Payload{Topic: topic, Body: []byte(body), Explain: true}, nil))
	})
}

func checkResult(t *testing.T, r *Result) {
	t.Helper()
	for i := range r.Items {
		x := &r.Items[i]
		if len(x.ID) > maxID {
			t.Errorf("id of %d bytes", len(x.ID))
		}
		for j := range x.Readings {
			for f, v := range x.Readings[j].Reading.All() {
				if !f.Accepts(v) {
					t.Errorf("%v = %v", f, v)
				}
			}
		}
	}
}

// BenchmarkDecode is the whole way of a payload of each vendor: found out what it
// is, parsed, mapped.
func BenchmarkDecode(b *testing.B) {
	lib := library(b)
	for i := range vendors {
		c := &vendors[i]
		b.Run(c.template, func(b *testing.B) {
			for b.Loop() {
				if r := lib.Decode(&c.payload, nil); r.Template != c.template {
					b.Fatal(r)
				}
			}
		})
	}
}
