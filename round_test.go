package rimewatch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

// TestChecksFollowTheWallClock: around both nights in which clocks are set, in eleven zones, a window has one span on each
// of its days, which begins when the clock on the wall comes to it, holds every minute at which that shows a time of the
// window, and is never shorter than an hour or the window.
func TestChecksFollowTheWallClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, nights := dutyNights(t, rapid.SampledFrom(dutyZones).Draw(t, "zone"))
		night := rapid.SampledFrom(nights).Draw(t, "night")
		minute := rapid.OneOf(rapid.IntRange(0, 1439), rapid.SampledFrom([]int{0, 30, 60, 90, 119, 120, 121, 150, 165, 180, 225}))
		w := rimewatch.CheckWindow{Days: uint8(rapid.IntRange(1, 127).Draw(t, "days")), From: minute.Draw(t, "from"), To: minute.Draw(t, "to")}
		x := rimewatch.CheckTemplate{Windows: []rimewatch.CheckWindow{w}}
		from, to := night-60*rimewatch.Hour, night+60*rimewatch.Hour
		spans := x.Spans(from, to, zone)
		byDay := make(map[string]rimewatch.CheckSpan)
		for _, s := range spans {
			if _, twice := byDay[s.Day]; twice || s.From <= from || s.From > to {
				t.Fatalf("two spans on a day, or one outside what was asked for: %+v", spans)
			}
			byDay[s.Day] = s
		}
		length := (w.To-w.From+1439)%1440 + 1
		begins, ends := fmt.Sprintf("%02d:%02d", w.From/60, w.From%60), fmt.Sprintf("%02d:%02d", w.To/60, w.To%60)
		// The two days before the night and after it lie wholly within what was asked for.
		for at := night - 24*rimewatch.Hour; at < night+30*rimewatch.Hour; at += rimewatch.Minute {
			l := at.Std().In(zone)
			clock, day := l.Format("15:04"), time.Date(l.Year(), l.Month(), l.Day(), 12, 0, 0, 0, time.UTC)
			switch {
			case begins < ends && (clock < begins || clock >= ends), begins >= ends && clock < begins && clock >= ends:
				continue
			case begins >= ends && clock < ends: // of the day before
				day = day.AddDate(0, 0, -1)
			}
			s, there := byDay[day.Format(time.DateOnly)]
			if wanted := w.Days>>day.Weekday()&1 == 1; wanted != there {
				t.Fatalf("on %s: a span %v, wanted %v", day.Format(time.DateOnly), there, wanted)
			}
			if there && (at < s.From || at >= s.To) {
				t.Fatalf("%s shows a time of the window, which is %s to %s", l, s.From.Std().In(zone), s.To.Std().In(zone))
			}
		}
		for _, s := range spans {
			before, at := (s.From - 1).Std().In(zone).Format("2006-01-02 15:04"), s.From.Std().In(zone).Format("2006-01-02 15:04")
			if due := s.Day + " " + begins; before >= due || at < due {
				t.Fatalf("it begins at %s, after %s, and is due at %s", at, before, due)
			}
			if s.To-s.From < rimewatch.Time(min(length, 60))*rimewatch.Minute || s.To-s.From > rimewatch.Time(length+60)*rimewatch.Minute {
				t.Fatalf("a window of %d minutes lasts %s", length, s.To.Sub(s.From))
			}
		}
		cut := from + rimewatch.Time(rapid.IntRange(0, 7200).Draw(t, "cut"))*rimewatch.Minute
		if parts := append(x.Spans(from, cut, zone), x.Spans(cut, to, zone)...); !slices.Equal(parts, spans) {
			t.Fatalf("in two parts it is %+v, at once %+v", parts, spans)
		}
	})
}

// TestTemplatesThatCannotBe: windows without days, that are too short, that begin at once; categories and packs that are not known.
func TestTemplatesThatCannotBe(t *testing.T) {
	good := rimewatch.CheckTemplate{Name: "Morning", Pack: "haccp-ampm", Tell: rimewatch.TellMissed, Categories: []rimewatch.Category{rimewatch.CategoryMedical}, Windows: []rimewatch.CheckWindow{{Days: 1, From: 360, To: 600}, {Days: 2, From: 360, To: 360}}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(x *rimewatch.CheckTemplate){
		"name":      func(x *rimewatch.CheckTemplate) { x.Name = " " },
		"pack":      func(x *rimewatch.CheckTemplate) { x.Pack = "us-tx" },
		"category":  func(x *rimewatch.CheckTemplate) { x.Categories = []rimewatch.Category{"tent"} },
		"tell":      func(x *rimewatch.CheckTemplate) { x.Tell = "" },
		"no window": func(x *rimewatch.CheckTemplate) { x.Windows = nil },
		"many windows": func(x *rimewatch.CheckTemplate) {
			x.Windows = make([]rimewatch.CheckWindow, rimewatch.MaxCheckWindows+1)
		},
		"no day":       func(x *rimewatch.CheckTemplate) { x.Windows[0].Days = 0 },
		"late minute":  func(x *rimewatch.CheckTemplate) { x.Windows[0].To = 1440 },
		"short":        func(x *rimewatch.CheckTemplate) { x.Windows[0].To = 374 },
		"at once":      func(x *rimewatch.CheckTemplate) { x.Windows[1].Days = 3 },
		"many devices": func(x *rimewatch.CheckTemplate) { x.DeviceIDs = make([]int64, rimewatch.MaxCheckDevices+1) },
	} {
		x := good
		x.Windows = slices.Clone(good.Windows)
		if spoil(&x); rimewatch.CodeOf(x.Check()) != rimewatch.CodeValidationFailed {
			t.Errorf("%s: %v", name, x.Check())
		}
	}
}

// TestCheckPacks: each makes a template that can be stored, and says where it comes from and what was not read.
func TestCheckPacks(t *testing.T) {
	for _, p := range rimewatch.CheckPacks() {
		x := rimewatch.CheckTemplate{Name: p.Name, Pack: p.Slug, Categories: p.Categories, Windows: p.Windows, Ask: p.Ask, Tell: rimewatch.TellMissed}
		if err := x.Check(); err != nil {
			t.Errorf("%s: %v", p.Slug, err)
		}
		if p.Source == "" || p.Read == "" || p.Unread == "" || p.Text == "" {
			t.Errorf("%s does not say where it comes from: %+v", p.Slug, p)
		}
	}
}

// TestTemplateCovers: by category, by list, and never what has no product zone.
func TestTemplateCovers(t *testing.T) {
	medical := rimewatch.CheckTemplate{Categories: []rimewatch.Category{rimewatch.CategoryMedical}}
	listed := rimewatch.CheckTemplate{DeviceIDs: []int64{7}}
	for _, c := range []struct {
		name string
		t    rimewatch.CheckTemplate
		id   int64
		of   string
		want bool
	}{
		{"all", rimewatch.CheckTemplate{}, 1, "walkin_freezer", true},
		{"a machine without a zone", rimewatch.CheckTemplate{}, 1, "condensing_unit", false},
		{"of a category", medical, 1, "vaccine_refrigerator", true},
		{"of another one", medical, 1, "walkin_freezer", false},
		{"listed", listed, 7, "walkin_freezer", true},
		{"not listed", listed, 8, "walkin_freezer", false},
	} {
		if _, known := rimewatch.EquipmentBySlug(c.of); !known {
			t.Fatalf("%s is not a type", c.of)
		}
		if got := c.t.Covers(c.id, c.of); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
