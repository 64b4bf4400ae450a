package alert

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// oracle is what the contract promises of one side of the product zone, by
// definition instead of by clocks: it keeps the whole history and asks of every
// moment what has held for how long. The device is always online.
type oracle struct {
	low, defrosts            bool
	warn, crit               float64
	hasCrit                  bool
	delay, critDelay, clear  rimewatch.Time
	next                     rimewatch.Time // when the next reading is overdue
	seldom                   bool           // a defrost may be over by then
	oddAt                    rimewatch.Time // of the temperature that no zone can have come to and that nothing followed, 0 = there is none
	odd                      float64
	judged                   rimewatch.Time // up to here
	interval, heard          rimewatch.Time // of the readings, and of the newest of any kind
	counts, again            rimewatch.Time // what was beyond its limit before counts from here: most of it passed unseen, until again
	delta                    float64
	tcs                      bool
	times                    []rimewatch.Time
	values                   []float64
	active, critical, byTime bool
	resolved                 rimewatch.Time // when the last alert ended
	muted, flapping          bool
	flaps                    int
	log                      []string
}

// measuredBy takes how seldom the device measures.
func (o *oracle) measuredBy(u *device) {
	o.interval = u.s.unit.Interval()
	o.next, o.seldom = o.interval*3/2, unit.Seldom(&u.s.unit)
}

// waits is for how long a warning that one reading alone shows waits for the next one: until it
// is overdue, where readings are frequent for ten minutes more than its delay at most. One
// without a delay waits where a defrost may be over by then.
func (o *oracle) waits() rimewatch.Time {
	if o.delay == 0 && !(o.seldom && o.defrosts && !o.low) {
		return 0
	}
	if o.interval <= 10*minute {
		return max(o.delay, min(o.next, o.delay+10*minute))
	}
	return max(o.delay, o.next)
}

func (o *oracle) beyond(limit, v float64) bool {
	if o.low {
		return v < limit
	}
	return v > limit
}

func (o *oracle) past(limit, v float64) bool {
	if o.low {
		return v >= limit+o.delta-1e-9
	}
	return v <= limit-o.delta+1e-9
}

// since is the start of the unbroken run of readings up to now that satisfy
// holds; never when the newest does not.
func (o *oracle) since(holds func(v float64) bool) rimewatch.Time {
	start := never
	for i := len(o.values) - 1; i >= 0 && holds(o.values[i]); i-- {
		start = o.times[i]
	}
	return start
}

// warm is the start of the present run beyond the limit, as far as it counts.
func (o *oracle) warm() rimewatch.Time {
	start := o.since(func(v float64) bool { return o.beyond(o.warn, v) })
	return max(start, o.counts)
}

func (o *oracle) held(holds func(v float64) bool, d, t rimewatch.Time) bool {
	s := o.since(holds)
	return s != never && s+d <= t
}

// at judges the moment t and reports whether something changed.
func (o *oracle) at(t rimewatch.Time) bool {
	warm := o.warm()
	warns := func(d rimewatch.Time) bool { return warm != never && warm+d <= t }
	isCrit := func(v float64) bool { return o.beyond(o.crit, v) }
	clear := o.clear
	if o.flapping {
		clear = max(clear, flapQuiet)
	}
	lasted := o.tcs && warns(tcsCritical)
	critDelay := o.critDelay
	delay, newest := o.delay, o.times[len(o.times)-1]
	if o.hasCrit && !o.low && o.seldom && o.since(isCrit) == newest { // one reading alone
		critDelay = max(critDelay, o.next)
	}
	if warm == newest {
		delay = o.waits()
	}
	severe := lasted || o.hasCrit && o.held(isCrit, critDelay, t)
	past := func(v float64) bool { return o.past(o.warn, v) }
	if clear > 0 && o.since(past) == newest { // an end that one reading alone shows waits, too
		clear = max(clear, o.next)
	}
	eased, ease := func(v float64) bool { return o.past(o.crit, v) }, o.clear
	if ease > 0 && o.since(eased) == newest {
		ease = max(ease, o.next)
	}
	if o.flapping {
		ease = max(ease, flapWindow)
	}
	cleared := o.held(past, clear, t)
	switch {
	case !o.active:
		if o.muted && (t < o.resolved+reopenCritical || !severe && t < o.resolved+reopenWarning) {
			return false
		}
		if !severe && !warns(delay) {
			return false
		}
		o.flaps = map[bool]int{true: min(o.flaps+1, flapLimit)}[o.resolved != 0 && !o.muted && warm-o.resolved < flapWindow]
		o.active, o.critical, o.byTime, o.muted, o.flapping = true, severe, lasted, false, o.flaps >= flapLimit
		o.note(t, rimewatch.TransitionOpened)
	case cleared:
		o.note(t, rimewatch.TransitionResolved)
		o.active, o.critical, o.byTime, o.flapping, o.resolved = false, false, false, false, t
	case !o.critical && severe:
		o.critical, o.byTime = true, lasted
		o.note(t, rimewatch.TransitionEscalated)
	case o.critical && !o.byTime && lasted:
		o.byTime = true
	case o.critical && !o.byTime && o.held(eased, ease, t):
		o.critical = false
		o.note(t, rimewatch.TransitionDeescalated)
	default:
		return false
	}
	return true
}

