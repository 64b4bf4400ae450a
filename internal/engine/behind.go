package engine

import "github.com/rimewatch/rimewatch"

// behind watches for a device whose clock runs steadily behind, that was set to the local
// time and sends it as UTC, whose clock steps back, or whose readings take long to come.
// They are not a backlog, which catches up: each comes as long after its own time as the
// one before, or never sooner than some time after it. They are judged at their time plus
// that lag, or no alert of such a device would ever open. Two senders may share a serial:
// each has a lag of its own. Stored readings and compliance records keep the
// device's own time.
type behind struct {
	sender         // of the newest reading
	other   sender // heard before it with another lag
	several bool   // both go on sending, each by a clock of its own

	floor         rimewatch.Time `state:"span"` // the least lag of a device of which nothing ever comes in time, 0 = it is none
	least, before rimewatch.Time `state:"span"` // the least lag of this window, and of the one before it
	from          rimewatch.Time // arrival of the window's first reading, 0 = none
}

// sender is a clock that readings of the device come from.
type sender struct {
	by    rimewatch.Time `state:"span"` // what its event times are moved by before they are judged, 0 = nothing
	lag   rimewatch.Time `state:"span"` // of the reading that the ones after it are compared with
	since rimewatch.Time // arrival of that reading, 0 = none
	heard rimewatch.Time // arrival of its newest reading
	steps bool           // it was in time until it came to be so far behind
}

const (
	leastStep   = 16 * rimewatch.Second // for which a clock that stepped back is watched at least
	leastWindow = rimewatch.Hour        // in which the least lag is looked for, at least
)

// Behind is how far the device's clock runs steadily behind, 0 = nothing is known of that.
func (s *State) Behind() rimewatch.Time {
	if b := &s.behind; b.several {
		return max(b.moves(), b.other.by)
	}
	return s.behind.moves()
}

// SeveralClocks reports whether readings of the device come from senders whose clocks
// differ. They are judged by arrival.
func (s *State) SeveralClocks() bool { return s.behind.several }

// moves is what the event time of the newest reading is moved by.
func (b *behind) moves() rimewatch.Time { return max(b.by, b.floor) }

// observe takes a reading that arrived at now with a lag, and returns by how much more
// what is known of the device's past has to be moved, too. A lag below offlineAfter is
// none; one that lasts twice as long, and strays by an eighth of it at most, is believed.
// A smaller one is believed at once: nothing was measured in the future. interval is the
// usual time between readings, late that this one would not be judged.
func (b *behind) observe(lag, now, offlineAfter, interval rimewatch.Time, late bool) (more rimewatch.Time) {
	was := b.moves()
	known := b.follow(lag, now, offlineAfter, interval, late)
	if b.review(lag, now, offlineAfter) || known {
		more = max(0, b.moves()-was)
	}
	return more
}

// follow finds out by which clock a reading comes, and reports whether its lag is known by
// that.
func (b *behind) follow(lag, now, offlineAfter, interval rimewatch.Time, late bool) (known bool) {
	s, stray := &b.sender, stray(offlineAfter)
	if now-b.other.heard > 2*offlineAfter {
		b.other, b.several = sender{}, false
	}
	switch {
	case !s.fits(lag, stray) && b.other.fits(lag, stray):
		// Two senders overtake each other; what one sends together comes in order.
		if now-lag <= s.heard-s.lag && now-s.heard >= rimewatch.Second && now-max(s.since, b.other.since) >= 2*offlineAfter+max(lag, s.lag, 0) {
			b.several = true
		}
		b.sender, b.other = b.other, b.sender
	case s.by != 0 && lag < s.by-stray:
		b.other, *s = *s, sender{lag: lag, since: now, heard: now}
		if lag > stray {
			s.by = lag
		}
		return false
	case !s.fits(lag, stray):
		steps := late && s.since != 0 && now-s.heard <= offlineAfter && s.lag-s.by < offlineAfter
		b.other, *s = *s, sender{by: s.by, lag: lag, since: now, heard: now, steps: steps}
		return false
	}
	s.heard = now
	if s.lag <= s.by+stray {
		return false
	}
	need, beside := 2*offlineAfter, b.other.heard > s.since
	if beside {
		need += lag // a backlog that is sent bit by bit along with new readings has come to its end by then
	}
	stepped := s.steps && late && !beside && now-s.since >= max(leastStep, interval*3/4) && 8*max(lag-s.lag, s.lag-lag) <= now-s.since
	if lag >= offlineAfter && now-s.since >= need || stepped {
		s.by, known = s.lag, true
	}
	return known
}

// fits reports whether a reading with that lag may be the sender's.
func (s *sender) fits(lag, stray rimewatch.Time) bool {
	return s.since != 0 && lag <= s.lag+stray && lag >= s.lag-stray
}

// review looks for the least lag of a device whose readings all come late, each by another
// time, and reports whether it was found. A backlog comes nearer and nearer.
func (b *behind) review(lag, now, offlineAfter rimewatch.Time) (found bool) {
	if stray := stray(offlineAfter); b.floor != 0 && lag < b.floor-stray {
		b.floor, b.from = lag, 0
		if lag <= stray {
			b.floor = 0
		}
	}
	span := max(leastWindow, 4*offlineAfter)
	switch {
	case b.from == 0:
		b.from, b.least, b.before = now, lag, 0
		return false
	case now-b.from < span:
		b.least = min(b.least, lag)
		return false
	}
	if b.before >= offlineAfter && b.least-b.moves() >= offlineAfter && b.least >= b.before-span/8 {
		b.floor, found = b.least, true
	}
	b.from, b.before, b.least = now, b.least, lag
	return found
}

// stray is how much a lag may differ from the one before and be the same.
func stray(offlineAfter rimewatch.Time) rimewatch.Time { return offlineAfter / 8 }
