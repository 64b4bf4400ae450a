package deadline

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

type thing struct{ Entry }

// TestPopLeavesTheRest: what was put off before it was due is not looked at while
// nothing is due.
func TestPopLeavesTheRest(t *testing.T) {
	var q Queue[*thing]
	things := make([]thing, 100)
	for i := range things {
		q.Set(&things[i], rimewatch.Time(1000+i))
	}
	for i := range things {
		q.Set(&things[i], rimewatch.Time(5000+i))
	}
	moved := func() (n int) {
		for i := range q.heap {
			if q.heap[i].at >= 5000 {
				n++
			}
		}
		return n
	}
	for _, x := range []struct {
		now  rimewatch.Time
		want int
	}{{999, 0}, {1009, 10}, {1009, 10}, {4999, 100}} {
		if item, ok := q.Pop(x.now); ok {
			t.Fatalf("at %d something is due: %v", x.now, item.Due())
		}
		if got := moved(); got != x.want {
			t.Errorf("at %d %d of them were moved to where they are due, want %d", x.now, got, x.want)
		}
	}
	for i := range things {
		if item, ok := q.Pop(5099); !ok || item != &things[i] {
			t.Fatalf("item %d is not the next", i)
		}
	}
}
