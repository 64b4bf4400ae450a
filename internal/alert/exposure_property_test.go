package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

// adding is what is promised of time beyond a limit that adds up, by definition: it
// keeps every reading and adds up anew at each moment.
type adding struct {
	every     rimewatch.Time // between two readings, as a rule
	low       bool
	limits    rimewatch.Limits
	tcs       bool
	at, came  []rimewatch.Time
	warn      []bool // beyond the warning limit
	crit      []bool
	opens     []bool           // an alert may open on it: it is the last that came together, and no late one
	counted   []bool           // it was not late
	anew      []rimewatch.Time // the windows began anew: an edit, a person's resolve, an all-clear
	void      rimewatch.Time   // an edit: nothing before it counts
	muted     rimewatch.Time   // a person resolved
	untouched bool             // nobody edited anything
	due       []claim
}

// claim is an alert, or a critical one, that has to be there between two moments.
type claim struct {
	from, to rimewatch.Time
	critical bool
	why      string
}

func (o *adding) delays() (warn, crit rimewatch.Time) {
	l := &o.limits
	warn, crit = seconds(l.DelayS), seconds(l.CriticalDelayS)
	if o.low {
		warn = seconds(l.LowDelayS)
		crit = min(crit, warn, 10*minute)
	}
	return warn, crit
}

// sum is for how long readings were beyond a limit within [from, to]. A reading counts
// until the next, for most at most; with late ones too, until the next is known.
func (o *adding) sum(beyond []bool, from, to, most rimewatch.Time, late bool) (sum rimewatch.Time) {
	end := to
	for i := len(o.at) - 1; i >= 0; i-- {
		if !late && !o.counted[i] {
			continue
		}
		if beyond[i] {
			sum += max(0, min(end, o.at[i]+most, to)-max(from, o.at[i]))
		}
		if end = min(end, o.at[i]); late {
			end = min(max(end, o.came[i]), to)
		}
		if end+most < from {
			break
		}
	}
	return sum
}

// read takes a reading that has come, in the order of its time.
func (o *adding) read(at, came rimewatch.Time, v float64, opens, late bool) {
	l := &o.limits
	warn, crit := l.TempMax != nil && v > *l.TempMax, l.CriticalMax != nil && v > *l.CriticalMax
	if o.low {
		warn, crit = l.TempMin != nil && v < *l.TempMin, l.CriticalMin != nil && v < *l.CriticalMin
	}
	i, _ := slices.BinarySearch(o.at, at)
	o.at, o.came = slices.Insert(o.at, i, at), slices.Insert(o.came, i, came)
	o.warn, o.crit = slices.Insert(o.warn, i, warn), slices.Insert(o.crit, i, crit)
	o.counted = slices.Insert(o.counted, i, !late)
	o.opens = slices.Insert(o.opens, i, opens && !late)
}

// demand notes what has to follow from the newest reading, with alert there or not.
func (o *adding) demand(active bool) {
	i := len(o.at) - 1
	at := o.at[i]
	warn, crit := o.delays()
	since := func(d rimewatch.Time) rimewatch.Time {
		from := max(at-2*d, o.void)
		for _, t := range o.anew {
			from = max(from, t)
		}
		return from
	}
	most := min(2*o.every, 2*hour)
	due := func(beyond []bool, d, from, respect rimewatch.Time, critical bool, why string) {
		alone := i == 0 || !beyond[i-1] || !o.counted[i-1]
		if o.every >= 30*minute && !o.low && alone {
			return // of a logger this slow, one reading alone waits for the next
		}
		if d > 0 && beyond[i] && o.opens[i] && o.sum(beyond, from, at, most, false) >= d && (o.muted == 0 || at >= o.muted+respect) {
			o.due = append(o.due, claim{at, at + d/2 + o.every, critical, why})
		}
	}
	due(o.warn, warn, since(warn), reopenWarning, false, "the delay adds up")
	due(o.crit, crit, since(crit), reopenCritical, true, "the critical delay adds up")
	if o.tcs && active {
		due(o.warn, 2*hour, max(at-4*hour, o.void), reopenCritical, true, "two hours of four")
	}
}

// silent reports whether nothing may open: every window of twice a delay holds less than
// nine tenths of it, and every day what it may.
func (o *adding) silent(end rimewatch.Time) bool {
	warn, crit := o.delays()
	if o.tcs {
		warn = min(warn, 2*hour)
	}
	for _, at := range append(slices.Clone(o.at), end) {
		for _, w := range [...]struct {
			beyond []bool
			delay  rimewatch.Time
		}{{o.warn, warn}, {o.crit, crit}} {
			if slices.Contains(w.beyond, true) && 10*o.sum(w.beyond, at-2*w.delay, at, rimewatch.Day, true) >= 9*w.delay {
				return false
			}
		}
		day, beyond := o.limits.ExposureMinPerDay.Warm, o.warn
		if o.low {
			day, beyond = o.limits.ExposureMinPerDay.Cold, o.crit
		}
		if day != nil && o.sum(beyond, at-rimewatch.Day, at, rimewatch.Day, true) >= minutes(*day) {
			return false
		}
	}
	return true
}

