package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/lab/simulate"
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

// healthy watches units that nothing ails.
func (w *wildRun) healthy() error {
	types := wildTypes()
	n := int(math.Ceil(w.o.HealthyYears * 365 / healthyDays))
	results := make([]wildHealthy, n)
	err := parallel(w.ctx, w.o.Workers, n, func(i int) (err error) {
		results[i], err = watchWild(types[i%len(types)], w.first+uint64(i), 0)
		return err
	})
	if err != nil {
		return err
	}
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
		bound := distuv.ChiSquared{K: 2 * float64(false_+1)}.Quantile(0.95) / 2 / years
		fmt.Fprintf(w.out, "| %s | %.1f | %d of %d | %d | %.2f | %.2f | %.2f | %.2f |\n", g.name, years, judged, units, false_, float64(false_)/years, bound,
			float64(critical)/years/12, float64(warned)/years/12)
	}
	fmt.Fprintf(w.out, "\nFalse predictions by fault: %s. Alerts by type: %s.\n\n", tallied(wrong), tallied(kinds))
	return nil
}

// healthyWithout watches healthy units that lack one measurement at a time: a sixth of
// the device-years each.
func (w *wildRun) healthyWithout() error {
	types := wildTypes()
	n := int(math.Ceil(w.o.HealthyYears / 6 * 365 / healthyDays))
	fmt.Fprintln(w.out, "| healthy units without | device-years | false predictions | a device-year | 95 % upper bound | of what |")
	fmt.Fprintln(w.out, "|---|---|---|---|---|---|")
	all, total := 0.0, map[string]int{}
	row := func(name string, years float64, wrong map[string]int) {
		n := 0
		for _, c := range wrong {
			n += c
		}
		bound := distuv.ChiSquared{K: 2 * float64(n+1)}.Quantile(0.95) / 2 / years
		fmt.Fprintf(w.out, "| %s | %.1f | %d | %.2f | %.2f | %s |\n", name, years, n, float64(n)/years, bound, tallied(wrong))
	}
	for k, f := range withoutFields {
		results := make([]wildHealthy, n)
		err := parallel(w.ctx, w.o.Workers, n, func(i int) (err error) {
			seed := w.first + 300_000 + uint64(k)*1000 + uint64(i)
			results[i], err = watchWild(types[int(mixed(seed)%uint64(len(types)))], seed, 1<<f)
			return err
		})
		if err != nil {
			return err
		}
		years, wrong := 0.0, map[string]int{}
		for i := range results {
			years += results[i].years
			for name, c := range results[i].wrong {
				wrong[name] += c
				total[name] += c
			}
		}
		all += years
		row(f.String(), years, wrong)
	}
	row("**all**", all, total)
	fmt.Fprintln(w.out)
	return nil
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
// or the unit has truly iced up.
func explained(w *simulate.Wild, u *simulate.Unit, at rimewatch.Time) bool {
	if cutNear(w, at) || u.Truth().Frost >= icedUp*u.Params().FrostM {
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
func trulyIced(e *event, u *simulate.Unit) bool {
	return e.typ == rimewatch.EvaporatorIcingSuspected && u.Truth().Frost >= icedUp*u.Params().FrostM
}

// icedUp is the share of the frost that closes an evaporator from which a unit has
// truly iced up.
const icedUp = 0.5

// watchWild watches a unit that nothing ails. Without names measurements that it does
// not have.
func watchWild(equipment string, seed uint64, without rimewatch.Fields) (wildHealthy, error) {
	start := startOf(seed * 5)
	end := start + healthyDays*rimewatch.Day
	h := wildHealthy{years: healthyDays / 365.0, wrong: map[string]int{}, types: map[string]int{}}
	wild, err := simulate.Draw(equipment, seed, start, end, false)
	if err != nil {
		return h, err
	}
	wild.Config.Dirt.Missing |= without
	h.drive = wild.Config.Params.Drive
	u, err := simulate.New(wild.Config)
	if err != nil {
		return h, err
	}
	judge := watchUnit(&wild, u, end, func(_ *rimewatch.Reading, out []event) {
		for i := range out {
			e := &out[i]
			switch {
			case e.what != "opened" || ofRecording(e.typ):
			case e.predicts:
				if !trulyIced(e, u) {
					h.wrong[e.fault]++
				}
			case explained(&wild, u, e.at):
			case e.severity == rimewatch.Critical:
				h.critical++
				h.types["critical "+string(e.typ)]++
			default:
				h.warned++
				h.types[string(e.typ)]++
			}
		}
	})
	h.judged = !judge.state.Unit.Learning()
	return h, nil
}
