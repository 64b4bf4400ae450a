package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// humps follow the rises of the zone's temperature out of the unit's own band and
// learn the kinds of them that come back: defrosts, by clock, by run time or on
// demand, any number a day. Whether a hump is one of them is not asked of the
// hour but of its course: how fast it rises, how high, when it turns, how fast it
// falls. Time, the compressor and what the device declares are evidence.
type humps struct {
	mid, dev float32     // °C and K: running median of the zone and running 70 % quantile of the distance from it
	from     state.Stamp // of the first value of the band
	prev     float32     // °C, newest value
	steps    float32     // K, greatest ordinary difference of two readings in a row, fading

	hump // the running one

	kinds   [2]humpKind
	loose   [3]looseHump // the newest that belong to no kind
	onsets  [8]uint32    // min since the epoch, the newest onsets of recognised humps
	movedAt state.Stamp  // the probe was last moved
	leapt   state.Stamp  // the zone of a unit of which nothing else is measured jumped, and is not long steady again
	leap    state.Fixed  // K by which it did, negative until the next reading has confirmed it
	looseN  uint8
	onsetN  uint8
	flags   uint8 // declared defrosts seen, saturating
}

// hump is a rise that goes on; the zero value is none.
type hump struct {
	begin    state.Stamp // of the running hump, interpolated
	base     float32     // °C, mid at its begin
	over     float32     // °C below which it is over
	peak     float32     // °C
	before   [2]float32  // logit of what the begin alone says, by kind
	turned   uint16      // s after begin at which the zone had fallen by a sixth; 0 = not yet
	half     uint16      // by half
	quarter  uint16      // to a quarter
	restart  uint16      // s after begin at which the compressor ran again
	warmed   uint16      // s of the rise that are known
	ran      uint16      // s of them with the compressor running
	rise     [2]uint16   // s after begin to half the height of each kind
	marks    [8]uint16   // s after begin to the heights of markHeight
	departed [2]departure
	running  bool
	flagged  bool // the device declared a defrost meanwhile
	stood    bool // the compressor stood still in this hump
	moved    bool // the probe was moved in it
	known    bool // it was recognised when half of its usual height was reached
	expected bool // one was due when it began
}

// humpKind is a kind of hump that comes back.
type humpKind struct {
	mean, dev          packed
	worstH, worstD     float32 // K and s, of those that ended as the others did
	anchorH, anchorD   float32 // slow means: height and length may not creep away from them
	every, everyDev    float32 // s between two, and its mean deviation
	shortest           float32 // s
	ran                float32 // share of the rise with the compressor running, −1 = not known
	restart, restarted float32 // s to the compressor's restart, mean and mean deviation; 0 = not known
	unlike             float32 // humps of its size that were not like it, fading
	hit, judged        float32 // share and number of onsets that were due
	n                  uint16
	last               state.Stamp // newest onset
}

// looseHump is a hump without a kind.
type looseHump struct {
	course  packed
	at      state.Stamp
	ran     float32
	restart uint16
}

// departure is why a hump is not one of a kind.
type departure uint8

const (
	fits departure = iota
	tooHigh
	tooFast
	tooSlow
	noTurn
	noFall
	tooLong
	tooSoon
	offSchedule
	stepped
	keepsRunning
	staysOff
	notDeclared
	noSupplyLeft
	noKind // there is no such kind
)

const (
	humpLongest   = 6 * hour // what lasts longer is another level
	humpGap       = 20 * minute
	midTau        = float32(3 * hour)
	devTau        = float32(8 * hour)
	bandStart     = 2 * hour // plain means at first
	leastDev      = 0.05     // K
	minuteS       = float32(60)
	regularHits   = 0.8
	regularJudged = 6
	dueSlack      = 20 * 60           // s
	movedStep     = 8.0               // K in one reading
	leapLearnt    = 3 * rimewatch.Day // before a jump is reported: until then an ordinary defrost may be one
	leapLasts     = hour
	stepMemory    = float32(14 * rimewatch.Day)
)

