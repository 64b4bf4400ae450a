package presence

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// DefaultOfflineAfter is the silence after which a device is offline when nothing
// else is known, and the least that is derived from an interval.
const DefaultOfflineAfter = 180 * time.Second

const (
	gapsKept   = 8
	gapsNeeded = 5
	minGap     = rimewatch.Second // arrivals closer together are one sign of life: a batch, a backlog
	maxGap     = rimewatch.Day    // a longer silence says nothing about the rhythm
)

// Config is what is declared for a device.
type Config struct {
	IntervalS     int // s between signs of life; 0 = learn it
	OfflineAfterS int // s; 0 = derive it from the interval
}

// Downtime is a span in which the service did not listen, [From, To).
type Downtime struct {
	From, To rimewatch.Time
}

// State is what is remembered of one device. The zero value is a device never
// heard of.
type State struct {
	LastSeen      rimewatch.Time // newest sign of life by arrival, 0 = never
	LastHeartbeat rimewatch.Time
	ChangedAt     rimewatch.Time   // when Online last changed, 0 = never
	gapStart      rimewatch.Time   // arrival that the next gap is measured from
	gaps          [gapsKept]uint32 // ms, a ring
	median        uint32           // ms, of gaps; derived
	numGaps       uint8            // gaps ever learnt, saturating
	nextGap       uint8
	Online        bool
	Announced     bool // the device announced its shutdown
}

// Seen takes a sign of life and reports whether the device came online by it.
func (s *State) Seen(now rimewatch.Time) (cameOnline bool) {
	// Gaps that lasted longer than the deadline count too: else a device that
	// reports every ten minutes would never be known as one.
	if gap := now - s.gapStart; s.gapStart == 0 || gap >= minGap || gap < 0 {
		if s.gapStart != 0 && gap > 0 && gap <= maxGap {
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

// Heartbeat takes a heartbeat; shutdown says that the device announced its own
// end. It reports whether the presence changed.
func (s *State) Heartbeat(now rimewatch.Time, shutdown bool) (changed bool) {
	s.LastHeartbeat = max(s.LastHeartbeat, now)
	if !shutdown {
		return s.Seen(now)
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

// OfflineAfter is the silence after which the device is offline. Until its interval is
// known, one that came back from a longer silence by itself is not taken for dead in the
// next one: the longest gap so far stands in for the interval.
func (s *State) OfflineAfter(c Config) time.Duration {
	if c.OfflineAfterS > 0 {
		return time.Duration(c.OfflineAfterS) * time.Second
	}
	every := s.Interval(c)
	if every == 0 && s.numGaps > 0 {
		every = min(longestGuess, time.Duration(slices.Max(s.gaps[:s.numGaps]))*time.Millisecond)
	}
	return max(3*every, DefaultOfflineAfter)
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
func (s *State) Move(by rimewatch.Time) {
	for _, t := range []*rimewatch.Time{&s.LastSeen, &s.LastHeartbeat, &s.ChangedAt, &s.gapStart} {
		if *t != 0 {
			*t += by
		}
	}
}

const stateVersion = 1

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	flags := byte(0)
	if s.Online {
		flags |= 1
	}
	if s.Announced {
		flags |= 2
	}
	b = append(b, stateVersion, flags, s.numGaps, s.nextGap)
	b = binary.AppendVarint(b, int64(s.LastSeen))
	b = binary.AppendVarint(b, int64(s.LastHeartbeat))
	b = binary.AppendVarint(b, int64(s.ChangedAt))
	b = binary.AppendVarint(b, int64(s.gapStart))
	for _, g := range s.gaps[:s.numGaps] {
		b = binary.AppendUvarint(b, uint64(g))
	}
	return b
}

// DecodeBinary reads what AppendBinary wrote and returns the rest of b.
func (s *State) DecodeBinary(b []byte) ([]byte, error) {
	damaged := errors.New("presence: damaged state")
	if len(b) < 4 || b[0] != stateVersion || b[2] > gapsKept || b[3] >= gapsKept || (b[2] < gapsKept && b[3] != b[2]) {
		return nil, damaged
	}
	*s = State{Online: b[1]&1 != 0, Announced: b[1]&2 != 0, numGaps: b[2], nextGap: b[3]}
	b = b[4:]
	for _, t := range []*rimewatch.Time{&s.LastSeen, &s.LastHeartbeat, &s.ChangedAt, &s.gapStart} {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, damaged
		}
		*t, b = rimewatch.Time(v), b[n:]
	}
	for i := range s.numGaps {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(maxGap) {
			return nil, damaged
		}
		s.gaps[i], b = uint32(v), b[n:]
	}
	if s.numGaps > 0 {
		s.learn()
	}
	return b, nil
}
