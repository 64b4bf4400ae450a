package capability

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// State is the memory of one unit. The zero value is a unit that was never seen.
// It holds no pointers: a copy is a snapshot.
type State struct {
	usual

	born   state.Stamp    // first zone temperature
	at     state.Stamp    // newest
	recent [2]state.Fixed // the two readings before it, newest first
	zone   state.Fixed    // median of three
	seen   uint8          // readings behind it, up to 3

	turn                // of the zone, where no compressor is seen
	onFor, offFor uint8 // readings in a row that show it running, or standing
	runs          bool  // as two readings in a row have shown
	began         state.Fixed
	edge          state.Fixed // zone at the first reading of a start or stop that a second one has to confirm

	idle      state.Stamp // beyond the usual start and not running since
	stalled   state.Stamp // beyond it and not falling since
	out       state.Stamp // surely beyond it since
	top       state.Fixed // warmest since the zone last fell
	marks     [2]mark     // of the zone while it is beyond, the newer first
	fails     uint8       // starts that failed meanwhile
	ran       uint8       // readings that showed it running since stalled, saturating
	excuse    excuse      // for not running
	worstStay float32     // s, the longest of not falling that ended by itself, fading

	cause Cause
	since state.Stamp // of demand without cooling
	limit float32     // °C, begin and margin when it was found
	stop  float32     // °C, the usual stop then
	downs uint8       // runs down to it since
	other uint8       // full cycles of the thermostat elsewhere since
	cold  state.Stamp // below limit since
}

// mark is the zone at a moment.
type mark struct {
	zone state.Fixed
	at   state.Stamp
}

// turn follows the zone from one turning point to the next.
type turn struct {
	extreme state.Fixed
	falling bool
}

// Cause is why demand is not met.
type Cause uint8

// The causes.
const (
	Met         Cause = iota // demand is met, or nothing is known
	NoCurrent                // the compressor draws no current
	LockedRotor              // it tries to start, and does not run
	NoRun                    // it does not run, by another sign than its current
	NoEffect                 // it runs, and the zone does not get colder
	NotFalling               // the zone does not get colder; nothing shows what the compressor does
	Begun                    // since one of these it has run, or the zone has become colder: not yet down to its usual stop
	numCauses
)

// Over is how demand without cooling ended in a reading.
type Over uint8

// The ends.
const (
	Lasts     Over = iota
	Cools          // twice down to its usual stop
	Elsewhere      // its thermostat cycles at another level
)

const (
	knownAfter = 48 * hour         // before that, usual events may not have happened yet
	firstDays  = 7 * rimewatch.Day // deliveries are weekly
	firstLeast = hour              // for which a compressor may stand until then
	firstStay  = 90 * minute       // and the zone not fall
	leastStay  = 45 * minute       // beyond and not falling: at 30 every long delivery is an alert
	leastRan   = 55 * minute       // likewise of a unit that is seen to run: its recoveries are the slower ones
	ranTimes   = 1.8               // likewise
	seldom     = 90 * second       // between readings, from which a run may show in one alone
	surely     = 5 * minute        // beyond the margin, too
	stayTimes  = 1.5               // the longest of not falling that ended by itself
	mostWorst  = 90 * minute       // of it, or of not running, that is taken for usual
	mostAtOnce = 30 * minute       // of not falling that one event shows
	growth     = 1.5               // by which another one may be longer
	fadeADay   = 0.01              // by which it is forgotten
	selfEnded  = 2 * hour          // what lasted longer is no habit
	gapStands  = 5 * minute        // without readings, over which the clocks stand, and three intervals
	downsEnd   = 2                 // runs down to the usual stop that end it
	othersEnd  = 20                // full cycles elsewhere that do
	fullCycle  = 0.6               // of the usual differential
	mostSeldom = 20 * minute       // between readings: a plant that stands by choice looks the same
	markEvery  = 10 * minute       // of the zone, by which it is seen how fast it warms up
	leastADay  = 3                 // cycles of a unit that is seen to cool
	coldEnds   = 2 * hour          // below the limit, of a unit whose stops say nothing
	turnShare  = 0.35              // of the usual differential, by which a turning point is passed
	everCold   = 5                 // K beyond its limit that a unit's usual start is of one that was ever cold
	everSeldom = 10                // likewise where how warm the zone is after defrosts stands for that start
	mostCount  = ^uint8(0)
)

