package alert

import "github.com/rimewatch/rimewatch"

const (
	stuckFor  = hour // a zone sensor that shows one number this long …
	stuckRuns = 2    // … while the compressor started this often is stuck,
	stuckMore = 3    // unless it has stood still a third as long before: coarse and buffered probes do
	// gasMargin is how much hotter the gas is behind a running compressor than
	// before it, at least.
	gasMargin    = 15.0
	contradictIn = 10 * minute // of the run, when both pipes have warmed through
)

// sensorState is what the plausibility of single fields rests on.
type sensorState struct {
	same  stamp  // since when the zone temperature has not moved at all
	still uint16 // min, the longest that it stood still before and moved again
	runs  uint8  // compressor starts since then
	stuck bool
}

// inspect tells which measurements of a reading count, and remembers which
// sensors are broken. A sensor mends by sending a plausible value; one that
// sends nothing stays what it was.
func (s *State) inspect(x *pass, r *rimewatch.Reading) rimewatch.Fields {
	if x.c.Rules == 0 {
		// Nothing but the product zone is judged.
		s.broken = 0
		const zone = rimewatch.Fields(1 << rimewatch.ProductZoneTemp)
		if r.Present&zone != 0 && rimewatch.ProductZoneTemp.Plausible(r.Values[rimewatch.ProductZoneTemp]) {
			return zone
		}
		return 0
	}
	bad := r.Faults & rimewatch.CoreFields
	for f := range rimewatch.NumCore {
		if r.Present.Has(f) && !f.Plausible(r.Values[f]) {
			bad = bad.With(f)
		}
	}
	valid := r.Present &^ bad
	if x.c.Rules&RuleSensors == 0 {
		s.broken = 0
		return valid
	}
	keep := s.contradictions(x, r, valid)
	s.broken = (s.broken|bad)&^(valid&^keep) | keep
	if valid.Has(rimewatch.ProductZoneTemp) {
		s.followStuck(x, r.Values[rimewatch.ProductZoneTemp])
		if s.sensor.stuck {
			valid &^= 1 << rimewatch.ProductZoneTemp
		}
	}
	return valid &^ keep
}

// contradictions names sensors whose values cannot be true together: a running
// compressor whose discharge line is no warmer than its suction line, and a
// running compressor without voltage.
func (s *State) contradictions(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) rimewatch.Fields {
	const gas = rimewatch.Fields(1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp)
	const supply = rimewatch.Fields(1<<rimewatch.Voltage | 1<<rimewatch.AmpDraw)
	found := rimewatch.Fields(0)
	if valid&gas == gas {
		const field = rimewatch.CompressorDischargeTemp
		if s.run.known && s.run.on && !s.slow() && s.run.since.time()+contradictIn <= x.e {
			if r.Values[field] < r.Values[rimewatch.CompressorSuctionTemp]+gasMargin {
				found = found.With(field)
			}
		} else {
			// The pipes of a stopped compressor say nothing about it.
			found |= s.broken & (1 << field)
		}
	}
	if valid&supply == supply && s.run.known &&
		r.Values[rimewatch.Voltage] < 0.5*s.nominalVoltage(x.c) && float32(r.Values[rimewatch.AmpDraw]) > s.run.threshold(0.5) {
		found = found.With(rimewatch.Voltage)
	}
	return found
}

// followStuck finds a zone sensor that has frozen at one number. Half an hour
// on the same tenth of a degree happens; not while the compressor cycles.
func (s *State) followStuck(x *pass, v float64) {
	w := &s.sensor
	if !w.stuck && s.blind(x.e-s.at) {
		w.same, w.runs = stampOf(x.e), 0
	}
	if s.zoneAt == 0 || fix(v) != s.last[rimewatch.ProductZoneTemp] {
		if stood := (x.e - w.same.time()) / minute; w.same != (stamp{}) && !w.stuck {
			w.still = max(w.still, uint16(min(stood, 24*60)))
		}
		w.same, w.runs, w.stuck = stampOf(x.e), 0, false
		return
	}
	if w.runs >= stuckRuns && x.e-w.same.time() >= max(stuckFor, stuckMore*minutes(int(w.still))) {
		w.stuck = true
	}
}

// judgeSensors opens sensor_fault and ends sensor_stale.
func (s *State) judgeSensors(x *pass) {
	if x.c.Rules&RuleSensors == 0 {
		return
	}
	z := zoneClear
	if s.broken != 0 || s.sensor.stuck {
		z = zoneBeyond
	}
	b := s.bounds(x.c, &x.p, x.th, ruleFault)
	s.judge(x, ruleFault, &b, sample{z: z})
	if t := s.pool.track(ruleFault); t != nil && z == zoneBeyond {
		t.peak = fixed(s.Broken()) // remembered until it is resolved
	}
	if t := s.pool.track(ruleStale); t != nil && s.fresh() == x.e {
		b := s.bounds(x.c, &x.p, x.th, ruleStale)
		s.judge(x, ruleStale, &b, sample{})
	}
}

// Broken are the sensors that do not count at present.
func (s *State) Broken() rimewatch.Fields {
	if s.sensor.stuck {
		return s.broken.With(rimewatch.ProductZoneTemp)
	}
	return s.broken
}

// fresh is when the device last sent what is awaited of it: its zone
// temperature when it ever sent one, otherwise anything. A broken zone sensor
// is sensor_fault's business.
func (s *State) fresh() rimewatch.Time {
	if s.zoneAt == 0 || s.broken.Has(rimewatch.ProductZoneTemp) || s.sensor.stuck {
		return s.at
	}
	return s.zoneAt
}

// staleAfter is the age at which readings are missed while the device is
// online: slow loggers are given five of their intervals.
func (s *State) staleAfter(p *Presence, th *Thresholds) rimewatch.Time {
	offline := rimewatch.Time(p.OfflineAfter.Milliseconds())
	return max(th.Stale, rimewatch.Time(5000*s.gap), offline)
}

// staleDue is when sensor_stale opens if nothing more is measured.
func (s *State) staleDue(c *Config, p *Presence, th *Thresholds) rimewatch.Time {
	if c.Rules&RuleSensors == 0 || s.at == 0 || s.isActive(ruleStale) || s.gap == 0 {
		return never
	}
	due := s.fresh() + s.staleAfter(p, th)
	if t := s.pool.track(ruleStale); t != nil {
		if t.is(bitMuted) {
			due = max(due, t.start.time()+reopenWarning)
		}
	} else if _, ok := s.pool.victim(ruleStale, s.active); !ok && !s.pool.room(ruleStale) {
		return never
	}
	return max(due, s.holdUntil)
}

func (s *State) openStale(x *pass) {
	t := s.pool.track(ruleStale)
	if t == nil {
		if t = s.pool.claim(ruleStale, s.active); t == nil {
			return
		}
	}
	t.enter(zoneBeyond, zoneClear, s.fresh(), false)
	s.live |= 1 << ruleStale
	b := s.bounds(x.c, &x.p, x.th, ruleStale)
	s.apply(x, ruleStale, &b, x.now, true)
}