// followHumps takes a zone temperature.
func (h *humps) followHumps(s *State, o *Observation) {
	v := float32(o.Reading.Values[rimewatch.ProductZoneTemp])
	gap := o.At - s.zoneAt
	if !h.from.Set() || s.zoneAt == 0 {
		h.mid, h.dev, h.from, h.prev = v, 0.3, state.StampOf(o.At), v
		return
	}
	if gap > max(humpGap, 4*s.Interval()) && h.running {
		h.hump = hump{} // unlearnt: what happened meanwhile is not known
	}
	by := v - h.prev
	step := max(by, -by)
	jumped := step > max(movedStep, 3*h.steps) && gap <= max(humpGap, 2*s.Interval())
	if !jumped {
		h.steps += min(1, float32(gap)/stepMemory) * (0 - h.steps)
		h.steps = max(h.steps, step)
	}
	if !h.running && v > h.mid+max(1, 2*h.dev) {
		h.beginHump(s, o, v, gap)
	}
	if h.running {
		h.followCourse(s, o, v, jumped)
	}
	if jumped {
		h.movedAt = state.StampOf(o.At)
	}
	h.followLeap(s, o.At, jumped && gap <= humpGap, by)
	h.follow(v, float32(min(gap, humpGap)), o.At)
	h.prev = v
}

// followLeap keeps a jump of the zone by so many K that no room makes, of a unit of which nothing
// else is measured, until it has been over for a while. The next reading has to confirm it: until
// then it is kept with a minus, for one odd reading is no jump.
func (h *humps) followLeap(s *State, at rimewatch.Time, jumped bool, by float32) {
	switch {
	case jumped && by > 0 && zoneOnly(s) && at-h.from.Time() >= leapLearnt:
		h.leapt, h.leap = state.StampOf(at), state.FixedOf(-float64(by))
	case h.leap < 0 && by < float32(h.leap.Float())/2:
		h.leapt, h.leap = state.Stamp{}, 0
	case h.leap < 0:
		h.leap = -h.leap
	case h.leapt.Set() && at-h.leapt.Time() >= leapLasts && !(h.running && h.moved):
		h.leapt, h.leap = state.Stamp{}, 0
	}
}

// ZoneJump is by how much the zone has lately jumped from one reading to the next, K, as
// no room does: its probe was moved; 0 = it has not. The limits are judged all the same.
func ZoneJump(s *State) float64 { return max(0, s.humps.leap.Float()) }

// follow moves the band by steps of fixed size, inside humps too: means that left
// humps out would lock themselves into a band that the unit has left.
func (h *humps) follow(v, dt float32, at rimewatch.Time) {
	age := at - h.from.Time()
	d := v - h.mid
	if age <= bandStart {
		w := min(1, dt/max(float32(age), 1))
		h.mid += w * d
		h.dev = max(leastDev, h.dev+w*(max(d, -d)-h.dev))
		return
	}
	most := max(float32(hour), float32(age)/4)
	move := h.dev * dt / min(midTau, most)
	h.mid += max(-move, min(move, d))
	turn := dt / min(devTau, most)
	if max(d, -d) > h.dev {
		h.dev *= 1 + 1.4*turn
	} else {
		h.dev = max(leastDev, h.dev*(1-0.6*turn))
	}
}

// beginHump freezes the band and asks what the moment alone says of each kind.
func (h *humps) beginHump(s *State, o *Observation, v float32, gap rimewatch.Time) {
	limit := h.mid + max(1, 2*h.dev)
	begin := o.At
	if v > h.prev && h.prev < limit {
		begin -= rimewatch.Time(float32(gap) * (v - limit) / (v - h.prev))
	}
	h.hump = hump{begin: state.StampOf(begin), base: h.mid, over: h.mid + max(0.5, h.dev), peak: v, running: true}
	for k := range h.kinds {
		h.departed[k] = noKind
		if h.kinds[k].n > 0 {
			h.departed[k], h.before[k] = h.onset(s, &h.kinds[k], begin)
			h.expected = h.expected || h.due(&h.kinds[k], begin, s.gap)
		}
	}
}

// onset judges the moment at which a hump begins.
func (h *humps) onset(s *State, k *humpKind, begin rimewatch.Time) (departure, float32) {
	since := float32(begin-k.last.Time()) / 1000
	due := h.due(k, begin, s.gap)
	says := float32(1.7)
	if k.judged >= 4 {
		says = -2 * k.hit
		if due {
			says = 3 * k.hit
		}
	} else if !due {
		says = 0
	}
	soonest := 0.9*k.shortest - 2*s.gap
	if k.everyDev < 0.3*k.every {
		soonest = max(0.4*k.every, 0.7*k.shortest)
	}
	switch {
	case since < soonest && !due && k.n >= 3:
		return tooSoon, says
	case !due && k.judged >= regularJudged && k.hit >= regularHits:
		return offSchedule, says
	default:
		return fits, says
	}
}