// Observe takes what package unit has made of a reading. hold keeps what is usual as it
// is; it is set while an alert says that the unit is not as usual. outside says that the
// zone is beyond its limits: no other level is well there. most is the upper one, °C, +Inf
// where there is none: a unit whose usual start is far beyond it was never cold, which is for
// the limit to say.
func (s *State) Observe(u *unit.State, o *unit.Observation, hold, outside bool, most float64) (over Over) {
	if o.Late || !o.Valid.Has(rimewatch.ProductZoneTemp) {
		return Lasts
	}
	dt := s.take(u.ZoneFixed(), o.At)
	if s.seen < 3 {
		return Lasts
	}
	interval := u.Interval()
	slow := interval > slowAfter
	step := float32(u.ZoneStep())
	v := float32(s.zone.Float())
	learns := !hold && s.cause == Met
	if learns {
		s.follow(v, dt, s.age())
	}
	if dt > max(gapStands, 3*interval) || u.Phase() == unit.NoPower {
		s.stand(dt)
	}
	s.fade(dt)
	down := s.followCompressor(u, slow, step, learns)
	if down {
		s.noteDown(step)
	}
	s.followClocks(u, o, v, step, slow)
	if s.cause != Met {
		return s.end(u, o.At, v, slow, outside)
	}
	s.find(u, o.At, interval, slow, float32(most))
	return Lasts
}

// take puts the zone through a median of three: one odd reading is none.
func (s *State) take(v state.Fixed, at rimewatch.Time) (dt rimewatch.Time) {
	if s.at.Set() {
		dt = max(0, at-s.at.Time())
	} else {
		s.born = state.StampOf(at)
		s.high, s.extreme = float32(v.Float()), v
	}
	s.at = state.StampOf(at)
	if s.seen >= 2 {
		a, b := s.recent[0], s.recent[1]
		s.takeNoise(v, a, b)
		s.zone = max(min(v, a), min(max(v, a), b))
	} else {
		s.zone = v
	}
	s.recent[1], s.recent[0] = s.recent[0], v
	s.seen = min(s.seen+1, 3)
	return dt
}

func (s *State) age() rimewatch.Time { return s.at.Time() - s.born.Time() }

// stand lets the clocks stand: what happened meanwhile is not known, or without mains no
// unit can cool.
func (s *State) stand(dt rimewatch.Time) {
	for _, m := range []*state.Stamp{&s.idle, &s.stalled, &s.out, &s.cold} {
		if m.Set() {
			*m = state.StampOf(m.Time() + dt)
		}
	}
}

func (s *State) fade(dt rimewatch.Time) {
	const each = float32(fadeADay / float64(rimewatch.Day))
	keep := 1 - each*float32(min(dt, hour))
	s.worstStay *= keep
}

// followCompressor learns starts and stops and reports whether the unit has just ended to
// cool down. One reading alone is neither a start nor a stop. Where no compressor is seen,
// the turning points of the zone stand for both.
func (s *State) followCompressor(u *unit.State, slow bool, step float32, learns bool) (down bool) {
	if slow {
		s.runs, s.onFor, s.offFor = u.Running(), 0, 0
		return false
	}
	if !u.RunningKnown() {
		s.onFor, s.offFor, s.runs = 0, 0, false
		return s.followTurns(step, learns)
	}
	on := u.Running()
	switch {
	case on == s.runs:
		s.onFor, s.offFor = 0, 0
		return false
	case on:
		s.onFor, s.offFor = s.onFor+1, 0
	default:
		s.onFor, s.offFor = 0, s.offFor+1
	}
	if s.onFor == 1 || s.offFor == 1 {
		s.edge = s.zone
	}
	sure := uint8(2)
	if u.Interval() > seldom {
		sure = 1
	}
	switch {
	case s.onFor >= sure:
		s.runs, s.onFor, s.began = true, 0, s.edge
		if learns {
			s.noteStart(float32(s.edge.Float()))
		}
	case s.offFor >= sure: // more than it where the unit has become slower
		s.runs, s.offFor = false, 0
		if learns && u.Phase() != unit.NoPower {
			s.noteStop(float32(s.edge.Float()))
		}
		return true
	}
	return false
}

