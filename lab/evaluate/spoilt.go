package evaluate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

const (
	spoiltDays  = 42 // of a unit's life
	spoiltAfter = 21 // days of it from which on it is spoilt, but for what was never right
)

// arrival is a reading as the service gets it, and what was true of its unit.
type arrival struct {
	rimewatch.Reading
	now rimewatch.Time
	is  truth
}

// spoiling is a unit whose readings are about to be spoilt.
type spoiling struct {
	*rand.Rand
	wild       *simulate.Wild
	equipment  string    // that is declared
	list       []arrival // in the order of arrival
	texts      bool      // a measurement comes as a text that is no number
	from, end  rimewatch.Time
	fields     rimewatch.Fields // what is wrong with these, if that is all
	right      rimewatch.Time   // critical alerts up to then are right: the goods are warm
	start      rimewatch.Time
	equipments []string
	usual      map[string][]rimewatch.Time // when the unit as it is brings alerts, by type
	none       bool                        // this way does not concern it
	err        error
}

// spoilt is what became of a unit whose readings were spoilt in one way.
type spoilt struct {
	crash           string
	none            bool    // this way does not concern the unit
	days            float64 // judged, since it was spoilt
	rows, refused   int
	told            bool
	after           float64 // d, to the first alert that is due
	predicted       int     // false ones
	critical        int     // likewise
	types           map[string]int
	opened          map[string][]rimewatch.Time // when alerts opened or became critical, of the unit as it is
	says            string                      // the headline of the first alert that is due
	sentences       int
	silly           []string
	stored, garbled int // rows with a text for a number that were taken, and that were sent
}

