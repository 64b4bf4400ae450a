package evaluate

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/lab/foreign"
)

// subsets are the measurements that units have: all, or few.
var subsets = [...]struct {
	name string
	has  rimewatch.Fields
}{
	{"all", rimewatch.CoreFields},
	{"zone and current", 1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmpDraw},
	{"zone alone", 1 << rimewatch.ProductZoneTemp},
	{"current alone", 1 << rimewatch.AmpDraw},
}

const familyDays = 45 // of a healthy unit's life

type familyRun struct {
	ctx   context.Context
	o     *Options
	first uint64
	out   io.Writer
}

// runFamilies evaluates on both families of equations, side by side, and prints Markdown.
func runFamilies(ctx context.Context, o *Options, stdout io.Writer) error {
	for _, set := range seedSets {
		if o.SeedSet != "" && o.SeedSet != set.name {
			continue
		}
		f := familyRun{ctx, o, set.first(o), stdout}
		fmt.Fprintf(stdout, "#### %s%s (from %d)\n\n", strings.ToUpper(set.label[:1]), set.label[1:], f.first)
		for _, part := range [...]struct {
			name string
			run  func() error
		}{{"healthy", f.healthy}, {"faults", f.causes}} {
			if _, sort := causeSorts[o.Part]; o.Part != "" && o.Part != part.name && !(sort && part.name == "faults") {
				continue
			}
			if err := part.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// said is a transition of a unit's alert, with what was true and what people read of it.
type said struct {
	event
	is      truth
	unmet   rimewatch.Unmet
	title   string           // of one that opened
	ending  string           // of one that ended
	because rimewatch.Ending // likewise
	usual   bool             // it asks whether the limit is right
}

// hear plays a life and returns what was said of it.
func (p *played) hear(without rimewatch.Fields) (list []said, judge *unitJudge) {
	judge = newUnitJudge(p.equipment, nil)
	speech := newSpeech()
	var out []event
	for i := range p.readings {
		r := p.lacking(i, without)
		out = judge.take(&r, out[:0])
		for k := range out {
			t := &judge.alerts[k]
			s := said{event: out[k], is: p.truths[i], unmet: t.Unmet, usual: t.HasUsual}
			s.read = r.At
			a := alertOf(t)
			if t.Kind == rimewatch.TransitionResolved {
				s.ending, s.because = speech.readers[0].Ending(&a), a.EndedBecause()
			} else {
				s.title = speech.readers[0].Title(&a)
			}
			list = append(list, s)
		}
	}
	return list, judge
}

// healthySum is what healthy units of a family brought, with one subset of measurements.
type healthySum struct {
	years                 float64
	units, judged         int
	predicted, notCooling map[string]int
	sensor                map[string]int
	critical, warned      int
	types                 map[string]int
}

// healthy watches units that nothing ails.
func (f *familyRun) healthy() error {
	n := max(1, int(math.Ceil(f.o.HealthyYears*365/familyDays)))
	fmt.Fprintln(f.out, "| healthy units have | equations | device-years | past learning | false predictions | a device-year | bound | false `not_cooling` a device-year | bound | sensor alerts a device-month | critical a device-month | warnings a device-month |")
	fmt.Fprintln(f.out, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	var sums [2][len(subsets)]healthySum
	for k, fam := range families() {
		results := make([][len(subsets)]healthySum, n)
		err := parallel(f.ctx, f.o.Workers, n, func(i int) (err error) {
			seed := f.first + uint64(i)
			results[i], err = watchFamily(&fam, fam.types[i%len(fam.types)], seed)
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range results {
			for i := range r {
				sums[k][i].add(&r[i])
			}
		}
	}
	for i := range subsets {
		for k, fam := range families() {
			sums[k][i].print(f.out, subsets[i].name, fam.name)
		}
	}
	fmt.Fprintln(f.out)
	for i := range subsets {
		for k, fam := range families() {
			s := &sums[k][i]
			fmt.Fprintf(f.out, "- %s, %s: predicted %s; not_cooling %s; sensors %s; others %s\n", subsets[i].name, fam.name, tallied(s.predicted), tallied(s.notCooling), tallied(s.sensor), tallied(s.types))
		}
	}
	fmt.Fprintln(f.out)
	return nil
}

func watchFamily(fam *family, equipment string, seed uint64) (sums [len(subsets)]healthySum, err error) {
	start := startOf(seed * 5)
	end := start + familyDays*rimewatch.Day
	p, err := fam.play(&drawn{equipment: equipment, seed: seed, start: start, end: end})
	if err != nil {
		return sums, err
	}
	for i := range subsets {
		list, judge := p.hear(rimewatch.CoreFields &^ subsets[i].has)
		s := newHealthySum()
		s.units, s.years = 1, familyDays/365.0
		if !judge.state.Unit.Learning() {
			s.judged = 1
		}
		for k := range list {
			s.take(p, &list[k])
		}
		sums[i] = s
	}
	return sums, nil
}

func newHealthySum() healthySum {
	return healthySum{predicted: map[string]int{}, notCooling: map[string]int{}, sensor: map[string]int{}, types: map[string]int{}}
}

// take counts a transition of a healthy unit.
func (s *healthySum) take(p *played, e *said) {
	switch {
	case e.what != "opened" && (e.what != "escalated" || e.predicts) || ofRecording(e.typ):
	case e.predicts:
		if !trulyIced(&e.event, e.is) {
			s.predicted[e.fault]++
		}
	case e.what == "opened" && dataAlert(e.typ):
		s.sensor[string(e.typ)+" "+e.metric]++
	case p.excused(e.is, e.typ, e.at):
	case e.typ == rimewatch.NotCooling:
		if e.what == "opened" {
			s.notCooling[string(e.unmet)]++
		}
	case e.severity == rimewatch.Critical:
		s.critical++
		s.types["critical "+string(e.typ)]++
	default:
		s.warned++
		s.types[string(e.typ)]++
	}
}

func (s *healthySum) add(o *healthySum) {
	if s.types == nil {
		*s = newHealthySum()
	}
	s.years, s.units, s.judged = s.years+o.years, s.units+o.units, s.judged+o.judged
	s.critical, s.warned = s.critical+o.critical, s.warned+o.warned
	merge(s.predicted, o.predicted)
	merge(s.notCooling, o.notCooling)
	merge(s.sensor, o.sensor)
	merge(s.types, o.types)
}

func merge(into, from map[string]int) {
	for k, n := range from {
		into[k] += n
	}
}

func sum(m map[string]int) (n int) {
	for _, c := range m {
		n += c
	}
	return n
}

func (s *healthySum) print(out io.Writer, subset, name string) {
	p, n := sum(s.predicted), sum(s.notCooling)
	fmt.Fprintf(out, "| %s | %s | %.1f | %d of %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", subset, name, s.years, s.judged, s.units,
		p, float64(p)/s.years, poissonBound(p, s.years), float64(n)/s.years, poissonBound(n, s.years),
		float64(sum(s.sensor))/s.years/12, float64(s.critical)/s.years/12, float64(s.warned)/s.years/12)
}

// causeSum is what became of a cause on the units of a family that have a subset of the
// measurements.
type causeSum struct {
	units, learning       int
	predicted, first, two int // a fault of the machine was predicted, and it was the right one
	ends, before          int // product alarms, and those that a prediction preceded
	delays                []float64
	missed, brisk, prompt int // starts that did not come; of units that send every five minutes; told within 20 min of them, or 1.25 times the longest defrost
	told, ahead, alarms   int // told at all; before the product alarm, of those that had one
	after                 []float64
	wrong                 map[string]int // sentences that say that it is well
	words, names          map[string]int
	sensors               int
}

// causes plays everything that can happen, a unit at a time.
func (f *familyRun) causes() error {
	var sums [2][][len(subsets)]causeSum
	for k, fam := range families() {
		sums[k] = make([][len(subsets)]causeSum, len(causes))
		n := max(1, f.o.Seeds)
		results := make([][len(subsets)]causeSum, n*len(causes))
		err := parallel(f.ctx, f.o.Workers, len(results), func(i int) (err error) {
			c := &causes[i/n]
			if only, some := causeSorts[f.o.Part]; c.named(k) == "" || some && c.sort != only {
				return nil
			}
			types := c.types(fam.types)
			seed := f.first + 400_000 + uint64(i/n)*1000 + uint64(i%n)
			results[i], err = playCause(&fam, c, types[int(mixed(seed)%uint64(len(types)))], seed)
			return err
		})
		if err != nil {
			return err
		}
		for i := range results {
			for s := range subsets {
				sums[k][i/n][s].add(&results[i][s])
			}
		}
	}
	f.printMachine(&sums)
	f.printNoCold(&sums)
	f.printOthers(&sums)
	return nil
}

// playCause plays a unit through a cause, once for each subset of its measurements.
func playCause(fam *family, c *cause, equipment string, seed uint64) (sums [len(subsets)]causeSum, err error) {
	start := startOf(seed)
	onset := start + rimewatch.Time(16+seed%9)*rimewatch.Day + rimewatch.Time(seed*7%24)*rimewatch.Hour
	d := drawn{equipment: equipment, seed: seed, start: start, end: onset + rimewatch.Time(c.days)*rimewatch.Day, cause: c, onset: onset}
	if c.second == foreign.NeverCold {
		onset = start
	}
	ill, err := fam.play(&d)
	if err != nil {
		return sums, err
	}
	d.healthyTwin = true
	well, err := fam.play(&d)
	if err != nil {
		return sums, err
	}
	for i := range subsets {
		without := rimewatch.CoreFields &^ subsets[i].has
		usualAt := map[string][]rimewatch.Time{}
		twin, _ := well.hear(without)
		for k := range twin {
			if e := &twin[k]; e.what == "opened" {
				usualAt[string(e.typ)] = append(usualAt[string(e.typ)], e.at)
			}
		}
		list, judge := ill.hear(without)
		sums[i] = causeSum{units: 1, wrong: map[string]int{}, words: map[string]int{}, names: map[string]int{}}
		if judge.state.Unit.Learning() {
			sums[i].learning = 1
		}
		sums[i].take(ill, c, onset, list, usualAt)
	}
	return sums, nil
}

// reassures are the words of an ending that say that a unit is well.
var reassures = []string{"normal", "again", "cools", "back to", "recovered"}

// take scores what was said of one unit.
func (s *causeSum) take(p *played, c *cause, onset rimewatch.Time, list []said, usualAt map[string][]rimewatch.Time) {
	var alarm, predicted, told rimewatch.Time
	missed, defrost := p.missed(onset)
	sensor, stands := false, false // an alert that says it from before
	for i := range list {
		e := &list[i]
		if e.typ == rimewatch.NotCooling && e.read < max(onset, missed) {
			stands = e.what != "resolved"
		}
		if e.read < onset || ofRecording(e.typ) {
			continue
		}
		if e.what == "resolved" {
			s.hearEnding(c, e, missed)
			continue
		}
		if e.what != "opened" || usual(e.at, usualAt[string(e.typ)]) {
			continue
		}
		if c.sort == noCold && missed != 0 && e.usual {
			s.wrong["asks whether the limit is right"]++
		}
		s.names[name(e)]++
		switch {
		case e.predicts && predicted == 0:
			predicted = e.at
			s.predicted++
			s.words[e.fault]++
			s.delays = append(s.delays, float64(e.at-onset)/float64(rimewatch.Day))
			if slices.Contains(c.right, e.fault) {
				s.first++
			}
			if slices.Contains(c.right, e.fault) || slices.Contains(c.right, e.runnerUp) {
				s.two++
			}
		case productAlarm(&e.event) && alarm == 0:
			alarm = e.at
		}
		if told == 0 && missed != 0 && (e.predicts || e.typ == rimewatch.NotCooling || e.typ == rimewatch.CompressorStartFailure) {
			told = e.at
		}
		sensor = sensor || dataAlert(e.typ)
	}
	if sensor {
		s.sensors++
	}
	if alarm != 0 {
		s.ends++
		if predicted != 0 && predicted < alarm {
			s.before++
		}
	}
	if missed == 0 {
		return
	}
	if stands {
		told = missed
	}
	s.missed++
	brisk := p.sample <= 5*time.Minute
	if brisk {
		s.brisk++
	}
	if alarm != 0 {
		s.alarms++
		if told != 0 && told <= alarm {
			s.ahead++
		}
	}
	if told != 0 {
		s.told++
		s.after = append(s.after, float64(max(0, told-missed))/float64(rimewatch.Day))
		if brisk && told <= missed+max(20*rimewatch.Minute, defrost*5/4) {
			s.prompt++
		}
	}
}

// missed is the first start after a moment that did not come, 0 = none, and how long a
// defrost of the unit lasted at most before that.
func (p *played) missed(onset rimewatch.Time) (at, defrost rimewatch.Time) {
	var since rimewatch.Time
	for i := range p.readings {
		now := p.readings[i].At
		switch {
		case now >= onset && p.truths[i]&asked != 0:
			return now, defrost
		case now >= onset:
		case p.truths[i]&melts == 0:
			since = 0
		case since == 0:
			since = now
		default:
			defrost = max(defrost, now-since)
		}
	}
	return 0, defrost
}

// ofSurroundings reports whether an alert is about air and mains, which may well be normal
// again while nothing cools.
func ofSurroundings(t rimewatch.AlertType) bool {
	name := string(t)
	return t == rimewatch.PowerLoss || strings.HasSuffix(name, "_humidity") || strings.HasSuffix(name, "_ambient_temperature") || strings.HasSuffix(name, "_voltage")
}

// hearEnding counts an ending that reassures while nothing cools, and one of a prediction
// that no other follows while a fault of the machine stands.
func (s *causeSum) hearEnding(c *cause, e *said, missed rimewatch.Time) {
	if c.sort == ofMachine && e.predicts && e.because != rimewatch.EndedOtherFault {
		s.wrong[e.ending]++
	}
	if c.sort != noCold || missed == 0 || e.read < missed || dataAlert(e.typ) || ofSurroundings(e.typ) {
		return
	}
	text := strings.ToLower(e.ending)
	if slices.ContainsFunc(reassures, func(w string) bool { return strings.Contains(text, w) }) {
		s.wrong[fmt.Sprintf("%s: “%s”", e.typ, e.ending)]++
	}
}

// name is what an alert is counted as.
func name(e *said) string {
	switch {
	case e.predicts:
		return "predicted " + e.fault
	case e.typ == rimewatch.NotCooling:
		return "not_cooling " + string(e.unmet)
	case dataAlert(e.typ):
		return string(e.typ) + " " + e.metric
	}
	return string(e.typ)
}

func (s *causeSum) add(o *causeSum) {
	if s.words == nil {
		s.wrong, s.words, s.names = map[string]int{}, map[string]int{}, map[string]int{}
	}
	s.units, s.learning, s.predicted, s.first, s.two = s.units+o.units, s.learning+o.learning, s.predicted+o.predicted, s.first+o.first, s.two+o.two
	s.ends, s.before, s.missed, s.brisk, s.prompt = s.ends+o.ends, s.before+o.before, s.missed+o.missed, s.brisk+o.brisk, s.prompt+o.prompt
	s.told, s.ahead, s.alarms, s.sensors = s.told+o.told, s.ahead+o.ahead, s.alarms+o.alarms, s.sensors+o.sensors
	s.delays, s.after = append(s.delays, o.delays...), append(s.after, o.after...)
	merge(s.wrong, o.wrong)
	merge(s.words, o.words)
	merge(s.names, o.names)
}

// printMachine prints faults that are to be predicted.
func (f *familyRun) printMachine(sums *[2][][len(subsets)]causeSum) {
	fmt.Fprintln(f.out, "| fault, all measurements | equations | predicted | right first | in first two | before the product alarm | after onset, median | first word | ended while the fault stands |\n|---|---|---|---|---|---|---|---|---|")
	f.each(ofMachine, sums, func(c *cause, fam string, s *[len(subsets)]causeSum) {
		a := &s[0]
		fmt.Fprintf(f.out, "| %s | %s | %d/%d | %d/%d | %d/%d | %d/%d | %s | %s | %s |\n", c.name, fam, a.predicted, a.units, a.first, a.predicted, a.two, a.predicted,
			a.before, a.ends, amount(quantile(a.delays, 0.5)), tallied(a.words), tallied(a.wrong))
	})
	fmt.Fprintln(f.out, "\n| fault | equations | zone and current: predicted, right in two, before the alarm | zone alone | current alone |\n|---|---|---|---|---|")
	f.each(ofMachine, sums, func(c *cause, fam string, s *[len(subsets)]causeSum) {
		fmt.Fprintf(f.out, "| %s | %s", c.name, fam)
		for i := 1; i < len(subsets); i++ {
			a := &s[i]
			fmt.Fprintf(f.out, " | %d/%d, %d/%d, %d/%d", a.predicted, a.units, a.two, a.predicted, a.before, a.ends)
		}
		fmt.Fprintln(f.out, " |")
	})
	fmt.Fprintln(f.out)
}

// printNoCold prints compressors that do not run.
func (f *familyRun) printNoCold(sums *[2][][len(subsets)]causeSum) {
	fmt.Fprintln(f.out, "| nothing cools | units have | equations | starts missed | told | within 20 min or 1.25 × the longest defrost (sampled every 5 min or faster) | before the product alarm | after the missed start, median, 90 % | said to be well |\n|---|---|---|---|---|---|---|---|---|")
	wrong := [2]map[string]int{{}, {}}
	for i := range subsets[:3] { // nothing shows a missed start to a current alone
		k := 0
		f.each(noCold, sums, func(c *cause, fam string, all *[len(subsets)]causeSum) {
			s := &all[i]
			fmt.Fprintf(f.out, "| %s | %s | %s | %d/%d | %d/%d | %d/%d | %d/%d | %s, %s | %d |\n", c.name, subsets[i].name, fam, s.missed, s.units, s.told, s.missed,
				s.prompt, s.brisk, s.ahead, s.alarms, amount(quantile(s.after, 0.5)), amount(quantile(s.after, 0.9)), sum(s.wrong))
			if k = 0; fam != "first" {
				k = 1
			}
			merge(wrong[k], s.wrong)
		})
	}
	fmt.Fprintf(f.out, "\nSaid to be well meanwhile: first %s; second %s.\n\n", tallied(wrong[0]), tallied(wrong[1]))
}

// printOthers prints what is no fault of the machine.
func (f *familyRun) printOthers(sums *[2][][len(subsets)]causeSum) {
	fmt.Fprintln(f.out, "| no fault of the machine | equations | units | fault predicted: all, zone and current, zone alone, current alone | a sensor alert, likewise | alerts that the unit as it is does not bring, with all measurements |\n|---|---|---|---|---|---|")
	f.each(ofPeople, sums, func(c *cause, fam string, s *[len(subsets)]causeSum) {
		fmt.Fprintf(f.out, "| %s | %s | %d | %d, %d, %d, %d | %d, %d, %d, %d | %s |\n", c.name, fam, s[0].units, s[0].predicted, s[1].predicted, s[2].predicted, s[3].predicted,
			s[0].sensors, s[1].sensors, s[2].sensors, s[3].sensors, tallied(s[0].names))
	})
	fmt.Fprintln(f.out)
}

// each calls yield for the causes of a sort, each with the families that have it.
func (f *familyRun) each(sort causeSort, sums *[2][][len(subsets)]causeSum, yield func(c *cause, fam string, s *[len(subsets)]causeSum)) {
	for i := range causes {
		for k, fam := range families() {
			if causes[i].sort == sort && sums[k][i][0].units > 0 {
				yield(&causes[i], fam.name, &sums[k][i])
			}
		}
	}
}
