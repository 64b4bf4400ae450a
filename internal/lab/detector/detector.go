// Package detector finds lasting shifts in the channels of any machine. It knows
// nothing of refrigeration and is not run by the service: it shows on public data
// what the statistic that the predictor shares with it, unit.NormalScore, is
// worth.
//
// Its statistic is a t value of the mean over a window against what healthy
// windows showed, with two additions. The scale contains a share of the plain
// scatter of a sample, so that a shift must be large as well as certain. And the
// degrees of freedom are the independent samples behind the baseline, that is
// samples divided by their integrated autocorrelation time: a channel that
// wandered slowly through its learning has shown few independent values, its
// range is not known yet, and it is believed accordingly little. No channel is
// named, weighted or left out by hand.
//
// While a machine is healthy its baseline follows it slowly and the knowledge of
// it grows; while a channel is suspicious nothing is learnt from it. A channel
// that wandered so slowly while it was learnt that it showed fewer than ten
// independent values is evidence and raises nothing by itself.
//
// An alarm ends when the channels that raised it are half way back. What a fault
// leaves behind, such as its heat, is not another fault: for as long as the alarm
// lasted only what is worse than it opens another.
package detector

import (
	"math"

	"github.com/rimewatch/rimewatch/internal/unit"
)

// Tuning are the constants of a Detector. One set serves every machine.
type Tuning struct {
	Window    float64 // what is judged is the mean of this share of the length of learning
	Effect    float64 // smallest shift that matters, in standard deviations of a sample; counts like noise
	Doubt     float64 // independent samples of learning at which a channel is believed by half
	Memory    float64 // time constant with which a healthy baseline follows its machine, in learning lengths
	Widening  float64 // share of the deviations seen since learning that widens the spread, 0–1
	Threshold float64 // score that opens an alarm, standard normal deviates
}

// DefaultTuning is the configuration with which every published figure of the
// detector is measured.
func DefaultTuning() Tuning {
	return Tuning{Window: 0.075, Effect: 0.6, Doubt: 10, Memory: 4, Widening: 0.5, Threshold: 2.5}
}

// Direction is the way a channel moves when its machine gets worse.
type Direction int8

// A channel is judged both ways unless only one of them can mean damage.
const (
	EitherWay Direction = iota
	Upwards
)

// Detector finds lasting shifts in the channels of a machine of which nothing
// is known beforehand. It learns from the first samples, which must be healthy,
// and judges every later one by what was seen up to it. A Detector is not safe
// for concurrent use.
type Detector struct {
	tuning   Tuning
	channels []channel
	learning int // samples of learning still to come
	length   int // samples of learning in all
	levels   int // samples still to come of which the levels are learnt anew
	seen     int
	alarm    bool
	raised   int     // samples since the alarm opened
	peak     float64 // greatest score of the alarm, or of the one before
	settling int     // samples for which only what exceeds the peak opens another
}

type channel struct {
	direction Direction
	slow      bool // is evidence only
	base      baseline
	samples   []float64 // learning, nil afterwards
	ring      []float64 // the newest samples, as many as are judged
	score     float64   // signed
	effect    float64   // signed shift in units of what healthy windows show
	cause     bool      // raised the running alarm
	farthest  float64   // greatest shift of a cause, without its sign
}

// Verdict is what a Detector says of one sample.
type Verdict struct {
	Learning    bool
	Alarm       bool
	Changepoint bool    // an alarm began or ended here
	Score       float64 // greatest of the channels' scores, ≥ 0
	Leader      int     // channel with the greatest shift, -1 while learning
}

// New returns a detector for channels judged in the given directions
// that learns from the first samples.
func New(t Tuning, learn int, directions ...Direction) *Detector {
	d := &Detector{tuning: t, learning: learn, length: learn, channels: make([]channel, len(directions))}
	window := max(shortestWindow, int(math.Round(t.Window*float64(learn))))
	for k := range d.channels {
		d.channels[k] = channel{direction: directions[k], samples: make([]float64, 0, learn), ring: make([]float64, window)}
	}
	return d
}

// shortestWindow is the fewest samples whose mean is worth judging.
const shortestWindow = 5

// Resume tells the detector that nothing was seen for longer than half of its
// learning. Where the channels stand is learnt anew, for half as long as at first;
// by how much and how fast they scatter is not forgotten.
func (d *Detector) Resume() {
	if d.learning > 0 {
		return
	}
	d.levels, d.alarm, d.settling = d.length/2, false, 0
	for k := range d.channels {
		c := &d.channels[k]
		c.samples, c.score, c.effect, c.cause = make([]float64, 0, d.levels), 0, 0, false
	}
}

