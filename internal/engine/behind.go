package engine

import "github.com/rimewatch/rimewatch"

// behind watches for a device whose clock runs steadily behind, or that was set to
// the local time and sends it as UTC. Its readings are not a backlog, which catches
// up: each comes as long after its own time as the one before. They are judged at
// that time plus the lag, or no alert of such a device would ever open. What is
// stored and recorded for compliance keeps the device's own time.
type behind struct {
	by    rimewatch.Time // what event times are moved by before they are judged, 0 = nothing
	lag   rimewatch.Time // of the reading that the ones after it are compared with
	since rimewatch.Time // arrival of that reading, 0 = none
}

// Behind is how far the device's clock runs steadily behind, 0 = nothing is known of that.
func (s *State) Behind() rimewatch.Time { return s.behind.by }

// observe takes a reading of event time at that arrived at now. A lag below
// offlineAfter is none; one that lasts twice as long, and strays by an eighth of it
// at most, is believed. A smaller one is believed at once: nothing was measured in
// the future.
func (b *behind) observe(at, now, offlineAfter rimewatch.Time) {
	lag, stray := now-at, stray(offlineAfter)
	switch {
	case b.by != 0 && lag < b.by-stray:
		*b = behind{lag: lag, since: now}
		if lag > stray {
			b.by = lag
		}
	case b.since == 0 || lag > b.lag+stray || lag < b.lag-stray:
		b.lag, b.since = lag, now
	case lag >= offlineAfter && now-b.since >= 2*offlineAfter && b.lag > b.by+stray:
		b.by = b.lag
	}
}

// stray is how much a lag may differ from the one before and be the same.
func stray(offlineAfter rimewatch.Time) rimewatch.Time { return offlineAfter / 8 }

// setBack moves what is remembered when the service's clock is set back by so many
// milliseconds (by < 0). The lag of a device with a clock of its own has become
// smaller, as its next reading shows.
func (b *behind) setBack(by rimewatch.Time) {
	if b.since != 0 {
		b.since += by
	}
}
