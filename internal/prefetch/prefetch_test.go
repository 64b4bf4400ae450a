package prefetch_test

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/prefetch"
)

// What is asked for stays as it is, and what is not there is no fault.
func TestAnyAddress(t *testing.T) {
	type thing struct{ words [200]int }
	things := make([]thing, 50)
	for i := range things {
		things[i].words[i] = i
		prefetch.Of(&things[i])
	}
	prefetch.Of[thing](nil)
	prefetch.Text("")
	prefetch.Text("some text")
	for i := range things {
		for k, v := range things[i].words {
			if want := map[bool]int{true: i}[k == i]; v != want {
				t.Errorf("word %d of %d is %d, want %d", k, i, v, want)
			}
		}
	}
}
