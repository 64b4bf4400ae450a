package evaluate

import "fmt"

// aim is a row of what is asked of the predictor on units as they may stand anywhere.
type aim struct {
	what, asked, measured string
	held                  bool
}

// share is an aim of at least so many percent.
func (w *wildRun) share(what string, least, n, of int) {
	measured := "–"
	if of > 0 {
		measured = fmt.Sprintf("%d of %d: %.1f %%", n, of, 100*float64(n)/float64(of))
	}
	w.aims = append(w.aims, aim{what, fmt.Sprintf("%d %%", least), measured, of > 0 && 100*n >= least*of})
}

// atMost is an aim of at most some amount.
func (w *wildRun) atMost(what string, most, value float64, digits int) {
	w.aims = append(w.aims, aim{what, fmt.Sprintf("%.*f", digits, most), fmt.Sprintf("%.*f", digits, value), value <= most})
}

func (w *wildRun) healthyAims(wrong, critical, warned int, years, bound float64) {
	w.atMost("false predictions a healthy device-year", 0.2, float64(wrong)/years, 2)
	w.atMost("their one-sided 95 % bound", 0.3, bound, 2)
	w.atMost("critical alerts of healthy units", 0, float64(critical), 0)
	w.atMost("warnings of them a device-month", 1, float64(warned)/years/12, 2)
}

func (w *wildRun) faultAims(slow *wildTally, without *[len(withoutFields)]wildTally) {
	w.share("slow faults found", 95, slow.found, slow.units)
	w.share("of those that led to a product alarm, before it", 95, slow.before, slow.ends)
	w.share("named right first", 85, slow.first, slow.found)
	w.share("in the first two", 95, slow.two, slow.found)
	w.share("last word right", 90, slow.last, slow.found)
	w.share("interval of the lead covers the truth", 80, slow.covered, slow.leads)
	for i := range without {
		w.share("in the first two without "+withoutFields[i].String(), 95, without[i].two, without[i].found)
	}
}

func (w *wildRun) sensorAims(named, wrong, n int) {
	w.share("sensor events reported with their name", 90, named, n)
	w.atMost("of them reported as a fault of the machine, too", 0, float64(wrong), 0)
}

// printAims prints what was asked beside what was measured.
func (w *wildRun) printAims() {
	fmt.Fprintln(w.out, "| what is asked | aim | measured | held |\n|---|---|---|---|")
	for _, a := range w.aims {
		held := "no"
		if a.held {
			held = "yes"
		}
		fmt.Fprintf(w.out, "| %s | %s | %s | %s |\n", a.what, a.asked, a.measured, held)
	}
	fmt.Fprintln(w.out)
}
