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
	"github.com/rimewatch/rimewatch/internal/simulate"
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

// runDirty evaluates on units as they may stand anywhere and prints Markdown. Of the
// seeds that were looked at a fifth as many units are played: they only show beside the
// others how much was fitted to them.
func runDirty(ctx context.Context, o *Options, stdout io.Writer) error {
	for _, set := range seedSets {
		if o.SeedSet != "" && o.SeedSet != set.name {
			continue
		}
		size := *o
		if set.name == "known" {
			size.Seeds, size.HealthyYears = (o.Seeds+4)/5, o.HealthyYears/5
		}
		w := wildRun{ctx: ctx, o: &size, first: set.first(o), out: stdout}
		fmt.Fprintf(stdout, "#### %s%s (from %d)\n\n", strings.ToUpper(set.label[:1]), set.label[1:], w.first)
		for _, part := range [...]struct {
			name string
			run  func() error
		}{{"healthy", w.healthy}, {"faults", w.faults}, {"sensors", w.sensors}} {
			if o.Part != "" && o.Part != part.name {
				continue
			}
			if err := part.run(); err != nil {
				return err
			}
		}
		w.printAims()
	}
	return nil
}

type wildRun struct {
	ctx   context.Context
	o     *Options
	first uint64
	out   io.Writer
	aims  []aim
}

// wildOutcome is what became of a fault on a dirty unit.
type wildOutcome struct {
	outcome
	kind          wildKind
	last          bool    // the last word named the right fault
	before        float64 // d from its start to the onset
	lead, low, hi float64 // d, as promised at the first word that promised one, NaN = none
	leadAt        float64 // d after the onset, of that word
}

// runWildTrial plays a dirty unit through a fault, once for each set of measurements
// that it lacks. Its readings are drawn once.
func runWildTrial(tr *trial, equipment string, seed uint64, lacks []rimewatch.Fields) ([]wildOutcome, error) {
	start := startOf(seed)
	onset := start + rimewatch.Time(16+seed%9)*rimewatch.Day + rimewatch.Time(seed*7%24)*rimewatch.Hour
	end := onset + rimewatch.Time(tr.days)*rimewatch.Day
	wild, err := simulate.Draw(equipment, seed, start, end, false)
	if err != nil {
		return nil, err
	}
	fault := simulate.Fault{Name: tr.fault, Severity: tr.severity, Onset: onset}
	if tr.ramp > 0 {
		fault.Profile, fault.Ramp = simulate.Linear, tr.ramp
	}
	faulty, err := live(&wild, append(slices.Clone(wild.Cut), fault), end)
	if err != nil {
		return nil, err
	}
	var healthy *life // drawn when it is asked for
	outcomes := make([]wildOutcome, len(lacks))
	for i, without := range lacks {
		o := &outcomes[i]
		nan := math.NaN()
		*o = wildOutcome{outcome: outcome{found: nan, end: nan, sign: nan}, lead: nan, low: nan, hi: nan, before: float64(onset-start) / float64(rimewatch.Day)}
		heard, shakes, learning := faulty.events(without, onset)
		o.kind = kindOf(&wild, faulty.icedBefore(onset), learning)
		var usualAt []rimewatch.Time
		if tr.fault != "bearing_wear" && slices.ContainsFunc(heard, func(e event) bool { return e.at >= onset && e.what == "opened" && productAlarm(&e) }) {
			if healthy == nil {
				if healthy, err = live(&wild, wild.Cut, end); err != nil {
					return nil, err
				}
			}
			usualAt = healthy.productAlarms(without)
		}
		for k := range heard {
			e := &heard[k]
			after := float64(e.read-onset) / float64(rimewatch.Day)
			if tr.fault == "bearing_wear" && shakes > 0 && e.read > shakes {
				o.end = first(o.end, float64(shakes-onset)/float64(rimewatch.Day))
			}
			o.note(tr, e, after)
			o.hear(tr, e, after)
			if tr.fault != "bearing_wear" && after >= 0 && e.what == "opened" && productAlarm(e) && !usual(e.at, usualAt) {
				o.end = first(o.end, after)
			}
		}
		if tr.fault == "bearing_wear" && shakes > 0 {
			o.end = first(o.end, float64(shakes-onset)/float64(rimewatch.Day))
		}
	}
	return outcomes, nil
}

