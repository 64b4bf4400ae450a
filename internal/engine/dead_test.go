package engine

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// wildUnit is a unit drawn at random with a fault that stands from its onset on.
type wildUnit struct {
	seed     uint64
	fault    string // "" = none
	zoneOnly bool
	days     rimewatch.Time // after the onset, or in all
}

// lived is what became of it.
type lived struct {
	equipment *rimewatch.Equipment
	every     rimewatch.Time
	onset     rimewatch.Time
	missed    rimewatch.Time // the first start that did not come, 0 = none
	longest   rimewatch.Time // before: its longest defrost until the zone was cold again
	iced      rimewatch.Time // it had truly iced up
	days      float64        // before the onset, or in all
	log       []told
}

type told struct {
	alert.Transition
	warm bool // the goods' air was truly warmer than where the thermostat starts
	dark bool // the mains were out within two hours
}

func wildTypes() []string {
	return slices.DeleteFunc(simulate.Simulable(), func(s string) bool {
		e, _ := rimewatch.EquipmentBySlug(s)
		return s == "condensing_unit" || s == rimewatch.OtherEquipment || e.ChillsBatches()
	})
}

// live plays the unit through Step as its readings arrive, with ticks at its deadlines.
func (w wildUnit) live(t *testing.T) (l lived) {
	t.Helper()
	types := wildTypes()
	slug := types[int((w.seed*0x9e3779b97f4a7c15)>>33)%len(types)]
	start := rimewatch.Time(1_750_000_000_000) + rimewatch.Time(w.seed%300)*rimewatch.Day
	l.onset = start + rimewatch.Time(8+w.seed%9)*rimewatch.Day + rimewatch.Time(w.seed*13%1440)*rimewatch.Minute
	end := l.onset + w.days*rimewatch.Day
	if w.fault == "" {
		end = start + w.days*rimewatch.Day
		l.onset = end
	}
	drawn, err := simulate.Draw(slug, w.seed, start, end, false)
	if err != nil {
		t.Fatal(err)
	}
	c := drawn.Config
	c.Faults = drawn.Cut
	if w.fault != "" {
		c.Faults = append(slices.Clone(drawn.Cut), simulate.Fault{Name: w.fault, Severity: 1, Onset: l.onset})
	}
	u, err := simulate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l.equipment, _ = rimewatch.EquipmentBySlug(slug)
	l.every, l.days = rimewatch.Time(c.SampleEvery.Milliseconds()), float64(l.onset-start)/float64(rimewatch.Day)
	cfg := ConfigOf(&rimewatch.Device{EquipmentType: slug})
	var s State
	begins := u.Params().Setpoint + u.Params().Diff
	var melted, dark rimewatch.Time
	for u.NextAt() < end {
		r := u.Next()
		is := u.Truth()
		warm := is.Air > begins
		if is.Volts == 0 {
			dark = r.At
		}
		switch {
		case r.At < l.onset:
			if is.Defrosting || melted != 0 && warm {
				melted = cmpOr(melted, r.At)
				l.longest = max(l.longest, r.At-melted)
			} else {
				melted = 0
			}
			if l.iced == 0 && is.Frost > u.Params().FrostM/2 {
				l.iced = r.At
			}
		case is.Running:
			l.missed = 0
		case l.missed == 0 && warm && !is.Defrosting:
			l.missed = r.At
		}
		if !drawn.Arrives(r.At) {
			continue
		}
		if w.zoneOnly {
			r.Present &= 1 << rimewatch.ProductZoneTemp
			r.Faults &= 1 << rimewatch.ProductZoneTemp
			r.Flags = 0
		}
		var out []alert.Transition
		for due := s.Deadline(&cfg, nil); due != 0 && due <= r.At; {
			out, _ = s.Step(&cfg, nil, &Input{Kind: Tick}, due, out)
			again := s.Deadline(&cfg, nil)
			if again <= due {
				break
			}
			due = again
		}
		out, _ = s.Step(&cfg, nil, &Input{Kind: Reading, Reading: &r, Last: true}, r.At, out)
		for i := range out {
			l.log = append(l.log, told{out[i], warm, dark != 0 && r.At-dark < 2*rimewatch.Hour})
		}
	}
	return l
}

func cmpOr(a, b rimewatch.Time) rimewatch.Time {
	if a != 0 {
		return a
	}
	return b
}

// aboutSensors are the types whose end says nothing of the machine.
var aboutSensors = []rimewatch.AlertType{rimewatch.SensorFault, rimewatch.SensorStale, rimewatch.DeviceOffline, rimewatch.LowVoltage, rimewatch.HighVoltage, rimewatch.PowerLoss,
	rimewatch.HighHumidity, rimewatch.LowHumidity, rimewatch.HighAmbientTemperature, rimewatch.LowAmbientTemperature}

