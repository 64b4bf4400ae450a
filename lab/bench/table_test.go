package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableIntoDocument(t *testing.T) {
	x := newTable([]string{"1,000", "10,000"})
	x.set("readings/s", "1,000", "≥ 2", "%dk", 7)
	x.set("only there", "10,000", "", "%.1f", 0.5)
	x.set("readings/s", "10,000", "≥ 2", "%dk", 8)
	var b strings.Builder
	if err := x.write(&b); err != nil {
		t.Fatal(err)
	}
	want := "|            | 1,000 | 10,000 | to reach |\n" +
		"|------------|------:|-------:|---------:|\n" +
		"| readings/s |    7k |     8k |      ≥ 2 |\n" +
		"| only there |       |    0.5 |          |\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	doc := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(doc, []byte("before\n<!-- growth -->\nold\n<!-- end growth -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := intoDocument(doc, want); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(doc); err != nil || string(got) != "before\n<!-- growth -->\n"+want+"<!-- end growth -->\nafter\n" {
		t.Errorf("%v: %s", err, got)
	}
	if err := os.WriteFile(doc, []byte("no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := intoDocument(doc, want); err == nil {
		t.Error("a document without marks was taken")
	}
}
