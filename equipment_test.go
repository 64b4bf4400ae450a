package rimewatch_test

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestShortRunGrace: with one delay it is as docs/records.md says.
func TestShortRunGrace(t *testing.T) {
	for slug, want := range map[string]rimewatch.Time{"walkin_freezer": 220, "walkin_cooler": 165, "display_case_open": 240, "vaccine_refrigerator": 39, "blood_refrigerator": 30, "other": 180} {
		e, _ := rimewatch.EquipmentBySlug(slug)
		if got := e.ShortRunGrace() + rimewatch.Time(e.Limits.DelayS)*rimewatch.Second; got != want*rimewatch.Minute {
			t.Errorf("%s: %d min, want %d", slug, got/rimewatch.Minute, want)
		}
	}
}

func TestNearestEquipment(t *testing.T) {
	for text, want := range map[string]string{
		"walkin_coolr": "walkin_cooler", "Walk-in Freezer": "walkin_freezer", "walk in cooler": "walkin_cooler", "icecream_cabinet": "ice_cream_cabinet",
		"vacine_fridge": "", "xyz": "", "": "", "fishcooler": "fish_cooler", "ult": "",
	} {
		got := ""
		if e := rimewatch.NearestEquipment(text); e != nil {
			got = e.Slug
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"kitten", "sitting", 3}, {"humidity", "humidty", 1}, {"power", "powerw", 1}, {"abc", "", 3}, {"x", long, 99}} {
		if got := rimewatch.EditDistance(c.a, c.b); got != c.want {
			t.Errorf("the distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
