package predict

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// TestLeadIsNeverSure: a trend without any scatter says when a usual unit would fail,
// not when this one does.
func TestLeadIsNeverSure(t *testing.T) {
	var h history
	for i := range historyLen {
		h.put(unit.Discharge, i, int16(historyUnit*i/unit.WindowsADay/4)) // a quarter of its floor a day
	}
	h.n = historyLen
	now, perDay := h.back(unit.Discharge, 0), unit.Discharge.Floor()/4
	l, ok := h.leadTime([]limit{{unit.Discharge, now + 8*perDay}}, historyLen)
	if !ok || l.h < 7*24 || l.h > 9*24 {
		t.Fatalf("lead %.1f h, %v, want about eight days", l.h, ok)
	}
	if l.lo > l.h/2 || l.hi < 2*l.h || l.hi >= openEnd*l.h {
		t.Errorf("between %.1f and %.1f h, want from half of %.1f to twice as much, and an end", l.lo, l.hi, l.h)
	}
}

// TestIceSpeedsUp: of two faults with the same trend and end the one that ices up ends
// sooner than a straight line says.
func TestIceSpeedsUp(t *testing.T) {
	var u unit.State
	s := State{alarm: alarm{since: state.StampOf(testStart)}}
	for i := range historyLen {
		s.hist.put(unit.Amps, i, int16(-historyUnit*i/unit.WindowsADay/8)) // an eighth of its floor a day
	}
	s.hist.n = historyLen
	straight, ok := s.hist.leadTime(faults[fiIcing].ends, historyLen)
	s.take(&u, &diagnosis{first: fiIcing, score: 1}, &findings{}, testStart+historyLen*unit.WindowLength)
	if !ok || !s.alarm.hasLead || s.alarm.lead.h != straight.h/2 || s.alarm.lead.lo > straight.h/4 || s.alarm.lead.hi < straight.hi {
		t.Errorf("%v, want half of %v and as far above", s.alarm.lead, straight)
	}
}

// TestLeapt asks how much of a departure came within a day: of a fan that failed all of
// it, for as long as the days before are kept; of dirt, and of a warm noon, little.
func TestLeapt(t *testing.T) {
	noon := func(i int) float64 { return []float64{0, 0, 2, 1}[i%unit.WindowsADay] }
	for _, tc := range []struct {
		name    string
		at      func(window int) float64
		windows int
		lo, hi  float64
	}{
		{"a fan that failed a day ago", func(i int) float64 { return map[bool]float64{true: 14}[i >= 30] + noon(i) }, 35, .8, 1},
		{"a fan that failed eight days ago", func(i int) float64 { return map[bool]float64{true: 14}[i >= 30] + noon(i) }, 62, .8, 1},
		{"a fan that failed before what is kept", func(i int) float64 { return 14 + noon(i) }, 62, 0, .2},
		{"dirt of three weeks", func(i int) float64 { return float64(i)*12/84 + noon(i) }, 84, 0, .2},
		{"dirt since the first window that is kept", func(i int) float64 { return float64(i)*12/84 + noon(i) }, 20, 0, .5},
		{"nothing was there before", func(int) float64 { return 14 }, 3, 0, 0},
	} {
		var h history
		for i := range tc.windows {
			h.put(unit.Discharge, int(h.next), int16(tc.at(i)/unit.Discharge.Floor()*historyUnit))
			h.next, h.n = (h.next+1)%historyLen, min(h.n+1, historyLen)
		}
		if got := h.leapt(unit.Discharge, h.back(unit.Discharge, 0)); got < tc.lo || got > tc.hi {
			t.Errorf("%s: %.2f came within a day, want %v to %v", tc.name, got, tc.lo, tc.hi)
		}
	}
}