func (o *oracle) note(t rimewatch.Time, k rimewatch.TransitionKind) {
	s := rimewatch.Warning
	if o.critical {
		s = rimewatch.Critical
	}
	o.log = append(o.log, fmt.Sprintf("%s %s %s %v", short(t), k, s, o.flapping))
}

// settled reports whether the device has been there for long enough for a reading to be odd.
func settled(u *device) bool {
	born, _ := u.s.unit.LearningSince()
	return u.now-born >= hour
}

// until judges every moment up to to at which anything could change. What no zone can have come to
// counts after ten minutes without another temperature.
func (o *oracle) until(to rimewatch.Time) {
	if due := o.oddAt + 10*minute; o.oddAt != 0 && due <= to {
		o.judge(due - 1)
		o.take(o.oddAt, o.odd, due)
	}
	o.judge(to)
}

// judge judges every moment up to to that was not before: what is waited for may be another time
// since the newest reading.
func (o *oracle) judge(to rimewatch.Time) {
	var moments []rimewatch.Time
	for _, t := range o.times {
		for _, d := range []rimewatch.Time{o.delay, o.critDelay, o.waits(), o.next, o.clear, tcsCritical, flapQuiet, flapWindow} {
			moments = append(moments, t+d)
		}
	}
	moments = append(moments, o.resolved+reopenWarning, o.resolved+reopenCritical, o.counts+o.delay, o.counts+tcsCritical)
	slices.Sort(moments)
	for _, t := range moments {
		if t >= o.times[len(o.times)-1] && t <= to {
			for o.at(max(t, o.judged)) {
			}
		}
	}
	o.judged = to
}

func (o *oracle) read(t rimewatch.Time, v float64) {
	// Of the past only the present run matters.
	if n := len(o.times); n > 400 {
		o.times, o.values = o.times[n-300:], o.values[n-300:]
	}
	o.times, o.values, o.oddAt = append(o.times, t), append(o.values, v), 0
	if gap := t - o.heard; o.tcs && !o.critical && gap > max(tcsCritical/2, 3*o.interval) && o.heard-o.warm() < o.delay && (o.active || o.delay <= tcsCritical/2) && o.warm() < t-tcsCritical/2 && !(o.hasCrit && o.beyond(o.crit, v)) {
		o.counts, o.again = t-tcsCritical/2, t
	}
	o.heard = t
	o.hold(v, t)
}

// take has a temperature of t count that is known to at now.
func (o *oracle) take(t rimewatch.Time, v float64, now rimewatch.Time) {
	o.times, o.values, o.oddAt = append(o.times, t), append(o.values, v), 0
	o.hold(v, now)
}

func (o *oracle) hold(v float64, now rimewatch.Time) {
	if o.past(o.warn, v) {
		o.muted = false
	}
	for o.at(now) {
	}
}

// late takes a late reading within the limit: the silence that it was measured in was no run.
func (o *oracle) late(t rimewatch.Time) {
	if o.warm() == o.counts && o.counts <= t && t < o.again {
		o.counts = o.again
	}
}

func (o *oracle) manual(t rimewatch.Time) {
	if o.active {
		o.muted = o.beyond(o.warn, o.values[len(o.values)-1])
		o.active, o.critical, o.byTime, o.flapping, o.resolved = false, false, false, false, t
	}
}