// runSpoilt plays healthy units of every equipment type whose readings are spoilt on the
// way and prints Markdown: one row a way, all of them for the same units.
func runSpoilt(ctx context.Context, o *Options, stdout io.Writer) error {
	types := wildTypes()
	for _, set := range seedSets {
		if o.SeedSet != "" && o.SeedSet != set.name {
			continue
		}
		first, n := set.first(o), max(1, o.Seeds)*len(types)
		results := make([][]spoilt, n)
		err := parallel(ctx, o.Workers, n, func(i int) (err error) {
			results[i], err = spoilUnit(ctx, types[i%len(types)], first+300_000+uint64(i), types)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "#### %s%s (from %d)\n\n", strings.ToUpper(set.label[:1]), set.label[1:], first)
		printSpoilt(stdout, results)
	}
	return nil
}

// spoilUnit plays one unit in every way.
func spoilUnit(ctx context.Context, equipment string, seed uint64, types []string) ([]spoilt, error) {
	start := startOf(seed * 5)
	end := start + spoiltDays*rimewatch.Day
	wild, err := simulate.Draw(equipment, seed, start, end, false)
	if err != nil {
		return nil, err
	}
	whole, err := arrivals(&wild, wild.Config, start, end)
	if err != nil {
		return nil, err
	}
	results := make([]spoilt, len(spoils))
	var usualAt map[string][]rimewatch.Time
	for k := range spoils {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &spoiling{
			Rand: rand.New(rand.NewPCG(seed, uint64(k))), wild: &wild, equipment: equipment, equipments: types, usual: usualAt,
			list: slices.Clone(whole), start: start, from: start + spoiltAfter*rimewatch.Day, end: end,
		}
		if spoils[k].make != nil {
			spoils[k].make(c)
		}
		if c.err != nil {
			return nil, c.err
		}
		if results[k].none = c.none; !c.none {
			results[k] = c.play(&spoils[k])
		}
		usualAt = results[0].opened
	}
	return results, nil
}

// arrivals draws what a unit sends and when it arrives: at once.
func arrivals(w *simulate.Wild, cfg simulate.Config, from, end rimewatch.Time) ([]arrival, error) {
	cfg.Start = from
	drawn := *w
	drawn.Config = cfg
	l, err := live(&drawn, cfg.Faults, end)
	if err != nil {
		return nil, err
	}
	list := make([]arrival, len(l.readings))
	for i := range l.readings {
		list[i] = arrival{l.readings[i], l.readings[i].At, l.truths[i]}
	}
	return list, nil
}

// admitted reports whether the service takes a reading, as its frame decides: by the
// ranges of the measurements, and by its time.
func admitted(r *rimewatch.Reading, now rimewatch.Time) bool {
	if r.At > now+rimewatch.FutureTolerance {
		return false
	}
	for f := range rimewatch.NumCore {
		switch v, has := r.Value(f); {
		case !has || f.Accepts(v):
		case rimewatch.Sentinel(f, v):
			r.Present, r.Faults, r.Values[f] = r.Present&^(1<<f), r.Faults.With(f), 0
		default:
			return false
		}
	}
	return true
}

// play judges what is left of a unit. A program that crashes over it is no end of the
// evaluation: it is what the evaluation looks for.
func (c *spoiling) play(s *spoil) (res spoilt) {
	res = spoilt{types: map[string]int{}, opened: map[string][]rimewatch.Time{}, days: float64(c.end-c.from) / float64(rimewatch.Day)}
	defer func() {
		if e := recover(); e != nil {
			res.crash = fmt.Sprint(e)
		}
	}()
	judge, speech := newUnitJudge(c.equipment, nil), newSpeech()
	var out []event
	stored := make(map[rimewatch.Time]bool, len(c.list))
	for i := range c.list {
		a := &c.list[i]
		out = judge.passed(a.now, out[:0])
		res.rows++
		taken := admitted(&a.Reading, a.now) && !stored[a.At] // a duplicate reaches nobody
		if c.texts && a.now >= c.from {
			res.garbled++
			taken = garbledTaken(a, i, speech)
			if taken {
				res.stored++
			}
		}
		if taken {
			a.ReceivedAt, stored[a.At] = a.now, true
			out = judge.arrived(&a.Reading, a.now, out)
		} else {
			res.refused++
		}
		c.hear(s, &res, speech, judge, out, a.is)
	}
	out = judge.passed(c.end, out[:0])
	c.hear(s, &res, speech, judge, out, 0)
	var back engine.State
	if err := back.UnmarshalBinary(judge.state.AppendBinary(nil)); err != nil {
		res.crash = err.Error()
	}
	res.sentences, res.silly = speech.said, speech.silly
	return res
}

// hear takes what was made of a moment.
func (c *spoiling) hear(s *spoil, res *spoilt, speech *speech, judge *unitJudge, out []event, is truth) {
	for i := range judge.alerts {
		speech.say(&judge.alerts[i])
	}
	for i := range out {
		e := &out[i]
		name := string(e.typ)
		switch {
		case e.predicts:
			name = "predicted " + e.fault
		case e.severity == rimewatch.Critical:
			name = "critical " + name
		}
		if e.what != "opened" && (e.what != "escalated" || e.predicts) || trulyIced(e, is) {
			continue
		}
		res.opened[name] = append(res.opened[name], e.at)
		if e.at < c.from {
			continue
		}
		if !res.told && e.what == "opened" && s.tells(c, e) {
			res.told, res.after, res.says = true, float64(e.at-c.from)/float64(rimewatch.Day), speech.title(&judge.alerts[i])
		}
		if e.predicts {
			res.predicted++
		}
		if usual(e.at, c.usual[name]) {
			continue
		}
		res.types[name]++
		if e.severity == rimewatch.Critical && !e.predicts && e.at > c.right && e.typ != rimewatch.DeviceOffline && !explained(c.wild, is, e.typ, e.at) {
			res.critical++
		}
	}
}

// tells reports whether an alert is one that is due, of a measurement that is spoilt if
// it is about a sensor.
func (s *spoil) tells(c *spoiling, e *event) bool {
	if !slices.Contains(s.due, e.typ) {
		return false
	}
	named := measuredBy(e.metric)
	switch e.typ {
	case rimewatch.SensorFault:
		return named&c.fields != 0
	case rimewatch.SensorStale: // without a name nothing comes
		return named == 0 || named&c.fields != 0
	default:
		return true
	}
}

// mostExamples is how many silly sentences are printed.
const mostExamples = 5

const spoiltHead = "| spoilt by | units | due | raised | after, median | rows not taken | crashes | false predictions a device-year | false critical alerts | silly sentences | alerts that the unit as it is does not bring | what the product says |\n|---|---|---|---|---|---|---|---|---|---|---|---|"

// printSpoilt prints a row a way.
func printSpoilt(out io.Writer, results [][]spoilt) {
	fmt.Fprintln(out, spoiltHead)
	var silly []string
	all := spoilt{}
	crashes := 0
	for k := range spoils {
		sum := spoilt{types: map[string]int{}}
		told, units, crashed, says := 0, 0, 0, map[string]int{}
		var after []float64
		for i := range results {
			r := &results[i][k]
			if r.none {
				continue
			}
			units++
			sum.add(r)
			if r.told {
				told++
				after = append(after, r.after)
				says[r.says]++
			}
			if r.crash != "" {
				crashed++
				silly = append(silly, fmt.Sprintf("%s: %s", spoils[k].name, r.crash))
			}
			silly = append(silly, r.silly...)
		}
		all.add(&sum)
		crashes += crashed
		s := &spoils[k]
		due, toldOf, median := "nothing", "–", "–"
		if len(s.due) > 0 {
			due, toldOf, median = s.dueNames(), fmt.Sprintf("%d of %d", told, units), amount(quantile(after, 0.5))
		}
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %d | %.2f | %d | %d | %s | %s |\n", s.name, units, due, toldOf, median,
			share(sum.refused, sum.rows), crashed, float64(sum.predicted)/(sum.days/365), sum.critical, len(sum.silly), tallied(sum.types), s.said(says))
	}
	fmt.Fprintf(out, "\nDevice-years since they were spoilt: %.1f. Crashes: %d. Sentences: %d, of them silly: %d. Rows in which a text stands for a number: %d sent, %d stored.\n",
		all.days/365, crashes, all.sentences, len(all.silly), all.garbled, all.stored)
	for _, s := range silly[:min(len(silly), mostExamples)] {
		fmt.Fprintf(out, "- %s\n", s)
	}
	fmt.Fprintln(out)
}

