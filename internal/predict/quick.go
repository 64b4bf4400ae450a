package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// quick watches for what cannot wait for the end of a window.
type quick struct {
	early   [earlySteps][earlyChannels]norm // residuals of readings soon after a start
	mean    [trendChannels]float32          // exponential means of the corrected residuals of single readings in runs
	from    rimewatch.Time                  // a sudden departure has lasted since
	tripAmp float32                         // %, current at the end of the newest runs without result against steady running
	muted   rimewatch.Time                  // no sudden departure counts before
	n       uint8                           // readings in a row that depart
	steady  uint8                           // of them in steady running
}

// norm is a mean and a variance in the making.
type norm struct {
	mean, vari float32
	n          uint16
}

func (m *norm) add(v float64) {
	m.n = min(m.n+1, 2000)
	d := float32(v) - m.mean
	m.mean += d / float32(m.n)
	m.vari += (d*(float32(v)-m.mean) - m.vari) / float32(m.n)
}

// Until running is steady the readings are compared with what is usual so many
// minutes after a start: 0, 1, 2, or more.
const (
	earlySteps    = 4
	earlyChannels = chAmps + 1
)

// A departure is sudden at this many floors, and the noise, in one channel and at half of one in
// another, in so many readings in a row and for so long.
const (
	suddenFloors   = 1
	suddenReadings = 5
	suddenFor      = 4 * rimewatch.Minute
	suddenFrost    = 2.2 // floors of suction or current that are more than a day's frost
)

// earlyTrust is the share of a departure soon after a start that counts: the
// pipes are still warm from the run before, more so when the rhythm has changed.
var earlyTrust = [earlyChannels]float64{chDischarge: 0.8, chSuction: 0.8, chAmps: 1}

// zoneDoubt is how much of a departure per K of unusual zone temperature may
// come from a slope that was learnt close to the setpoint only.
var zoneDoubt = [trendChannels]float64{chDischarge: 1.5, chSuction: 0.8, chAmps: 2}

// quickLook judges a reading by itself.
func (s *State) quickLook(c *Config, r *rimewatch.Reading, cy *cycle, out []Transition) []Transition {
	if cy.failed && recent(r.At, 3*rimewatch.Hour, s.op.failed[:]) >= 2 {
		return s.openByEvent(c, r.At, fiStart, fiContactor, out)
	}
	if cy.tripped {
		return s.tripped(c, r, out)
	}
	if s.op.phase != Running && (s.op.phase != Recovering || s.op.thawed || s.learning()) || !s.ready() {
		return out
	}
	ran := float32(r.At-s.op.started) / float32(rimewatch.Minute)
	if ran > s.longest() {
		return out
	}
	y, have := s.residuals(r)
	if ran < 0.5 {
		have &^= 1 << chVibration // the start itself shakes
	}
	if ran < s.gate {
		early := &s.quick.early[min(earlySteps-1, int(ran+0.5))]
		for ch := range earlyChannels {
			if !have.has(ch) {
				continue
			}
			if e := &early[ch]; s.learning() {
				e.add(y[ch])
			} else if e.n < 20 {
				have &^= 1 << ch
			} else {
				y[ch] -= float64(e.mean)
				y[ch] *= earlyTrust[ch] * min(1, floors[ch]/(2*math.Sqrt(float64(e.vari))+1e-9))
			}
		}
	}
	if s.learning() {
		return out
	}
	return s.sudden(c, r, y, have, out)
}

// conditions are the covariates of a single reading.
func (s *State) conditions(r *rimewatch.Reading) (x [numCov]float64) {
	if v, ok := r.Value(rimewatch.AmbientTemp); ok {
		x[covAmbient] = v - refAmbient
	}
	if v, ok := r.Value(rimewatch.ProductZoneTemp); ok {
		// What is far from the usual is outside of what was learnt.
		x[covZone] = max(-3, min(3, v-float64(s.zoneRef)))
	}
	if v, ok := r.Value(rimewatch.Voltage); ok && s.op.nominal > 0 {
		x[covVolts] = max(-20, min(20, 100*(v/float64(s.op.nominal)-1)))
	}
	return x
}

// offZone is how far the zone is from where it usually is, K.
func (s *State) offZone() float64 {
	return math.Abs(float64(s.op.zone - (s.op.cutIn+s.op.cutOut)/2))
}

// residuals are the departures of a single reading in steady running.
func (s *State) residuals(r *rimewatch.Reading) (y [trendChannels]float64, have channelSet) {
	x := s.conditions(r)
	take := func(ch int, f rimewatch.Field, log bool) {
		v, ok := r.Value(f)
		if !ok || log && v <= 0 {
			return
		}
		if log {
			v = 100 * math.Log(v)
		}
		y[ch], have = v-s.model.expect(ch, x), have.with(ch)
	}
	take(chDischarge, rimewatch.CompressorDischargeTemp, false)
	take(chSuction, rimewatch.CompressorSuctionTemp, false)
	take(chAmps, rimewatch.AmpDraw, true)
	take(chVibration, rimewatch.VibrationLevel, true)
	return y, have
}

