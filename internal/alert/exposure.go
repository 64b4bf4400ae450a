package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// exposed are the rules beyond whose limits time adds up. The others are judged by the
// condition that lasts alone, until a course is shown that this misses.
const exposed = 1<<ruleHigh | 1<<ruleLow | 1<<ruleLowVolts | 1<<ruleHighVolts | 1<<ruleHumid | 1<<ruleDry

const (
	// windowSlots make a window: the newest is under way and the oldest in part outside.
	// How much of that lies within is known to a quarter of a slot, a thirtieth of the
	// delay; slack is a little more.
	windowSlots = 16
	slack       = 25
	// slotFull is what a slot holds of which all was beyond the limit: units of 15 s where
	// it is an hour, of 2 s with a delay of an hour.
	slotFull = 240

	lasting    = 2 * tcsCritical // the window in which tcsCritical adds up
	lastSlots  = 16
	daySlots   = 25 // hours, the oldest in part outside
	countsMost = 2 * hour
)

// exposure is the time beyond the limits of one side of a measure, adding up. A
// condition that is interrupted by single readings, or comes and goes faster than its
// delay, harms goods as one that lasts: the Food Code's hours without temperature control
// and the minutes that loggers for vaccines count are sums. Its windows look back from
// the newest sample; what left them is forgotten.
type exposure struct {
	of       uint8       // rule + 1, 0 = no rule's
	bits     uint8       // see onWarn
	at       state.Stamp // the newest sample
	told     state.Stamp // the sum of a day was reached
	warn     stretch     // newest run beyond the warning limit
	crit     stretch     // … beyond the critical one
	warned   window      // runs before it, over twice the warning's delay
	critical window      // …, over twice the critical one's
	lasted   window      // beyond the warning limit, over four hours
	day      daySum      // beyond the limit whose minutes a day are counted
}

const (
	onWarn      uint8 = 1 << iota // the newest sample was beyond the warning limit
	onCrit                        // … the critical one
	defrostWarn                   // the newest run beyond the warning limit is a recognised defrost
	defrostCrit                   // … beyond the critical one
	fullWarn                      // on this sample the window holds the delay
	fullCrit
	fullLasting
	fullDay
)

// stretch is a run beyond a limit: from its first sample, or the first after a silence in
// it, until it is known not to hold. It began before the silences in it.
type stretch struct{ began, from, to state.Stamp }

// since is the part of the run from a moment on.
func (s *stretch) since(from rimewatch.Time) rimewatch.Time {
	return max(0, s.to.Time()-max(s.from.Time(), from))
}

// tail is where a row of slots stands in time.
type tail struct {
	head  state.Stamp // the newest slot begins
	carry uint8       // 256ths of a unit that no slot holds yet
}

type window struct {
	tail
	slots [windowSlots]uint8 // newest first
}

type daySum struct {
	tail
	slots [daySlots]uint8
}

// row is a row of slots of one length, for whichever window.
type row struct {
	*tail
	slots []uint8
	width rimewatch.Time
}

// over returns the window's row that looks back for a span.
func (w *window) over(d rimewatch.Time) row { return row{&w.tail, w.slots[:], d / (windowSlots - 1)} }

func (w *daySum) over() row { return row{&w.tail, w.slots[:], rimewatch.Day / (daySlots - 1)} }

// advance makes the slot of a moment the newest.
func (r row) advance(to rimewatch.Time) {
	head := r.head.Time()
	if !r.head.Set() || to-head >= rimewatch.Time(len(r.slots))*r.width {
		clear(r.slots)
		*r.tail = tail{head: state.StampOf(to - to%r.width)}
		return
	}
	n := int((to - head) / r.width)
	if n <= 0 {
		return
	}
	copy(r.slots[n:], r.slots)
	clear(r.slots[:n])
	r.head = state.StampOf(head + rimewatch.Time(n)*r.width)
}

// slot is when the slot begins that a moment is in.
func (r row) slot(at rimewatch.Time) rimewatch.Time {
	head := r.head.Time()
	if at >= head {
		return head
	}
	return head - (head-at+r.width-1)/r.width*r.width
}

// add puts a run that is over into its slots.
func (r row) add(s stretch) {
	for i := len(r.slots) - 1; i >= 0; i-- {
		begin := r.head.Time() - rimewatch.Time(i)*r.width
		part := min(s.to.Time(), begin+r.width) - max(s.from.Time(), begin)
		if part <= 0 {
			continue
		}
		v := part*slotFull<<8/r.width + rimewatch.Time(r.carry)
		r.slots[i] = uint8(min(rimewatch.Time(r.slots[i])+v>>8, slotFull))
		r.carry = uint8(v & 255)
	}
}