func (s *spoilt) add(o *spoilt) {
	s.days, s.rows, s.refused = s.days+o.days, s.rows+o.rows, s.refused+o.refused
	s.predicted, s.critical, s.sentences = s.predicted+o.predicted, s.critical+o.critical, s.sentences+o.sentences
	s.stored, s.garbled, s.silly = s.stored+o.stored, s.garbled+o.garbled, append(s.silly, o.silly...)
	for t, n := range o.types {
		if s.types != nil {
			s.types[t] += n
		}
	}
}

// share is a part in percent; what is less than one is said, too.
func share(n, of int) string {
	switch p := 100 * float64(n) / float64(max(1, of)); {
	case n == 0:
		return "0"
	case p < 1:
		return "< 1 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

func (s *spoil) dueNames() string {
	names := make([]string, len(s.due))
	for i, t := range s.due {
		names[i] = string(t)
	}
	return strings.Join(names, " or ")
}

// said is what the product says most often, or why it says nothing.
func (s *spoil) said(says map[string]int) string {
	most := ""
	for t, n := range says {
		if n > says[most] || n == says[most] && t < most {
			most = t
		}
	}
	switch {
	case s.note != "" && most != "":
		return "“" + most + "”; " + s.note
	case most != "":
		return "“" + most + "”"
	case s.note != "":
		return s.note
	default:
		return "nothing"
	}
}
