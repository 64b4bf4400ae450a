package inlet

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
)

// TestTheirErrorsInOurWords: what a library says stands behind words of the catalogue, which say what kind of trouble it is.
func TestTheirErrorsInOurWords(t *testing.T) {
	lines := func(body string) string {
		n, err := new(LineReader).Read([]byte(body), "", nobody, func([]Item, []byte) {})
		if err != nil || n.Bad != 1 {
			t.Fatalf("%q: %+v, %v", body, n, err)
		}
		return n.Problem
	}
	body, err := parse(&Payload{Body: []byte(`{"a":{"b":1},"text":"x","list":[1]}`)})
	if err != nil {
		t.Fatal(err)
	}
	expression := func(source string) string {
		x, err := compile(source)
		if err == nil {
			_, err = x.run(newEnvironment(&Payload{}, body))
		}
		if err == nil {
			t.Fatal(source, "has a value")
		}
		return reason(err)
	}
	for _, c := range []struct{ said, english, spanish string }{
		{lines("t,device= x=1"), "line 1: a tag cannot be read: expected tag value", "línea 1: no se puede leer una etiqueta: expected tag value"},
		{lines("t,device=a temperature"), "line 1: a field cannot be read: ", "línea 1: no se puede leer un campo: "},
		{lines(" ,a=b x=1"), "line 1: its measurement cannot be read: ", "línea 1: no se puede leer su medición: "},
		{lines("t temperature=1 soon"), "line 1: its time cannot be read: ", "línea 1: no se puede leer su hora: "},
		{expression("payload.missing.b"), "could not be calculated, because what it reads is not in the payload: cannot fetch", "no se pudo calcular, porque lo que lee no está en el mensaje: "},
		{expression("payload.text > 3"), "could not be calculated, because a value is of another kind than expected: invalid operation", "no se pudo calcular, porque un valor no es del tipo esperado: "},
		{expression("payload.("), "is not understood: ", "no se entiende: "},
		{expression("filter(payload.list, # > 0)[0]"), "must not use functions over elements", "no puede usar funciones sobre elementos"},
	} {
		s := rimewatch.SentenceOf(c.said)
		if english := s.String(); !strings.HasPrefix(english, c.english) {
			t.Errorf("%q, want %q…", english, c.english)
		}
		if spanish := s.In(catalogue.Of("es").Say); !strings.HasPrefix(spanish, c.spanish) {
			t.Errorf("%q, want %q…", spanish, c.spanish)
		}
	}
	_, err = compile("payload.(")
	refused := invalid("template.match", err).In(catalogue.Of("es").Say)
	if got := refused.Fields["template.match"]; len(got) != 1 || !strings.HasPrefix(got[0], "no se entiende: ") {
		t.Errorf("%q", got)
	}
}
