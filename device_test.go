package rimewatch_test

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

func TestValidSerial(t *testing.T) {
	for s, want := range map[string]bool{
		"WIF-0001": true, "a": true, "A.b_c:d-9": true, "...": true, strings.Repeat("x", 64): true,
		"": false, ".": false, "..": false, strings.Repeat("x", 65): false, "a b": false, "a/b": false, "ü": false, "a\x00": false, "%2e": false,
	} {
		if got := rimewatch.ValidSerial(s); got != want {
			t.Errorf("ValidSerial(%q) = %v", s, got)
		}
	}
}
