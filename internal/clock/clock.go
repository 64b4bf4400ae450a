// Package clock decides what time it is for the service. A machine has two
// clocks: the wall clock, which NTP, a person or a dead battery may step by
// decades, and the monotonic clock, which only ever runs. The service's time is
// the wall clock at the start plus what the monotonic clock has run since; a step
// of the wall clock is believed once it has agreed with the monotonic clock for
// AgreeFor. The package is pure: readings of both clocks in, moments and events
// out.
package clock

import "github.com/rimewatch/rimewatch"

const (
	// Tolerance is how far the wall clock may be from the service's time before
	// that counts as a step. Less is followed, slowly.
	Tolerance = 5 * rimewatch.Second
	// AgreeFor is how long both clocks must run alike after a step before the new
	// time is adopted.
	AgreeFor = rimewatch.Minute
	// Earliest is the earliest time that is believed (2025-01-01): a machine without
	// a battery for its clock starts in 1970 or in the year in which it was made.
	Earliest rimewatch.Time = 1_735_689_600_000

	drift = rimewatch.Second // more than two clocks drift apart while one looks at them
	slew  = 10               // a difference within Tolerance is followed by one part in so many
)

// Machine is one look at the machine's clocks. Mono counts from any moment.
type Machine struct {
	Wall, Mono rimewatch.Time
}

// Kind is the result of a look at the clocks.
type Kind uint8

// The results of a look.
const (
	Steady   Kind = iota // nothing new
	Stepped              // the wall clock has stepped
	Returned             // it is back, and was not believed
	Due                  // it has agreed for AgreeFor: Adopt
)

// Event is a look's result, with the step.
type Event struct {
	Kind Kind
	By   rimewatch.Time // how far the wall clock is ahead of the service's time
}

// State is the service's clock. Start makes one.
type State struct {
	ahead  rimewatch.Time // the service's time less the monotonic clock
	looked rimewatch.Time // mono of the last look
	agreed rimewatch.Time // mono since which both clocks agree
	gap    rimewatch.Time // of the step that is not believed yet, 0 = none
	steps  int64
}

// Start is a clock that begins at the wall clock, but not before newest, the
// newest moment that the store knows, nor before Earliest.
func Start(m Machine, newest rimewatch.Time) State {
	return State{ahead: max(m.Wall, newest, Earliest) - m.Mono, looked: m.Mono, agreed: m.Mono}
}

// Now is the service's time. It never jumps but by Adopt.
func (s *State) Now(mono rimewatch.Time) rimewatch.Time { return mono + s.ahead }

// Gap is how far the wall clock is from the service's time, 0 unless it has
// stepped.
func (s *State) Gap() rimewatch.Time { return s.gap }

// Steps is the number of steps seen.
func (s *State) Steps() int64 { return s.steps }

// AgreedFor is how long both clocks have run alike without a step.
func (s *State) AgreedFor(mono rimewatch.Time) rimewatch.Time {
	if s.gap != 0 {
		return 0
	}
	return mono - s.agreed
}

// Look compares the clocks. It is called about twice a second.
func (s *State) Look(m Machine) Event {
	gap := m.Wall - s.Now(m.Mono)
	passed := m.Mono - s.looked
	s.looked = m.Mono
	switch {
	case abs(gap) <= Tolerance:
		most := passed / slew
		s.ahead += max(-most, min(gap, most))
		if s.gap == 0 {
			return Event{}
		}
		s.gap, s.agreed = 0, m.Mono
		return Event{Kind: Returned}
	case s.gap == 0:
		s.gap, s.agreed = gap, m.Mono
		s.steps++
		return Event{Kind: Stepped, By: gap}
	case abs(gap-s.gap) > drift || m.Wall < Earliest:
		s.gap, s.agreed = gap, m.Mono // it is still being set, or cannot be right
		return Event{}
	case m.Mono-s.agreed >= AgreeFor:
		return Event{Kind: Due, By: gap}
	default:
		return Event{}
	}
}

// Adopt moves the service's time by what Due said.
func (s *State) Adopt(by, mono rimewatch.Time) {
	s.ahead += by
	s.gap, s.agreed = 0, mono
}

func abs(t rimewatch.Time) rimewatch.Time { return max(t, -t) }