// since adds up the known time from a moment on. Of a slot that it cuts, as much counts
// as of its length; at least what must lie within, where least is asked for.
func (r row) since(from rimewatch.Time, least bool) (sum rimewatch.Time) {
	for i, n := range r.slots {
		if n == 0 {
			continue
		}
		begin := r.head.Time() - rimewatch.Time(i)*r.width
		held := rimewatch.Time(n) * r.width / slotFull
		switch cut := from - begin; {
		case cut >= r.width:
			return sum
		case cut <= 0:
			sum += held
		case least:
			sum += max(0, held-cut)
		default:
			sum += held * (r.width - cut) / r.width
		}
	}
	return sum
}

// oldest is since when at the earliest something in the window counts, never when nothing
// does.
func (r row) oldest(from rimewatch.Time) rimewatch.Time {
	for i := len(r.slots) - 1; i >= 0; i-- {
		end := r.head.Time() - rimewatch.Time(i-1)*r.width
		if n := r.slots[i]; n != 0 && end > from {
			return max(from, end-rimewatch.Time(n)*r.width/slotFull)
		}
	}
	return never
}

// below is from when on, not before at, what was beyond by then fills less than a part of
// the window that looks back for d, or is the newest run alone.
func (r row) below(newest *stretch, at, d, part rimewatch.Time) rimewatch.Time {
	for i := len(r.slots); i >= 0; i-- {
		from := at - d
		sum, own := r.since(from, false), r.since(max(from, r.slot(newest.began.Time())), false)
		if sum == own || sum+newest.since(from) < part {
			break
		}
		// The next slot leaves the window.
		if i > 0 {
			at = max(at, r.head.Time()-rimewatch.Time(i-2)*r.width+d)
		}
	}
	return at
}

// exposure is that of rule i, nil when nothing of it adds up.
func (s *State) exposure(i rule) *exposure {
	if exposed&(1<<i) == 0 {
		return nil
	}
	for k := range s.exposures {
		if s.exposures[k].of == uint8(i)+1 {
			return &s.exposures[k]
		}
	}
	return nil
}

// expose starts an exposure for rule i. The product temperature always finds one; another
// rule whose place it takes where none is free, or that finds none, is judged by what lasts alone.
func (s *State) expose(i rule) (taken *exposure) {
	for k := range s.exposures {
		switch x := &s.exposures[k]; {
		case x.of == 0:
			*x = exposure{of: uint8(i) + 1}
			return x
		case i <= ruleLow && rule(x.of-1) > ruleLow && taken == nil:
			taken = x
		}
	}
	if taken != nil {
		*taken = exposure{of: uint8(i) + 1}
	}
	return taken
}

// addUp takes a sample of rule i for what adds up.
func (s *State) addUp(x *pass, i rule, b *bounds, m *sample) {
	y := s.exposure(i)
	warn, crit := m.z == zoneBeyond && b.hasWarn, m.cz == zoneBeyond && b.hasCrit
	if y == nil {
		if !warn && !crit || exposed&(1<<i) == 0 {
			return
		}
		if y = s.expose(i); y == nil {
			return
		}
	}
	y.follow(b, x.e, s.counts(x, i), warn, crit)
	if i == ruleHigh && x.c.Rules&RuleDefrost != 0 {
		y.spare(x, b)
	}
	y.reach(b, s.isActive(i))
}

// counts is for how long a sample of rule i counts where no other comes.
func (s *State) counts(x *pass, i rule) rimewatch.Time {
	usual := x.u.Interval()
	if i <= ruleLow {
		usual = s.zoneGap.usual(usual)
	}
	return min(2*usual, countsMost)
}

// follow takes note of which limits the sample at e is beyond. One that was counts until
// e, for at most so long.
func (y *exposure) follow(b *bounds, e, most rimewatch.Time, warn, crit bool) {
	at := y.at.Time()
	y.at = state.StampOf(e)
	y.bits &^= fullWarn | fullCrit | fullLasting | fullDay
	y.advance(b, e)
	y.run(&y.warn, onWarn, defrostWarn, at, e, most, warn, b)
	y.run(&y.crit, onCrit, defrostCrit, at, e, most, crit, b)
}

// run moves a run on to a sample.
func (y *exposure) run(r *stretch, on, defrost uint8, at, e, most rimewatch.Time, is bool, b *bounds) {
	was := y.bits&on != 0
	if was {
		r.to = state.StampOf(min(e, at+most))
	}
	if is && !(was && r.to.Time() == e) {
		y.settle(r, defrost, b)
		if r.from, r.to = y.at, y.at; !was {
			r.began = y.at
			y.bits &^= defrost
		}
	}
	y.bits &^= on
	if is {
		y.bits |= on
	}
}

