package alert

import "github.com/rimewatch/rimewatch"

// Melting tells whether a defrost, declared or recognised, warms the zone at the
// newest reading or has just done so.
func (s *State) Melting() bool {
	m := &s.melt
	return m.declared || m.graced || (m.hump && m.known)
}

// Facts is what the engine has found out about a unit, for people: the measures
// behind the rules, each with whether it is known.
type Facts struct {
	IntervalS float64 // s between readings, a slow mean; 0 = not known yet

	Running, RunningKnown bool
	RunningSince          rimewatch.Time // start of the present run or stop, 0 = not seen
	StartsPerHour         int            // in the last hour
	StartsKnown           bool           // false: readings come too seldom to see every start, and the device sends no counter
	MedianRunMin          float64        // min, of the newest five runs
	MedianRunKnown        bool
	RunSharePct           float64 // %, of about a day
	RunShareKnown         bool
	FailedStartsPerDay    int

	HoldHours      float64 // h until the zone leaves its range if the compressor stays off; 0 when it has
	HoldHoursKnown bool    // false while it runs, and in the first minutes of a stop

	Defrosting     bool    // declared, or recognised by its hour
	RecoveryMin    float64 // min, what the zone usually takes to be cold again after a defrost
	RecoveryKnown  bool
	NominalVoltage float64 // V, configured or learnt; 0 = not known yet
	UsualAmps      float64 // A while running; 0 = not known yet
	BaselineDays   float64 // days of normal running that the baseline has seen; deviations are judged from two on
	BrokenSensors  rimewatch.Fields
}

// Facts gives what is known at the newest reading.
func (s *State) Facts(c *Config) Facts {
	w := &s.run
	f := Facts{
		IntervalS: float64(s.gap), Running: w.on && w.known, RunningKnown: w.known,
		StartsPerHour: w.startsPerHour(), StartsKnown: s.countsStarts(),
		Defrosting:    s.melt.declared || (s.melt.hump && s.melt.known),
		RecoveryMin:   float64(s.melt.usual),
		RecoveryKnown: s.melt.learnt >= learntHumps, NominalVoltage: s.nominalVoltage(c), UsualAmps: s.usualAmps(),
		BaselineDays: float64(s.base.w) / 4, BrokenSensors: s.Broken(),
	}
	if w.known && w.dated {
		f.RunningSince = w.since.time()
	}
	f.MedianRunMin, f.MedianRunKnown = w.medianRun()
	f.MedianRunKnown = f.MedianRunKnown && f.StartsKnown
	f.RunSharePct, f.RunShareKnown = s.win.runShare(len(s.win.shares))
	f.FailedStartsPerDay, _ = w.failures(s.at)
	f.HoldHours, f.HoldHoursKnown = s.holdHours(c)
	return f
}

// holdKnown is how long the compressor must have stood still before the warming
// tells how long the cold will last.
const holdKnown = 10 * minute

// tellHold updates power_loss as soon as it is known how long the cold will
// last.
func (s *State) tellHold(x *pass, gap rimewatch.Time) {
	if !s.isActive(rulePower) || !x.recent || !s.run.known || s.run.on {
		return
	}
	if stood := x.e - s.run.since.time(); stood < 2*holdKnown || stood-gap >= 2*holdKnown {
		return
	}
	if _, ok := s.holdHours(x.c); ok {
		b := s.bounds(x.c, &x.p, x.th, rulePower)
		x.out = append(x.out, s.transition(x, rulePower, &b, Updated))
	}
}

// holdHours draws the warming since the compressor stopped on to the upper
// limit: the time that is left to keep the goods. Heat flows slower the warmer
// the zone is, so the straight line errs on the safe side.
func (s *State) holdHours(c *Config) (float64, bool) {
	w := &s.run
	stopped := s.zoneAt - w.since.time()
	if !w.known || w.on || !w.dated || stopped < holdKnown || c.Limits.TempMax == nil {
		return 0, false
	}
	slope := (s.last[rimewatch.ProductZoneTemp] - w.stopZone).float() / (float64(stopped) / float64(hour))
	room := *c.Limits.TempMax - s.last[rimewatch.ProductZoneTemp].float()
	switch {
	case room <= 0:
		return 0, true
	case slope < 0.1: // K/h: no end in sight
		return 0, false
	default:
		return room / slope, true
	}
}

// Relearn forgets what is normal for the unit, after a repair or a move: its
// running level, cycles, defrosts, supply and baseline. Alerts and running
// clocks stay.
func (s *State) Relearn() {
	s.run = runState{}
	s.melt = meltState{mean: s.melt.mean, declared: s.melt.declared, graced: s.melt.graced}
	s.win = window{}
	s.base = baseline{}
	s.volts = nominal{}
	s.damp = usualHumidity{}
}

// AcknowledgedFor is how long an acknowledgement holds unless a person says
// otherwise: four hours for a warning, one for what is critical.
func AcknowledgedFor(severity rimewatch.Severity) rimewatch.Time {
	if severity == rimewatch.Critical {
		return hour
	}
	return 4 * hour
}
