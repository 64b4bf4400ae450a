package alert

import "github.com/rimewatch/rimewatch"

// Limit is a pair of limits of one measure with how long each must be passed.
type Limit struct {
	Warn, Crit           float64 // in the measure's unit or as a share, see its field
	WarnDelay, CritDelay rimewatch.Time
	Clear                float64        // how far inside Warn the condition ends
	ClearTime            rimewatch.Time // past it this long before the alert resolves
}

// Thresholds are the numbers of the rules beside the product temperature.
// "Running" delays count compressor run time from the fifth minute of each run.
type Thresholds struct {
	LowVoltage         Limit          // share of nominal
	HighVoltage        Limit          // share of nominal
	PowerLoss          Limit          // share of nominal, Crit only
	Humidity           Limit          // %RH, humidity at the condenser
	ZoneHumid, ZoneDry Limit          // %RH over water in a cooler's zone, Warn only
	FreezerHumid       Limit          // %RH over water in a freezer's zone, Warn only
	Hot, Cold          Limit          // °C, ambient
	Discharge          Limit          // °C, running
	DischargeDeviation Limit          // K above the unit's baseline, two windows
	LowDischarge       Limit          // K above ambient, running
	Suction            Limit          // °C, running
	SuctionDeviation   Limit          // K from the unit's baseline, two windows
	LowSuction         Limit          // K above the zone's temperature (cooler), running, Warn only
	FreezerSuction     Limit          // the same of a freezer
	Amps               Limit          // share of the rated current, running
	AmpsDeviation      Limit          // % above the unit's baseline, two windows, Warn only
	LowAmps            Limit          // share of the unit's baseline while it vibrates, Warn only
	Vibration          Limit          // mm/s, running: floor of the limit
	VibrationRatio     [2]float64     // times the unit's baseline, warning and critical
	Starts             Limit          // starts an hour
	RunLength          Limit          // min, median of the newest five runs
	FailedStartsDay    float64        // in 24 h: warning
	FailedStartsHour   float64        // in this clock hour and the last: critical
	RunTime            Limit          // % of 24 h; Crit % of 6 h with the zone RunTimeZoneK above setpoint
	RunTimeDeviation   Limit          // points above the unit's baseline, two windows, Warn only
	RunTimeZoneK       float64        // K
	Recovery           float64        // times the learnt recovery: warning
	Door               Limit          // min that the door has been open, or seems to have been; Warn only
	Stale              rimewatch.Time // readings or zone temperatures missing this long while online
	Fault              rimewatch.Time // a sensor broken this long
}

// DefaultThresholds are the limits of the domain notes, section 2, with their
// sources: discharge line 225 and 250 °F (ACHR News), suction line 65 °F at the
// compressor (trade rule), voltage ±10 % (Emerson's approved ranges), at most
// eight to twelve starts an hour with two minutes of run (Danfoss), vibration
// 1.8 and 4.5 mm/s (ISO 10816 class I). Deviations from a unit's own baseline
// were tuned on the simulator. The result is the caller's to change.
func DefaultThresholds() *Thresholds {
	t := defaultThresholds
	return &t
}

const (
	second = rimewatch.Second
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

var defaultThresholds = Thresholds{
	LowVoltage:         Limit{0.90, 0.85, minute, 10 * second, 0.02, 5 * minute},
	HighVoltage:        Limit{1.10, 1.15, minute, 10 * second, 0.02, 5 * minute},
	PowerLoss:          Limit{0, 0.50, 0, 10 * second, 0.20, minute},
	Humidity:           Limit{75, 90, 2 * hour, 2 * hour, 3, 15 * minute},
	ZoneHumid:          Limit{95, 0, 2 * hour, 0, 2, 15 * minute},
	ZoneDry:            Limit{55, 0, 2 * hour, 0, 3, 15 * minute},
	FreezerHumid:       Limit{92, 0, 2 * hour, 0, 2, 15 * minute},
	Hot:                Limit{35, 43, 30 * minute, 30 * minute, 2, 15 * minute},
	Cold:               Limit{10, 2, 30 * minute, 30 * minute, 2, 15 * minute},
	Discharge:          Limit{107, 121, 5 * minute, minute, 5, 5 * minute},
	DischargeDeviation: Limit{Warn: 6, Crit: 15, Clear: 2},
	LowDischarge:       Limit{25, 15, 10 * minute, 10 * minute, 3, 10 * minute},
	Suction:            Limit{18, 27, 15 * minute, 15 * minute, 2, 10 * minute},
	SuctionDeviation:   Limit{Warn: 3, Crit: 7, Clear: 1},
	LowSuction:         Limit{-5, 0, 10 * minute, 0, 2, 10 * minute},
	FreezerSuction:     Limit{-2, 0, 10 * minute, 0, 2, 10 * minute},
	Amps:               Limit{1.10, 1.25, 10 * minute, 2 * minute, 0.05, 5 * minute},
	AmpsDeviation:      Limit{Warn: 12, Clear: 4},
	LowAmps:            Limit{0.25, 0, 10 * minute, 0, 0.10, 5 * minute},
	Vibration:          Limit{1.8, 4.5, 15 * minute, 15 * minute, 0.2, 15 * minute},
	VibrationRatio:     [2]float64{2, 4},
	Starts:             Limit{8, 12, 15 * minute, 15 * minute, 1, 2 * hour},
	RunLength:          Limit{3, 2, 0, 0, 0.5, 30 * minute},
	FailedStartsDay:    3,
	FailedStartsHour:   3,
	RunTime:            Limit{85, 97, 0, 0, 5, 24 * hour},
	RunTimeDeviation:   Limit{Warn: 20, Clear: 8},
	RunTimeZoneK:       2,
	Recovery:           2,
	Door:               Limit{15, 0, 0, 0, 14, 30 * minute},
	Stale:              15 * minute,
	Fault:              5 * minute,
}
