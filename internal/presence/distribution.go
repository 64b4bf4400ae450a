package presence

import "time"

// distribution is how long the gaps between signs of life are, of the last 100 to 200: how
// many there were up to each of steps. A sensor that reports on change, or in
// bursts, has long ones among many short ones, so that their median says little.
type distribution struct {
	counts [numSteps]uint8
	n      uint8 `state:"-"` // sum of counts
	tail   uint8 `state:"-"` // step that all but a few gaps are within; derived
}

const (
	numSteps   = 21
	gapsJudged = 200 // after which each gap counts half: what comes weighs more than what was
	rareGaps   = 2   // beyond the tail at any number: outages
	rareShare  = 20  // and one in so many
)

// steps are what people call the time between two reports, in s. A gap up to a tenth
// longer still is one of it.
var steps = [numSteps]uint32{60, 90, 120, 180, 240, 300, 600, 900, 1200, 1500, 1800, 2400, 3000, 3600, 4500, 5400, 7200, 9000, 10_800, 14_400, 21_600}

// take takes a gap, in ms. One that is longer than all steps is one of the last.
func (d *distribution) take(gap uint32) {
	i := 0
	for i < numSteps-1 && gap > steps[i]*1100 {
		i++
	}
	d.counts[i]++
	if d.n++; d.n >= gapsJudged {
		d.n = 0
		for k := range d.counts {
			d.counts[k] /= 2
			d.n += d.counts[k]
		}
	}
	d.judge()
}

// judge finds the 95th percentile, beyond which two gaps at least may lie.
func (d *distribution) judge() {
	few, i := max(rareGaps, d.n/rareShare), numSteps-1
	for beyond := d.counts[i]; beyond <= few && i > 0; beyond += d.counts[i] {
		i--
	}
	d.tail = uint8(i)
}

// longest is the step that all but a few gaps are within, 0 where that is the first.
func (d *distribution) longest() time.Duration {
	if d.tail == 0 {
		return 0
	}
	return time.Duration(steps[d.tail]) * time.Second
}

// sum derives n and tail from the counts; ok is false when they are too many.
func (d *distribution) sum() (ok bool) {
	sum := 0
	for _, n := range d.counts {
		sum += int(n)
	}
	d.n = uint8(min(sum, gapsJudged))
	d.judge()
	return sum < gapsJudged
}
