package rimewatch_test

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestPartition pins the assignment: it is stored by several nodes and must
// never change.
func TestPartition(t *testing.T) {
	for _, c := range []struct {
		workspace, device int64
		want              int
	}{{1, 1, 581}, {1, 2, 102}, {2, 1, 710}, {1 << 40, 1<<62 + 7, 1021}} {
		if got := rimewatch.Partition(c.workspace, c.device); got != c.want {
			t.Errorf("Partition(%d, %d) = %d, want %d", c.workspace, c.device, got, c.want)
		}
	}
	var counts [rimewatch.NumPartitions]int
	for d := range int64(100 * rimewatch.NumPartitions) {
		counts[rimewatch.Partition(1, d)]++
	}
	for p, n := range counts {
		if n < 50 || n > 160 {
			t.Errorf("partition %d has %d of %d devices", p, n, 100*rimewatch.NumPartitions)
		}
	}
}

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
