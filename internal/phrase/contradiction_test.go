package phrase_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

var (
	noTime = regexp.MustCompile(`(^|[^0-9.,])0\x{a0}(s|min|h|d)([^0-9a-z]|$)`)
	// A claim that something is beyond a limit, in the languages that are whole.
	claims = regexp.MustCompile(`has started \S+ times in the last hour|running for only|has been running|more than usual|than usual for this ambient|than the product zone|has been too (warm|cold)|above its limit|below its limit|lleva .* (demasiado|por encima|por debajo)|por encima de su límite|por debajo de su límite`)
)

// pair is a value with its limit as English writes them.
var pair = regexp.MustCompile(`(?: at| drawing) (−?[0-9.,]+)[^.;(]*\(limit (−?[0-9.,]+)`)

// number is one that English writes.
func number(t *testing.T, s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.NewReplacer(",", "", "−", "-").Replace(s), "."), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNoSentenceContradictsItsNumber: over all rules, values on both sides of their limits and next to
// them, states, units and languages, a sentence claims that a value is beyond its limit only where
// it is, the value reads otherwise than the limit, and nothing has lasted for no time.
func TestNoSentenceContradictsItsNumber(t *testing.T) {
	said := 0
	for i := range scenes {
		sc := &scenes[i]
		side := 0.0
		switch {
		case strings.HasPrefix(string(sc.typ), "high_"):
			side = 1
		case strings.HasPrefix(string(sc.typ), "low_"):
			side = -1
		}
		if _, departs := rimewatch.CutDeviation(sc.metric); departs && side == 0 {
			side = 1
		}
		switch sc.metric {
		case rimewatch.StartsPerHour, rimewatch.RunTimeShare:
			side = 1
		case rimewatch.RunLength:
			side = -1
		}
		for _, limit := range []float64{sc.warn, sc.crit} {
			for _, off := range []float64{-40, -5, -0.3, -0.04, -0.004, 0, 0.004, 0.04, 0.3, 5, 40} {
				for _, severity := range []rimewatch.Severity{rimewatch.Warning, rimewatch.Critical} {
					for _, minutes := range []int{0, 1, 90} {
						a := sc.alertOf(minutes, limit+off)
						a.Threshold, a.Severity = &limit, severity
						if a.Value == nil {
							continue
						}
						if side == 0 && (*a.Value < 0 || limit == 0) {
							continue // a span or a count
						}
						for _, l := range []rimewatch.Locale{{}, {Units: "f"}, {Language: "es"}, {Language: "es", Units: "f"}} {
							w := phrase.In(l)
							text := w.Message(a)
							said++
							if noTime.MatchString(text) && sc.delay+minutes == 0 || strings.Contains(text, " 0\u00a0min ") && (a.Unit == "min" || a.Unit == "s") {
								t.Errorf("%s of %v %s: %s", sc.typ, *a.Value, sc.unit, text)
							}
							if side == 0 {
								continue
							}
							beyond := side*off > 0
							if m := pair.FindStringSubmatch(text); m != nil && l.Language == "" && side*(number(t, m[1])-number(t, m[2])) <= 0 {
								t.Errorf("%s, %v at a limit of %v: %s", sc.typ, *a.Value, limit, text)
							}
							if !beyond && claims.MatchString(text) {
								t.Errorf("%s, %v at a limit of %v: %s", sc.typ, *a.Value, limit, text)
							}
							value, of := w.Quantity(*a.Value, sc.unit), w.Quantity(limit, sc.unit)
							if off != 0 && value == of && strings.Count(text, of) > 1 {
								t.Errorf("%s, %v at a limit of %v reads as the limit: %s", sc.typ, *a.Value, limit, text)
							}
						}
					}
				}
			}
		}
	}
	if said < 10_000 {
		t.Errorf("only %d sentences", said)
	}
}
