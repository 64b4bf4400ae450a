package unit

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestMissing: a measurement is missed when it came in every hour for two days and then
// does not for two hours, or five intervals; one that is sent every third hour never is.
func TestMissing(t *testing.T) {
	const humid = rimewatch.Humidity
	for _, tc := range []struct {
		name     string
		interval rimewatch.Time
		came     func(hour int) bool
		from, to int // hours in which it is missed, [from, to)
	}{
		{"it always comes", minute, func(int) bool { return true }, 0, 0},
		{"it stops after two days", minute, func(h int) bool { return h < 48 }, 49, 48 + goneHours},
		{"it stops after a day", minute, func(h int) bool { return h < 24 }, 0, 0},
		{"it comes every third hour", minute, func(h int) bool { return h%3 == 0 }, 0, 0},
		{"an hour without it", minute, func(h int) bool { return h%50 != 49 }, 0, 0},
		{"it comes again", minute, func(h int) bool { return h < 48 || h >= 60 }, 49, 60},
		{"of an hourly logger", hour, func(h int) bool { return h < 48 }, 52, 48 + goneHours},
	} {
		var m coming
		for h := range 300 {
			r := rimewatch.Reading{Present: 1 << rimewatch.ProductZoneTemp}
			if tc.came(h) {
				r.Present = r.Present.With(humid)
			}
			m.take(&r)
			m.endHour(tc.interval)
			if got, want := m.Missing().Has(humid), h >= tc.from && h < tc.to; got != want {
				t.Errorf("%s: hour %d: missed %v", tc.name, h, got)
				break
			}
		}
	}
}

// TestMixups: what is told of temperatures that several probes show wrong, from their first
// reading on where a unit is new.
func TestMixups(t *testing.T) {
	cooler, _ := rimewatch.EquipmentBySlug("walkin_cooler")
	freezer, _ := rimewatch.EquipmentBySlug("walkin_freezer")
	for _, tc := range []struct {
		name           string
		e              *rimewatch.Equipment
		zone, air, gas float64
		want           Mixup
	}{
		{"a cooler", cooler, 3, 25, 70, 0},
		{"in °F", cooler, 37.4, 77, 158, Fahrenheit},
		{"a freezer in °F", freezer, -0.4, 77, 176, Fahrenheit},
		{"a freezer in °F in a cold yard", freezer, -0.4, 36, 150, Fahrenheit},
		{"a freezer that never got cold, and its gas too hot", freezer, 2, 24.5, 129, 0},
		{"one that was just switched on in great heat", cooler, 46, 46, 80, 0},
		{"one that fails in great heat", cooler, 28, 44, 90, 0},
		{"swapped", cooler, 25, 3, 70, AirSwapped},
		{"a freezer swapped", freezer, 22, -18, 80, AirSwapped},
		{"a freezer that warms up in winter", freezer, -4, -15, 30, 0},
	} {
		var s State
		c, o := Config{Equipment: tc.e}, Observation{}
		for i := range rimewatch.Time(10) {
			r := rimewatch.Reading{At: rimewatch.Day + i*minute}
			r.Set(rimewatch.ProductZoneTemp, tc.zone+float64(i%3)/10)
			r.Set(rimewatch.AmbientTemp, tc.air)
			r.Set(rimewatch.CompressorDischargeTemp, tc.gas+float64(i%4)/10)
			s.Observe(&c, &r, r.At, 0, &o)
		}
		if got := s.Mixup(); got != tc.want {
			t.Errorf("%s: %b, want %b", tc.name, got, tc.want)
		}
		if tc.want != 0 && (o.Valid.Has(rimewatch.AmbientTemp) || !o.Valid.Has(rimewatch.ProductZoneTemp)) {
			t.Errorf("%s: the ambient counts, or the limits of the zone do not hold", tc.name)
		}
	}
}

// TestSwapFromADayOn: zone and ambient that change places are seen in one reading, and
// again when they change back; a unit that warms up or moves is not taken for it.
func TestSwapFromADayOn(t *testing.T) {
	var s State
	c, o := Config{}, Observation{}
	at := rimewatch.Day
	see := func(zone, air float64) Mixup {
		for i := range 3 {
			r := rimewatch.Reading{At: at}
			r.Set(rimewatch.ProductZoneTemp, zone+float64(i)/10)
			r.Set(rimewatch.AmbientTemp, air+float64(i)/10)
			s.Observe(&c, &r, r.At, 0, &o)
			at += minute
		}
		return s.Mixup()
	}
	for _, step := range []struct {
		zone, air float64
		want      Mixup
	}{{3, 25, 0}, {25, 3, AirSwapped}, {24, 4, AirSwapped}, {3, 25, 0}, {14, 25, 0}, {3, 12, 0}, {3, 37, 0}, {0, 37, 0}, {37, 0, AirSwapped}, {0, 37, 0}, {32, 98.6, Fahrenheit}} {
		if got := see(step.zone, step.air); got != step.want {
			t.Errorf("zone %v, ambient %v: %b, want %b", step.zone, step.air, got, step.want)
		}
	}
}
