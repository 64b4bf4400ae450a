package evaluate

import (
	"math"
	"time"
)

// profile weighs the outcomes of a NAB score.
type profile struct{ tp, fp, fn float64 }

var standardProfile = profile{tp: 1, fp: -0.11, fn: -1}

// changeScore is the score of change points: 0 for a detector that never
// speaks, 100 for one that names each at once and nothing else.
type changeScore struct {
	Standard      float64
	Missed, False int
	Changes       int
}

// changeWindow is how long after a change point an indication counts.
const changeWindow = time.Minute

// scoreChanges returns the NAB score with the window to the right of each change
// point, as SKAB's scorer has it: the first indication in [change, change+changeWindow]
// counts, the earlier the more, every indication outside all windows counts
// against. Windows that overlap begin where the former ends.
func scoreChanges(pairs []pair, w profile) changeScore {
	var s changeScore
	sum, null, perfect := 0.0, 0.0, 0.0
	for _, p := range pairs {
		var from, to []time.Time
		for i, c := range p.change {
			if c {
				from, to = append(from, p.times[i]), append(to, p.times[i].Add(changeWindow))
			}
		}
		for i := 0; i+1 < len(from); i++ {
			if !to[i].Before(from[i+1]) {
				from[i+1] = to[i]
			}
		}
		used := make([]bool, len(p.indicated))
		for k := range from {
			first := time.Time{}
			for i, hit := range p.indicated {
				if t := p.times[i]; hit && !t.Before(from[k]) && !t.After(to[k]) {
					used[i] = true
					if first.IsZero() {
						first = t
					}
				}
			}
			null += w.fn
			perfect += w.tp
			if first.IsZero() {
				sum += w.fn
				s.Missed++
				continue
			}
			pos := 0.0
			if to[k].After(from[k]) {
				pos = first.Sub(from[k]).Seconds() / to[k].Sub(from[k]).Seconds()
			}
			sum += fade(pos, w)
		}
		s.Changes += len(from)
		for i, hit := range p.indicated {
			if hit && !used[i] {
				sum += w.fp
				s.False++
			}
		}
	}
	s.Standard = 100 * ratio(sum-null, perfect-null)
	return s
}

// fade is the credit of a detection at a position of 0 (begin) to 1 (end of the
// window): a hyperbolic tangent over 1,000 steps from tp to fp.
func fade(pos float64, w profile) float64 {
	const steps = 1000
	i := min(int(pos*steps), steps-1)
	x := -math.Pi/2 + math.Pi*float64(i)/(steps-1)
	return (w.tp-w.fp)/2*-math.Tanh(x)/math.Tanh(math.Pi/2) + (w.tp-w.fp)/2 + w.fp
}

// span is a window of rows, both ends included.
type span struct{ from, to int }

// nabScore is the Numenta score of one file.
type nabScore struct {
	Score       float64
	Found, Want int
	False       int
}

// scoreNAB scores detections at rows against windows (A. Lavin and S. Ahmad,
// "Evaluating real-time anomaly detection algorithms: the Numenta anomaly
// benchmark", 2015, section III, and the sweeper of its program): the first
// detection in a window earns a sigmoid of its place in it, every detection
// outside costs, less just after a window; nothing in the probation counts.
func scoreNAB(detections []bool, windows []span, probation int, w profile) nabScore {
	s := nabScore{}
	var live []span
	for _, win := range windows {
		if win.to >= probation {
			live = append(live, win)
		}
	}
	s.Want = len(live)
	sum := w.fn * float64(len(live))
	found := make([]bool, len(live))
	for i := probation; i < len(detections); i++ {
		if !detections[i] {
			continue
		}
		in, before := -1, -1
		for k, win := range live {
			if i >= win.from && i <= win.to {
				in = k
			}
			if win.to < i {
				before = k
			}
		}
		switch {
		case in >= 0 && !found[in]:
			found[in] = true
			s.Found++
			width := float64(live[in].to - live[in].from + 1)
			sum += -w.fn + w.tp*sigmoid(-(float64(live[in].to-i)+1)/width)/sigmoid(-1)
		case in < 0 && before >= 0:
			s.False++
			sum += -w.fp * sigmoid(float64(i-live[before].to)/float64(max(1, live[before].to-live[before].from)))
		case in < 0:
			s.False++
			sum += w.fp
		}
	}
	null, perfect := w.fn*float64(len(live)), w.tp*float64(len(live))
	s.Score = 100 * ratio(sum-null, perfect-null)
	return s
}

// sigmoid is NAB's scaled sigmoid of the place relative to the right end of a
// window: near 1 at −1, 0 at 0, −1 beyond 3.
func sigmoid(place float64) float64 {
	if place > 3 {
		return -1
	}
	return 2/(1+math.Exp(5*place)) - 1
}
