package apply_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/apply"
)

// TestDocumentedFile: the file of the documentation is one.
func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\nrimewatch: 1")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the page has no file")
	}
	f, err := apply.Read([]byte("rimewatch: 1"+text), func(string) (string, bool) { return "x", true })
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Devices) != 1 || len(f.Routes) != 2 {
		t.Errorf("%d devices, %d routes", len(f.Devices), len(f.Routes))
	}
}
