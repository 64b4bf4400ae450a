package evaluate

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Texts draws so many situations from both families and prints every sentence that people read of them, as
// it comes and as it reads later, so that somebody can read them aloud. A first seed of 0 is drawn.
func Texts(ctx context.Context, first uint64, count int, out io.Writer) error {
	first = seedSets[1].first(&Options{First: first})
	fmt.Fprintf(out, "# %d situations (--first %d)\n", count, first)
	drawn := situations(first, count)
	told := make([]string, len(drawn))
	err := parallel(ctx, 1, len(drawn), func(i int) (err error) {
		told[i], err = drawn[i].tell()
		return err
	})
	for _, s := range told {
		fmt.Fprint(out, s)
	}
	return err
}

// situation is something that happens to a unit of a family, which has some of the measurements.
type situation struct {
	fam    family
	drawn  drawn
	subset int
}

// situations draws so many, every cause in turn on each family that has it.
func situations(first uint64, count int) (list []situation) {
	for i := 0; len(list) < count; i++ {
		for k, fam := range families() {
			c := &causes[i%len(causes)]
			if c.named(k) == "" || len(list) == count {
				continue
			}
			seed := first + uint64(len(list))
			types := c.types(fam.types)
			start := startOf(seed)
			onset := start + rimewatch.Time(16+seed%9)*rimewatch.Day + rimewatch.Time(seed*7%24)*rimewatch.Hour
			d := drawn{equipment: types[int(mixed(seed)%uint64(len(types)))], seed: seed, start: start, end: onset + rimewatch.Time(c.days)*rimewatch.Day, cause: c, onset: onset}
			list = append(list, situation{fam, d, [...]int{0, 0, 1, 2, 0, 3}[mixed(seed+9)%6]})
		}
	}
	return list
}

// looks are how long after the onset somebody opens the page of the unit's alerts.
var looks = [...]rimewatch.Time{30 * rimewatch.Minute, 3 * rimewatch.Hour, 17 * rimewatch.Hour, 3 * rimewatch.Day, 15 * rimewatch.Day}

// tell plays a situation and returns what is said from an hour before its onset on.
func (s *situation) tell() (string, error) {
	p, err := s.fam.play(&s.drawn)
	if err != nil {
		return "", err
	}
	r := reader{words: phrase.In(rimewatch.Locale{}), onset: s.drawn.onset, open: map[string]rimewatch.Alert{}}
	fmt.Fprintf(&r.out, "\n## %s: %s of the %s family with %s, every %v (seed %d)\n\n", s.drawn.cause.name, s.drawn.equipment, s.fam.name, subsets[s.subset].name, p.sample, s.drawn.seed)
	judge, events, look := newUnitJudge(p.equipment, nil), []event(nil), 0
	without := rimewatch.CoreFields &^ subsets[s.subset].has
	for i := range p.readings {
		reading := p.lacking(i, without)
		events = judge.take(&reading, events[:0])
		for k := range judge.alerts {
			r.hear(&judge.alerts[k], p.truths[i])
		}
		for ; look < len(looks) && reading.At >= s.drawn.onset+looks[look]; look++ {
			r.look(judge, reading.At, p.truths[i])
		}
	}
	return r.out.String(), nil
}

// reader is somebody who reads all that is said of a unit.
type reader struct {
	words phrase.Words
	onset rimewatch.Time
	open  map[string]rimewatch.Alert // by type and part
	out   strings.Builder
}

// hear reads a change of an alert.
func (r *reader) hear(t *alert.Transition, is truth) {
	a := alertOf(t)
	name := string(t.Type) + " " + t.Part
	title := r.words.Title(&a)
	if t.Kind == rimewatch.TransitionResolved {
		title = r.words.Ending(&a)
		delete(r.open, name)
	} else {
		r.open[name] = a
	}
	if t.At < r.onset-rimewatch.Hour {
		return
	}
	r.line(t.At, is, string(t.Kind)+" "+string(t.Severity), title, &a)
	if pr := r.words.Prediction(t.Prediction); pr != nil {
		for i := range pr.Evidence {
			fmt.Fprintf(&r.out, "  - %s\n", pr.Evidence[i].Text)
		}
		fmt.Fprintf(&r.out, "  - %s %s\n", pr.RecommendedAction, pr.WhatWouldChangeIt)
	}
}

// look reads what is open at a moment.
func (r *reader) look(judge *unitJudge, at rimewatch.Time, is truth) {
	for now := range judge.state.Alert.Active(&judge.state.Unit) {
		a, known := r.open[string(now.Type)+" "+now.Part]
		if !known {
			continue
		}
		if a.LastEvaluatedAt = at; now.HasValue {
			a.Value, a.PeakValue = &now.Value, &now.Peak
		}
		r.line(at, is, "stands "+string(now.Severity), r.words.Headline(&a, at), &a)
	}
}

func (r *reader) line(at rimewatch.Time, is truth, what, title string, a *rimewatch.Alert) {
	state := "stands"
	if is&running != 0 {
		state = "runs"
	}
	if is&melts != 0 {
		state = "melts"
	}
	since := time.Duration(at-r.onset) * time.Millisecond
	fmt.Fprintf(&r.out, "- %+.1f h (%s) %s %s: **%s** %s\n", since.Hours(), state, what, a.Type, title, r.words.Message(a))
}
