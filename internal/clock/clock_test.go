package clock_test

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/clock"
)

const (
	noon = rimewatch.Time(1_790_000_000_000)
	year = 365 * rimewatch.Day
)

// machine is a machine whose wall clock can be set.
type machine struct {
	clock.Machine
	s clock.State
}

func boot(wall, newest rimewatch.Time) *machine {
	m := &machine{Machine: clock.Machine{Wall: wall, Mono: 12_345}}
	m.s = clock.Start(m.Machine, newest)
	return m
}

// run lets both clocks run, looks twice a second and adopts what is due.
func (m *machine) run(span rimewatch.Time) (seen []clock.Event) {
	for end := m.Mono + span; m.Mono < end; {
		m.Mono += 500
		m.Wall += 500
		e := m.s.Look(m.Machine)
		if e.Kind != clock.Steady {
			seen = append(seen, e)
		}
		if e.Kind == clock.Due {
			m.s.Adopt(e.By, m.Mono)
		}
	}
	return seen
}

func (m *machine) now() rimewatch.Time { return m.s.Now(m.Mono) }

func TestSteps(t *testing.T) {
	for _, by := range []rimewatch.Time{-rimewatch.Day, -rimewatch.Hour, rimewatch.Hour, 20 * year, 6 * rimewatch.Second, -6 * rimewatch.Second} {
		m := boot(noon, 0)
		if seen := m.run(rimewatch.Minute); len(seen) != 0 || m.now() != noon+rimewatch.Minute {
			t.Fatalf("before the step: %v, %v", seen, m.now())
		}
		m.Wall += by
		if seen := m.run(59 * rimewatch.Second); !slices.Equal(seen, []clock.Event{{Kind: clock.Stepped, By: by}}) {
			t.Errorf("%d: %v", by, seen)
		}
		if m.now() != noon+119*rimewatch.Second || m.s.Gap() != by || m.s.AgreedFor(m.Mono) != 0 {
			t.Errorf("%d was believed before it was due: %d", by, m.now()-noon)
		}
		if seen := m.run(2 * rimewatch.Second); !slices.Equal(seen, []clock.Event{{Kind: clock.Due, By: by}}) {
			t.Errorf("%d: %v", by, seen)
		}
		if m.now() != m.Wall || m.s.Gap() != 0 || m.s.Steps() != 1 {
			t.Errorf("%d was not adopted: %d from the wall clock", by, m.now()-m.Wall)
		}
		if agreed := m.s.AgreedFor(m.Mono); agreed > 2*rimewatch.Second {
			t.Errorf("%d: the clocks agree for %d ms already", by, agreed)
		}
	}
}

// TestShortStep: what is taken back within the minute never was.
func TestShortStep(t *testing.T) {
	for _, by := range []rimewatch.Time{rimewatch.Hour, 20 * year, -rimewatch.Day} {
		m := boot(noon, 0)
		m.run(2 * rimewatch.Hour)
		m.Wall += by
		m.run(4 * rimewatch.Second)
		m.Wall -= by
		if seen := m.run(5 * rimewatch.Minute); !slices.Equal(seen, []clock.Event{{Kind: clock.Returned}}) {
			t.Errorf("%d: %v", by, seen)
		}
		if m.now() != m.Wall {
			t.Errorf("%d left %d ms", by, m.now()-m.Wall)
		}
		if agreed := m.s.AgreedFor(m.Mono); agreed > 5*rimewatch.Minute {
			t.Errorf("%d: the clocks agree for %d ms", by, agreed)
		}
	}
}

// TestJitter: a clock that is being set again and again is not believed.
func TestJitter(t *testing.T) {
	m := boot(noon, 0)
	for range 60 {
		m.Wall += rimewatch.Minute
		for _, e := range m.run(30 * rimewatch.Second) {
			if e.Kind == clock.Due {
				t.Fatal("it was adopted")
			}
		}
	}
	if m.now() != noon+30*rimewatch.Minute || m.s.Steps() != 1 {
		t.Errorf("%d ms passed, %d steps", m.now()-noon, m.s.Steps())
	}
}

// TestFollow: small differences are followed without a jump, back too.
func TestFollow(t *testing.T) {
	for _, by := range []rimewatch.Time{4900, -4900} {
		m := boot(noon, 0)
		m.Wall += by
		last := m.now()
		for range 110 {
			if seen := m.run(500); len(seen) != 0 {
				t.Fatalf("%d: %v", by, seen)
			}
			if passed := m.now() - last; passed < 450 || passed > 550 {
				t.Fatalf("%d: %d ms passed in 500", by, passed)
			}
			last = m.now()
		}
		if m.now() != m.Wall {
			t.Errorf("%d: still %d apart", by, m.now()-m.Wall)
		}
	}
}

func TestStart(t *testing.T) {
	for _, tc := range []struct{ wall, newest, want rimewatch.Time }{
		{noon, 0, noon},
		{noon, noon - rimewatch.Day, noon},
		{noon, noon + rimewatch.Hour, noon + rimewatch.Hour},
		{1000, noon, noon},
		{1000, 0, clock.Earliest},
		{-5, 0, clock.Earliest},
	} {
		if m := boot(tc.wall, tc.newest); m.now() != tc.want {
			t.Errorf("wall %d, newest %d: %d, want %d", tc.wall, tc.newest, m.now(), tc.want)
		}
	}
	// 1970 is never believed, however long it lasts; what NTP says then is.
	m := boot(1000, noon)
	if seen := m.run(rimewatch.Hour); len(seen) != 1 || m.now() != noon+rimewatch.Hour {
		t.Errorf("%v, %d ms passed", seen, m.now()-noon)
	}
	m.Wall = noon + 9*rimewatch.Hour
	m.run(61 * rimewatch.Second)
	if m.now() != m.Wall {
		t.Errorf("NTP's time was not adopted: %d ms apart", m.now()-m.Wall)
	}
}

func TestKeeper(t *testing.T) {
	m := clock.Machine{Wall: noon, Mono: 7}
	k := clock.NewKeeper(func() clock.Machine { return m })
	pass := func(span rimewatch.Time) { m.Mono += span; m.Wall += span }
	pass(59 * rimewatch.Minute)
	if k.Sure() {
		t.Error("sure after 59 minutes")
	}
	pass(rimewatch.Minute)
	if !k.Sure() || k.Now() != noon+rimewatch.Hour {
		t.Error("not sure after an hour")
	}
	m.Wall += 20 * year
	if k.Look().Kind != clock.Stepped || k.Sure() || k.Gap() != 20*year || k.Steps() != 1 {
		t.Error("a step was not noticed")
	}
	pass(61 * rimewatch.Second)
	e := k.Look()
	if e.Kind != clock.Due {
		t.Fatal(e)
	}
	k.Adopt(e.By)
	pass(59 * rimewatch.Minute)
	if k.Look(); k.Sure() {
		t.Error("sure within the hour after a step")
	}
	pass(2 * rimewatch.Minute)
	if k.Look(); !k.Sure() {
		t.Error("nobody contradicts")
	}
	for device := range uint64(100) { // two thirds of the devices know better
		claims := k.Now()
		if device%3 != 0 {
			claims -= 20 * year
		}
		k.Saw(device, claims, k.Now())
	}
	if k.Sure() {
		t.Error("sure although most devices contradict")
	}
	for range 10_000 {
		k.Saw(0, k.Now(), k.Now())
	}
	if k.Sure() {
		t.Error("one loud device outvoted the others")
	}
	pass(2 * rimewatch.Hour)
	if k.Look(); !k.Sure() {
		t.Error("what was heard two hours ago still counts")
	}
}
