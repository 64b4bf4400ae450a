package simulate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// summary is what the tables of the domain notes say about a stretch of time.
// Values "on" are of samples with the compressor running for 5 minutes or
// more outside defrost.
type summary struct {
	zoneMean, zoneP995          float64
	discharge, dischargeP95     float64 // on
	suction, amps               float64 // on
	volts, vib, vibP95          float64
	humidity                    float64
	split, evap, frost          float64
	duty, startsAnHr, tripsADay float64
	on                          int
}

var testStart = rimewatch.TimeOf(time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC))

// testClimate is a steady spring around 25.5 °C.
var testClimate = &Climate{MeanC: 25.5, DailyK: 3, WeatherK: 2, Humidity: 52}

func mustNew(t testing.TB, cfg Config) *Unit {
	t.Helper()
	if cfg.Start == 0 {
		cfg.Start = testStart
	}
	u, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// summarise plays a unit from one moment to another.
func summarise(u *Unit, from, to rimewatch.Time) summary {
	var zone, dis, suc, amps, volts, vib, hum, split, evap, frost []float64
	for u.NextAt() < from {
		u.Next()
	}
	before := u.Truth()
	for u.NextAt() < to {
		r := u.Next()
		tr := u.Truth()
		zone = append(zone, r.Values[rimewatch.ProductZoneTemp])
		volts = append(volts, r.Values[rimewatch.Voltage])
		hum = append(hum, tr.ZoneHumidity)
		frost = append(frost, tr.Frost)
		if !tr.Running || u.ctl.since < 300 || tr.Defrosting {
			if tr.Running {
				vib = append(vib, r.Values[rimewatch.VibrationLevel])
			}
			continue
		}
		vib = append(vib, r.Values[rimewatch.VibrationLevel])
		dis = append(dis, r.Values[rimewatch.CompressorDischargeTemp])
		suc = append(suc, r.Values[rimewatch.CompressorSuctionTemp])
		amps = append(amps, r.Values[rimewatch.AmpDraw])
		split = append(split, tr.Condensing-tr.Ambient)
		evap = append(evap, tr.Evaporating)
	}
	after := u.Truth()
	span := to.Sub(from)
	return summary{
		zoneMean: mean(zone), zoneP995: quantile(zone, 0.995),
		discharge: quantile(dis, 0.5), dischargeP95: quantile(dis, 0.95),
		suction: quantile(suc, 0.5), amps: quantile(amps, 0.5),
		volts: mean(volts), vib: quantile(vib, 0.5), vibP95: quantile(vib, 0.95), humidity: mean(hum),
		split: quantile(split, 0.5), evap: quantile(evap, 0.5), frost: quantile(frost, 1),
		duty:       (after.RunTime - before.RunTime).Seconds() / span.Seconds(),
		startsAnHr: float64(after.Starts-before.Starts) / span.Hours(),
		tripsADay:  float64(after.Trips-before.Trips) / span.Hours() * 24,
		on:         len(dis),
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[int(q*float64(len(s)-1)+0.5)]
}