// due reports whether a hump of a kind may be expected at a moment: there was one
// a day or two before, or a regular interval has passed.
func (h *humps) due(k *humpKind, at rimewatch.Time, gap float32) bool {
	slack := dueSlack + gap
	now := uint32(at / minute)
	for _, m := range h.onsets[:h.onsetN] {
		for day := uint32(1); day <= 2; day++ {
			if off := float32(int64(now)-int64(m)-int64(day*24*60)) * minuteS; max(off, -off) <= slack {
				return true
			}
		}
	}
	if k.n < 3 || k.every <= 0 || k.everyDev > 0.2*k.every {
		return false
	}
	since := float32(at-k.last.Time()) / 1000
	for times := float32(1); times <= 3; times++ {
		if off := since - times*k.every; max(off, -off) <= max(slack, min(3*k.everyDev, 0.2*k.every)) {
			return true
		}
	}
	return false
}

// followCourse takes a value of the running hump.
func (h *humps) followCourse(s *State, o *Observation, v float32, jumped bool) {
	since := o.At - h.begin.Time()
	if since > humpLongest {
		h.hump, h.mid = hump{}, v // not a hump but another level
		return
	}
	t := uint16(max(1, since/second))
	h.flagged = h.flagged || s.defrost.declared
	if jumped {
		h.moved = true
		for k := range h.departed {
			if h.departed[k] == fits {
				h.departed[k] = stepped
			}
		}
	}
	h.followCompressor(s, t, o.Gap)
	height := h.peak - h.base
	if v > h.peak-0.05*height {
		h.turned, h.half, h.quarter = 0, 0, 0
	}
	h.peak = max(h.peak, v)
	height = h.peak - h.base
	fallen := h.peak - v
	for i := range h.marks {
		if h.marks[i] == 0 && v-h.base >= markHeight(i) {
			h.marks[i] = t
		}
	}
	if h.turned == 0 && fallen >= max(0.15*height, 0.3) {
		h.turned = t
	}
	if h.turned != 0 && h.half == 0 && fallen >= 0.5*height {
		h.half = t
	}
	if h.half != 0 && h.quarter == 0 && fallen >= 0.75*height {
		h.quarter = t
	}
	for k := range h.kinds {
		h.compare(s, k, t, height)
	}
	if !h.known {
		k, i := s.humps.recognised(s.gap)
		h.known = k != nil && h.rise[i] != 0
	}
	if v < h.over {
		h.endHump(s, t)
		h.hump = hump{}
	}
}

// followCompressor notes what the compressor does during the rise.
func (h *humps) followCompressor(s *State, t uint16, gap rimewatch.Time) {
	if !s.RunningKnown() {
		return
	}
	on := s.running.on
	if !on {
		h.stood = true
	} else if h.stood && h.restart == 0 {
		h.restart = t
	}
	if h.turned == 0 {
		dt := uint16(min(gap/second, 600))
		h.warmed += dt
		if on {
			h.ran += dt
		}
	}
}

// room is by how much a stage may take longer than usual, s.
func (k *humpKind) room(m int, gap float32) float32 {
	r := max(0.18*k.mean.of(m), 2.5*k.dev.of(m), 6*minuteS, 1.5*gap)
	if k.n <= 2 {
		r *= 1.15
	}
	return min(r, k.mean.of(m)+6*minuteS)
}

// highest is how high a hump of the kind may become, K: as high as spread allows,
// and at most 2 K above the highest that ended well.
func (k *humpKind) highest() float32 {
	usual := k.mean.of(mHeight)
	return min(usual+min(max(0.4*usual, 3*k.dev.of(mHeight), 1.5), 0.75*usual), k.worstH+2)
}

// longest is how long a hump of the kind may last, s: at most a quarter of an hour
// longer than the longest that ended well.
func (k *humpKind) longest(gap float32) float32 {
	d := k.mean.of(mLength)
	return min(d+max(0.25*d, 3*k.dev.of(mLength), 10*minuteS, 2*gap), 1.6*d+10*minuteS, k.worstD+15*minuteS+gap)
}

