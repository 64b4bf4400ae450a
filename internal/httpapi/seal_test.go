package httpapi

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestBodiesAreSealed: a handler cannot read a body by itself, whatever path it serves; only
// the frame can, for it.
func TestBodiesAreSealed(t *testing.T) {
	var byItself, taken []byte
	var failed error
	var a *API
	handler := func(c *Call) error {
		if byItself, failed = io.ReadAll(c.R.Body); len(byItself) > 0 {
			return nil
		}
		var err error
		taken, err = a.Take(c, 1, Door{Most: MostMessage, Check: StrictObject})
		return err
	}
	var err error
	a, err = New(Config{Now: func() rimewatch.Time { return 0 }}, func(frame *API) []Route {
		frame.Plain("POST", "/x", handler)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]int{`{"a":1}`: 200, `[1]`: 400, `{"a":1,"a":1}`: 400, ``: 400, `{"a":"` + strings.Repeat("x", MostMessage) + `"}`: 413} {
		byItself, taken = nil, nil
		rec := httptest.NewRecorder()
		a.ServeHTTP(rec, httptest.NewRequest("POST", "/x", strings.NewReader(body)))
		if rec.Code != want || len(byItself) > 0 || body != "" && failed == nil {
			t.Errorf("%.20s: %d, %d bytes by itself, %v", body, rec.Code, len(byItself), failed)
		}
		if want == 200 && string(taken) != body {
			t.Errorf("it got %q", taken)
		}
	}
}
