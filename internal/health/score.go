package health

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Component is one of the things that a device's score is made of.
type Component uint8

// The components, with the share of the score that each can take at most.
const (
	Temperature      Component = iota // 0.60, from excursions; State keeps it by itself
	DischargeSuction                  // 0.40
	Electrical                        // 0.30
	Vibration                         // 0.35
	Cycling                           // 0.25, short cycles and duty
	PredictedFault                    // 0.30, severity already times confidence
	SensorFault                       // 0.25, implausible or stuck sensors
	DataFreshness                     // 0.50
	Calibration                       // 0.05, 1 when the calibration of a probe is overdue
	NumComponents

	remembered = Calibration // and those after it hold or do not hold
)

var components = [NumComponents]struct {
	name   string
	weight float64
}{
	{"temperature", 0.60}, {"discharge_suction", 0.40}, {"electrical", 0.30}, {"vibration", 0.35},
	{"cycling", 0.25}, {"predicted_fault", 0.30}, {"sensor_fault", 0.25}, {"data_freshness", 0.50}, {"calibration", 0.05},
}

// String is the component's name on the wire.
func (k Component) String() string {
	if k >= NumComponents {
		return "unknown"
	}
	return components[k].name
}

// Weight is the share of the score that the component can take, 0–1.
func (k Component) Weight() float64 { return components[k].weight }

const (
	halfLife   = 12 * 3600 // s
	forgetting = 24 * 3600 // s
	wholeNote  = 65535
)

// Note remembers how severe a component but Calibration is, 0–1; higher is bounded by 1. What
// is noted decays; a condition that lasts is noted again and again. The worst
// note is remembered for 24 h: as all decay alike, it stays the worst one.
func (s *State) Note(k Component, severity float64, now rimewatch.Time) {
	if !(severity > 0) || now <= 0 || k >= remembered {
		return
	}
	severity = min(severity, 1)
	if severity >= s.noted(k, now) {
		s.severity[k] = uint16(math.Round(severity * wholeNote))
		s.severityAt[k] = uint32(now / rimewatch.Second)
	}
}

// noted is the rest of the worst note at now.
func (s *State) noted(k Component, now rimewatch.Time) float64 {
	if k >= remembered || s.severity[k] == 0 {
		return 0
	}
	age := max(int64(now/rimewatch.Second)-int64(s.severityAt[k]), 0)
	if age >= forgetting {
		return 0
	}
	return float64(s.severity[k]) / wholeNote * math.Exp2(-float64(age)/halfLife)
}

// Circumstances are facts about a device that its State does not hold.
type Circumstances struct {
	Now          rimewatch.Time
	OpenWarning  bool // it has an active alert that is a warning
	OpenCritical bool // it has an active alert that is critical
	Offline      bool
	Severity     [NumComponents]float64 // 0–1, what holds now and is not remembered
}

// The most that a device can score under a cap.
const (
	CapCritical = 40
	CapOffline  = 50
	CapWarning  = 75
)

// cap is the least of the caps that hold, and its name.
func (c *Circumstances) cap() (most float64, name string) {
	switch {
	case c.OpenCritical:
		return CapCritical, "open_critical_alert"
	case c.Offline:
		return CapOffline, "offline"
	case c.OpenWarning:
		return CapWarning, "open_warning_alert"
	}
	return 100, ""
}

// severityOf is the worse of the remembered and the present severity.
func (s *State) severityOf(k Component, c *Circumstances) float64 {
	return min(max(s.noted(k, c.Now), c.Severity[k], 0), 1)
}

// Score is the device's health, 0–100 to one decimal.
func (s *State) Score(c *Circumstances) float64 {
	score := 100.0
	for k := range NumComponents {
		score *= 1 - components[k].weight*s.severityOf(k, c)
	}
	most, _ := c.cap()
	return tenth(min(score, most))
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// Driver is one reason why a score is less than 100.
type Driver struct {
	Component  string  // a component's name, open_critical_alert, open_warning_alert or offline
	Weight     float64 // of the component, 0 for a cap
	Severity   float64 // 0–1, 1 for a cap
	PointsLost float64 // of 100, to two decimals
}

// Drivers explains the score: the reasons, the costliest first. The points
// that they lost add up to the difference to 100, but for rounding.
func (s *State) Drivers(c *Circumstances) []Driver {
	drivers := []Driver{}
	score, logs := 100.0, 0.0
	for k := range NumComponents {
		if severity := s.severityOf(k, c); severity > 0 {
			w := components[k].weight
			score *= 1 - w*severity
			logs += math.Log1p(-w * severity)
			drivers = append(drivers, Driver{Component: k.String(), Weight: w, Severity: severity})
		}
	}
	for i := range drivers {
		d := &drivers[i]
		d.PointsLost = (100 - score) * math.Log1p(-d.Weight*d.Severity) / logs
	}
	if most, name := c.cap(); score > most {
		drivers = append(drivers, Driver{Component: name, Severity: 1, PointsLost: score - most})
	}
	for i := range drivers {
		d := &drivers[i]
		d.PointsLost = math.Round(d.PointsLost*100) / 100
		d.Severity = math.Round(d.Severity*1000) / 1000
	}
	slices.SortStableFunc(drivers, func(a, b Driver) int {
		switch {
		case a.PointsLost > b.PointsLost:
			return -1
		case a.PointsLost < b.PointsLost:
			return 1
		}
		return 0
	})
	return drivers
}
