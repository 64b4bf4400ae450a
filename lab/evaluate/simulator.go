package evaluate

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// FirstSeed begins the seeds of the evaluation on the simulator. The predictor
// was developed on smaller ones.
const FirstSeed = 3_000_000

// trial is a fault to be found. A slow one must be found before it ends the
// unit's work, a fast one soon after its first sign.
type trial struct {
	fault    string
	severity float64
	ramp     time.Duration // 0 = step
	days     int           // simulated after the onset
	same     []string      // names that count as the same: what eight fields cannot separate
	only     []string      // equipment types that can have it; nil = all that are evaluated
}

// heated are types that are defrosted by heat twice a day or more, and therefore
// have a heater or a valve to lose. Only the first was fitted, the others are
// scaled from it. Units whose ice melts in their off time have nothing to lose.
var heated = []string{"walkin_freezer", "reach_in_freezer", "undercounter_freezer", "display_case_freezer", "cold_storage"}

const day = 24 * time.Hour

var trials = []trial{
	{"refrigerant_undercharge", 0.95, 21 * day, 30, []string{"liquid_line_restriction"}, nil},
	{"condenser_fouling", 0.9, 24 * day, 34, []string{"noncondensables_overcharge"}, nil},
	{"compressor_valve_leakage", 1, 21 * day, 34, nil, nil},
	{"defrost_failure", 1, 0, 14, []string{"evaporator_icing"}, heated},
	{"bearing_wear", 1, 21 * day, 26, nil, nil},
	{"liquid_floodback", 0.7, 0, 10, nil, nil},
	{"liquid_line_restriction", 0.8, 0, 10, []string{"refrigerant_undercharge"}, nil},
	{"noncondensables_overcharge", 1, 0, 10, []string{"condenser_fouling"}, nil},
	{"condenser_fan_failure", 1, 0, 4, nil, nil},
	{"evaporator_fan_failure", 1, 0, 4, nil, nil},
	{"start_component_failure", 0.7, 0, 6, nil, nil},
	{"power_failure", 1, 0, 2, nil, nil},
}

// outcome is what became of a trial on one unit. Times are in days after the
// onset, NaN when it did not happen.
type outcome struct {
	found float64 // predicted, or for the supply reported
	end   float64 // product alarm; zone D for bearings
	sign  float64 // first failed start
	first bool    // the right fault was named first
	two   bool    // or second
	early int     // predictions before the onset
	named string
}

// runSimulator evaluates on the simulator and prints Markdown.
func runSimulator(ctx context.Context, o *Options, stdout io.Writer) error {
	return runTrials(ctx, o, trials, simulate.FittedEquipment(), stdout)
}

func runTrials(ctx context.Context, o *Options, trials []trial, equipment []string, stdout io.Writer) error {
	seeds, years := o.Seeds, o.HealthyYears
	if seeds <= 0 {
		seeds = 8
	}
	if years <= 0 {
		years = 100
	}
	fmt.Fprintf(stdout, "Simulated units, seeds from %d, %d units per fault and type, a reading per minute, with deliveries and door openings; the fault starts after 10–16 days.\n\n", FirstSeed, seeds)
	fmt.Fprintln(stdout, "| fault | type | found | before its end | lead, median d | right first | in first two | after onset, median | 95 % within |")
	fmt.Fprintln(stdout, "|---|---|---|---|---|---|---|---|---|")
	early := 0
	for _, tr := range trials {
		equipment := equipment
		if tr.only != nil {
			equipment = tr.only
		}
		results := make([]outcome, len(equipment)*seeds)
		err := parallel(ctx, o.Workers, len(results), func(i int) (err error) {
			results[i], err = runTrial(&tr, equipment[i/seeds], FirstSeed+uint64(i%seeds))
			return err
		})
		if err != nil {
			return err
		}
		for i := range equipment {
			printOutcomes(stdout, tr.fault, equipment[i], results[i*seeds:(i+1)*seeds], &tr)
		}
		printOutcomes(stdout, "**"+tr.fault+"**", "all", results, &tr)
		for _, r := range results {
			early += r.early
		}
	}
	fmt.Fprintf(stdout, "\nPredictions before the onset of a fault: %d.\n\n", early)
	return runHealthy(ctx, o.Workers, equipment, years, stdout)
}

