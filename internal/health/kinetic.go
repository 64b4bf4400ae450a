package health

import "math"

// Kinetic adds up temperatures for the mean kinetic temperature: the one steady
// temperature that would have done the same chemical harm. It is meant for
// medicines (USP <1079.2>), never for food, freezing or biologics.
type Kinetic struct {
	time, harm float64
}

const (
	activation = 83.144    // kJ/mol, ΔH of USP <1079.2>
	gas        = 8.3144e-3 // kJ/(mol·K)
	kelvin     = 273.15
)

// Add counts a temperature in °C that held for a time, in any one unit.
func (k *Kinetic) Add(celsius, time float64) {
	k.time += time
	k.harm += time * math.Exp(-activation/(gas*(celsius+kelvin)))
}

// Mean is the mean kinetic temperature in °C; ok is false while nothing was
// added.
func (k *Kinetic) Mean() (celsius float64, ok bool) {
	if k.time <= 0 {
		return 0, false
	}
	return activation/gas/-math.Log(k.harm/k.time) - kelvin, true
}
