package presence

import (
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// DefaultOfflineAfter is the silence after which a device is offline when nothing
// else is known, and the least that is derived from an interval.
const DefaultOfflineAfter = 180 * time.Second

// Offline rules.
const (
	slack      = 45 * time.Minute // beyond an interval within which a third report need not be missed
	longest    = 6 * time.Hour    // that is learnt
	sleeper    = 3 * time.Hour    // of a sender that sleeps until something changes, such as a Shelly H&T, which reports every 2 h at least
	loraGuess  = 2 * time.Hour    // twice an hour, the longest interval in common use, until the sender's is known
	sleeperFor = 50               // gaps until a sender that was said to sleep is known by what it does: a day and more of one that does
)

const (
	gapsKept   = 8
	gapsNeeded = 5
	minGap     = rimewatch.Second // arrivals closer together are one sign of life: a batch, a backlog
	maxGap     = rimewatch.Day    // a longer silence says nothing about the rhythm
)

// Config is the settings of a device.
type Config struct {
	IntervalS     int // s between signs of life; 0 = learn it
	OfflineAfterS int // s; 0 = derive it from the interval
	// AlarmDelayS is after how many s too warm goods are alerted for: silence is noticed no
	// later, unless somebody says so; 0 = nothing is judged.
	AlarmDelayS int
	Habit       rimewatch.Habit // how senders of its kind report
}

// Downtime is a span in which the service did not listen, [From, To).
type Downtime struct {
	From, To rimewatch.Time
}

// State is the memory of one device. The zero value is a device never
// heard of.
type State struct {
	LastSeen      rimewatch.Time // newest sign of life by arrival, 0 = never
	LastHeartbeat rimewatch.Time
	ChangedAt     rimewatch.Time   // when Online last changed, 0 = never
	gapStart      rimewatch.Time   // arrival that the next gap is measured from
	gaps          [gapsKept]uint32 // ms, a ring
	median        uint32           `state:"-"` // ms, of gaps; derived
	numGaps       uint8            // gaps ever learnt, saturating
	nextGap       uint8
	usual         distribution
	Online        bool
	Announced     bool // the device announced its shutdown
	unasked       bool // learnt before silence had to be noticed by the alarm delay: that is not held against it
}

// Seen takes a sign of life and reports whether the device came online by it. down lists
// the service's downtimes, as of Deadline.
func (s *State) Seen(down []Downtime, now rimewatch.Time) (cameOnline bool) {
	// Gaps that lasted longer than the deadline count too: else a device that
	// reports every ten minutes would never be known as one. One in which the service did not listen
	// says nothing.
	if gap := now - s.gapStart; s.gapStart == 0 || gap >= minGap || gap < 0 {
		if s.gapStart != 0 && gap > 0 && gap <= maxGap && !deaf(down, s.gapStart, now) {
			s.takeGap(uint32(gap))
		}
		s.gapStart = now
	}
	s.LastSeen = max(s.LastSeen, now)
	s.Announced = false
	if s.Online {
		return false
	}
	s.Online, s.ChangedAt = true, now
	return true
}

// deaf reports whether the service did not listen for a part of (from, to). A replay knows of later
// downtimes, too.
func deaf(down []Downtime, from, to rimewatch.Time) bool {
	for i := len(down) - 1; i >= 0; i-- {
		if down[i].From < to {
			return down[i].To > from
		}
	}
	return false
}

// Heartbeat takes a heartbeat; shutdown says that the device announced its own
// end. It reports whether the presence changed.
func (s *State) Heartbeat(down []Downtime, now rimewatch.Time, shutdown bool) (changed bool) {
	s.LastHeartbeat = max(s.LastHeartbeat, now)
	if !shutdown {
		return s.Seen(down, now)
	}
	s.LastSeen = max(s.LastSeen, now)
	s.gapStart = 0
	changed = s.Online || s.ChangedAt == 0
	s.Online, s.Announced = false, true
	if changed {
		s.ChangedAt = now
	}
	return changed
}

// Interval is the time between signs of life, declared or learnt; 0 while it is
// not known.
func (s *State) Interval(c Config) time.Duration {
	if c.IntervalS > 0 {
		return time.Duration(c.IntervalS) * time.Second
	}
	if s.numGaps < gapsNeeded {
		return 0
	}
	return time.Duration(s.median) * time.Millisecond
}

// takeGap takes a gap in place of the oldest.
func (s *State) takeGap(gap uint32) {
	s.usual.take(gap)
	was := s.gaps[s.nextGap]
	s.gaps[s.nextGap] = gap
	s.nextGap = (s.nextGap + 1) % gapsKept
	if s.numGaps < gapsKept || was != gap {
		s.numGaps = min(s.numGaps+1, gapsKept)
		s.learn()
	}
}

// learn keeps the median of the gaps.
func (s *State) learn() {
	sorted := s.gaps
	n := int(s.numGaps)
	slices.Sort(sorted[:n])
	s.median = sorted[n/2]
	if n%2 == 0 {
		s.median = uint32((uint64(sorted[n/2-1]) + uint64(sorted[n/2])) / 2)
	}
}

// OfflineAfter is the silence after which the device is offline.
func (s *State) OfflineAfter(c Config) time.Duration {
	after, _ := s.offline(c)
	return after
}

// Silence is how long a device may keep silent, and why.
type Silence struct {
	After   time.Duration // as OfflineAfter
	By      Basis
	Usually time.Duration // that all but a few of its gaps are no longer than, to a step of them; 0 = not known
	Alarm   time.Duration // the alarm delay, 0 = nothing is judged
	// Offer is what fits how the device reports, where that is longer than After; 0 = nothing
	// to decide.
	Offer time.Duration
}

// Basis is what the silence of a device is judged by.
type Basis string

// The bases.
const (
	Declared   Basis = "declared"    // offline_after_s
	ByInterval Basis = "interval"    // the declared interval
	ByKind     Basis = "kind"        // how senders of its kind report
	ByGaps     Basis = "learned"     // its own gaps
	ByAlarm    Basis = "alarm_delay" // the alarm delay, which is shorter than what was learnt
	ByDefault  Basis = "default"     // nothing is known of it yet
)

// Silence returns how long the device may keep silent, and why.
func (s *State) Silence(c Config) Silence {
	after, by := s.offline(c)
	x := Silence{After: after, By: by, Alarm: time.Duration(c.AlarmDelayS) * time.Second}
	if by == ByAlarm {
		x.Offer, _ = s.learnt(c)
	}
	if s.numGaps >= gapsNeeded {
		x.Usually = max(s.Interval(Config{}), s.usual.longest())
	}
	return x
}

func (s *State) offline(c Config) (time.Duration, Basis) {
	if c.OfflineAfterS > 0 {
		return time.Duration(c.OfflineAfterS) * time.Second, Declared
	}
	if c.IntervalS > 0 {
		return max(3*time.Duration(c.IntervalS)*time.Second, DefaultOfflineAfter), ByInterval
	}
	after, by := s.learnt(c)
	if bound := max(time.Duration(c.AlarmDelayS)*time.Second, c.allowed(), DefaultOfflineAfter); c.AlarmDelayS > 0 && after > bound && !s.unasked {
		return bound, ByAlarm
	}
	return after, by
}

// allowed is the silence that is usual for senders of a kind.
func (c *Config) allowed() time.Duration {
	switch c.Habit {
	case rimewatch.HabitSleeps:
		return sleeper
	case rimewatch.HabitLoRaWAN:
		return longest
	}
	return 0
}

// learnt is the silence that fits how the device reports. Until its interval is
// known, one that came back from a longer silence by itself is not taken for dead in the
// next one: the longest gap so far stands in for the interval.
func (s *State) learnt(c Config) (time.Duration, Basis) {
	every, known := s.Interval(Config{}), s.numGaps >= gapsNeeded
	if !known && s.numGaps > 0 {
		every = min(longestGuess, time.Duration(slices.Max(s.gaps[:s.numGaps]))*time.Millisecond)
	}
	switch {
	case c.Habit == rimewatch.HabitSleeps && s.usual.n < sleeperFor:
		return sleeper, ByKind
	case c.Habit == rimewatch.HabitLoRaWAN && every == 0:
		return loraGuess, ByKind
	case c.Habit == rimewatch.HabitLoRaWAN:
		return s.within(max(2*every, s.usual.longest()*3/2)), ByKind
	case every == 0:
		return DefaultOfflineAfter, ByDefault
	case !known || s.unasked:
		return s.within(max(3*every, s.usual.longest()*3/2)), ByGaps
	}
	return s.within(max(min(3*every, every+slack), s.usual.longest()*3/2)), ByGaps
}

func (s *State) within(after time.Duration) time.Duration {
	if !s.unasked {
		after = min(after, longest)
	}
	return max(after, DefaultOfflineAfter)
}

// longestGuess is the longest interval that one gap alone speaks for: that of an hourly
// logger.
const longestGuess = time.Hour

// Deadline is when the device goes offline if it keeps silent, 0 when it is
// offline already. down lists the service's downtimes, oldest first and apart
// from each other.
func (s *State) Deadline(c Config, down []Downtime) rimewatch.Time {
	if !s.Online {
		return 0
	}
	at := s.LastSeen.Add(s.OfflineAfter(c))
	// Usually all downtimes lie before the last sign of life.
	first := len(down)
	for first > 0 && down[first-1].To > s.LastSeen {
		first--
	}
	for _, d := range down[first:] {
		// Only what lies between the sign of life and the deadline moves it.
		if from := max(d.From, s.LastSeen); d.To > from && from < at {
			at += d.To - from
		}
	}
	return at
}

// Tick takes note of the time and reports whether the device went offline.
func (s *State) Tick(c Config, down []Downtime, now rimewatch.Time) (wentOffline bool) {
	at := s.Deadline(c, down)
	if at == 0 || now < at {
		return false
	}
	s.Online, s.ChangedAt = false, now
	return true
}

// Move moves every moment that is remembered by so many milliseconds: for a
// clock that was set back.
func (s *State) Move(by rimewatch.Time) { format.Move(s, by) }

// format is that of a State.
var format = state.Of[State](3, 3)

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte { return format.Append(b, s) }

// DecodeBinary reads what AppendBinary wrote and returns the rest of b.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if v := state.Version(b); v == version1 || v == version2 {
		rest, err = s.decodeFormer(b[1:], v)
	} else {
		rest, err = format.Decode(b, s)
	}
	if err == nil && !s.sound() {
		err = state.ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("presence: %w", err)
	}
	return rest, nil
}

// sound reports whether a state that was read could have been written, and derives what
// was not.
func (s *State) sound() bool {
	if s.numGaps > gapsKept || s.nextGap >= gapsKept || s.numGaps < gapsKept && s.nextGap != s.numGaps {
		return false
	}
	for i, g := range s.gaps {
		if g > uint32(maxGap) || i >= int(s.numGaps) && g != 0 {
			return false
		}
	}
	if s.numGaps > 0 {
		s.learn()
	}
	return s.usual.sum()
}
