package health

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

const (
	span     = 30 * rimewatch.Minute // one slot of the window
	numSlots = 48                    // whole slots behind the running one
	unit     = 2 * rimewatch.Second  // of past slots
	full     = uint32(span / unit)   // units in a slot; fits 10 bits

	coldUnits = 4 // units that cold time of past slots is kept in; a slot of them fits 8 bits

	// DefaultMaxHold is how long a reading stands for the time after it at most,
	// however slowly a device logs.
	DefaultMaxHold = 2 * time.Hour
	firstHold      = 15 * rimewatch.Minute // while the usual gap is not known
	minHold        = 2 * rimewatch.Second
)

// Span is the time [From, To).
type Span struct {
	From, To rimewatch.Time
}

// Config is what a device's temperature is judged by.
type Config struct {
	Limits   rimewatch.Limits
	MaxHold  time.Duration // 0 = DefaultMaxHold
	Excluded []Span        // maintenance: oldest first, apart from each other
	Days     Days          // how short runs out of limits add up
}

// judges reports whether there is a limit at all.
func (c *Config) judges() bool { return c.Limits.TempMin != nil || c.Limits.TempMax != nil }

// excludes reports whether t lies in maintenance.
func (c *Config) excludes(t rimewatch.Time) bool {
	at, ok := c.firstExcluded(t, t)
	return ok && at == t
}

// firstExcluded returns the first excluded moment in [from, to].
func (c *Config) firstExcluded(from, to rimewatch.Time) (at rimewatch.Time, ok bool) {
	for i := len(c.Excluded) - 1; i >= 0 && c.Excluded[i].To > from; i-- {
		if c.Excluded[i].From <= to {
			at, ok = max(c.Excluded[i].From, from), true
		}
	}
	return at, ok
}

// slot is one past half hour in units of 2 s: covered, out of limits, and out
// of limits without forgiveness, 10 bits each.
type slot uint32

func newSlot(covered, out, bad uint32) slot { return slot(covered | out<<10 | bad<<20) }
func (s slot) covered() uint32              { return uint32(s) & 1023 }
func (s slot) out() uint32                  { return uint32(s) >> 10 & 1023 }
func (s slot) bad() uint32                  { return uint32(s) >> 20 & 1023 }

// State is the memory of one device. The zero value knows nothing. It
// holds no pointers: a copy is a snapshot.
type State struct {
	at       rimewatch.Time // newest product-zone temperature, 0 = none
	start    rimewatch.Time // since when it is out of limits, or the start of the excursion; 0 = neither
	lateFrom rimewatch.Time // see Late
	lateTo   rimewatch.Time

	past [numSlots]slot // by number modulo numSlots
	now  tally          // the running slot, in ms, with what past units left over
	slot uint32         // number of the running slot since the epoch

	gap     Gap
	back    uint32  // 1 + ms that the zone has been back inside the clear value of an excursion, 0 = it is not
	first   uint32  // ms out of limits in the slot in which they started, while pending
	peak    int32   // worst value since start, 1/10,000 K
	degrees float32 // K·min since start
	lateN   uint32  // see Late
	ran     uint32  // ms out of limits since start, while pending
	sided   uint32  // slot from which on cold is known: an older program did not tell the sides apart

	day  day
	cold [numSlots]uint8 // of past, units of 8 s below the lower limit

	severityAt [remembered]uint32 // s since the epoch
	severity   [remembered]uint16 // of 65,535

	excess uint16 // how far the newest reading is out of limits, 1/100 K

	side      int8 // of the newest reading: above (1), below (−1) or within limits (0)
	excursion int8 // side of the open excursion, 0 = none
	hints     Hints
	judged    bool // the newest reading was judged: time after it is covered
}

// tally is covered time, time out of limits, time out without forgiveness, and time
// below the lower limit.
type tally struct {
	covered, out, bad, cold uint32
}

// hold is how long a reading stands for the time after it.
func (s *State) hold(c *Config) rimewatch.Time {
	hold := s.gap.Hold()
	if most := rimewatch.Time(c.MaxHold.Milliseconds()); most > 0 {
		hold = min(hold, most)
	}
	return hold
}

