package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestManual: the page has every command and flag that the help has, and no line that
// man takes for a request of its own.
func TestManual(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{"manual"}, streams{in: strings.NewReader(""), out: &out, err: &out}); code != 0 {
		t.Fatal(code, out.String())
	}
	page := out.String()
	_ = kong.Visit(newParser(streams{in: nil, out: &out, err: &out}).Model, func(n kong.Visitable, next kong.Next) error {
		switch n := n.(type) {
		case *kong.Node:
			if n.Hidden {
				return nil
			}
			if n.Type == kong.CommandNode && !strings.Contains(page, ".SS "+roff("rimewatch "+n.Path())+"\n") {
				t.Errorf("no command %s", n.Path())
			}
		case *kong.Flag:
			if n.Name != "help" && !strings.Contains(page, roff("--"+n.Name)+"\n") {
				t.Errorf("no flag --%s", n.Name)
			}
		}
		return next(nil)
	})
	requests := []string{".TH", ".SH", ".SS", ".B", ".I", ".RI", ".PP", ".TP", ".nf", ".fi"}
	for line := range strings.SplitSeq(page, "\n") {
		request, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(requests, request) {
			t.Errorf("man takes %q for a request", line)
		}
	}
}

func TestRoff(t *testing.T) {
	for line, want := range map[string]string{".so x": `\&.so x`, "'a": `\&'a`, `a\b`: `a\eb`, "--data": `\-\-data`} {
		if got := roff(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