// TestDeadCompressor: a compressor that is dead is never told well, and no limit is
// questioned; that nothing cools is told within 20 min of the start that did not come, or
// 1.25 times the unit's longest defrost, and before the product alarm. Units of all types
// are drawn at random. In full it is 160 units for thirty days.
func TestDeadCompressor(t *testing.T) {
	units, days := 4, rimewatch.Time(4)
	if trial.Long() {
		units, days = 160, 30
	}
	first := trial.Seed(t) * 47_000_000
	var dead, inTime, alarms, before [2]int // with current, with the zone alone
	for i := range units {
		w := wildUnit{seed: first + uint64(i), fault: [...]string{"contactor_open", "locked_rotor"}[i%2], zoneOnly: i%4 == 3, days: days}
		l := w.live(t)
		var open, found, product rimewatch.Time
		for _, x := range l.log {
			switch {
			case x.Type == rimewatch.NotCooling && x.Kind == rimewatch.TransitionOpened:
				open, found = x.At, cmpOr(found, x.At)
			case x.Type == rimewatch.NotCooling && x.Kind == rimewatch.TransitionResolved:
				open, found = 0, 0
			case x.At < l.missed || l.missed == 0:
			case x.Type == rimewatch.HighTemperature && x.Kind == rimewatch.TransitionOpened:
				product = cmpOr(product, x.At)
			case (x.Type == rimewatch.HighTemperature || x.Type == rimewatch.LowTemperature) && x.Kind == rimewatch.TransitionResolved && x.Ending == rimewatch.EndedInRange: // and it is
			case x.Kind == rimewatch.TransitionResolved && x.warm && x.Resolution != rimewatch.ResolvedSuperseded && !slices.Contains(aboutSensors, x.Type):
				t.Errorf("seed %d, %s, %s: %s ended as %q, %.1f days after the compressor died", w.seed, l.equipment.Slug, w.fault, x.Type, x.Ending, float64(x.At-l.onset)/float64(rimewatch.Day))
			}
			if x.HasUsual && x.Type == rimewatch.HighTemperature && x.At >= l.onset {
				t.Errorf("seed %d, %s: asks whether the limit is right", w.seed, l.equipment.Slug)
			}
		}
		kind := 0
		if w.zoneOnly {
			kind = 1
		}
		dead[kind]++
		limit := max(20*rimewatch.Minute, l.longest*5/4) + l.every // the clock of a reading
		if open != 0 && found <= l.missed+limit {
			inTime[kind]++
		} else {
			t.Logf("seed %d, %s every %ds, %s, zone only %v: told %.0f min after the missed start, longest defrost %.0f min, open %v", w.seed, l.equipment.Slug, l.every/1000, w.fault, w.zoneOnly,
				float64(found-l.missed)/float64(rimewatch.Minute), float64(l.longest)/float64(rimewatch.Minute), open != 0)
		}
		if product != 0 {
			alarms[kind]++
			if found != 0 && found <= product {
				before[kind]++
			}
		}
		if open == 0 {
			t.Errorf("seed %d, %s, %s: not told that it does not cool", w.seed, l.equipment.Slug, w.fault)
		}
	}
	t.Logf("with current: %d of %d in time, %d of %d before the product alarm; zone alone: %d of %d before it", inTime[0], dead[0], before[0], alarms[0], before[1], alarms[1])
	// A longer excuse makes fewer healthy units a false alarm, and more dead ones late.
	if trial.Long() && (100*inTime[0] < 70*dead[0] || 100*before[0] < 95*alarms[0] || 100*before[1] < 75*alarms[1]) {
		t.Error("want seven of ten in time, and 95 % before the product alarm, three quarters with the zone alone")
	}
}

// TestHealthyUnitsCool: a unit that nothing ails is hardly ever told not to cool. In full it
// is 400 units for forty days.
func TestHealthyUnitsCool(t *testing.T) {
	trial.NeedsLong(t)
	first := trial.Seed(t) * 61_000_000
	var wrong [2]int
	var years [2]float64
	for i := range 400 {
		w := wildUnit{seed: first + uint64(i), zoneOnly: i%4 == 3, days: 40}
		kind := 0
		if w.zoneOnly {
			kind = 1
		}
		l := w.live(t)
		span := l.days
		for _, x := range l.log {
			if x.Type != rimewatch.NotCooling || x.Kind != rimewatch.TransitionOpened {
				continue
			}
			if l.iced != 0 && x.At >= l.iced {
				t.Logf("(iced) seed %d, %s: %s", w.seed, l.equipment.Slug, x.Unmet)
				continue
			}
			if x.dark {
				t.Logf("(no mains) seed %d, %s: %s", w.seed, l.equipment.Slug, x.Unmet)
				continue
			}
			wrong[kind]++
			t.Logf("seed %d, %s, every %ds, zone only %v: %s at %.1f (from %.1f), day %.2f", w.seed, l.equipment.Slug, l.every/1000, w.zoneOnly, x.Unmet, x.Value, x.Threshold, l.days-float64(l.onset-x.At)/float64(rimewatch.Day))
		}
		years[kind] += span / 365
	}
	t.Logf("not iced, with mains: %d in %.1f device-years with current, %d in %.1f with the zone alone", wrong[0], years[0], wrong[1], years[1])
	if float64(wrong[0]) > 0.3*years[0] { // 0.15 aimed at; so few are counted
		t.Errorf("%.2f a device-year", float64(wrong[0])/years[0])
	}
}