// sudden follows single readings for a departure so large that minutes suffice.
func (s *State) sudden(c *Config, r *rimewatch.Reading, y [trendChannels]float64, have channelSet, out []Transition) []Transition {
	q := &s.quick
	far, near := 0, 0
	off := s.offZone()
	for ch := range trendChannels {
		if !have.has(ch) {
			continue
		}
		q.mean[ch] += 0.3 * (float32(max(-20*floors[ch], min(20*floors[ch], y[ch]))) - q.mean[ch])
		if ch == chVibration {
			continue
		}
		size := math.Abs(float64(q.mean[ch]))
		noise := 4*math.Sqrt(float64(s.chans[ch].spread)) + zoneDoubt[ch]*off
		if size > suddenFloors*floors[ch]+noise {
			far++
		}
		if size > 0.5*floors[ch]+noise {
			near++
		}
	}
	if far < 1 || near < 2 {
		q.from, q.n, q.steady = 0, 0, 0
		return out
	}
	if q.from == 0 {
		q.from = r.At
	}
	q.n = min(q.n+1, 200)
	if r.At-s.op.started >= rimewatch.Time(s.gate*float32(rimewatch.Minute)) {
		q.steady = min(q.steady+1, 200)
	}
	if q.n < suddenReadings || r.At-q.from < suddenFor || s.alarm.active() || r.At < q.muted {
		return out
	}
	if s.op.started <= q.from && (s.op.phase == Recovering || q.steady < 3) {
		return out // the start of one run, or one run back from warm, proves nothing; the next does
	}
	f := s.instant()
	d := diagnose(&f)
	if d.score < needFit || faults[d.first].alert == "" {
		return out
	}
	if frosty := math.Max(-f[chSuction]/floors[chSuction], -f[chAmps]/floors[chAmps]); faults[d.first].alert == rimewatch.EvaporatorIcingSuspected && frosty < suddenFrost {
		return out // a delivery leaves that much frost until the next defrost
	}
	out = s.open(c, r.At, &d, &f, true, out)
	s.alarm.sudden = true
	return out
}

// instant are the findings of the last minutes; the step is measured against
// the windows before.
func (s *State) instant() findings {
	f := s.findings()
	most := 0.0
	for ch := range trendChannels {
		now, then := float64(s.quick.mean[ch]), s.hist.back(ch, 1)
		if last := s.hist.back(ch, 0); math.Abs(last) > math.Abs(then) {
			then = last
		}
		f[ch] = now
		if share := math.Abs(now) / floors[ch]; share > most && now != 0 {
			most = share
			f[ftStep] = max(0, min(1, (now-then)/now))
			f[ftSudden] = ramp(f[ftStep], 0.6, 0.9)
		}
	}
	return f
}

// tripped is called when a run has ended without result. Three of them within
// 45 minutes are no accident: what the current was at their end tells high head
// from low suction from an open contact.
func (s *State) tripped(c *Config, r *rimewatch.Reading, out []Transition) []Transition {
	o, q := &s.op, &s.quick
	if s.ready() && o.endAmps > 0 {
		e := 100*math.Log(float64(o.endAmps)) - s.model.expect(chAmps, s.conditions(r))
		e -= math.Copysign(min(math.Abs(e), s.offZone()), e)
		if recent(r.At, 2*rimewatch.Hour, o.trips[:]) <= 1 {
			q.tripAmp = float32(e) // the first of a series
		}
		q.tripAmp += 0.5 * (float32(e) - q.tripAmp)
	}
	need := 3
	if q.tripAmp > 4 {
		need = 2
	}
	if recent(r.At, 45*rimewatch.Minute, o.trips[:]) < need {
		return out
	}
	if v, ok := r.Value(rimewatch.Voltage); ok && v < 0.93*float64(o.nominal) {
		return out // the supply explains it, and has its own alert
	}
	// Before the last half day, lest the fault itself counts as its forerunner.
	drifted := func(ch int, share float64) bool { return s.hist.back(ch, 2)/floors[ch]*share > 0.5 }
	switch {
	case q.tripAmp > 3 && (drifted(chDischarge, 1) || drifted(chAmps, 1)):
		return s.openByEvent(c, r.At, fiFouling, fiCondenserFan, out)
	case q.tripAmp > 3:
		return s.openByEvent(c, r.At, fiCondenserFan, fiFouling, out)
	case q.tripAmp < -6 && drifted(chSuction, -1):
		return s.openByEvent(c, r.At, fiIcing, fiEvaporatorFan, out)
	case q.tripAmp < -6 && drifted(chSuction, 1):
		return s.openByEvent(c, r.At, fiUndercharge, fiRestriction, out)
	case q.tripAmp < -6:
		return s.openByEvent(c, r.At, fiEvaporatorFan, fiIcing, out)
	}
	if recent(r.At, 45*rimewatch.Minute, o.trips[:]) < 5 {
		return out
	}
	return s.openByEvent(c, r.At, fiContactor, fiStart, out)
}

// openByEvent opens an alert that rests on counted events, or renews it.
func (s *State) openByEvent(c *Config, at rimewatch.Time, first, second uint8, out []Transition) []Transition {
	a := &s.alarm
	f := s.findings()
	d := diagnosis{first: first, second: second, score: 0.8, next: 0.5}
	if a.active() {
		a.renewed = at
		if a.byEvent || faults[a.fault].alert == faults[first].alert && a.critical {
			return out
		}
		if faults[a.fault].alert != faults[first].alert {
			// What was predicted has come about another way, or both are true:
			// the alert that is open stays, and gets worse.
			d = diagnosis{first: a.fault, second: first, score: float64(a.score)}
		}
		a.byEvent = true
		s.take(&d, &f, at)
		a.critical = true
		return append(out, s.transition(c, Escalated, at, &f))
	}
	return s.open(c, at, &d, &f, true, out)
}
