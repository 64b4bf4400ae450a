package alert

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/rimewatch/rimewatch"
)

// fleetReadings is half a day of a freezer, one reading a minute: a sawtooth
// with four defrosts a day that leave the range for 20 minutes.
func fleetReadings() []rimewatch.Reading {
	rs := make([]rimewatch.Reading, 720)
	for i := range rs {
		zone := -20 + 1.5*math.Sin(float64(i)/3)
		if i%360 < 20 {
			zone = -13
		}
		r := &rs[i]
		r.At = epoch + rimewatch.Time(i)*rimewatch.Minute
		r.Set(rimewatch.ProductZoneTemp, zone)
	}
	return rs
}

func BenchmarkObserve(b *testing.B) {
	c := configOf("walkin_freezer")
	rs := fleetReadings()
	p := Presence{Online: true, OfflineAfter: 3 * time.Minute}
	b.ReportMetric(float64(unsafe.Sizeof(State{})), "B/device")
	b.ReportAllocs()
	var s State
	var out []Transition
	span := rimewatch.Time(len(rs)) * rimewatch.Minute
	shift := rimewatch.Time(0)
	b.ResetTimer()
	for i := range b.N {
		k := i % len(rs)
		if k == 0 && i > 0 {
			shift += span
		}
		r := &rs[k]
		at := r.At
		r.At += shift
		now := r.At + 300
		p.LastSeen = now
		out = s.Observe(c, p, r, now, out[:0])
		r.At = at
	}
}
