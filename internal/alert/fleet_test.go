package alert

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

var fiveTypes = []string{"walkin_freezer", "walkin_cooler", "reach_in_cooler", "display_case_open", "vaccine_refrigerator"}

// play lets a simulated unit report for some days and gives what the rules
// made of it.
func play(t testing.TB, c *Config, cfg simulate.Config, days int) *unit {
	t.Helper()
	cfg.Start = epoch
	sim, err := simulate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	u := newUnit(t, c)
	for end := epoch + rimewatch.Time(days)*rimewatch.Day; sim.NextAt() < end; {
		r := sim.Next()
		u.advance(r.At + 250)
		r.ReceivedAt = u.now
		u.observe(r)
	}
	return u
}

func TestExplore(t *testing.T) {
	what := os.Getenv("EXPLORE")
	if what == "" {
		t.Skip()
	}
	for _, typ := range fiveTypes {
		if v := os.Getenv("TYPE"); v != "" && v != typ {
			continue
		}
		seeds, _ := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64)
		for seed := uint64(1); seed <= max(2, seeds); seed++ {
			cfg := simulate.Config{Equipment: typ, Seed: seed}
			days := 30
			if what != "healthy" {
				f, err := simulate.ParseFault(what)
				if err != nil {
					t.Fatal(err)
				}
				f.Onset = epoch + 8*rimewatch.Day
				cfg.Faults = []simulate.Fault{f}
				days = 12
				if f.Ramp > 0 {
					days = 8 + int(f.Ramp.Hours()/24) + 4
				}
			}
			c := configOf(typ)
			c.Rules = AllRules
			u := play(t, c, cfg, days)
			t.Logf("== %s %s seed %d", what, typ, seed)
			if os.Getenv("STATE") != "" {
				t.Logf("gap %.0f hi %.2f lo %.2f duty %v dev %v base w %.0f y %.1f x %.1f hump %.0f n %d volts %.0f starts %d (%.1f) lens %v (%.1f)", u.s.gap, u.s.run.hi, u.s.run.lo, u.s.win.shares, u.s.win.dev, u.s.base.w, u.s.base.y, u.s.base.x, u.s.melt.usual, u.s.melt.learnt, u.s.volts.value, u.s.run.startsPerHour(), u.s.run.usualStart, u.s.run.lens, u.s.run.usualRun)
			}
			if os.Getenv("FULL") == "" {
				t.Log(digest(u.log))
				continue
			}
			for _, l := range u.log {
				d := l.At.Sub(epoch + 8*rimewatch.Day)
				if what == "healthy" {
					d = l.At.Sub(epoch)
				}
				t.Logf("   %9s %-11s %-28s %-8s %s %.5g peak %.5g limit %.5g occ %d %v", duration(max(d, -d)), l.Kind, l.Type, l.Severity, l.Metric, l.Value, l.Peak, l.Threshold, l.Occurrences, l.Flapping)
			}
		}
	}
}

// digest is one line per alert type: when it first opened after the onset of a
// fault on day 8, its worst severity, and how often it opened.
func digest(log []Transition) string {
	var b strings.Builder
	var types []rimewatch.AlertType
	first, count, worst := map[rimewatch.AlertType]rimewatch.Time{}, map[rimewatch.AlertType]int{}, map[rimewatch.AlertType]string{}
	for _, l := range log {
		if l.Kind == Opened {
			if count[l.Type]++; count[l.Type] == 1 {
				first[l.Type] = l.At
				types = append(types, l.Type)
			}
		}
		if l.Severity == rimewatch.Critical {
			at := ""
			if worst[l.Type] == "" {
				at = duration(l.At.Sub(epoch + 8*rimewatch.Day))
				worst[l.Type] = " critical " + at
			}
		}
	}
	for _, t := range types {
		fmt.Fprintf(&b, "\n      %-28s %9s x%d%s", t, duration(first[t].Sub(epoch+8*rimewatch.Day)), count[t], worst[t])
	}
	return b.String()
}
