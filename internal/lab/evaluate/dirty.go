package evaluate

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/lab/simulate"
)

// seedSets are the sets of seeds of the dirty units by the names that --seed-set
// takes: those that were looked at while the rules were made, and those that are
// drawn anew every time, so that nothing can be fitted to them.
var seedSets = []struct {
	name, label string
	first       func(o *Options) uint64
}{
	{"known", "seeds seen while developing", func(*Options) uint64 { return 7_000_000 }},
	{"fresh", "seeds drawn for this run", func(o *Options) uint64 {
		if o.First > 0 {
			return o.First
		}
		return (10 + rand.Uint64N(1_000_000)) * 1_000_000
	}},
}

// wildTypes are the equipment types of the dirty simulator: all that can be
// simulated and have limits of their own.
func wildTypes() []string {
	return slices.DeleteFunc(simulate.Simulable(), func(s string) bool {
		return s == "condensing_unit" || s == rimewatch.OtherEquipment
	})
}

// wildTrials are the faults of the dirty simulator.
var wildTrials = []trial{
	{"refrigerant_undercharge", 0.95, 24 * day, 32, []string{"liquid_line_restriction"}, nil},
	{"condenser_fouling", 0.9, 28 * day, 38, []string{"noncondensables_overcharge"}, nil},
	{"compressor_valve_leakage", 1, 24 * day, 34, nil, nil},
	{"defrost_failure", 1, 0, 14, []string{"evaporator_icing"}, heated},
	{"bearing_wear", 1, 24 * day, 30, nil, nil},
	{"liquid_floodback", 0.7, 0, 10, nil, nil},
	{"liquid_line_restriction", 0.8, 0, 10, []string{"refrigerant_undercharge"}, nil},
	{"condenser_fan_failure", 1, 0, 5, nil, nil},
	{"evaporator_fan_failure", 1, 0, 5, nil, nil},
}

const slowTrials = 5 // of wildTrials, the first

// runDirty evaluates on units as they may stand anywhere and prints Markdown.
func runDirty(ctx context.Context, o *Options, stdout io.Writer) error {
	for _, set := range seedSets {
		if o.SeedSet != "" && o.SeedSet != set.name {
			continue
		}
		w := wildRun{ctx: ctx, o: o, first: set.first(o), out: stdout}
		fmt.Fprintf(stdout, "#### %s%s (from %d)\n\n", strings.ToUpper(set.label[:1]), set.label[1:], w.first)
		for _, part := range [...]func() error{w.healthy, w.healthyWithout, w.faults, w.missing, w.sensors} {
			if err := part(); err != nil {
				return err
			}
		}
	}
	return nil
}

type wildRun struct {
	ctx   context.Context
	o     *Options
	first uint64
	out   io.Writer
}

// wildOutcome is what became of a fault on a dirty unit.
type wildOutcome struct {
	outcome
	last          bool    // the last word named the right fault
	lead, low, hi float64 // d, as promised at the first word that promised one, NaN = none
	leadAt        float64 // d after the onset, of that word
}

// runWildTrial plays a dirty unit through a fault. Without names measurements
// that the unit does not have.
func runWildTrial(tr *trial, equipment string, seed uint64, without rimewatch.Fields) (wildOutcome, error) {
	nan := math.NaN()
	o := wildOutcome{outcome: outcome{found: nan, end: nan, sign: nan}, lead: nan, low: nan, hi: nan}
	start := startOf(seed)
	onset := start + rimewatch.Time(16+seed%9)*rimewatch.Day + rimewatch.Time(seed*7%24)*rimewatch.Hour
	end := onset + rimewatch.Time(tr.days)*rimewatch.Day
	wild, err := simulate.Draw(equipment, seed, start, end, false)
	if err != nil {
		return o, err
	}
	wild.Config.Dirt.Missing |= without
	usualAt, err := wildAlarms(&wild, end)
	if err != nil {
		return o, err
	}
	fault := simulate.Fault{Name: tr.fault, Severity: tr.severity, Onset: onset}
	if tr.ramp > 0 {
		fault.Profile, fault.Ramp = simulate.Linear, tr.ramp
	}
	wild.Config.Faults = append(slices.Clone(wild.Cut), fault)
	u, err := simulate.New(wild.Config)
	if err != nil {
		return o, err
	}
	shaking := 0.0
	watchUnit(&wild, u, end, func(r *rimewatch.Reading, out []event) {
		after := float64(r.At-onset) / float64(rimewatch.Day)
		for i := range out {
			o.note(tr, &out[i], after)
			o.hear(tr, &out[i], after)
			if tr.fault != "bearing_wear" && after >= 0 && out[i].what == "opened" && productAlarm(&out[i]) && !usual(out[i].at, usualAt) {
				o.end = first(o.end, after)
			}
		}
		if tr.fault == "bearing_wear" && u.Truth().Running && after >= 0 {
			v := min(r.Values[rimewatch.VibrationLevel], 12)
			if shaking += (v - shaking) / 200; shaking > 4.5 {
				o.end = first(o.end, after)
			}
		}
	})
	return o, nil
}

// watchUnit runs a drawn unit until end, calls yield with every reading that
// arrives and what was made of it, and returns who judged.
func watchUnit(w *simulate.Wild, u *simulate.Unit, end rimewatch.Time, yield func(*rimewatch.Reading, []event)) *unitJudge {
	judge := newUnitJudge(w.Config.Equipment, nil)
	var out []event
	for u.NextAt() < end {
		r := u.Next()
		if !w.Arrives(r.At) {
			continue
		}
		out = judge.take(&r, out[:0])
		yield(&r, out)
	}
	return judge
}

