package unit

import "github.com/rimewatch/rimewatch"

// stills are measurements that show one number all the time, hour by hour. How long each
// stands still by itself, in a display of whole volts or at night, is learnt first; one
// that never changes is no sensor.
type stills struct {
	list  [len(stillFields)]stood
	moved uint8 // set of stillFields that changed in this hour
	stuck uint8 // of those that have stood still for far longer than they ever do
	same  uint8 // readings of a run since its current changed
	pause uint8 // of them that usually lie between two changes, 0 = not known
}

type stood struct {
	hours uint8 // that it has stood still now
	most  uint8 // that it ever did before it changed again, + 1; 0 = it never changed
}

// stillFields are what nothing else finds to stand still.
var stillFields = [...]rimewatch.Field{rimewatch.Humidity, rimewatch.Voltage, rimewatch.AmpDraw}

// stuckAmps is the current in a set of stillFields.
const stuckAmps = 1 << 2

const (
	stillHours = 8  // that a measurement stands still at least
	stillTimes = 3  // and times as long as it ever did
	stillMost  = 8  // h: one that stands still for longer by itself says nothing
	stillRun   = 16 // readings: a current that usually changes as often in a run does not stand still for hours
)

// followStill notes what changed. A coarse meter may show one number for as long as the
// compressor runs.
func followStill(s *State, o *Observation) {
	d, w := &s.doubts.stills, &s.running
	d.take(o)
	if !w.known || !w.on || !o.Sane.Has(rimewatch.AmpDraw) || float32(o.Reading.Values[rimewatch.AmpDraw]) < w.threshold(0.35) {
		return
	}
	if !o.Moved.Has(rimewatch.AmpDraw) {
		d.same = min(d.same, 254) + 1
		return
	}
	d.pause = max(1, uint8((7*uint16(d.pause)+uint16(d.same)+7)/8))
	d.same = 0
}

// take notes what changed.
func (d *stills) take(o *Observation) {
	for i, f := range stillFields {
		if o.Moved.Has(f) {
			d.moved |= 1 << i
		}
	}
	d.stuck &^= d.moved
}

// endHour concludes an hour; sent are the measurements that came in it, known those that
// have for long.
func (d *stills) endHour(sent, known, telling rimewatch.Fields) {
	for i, f := range stillFields {
		w := &d.list[i]
		switch {
		case !sent.Has(f):
		case d.moved&(1<<i) != 0:
			if known.Has(f) && w.hours < stillTimes*stillMost { // it may have been stuck: the next time it takes longer
				w.hours = min(w.hours, stillMost)
			}
			w.most, w.hours = max(w.most, w.hours+1), 0
		default:
			w.hours = min(w.hours+1, 200)
			if known.Has(f) && telling.Has(f) && w.most > 0 && w.most <= stillMost+1 && w.hours >= max(stillHours, stillTimes*(w.most-1)) {
				d.stuck |= 1 << i
			}
		}
	}
	d.moved = 0
}

// fields are those that are stuck.
func (d *stills) fields() (set rimewatch.Fields) {
	for i, f := range stillFields {
		if d.stuck&(1<<i) != 0 {
			set = set.With(f)
		}
	}
	return set
}

// canBeStuck are the measurements whose newest values are none that they have for as long
// as nothing happens: a compressor that stands draws the same nothing for days, air that
// is saturated stays so, and a supply that is gone.
func canBeStuck(s *State) (set rimewatch.Fields) {
	if humid := s.last[rimewatch.Humidity]; humid > 0 && humid < 100_0000 {
		set = set.With(rimewatch.Humidity)
	}
	if s.last[rimewatch.Voltage] > noSupply*1_0000 {
		set = set.With(rimewatch.Voltage)
	}
	if w, d := &s.running, &s.doubts.stills; d.pause > 0 && d.pause <= stillRun && w.separate() && float32(s.last[rimewatch.AmpDraw].Float()) > w.threshold(0.35) {
		set = set.With(rimewatch.AmpDraw)
	}
	return set
}