// compare asks whether the running hump still is one of kind i.
func (h *humps) compare(s *State, i int, t uint16, height float32) {
	k := &h.kinds[i]
	if k.n == 0 {
		return
	}
	at, gap := float32(t), s.gap
	if h.rise[i] == 0 && height >= 0.5*k.mean.of(mHeight) {
		h.rise[i] = t
		if h.departed[i] == fits && at < 0.4*k.mean.of(mRise)-gap {
			h.departed[i] = tooFast
		}
	}
	switch d := h.departed[i]; {
	case h.half != 0 && (d == tooHigh || d == tooFast || d == tooSlow) && float32(h.half-h.turned) <= k.mean.of(mFall)+k.room(mFall, gap) && height <= k.worstH+2:
		h.departed[i] = fits // it turned and fell as they do
	case d != fits:
		return
	}
	fell := float32(0)
	if h.turned != 0 {
		fell = at - float32(h.turned)
	}
	switch {
	case height > k.highest():
		h.departed[i] = tooHigh
	case h.rise[i] == 0 && at > k.mean.of(mRise)+k.room(mRise, gap):
		h.departed[i] = tooSlow
	case h.turned == 0 && at > k.mean.of(mTurn)+k.room(mTurn, gap):
		h.departed[i] = noTurn
	case h.half == 0 && fell > k.mean.of(mFall)+k.room(mFall, gap), h.quarter == 0 && fell > k.mean.of(mQuarter)+k.room(mQuarter, gap):
		h.departed[i] = noFall
	case fell > k.mean.of(mEnd)+k.room(mEnd, gap), at > k.longest(gap):
		h.departed[i] = tooLong
	case s.phases.phase == NoPower:
		h.departed[i] = noSupplyLeft
	case k.ran >= 0 && k.ran < 0.3 && h.warmed > 8*60 && h.turned == 0 && float32(h.ran) > 0.6*float32(h.warmed):
		h.departed[i] = keepsRunning
	case k.restart > 0 && h.stood && h.restart == 0 && at > k.restart+max(0.3*k.restart, 3*k.restarted, 8*minuteS, 1.5*gap):
		h.departed[i] = staysOff
	case h.flags >= 3 && !h.flagged && at > 30*minuteS:
		h.departed[i] = notDeclared
	}
}

// endHump learns from a hump that is over.
func (h *humps) endHump(s *State, t uint16) {
	if h.flagged {
		h.flags = min(h.flags, 254) + 1
	}
	if h.moved {
		for k := range h.kinds {
			if d := &h.kinds[k]; d.n > 0 { // its heights are learnt anew, its times stay
				d.dev[mHeight], d.n, d.worstH = max(d.dev[mHeight], d.mean[mHeight]/5), min(d.n, 3), d.worstH*1.4
			}
		}
		return
	}
	c, whole := h.measure(t)
	if !whole {
		return
	}
	best, off := -1, float32(math.Inf(1))
	for i := range h.kinds {
		k := &h.kinds[i]
		if k.n == 0 {
			continue
		}
		like := alike(c[mHeight], k.mean.of(mHeight), 1.6, 0) && alike(c[mLength], k.mean.of(mLength), 1.6, 5*minuteS)
		teaches := h.departed[i] == fits || h.departed[i] == tooSoon || h.departed[i] == offSchedule
		if d := max(c[mHeight]-k.mean.of(mHeight), k.mean.of(mHeight)-c[mHeight]); like && teaches && d < off {
			best, off = i, d
		} else if c[mHeight] >= 0.6*k.mean.of(mHeight) {
			k.unlike++
		}
	}
	share := float32(-1)
	if h.warmed > 4*60 {
		share = float32(h.ran) / float32(h.warmed)
	}
	if best >= 0 {
		h.kinds[best].learn(&c, h.begin.Time(), h.due(&h.kinds[best], h.begin.Time(), s.gap), share, h.restart)
		h.noteOnset()
		return
	}
	h.found(s, looseHump{c.pack(), h.begin, share, h.restart})
}

func (h *humps) noteOnset() {
	copy(h.onsets[1:], h.onsets[:])
	h.onsets[0] = uint32(h.begin.Time() / minute)
	h.onsetN = min(h.onsetN+1, uint8(len(h.onsets)))
}