// Gap is the usual time between readings in ms, a slow mean; 0 = not known yet.
type Gap uint32

// Learn follows the time between two readings. A silence counts as three gaps at
// most; a lasting change is followed within some readings.
func (g *Gap) Learn(gap rimewatch.Time) {
	const most = rimewatch.Day
	if *g == 0 {
		*g = Gap(min(gap, most))
		return
	}
	usual := rimewatch.Time(*g)
	usual += (min(gap, 3*usual, most) - usual) / 8
	*g = Gap(max(usual, 1))
}

// Hold is how long a reading stands for the time after it: two gaps, two hours
// at most.
func (g Gap) Hold() rimewatch.Time {
	if g == 0 {
		return firstHold
	}
	return min(max(2*rimewatch.Time(g), minHold), rimewatch.Time(DefaultMaxHold.Milliseconds()))
}

func slotOf(t rimewatch.Time) uint32 { return uint32(max(t, 0) / span) }

// slide makes n the running slot. What does not fill a unit stays with it.
func (s *State) slide(n uint32) {
	if n <= s.slot {
		return
	}
	if n-s.slot > numSlots {
		s.past, s.cold = [numSlots]slot{}, [numSlots]uint8{}
		s.now = tally{}
		s.slot = n
		return
	}
	s.past[s.slot%numSlots], s.cold[s.slot%numSlots] = s.now.settle()
	for s.slot++; s.slot < n; s.slot++ {
		s.past[s.slot%numSlots], s.cold[s.slot%numSlots] = 0, 0
	}
}

// Move moves the state to an earlier time, by whole slots and so by up
// to half an hour more than asked for: the window keeps what was covered.
func (s *State) Move(by rimewatch.Time) {
	slots := (-by + span - 1) / span
	if by >= 0 || rimewatch.Time(s.slot) < slots {
		return
	}
	for _, t := range []*rimewatch.Time{&s.at, &s.start, &s.day.from} {
		if *t != 0 {
			*t -= slots * span
		}
	}
	s.day.end = 0
	for k := range s.severityAt {
		s.severityAt[k] -= min(s.severityAt[k], uint32(slots*span/rimewatch.Second))
	}
	was, cold := s.past, s.cold
	for n := range uint32(numSlots) {
		from := (n + uint32(slots%numSlots)) % numSlots
		s.past[n], s.cold[n] = was[from], cold[from]
	}
	s.slot -= uint32(slots)
	s.sided -= min(s.sided, uint32(slots))
}

// add covers ms of time on a side of the limits.
func (t *tally) add(ms uint32, side int8, bad bool) {
	t.covered += ms
	if side == 0 {
		return
	}
	t.out += ms
	if bad {
		t.bad += ms
	}
	if side < 0 {
		t.cold += ms
	}
}

// settle takes whole units out.
func (t *tally) settle() (_ slot, cold uint8) {
	c := min(t.covered/uint32(unit), full)
	o := min(t.out/uint32(unit), c)
	b := min(t.bad/uint32(unit), o)
	l := min(t.cold/uint32(coldUnits*unit), full/coldUnits)
	t.covered -= c * uint32(unit)
	t.out -= o * uint32(unit)
	t.bad -= b * uint32(unit)
	t.cold -= l * uint32(coldUnits*unit)
	return newSlot(c, o, b), uint8(l)
}

// account adds the time [from, to), in which the newest reading held, after
// sliding to it.
func (s *State) account(from, to rimewatch.Time) {
	for from < to {
		n := slotOf(from)
		s.slide(n)
		end := min(to, rimewatch.Time(n+1)*span)
		d := uint32(end - from)
		s.now.add(d, s.side, s.excursion != 0 || s.day.out)
		if s.side != 0 {
			s.run(n, d)
		}
		from = end
	}
}

