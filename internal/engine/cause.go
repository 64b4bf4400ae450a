package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// hint passes on to compliance what, in the newest reading, points at the cause of
// an excursion.
func (s *State) hint(r *rimewatch.Reading) {
	h := health.HintOf(r) & health.HintDoor // of defrosts the unit knows more
	if s.Unit.Defrosting() || s.Alert.Graced() {
		h |= health.HintDefrost
	}
	if s.Unit.Broken().Has(rimewatch.ProductZoneTemp) {
		h |= health.HintSensor
	}
	for t := range alert.TypesOf(&s.Alert) {
		h |= hintOf(t)
	}
	if p, ok := s.Predict.Standing(&s.Unit); ok {
		h |= hintOf(p.Type)
	}
	s.Health.Hint(h)
}

// Defrosts returns a function that takes the readings of a past in their order and reports of
// each whether a defrost warmed the zone, by the present knowledge of the unit.
func (s *State) Defrosts(c *Config) func(*rimewatch.Reading) bool {
	u := s.Unit
	begun := false
	var o unit.Observation
	return func(r *rimewatch.Reading) bool {
		if by := r.At - 1 - u.At(); !begun && by < 0 {
			u.Move(by)
		}
		begun = true
		u.Observe(&c.Alert.Config, r, r.At, 0, &o)
		return u.Defrosting()
	}
}

// hintOf returns what an active alert implies for an excursion at the same time.
// Alerts about the zone itself, silence, sensors elsewhere and surroundings say
// nothing about why.
func hintOf(t rimewatch.AlertType) health.Hints {
	switch t {
	case rimewatch.DoorOpenSuspected:
		return health.HintDoor
	case rimewatch.PowerLoss, rimewatch.LowVoltage, rimewatch.HighVoltage:
		return health.HintPower
	case rimewatch.CompressorStartFailure, rimewatch.HighAmpDraw, rimewatch.LowAmpDraw, rimewatch.HighVibration,
		rimewatch.HighDischargeTemperature, rimewatch.ShortCycling,
		rimewatch.CompressorFailurePredicted, rimewatch.RefrigerantLeakSuspected, rimewatch.CondenserFoulingSuspected, rimewatch.EvaporatorIcingSuspected:
		return health.HintFault
	default:
		return 0
	}
}
