package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// wildHealthy is what a healthy dirty unit brought.
type wildHealthy struct {
	years            float64
	wrong            map[string]int // predictions by fault
	critical, warned int            // ordinary alerts, power cuts left out
	types            map[string]int // of those
	drive            simulate.Drive
	judged           bool // got past learning
}

// healthy watches units that nothing ails, and a third of them once more without each
// measurement.
func (w *wildRun) healthy() error {
	types := wildTypes()
	n := int(math.Ceil(w.o.HealthyYears * 365 / healthyDays))
	all := make([][]wildHealthy, n)
	err := parallel(w.ctx, w.o.Workers, n, func(i int) (err error) {
		lacks := []rimewatch.Fields{0}
		if i < (n+2)/3 {
			for _, f := range withoutFields {
				lacks = append(lacks, 1<<f)
			}
		}
		all[i], err = watchWild(types[i%len(types)], w.first+uint64(i), lacks...)
		return err
	})
	if err != nil {
		return err
	}
	results := make([]wildHealthy, n)
	for i := range all {
		results[i] = all[i][0]
	}
	w.printHealthy(results)
	w.printWithout(all)
	return nil
}

// printHealthy prints what units that have all their measurements brought.
func (w *wildRun) printHealthy(results []wildHealthy) {
	fmt.Fprintln(w.out, "| healthy units | device-years | past learning | false predictions | a device-year | 95 % upper bound | critical alerts a device-month | warnings a device-month |")
	fmt.Fprintln(w.out, "|---|---|---|---|---|---|---|---|")
	groups := []struct {
		name string
		is   func(*wildHealthy) bool
	}{
		{"**all**", func(*wildHealthy) bool { return true }},
		{"fixed speed", func(h *wildHealthy) bool { return h.drive == simulate.FixedSpeed }},
		{"variable speed", func(h *wildHealthy) bool { return h.drive == simulate.VariableSpeed }},
		{"digital scroll", func(h *wildHealthy) bool { return h.drive == simulate.DigitalScroll }},
	}
	wrong, kinds := map[string]int{}, map[string]int{}
	for k, g := range groups {
		years, false_, critical, warned, units, judged := 0.0, 0, 0, 0, 0, 0
		for i := range results {
			h := &results[i]
			if !g.is(h) {
				continue
			}
			units++
			years += h.years
			critical += h.critical
			warned += h.warned
			if h.judged {
				judged++
			}
			for f, c := range h.wrong {
				false_ += c
				if k == 0 {
					wrong[f] += c
				}
			}
			for f, c := range h.types {
				if k == 0 {
					kinds[f] += c
				}
			}
		}
		bound := poissonBound(false_, years)
		if k == 0 {
			w.healthyAims(false_, critical, warned, years, bound)
		}
		fmt.Fprintf(w.out, "| %s | %.1f | %d of %d | %d | %.2f | %.2f | %.2f | %.2f |\n", g.name, years, judged, units, false_, float64(false_)/years, bound,
			float64(critical)/years/12, float64(warned)/years/12)
	}
	fmt.Fprintf(w.out, "\nFalse predictions by fault: %s. Alerts by type: %s.\n\n", tallied(wrong), tallied(kinds))
}

// poissonBound is the exact upper bound of a rate a year, one-sided, at 95 %.
func poissonBound(n int, years float64) float64 {
	return distuv.ChiSquared{K: 2 * float64(n+1)}.Quantile(0.95) / 2 / years
}

// printWithout prints what the same units brought without each measurement.
func (w *wildRun) printWithout(results [][]wildHealthy) {
	fmt.Fprintln(w.out, "| healthy units without | device-years | false predictions | a device-year | 95 % upper bound | of what |")
	fmt.Fprintln(w.out, "|---|---|---|---|---|---|")
	all, total := 0.0, map[string]int{}
	row := func(name string, years float64, wrong map[string]int) {
		n := 0
		for _, c := range wrong {
			n += c
		}
		fmt.Fprintf(w.out, "| %s | %.1f | %d | %.2f | %.2f | %s |\n", name, years, n, float64(n)/years, poissonBound(n, years), tallied(wrong))
	}
	for k, f := range withoutFields {
		years, wrong := 0.0, map[string]int{}
		for _, unit := range results {
			if len(unit) == 1 {
				continue
			}
			years += unit[1+k].years
			for name, c := range unit[1+k].wrong {
				wrong[name] += c
				total[name] += c
			}
		}
		all += years
		row(f.String(), years, wrong)
	}
	row("**all**", all, total)
	fmt.Fprintln(w.out)
}