// spare marks a run that is a recognised defrost by now: one whose like ordinarily reach
// the limit. One that departs from its predecessors counts wholly.
func (y *exposure) spare(x *pass, b *bounds) {
	mark := func(on, defrost uint8, limit float64) {
		if y.bits&on == 0 {
			return
		}
		y.bits &^= defrost
		if _, ok := x.u.Reaches(limit, on == onCrit, false); ok {
			y.bits |= defrost
		}
	}
	mark(onWarn, defrostWarn, b.warn)
	mark(onCrit, defrostCrit, b.crit)
}

// settle puts a run that is over into the windows.
func (y *exposure) settle(r *stretch, defrost uint8, b *bounds) {
	if !r.to.Set() || y.bits&defrost != 0 {
		return
	}
	isWarn := r == &y.warn
	w, d := &y.warned, b.window
	if !isWarn {
		w, d = &y.critical, b.critWindow
	}
	if d > 0 {
		w.over(d).add(*r)
	}
	if isWarn && b.longDelay > 0 {
		y.lasted.over(lasting).add(*r)
	}
	if b.dayLimit > 0 && isWarn != b.low {
		y.day.over().add(*r)
	}
}

// advance moves all windows on to a moment.
func (y *exposure) advance(b *bounds, e rimewatch.Time) {
	if b.window > 0 {
		y.warned.over(b.window).advance(e)
	}
	if b.critWindow > 0 {
		y.critical.over(b.critWindow).advance(e)
	}
	if b.longDelay > 0 {
		y.lasted.over(lasting).advance(e)
	}
	if b.dayLimit > 0 {
		y.day.over().advance(e)
	}
}

// reach notes which delays the windows hold, on a sample that is beyond the limit.
func (y *exposure) reach(b *bounds, active bool) {
	e := y.at.Time()
	holds := func(r row, newest *stretch, d, delay rimewatch.Time) bool {
		if d == 0 {
			return false
		}
		others := r.since(e-d, false) // a run alone lasts, or does not
		return others > 0 && newest.since(e-d)+others+min(others, delay/slack) >= delay
	}
	warn, crit := y.bits&(onWarn|defrostWarn) == onWarn, y.bits&(onCrit|defrostCrit) == onCrit
	if warn && holds(y.warned.over(b.window), &y.warn, b.window, b.warnDelay) {
		y.bits |= fullWarn
	}
	if crit && holds(y.critical.over(b.critWindow), &y.crit, b.critWindow, b.critDelay) {
		y.bits |= fullCrit
	}
	if warn && b.longDelay > 0 && holds(y.lasted.over(lasting), &y.warn, lasting, b.longDelay) {
		y.bits |= fullLasting
	}
	if !(b.low && crit || !b.low && warn) || b.dayLimit == 0 || y.told.Set() && e-y.told.Time() < rimewatch.Day {
		return
	}
	newest := &y.warn
	if b.low {
		newest = &y.crit
	}
	if y.day.over().since(e-rimewatch.Day, true)+newest.since(e-rimewatch.Day) >= b.dayLimit {
		y.bits |= fullDay
		if active {
			y.told = y.at
		}
	}
}

// fills is when the windows hold their delays if the newest runs go on, never if they do not
// before the runs alone last for so long.
func (y *exposure) fills(b *bounds) (warn, crit rimewatch.Time) {
	warn, crit = never, never
	if y.bits&(onWarn|defrostWarn) == onWarn && b.window > 0 {
		warn = y.warned.over(b.window).fills(&y.warn, y.at.Time(), b.window, b.warnDelay)
	}
	if y.bits&(onCrit|defrostCrit) == onCrit && b.critWindow > 0 {
		crit = y.critical.over(b.critWindow).fills(&y.crit, y.at.Time(), b.critWindow, b.critDelay)
	}
	return warn, crit
}

// fills is when, not before at, the window that looks back for d holds the delay.
func (r row) fills(newest *stretch, at, d, delay rimewatch.Time) rimewatch.Time {
	for {
		others := r.since(at-d, false)
		if others == 0 {
			return never
		}
		missing := delay - others - min(others, delay/slack) - (at - max(newest.from.Time(), at-d))
		if missing <= 0 {
			return at
		}
		at += max(missing, r.width/windowSlots) // where as much leaves the window as is added
	}
}