// runTrial plays one unit from its start through its fault.
func runTrial(tr *trial, equipment string, seed uint64) (outcome, error) {
	start := startOf(seed)
	onset := start + rimewatch.Time(10+seed%7)*rimewatch.Day + rimewatch.Time(seed*7%24)*rimewatch.Hour
	end := onset + rimewatch.Time(tr.days)*rimewatch.Day
	fault := simulate.Fault{Name: tr.fault, Severity: tr.severity, Onset: onset}
	if tr.ramp > 0 {
		fault.Profile, fault.Ramp = simulate.Linear, tr.ramp
	}
	p, err := simulate.RandomParams(equipment, seed)
	if err != nil {
		return outcome{}, err
	}
	cfg := simulate.Config{
		Equipment: equipment, Seed: seed, Start: start, Step: 10 * time.Second, Params: &p,
		Faults: []simulate.Fault{fault}, Events: simulate.Deliveries(p, seed, start, end, 0),
	}
	u, err := simulate.New(cfg)
	if err != nil {
		return outcome{}, err
	}
	judge := newUnitJudge(equipment, nil)
	o := outcome{found: math.NaN(), end: math.NaN(), sign: math.NaN()}
	var out []event
	var alarms []rimewatch.Time
	shaking := 0.0
	for u.NextAt() < end {
		r := u.Next()
		after := float64(r.At-onset) / float64(rimewatch.Day)
		out = judge.take(&r, out[:0])
		for i := range out {
			o.note(tr, &out[i], after)
			if after >= 0 && out[i].what == "opened" && productAlarm(&out[i]) {
				alarms = append(alarms, out[i].at)
			}
		}
		if r.Values[rimewatch.AmpDraw] > 2.5*p.RatedAmps {
			o.sign = first(o.sign, after)
		}
		if tr.fault == "bearing_wear" && u.Truth().Running {
			// ISO 10816-1 class I: zone D begins at 4.5 mm/s.
			if shaking += (r.Values[rimewatch.VibrationLevel] - shaking) / 200; shaking > 4.5 {
				o.end = first(o.end, after)
			}
		}
	}
	if tr.fault == "bearing_wear" || len(alarms) == 0 {
		return o, nil
	}
	without, err := productAlarms(cfg, end)
	if err != nil {
		return outcome{}, err
	}
	for _, at := range alarms {
		if !usual(at, without) {
			o.end = first(o.end, float64(at-onset)/float64(rimewatch.Day))
		}
	}
	return o, nil
}

// first keeps the first of two moments.
func first(was, now float64) float64 {
	if math.IsNaN(was) {
		return now
	}
	return was
}

// note takes an event of a trial.
func (o *outcome) note(tr *trial, e *event, after float64) {
	if e.what != "opened" {
		return
	}
	power := tr.fault == "power_failure" && e.typ == rimewatch.PowerLoss
	switch {
	case after < 0 && e.predicts:
		o.early++
	case after < 0:
	case e.predicts || power:
		if !math.IsNaN(o.found) {
			return
		}
		o.found, o.named = after, e.fault
		o.first = power || e.fault == tr.fault || slices.Contains(tr.same, e.fault)
		o.two = o.first || e.runnerUp == tr.fault || slices.Contains(tr.same, e.runnerUp)
	}
}

// productAlarms are the moments at which a unit without the fault raises a
// product alarm: deliveries do that too, and are not the fault's.
func productAlarms(cfg simulate.Config, end rimewatch.Time) ([]rimewatch.Time, error) {
	cfg.Faults = nil
	u, err := simulate.New(cfg)
	if err != nil {
		return nil, err
	}
	judge := newUnitJudge(cfg.Equipment, nil)
	var alarms []rimewatch.Time
	var out []event
	for u.NextAt() < end {
		r := u.Next()
		out = judge.take(&r, out[:0])
		for i := range out {
			if out[i].what == "opened" && productAlarm(&out[i]) {
				alarms = append(alarms, out[i].at)
			}
		}
	}
	return alarms, nil
}

func productAlarm(e *event) bool {
	return e.typ == rimewatch.HighTemperature || e.typ == rimewatch.LowTemperature
}

// usual reports whether the unit would have raised its product alarm anyway.
func usual(at rimewatch.Time, without []rimewatch.Time) bool {
	for _, w := range without {
		if max(at-w, w-at) < 6*rimewatch.Hour {
			return true
		}
	}
	return false
}

// printOutcomes prints a row. A unit that never reached its end within the
// simulated time counts for the lead with the time that was left: its true lead
// is longer, and a median that rests on such units is marked ≥.
func printOutcomes(stdout io.Writer, name, equipment string, results []outcome, tr *trial) {
	found, ends, before, right, two := 0, 0, 0, 0, 0
	var leads, known, delays []float64
	for _, r := range results {
		if !math.IsNaN(r.end) {
			ends++
		}
		if math.IsNaN(r.found) {
			continue
		}
		found++
		from := 0.0
		if tr.fault == "start_component_failure" && !math.IsNaN(r.sign) {
			from = max(0, r.sign)
		}
		delays = append(delays, r.found-from)
		if r.first {
			right++
		}
		if r.two {
			two++
		}
		switch {
		case math.IsNaN(r.end):
			leads = append(leads, float64(tr.days)-r.found)
		case r.found < r.end:
			before++
			leads, known = append(leads, r.end-r.found), append(known, r.end-r.found)
		default:
			leads = append(leads, 0)
		}
	}
	lead := "–"
	if m := quantile(leads, 0.5); !math.IsNaN(m) {
		if lead = fmt.Sprintf("%.1f", m); !slices.Contains(known, m) && m > 0 {
			lead = "≥ " + lead
		}
	}
	fmt.Fprintf(stdout, "| %s | %s | %d/%d | %d/%d | %s | %d/%d | %d/%d | %s | %s |\n", name, equipment, found, len(results),
		before, ends, lead, right, found, two, found, amount(quantile(delays, 0.5)), amount(quantile(delays, 0.95)))
}

