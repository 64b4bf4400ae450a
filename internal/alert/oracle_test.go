package alert

import (
	"math"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// The definitions of six hours that count: of how many warm readings, and for how
// long the zone may be warm before that is its new usual.
const (
	windowSamples = 12
	humpLimit     = 6 * hour
	windowLen     = 6 * hour
)

// A trace is everything that a simulated unit sent and what was true of it. The
// judgements below read it as a whole, with hindsight and by the definitions of
// the rules, and share nothing with the engine but the numbers of the limits.
type trace struct {
	e        *rimewatch.Equipment
	p        simulate.Params
	rs       []rimewatch.Reading
	truth    []simulate.Truth
	onset    rimewatch.Time
	interval rimewatch.Time
	warm     []bool // running long enough to be judged
	alike    []bool // and not much longer than the usual run of a unit whose runs are short
	humped   []bool // warm from a defrost, a door or a fault
}

func newTrace(t testing.TB, c simulate.Config, until rimewatch.Time) *trace {
	t.Helper()
	p, err := simulate.RandomParams(c.Equipment, c.Seed)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := rimewatch.EquipmentBySlug(c.Equipment)
	tr := &trace{e: e, p: p, interval: minute, onset: c.Faults[0].Onset}
	for sim.NextAt() < until {
		tr.rs = append(tr.rs, sim.Next())
		tr.truth = append(tr.truth, sim.Truth())
	}
	tr.findWarm()
	tr.findHumps()
	return tr
}

// findWarm finds warm running: from the fifth minute of a run on, from 60 % of
// the usual run of a unit with short runs, but not before the second.
func (tr *trace) findWarm() {
	var runs []rimewatch.Time
	began := tr.rs[0].At
	for i := 1; i < len(tr.rs) && tr.rs[i].At < tr.onset; i++ {
		switch on, was := tr.truth[i].Running, tr.truth[i-1].Running; {
		case on && !was:
			began = tr.rs[i].At
		case !on && was:
			runs = append(runs, tr.rs[i].At-began)
		}
	}
	slices.Sort(runs)
	usual := runs[len(runs)/2]
	after, longest := max(2*minute, min(5*minute, usual*6/10)), never
	if usual*45/100 < 5*minute {
		longest = usual * 13 / 10
	}
	for i := range tr.rs {
		if now := &tr.truth[i]; i == 0 || now.Running != tr.truth[i-1].Running {
			began = tr.rs[i].At
		}
		ran := tr.rs[i].At - began
		tr.warm = append(tr.warm, tr.truth[i].Running && !tr.truth[i].Defrosting && ran >= after)
		tr.alike = append(tr.alike, tr.warm[i] && ran <= longest)
	}
}

// findHumps finds where the zone is warmer than it usually is, but for no longer
// than six hours: then it is the new usual.
func (tr *trace) findHumps() {
	usual := tr.usual(rimewatch.ProductZoneTemp) + max(1.5, 0.35*tr.e.Defrost.ExcursionK)
	began := never
	for i := range tr.rs {
		at := tr.rs[i].At
		switch {
		case tr.rs[i].Values[rimewatch.ProductZoneTemp] <= usual:
			began = never
		case began == never:
			began = at
		}
		tr.humped = append(tr.humped, began != never && at-began <= humpLimit)
	}
}

// span is a time within which an alert has to open: never before the first
// moment, by the second. The two differ where a rule rests on what it has
// learnt. never says that it need not, or must not, open at all.
type span struct{ from, to rimewatch.Time }

var no = span{never, never}

func (s span) or(o span) span { return span{min(s.from, o.from), min(s.to, o.to)} }

// held is when a condition has held for a delay without a break for the first
// time after the onset; confirmed asks for a reading that still shows it then.
func (tr *trace) held(delay rimewatch.Time, confirmed bool, holds func(i int) bool) rimewatch.Time {
	start := never
	for i := range tr.rs {
		at := tr.rs[i].At
		if start != never && start+delay <= at && at > tr.onset && (!confirmed || holds(i)) {
			return start + delay
		}
		switch {
		case !holds(i):
			start = never
		case start == never:
			start = at
		}
	}
	if start != never && start+delay <= tr.rs[len(tr.rs)-1].At {
		return start + delay
	}
	return never
}

func exactly(at rimewatch.Time) span { return span{at, at} }

func (tr *trace) value(f rimewatch.Field) func(i int) (float64, bool) {
	return func(i int) (float64, bool) {
		r := &tr.rs[i]
		return r.Values[f], r.Present.Has(f) && !rimewatch.Sentinel(f, r.Values[f])
	}
}

func (tr *trace) beyond(f rimewatch.Field, delay rimewatch.Time, is func(v float64) bool) rimewatch.Time {
	get := tr.value(f)
	return tr.held(delay, f != rimewatch.ProductZoneTemp, func(i int) bool { v, ok := get(i); return ok && is(v) })
}

// adds is when the time for which the zone is beyond a limit has added up, for the first
// time after the onset, to a share of the delay within twice of it, on a reading that is
// beyond.
func (tr *trace) adds(delay rimewatch.Time, share float64, is func(v float64) bool) rimewatch.Time {
	get := tr.value(rimewatch.ProductZoneTemp)
	sum, from := rimewatch.Time(0), 0
	holds := make([]bool, len(tr.rs))
	for i := range tr.rs {
		v, ok := get(i)
		holds[i] = ok && is(v)
		if i > 0 && holds[i-1] {
			sum += tr.interval
		}
		for ; tr.rs[from].At < tr.rs[i].At-2*delay; from++ {
			if holds[from] {
				sum -= tr.interval
			}
		}
		if at := tr.rs[i].At; holds[i] && at > tr.onset && delay > 0 && float64(sum) >= share*float64(delay) {
			return at
		}
	}
	return never
}

// zone judges the product temperature. Where the excursion began at an hour of
// defrosts the warning may wait for defrost and recovery.
func (tr *trace) zone(low bool) span {
	l := &tr.e.Limits
	const f = rimewatch.ProductZoneTemp
	due := func(delay rimewatch.Time, is func(v float64) bool) span {
		lasts := tr.beyond(f, delay, is)
		return span{min(lasts, tr.adds(delay, 0.9, is)), min(lasts, tr.adds(delay, 1, is))}
	}
	if low {
		b := (&State{}).zoneBounds(&Config{Config: unit.Config{Equipment: tr.e}, Limits: *l}, true)
		at := due(b.warnDelay, func(v float64) bool { return v < *l.TempMin })
		if l.CriticalMin != nil {
			at = at.or(due(b.critDelay, func(v float64) bool { return v < *l.CriticalMin }))
		}
		return at
	}
	tooWarm := func(v float64) bool { return v > *l.TempMax }
	soon := due(seconds(l.DelayS), tooWarm)
	if soon.to == never {
		return no
	}
	if tr.defrostNear(soon.to - seconds(l.DelayS)) {
		grace := max(seconds(l.DelayS), minutes(tr.e.Defrost.MaxMin+tr.e.Defrost.RecoverMin))
		soon.to = tr.beyond(f, grace, tooWarm)
	}
	if l.CriticalMax != nil {
		soon = soon.or(due(seconds(l.CriticalDelayS), func(v float64) bool { return v > *l.CriticalMax }))
	}
	if tr.e.TCS {
		soon.to = min(soon.to, tr.beyond(f, 2*hour, tooWarm))
	}
	return soon
}

// defrostNear reports whether this or the days before had a defrost around this
// time of the day.
func (tr *trace) defrostNear(at rimewatch.Time) bool {
	for i := range tr.truth {
		if !tr.truth[i].Defrosting {
			continue
		}
		d := (at - tr.truth[i].At) % rimewatch.Day
		if d < 0 {
			d += rimewatch.Day
		}
		if d < minutes(tr.e.Defrost.RecoverMin)+hour || d > rimewatch.Day-hour {
			return true
		}
	}
	return false
}

func (tr *trace) voltage(delay rimewatch.Time, from, to float64) rimewatch.Time {
	return tr.beyond(rimewatch.Voltage, delay, func(v float64) bool { return v >= from*tr.p.Volts && v < to*tr.p.Volts })
}

// sensor judges a zone or other sensor that sends sentinels, or a zone sensor
// that stands still while the compressor starts twice.
func (tr *trace) sensor() span {
	broken := tr.held(5*minute, true, func(i int) bool {
		r := &tr.rs[i]
		if r.Faults != 0 {
			return true
		}
		for f := range rimewatch.NumCore {
			if r.Present.Has(f) && rimewatch.Sentinel(f, r.Values[f]) {
				return true
			}
		}
		return false
	})
	longest, same, starts, at := rimewatch.Time(0), tr.rs[0].At, int64(0), never
	for i := 1; i < len(tr.rs); i++ {
		if tr.rs[i].Values[0] != tr.rs[i-1].Values[0] {
			longest = max(longest, tr.rs[i].At-same)
			same, starts = tr.rs[i].At, 0
		}
		if tr.truth[i].Running && !tr.truth[i-1].Running {
			starts++
		}
		if starts >= 2 && tr.rs[i].At-same >= max(hour, 3*(longest/minute)*minute) {
			at = tr.rs[i].At + 5*minute
			break
		}
	}
	if broken == never && at == never {
		return span{from: tr.moved(), to: never} // how much the zone may move is learnt
	}
	return exactly(min(broken, at))
}

// moved finds the second stop of the compressor after a zone probe jumped by more than
// 3 K and stayed away: no zone is that warm when the thermostat stops it.
func (tr *trace) moved() rimewatch.Time {
	for i := 1; i < len(tr.rs); i++ {
		was, v := tr.rs[i-1].Values[0], tr.rs[i].Values[0]
		if math.Abs(v-was) <= 3 {
			continue
		}
		for k, stops := i+1, 0; k < len(tr.rs) && (tr.rs[k].Values[0] > was+(v-was)/4) == (v > was); k++ {
			if tr.truth[k-1].Running && !tr.truth[k].Running {
				stops++
			}
			if stops == 2 {
				return tr.rs[k].At + 5*minute
			}
		}
	}
	return never
}

// failedStarts finds the third start that failed within a day: a current above
// 2.5 times the running one that no run follows.
func (tr *trace) failedStarts() span {
	var running []float64
	for i := range tr.rs {
		if tr.warm[i] && tr.rs[i].At < tr.onset {
			running = append(running, tr.rs[i].Values[rimewatch.AmpDraw])
		}
	}
	slices.Sort(running)
	level := running[len(running)/2]
	var failed []rimewatch.Time
	for i := 0; i+1 < len(tr.rs); i++ {
		if tr.rs[i].Values[rimewatch.AmpDraw] < 2.5*level {
			continue
		}
		if next := tr.rs[i+1].Values[rimewatch.AmpDraw]; next < 0.5*level || next > 2.5*level {
			failed = append(failed, tr.rs[i+1].At)
		}
	}
	for i := 2; i < len(failed); i++ {
		if failed[i]-failed[i-2] < rimewatch.Day {
			return exactly(failed[i])
		}
	}
	return no
}

// cycles judges starts an hour and short runs as the readings show them. What is
// usual for the unit may widen the limits: the span brackets that.
func (tr *trace) cycles() span {
	var starts []rimewatch.Time
	var runs []float64 // min
	began := never
	s := no
	usual, counted := 0.0, 0.0
	for i := 1; i < len(tr.rs); i++ {
		on, was := tr.truth[i].Running, tr.truth[i-1].Running
		at := tr.rs[i].At
		count, sent := tr.rs[i].Value(rimewatch.StartCount)
		switch {
		case sent:
			// The unit counts by itself.
			before, _ := tr.rs[i-1].Value(rimewatch.StartCount)
			n := int(count - before)
			starts = append(starts, slices.Repeat([]rimewatch.Time{at}, n)...)
			if n > 0 {
				total, _ := tr.rs[i].Value(rimewatch.RunSeconds)
				for range n {
					runs = append(runs, (total-counted)/float64(n)/60)
				}
				counted = total
			}
		case on && !was:
			starts, began = append(starts, at), at
		case !on && was && began != never:
			runs = append(runs, float64(at-began)/float64(minute))
		}
		if at <= tr.onset {
			usual = float64(len(starts)) / (float64(at-tr.rs[0].At) / float64(hour))
			continue
		}
		if len(runs) >= 5 {
			last := slices.Clone(runs[len(runs)-5:])
			slices.Sort(last)
			if last[2] < 3 {
				s.from = min(s.from, at)
			}
			if last[2] < 1 {
				s.to = min(s.to, at+20*minute)
			}
		}
		hourly := 0.0
		for k := len(starts) - 1; k >= 0 && at-starts[k] < hour; k-- {
			hourly++
		}
		if hourly > 8 {
			s.from = min(s.from, at)
		}
		if hourly > max(8, 1.8*usual)+1 {
			s.to = min(s.to, at+20*minute)
		}
	}
	if s.to < never {
		s.from = min(s.from, s.to)
	}
	return s
}

// vibration judges a quarter of an hour of warm running beyond the floor of the
// limit and twice what the unit showed before.
func (tr *trace) vibration() span {
	own := tr.usual(rimewatch.VibrationLevel)
	return span{tr.ran(rimewatch.VibrationLevel, 14*minute, max(1.8, 1.7*own), true), tr.ran(rimewatch.VibrationLevel, 17*minute, max(1.8, 2.3*own), false)}
}

func (tr *trace) usual(f rimewatch.Field) float64 {
	sum, n := 0.0, 0.0
	for i := range tr.rs {
		if tr.warm[i] && tr.rs[i].At < tr.onset {
			sum += tr.rs[i].Values[f]
			n++
		}
	}
	return sum / n
}

// ran is when a value had been beyond a limit for a delay of warm running. What
// lies between the last reading of a run and the next counts when it is loose.
func (tr *trace) ran(f rimewatch.Field, delay rimewatch.Time, limit float64, loose bool) rimewatch.Time {
	ran, counting := rimewatch.Time(0), false
	for i := range tr.rs {
		switch {
		case !tr.warm[i]:
			continue
		case tr.rs[i].Values[f] <= limit:
			ran, counting = 0, false
		case !counting:
			counting = true
		case tr.warm[i-1] || loose:
			ran += tr.interval
		}
		if counting && ran >= delay && tr.rs[i].At > tr.onset {
			return tr.rs[i].At
		}
	}
	return never
}

// superheat brackets the suction line against the zone's temperature.
func (tr *trace) superheat() span {
	limit := -5.0
	if *tr.e.Setpoint < -10 {
		limit = -2
	}
	level := func(delay rimewatch.Time, limit float64, loose bool) rimewatch.Time {
		ran, counting, settled := rimewatch.Time(0), false, 5
		if !loose {
			settled = 8
		}
		for i := 10; i < len(tr.rs); i++ {
			v := tr.rs[i].Values
			switch {
			case loose && counting && tr.warm[i] && !tr.warm[i-settled]:
				ran += tr.interval
			case !tr.warm[i] || !tr.warm[i-settled] || tr.rs[i].Faults != 0 || rimewatch.Sentinel(rimewatch.ProductZoneTemp, v[rimewatch.ProductZoneTemp]):
				continue
			case v[rimewatch.CompressorSuctionTemp]-v[rimewatch.ProductZoneTemp] >= limit:
				ran, counting = 0, false
			case !counting:
				counting = true
			case tr.warm[i-settled-1] || loose:
				ran += tr.rs[i].At - tr.rs[i-1].At
			}
			if counting && ran >= delay && tr.rs[i].At > tr.onset {
				return tr.rs[i].At
			}
		}
		return never
	}
	return span{level(8*minute, limit+0.8, true), level(15*minute, limit-1, false)}
}

// due is the trace's judgement on one type of alert.
func (tr *trace) due(typ rimewatch.AlertType) span {
	switch typ {
	case rimewatch.HighTemperature:
		return tr.zone(false)
	case rimewatch.LowTemperature:
		return tr.zone(true)
	case rimewatch.DoorOpenSuspected, rimewatch.SlowRecovery:
		return span{from: epoch + onset, to: never} // a suspicion that may come late or not at all
	case rimewatch.PowerLoss:
		return exactly(tr.voltage(10*second, -1, 0.5))
	case rimewatch.LowVoltage:
		return exactly(min(tr.voltage(minute, 0.5, 0.9), tr.voltage(10*second, 0.5, 0.85)))
	case rimewatch.HighVoltage:
		at := min(tr.beyond(rimewatch.Voltage, minute, func(v float64) bool { return v > 1.1*tr.p.Volts }), tr.beyond(rimewatch.Voltage, 10*second, func(v float64) bool { return v > 1.15*tr.p.Volts }))
		return exactly(at)
	case rimewatch.SensorFault:
		return tr.sensor()
	case rimewatch.CompressorStartFailure:
		return tr.failedStarts()
	case rimewatch.ShortCycling:
		return tr.cycles()
	case rimewatch.HighVibration:
		return tr.vibration()
	case rimewatch.HighDischargeTemperature:
		return tr.deviates(rimewatch.CompressorDischargeTemp, ruleSpecs[ruleDischarge].beyond.Warn, false, 6*minute).
			or(exactly(tr.ran(rimewatch.CompressorDischargeTemp, 5*minute, ruleSpecs[ruleDischarge].limit.Warn, true)))
	case rimewatch.HighSuctionTemperature:
		return tr.deviates(rimewatch.CompressorSuctionTemp, ruleSpecs[ruleSuction].beyond.Warn, false, 17*minute)
	case rimewatch.LowSuctionTemperature:
		return tr.deviates(rimewatch.CompressorSuctionTemp, -ruleSpecs[ruleSuction].beyond.Warn, false, 12*minute).or(tr.superheat())
	case rimewatch.HighAmpDraw:
		return tr.deviates(rimewatch.AmpDraw, ruleSpecs[ruleAmps].beyond.Warn, true, 12*minute)
	case rimewatch.ExcessiveRunTime:
		return tr.runTime()
	default:
		return no
	}
}
