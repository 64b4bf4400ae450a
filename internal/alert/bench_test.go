package alert

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/rimewatch/rimewatch"
)

// freezerDay is a day of a freezer, one reading a minute with all eight
// measurements: it cycles every 17 minutes and defrosts four times.
func freezerDay() []rimewatch.Reading {
	rs := make([]rimewatch.Reading, 1440)
	for i := range rs {
		r := &rs[i]
		r.At = epoch + rimewatch.Time(i)*rimewatch.Minute
		on := i%17 < 9
		zone, amps, discharge, vibration := -20+1.5*math.Sin(float64(i)/3), 0.2, 45.0, 0.06
		switch {
		case i%360 < 20:
			zone = -13
		case on:
			amps, discharge, vibration = 15+0.1*float64(i%7), 87, 0.9
		}
		for f, v := range [rimewatch.NumCore]float64{math.Round(zone*10) / 10, discharge, -3, 24 + float64(i%300)/100, 52, 229, amps, vibration} {
			r.Set(rimewatch.Field(f), v)
		}
	}
	return rs
}

func benchmark(b *testing.B, rules Rules) {
	c := configOf("walkin_freezer")
	c.Rules = rules
	rs := freezerDay()
	p := Presence{Online: true, OfflineAfter: 3 * time.Minute}
	b.ReportAllocs()
	var s machine
	var out []Transition
	shift := rimewatch.Time(0)
	b.ResetTimer()
	for i := range b.N {
		k := i % len(rs)
		if k == 0 && i > 0 {
			shift += rimewatch.Day
		}
		r := &rs[k]
		at := r.At
		r.At += shift
		now := r.At + 300
		p.LastSeen = now
		out = s.Observe(c, p, r, now, out[:0])
		r.At = at
	}
	b.ReportMetric(float64(unsafe.Sizeof(s)), "B/device")
	b.ReportMetric(float64(len(s.AppendBinary(nil))), "B/checkpoint")
}

func BenchmarkObserveTemperature(b *testing.B) { benchmark(b, 0) }

func BenchmarkObserveDefault(b *testing.B) { benchmark(b, DefaultRules) }

func BenchmarkObserveAll(b *testing.B) { benchmark(b, AllRules) }

func BenchmarkDeadline(b *testing.B) {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	var s machine
	p := Presence{Online: true, OfflineAfter: 3 * time.Minute}
	for _, r := range freezerDay() {
		p.LastSeen = r.At
		s.Observe(c, p, &r, r.At, nil)
	}
	for b.Loop() {
		s.Deadline(c, p)
	}
}
