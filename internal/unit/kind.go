package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// learn takes a hump of the kind.
func (k *humpKind) learn(c *course, begin rimewatch.Time, due bool, ran float32, restart uint16) {
	k.n = min(k.n, math.MaxUint16-1) + 1
	w := max(1/float32(k.n), 0.15)
	for m := range c {
		mean, dev := k.mean.of(m), k.dev.of(m)
		mean += w * (c[m] - mean)
		d := c[m] - mean
		dev += w * (max(d, -d) - dev)
		k.mean.set(m, mean)
		k.dev.set(m, max(dev, 0.07*mean))
	}
	slow := max(1/float32(min(k.n, 8)), 0.02)
	if k.n > 8 {
		slow = 0.02
	}
	k.anchorH += slow * (c[mHeight] - k.anchorH)
	k.anchorD += slow * (c[mLength] - k.anchorD)
	k.mean.set(mHeight, min(k.mean.of(mHeight), 1.6*k.anchorH))
	k.mean.set(mLength, min(k.mean.of(mLength), 1.6*k.anchorD))
	// The worst fades, so that one odd hump does not widen the bounds for ever.
	k.worstH = max(c[mHeight], k.worstH+0.05*(k.mean.of(mHeight)-k.worstH))
	k.worstD = max(c[mLength], k.worstD+0.05*(k.mean.of(mLength)-k.worstD))
	if every := float32(begin-k.last.Time()) / 1000; k.last.Set() && every > 0 {
		d := every - k.every
		k.every += w * d
		k.everyDev += w * (max(d, -d) - k.everyDev)
		k.shortest = min(every, k.shortest+0.02*(k.every-k.shortest))
		was := float32(0)
		if due {
			was = 1
		}
		k.judged = min(k.judged+1, 1000)
		k.hit += max(1/k.judged, 0.1) * (was - k.hit)
	}
	k.unlike *= 0.9
	k.learnCompressor(ran, restart, w)
	k.last = state.StampOf(begin)
}

func (k *humpKind) learnCompressor(ran float32, restart uint16, w float32) {
	switch {
	case ran < 0:
	case k.ran < 0:
		k.ran = ran
	default:
		k.ran += w * (ran - k.ran)
	}
	switch at := float32(restart); {
	case restart == 0:
		k.restart, k.restarted = 0, 0
	case k.restart == 0:
		k.restart, k.restarted = at, 0.2*at
	default:
		d := at - k.restart
		k.restart += w * d
		k.restarted += w * (max(d, -d) - k.restarted)
	}
}

// found makes a kind of two humps that are alike, or keeps the hump for the next.
func (h *humps) found(s *State, l looseHump) {
	gap := s.gap
	slack := 2*minuteS + 1.5*gap
	if l.course.of(mLength) < max(12*minuteS, 2*gap) {
		return
	}
	for i := range h.loose[:h.looseN] {
		o := &h.loose[i]
		if l.at.Time()-o.at.Time() < 90*minute || !alike(l.course.of(mHeight), o.course.of(mHeight), 1.4, 0) ||
			!alike(l.course.of(mRise), o.course.of(mRise), 1.45, slack) || !alike(l.course.of(mTurn), o.course.of(mTurn), 1.45, slack) ||
			!alike(l.course.of(mFall), o.course.of(mFall), 1.45, slack) || !alike(l.course.of(mLength), o.course.of(mLength), 1.45, slack) {
			continue
		}
		if k := h.place(l.course.of(mHeight), l.at.Time()); k != nil {
			*k = kindOf(o, &l)
			h.noteOnset()
		}
		h.drop(i)
		return
	}
	if int(h.looseN) == len(h.loose) {
		h.drop(0)
	}
	h.loose[h.looseN] = l
	h.looseN++
}

// drop forgets a loose hump.
func (h *humps) drop(i int) {
	copy(h.loose[i:], h.loose[i+1:])
	h.looseN--
	h.loose[h.looseN] = looseHump{}
}

// place is where a new kind goes: a free place, one that was not seen for long, or
// that of a lower kind; nil when there is none.
func (h *humps) place(height float32, at rimewatch.Time) *humpKind {
	var lower *humpKind
	for i := range h.kinds {
		k := &h.kinds[i]
		unseen := max(7*rimewatch.Day, rimewatch.Time(4000*k.every))
		if k.n == 0 || at-k.last.Time() > unseen {
			return k
		}
		if k.mean.of(mHeight) < height && (lower == nil || k.mean.of(mHeight) < lower.mean.of(mHeight)) {
			lower = k
		}
	}
	return lower
}

func kindOf(a, b *looseHump) humpKind {
	every := float32(b.at.Time()-a.at.Time()) / 1000
	k := humpKind{n: 2, last: b.at, every: every, everyDev: 0.25 * every, shortest: every, ran: -1}
	for m := range a.course {
		x, y := a.course.of(m), b.course.of(m)
		k.mean.set(m, (x+y)/2)
		k.dev.set(m, max((max(x, y)-min(x, y))/2, 0.07*(x+y)/2))
	}
	k.anchorH, k.anchorD = k.mean.of(mHeight), k.mean.of(mLength)
	k.worstH, k.worstD = max(a.course.of(mHeight), b.course.of(mHeight)), max(a.course.of(mLength), b.course.of(mLength))
	k.learnCompressor(a.ran, a.restart, 1)
	k.learnCompressor(b.ran, b.restart, 0.5)
	return k
}

