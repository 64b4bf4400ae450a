package evaluate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/lab/foreign"
)

// Every cause is one that its family knows, and every fault of the second family is a cause.
func TestCausesAreKnown(t *testing.T) {
	seen := map[string]bool{}
	for i := range causes {
		c := &causes[i]
		people := []string{raisedSetpoint, loweredSetpoint, emptied, filled, movedAway, largerCompressor, wrongWire, probeInDrain, oddReading, neverCold}
		if c.first != "" && !slices.Contains(people, c.first) && !slices.Contains(simulate.FaultNames(), c.first) {
			t.Errorf("%s: the first family has no %q", c.name, c.first)
		}
		if !slices.Contains(foreign.FaultNames(), c.second) {
			t.Errorf("%s: the second family has no %q", c.name, c.second)
		}
		for _, f := range c.right {
			if !slices.Contains(simulate.FaultNames(), f) {
				t.Errorf("%s: nothing predicts %q", c.name, f)
			}
		}
		seen[c.second] = true
	}
	for _, name := range foreign.FaultNames() {
		if !seen[name] {
			t.Errorf("%s is not evaluated", name)
		}
	}
}

// A silent compressor is a start that both families miss, within hours of its death.
func TestBothFamiliesMissStarts(t *testing.T) {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.second == foreign.DeadCompressor })
	start := startOf(1)
	onset := start + 2*rimewatch.Day
	for _, fam := range families() {
		for _, ill := range []bool{false, true} {
			d := drawn{equipment: "walkin_freezer", seed: 11, start: start, end: onset + rimewatch.Day, onset: onset, cause: &causes[i], healthyTwin: !ill}
			p, err := fam.play(&d)
			if err != nil {
				t.Fatal(err)
			}
			before, after := 0, 0
			for k := range p.readings {
				switch at := p.readings[k].At; {
				case p.truths[k]&asked == 0:
				case at < onset:
					before++
				case at < onset+6*rimewatch.Hour:
					after++
				}
			}
			if ill != (after > 200) || before > 150 {
				t.Errorf("%s family, ill %v: %d readings of a start that does not come before, %d after", fam.name, ill, before, after)
			}
		}
	}
}

// TestScoreOfNoCold: alerts of a dead compressor are scored from the start that it missed.
func TestScoreOfNoCold(t *testing.T) {
	const onset, missed = 10 * rimewatch.Hour, 11 * rimewatch.Hour
	p := &played{life: &life{}, sample: time.Minute}
	for at := rimewatch.Time(0); at < 20*rimewatch.Hour; at += rimewatch.Minute {
		is := running
		if at >= missed {
			is = asked
		}
		p.readings, p.truths = append(p.readings, rimewatch.Reading{At: at}), append(p.truths, is)
	}
	opened := func(typ rimewatch.AlertType, at rimewatch.Time) said {
		return said{event: event{at: at, read: at, what: "opened", typ: typ}}
	}
	ended := func(at rimewatch.Time, text string) said {
		return said{event: event{at: at, read: at, what: "resolved", typ: rimewatch.NotCooling}, ending: text}
	}
	for _, tt := range []struct {
		name                        string
		list                        []said
		told, prompt, ahead, alarms int
		wrong                       int
	}{
		{"nothing", nil, 0, 0, 0, 0, 0},
		{"at once", []said{opened(rimewatch.NotCooling, missed+19*rimewatch.Minute), opened(rimewatch.HighTemperature, missed+rimewatch.Hour)}, 1, 1, 1, 1, 0},
		{"late", []said{opened(rimewatch.HighTemperature, missed+rimewatch.Hour), opened(rimewatch.NotCooling, missed+2*rimewatch.Hour)}, 1, 0, 0, 1, 0},
		{"before its death, and over", []said{opened(rimewatch.NotCooling, onset-2), ended(onset-1, "It cools again")}, 0, 0, 0, 0, 0},
		{"before its death, and it stands", []said{opened(rimewatch.NotCooling, onset-1)}, 1, 1, 0, 0, 0},
		{"said to cool", []said{opened(rimewatch.NotCooling, missed), ended(missed+3*rimewatch.Hour, "It cools again")}, 1, 1, 0, 0, 1},
		{"ended, but not by its health", []said{opened(rimewatch.NotCooling, missed), ended(missed+3*rimewatch.Hour, "Resolved by a person")}, 1, 1, 0, 0, 0},
	} {
		s := causeSum{units: 1, wrong: map[string]int{}, words: map[string]int{}, names: map[string]int{}}
		s.take(p, &cause{sort: noCold}, onset, tt.list, nil)
		if s.missed != 1 || s.told != tt.told || s.prompt != tt.prompt || s.ahead != tt.ahead || s.alarms != tt.alarms || sum(s.wrong) != tt.wrong {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}

// TestDirtStands: what is predicted of a condenser that gets dirty does not end as usual, nor by a load that
// varies, for as long as nobody cleans it, also where dirt moves current and vibration as another speed does.
func TestDirtStands(t *testing.T) {
	i := slices.IndexFunc(causes, func(c cause) bool { return c.second == foreign.DirtyCondenser })
	c, seed := &causes[i], uint64(100_400_003)
	start := startOf(seed)
	onset := start + 18*rimewatch.Day
	p, err := families()[1].play(&drawn{equipment: "beverage_cooler", seed: seed, start: start, end: onset + rimewatch.Time(c.days)*rimewatch.Day, cause: c, onset: onset})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := p.hear(0)
	opened := 0
	for k := range list {
		switch e := &list[k]; {
		case !e.predicts || e.read < onset:
		case e.what == "opened":
			opened++
		case e.what == "resolved" && e.because != rimewatch.EndedOtherFault:
			t.Errorf("ended %.1f days after its onset: %s", float64(e.read-onset)/float64(rimewatch.Day), e.because)
		}
	}
	if opened == 0 {
		t.Error("nothing was predicted")
	}
}

// TestTexts: what people read of a drawn situation is printed with its cause, and when it was said.
func TestTexts(t *testing.T) {
	s := situations(7_000_000, 60)
	i := slices.IndexFunc(s, func(s situation) bool { return s.drawn.cause.second == foreign.ProbeDead })
	text, err := s[i].tell()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## zone probe dead: ", " opened warning sensor_fault: **Product zone sensor faulty** ", " stands warning sensor_fault: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
