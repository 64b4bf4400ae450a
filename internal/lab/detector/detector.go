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
// it grows; while a channel is suspicious nothing is learnt from it. An alarm
// ends when the channels that raised it are back.
package detector

import (
	"math"

	"github.com/rimewatch/rimewatch/internal/unit"
)

// Tuning are the constants of a Detector. One set serves every machine.
type Tuning struct {
	Window    int     // samples whose mean is judged
	Effect    float64 // smallest shift that matters, in standard deviations of a sample; counts like noise
	Doubt     float64 // independent samples of learning at which a channel is believed by half
	Memory    float64 // time constant with which a healthy baseline follows its machine, in learning lengths
	Widening  float64 // share of the deviations seen since learning that widens the spread, 0–1
	Threshold float64 // score that opens an alarm, standard normal deviates
}

// DefaultTuning is the configuration with which every published figure of the
// detector is measured.
func DefaultTuning() Tuning {
	return Tuning{Window: 30, Effect: 0.6, Doubt: 10, Memory: 2, Widening: 0.5, Threshold: 2.5}
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
	seen     int
	alarm    bool
	raised   int // samples since the alarm opened
}

type channel struct {
	direction Direction
	base      baseline
	samples   []float64 // learning, nil afterwards
	ring      []float64 // the newest Window samples
	score     float64   // signed
	effect    float64   // signed shift in units of what healthy windows show
	cause     bool      // raised the running alarm
	muted     bool      // was left over when an alarm ended; silent until it is normal again
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
	for k := range d.channels {
		d.channels[k] = channel{direction: directions[k], samples: make([]float64, 0, learn), ring: make([]float64, t.Window)}
	}
	return d
}

// Observe takes the next sample, one value per channel, NaN where it is
// missing.
func (d *Detector) Observe(row []float64) Verdict {
	slot := d.seen % d.tuning.Window
	d.seen++
	if d.learning > 0 {
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
	d.learning--
	for k := range d.channels {
		c := &d.channels[k]
		c.samples = append(c.samples, row[k])
		c.ring[slot] = row[k]
		if d.learning == 0 {
			c.base = learnBaseline(c.samples, d.tuning.Window)
			c.samples = nil
		}
	}
}

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

// decide opens an alarm when any channel passes the threshold and ends it when
// all that raised it are back. What merely came along with a fault and stays
// behind, such as the heat it left, then keeps silent until it is normal again.
func (d *Detector) decide() {
	high := func(c *channel) bool { return math.Abs(c.score) >= d.tuning.Threshold }
	for k := range d.channels {
		c := &d.channels[k]
		c.muted = c.muted && high(c)
		if !d.alarm && high(c) && !c.muted {
			d.alarm, d.raised = true, 0
			for j := range d.channels {
				d.channels[j].cause = false
			}
		}
	}
	if !d.alarm {
		return
	}
	lasts := false
	for k := range d.channels {
		c := &d.channels[k]
		if d.raised <= d.tuning.Window && high(c) && !c.muted {
			c.cause = true
		}
		lasts = lasts || c.cause && high(c)
	}
	d.raised++
	if lasts {
		return
	}
	d.alarm = false
	for k := range d.channels {
		d.channels[k].muted = high(&d.channels[k])
	}
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