// followTurns follows the zone alone.
func (s *State) followTurns(step float32, learns bool) (down bool) {
	by := s.fall(step)
	if s.learnt() {
		by = max(by, turnShare*s.span())
	}
	limit := state.FixedOf(float64(by))
	switch {
	case s.falling && s.zone < s.extreme || !s.falling && s.zone > s.extreme:
		s.extreme = s.zone
	case s.falling && s.zone > s.extreme+limit:
		if learns {
			s.noteStop(float32(s.extreme.Float()))
		}
		s.edge, s.extreme, s.falling = s.extreme, s.zone, false
		return true
	case !s.falling && s.zone < s.extreme-limit:
		if learns {
			s.noteStart(float32(s.extreme.Float()))
		}
		s.began, s.extreme, s.falling = s.extreme, s.zone, true
	}
	return false
}

// noteDown takes the end of a run while demand is not met.
func (s *State) noteDown(step float32) {
	if s.cause == Met {
		return
	}
	end := float32(s.edge.Float())
	switch {
	case end <= s.stop+max(leastMargin, spanMargin*s.span(), step):
		s.downs = min(s.downs+1, downsEnd)
	case float32(s.began.Float())-end >= fullCycle*s.span():
		s.other = min(s.other+1, othersEnd)
	}
}

// threshold is the zone temperature beyond which the unit ought to cool, and with the margin
// beyond which it surely ought to have begun, °C.
func (s *State) threshold(slow bool, step float32) (begin, limit float32) {
	if s.cause != Met {
		return s.limit, s.limit
	}
	begin, margin := s.begin(slow), s.margin(step)
	return begin, begin + margin
}

// followClocks keeps since when the zone is beyond its usual start without a run, and
// without getting colder. A start is missed at its usual temperature; that it was missed is
// sure a margin beyond it.
func (s *State) followClocks(u *unit.State, o *unit.Observation, v, step float32, slow bool) {
	at := state.StampOf(o.At)
	if begin := s.begin(slow); s.cause == Met && v <= begin && !s.idle.Set() && s.fails == 0 && !o.FailedStart {
		// The usual case, in which no margin matters: the zone is no warmer than where a run begins.
		s.endStall(o.At)
		s.out = state.Stamp{}
		if !s.cold.Set() {
			s.cold = at
		}
		return
	}
	begin, limit := s.threshold(slow, step)
	if v > limit {
		s.cold = state.Stamp{}
	} else if !s.cold.Set() {
		s.cold = at
	}
	stands := u.RunningKnown() && !s.runs
	switch {
	case !stands || v <= begin-(limit-begin)/2:
		if s.idle.Set() {
			if lasted := o.At - s.idle.Time(); lasted <= selfEnded && (s.learnt() || s.age() >= knownAfter) {
				s.excuse.take(s.idle, lasted)
			}
			s.idle = state.Stamp{}
		}
		s.fails = 0
	case !s.idle.Set() && v > begin:
		s.idle = at
	}
	if o.FailedStart {
		s.fails = min(s.fails+1, mostCount-1)
	}
	fall := state.FixedOf(float64(s.fall(step)))
	switch {
	case v <= begin:
		s.endStall(o.At)
	case !s.stalled.Set():
		s.stalled, s.top, s.ran = at, s.zone, 0
	case s.zone < s.top-fall:
		s.endStall(o.At)
		s.stalled, s.top, s.ran = at, s.zone, 0
	default:
		s.top = max(s.top, s.zone)
	}
	switch {
	case v <= (begin+limit)/2:
		s.out = state.Stamp{}
	case v > limit && !s.out.Set():
		s.out, s.marks[0] = at, mark{s.zone, at}
		s.marks[1] = s.marks[0]
	}
	if u.Running() {
		s.ran = min(s.ran+1, mostCount-1)
	}
	if s.out.Set() && o.At-s.marks[0].at.Time() >= markEvery {
		s.marks[1], s.marks[0] = s.marks[0], mark{s.zone, at}
	}
}

