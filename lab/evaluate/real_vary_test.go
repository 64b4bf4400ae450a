package evaluate

import (
	"math"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// fridge is a household unit of which only the current was recorded: two weeks, twice a
// minute, 12 minutes of every 50.
func fridge() (list []rimewatch.Reading) {
	for at := rimewatch.Time(0); at < 14*rimewatch.Day; at += 30 * rimewatch.Second {
		r := rimewatch.Reading{At: at + 400*rimewatch.Day, ReceivedAt: at + 400*rimewatch.Day}
		v := 0.0
		if at%(50*rimewatch.Minute) < 12*rimewatch.Minute {
			v = 0.5 + 0.005*math.Sin(float64(at))
		}
		r.Set(rimewatch.AmpDraw, v)
		list = append(list, r)
	}
	return list
}

// TestVariations: each changes what it says, leaves the recording as it is and is the same
// each time.
func TestVariations(t *testing.T) {
	list := fridge()
	was := list[7]
	gap := func(l []rimewatch.Reading) rimewatch.Time { return l[11].At - l[10].At }
	if got := gap(resampled(2 * rimewatch.Minute)(list)); got != 2*rimewatch.Minute {
		t.Errorf("every 2 min: %d ms apart", got)
	}
	if got := gap(paced(1.5)(list)); got != 45*rimewatch.Second {
		t.Errorf("slower: %d ms apart", got)
	}
	if n := len(thinned(0.25)(list)); n < 30000 || n > 30500 {
		t.Errorf("a quarter lost: %d of %d are left", n, len(list))
	}
	if by := later(rimewatch.Hour)(list)[3].At - list[3].At; by != rimewatch.Hour {
		t.Errorf("later by %d ms", by)
	}
	if v := scaledTo(0.2, 0.05)(list)[3].Values[rimewatch.AmpDraw]; v != 0.2 {
		t.Errorf("scaled to 0.2 A: %v", v)
	}
	for _, vary := range ampsVariations {
		a, b := vary.make(list), vary.make(list)
		for i := range a {
			if a[i].At != b[i].At || a[i].Values != b[i].Values {
				t.Errorf("%s: differs from time to time", vary.name)
				break
			}
		}
	}
	if list[7].At != was.At || list[7].Values != was.Values {
		t.Error("the recording was changed")
	}
}

// TestVaryReal: a unit that is like the one recorded learns in every variation, and one that
// is switched off after two days in none.
func TestVaryReal(t *testing.T) {
	var b strings.Builder
	list := fridge()
	varyReal("fridge", "undercounter_cooler", list, &b)
	varyReal("short", "undercounter_cooler", list[:2*24*120], &b)
	want := "| fridge | undercounter_cooler | 17 | nothing | 17 of 17 | 0 in 0 |\n| short | undercounter_cooler | 17 | nothing | 0 of 17 | 0 in 0 |\n"
	if b.String() != want {
		t.Errorf("printed\n%swant\n%s", b.String(), want)
	}
}
