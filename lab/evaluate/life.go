package evaluate

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// life is what a drawn unit sends as it arrives, and what was true of it meanwhile. It
// is drawn once and judged as often as is wanted.
type life struct {
	equipment string
	readings  []rimewatch.Reading
	truths    []truth // of the readings
}

// truth is what is asked of a unit's truth.
type truth uint8

const (
	running   truth = 1 << iota // the compressor is
	iced                        // it has truly iced up
	goodsOut                    // its goods, not the air around them, are beyond the limits of its type
	goodsWere                   // they were within the last six hours
	asked                       // a sound thermostat would ask for cold, and nothing runs or defrosts, or has defrosted for too long
	melts                       // it defrosts
)

// tooLong is how long a defrost lasts at most.
const tooLong = 50 * rimewatch.Minute

// live draws the readings of a unit up to a moment.
func live(w *simulate.Wild, faults []simulate.Fault, end rimewatch.Time) (*life, error) {
	c := w.Config
	c.Faults = faults
	u, err := simulate.New(c)
	if err != nil {
		return nil, err
	}
	n := int(end.Sub(u.NextAt())/c.SampleEvery) + 1
	l := &life{equipment: c.Equipment, readings: make([]rimewatch.Reading, 0, n), truths: make([]truth, 0, n)}
	p := u.Params()
	frost := icedUp * p.FrostM
	kind, _ := rimewatch.EquipmentBySlug(c.Equipment)
	var last rimewatch.Time
	cooled := u.NextAt()
	for u.NextAt() < end {
		r := u.Next()
		if !w.Arrives(r.At) {
			continue
		}
		is, what := u.Truth(), truth(0)
		if is.Running {
			what |= running
		}
		if is.Frost >= frost {
			what |= iced
		}
		if is.Defrosting {
			what |= melts
		} else {
			cooled = r.At
		}
		if !is.Running && r.At-cooled <= 0 && is.Air > p.Setpoint+p.Diff || r.At-cooled > tooLong {
			what |= asked
		}
		if kind.Limits.Outside(is.Goods) {
			what |= goodsOut
			last = r.At
		}
		if last != 0 && r.At-last < 6*rimewatch.Hour {
			what |= goodsWere
		}
		l.readings, l.truths = append(l.readings, r), append(l.truths, what)
	}
	return l, nil
}

// judged plays a life as if the unit lacked some measurements, calls yield with every
// reading and what was made of it, and returns who judged.
func (l *life) judged(without rimewatch.Fields, yield func(r *rimewatch.Reading, is truth, out []event)) *unitJudge {
	judge := newUnitJudge(l.equipment, nil)
	var out []event
	for i := range l.readings {
		r := l.lacking(i, without)
		out = judge.take(&r, out[:0])
		yield(&r, l.truths[i], out)
	}
	return judge
}

// lacking is a reading as if the unit lacked some measurements.
func (l *life) lacking(i int, without rimewatch.Fields) rimewatch.Reading {
	r := l.readings[i]
	r.Present, r.Faults = r.Present&^without, r.Faults&^without
	for f := range r.Values {
		if without.Has(rimewatch.Field(f)) {
			r.Values[f] = 0
		}
	}
	return r
}

// events are what was made of a life, and when its compressor shook beyond zone D of
// ISO 10816-1 class I, 4.5 mm/s, after the onset of a fault; 0 = never. Learning is
// whether it was still not known at its end.
func (l *life) events(without rimewatch.Fields, onset rimewatch.Time) (heard []event, shakes rimewatch.Time, learning bool) {
	shaking := 0.0
	judge := l.judged(without, func(r *rimewatch.Reading, is truth, out []event) {
		for i := range out {
			out[i].read = r.At
		}
		heard = append(heard, out...)
		if is&running != 0 && r.At >= onset {
			v := min(r.Values[rimewatch.VibrationLevel], 12)
			if shaking += (v - shaking) / 200; shaking > 4.5 && shakes == 0 {
				shakes = r.At
			}
		}
	})
	return heard, shakes, judge.state.Unit.Learning()
}

// icedBefore reports whether the unit had truly iced up before a moment.
func (l *life) icedBefore(at rimewatch.Time) bool {
	for i := range l.readings {
		if l.readings[i].At >= at {
			break
		}
		if l.truths[i]&iced != 0 {
			return true
		}
	}
	return false
}

// productAlarms are when a life brings one.
func (l *life) productAlarms(without rimewatch.Fields) (alarms []rimewatch.Time) {
	l.judged(without, func(_ *rimewatch.Reading, _ truth, out []event) {
		for i := range out {
			if out[i].what == "opened" && productAlarm(&out[i]) {
				alarms = append(alarms, out[i].at)
			}
		}
	})
	return alarms
}