// trusted reports whether humps of a kind are regular enough to keep an alert back
// while one runs.
func (k *humpKind) trusted(band, gap float32) bool {
	length := k.mean.of(mLength)
	spread := float32(0.35)
	if k.judged >= regularJudged && k.hit >= regularHits {
		spread = 0.56
	}
	return k.n >= 2 && k.mean.of(mHeight) >= max(3.5*band, 1.5) && length <= 150*minuteS && length >= 4*gap &&
		k.unlike <= float32(k.n) && k.dev.of(mLength) <= spread*length && k.dev.of(mHeight) <= 0.4*k.mean.of(mHeight)
}

// chance is how probable it is, as a logit, that the running hump is one of kind i.
// The weights are those of a study on recordings and simulated units.
func (h *humps) chance(i int, gap float32) float32 {
	k := &h.kinds[i]
	x := 0.65 + max(-1, min(2.5, 0.3*float32(math.Log(float64((float32(k.n)+1)/(k.unlike+1)))))) - 1.75*k.dev.of(mLength)/k.mean.of(mLength) + h.before[i]
	if h.rise[i] != 0 {
		x += 1.1
	}
	if h.turned != 0 && float32(h.turned) < 0.5*k.mean.of(mTurn)-gap {
		x -= 2
	}
	if k.ran >= 0 && h.warmed > 4*60 {
		if d := float32(h.ran)/float32(h.warmed) - k.ran; max(d, -d) < 0.3 {
			x += 0.35
		} else {
			x -= 0.35
		}
	}
	if h.departed[i] != fits {
		x -= 4
	}
	if h.flagged {
		x = max(x, 0) + 3.5
	}
	return x
}

const surely = 0.8473 // the logit of 0.7

// recognised returns the kind that the running hump is one of, nil when it is none.
func (h *humps) recognised(gap float32) (k *humpKind, i int) {
	if !h.running {
		return nil, 0
	}
	best := float32(surely)
	for j := range h.kinds {
		if h.kinds[j].n == 0 || h.departed[j] != fits || !h.kinds[j].trusted(h.dev, gap) {
			continue
		}
		if x := h.chance(j, gap); x >= best {
			best, k, i = x, &h.kinds[j], j
		}
	}
	return k, i
}

// DefrostCourse is the expected course of the present defrost.
type DefrostCourse struct {
	Since  rimewatch.Time // it began
	Back   rimewatch.Time // the zone is usually cold again
	Latest rimewatch.Time // it is no ordinary one if it is not
	Known  int            // defrosts that this rests on
}

// Defrost returns the course that is expected of the defrost that goes on; ok is
// false when none does, or its kind is not known.
func (s *State) Defrost() (d DefrostCourse, ok bool) {
	k, _ := s.humps.recognised(s.gap)
	if k == nil {
		return d, false
	}
	begin := s.humps.begin.Time()
	return DefrostCourse{
		Since: begin, Back: begin + rimewatch.Time(1000*k.mean.of(mLength)), Latest: begin + rimewatch.Time(1000*k.longest(s.gap)), Known: int(k.n),
	}, true
}

// Reaches reports whether defrosts like the one that goes on ordinarily reach a
// temperature, °C, and until when at the latest; ok is false when none goes on or
// they do not. critical asks for a temperature that they reach as a rule, not at
// their highest; overdue says that an alert has waited for so long that one which has
// not turned by when they usually do is none of them.
func (s *State) Reaches(limit float64, critical, overdue bool) (latest rimewatch.Time, ok bool) {
	k, _ := s.humps.recognised(s.gap)
	if k == nil || overdue && s.humps.turned == 0 && float32(s.at-s.humps.begin.Time())/1000 > k.mean.of(mTurn)+k.dev.of(mTurn)+s.gap {
		return 0, false
	}
	height := k.highest()
	if critical {
		height = min(height, k.mean.of(mHeight)+2*k.dev.of(mHeight))
	}
	if float64(s.humps.base+height) < limit {
		return 0, false
	}
	return s.humps.begin.Time() + rimewatch.Time(1000*k.longest(s.gap)), true
}

// MeltsRunning is how long the defrosts last at most that this unit makes with its
// compressor running, as by hot gas; 0 when it makes none.
func (s *State) MeltsRunning() rimewatch.Time {
	longest := float32(0)
	for i := range s.humps.kinds {
		if k := &s.humps.kinds[i]; k.n >= 2 && k.ran >= 0.6 {
			longest = max(longest, k.longest(s.gap))
		}
	}
	return rimewatch.Time(1000 * min(longest, 90*minuteS))
}

// KnowsDefrosts reports whether any kind of defrost of this unit is known well
// enough to be told from a failure.
func (s *State) KnowsDefrosts() bool {
	h := &s.humps
	for i := range h.kinds {
		if h.kinds[i].n >= 2 && h.kinds[i].trusted(h.dev, s.gap) {
			return true
		}
	}
	return false
}