// withoutFields are the measurements that a unit may lack, in turn.
var withoutFields = [...]rimewatch.Field{
	rimewatch.ProductZoneTemp, rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp, rimewatch.AmbientTemp,
	rimewatch.Voltage, rimewatch.AmpDraw, rimewatch.VibrationLevel,
}

// tallied lists counts, most first.
func tallied(m map[string]int) string {
	if len(m) == 0 {
		return "none"
	}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// cutNear reports whether a power cut explains what happens at a moment.
func cutNear(w *simulate.Wild, at rimewatch.Time) bool {
	for i := range w.Cut {
		if at >= w.Cut[i].Onset && at < w.Cut[i].End+4*rimewatch.Hour {
			return true
		}
	}
	return false
}

// explained reports whether an alert of a unit that nothing ails is right all the
// same: the mains were cut, a door was held open for a quarter of an hour or longer,
// the unit has truly iced up, or its goods are truly too warm or too cold, or were within
// the six hours that an alert of their keeping judges.
func explained(w *simulate.Wild, is truth, typ rimewatch.AlertType, at rimewatch.Time) bool {
	outside := typ == rimewatch.HighTemperature || typ == rimewatch.LowTemperature
	if cutNear(w, at) || is&iced != 0 || outside && is&goodsOut != 0 || typ == rimewatch.ExcessiveRunTime && is&goodsWere != 0 {
		return true
	}
	for i := range w.Config.Events {
		if e := &w.Config.Events[i]; e.Kind == simulate.DoorHeld && e.Value >= 900 && at >= e.At && at < e.At+4*rimewatch.Hour {
			return true
		}
	}
	return false
}

// trulyIced reports whether a prediction of icing is right: nothing ails the unit, but
// it has iced up.
func trulyIced(e *event, is truth) bool {
	return e.typ == rimewatch.EvaporatorIcingSuspected && is&iced != 0
}

// icedUp is the share of the frost that closes an evaporator from which a unit has
// truly iced up.
const icedUp = 0.5

// watchWild watches a unit that nothing ails, once for each set of measurements that
// it lacks.
func watchWild(equipment string, seed uint64, lacks ...rimewatch.Fields) ([]wildHealthy, error) {
	start := startOf(seed * 5)
	end := start + healthyDays*rimewatch.Day
	wild, err := simulate.Draw(equipment, seed, start, end, false)
	if err != nil {
		return nil, err
	}
	l, err := live(&wild, wild.Cut, end)
	if err != nil {
		return nil, err
	}
	all := make([]wildHealthy, len(lacks))
	for i, without := range lacks {
		h := &all[i]
		*h = wildHealthy{years: healthyDays / 365.0, wrong: map[string]int{}, types: map[string]int{}, drive: wild.Config.Params.Drive}
		judge := l.judged(without, func(_ *rimewatch.Reading, is truth, out []event) {
			for i := range out {
				h.take(&wild, &out[i], is)
			}
		})
		h.judged = !judge.state.Unit.Learning()
	}
	return all, nil
}

// take counts an event. A warning that becomes critical counts as both.
func (h *wildHealthy) take(w *simulate.Wild, e *event, is truth) {
	switch {
	case e.what != "opened" && (e.what != "escalated" || e.predicts) || ofRecording(e.typ):
	case e.predicts:
		if !trulyIced(e, is) {
			h.wrong[e.fault]++
		}
	case explained(w, is, e.typ, e.at):
	case e.severity == rimewatch.Critical:
		h.critical++
		h.types["critical "+string(e.typ)]++
	default:
		h.warned++
		h.types[string(e.typ)]++
	}
}