// endStall ends the clock of not falling and takes what ended by itself for usual: at once what a
// defrost may last, what is longer by half more each time, lest one power cut become a habit.
func (s *State) endStall(at rimewatch.Time) {
	if !s.stalled.Set() {
		return
	}
	if lasted := at - s.stalled.Time(); lasted <= selfEnded && (s.learnt() || s.age() >= knownAfter) {
		usual := max(float32(mostAtOnce/second), growth*s.worstStay)
		s.worstStay = max(s.worstStay, min(float32(min(lasted, mostWorst)/second), usual))
	}
	s.stalled = state.Stamp{}
}

// find opens demand without cooling when a clock has run out.
func (s *State) find(u *unit.State, at, interval rimewatch.Time, slow bool, most float32) {
	if !s.out.Set() {
		return // the usual case
	}
	if interval > mostSeldom || s.age() < knownAfter || !slow && !s.learnt() && !u.Modulated() {
		return
	}
	if most += everCold; slow || !s.learnt() {
		most += everSeldom - everCold
	}
	if s.begin(slow) > most {
		return
	}
	idle := leastIdle
	if s.excuse.due(s.idle) {
		idle = max(leastIdle, s.excuse.most()+interval)
	}
	if s.age() < firstDays {
		idle = max(idle, firstLeast)
	}
	begin, limit := s.threshold(slow, float32(u.ZoneStep()))
	idleSince := s.idle.Time()
	if starts, run := u.UsualCycle(); starts > 0 && float32(s.edge.Float()) > s.cutOut+max(leastMargin, spanMargin*s.span()) && u.FailedStarts(2) == 0 { // its thermostat may have been set a little warmer
		idleSince = max(idleSince, u.RunningSince()+rimewatch.Time((60/starts-run)*float64(minute)))
	}
	if float32(s.zone.Float()) <= limit {
		return
	}
	var cause Cause
	stalled, began := s.stalled, s.stalled
	if (s.ran > 0 || slow) && s.out.Time() > stalled.Time() {
		stalled = s.out // that of a slow one is a quantile, near which the zone may stay for days
	}
	switch {
	case s.idle.Set() && !slow && at-idleSince > idle && at-s.out.Time() >= surely:
		cause, began = s.standing(u), s.idle
	case s.stalls(stalled, at, 2*limit-begin):
		if cause = s.stalling(u, slow); slow {
			began = stalled
		}
	default:
		return
	}
	s.limit, s.stop = limit, s.cutOut
	s.cause, s.since, s.downs, s.other, s.cold = cause, began, 0, 0, state.Stamp{}
}

// stalls reports whether the zone has been beyond a temperature and not falling since a moment, for longer
// than it does by itself.
func (s *State) stalls(since state.Stamp, at rimewatch.Time, beyond float32) bool {
	if !s.stalled.Set() || float32(s.zone.Float()) <= beyond {
		return false
	}
	stay := max(leastStay, rimewatch.Time(stayTimes*s.worstStay)*second)
	if s.ran > 0 { // its recoveries are slow, and begin beyond its usual start
		stay = max(leastRan, rimewatch.Time(ranTimes*s.worstStay)*second)
	}
	if s.age() < firstDays {
		stay = max(stay, firstStay)
	}
	return at-since.Time() > stay
}

// stalling is why the zone does not fall.
func (s *State) stalling(u *unit.State, slow bool) Cause {
	switch {
	case slow || !u.RunningKnown() && s.ran == 0:
		return NotFalling
	case s.ran > 0:
		return NoEffect
	default:
		return s.standing(u)
	}
}

// standing is why a compressor does not run.
func (s *State) standing(u *unit.State) Cause {
	switch {
	case s.fails > 0:
		return LockedRotor
	case u.ByCurrent():
		return NoCurrent
	default:
		return NoRun
	}
}

