package evaluate

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// injection turns the end of a recording into a failure that begins at a moment:
// it returns the temperature from then on, s being min since and v what the
// recording holds.
type injection struct {
	name string
	hump bool // it begins with a hump, otherwise at any time
	make func(s, v, start, peak, length float64, at func(min float64) float64) float64
}

// injections are failures as they look at a probe. start is the zone before, °C,
// peak and length, min, those of the hump that was recorded there.
var injections = []injection{
	{"the warmth stays", true, func(s, v, _, peak, length float64, at func(float64) float64) float64 {
		if s < length/2 {
			return v
		}
		return max(v, peak-0.3)
	}},
	{"it warms on", true, func(s, v, _, peak, length float64, _ func(float64) float64) float64 {
		if s < length/2 {
			return v
		}
		return max(v, peak+0.15*(s-length/2))
	}},
	{"twice as long", true, func(s, _, _, _, _ float64, at func(float64) float64) float64 { return at(s / 2) }},
	{"half back", true, func(s, v, start, peak, length float64, _ func(float64) float64) float64 {
		if s < length/2 {
			return v
		}
		return max(v, start+(peak-start)/2)
	}},
	{"slow rise", false, func(s, v, start, _, _ float64, _ func(float64) float64) float64 { return max(v, start+0.1*s) }},
	{"door open", false, func(s, v, start, _, _ float64, _ func(float64) float64) float64 {
		return max(v, start+14*(1-math.Exp(-s/12)))
	}},
	{"a rise like a defrost's that does not end", false, func(s, v, start, peak, length float64, _ func(float64) float64) float64 {
		return max(v, start+(peak-start)*math.Min(1, s/(length/2)))
	}},
}

// recordedHump is a warm spell of a recording, by row.
type recordedHump struct {
	from, to, top int
}

