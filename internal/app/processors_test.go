package app

import "testing"

// One thread is spare where nobody has decided otherwise.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		name            string
		chosen          string
		now, processors int
		want            int
	}{
		{"two processors", "", 2, 2, 3},
		{"one processor", "", 1, 1, 2},
		{"it has been done", "", 3, 2, 3},
		{"a control group may have half of them", "", 2, 4, 2},
		{"the operator's choice, which is no other", "2", 2, 2, 2},
		{"the operator's choice", "8", 8, 2, 8},
	} {
		if got := threads(c.chosen, c.now, c.processors); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
