package evaluate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// speech renders every sentence that people read of a unit, for several readers, and
// keeps those that are silly.
type speech struct {
	readers []phrase.Words
	said    int
	silly   []string
}

func newSpeech() *speech {
	s := &speech{}
	for _, l := range []rimewatch.Locale{{}, {Units: "f"}, {Language: "es"}} {
		s.readers = append(s.readers, phrase.In(l))
	}
	return s
}

// say renders what a transition is read as.
func (s *speech) say(t *alert.Transition) {
	a := alertOf(t)
	for _, w := range s.readers {
		s.check(w.Title(&a), w.Message(&a))
		if t.Kind == rimewatch.TransitionResolved {
			s.check(w.Ending(&a))
		} else {
			s.check(w.Headline(&a, t.At))
		}
		if p := w.Prediction(t.Prediction); p != nil {
			s.check(p.RecommendedAction, p.WhatWouldChangeIt)
			for i := range p.Evidence {
				s.check(p.Evidence[i].Text)
			}
		}
	}
}

// title is the headline of a transition in English.
func (s *speech) title(t *alert.Transition) string {
	a := alertOf(t)
	return s.readers[0].Title(&a)
}

// alertOf is the alert that a transition makes.
func alertOf(t *alert.Transition) rimewatch.Alert {
	a := rimewatch.Alert{
		Type: t.Type, Part: t.Part, Severity: t.Severity, Status: rimewatch.AlertActive, Metric: t.Metric, Unit: t.Unit, ConditionStartedAt: t.ConditionStartedAt,
		LastEvaluatedAt: t.At, TriggeredAt: t.At, Occurrences: t.Occurrences, Flapping: t.Flapping, Prediction: t.Prediction, Relearning: t.Relearning,
		Unmet: t.Unmet, Ending: t.Ending, Superseded: t.Superseded,
	}
	for _, fact := range []struct {
		has  bool
		from *float64
		to   **float64
	}{{t.HasValue, &t.Value, &a.Value}, {t.HasValue, &t.Peak, &a.PeakValue}, {t.HasThreshold, &t.Threshold, &a.Threshold}, {t.HasHold, &t.HoldHours, &a.HoldH}, {t.HasUsual, &t.Usual, &a.Usual}} {
		if fact.has {
			v := *fact.from
			*fact.to = &v
		}
	}
	if t.Kind == rimewatch.TransitionResolved {
		if a.Status, a.ResolvedAt, a.Resolution = rimewatch.AlertResolved, t.At, t.Resolution; a.Resolution == "" {
			a.Resolution = rimewatch.ResolvedAuto
		}
	}
	return a
}

func (s *speech) check(texts ...string) {
	for _, text := range texts {
		s.said++
		if why := silliness(text); why != "" {
			s.silly = append(s.silly, fmt.Sprintf("%s: %q", why, text))
		}
	}
}

var (
	noWord    = regexp.MustCompile(`NaN|Inf\b|%!|%[a-zA-Z]|<nil>|nil\b|\bnull\b`)
	emptySlot = regexp.MustCompile(`^\s*$|\(\s*\)|  |(^|[ (])–($|[ ).,;])|: ?\.|:\s*$| \.(\s|$)|“”`)
	precise   = regexp.MustCompile(`\d[.,]\d{3}|\d{7}|[−-]0([.,]0+)?[ °%]`)
	quantity  = regexp.MustCompile(`([−-]?\d+(?:[.,]\d+)?) (°C|°F|%|V|A|mm/s|d|h|min|s|K)(?:[^\p{L}/]|$)`)
)

// possible are the quantities that can be, by unit: what a reading may hold, and times
// within the life of a machine.
var possible = map[string][2]float64{
	"°C": {-150, 300}, "°F": {-270, 540}, "%": {0, 2000}, "V": {0, 1000}, "A": {0, 2000}, "mm/s": {0, 500},
	"d": {0, 400}, "h": {0, 100}, "min": {0, 120}, "s": {1, 120},
}

// silliness says what is wrong with a sentence, "" when it makes sense.
func silliness(text string) string {
	plain := strings.ReplaceAll(strings.ReplaceAll(text, "\u00a0", " "), "\u202f", " ")
	switch {
	case noWord.MatchString(plain):
		return "no words"
	case emptySlot.MatchString(plain):
		return "an empty slot"
	case precise.MatchString(plain):
		return "absurd precision"
	}
	for _, m := range quantity.FindAllStringSubmatch(plain, -1) {
		v, err := strconv.ParseFloat(strings.NewReplacer("−", "-", ",", ".").Replace(m[1]), 64)
		switch is, known := possible[m[2]]; {
		case err != nil || known && (v < is[0] || v > is[1]):
			return "an impossible number"
		case !known:
			return "an odd unit"
		}
	}
	return ""
}

// garbles are texts that devices send where they have no number.
var garbles = []string{`NaN`, `"NaN"`, `"nan"`, `Infinity`, `-Infinity`, `"inf"`, `1e999`, `""`, `"n/a"`, `"-"`, `"--.-"`, `true`, `[]`, `{}`, `"12,5"`, `0x1F`, `1.5.2`, `+-3`}

// garbledTaken sends a reading with a text in place of one of its numbers through the
// decoder of the API, alone and as a line of a batch, and reports whether either takes it.
func garbledTaken(a *arrival, i int, s *speech) bool {
	body := garbled(a, i)
	var sent wire.SentReading
	taken := false
	see := func(e *rimewatch.Error) {
		if taken = taken || e == nil; e != nil {
			s.check(e.Message)
			for field, whys := range e.Fields {
				for _, why := range whys {
					s.check(field + " " + why)
				}
			}
			if e.Code != rimewatch.CodeInvalidJSON && e.Code != rimewatch.CodeValidationFailed {
				s.silly = append(s.silly, "refused with "+string(e.Code))
			}
		}
	}
	see(wire.DecodeReading(body, &sent))
	var b wire.Batch
	if e := b.ReadLines(append(body, '\n'), see); e != nil {
		see(e)
	}
	return taken
}

// garbled is a reading as JSON in which the i-th text stands for its zone temperature, or for
// the first that it has.
func garbled(a *arrival, i int) []byte {
	b := []byte(`{"device_serial":"SPOILT-1"`)
	bad := garbles[i%len(garbles)]
	for f := range rimewatch.NumCore {
		v, has := a.Value(f)
		if !has && bad == "" {
			continue
		}
		b = append(b, `,"`+f.String()+`":`...)
		if bad != "" {
			b, bad = append(b, bad...), ""
			continue
		}
		b = wire.AppendNumber(b, v)
	}
	b = append(b, `,"recorded_at":`...)
	b = wire.AppendTime(b, a.At)
	return append(b, '}')
}