// humpsOf finds warm spells of a recording by its own statistics: more than
// half of the way from the median to the warmest tenth of a percent.
func humpsOf(list []rimewatch.Reading) (found []recordedHump) {
	var all []float64
	for i := range list {
		if v, ok := list[i].Value(rimewatch.ProductZoneTemp); ok {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	median, top := all[len(all)/2], all[len(all)*998/1000]
	line, base := median+(top-median)/2, median+(top-median)/6
	in := false
	for i := range list {
		v, ok := list[i].Value(rimewatch.ProductZoneTemp)
		switch {
		case !ok:
		case !in && v > line:
			from := i
			for from > 0 && list[from].Values[rimewatch.ProductZoneTemp] > base {
				from--
			}
			in, found = true, append(found, recordedHump{from: from, top: i})
		case in && v < base:
			in, found[len(found)-1].to = false, i
		case in:
			if h := &found[len(found)-1]; v > list[h.top].Values[rimewatch.ProductZoneTemp] {
				h.top = i
			}
		}
	}
	// What is shorter than a quarter of an hour is a hand on the probe, no defrost.
	return slices.DeleteFunc(found, func(h recordedHump) bool {
		return h.to == 0 || list[h.to].At-list[h.from].At < 15*rimewatch.Minute
	})
}

// injectAll measures how much later failures in a recording are reported than by the
// plain rule, and how many of its own defrosts are reported, by the delay of the limit.
func injectAll(name string, types []string, list []rimewatch.Reading, stdout io.Writer) {
	humps := humpsOf(list)
	fmt.Fprintf(stdout, "%s: %d defrosts recorded. Those after the third that pass the limit, and failures put in instead of later ones or anywhere after them:\n\n", name, len(humps))
	fmt.Fprintln(stdout, "| limit, °C | delay, min | ordinary defrosts reported, plain / with | failures reported | later than plain: median, 90 %, longest, min | after the stated moment | not reported although plain is |")
	fmt.Fprintln(stdout, "|---|---|---|---|---|---|---|")
	for _, limit := range []float64{-15, -10} {
		for _, delay := range []int{15, 30, 45, 60} {
			injectAt(types[0], list, humps, limit, delay, stdout)
		}
	}
	fmt.Fprintln(stdout)
}

func judgeAt(typ string, limit float64, delay int, without alert.Rules) *unitJudge {
	crit := limit + 25
	judge := newUnitJudge(typ, &rimewatch.LimitOverrides{TempMax: &limit, CriticalMax: &crit})
	judge.cfg.Alert.Limits.DelayS = delay * 60
	judge.cfg.Alert.Rules &^= without
	return judge
}

// warned plays readings and returns the first high_temperature reported from a row on,
// and the first moment that was stated for it.
func warned(judge *unitJudge, list []rimewatch.Reading, from int) (at, stated rimewatch.Time) {
	var out []event
	for i := range list {
		out = judge.take(&list[i], out[:0])
		if until, ok := judge.state.Alert.Kept(); ok && stated == 0 && i >= from {
			stated = until
		}
		for k := range out {
			if e := &out[k]; e.typ == rimewatch.HighTemperature && e.what == "opened" && e.at >= list[from].At {
				return e.at, stated
			}
		}
	}
	return 0, stated
}

func injectAt(typ string, list []rimewatch.Reading, humps []recordedHump, limit float64, delay int, stdout io.Writer) {
	plainReported, reported := 0, 0
	if len(humps) > 3 {
		for k, without := range []alert.Rules{plainRules, 0} {
			n := 0
			judge := judgeAt(typ, limit, delay, without)
			var out []event
			for i := range list {
				out = judge.take(&list[i], out[:0])
				for _, e := range out {
					if e.typ == rimewatch.HighTemperature && e.what == "opened" && e.at >= list[humps[3].from].At {
						n++
					}
				}
			}
			if k == 0 {
				plainReported = n
			} else {
				reported = n
			}
		}
	}
	var late []float64
	cases, after, lost := 0, 0, 0
	for _, in := range injections {
		for _, at := range injectionRows(list, humps, in.hump) {
			changed := in.into(list, at)
			from := at.from
			p, _ := warned(judgeAt(typ, limit, delay, plainRules), changed, from)
			if p == 0 {
				continue
			}
			cases++
			a, stated := warned(judgeAt(typ, limit, delay, 0), changed, from)
			if a == 0 {
				lost++
				continue
			}
			late = append(late, float64(a-p)/float64(rimewatch.Minute))
			if stated != 0 && a > stated+rimewatch.Minute {
				after++
			}
		}
	}
	longest := math.NaN()
	if len(late) > 0 {
		longest = slices.Max(late)
	}
	fmt.Fprintf(stdout, "| %g | %d | %d / %d | %d of %d | %.0f, %.0f, %.0f | %d | %d |\n", limit, delay, plainReported, reported, cases-lost, cases,
		quantile(late, 0.5), quantile(late, 0.9), longest, after, lost)
}

// injectionRows are where failures begin: at the humps after the second, or every
// seven hours after it, with the shape of the hump before.
func injectionRows(list []rimewatch.Reading, humps []recordedHump, atHump bool) (at []recordedHump) {
	if len(humps) < 3 {
		return nil
	}
	if atHump {
		return humps[2:]
	}
	for row := humps[2].to; row < len(list)-200; row++ {
		if (list[row].At-list[humps[2].to].At)%(7*rimewatch.Hour) == 0 && (len(at) == 0 || row > at[len(at)-1].from) {
			h := humps[2]
			at = append(at, recordedHump{from: row, to: row + h.to - h.from, top: h.top})
		}
	}
	return at
}

// into returns the recording up to a moment and six hours of the failure.
func (in *injection) into(list []rimewatch.Reading, h recordedHump) []rimewatch.Reading {
	const f = rimewatch.ProductZoneTemp
	begin := list[h.from].At
	minutes := func(row int) float64 { return float64(list[row].At-begin) / float64(rimewatch.Minute) }
	value := func(min float64) float64 {
		row := h.from
		for row < len(list)-1 && minutes(row) < min {
			row++
		}
		return list[row].Values[f]
	}
	length := minutes(h.to)
	if !in.hump {
		length = 60
	}
	var out []rimewatch.Reading
	start, peak := list[h.from].Values[f], list[h.top].Values[f]
	for i := range list {
		r := list[i]
		if r.At > begin+6*rimewatch.Hour {
			break
		}
		if i >= h.from && r.Present.Has(f) {
			v := in.make(minutes(i), r.Values[f], start, peak, length, value)
			r.Values[f] = math.Round(10*min(v, unitWarmest)) / 10
		}
		out = append(out, r)
	}
	return out
}

// unitWarmest is how warm a failed unit becomes at most, °C.
const unitWarmest = 22.0
