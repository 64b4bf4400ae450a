package app

import "testing"

// One thread is spare where nobody has decided otherwise.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		name                    string
		chosen, now, processors int
		want                    int
	}{
		{"two processors", 0, 2, 2, 3},
		{"one processor", 0, 1, 1, 2},
		{"it has been done", 0, 3, 2, 3},
		{"a control group may have half of them", 0, 2, 4, 2},
		{"as many as there are, by the flag", 2, 2, 2, 2},
		{"more, by the flag", 8, 2, 2, 8},
		{"more, by GOMAXPROCS", 0, 8, 2, 8},
	} {
		if got := threads(c.chosen, c.now, c.processors); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