// unmet is the first demand that no alert of the log meets.
func (o *adding) unmet(log []Transition, typ rimewatch.AlertType, end rimewatch.Time) *claim {
	type state struct {
		at               rimewatch.Time
		active, critical bool
	}
	states := []state{{}}
	for _, t := range log {
		if t.Type == typ {
			states = append(states, state{t.At, t.Kind != rimewatch.TransitionResolved, t.Kind != rimewatch.TransitionResolved && t.Severity == rimewatch.Critical})
		}
	}
	met := func(c *claim) bool {
		for i, s := range states {
			until := never
			if i+1 < len(states) {
				until = states[i+1].at
			}
			if s.at <= c.to && until >= c.from && s.active && (s.critical || !c.critical) {
				return true
			}
		}
		return false
	}
	for i := range o.due {
		if c := &o.due[i]; c.to <= end && !met(c) {
			return c
		}
	}
	return nil
}

// around shows the readings before a demand.
func (o *adding) around(c *claim) string {
	var b strings.Builder
	warn, crit := o.delays()
	fmt.Fprintf(&b, "delays of %d and %d s, sampled every %d s, anew %d, muted %s:", warn/second, crit/second, o.every/second, len(o.anew), short(o.muted))
	for i, at := range o.at {
		if at >= c.from-2*max(warn, crit)-hour && at <= c.to {
			fmt.Fprintf(&b, " %s:%d", short(at), map[bool]int{true: 1}[o.warn[i]]+map[bool]int{true: 1}[o.crit[i]])
		}
	}
	return b.String()
}

// course draws the temperatures of a unit around its limit: cycles, and single readings
// that stray.
type course struct {
	in, out        float64
	period, beyond int // readings
	most           int // readings beyond in a row, and two fifths of all; 0 = as it comes
	stray          int // of a hundred
	left, k        int
}

func (c *course) next(t *rapid.T, warn, crit, sign float64) float64 {
	if c.left == 0 {
		c.left = rapid.IntRange(5, 150).Draw(t, "readings")
		c.period = rapid.IntRange(2, 40).Draw(t, "period")
		c.beyond = rapid.IntRange(0, c.period).Draw(t, "beyond")
		if c.most > 0 {
			c.beyond = min(c.beyond, c.most, c.period*2/5)
		}
		c.stray = rapid.SampledFrom([]int{0, 0, 3, 20}).Draw(t, "stray")
		c.in = warn - sign*rapid.SampledFrom([]float64{0, 0.2, 2}).Draw(t, "within")
		c.out = rapid.SampledFrom([]float64{warn + sign*0.3, crit + sign*0.5}).Draw(t, "outside")
	}
	c.left--
	c.k++
	out := c.k%c.period < c.beyond
	if c.stray > 0 && rapid.IntRange(0, 99).Draw(t, "strays") < c.stray {
		out = !out
	}
	if out {
		return round(c.out)
	}
	return round(c.in)
}

// TestExposureByDefinition draws units around a limit that are sampled every 10 s to 60
// min, with gaps, backlogs, late readings, restarts, edits, maintenance and people who
// resolve: as soon as the time beyond adds up to a delay within twice of it, and a reading
// is beyond, an alert is there within half a delay and a sample; one whose every window
// holds less than nine tenths has none.
func TestExposureByDefinition(t *testing.T) {
	quiet, claims := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		u, o := drawExposed(t)
		typ := map[bool]rimewatch.AlertType{false: rimewatch.HighTemperature, true: rimewatch.LowTemperature}[o.low]
		liveExposed(t, u, o, typ)
		claims += len(o.due)
		if c := o.unmet(u.log, typ, u.now); c != nil {
			t.Fatalf("%s at %s, and no alert (critical: %v) until %s:\n%s\n%s", c.why, short(c.from), c.critical, short(c.to), o.around(c), strings.Join(summary(u.log), "\n"))
		}
		if !o.untouched || !o.silent(u.now) {
			return
		}
		quiet++
		for _, tr := range u.log {
			if tr.Type == typ {
				t.Fatalf("nothing adds up, and yet: %s\n%s", summary([]Transition{tr})[0], o.around(&claim{from: tr.At, to: tr.At}))
			}
		}
	})
	if !t.Failed() && (quiet == 0 || claims == 0) {
		t.Errorf("%d courses had to be silent and %d alerts to come, want some of each", quiet, claims)
	}
	t.Logf("%d courses had to be silent, %d times an alert had to be there", quiet, claims)
}

