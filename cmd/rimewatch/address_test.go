package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestAddressCommand: the operator says where the installation is, and bad input stores nothing.
func TestAddressCommand(t *testing.T) {
	dir := t.TempDir()
	do := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = run(args, streams{in: strings.NewReader(""), out: &o, err: &e})
		return code, o.String(), e.String()
	}
	if code, _, errs := do("token", "create", "--data", dir, "--workspace", "W", "--create", "--name", "x"); code != 0 {
		t.Fatal(errs)
	}
	for _, step := range []struct{ set, shown, warned string }{
		{"", "not set\n", ""},
		{"http://192.168.1.20:8080/", "http://192.168.1.20:8080\n", ""},
		{"cold.example.com", "http://192.168.1.20:8080\n", "must be http://HOST"},
		{"http://localhost:8080", "http://localhost:8080\n", "only this computer"},
	} {
		if step.set != "" {
			if _, _, errs := do("address", "set", "--data", dir, step.set); !strings.Contains(errs, step.warned) || (errs == "") != (step.warned == "") {
				t.Errorf("%s: %q", step.set, errs)
			}
		}
		if _, out, errs := do("address", "show", "--data", dir); out != step.shown {
			t.Errorf("after %q: %q %s", step.set, out, errs)
		}
	}
}