// followCause keeps the cause true: that a unit stands, or brings nothing down, is said until it runs, or the zone
// falls. After that it must have stood for longer than it does by itself to be said again.
func (s *State) followCause(u *unit.State, at rimewatch.Time, slow bool) {
	fell := !s.stalled.Set() || s.stalled == state.StampOf(at)
	switch c := s.cause; {
	case c == Begun && s.idle.Set() && at-s.idle.Time() > selfEnded, c == NoEffect && s.idle.Set() && at-s.idle.Time() > max(leastIdle, s.excuse.most()+u.Interval()):
		s.cause = s.standing(u)
	case c == Begun && (u.Running() || !u.RunningKnown()) && s.stalls(s.stalled, at, s.limit):
		s.cause = s.stalling(u, slow)
	case c == NoCurrent || c == LockedRotor || c == NoRun:
		switch {
		case u.RunningKnown() && s.runs && at-u.RunningSince() >= minute: // no start that fails lasts so long; its runs may bring something down from now on
			s.cause, s.ran = Begun, 1
			s.stalled, s.top = state.StampOf(at), s.zone
		case s.fails > 0:
			s.cause = LockedRotor
		}
	case fell && c != Begun:
		s.cause = Begun
	}
}

// end reports how demand without cooling ends, and follows its cause.
func (s *State) end(u *unit.State, at rimewatch.Time, v float32, slow, outside bool) Over {
	s.followCause(u, at, slow)
	stops := s.learnt() && !u.Modulated()
	switch {
	case v <= s.limit && s.downs >= downsEnd, !stops && s.cold.Set() && at-s.cold.Time() >= coldEnds:
		s.met()
		return Cools
	case s.other >= othersEnd && u.RunningKnown() && !outside:
		s.met()
		s.starts, s.stops = 0, 0 // learnt anew, there
		s.high = v
		return Elsewhere
	}
	return Lasts
}

func (s *State) met() {
	s.cause, s.since, s.downs, s.other = Met, state.Stamp{}, 0, 0
	s.out = state.Stamp{}
	s.idle, s.stalled, s.fails, s.ran = state.Stamp{}, state.Stamp{}, 0, 0
}

// Relearn forgets the usual.
func (s *State) Relearn() { *s = State{} }

// Cause is why demand is not met at present, Met where it is, or where nothing is known.
func (s *State) Cause() Cause { return s.cause }

// Since is since when demand is not met; 0 = it is.
func (s *State) Since() rimewatch.Time { return s.since.Time() }

// Limit is the zone temperature beyond which the unit ought to have cooled when demand was
// found not to be met, °C.
func (s *State) Limit() float64 { return float64(s.limit) }

// Zone is the zone without single odd readings, °C.
func (s *State) Zone() float64 { return s.zone.Float() }

// Unmet reports whether the zone is beyond where the unit usually begins to cool, or has been
// and has not shown since that it cools.
func (s *State) Unmet() bool { return s.cause != Met || s.out.Set() }

// Warming is by how much the zone has warmed up within the last ten or twenty minutes, K/h;
// ok is false in the first ten of demand without cooling.
func (s *State) Warming(at rimewatch.Time) (slope float64, ok bool) {
	since := at - s.marks[1].at.Time()
	if !s.marks[1].at.Set() || since < markEvery {
		return 0, false
	}
	return (s.zone - s.marks[1].zone).Float() / (float64(since) / float64(hour)), true
}

// Cycles reports whether the unit is known to cool down and to stop several times a day.
func (s *State) Cycles() bool {
	return s.learnt() && s.age() >= knownAfter && rimewatch.Time(s.stops) >= min(mostStarts, leastADay*s.age()/rimewatch.Day)
}

// Known reports whether it is known where the unit usually begins to cool.
func (s *State) Known(u *unit.State) bool {
	return s.age() >= knownAfter && (s.learnt() || u.Interval() > slowAfter || u.Modulated())
}

// Sound reports whether a state that was read could have been written.
func (s *State) Sound() bool {
	return s.seen <= 3 && s.cause < numCauses && s.downs <= downsEnd && s.other <= othersEnd && s.excuse.pairs <= leastPairs &&
		!math.IsInf(float64(s.cutIn+s.cutOut+s.high), 0)
}
