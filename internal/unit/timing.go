package unit

import "github.com/rimewatch/rimewatch"

// timing is when a device measured, and since when it is learnt of.
type timing struct {
	newest rimewatch.Time // newest recorded_at seen; a reading that is not after it is late
	at     rimewatch.Time // its event time
	zoneAt rimewatch.Time // event time of the newest product-zone temperature, 0 = none yet
	born   rimewatch.Time // learning began
	gap    float32        // s between readings, a slow mean
	why    uint8          // among reasons, for learning since born
}

// learnGap follows the usual time between readings. An outage counts as three
// usual gaps at most, a lasting change of rate is followed within some readings.
func (t *timing) learnGap(gap rimewatch.Time) {
	g := float32(gap) / 1000
	switch {
	case g <= 0:
	case t.gap == 0:
		t.gap = g
	default:
		t.gap += 0.1 * (min(g, 3*t.gap) - t.gap)
	}
}

// At is the event time of the newest reading, 0 before the first.
func (t *timing) At() rimewatch.Time { return t.at }

// ZoneAt is the event time of the newest product-zone temperature, 0 before the
// first.
func (t *timing) ZoneAt() rimewatch.Time { return t.zoneAt }

// LearningSince is when learning began, 0 before the first reading, and why it
// began again, "" when it has not.
func (t *timing) LearningSince() (rimewatch.Time, rimewatch.Relearning) {
	return t.born, reasons[t.why]
}

// Interval is the usual time between readings, 0 before the second.
func (t *timing) Interval() rimewatch.Time { return rimewatch.Time(1000 * t.gap) }

// blind reports whether a time without readings is too long to know what
// happened in it.
func (t *timing) blind(gap rimewatch.Time) bool {
	return gap > max(5*minute, rimewatch.Time(3000*t.gap))
}

// Slow reports whether readings come too seldom to know how long the compressor
// has been running: two in a row may belong to two runs.
func (t *timing) Slow() bool { return t.gap > followedGap }

// pace is the share of a minute that a reading stands for, at most 1.
func (t *timing) pace() float32 { return min(1, t.gap/minuteS) }
