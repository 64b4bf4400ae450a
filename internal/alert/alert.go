package alert

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Config is what one device is judged by. It may be shared between devices and
// must not change while it is; give a device another Config instead and call
// Tick. The zero value judges presence alone.
type Config struct {
	unit.Config
	Limits rimewatch.Limits // product temperature limits in force
	Rules  Rules            // beyond product temperature and presence, which are always judged
}

// Presence is what the service knows of a device's signs of life.
type Presence struct {
	Online       bool
	OfflineAfter time.Duration  // silence after which the device counts as offline
	OfflineSince rimewatch.Time // when it went offline, 0 when online
	LastSeen     rimewatch.Time // newest heartbeat or reading by arrival; 0 = not given, then Online alone counts
	Announced    bool           // it announced its shutdown: no alert
	NeverSeen    bool           // nothing was ever heard of it: no alert
	Lag          rimewatch.Time // how long after its own time the newest reading came, if that is not corrected for and no mere delay
}

// Transition is one change of one alert: opened, escalated, deescalated, resolved, updated (the
// same severity with more to say), suppressed (an open prediction says the same) or released. Value, Peak and Threshold are in Unit
// and kept to four decimals.
type Transition struct {
	Kind               rimewatch.TransitionKind
	Type               rimewatch.AlertType
	Part               string             // of the alerts about a sensor, the measurement that this one is about; "" where it is about several
	Severity           rimewatch.Severity // after the transition; of a resolved alert its last one
	At                 rimewatch.Time     // the now of the call that brought it
	ConditionStartedAt rimewatch.Time     // event time, never after At
	Metric             string             // field name or derived measure, "" when none
	Unit               string
	Value              float64 // newest value of Metric
	Peak               float64 // worst value of Metric since the condition started
	Threshold          float64 // the limit that was passed
	HasValue           bool    // Value and Peak are set
	HasThreshold       bool
	Flapping           bool
	Occurrences        int     // how often the condition came on this alert, at least 1
	Usual              float64 // of the product temperature, where its limit does not fit the unit: what that usually shows
	HasUsual           bool
	HoldHours          float64 // of power_loss: h until the zone leaves its range, 0 when it has
	HasHold            bool    // HoldHours is known

	Prediction *rimewatch.Prediction // of the predictor's alerts only, which no rule of this package makes
	Resolution rimewatch.Resolution  // of a Resolved one: "" is auto
	Ending     rimewatch.Ending      // of a Resolved one: why
	BackSince  rimewatch.Time        // of the product temperature's, which is back in range: since when, 0 = not known
	Unmet      rimewatch.Unmet       // of not_cooling: why the zone does not get colder
	Superseded rimewatch.Superseded  // of a superseded one: by which other judgement, "" where by none
	Relearning rimewatch.Relearning  // of a superseded one: why the unit is learnt anew, "" where it is not
}

// Active is an active alert as the engine knows it, for reads between
// transitions.
type Active struct {
	Type               rimewatch.AlertType
	Part               string
	Severity           rimewatch.Severity
	ConditionStartedAt rimewatch.Time
	EvaluatedAt        rimewatch.Time // event time of the newest reading that counted
	Metric             string
	Value              float64
	Peak               float64
	HasValue           bool
	Flapping           bool
	Occurrences        int
}