// bound adds to the bounds of rule i what its exposure brings: when its delays are
// reached, and until when what adds up keeps an alert from its end.
func (s *State) bound(i rule, b *bounds) {
	y := s.exposure(i)
	if y == nil {
		return
	}
	t, at := s.pool.track(i), y.at.Time()
	if y.bits&(fullWarn|fullDay) != 0 && !(b.low && y.bits&fullWarn == 0) {
		b.reached = at
	}
	if y.bits&fullCrit != 0 || b.low && y.bits&fullDay != 0 {
		b.critReached = at
	}
	active := s.isActive(i)
	if y.bits&fullLasting != 0 { // it escalates an alert that is there, or due
		if active {
			b.longReached = at
		} else if due := t.warningDue(b); due != never {
			b.longReached = max(at, due)
		}
	}
	switch {
	case !active:
		b.began = y.began(b)
	case t.zone() == zoneClear:
		if r, d := y.warned.over(b.window), b.window; b.hasWarn && d > 0 {
			b.calm = r.below(&y.warn, at, d, d/4)
		} else if r, d := y.critical.over(b.critWindow), b.critWindow; !b.hasWarn && d > 0 {
			b.calm = r.below(&y.crit, at, d, d/4)
		}
	}
	if r, d := y.critical.over(b.critWindow), b.critWindow; active && d > 0 && t.is(bitCritical) && t.czone() == zoneClear {
		b.critCalm = r.below(&y.crit, at, d, d/4)
	}
}

// began is since when at the earliest something counts of what is reached.
func (y *exposure) began(b *bounds) rimewatch.Time {
	e, first := y.at.Time(), never
	if y.bits&fullWarn != 0 {
		first = min(y.warn.from.Time(), y.warned.over(b.window).oldest(e-b.window))
	}
	if y.bits&fullCrit != 0 {
		first = min(first, y.crit.from.Time(), y.critical.over(b.critWindow).oldest(e-b.critWindow))
	}
	return first
}

// begin lets the windows begin anew at a moment, as after an alert. What adds up over
// hours and days stays. A sample counts for most at most.
func (y *exposure) begin(b *bounds, at, most rimewatch.Time) {
	on := y.bits & (onWarn | onCrit)
	y.advance(b, max(at, y.at.Time()))
	for _, r := range [...]struct {
		run         *stretch
		on, defrost uint8
	}{{&y.warn, onWarn, defrostWarn}, {&y.crit, onCrit, defrostCrit}} {
		if on&r.on != 0 {
			r.run.to = state.StampOf(max(r.run.from.Time(), min(at, y.at.Time()+most)))
		}
		y.settle(r.run, r.defrost, b)
		if *r.run = (stretch{}); on&r.on != 0 {
			now := state.StampOf(at)
			*r.run = stretch{now, now, now}
		}
	}
	y.warned, y.critical, y.bits = window{}, window{}, on
}

// holds reports whether anything counts in a window that looks back from e.
func (y *exposure) holds(b *bounds, e rimewatch.Time) bool {
	recent := func(r row, newest *stretch, defrost uint8, d rimewatch.Time) bool {
		return d > 0 && (r.oldest(e-d) != never || y.bits&defrost == 0 && newest.since(e-d) > 0)
	}
	return recent(y.warned.over(b.window), &y.warn, defrostWarn, b.window) || recent(y.critical.over(b.critWindow), &y.crit, defrostCrit, b.critWindow)
}

// lasts reports whether anything of it counts at e, if only in the sum of hours or of
// a day.
func (y *exposure) lasts(b *bounds, e rimewatch.Time) bool {
	if y.bits&(onWarn|onCrit) != 0 || y.holds(b, e) {
		return true
	}
	if b.longDelay > 0 && (y.bits&defrostWarn == 0 && y.warn.since(e-lasting) > 0 || y.lasted.over(lasting).oldest(e-lasting) != never) {
		return true
	}
	if b.dayLimit == 0 {
		return false
	}
	newest, defrost := &y.warn, defrostWarn
	if b.low {
		newest, defrost = &y.crit, defrostCrit
	}
	from := e - rimewatch.Day
	return y.told.Time() > from || y.bits&defrost == 0 && newest.since(from) > 0 || y.day.over().oldest(from) != never
}

// gap is the usual time between product temperatures, ms: of a device that measures them
// more seldom than other things, not that between its readings.
type gap uint32

// learn takes a time between two of them. A silence counts as three usual gaps at most.
func (g *gap) learn(d rimewatch.Time) {
	d = min(d, rimewatch.Day)
	if *g == 0 {
		*g = gap(d)
		return
	}
	usual := rimewatch.Time(*g)
	*g = gap(max(1, usual+(min(d, 3*usual)-usual)/8))
}

func (g gap) usual(otherwise rimewatch.Time) rimewatch.Time {
	if g == 0 {
		return otherwise
	}
	return rimewatch.Time(g)
}