// hear notes what a prediction says last, and what it promises first.
func (o *wildOutcome) hear(tr *trial, e *event, after float64) {
	if after < 0 || !e.predicts || e.what == "resolved" || !math.IsNaN(o.end) {
		return
	}
	o.last = e.fault == tr.fault || slices.Contains(tr.same, e.fault)
	if e.lead != nil && math.IsNaN(o.lead) {
		o.lead, o.low, o.hi, o.leadAt = *e.lead/24, *e.low/24, math.Inf(1), after
		if e.high != nil {
			o.hi = *e.high / 24
		}
	}
}

// wildAlarms are the product alarms of the unit without the fault.
func wildAlarms(w *simulate.Wild, end rimewatch.Time) ([]rimewatch.Time, error) {
	u, err := simulate.New(w.Config)
	if err != nil {
		return nil, err
	}
	var alarms []rimewatch.Time
	watchUnit(w, u, end, func(_ *rimewatch.Reading, out []event) {
		for i := range out {
			if out[i].what == "opened" && productAlarm(&out[i]) {
				alarms = append(alarms, out[i].at)
			}
		}
	})
	return alarms, nil
}

// wildTally adds outcomes up.
type wildTally struct {
	units, found, ends, before, first, two, last, early int
	leads, covered                                      int
	ratios, delays                                      []float64
	days                                                float64
}

func (t *wildTally) add(o *wildOutcome, tr *trial) {
	t.units++
	t.early += o.early
	t.days += float64(tr.days)
	if !math.IsNaN(o.end) {
		t.ends++
	}
	if math.IsNaN(o.found) {
		return
	}
	t.found++
	t.delays = append(t.delays, o.found)
	if !math.IsNaN(o.end) && o.found < o.end {
		t.before++
	}
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	count(&t.first, o.first)
	count(&t.two, o.two)
	count(&t.last, o.last)
	if math.IsNaN(o.lead) {
		return
	}
	if !math.IsNaN(o.end) {
		left := o.end - o.leadAt
		t.leads++
		count(&t.covered, o.low <= left && left <= o.hi)
		t.ratios = append(t.ratios, o.lead/left)
	} else if left := float64(tr.days) - o.leadAt; o.hi < left {
		t.leads++ // it promised an end that did not come
	}
}

func (t *wildTally) print(out io.Writer, name string) {
	ratio := "–"
	if len(t.ratios) > 0 {
		ratio = fmt.Sprintf("%.1f", quantile(t.ratios, 0.5))
	}
	fmt.Fprintf(out, "| %s | %d/%d | %d/%d | %d/%d | %d/%d | %d/%d | %d/%d | %s | %s |\n", name, t.found, t.units, t.before, t.ends,
		t.first, t.found, t.two, t.found, t.last, t.found, t.covered, t.leads, ratio, amount(quantile(t.delays, 0.5)))
}

const wildHead = "found | before the product alarm | right first | in first two | last word right | lead interval covers | lead promised / true | after onset, median |\n|---|---|---|---|---|---|---|---|---|\n"

// faults plays every fault on dirty units.
func (w *wildRun) faults() error {
	fmt.Fprint(w.out, "| fault | "+wildHead)
	var slow, all wildTally
	for k := range wildTrials {
		t, err := w.trial(&wildTrials[k], w.o.Seeds, uint64(k)*1000, 0)
		if err != nil {
			return err
		}
		t.print(w.out, wildTrials[k].fault)
		all.merge(t)
		if k < slowTrials {
			slow.merge(t)
		}
	}
	slow.print(w.out, "**slow faults**")
	all.print(w.out, "**all**")
	fmt.Fprintf(w.out, "\nPredictions before the onset of a fault: %d. Faulty device-years: %.1f.\n\n", all.early, all.days/365)
	return nil
}

func (t *wildTally) merge(o wildTally) {
	t.units, t.found, t.ends, t.before = t.units+o.units, t.found+o.found, t.ends+o.ends, t.before+o.before
	t.first, t.two, t.last, t.early = t.first+o.first, t.two+o.two, t.last+o.last, t.early+o.early
	t.leads, t.covered, t.days = t.leads+o.leads, t.covered+o.covered, t.days+o.days
	t.ratios, t.delays = append(t.ratios, o.ratios...), append(t.delays, o.delays...)
}

func (w *wildRun) trial(tr *trial, units int, offset uint64, without rimewatch.Fields) (t wildTally, err error) {
	types := wildTypes()
	if tr.only != nil {
		types = tr.only
	}
	results := make([]wildOutcome, units)
	err = parallel(w.ctx, w.o.Workers, units, func(i int) (err error) {
		seed := w.first + 100_000 + offset + uint64(i)
		results[i], err = runWildTrial(tr, types[int(mixed(seed)%uint64(len(types)))], seed, without)
		return err
	})
	for i := range results {
		t.add(&results[i], tr)
	}
	return t, err
}

// mixed scatters seeds over the types.
func mixed(x uint64) uint64 { return x * 0x9e3779b97f4a7c15 >> 33 }

// missing plays the slow faults with one channel missing at a time.
func (w *wildRun) missing() error {
	fmt.Fprint(w.out, "| slow faults without | "+wildHead)
	for _, f := range withoutFields {
		var sum wildTally
		for k := range slowTrials {
			t, err := w.trial(&wildTrials[k], (w.o.Seeds+2)/3, 20_000+uint64(k)*1000, 1<<f)
			if err != nil {
				return err
			}
			sum.merge(t)
		}
		sum.print(w.out, f.String())
	}
	fmt.Fprintln(w.out)
	return nil
}