// Observe takes the next sample, one value per channel, NaN where it is
// missing.
func (d *Detector) Observe(row []float64) Verdict {
	slot := d.seen % len(d.channels[0].ring)
	d.seen++
	if d.learning > 0 || d.levels > 0 {
		d.learn(row, slot)
		return Verdict{Learning: true, Leader: -1}
	}
	v := Verdict{Leader: 0}
	for k := range d.channels {
		c := &d.channels[k]
		oldest := c.ring[slot]
		c.ring[slot] = row[k]
		c.judge(&d.tuning)
		if math.Abs(c.score) < 0.7*d.tuning.Threshold {
			// The sample that leaves the window has been followed by a whole
			// window without suspicion: it was healthy.
			c.follow(oldest, d.tuning.Widening, d.tuning.Memory*float64(d.length))
		}
		v.Score = max(v.Score, math.Abs(c.score))
		if math.Abs(c.effect) > math.Abs(d.channels[v.Leader].effect) {
			v.Leader = k
		}
	}
	before := d.alarm
	d.decide()
	v.Alarm = d.alarm
	v.Changepoint = d.alarm != before
	return v
}

// Channel returns the signed score and the signed shift of one channel after the
// newest sample, and whether it is a cause of the running alarm.
func (d *Detector) Channel(k int) (score, effect float64, cause bool) {
	c := &d.channels[k]
	return c.score, c.effect, d.alarm && c.cause
}

func (d *Detector) learn(row []float64, slot int) {
	again := d.levels > 0
	left := &d.learning
	if again {
		left = &d.levels
	}
	*left--
	for k := range d.channels {
		c := &d.channels[k]
		c.samples = append(c.samples, row[k])
		c.ring[slot] = row[k]
		switch {
		case *left > 0:
			continue
		case again:
			if m := windowMean(c.samples); !math.IsNaN(m) {
				c.base.mean = m
			}
		default:
			c.base = learnBaseline(c.samples, len(c.ring))
			c.slow = c.base.tau > slowShare*float64(d.length)
		}
		c.samples = nil
	}
}

// slowShare is the share of its learning that the autocorrelation of a channel may
// last for the channel to raise alarms: noise alone opens several in ten lengths of
// learning where it lasts for a quarter.
const slowShare = 0.1

// judge compares the mean of the window with the baseline by a t value whose
// degrees of freedom are the independent samples behind the baseline, and
// trusts it by how many those are: a channel that only wandered slowly while it
// was learnt has not shown yet where it may wander.
func (c *channel) judge(t *Tuning) {
	c.score, c.effect = 0, 0
	mean, n := 0.0, 0
	for _, v := range c.ring {
		if !math.IsNaN(v) {
			mean += v
			n++
		}
	}
	known := c.base.independent()
	if n < len(c.ring)/2 || known <= 2 {
		return
	}
	mean /= float64(n)
	noise := t.Effect * c.base.sd
	scale := math.Sqrt(c.base.spread*(1+1/known) + noise*noise)
	if scale == 0 {
		return
	}
	shift := (mean - c.base.mean) / scale
	if c.direction == Upwards && shift < 0 {
		return
	}
	c.effect = shift
	c.score = unit.NormalScore(shift, known-1) * (known - 1) / (known - 1 + t.Doubt)
}

// follow lets the baseline take in one healthy sample with the given time
// constant in samples. The spread only ever widens: a quiet spell is no reason
// to become touchy.
func (c *channel) follow(sample, widening, memory float64) {
	if math.IsNaN(sample) || c.base.n == 0 {
		return
	}
	c.base.n++
	mean := windowMean(c.ring)
	if dev := (mean - c.base.mean) * (mean - c.base.mean); dev > c.base.spread {
		c.base.spread += widening * (dev - c.base.spread) / memory
	}
	c.base.mean += max(-3*c.base.sd, min(3*c.base.sd, sample-c.base.mean)) / memory
}

// decide opens an alarm when any channel passes the threshold, and ends it when
// all that raised it are half way back from where they were farthest.
func (d *Detector) decide() {
	if !d.alarm {
		d.settling = max(0, d.settling-1)
		if !d.opens() {
			return
		}
		d.alarm, d.raised, d.peak = true, 0, 0
		for k := range d.channels {
			d.channels[k].cause, d.channels[k].farthest = false, 0
		}
	}
	lasts := false
	for k := range d.channels {
		c := &d.channels[k]
		if c.slow {
			continue
		}
		high := math.Abs(c.score) >= d.tuning.Threshold
		d.peak = max(d.peak, math.Abs(c.score))
		if d.raised <= len(c.ring) && high {
			c.cause = true
		}
		if c.cause {
			c.farthest = max(c.farthest, math.Abs(c.effect))
			lasts = lasts || high && math.Abs(c.effect) > c.farthest/2
		}
	}
	d.raised++
	if !lasts {
		d.alarm, d.settling = false, min(d.raised, settlingMost*d.length)
	}
}

// settlingMost is for how many lengths of learning an alarm has an aftermath at
// most.
const settlingMost = 2

// opens reports whether a channel is where an alarm begins.
func (d *Detector) opens() bool {
	least := d.tuning.Threshold
	if d.settling > 0 {
		least = max(least, d.peak)
	}
	for k := range d.channels {
		if c := &d.channels[k]; !c.slow && math.Abs(c.score) >= least {
			return true
		}
	}
	return false
}

// windowMean is the mean of the samples that are present, NaN without any.
func windowMean(x []float64) float64 {
	s, n := 0.0, 0
	for _, v := range x {
		if !math.IsNaN(v) {
			s += v
			n++
		}
	}
	return s / float64(n)
}