// run counts ms out of limits in a slot.
func (s *State) run(n, ms uint32) {
	if n == slotOf(s.start) {
		s.first += ms
	}
	if s.excursion == 0 {
		s.ran += ms
		if s.day.runs > 0 && n == slotOf(s.day.from) {
			s.day.first += ms
		}
	}
	s.degrees += float32(s.excess) / 100 * float32(ms) / 60000
}

// heldUntil is the end of the time that the newest reading stands for, at most to.
func (s *State) heldUntil(c *Config, to rimewatch.Time) rimewatch.Time {
	if !s.judged {
		return s.at
	}
	to = min(to, s.at+s.hold(c))
	if at, ok := c.firstExcluded(s.at, to); ok {
		return at
	}
	return to
}

// pass lets time run until to, holding the newest reading.
func (s *State) pass(c *Config, to rimewatch.Time) {
	end := s.heldUntil(c, to)
	if s.side != 0 && s.excursion == 0 && end-s.start >= delay(&c.Limits, s.side) {
		s.confirm(c)
	}
	s.account(s.at, end)
}

// Compliance is how a device's last 24 h were, in ms.
type Compliance struct {
	Window  int64 // the time that could have been covered
	Covered int64
	In      int64 // within limits, or out for less than the delay
	Strict  int64 // within limits
}

// Percent is 100 × In / Covered; ok is false when nothing is covered.
func (c Compliance) Percent() (v float64, ok bool) { return percent(c.In, c.Covered) }

// StrictPercent is 100 × Strict / Covered.
func (c Compliance) StrictPercent() (v float64, ok bool) { return percent(c.Strict, c.Covered) }

// Coverage is Covered / Window as a percentage.
func (c Compliance) Coverage() (v float64, ok bool) { return percent(c.Covered, c.Window) }

func percent(part, whole int64) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return 100 * float64(part) / float64(whole), true
}

// Compliance reports on the window that ends at now. since, where it is later
// than the window's beginning, is when the device began to exist; readings from before
// then, which came later, move the beginning to the first of them. A device
// without limits has neither window nor covered time. It does not change s.
func (s *State) Compliance(c *Config, now, since rimewatch.Time) Compliance {
	if !c.judges() {
		return Compliance{}
	}
	at := *s // time passes on a copy
	var held rimewatch.Time
	if at.at != 0 {
		held = at.heldUntil(c, max(now, at.at))
		at.pass(c, max(now, at.at))
		at.slide(slotOf(now))
	} else {
		at.slot = slotOf(now)
	}
	sum := Compliance{}
	var out, bad int64
	for _, p := range at.past {
		sum.Covered += int64(p.covered())
		out += int64(p.out())
		bad += int64(p.bad())
	}
	sum.Covered = sum.Covered*int64(unit) + int64(at.now.covered)
	sum.Strict = max(sum.Covered-out*int64(unit)-int64(at.now.out), 0)
	sum.In = max(sum.Covered-bad*int64(unit)-int64(at.now.bad), sum.Strict)
	since = min(since, at.begun(held))
	sum.Window = window(c, max(since, (rimewatch.Time(at.slot)-numSlots)*span), max(now, at.at))
	sum.Window = max(sum.Window, sum.Covered)
	return sum
}

// begun is when the covered time of the window began, which ends at to, had it no gap within its first slot; after everything
// without any.
func (s *State) begun(to rimewatch.Time) rimewatch.Time {
	for n := s.slot - min(s.slot, numSlots); n < s.slot; n++ {
		if c := s.past[n%numSlots].covered(); c > 0 {
			return min(rimewatch.Time(n+1)*span, to) - rimewatch.Time(c)*unit
		}
	}
	if s.now.covered > 0 {
		return to - rimewatch.Time(s.now.covered)
	}
	return math.MaxInt64
}

// window is the time in [from, to) that is not excluded.
func window(c *Config, from, to rimewatch.Time) int64 {
	w := max(to-from, 0)
	for _, e := range c.Excluded {
		w -= max(min(e.To, to)-max(e.From, from), 0)
	}
	return int64(max(w, 0))
}
