package simulate

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Flaws is what a unit's sensors make of the truth although nothing ails the
// unit. The zero value changes nothing.
type Flaws struct {
	Step       [rimewatch.NumCore]float64 // resolution in the field's unit; 0 = the model's
	Fahrenheit bool                       // temperatures come in whole °F, turned into °C
	Bias       [rimewatch.NumCore]float64 // added, in the field's unit
	Noise      [rimewatch.NumCore]float64 // standard deviation of further noise
	Spikes     float64                    // share of the readings of vibration and current that are several times too high
	Missing    rimewatch.Fields           // sensors that the unit does not have
	Lost       float64                    // share of the readings that never arrive
	Events     []SensorEvent
}

// SensorEvent is something that happens to a sensor.
type SensorEvent struct {
	At, Until rimewatch.Time // Until 0 = for ever
	Kind      SensorEventKind
	Field     rimewatch.Field
	With      rimewatch.Field // of a swap
	Value     float64
}

// SensorEventKind is the kind of an event of a sensor.
type SensorEventKind uint8

// The kinds of events.
const (
	SensorShift      SensorEventKind = iota // Value is added
	SensorScale                             // the measurement is multiplied by Value
	SensorSlide                             // Value is added every day
	SensorFrozen                            // it keeps showing one number
	SensorNoisy                             // Value is the standard deviation of what is added
	SensorFahrenheit                        // all temperatures come in °F
	SensorSwap                              // Field and With are exchanged
)

var sensorEventNames = [...]string{"shift", "scale", "drift", "frozen", "noisy", "fahrenheit", "swap"}

// String names the kind.
func (k SensorEventKind) String() string { return sensorEventNames[k] }

const firstHumidity = rimewatch.Humidity // the fields before it are temperatures

// distort passes the measurements of a moment through what happens to the sensors.
func distort(d *Flaws, at rimewatch.Time, n noise, truth *[rimewatch.NumCore]float64) {
	k := int64(at)<<4 ^ 1<<62
	if d.Spikes > 0 {
		for _, f := range [...]rimewatch.Field{rimewatch.VibrationLevel, rimewatch.AmpDraw} {
			if n.uniform(k+int64(f)) < d.Spikes {
				truth[f] *= n.between(k+int64(f)+40, 3, 12)
			}
		}
	}
	for f := range truth {
		truth[f] += d.Bias[f]
		if d.Noise[f] > 0 {
			truth[f] += d.Noise[f] * n.normal(k+80+int64(f))
		}
	}
	for i := range d.Events {
		if e := &d.Events[i]; at >= e.At && (e.Until == 0 || at < e.Until) {
			e.happen(at, n, k, truth)
		}
	}
}

func (e *SensorEvent) happen(at rimewatch.Time, n noise, k int64, truth *[rimewatch.NumCore]float64) {
	v := &truth[e.Field]
	switch e.Kind {
	case SensorShift:
		*v += e.Value
	case SensorScale:
		*v *= e.Value
	case SensorSlide:
		*v += e.Value * float64(at-e.At) / float64(rimewatch.Day)
	case SensorFrozen:
		*v = e.Value
	case SensorNoisy:
		*v += e.Value * n.normal(k+120)
	case SensorFahrenheit:
		for f := range firstHumidity {
			truth[f] = truth[f]*1.8 + 32
		}
	case SensorSwap:
		*v, truth[e.With] = truth[e.With], *v
	}
}

// coarse rounds a measurement to what the sensor can tell apart.
func (d *Flaws) coarse(f rimewatch.Field, v float64) float64 {
	switch {
	case math.IsNaN(v):
	case d.Fahrenheit && f < firstHumidity:
		v = math.Round((math.Round(v*1.8+32)-32)/1.8*100) / 100
	case d.Step[f] > 0:
		v = math.Round(v/d.Step[f]) * d.Step[f]
	}
	return v
}