// hear notes what a prediction says last before the product alarm, and what it promises
// first. One that comes after the alarm is late, which is counted by itself: its first word
// is its last.
func (o *wildOutcome) hear(tr *trial, e *event, after float64) {
	late := !math.IsNaN(o.end)
	if after < 0 || !e.predicts || e.what == "resolved" || late && after != o.found {
		return
	}
	o.last = e.fault == tr.fault || slices.Contains(tr.same, e.fault)
	if late {
		return
	}
	if e.lead != nil && math.IsNaN(o.lead) {
		o.lead, o.low, o.hi, o.leadAt = *e.lead/24, *e.low/24, math.Inf(1), after
		if e.high != nil {
			o.hi = *e.high / 24
		}
	}
}

// wildTally adds outcomes up.
type wildTally struct {
	units, found, ends, before, first, two, last, early int
	leads, covered                                      int
	kinds                                               [numKinds]struct{ units, found, ends, before int }
	ratios, delays                                      []float64
	days, watched                                       float64 // since the onset, and in all
}

func (t *wildTally) add(o *wildOutcome, tr *trial) {
	t.units++
	t.early += o.early
	t.days += float64(tr.days)
	t.watched += float64(tr.days) + o.before
	kind := &t.kinds[o.kind]
	kind.units++
	if !math.IsNaN(o.end) {
		t.ends++
		kind.ends++
	}
	if math.IsNaN(o.found) {
		return
	}
	t.found++
	kind.found++
	t.delays = append(t.delays, o.found)
	if !math.IsNaN(o.end) && o.found < o.end {
		t.before++
		kind.before++
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

// faults plays every fault on dirty units, and a third of those with a slow one once
// more without each measurement.
func (w *wildRun) faults() error {
	var slow, all, lacking wildTally
	var without [len(withoutFields)]wildTally
	fmt.Fprint(w.out, "| fault | "+wildHead)
	for k := range wildTrials {
		third := 0
		if k < slowTrials {
			third = (w.o.Seeds + 2) / 3
		}
		t, lacks, err := w.trial(k, third)
		if err != nil {
			return err
		}
		t.print(w.out, wildTrials[k].fault)
		all.merge(t)
		if k < slowTrials {
			slow.merge(t)
		}
		for i := range lacks {
			without[i].merge(lacks[i])
			lacking.merge(lacks[i])
		}
	}
	slow.print(w.out, "**slow faults**")
	all.print(w.out, "**all**")
	fmt.Fprintf(w.out, "\nPredictions before the onset of a fault: %d. Device-years of these units: %.1f, of them %.1f since the onset.\n\n", all.early, all.watched/365, all.days/365)
	slow.printKinds(w.out)
	fmt.Fprint(w.out, "| slow faults without | "+wildHead)
	for i := range without {
		without[i].print(w.out, withoutFields[i].String())
	}
	lacking.print(w.out, "**all**")
	fmt.Fprintln(w.out)
	w.faultAims(&slow, &without)
	return nil
}

func (t *wildTally) merge(o wildTally) {
	t.units, t.found, t.ends, t.before = t.units+o.units, t.found+o.found, t.ends+o.ends, t.before+o.before
	t.first, t.two, t.last, t.early = t.first+o.first, t.two+o.two, t.last+o.last, t.early+o.early
	t.leads, t.covered, t.days = t.leads+o.leads, t.covered+o.covered, t.days+o.days
	t.watched += o.watched
	t.ratios, t.delays = append(t.ratios, o.ratios...), append(t.delays, o.delays...)
	for i := range t.kinds {
		kind, of := &t.kinds[i], &o.kinds[i]
		kind.units, kind.found, kind.ends, kind.before = kind.units+of.units, kind.found+of.found, kind.ends+of.ends, kind.before+of.before
	}
}

// trial plays a fault on as many units as were asked for, the first of them without each
// measurement as well.
func (w *wildRun) trial(k, lacking int) (t wildTally, without [len(withoutFields)]wildTally, err error) {
	tr, types := &wildTrials[k], wildTypes()
	if tr.only != nil {
		types = tr.only
	}
	results := make([][]wildOutcome, w.o.Seeds)
	err = parallel(w.ctx, w.o.Workers, w.o.Seeds, func(i int) (err error) {
		seed := w.first + 100_000 + uint64(k)*1000 + uint64(i)
		lacks := []rimewatch.Fields{0}
		if i < lacking {
			for _, f := range withoutFields {
				lacks = append(lacks, 1<<f)
			}
		}
		results[i], err = runWildTrial(tr, types[int(mixed(seed)%uint64(len(types)))], seed, lacks)
		return err
	})
	for _, outcomes := range results {
		for i := range outcomes {
			if i == 0 {
				t.add(&outcomes[i], tr)
			} else {
				without[i-1].add(&outcomes[i], tr)
			}
		}
	}
	return t, without, err
}

// mixed scatters seeds over the types.
func mixed(x uint64) uint64 { return x * 0x9e3779b97f4a7c15 >> 33 }