func drawExposed(t *rapid.T) (*device, *adding) {
	c := configOf(rapid.SampledFrom([]string{"walkin_freezer", "walkin_cooler", "vaccine_refrigerator", "milk_cooler"}).Draw(t, "type"))
	o := &adding{
		every:     rapid.SampledFrom([]rimewatch.Time{10 * second, minute, 5 * minute, 10 * minute, 30 * minute, hour}).Draw(t, "sampled every"),
		low:       rapid.Bool().Draw(t, "low"),
		tcs:       c.Equipment.TCS,
		untouched: true,
	}
	l := &c.Limits
	if critical := *l.TempMin - 1.5; l.CriticalMin == nil {
		l.CriticalMin = &critical
	}
	if rapid.Bool().Draw(t, "own delays") {
		own := func(name string) int {
			return int(min(rimewatch.Day, o.every*rimewatch.Time(rapid.IntRange(1, 40).Draw(t, name))) / second)
		}
		l.DelayS, l.LowDelayS, l.CriticalDelayS = own("delay"), own("low delay"), own("critical delay")
	}
	o.limits = *l
	u := newDevice(t, c)
	u.p.OfflineAfter = max(3*time.Minute, time.Duration(3*o.every)*time.Millisecond)
	return u, o
}

func liveExposed(t *rapid.T, u *device, o *adding, typ rimewatch.AlertType) {
	c := &course{}
	if warn, crit := o.delays(); rapid.Bool().Draw(t, "gentle") {
		c.most = max(1, int(min(warn, crit)*4/5/o.every))
	}
	var waiting []rimewatch.Reading // of a backlog
	readings := rapid.IntRange(50, 600).Draw(t, "all")
	sign, at := 1.0, u.now
	if o.low {
		sign = -1
	}
	seen := 0
	follow := func() { // what the log says of all-clears
		for ; seen < len(u.log); seen++ {
			if tr := &u.log[seen]; tr.Type == typ && tr.Kind == rimewatch.TransitionResolved {
				o.anew = append(o.anew, tr.At)
			}
		}
	}
	warn := func() (float64, float64) {
		if o.low {
			return *o.limits.TempMin, *o.limits.CriticalMin
		}
		return *o.limits.TempMax, *o.limits.CriticalMax
	}
	for range readings {
		at += o.every
		w, x := warn()
		v := c.next(t, w, x, sign)
		u.advance(at)
		follow()
		u.reload = rapid.IntRange(0, 19).Draw(t, "restart") == 0
		waiting = append(waiting, zoneReading(at, v))
		switch rapid.IntRange(0, 60).Draw(t, "happens") {
		case 0: // a gap
			at += o.every * rimewatch.Time(rapid.IntRange(1, 20).Draw(t, "gap"))
		case 1, 2: // a backlog gathers
			if len(waiting) < 10 {
				continue
			}
		case 3: // somebody edits the limits
			if len(waiting) == 1 && c.most == 0 && rapid.Bool().Draw(t, "edits") {
				u.edit("delay", pickText(rapid.IntRange(0, 1).Draw(t, "to"), "1800", "3600"))
				o.limits, o.untouched, o.void = u.c.Limits, false, u.now
				u.advance(u.now)
			}
		case 4: // maintenance is over
			u.log = u.s.Relearn(u.c, u.p, &u.s.unit, u.now, u.log)
			u.s.unit.Relearn(rimewatch.RelearnMaintenance, u.now)
		case 5: // a person resolves
			if u.s.isActive(map[bool]rule{false: ruleHigh, true: ruleLow}[o.low]) {
				u.s.Resolved(u.c, &u.s.unit, typ, "", u.now)
				u.log = append(u.log, Transition{Kind: rimewatch.TransitionResolved, Type: typ, At: u.now})
				o.muted = u.now
			}
		}
		for i := range waiting {
			o.read(waiting[i].At, u.now, waiting[i].Values[rimewatch.ProductZoneTemp], i == len(waiting)-1, false)
		}
		u.observe(waiting...)
		waiting = waiting[:0]
		follow()
		o.demand(u.s.isActive(map[bool]rule{false: ruleHigh, true: ruleLow}[o.low]))
		if rapid.IntRange(0, 30).Draw(t, "late") == 0 && len(o.at) > 3 {
			then := o.at[len(o.at)-2] + o.every/2
			if then < u.now {
				o.read(then, u.now, c.out, false, true)
				u.observe(zoneReading(then, c.out))
			}
		}
	}
	u.advance(at + o.every)
	follow()
}

func pickText(i int, of ...string) string { return of[i] }