// TestTemperatureByDefinition is about a condition that lasts; what adds up is
// TestExposureByDefinition's. It lives some weeks of a random unit with gaps, nulls,
// single readings that no zone can show, late readings, duplicates, manual resolves and restarts, and compares every
// transition with the oracle's.
func TestTemperatureByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := configOf(rapid.SampledFrom([]string{"walkin_freezer", "walkin_cooler", "vaccine_refrigerator", "beverage_cooler", "milk_cooler"}).Draw(t, "type"))
		l := &c.Limits
		if rapid.Bool().Draw(t, "own limits") {
			span := rapid.SampledFrom([]int{0, 60, 600, 1800, 3600, 5400, 10800})
			l.DelayS, l.LowDelayS, l.CriticalDelayS = span.Draw(t, "delay"), span.Draw(t, "low delay"), span.Draw(t, "critical delay")
			l.ClearS = span.Draw(t, "clear")
			critical := *l.TempMin - 1.5
			l.CriticalMin = &critical
		}
		low := rapid.Bool().Draw(t, "low")
		o := &oracle{
			low: low, defrosts: c.Equipment.Defrost.MaxMin > 0, warn: *l.TempMax, delay: seconds(l.DelayS), critDelay: seconds(l.CriticalDelayS), clear: seconds(l.ClearS), delta: l.ClearDelta, tcs: c.Equipment.TCS,
		}
		limit := l.CriticalMax
		if low {
			limit = l.CriticalMin
			o.warn, o.delay = *l.TempMin, seconds(l.LowDelayS)
			o.critDelay = min(o.critDelay, o.delay, 10*minute)
		}
		if o.hasCrit = limit != nil; o.hasCrit {
			o.crit = *limit
		}
		u := newDevice(t, c)
		u.forgetful = true
		typ := map[bool]rimewatch.AlertType{false: rimewatch.HighTemperature, true: rimewatch.LowTemperature}[low]
		end := epoch + 21*rimewatch.Day
		v, odd := o.warn, rimewatch.Time(0)
		for u.now < end && len(o.times) < 2000 {
			gap := rapid.SampledFrom([]rimewatch.Time{7 * second, minute, minute, 5*minute + 1, 17 * minute, 50 * minute, 3 * hour, 11 * hour}).Draw(t, "gap")
			to := u.now + gap
			o.measuredBy(u)
			if len(o.times) > 0 {
				o.until(to)
			}
			u.advance(to)
			u.reload = rapid.IntRange(0, 9).Draw(t, "restart") == 0
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				u.observe(rimewatch.Reading{At: u.now})
				o.heard = u.now
			case 1: // a duplicate and a late one, wildly off, but not to the side whose beginning late readings may tell
				if n := len(o.times); n > 0 {
					u.observe(zoneReading(o.times[n-1], 50), zoneReading(o.times[n-1]-minute, map[bool]float64{false: -50, true: 50}[low]))
					o.late(o.times[n-1] - minute)
				}
			case 12: // one that no zone can have come to by now, and that no other confirms: as if there were none while others come
				if n := len(o.times); n > 0 && u.now-o.times[n-1] <= 6*minute && settled(u) && u.now-odd > max(10*minute, 6*o.interval) {
					o.odd = v + rapid.SampledFrom([]float64{-40, 40}).Draw(t, "odd")
					u.observe(zoneReading(u.now, o.odd))
					o.heard, odd, o.oddAt = u.now, u.now, u.now
				}
			case 2:
				u.s.Resolved(u.c, &u.s.unit, typ, "", u.now)
				o.manual(u.now)
			default:
				step := rapid.IntRange(-6, 6).Draw(t, "step")
				was := v
				if v = max(o.warn-4, min(o.warn+4, round(v+float64(step)/2))); v == was {
					v = round(v - 0.1) // no zone shows one number for weeks
				}
				u.observe(zoneReading(u.now, v))
				o.measuredBy(u)
				o.read(u.now, v)
			}
		}
		var got []string
		for _, tr := range u.log {
			if tr.Type == typ && tr.Kind != rimewatch.TransitionUpdated {
				got = append(got, fmt.Sprintf("%s %s %s %v", short(tr.At), tr.Kind, tr.Severity, tr.Flapping))
			}
		}
		if diff := cmp.Diff(o.log, got); diff != "" {
			t.Fatalf("transitions (-by definition +got):\n%s", diff)
		}
	})
}

// TestOfflineByDefinition silences a device at random and expects one alert for
// each silence.
func TestOfflineByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := newDevice(t, configOf("walkin_cooler"))
		u.p.OfflineAfter = time.Duration(rapid.IntRange(10, 3600).Draw(t, "offline_after")) * time.Second
		after := u.p.OfflineAfter
		var want []string
		for range rapid.IntRange(1, 30).Draw(t, "silences") {
			u.advance(u.now + flapWindow + hour)
			u.observe(zoneReading(u.now, 3))
			u.silent = true
			from := u.now
			u.reload = rapid.Bool().Draw(t, "restart")
			to := from + rimewatch.Time(rapid.IntRange(1, 6*3600*1000).Draw(t, "silence"))
			if rapid.Bool().Draw(t, "announced") {
				u.p.Online, u.p.Announced, u.p.OfflineSince = false, true, u.now
			} else {
				if gone := from.Add(after); gone <= to {
					want = append(want, fmt.Sprintf("%s opened warning", short(gone)))
					critical := gone + max(hour, 4*rimewatch.Time(after.Milliseconds()))
					severity := "warning"
					if critical <= to {
						want = append(want, fmt.Sprintf("%s escalated critical", short(critical)))
						severity = "critical"
					}
					want = append(want, fmt.Sprintf("%s resolved %s", short(to), severity))
				}
			}
			u.advance(to)
			u.silent = false
			if rapid.Bool().Draw(t, "reading") {
				u.observe(zoneReading(u.now, 3))
			} else {
				u.seen()
				u.advance(u.now)
			}
		}
		var got []string
		for _, tr := range u.log {
			got = append(got, fmt.Sprintf("%s %s %s", short(tr.At), tr.Kind, tr.Severity))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("transitions (-by definition +got):\n%s", diff)
		}
	})
}
