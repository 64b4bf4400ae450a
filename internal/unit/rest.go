package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// stands are how far the pipes are from the ambient at the end of a stop, K: what a probe
// shows that drifts, and none that is right. A machine that fails changes what its pipes
// are while it runs; of that little is left when it starts again.
type stands struct {
	usual [2]float32 // of discharge and suction line, as learnt
	now   [2]float32 // of the newest stops
	known uint16     // hours behind usual
}

const restStops = 40 // behind the present average

// noteStop takes the end of a stop.
func (d *stands) noteStop(last *[rimewatch.NumCore]state.Fixed) {
	air := last[rimewatch.AmbientTemp]
	for i, f := range [...]rimewatch.Field{rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp} {
		v := float32((last[f] - air).Float())
		if d.now[i] == 0 {
			d.now[i] = v
		}
		d.now[i] += (v - d.now[i]) / restStops
	}
}

// learn takes an hour of a unit that nothing ails.
func (d *stands) learn() {
	d.known = min(d.known+1, memoryHours)
	for i := range d.usual {
		d.usual[i] += (d.now[i] - d.usual[i]) / float32(d.known)
	}
}

// off is by how much the pipes are warmer at rest than usual, K above the ambient.
func (d *stands) off() (discharge, suction float64) {
	return float64(d.now[0] - d.usual[0]), float64(d.now[1] - d.usual[1])
}

const (
	restKnown = 5 * 24 // h of running behind the usual average
	restLeast = 2.0    // K by which an ambient is wrong
	restShare = 0.3    // of what one pipe says, that the other does
	restTimes = 2.0    // of what such an error would change in running, that it changes at most
	restQuiet = 0.3    // floors that are noise there
)

// restError is by how much the ambient is measured too low, K, by both pipes at rest, as
// long as discharge line, suction line and current do not say otherwise while it runs;
// 0 = by nothing. A condenser that fouls leaves the suction line as it is, a lack of
// refrigerant lowers the current and warms the suction line by more, liquid cools both
// lines by far more. Seasons move the pipes apart.
func (s *baseline) restError(y [Amps + 1]float64) float64 {
	d := &s.stands
	discharge, suction := d.off()
	by := (discharge + suction) / 2
	if d.known < restKnown || math.Abs(by) < restLeast || discharge*suction <= 0 ||
		min(math.Abs(discharge), math.Abs(suction)) < restShare*max(math.Abs(discharge), math.Abs(suction)) {
		return 0
	}
	side, shows := math.Copysign(1, by), false
	for ch := range Amps + 1 {
		would, quiet := math.Abs(by*float64(s.model.coef[ch][1+covAmbient])), max(restQuiet*floors[ch], s.Scatter(ch))
		if !s.Scored(ch) || side*y[ch] < -quiet || side*y[ch] > restTimes*would+quiet {
			return 0
		}
		shows = shows || side*y[ch] > restQuiet/2*floors[ch]
	}
	if !shows {
		return 0
	}
	return by
}

// holdKnown is how long the compressor must have stood still before the warming
// tells how long the cold will last.
const holdKnown = 10 * minute

// Warming is by how much the zone has warmed up, K/h, since the compressor
// stopped; ok is false while it runs, and in the first ten minutes of a stop.
func (s *State) Warming() (slope float64, ok bool) {
	w := &s.running
	stopped := s.zoneAt - w.since.Time()
	if !w.known || w.on || !w.dated || stopped < holdKnown {
		return 0, false
	}
	return (s.last[rimewatch.ProductZoneTemp] - w.stopZone).Float() / (float64(stopped) / float64(hour)), true
}
