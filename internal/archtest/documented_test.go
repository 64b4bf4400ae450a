package archtest

import (
	"os"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestAlertTypesInUI: every alert type has its name in the UI, by which people
// also choose it where they route and silence alerts, and no other has.
func TestAlertTypesInUI(t *testing.T) {
	text, err := os.ReadFile("../../web/src/words/alert.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "const types: Record<string, string> = {")
	list, _, closed := strings.Cut(list, "}")
	if !ok || !closed {
		t.Fatal("there are no names of alert types")
	}
	for _, typ := range rimewatch.AlertTypes() {
		if n := strings.Count(list, "\n  "+string(typ)+": '"); n != 1 {
			t.Errorf("%s is named %d times", typ, n)
		}
	}
	if n := strings.Count(list, "\n  "); n != len(rimewatch.AlertTypes()) {
		t.Errorf("%d types are named, there are %d", n, len(rimewatch.AlertTypes()))
	}
}
