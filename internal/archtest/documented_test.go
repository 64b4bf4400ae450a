package archtest

import (
	"os"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestAlertTypesInUI: people can choose every alert type where they route and
// silence alerts, and no other.
func TestAlertTypesInUI(t *testing.T) {
	text, err := os.ReadFile("../../web/src/pages/workspace/match.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "alertTypes: string[] = [")
	list, _, closed := strings.Cut(list, "]")
	if !ok || !closed {
		t.Fatal("there is no list of alert types")
	}
	for _, typ := range rimewatch.AlertTypes() {
		if n := strings.Count(list, "'"+string(typ)+"'"); n != 1 {
			t.Errorf("%s is listed %d times", typ, n)
		}
	}
	if n := strings.Count(list, "'") / 2; n != len(rimewatch.AlertTypes()) {
		t.Errorf("%d types are listed, there are %d", n, len(rimewatch.AlertTypes()))
	}
}