// amount writes a span in days in the unit that suits it.
func amount(days float64) string {
	switch {
	case math.IsNaN(days):
		return "–"
	case days < 2.0/24:
		return fmt.Sprintf("%.0f min", days*24*60)
	case days < 2:
		return fmt.Sprintf("%.1f h", days*24)
	default:
		return fmt.Sprintf("%.1f d", days)
	}
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[int(math.Ceil(q*float64(len(s))))-1]
}

// startOf spreads the starts over the year.
func startOf(seed uint64) rimewatch.Time {
	return rimewatch.TimeOf(time.Date(2025, time.Month(1+seed%12), 1+int(seed%27), int(seed%24), 0, 0, 0, time.UTC))
}

// healthyDays is how long each healthy unit is watched: two seasons.
const healthyDays = 180

// healthy is what a healthy unit brought.
type healthy struct {
	alerts, iced int
	years        float64
}

// runHealthy watches healthy units: seasons, two changes of the setpoint, weekly
// deliveries, one large load of warm goods.
func runHealthy(ctx context.Context, workers int, equipment []string, years float64, stdout io.Writer) error {
	each := int(math.Ceil(years * 365 / healthyDays / float64(len(equipment))))
	results := make([]healthy, each*len(equipment))
	err := parallel(ctx, workers, len(results), func(i int) (err error) {
		results[i], err = watchHealthy(equipment[i/each], FirstSeed+uint64(i%each))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "| healthy units | device-years | predictive alerts | of them truly iced up | false per device-year | 95 % upper bound |")
	fmt.Fprintln(stdout, "|---|---|---|---|---|---|")
	var all healthy
	for k, e := range equipment {
		var sum healthy
		for _, r := range results[k*each : (k+1)*each] {
			sum.add(r)
		}
		all.add(sum)
		sum.print(stdout, e)
	}
	all.print(stdout, "**all**")
	return nil
}

func (h *healthy) add(o healthy) {
	h.alerts += o.alerts
	h.iced += o.iced
	h.years += o.years
}

// print writes a row; the bound is the exact one of a Poisson rate.
func (h *healthy) print(stdout io.Writer, name string) {
	wrong := h.alerts - h.iced
	bound := distuv.ChiSquared{K: 2 * float64(wrong+1)}.Quantile(0.95) / 2 / h.years
	fmt.Fprintf(stdout, "| %s | %.1f | %d | %d | %.3f | %.3f |\n", name, h.years, h.alerts, h.iced, float64(wrong)/h.years, bound)
}

func watchHealthy(equipment string, seed uint64) (healthy, error) {
	start := startOf(seed * 5)
	end := start + healthyDays*rimewatch.Day
	p, err := simulate.RandomParams(equipment, seed)
	if err != nil {
		return healthy{}, err
	}
	shift := 1.0
	if p.Setpoint > -5 {
		shift = 0.5 // below that a chilled unit ices up in earnest
	}
	at := func(d int, hour int) rimewatch.Time {
		return start + rimewatch.Time(d)*rimewatch.Day + rimewatch.Time(hour)*rimewatch.Hour
	}
	events := append(simulate.Deliveries(p, seed, start, end, 0),
		simulate.Event{At: at(30, 9), Kind: simulate.SetpointChange, Value: p.Setpoint + shift},
		simulate.Event{At: at(60, 10), Kind: simulate.Loading, Value: 6 * p.ProductC},
		simulate.Event{At: at(100, 15), Kind: simulate.SetpointChange, Value: p.Setpoint - shift/2},
	)
	u, err := simulate.New(simulate.Config{Equipment: equipment, Seed: seed, Start: start, Step: 10 * time.Second, Params: &p, Events: events})
	if err != nil {
		return healthy{}, err
	}
	judge := newUnitJudge(equipment, nil)
	h := healthy{years: healthyDays / 365.0}
	var out []event
	for u.NextAt() < end {
		r := u.Next()
		out = judge.take(&r, out[:0])
		for i := range out {
			if !out[i].predicts || out[i].what != "opened" {
				continue
			}
			h.alerts++
			if out[i].typ == rimewatch.EvaporatorIcingSuspected && u.Truth().Frost > 0.5*p.FrostM {
				h.iced++
			}
		}
	}
	return h, nil
}

// parallel does n things on some workers and returns the first error.
func parallel(ctx context.Context, workers, n int, do func(i int) error) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		next  int
		fault error
	)
	for range max(1, workers) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || fault != nil
				mu.Unlock()
				if stop {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = do(i)
				}
				if err != nil {
					mu.Lock()
					fault = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return fault
}
