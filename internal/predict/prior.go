package predict

import "github.com/rimewatch/rimewatch"

// slopes is what a channel does per unit of a covariate.
type slopes = [numChannels][numCov]float64

// The priors of the slopes: what typical units show, rounded, of the simulated
// types and of compressor tables. A unit's own history takes over within days;
// what it has not met yet, such as a summer, rests on them.
var (
	chilledPrior = slopes{
		chDischarge: {1.6, 0.3, 0},
		chSuction:   {0.45, 0.4, 0},
		chAmps:      {0.8, 0.8, 0},
		chDuty:      {2, 0, 0},
		chZone:      {0.03, 0, 0},
	}
	frozenPrior = slopes{
		chDischarge: {1.7, 0.5, 0},
		chSuction:   {0.35, 0.5, 0},
		chAmps:      {0.8, 1.7, 0},
		chDuty:      {2.5, 0, 0},
		chZone:      {0.03, 0, 0},
	}
)

// priorOf picks the prior of an equipment type: by its usual setpoint, below or
// above freezing.
func priorOf(e *rimewatch.Equipment) *slopes {
	if e.Setpoint != nil && *e.Setpoint < -5 {
		return &frozenPrior
	}
	return &chilledPrior
}
