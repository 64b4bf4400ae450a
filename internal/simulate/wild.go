package simulate

import (
	"time"

	"github.com/rimewatch/rimewatch"
)

// Wild is a unit as it may stand anywhere: built, measured and used in one of
// many ways, all drawn from a seed.
type Wild struct {
	Config Config
	seed   noise
	lost   float64
	Cut    []Fault // short power cuts
}

// draws hands out the draws of one stream in order.
type draws struct {
	n noise
	k int64
}

func (d *draws) uniform() float64               { d.k++; return d.n.uniform(d.k) }
func (d *draws) chance(p float64) bool          { return d.uniform() < p }
func (d *draws) between(lo, hi float64) float64 { return lo + (hi-lo)*d.uniform() }
func (d *draws) pick(weights ...float64) int {
	u, sum := d.uniform(), 0.0
	for i, w := range weights {
		if sum += w; u < sum {
			return i
		}
	}
	return len(weights) - 1
}

// Draw draws a unit of an equipment type that lives from start to end: its
// build, its sensors, how it is used, where it stands, and what people do. It has
// no fault; sensor events are in Config.Flaws only where sensorEvents asks for one.
func Draw(equipment string, seed uint64, start, end rimewatch.Time, sensorEvents bool) (Wild, error) {
	p, err := RandomParams(equipment, seed)
	if err != nil {
		return Wild{}, err
	}
	d := draws{n: noise(seed).stream(streamWild)}
	d.build(&p)
	c := Config{
		Equipment: equipment, Seed: seed, Start: start, Step: 10 * time.Second,
		SampleEvery: []time.Duration{time.Minute, 30 * time.Second, 2 * time.Minute, 5 * time.Minute}[d.pick(.62, .12, .2, .06)],
		Extras:      d.chance(.25), ZoneHumidity: d.chance(.15),
	}
	c.Site = Site{Seed: seed, Climate: &Climate{
		MeanC: d.between(14, 26), SeasonK: d.between(1, 8), DailyK: d.between(0.5, 5), WeatherK: d.between(0.8, 3), Humidity: d.between(40, 62),
	}}
	c.Flaws = d.flaws()
	c.Events = d.events(p, seed, start, end)
	if sensorEvents {
		c.Flaws.Events = []SensorEvent{d.sensorEvent(p, start+(end-start)/2)}
	}
	c.Params = &p
	w := Wild{Config: c, seed: noise(seed).stream(streamArrivals), lost: c.Flaws.Lost}
	for at := start + rimewatch.Time(d.between(5, 60))*rimewatch.Day; at < end; at += rimewatch.Time(d.between(10, 120)) * rimewatch.Day {
		cut := at + rimewatch.Time(d.between(0, 24))*rimewatch.Hour
		w.Cut = append(w.Cut, Fault{Name: "power_failure", Severity: 1, Onset: cut, End: cut + rimewatch.Time(d.between(2, 75))*rimewatch.Minute})
	}
	w.Config.Faults = w.Cut
	return w, nil
}

// build draws how the unit is made.
func (d *draws) build(p *Params) {
	b := &p.Build
	heated, small := p.DefrostW > 0, p.Displacement < 0.8e-3
	b.Capillary = small && d.chance(.7) || d.chance(.08)
	b.Drive = [...]Drive{FixedSpeed, VariableSpeed, DigitalScroll}[d.pick(.84, .11, .05)]
	b.Trigger = [...]Trigger{ByClock, ByRunTime, OnDemand}[d.pick(.66, .2, .14)]
	b.HotGas = heated && d.chance(.25)
	b.FansCycle = heated && d.chance(.35) // off-cycle melting needs the air
	b.QuietValves = d.between(0, 1.3)
	b.MeterAll = d.chance(.25)
	b.LightAmps = d.between(0, .12) * p.RatedAmps
	b.ClosedSundays = d.chance(.4)
	b.MinHead = d.between(16, 34)
	p.Defrosts *= []float64{0.5, 1, 1.5, 2}[d.pick(.15, .6, .15, .1)]
	if p.Trigger == OnDemand && heated {
		p.Defrosts = max(p.Defrosts, 1)
	}
	p.DefrostS *= d.between(.8, 1.3)
	p.ZoneLag *= d.between(.5, 2.5)
	p.HeatLoss *= d.between(.8, 1.2)
}

// flaws draws those of the sensors.
func (d *draws) flaws() (s Flaws) {
	switch d.pick(.4, .25, .15, .2) {
	case 1:
		for f := range firstHumidity {
			s.Step[f] = 0.5
		}
	case 2:
		s.Fahrenheit = true
	case 3:
		for f := range firstHumidity {
			s.Step[f] = []float64{0.1, 0.25, 1}[d.pick(.4, .4, .2)]
		}
	}
	for f := range firstHumidity {
		s.Bias[f] = d.between(-1, 1)
		s.Noise[f] = d.between(0, .25)
	}
	s.Bias[rimewatch.Humidity] = d.between(-4, 4)
	s.Step[rimewatch.AmpDraw] = []float64{0, 0.05, 0.1}[d.pick(.5, .3, .2)]
	s.Step[rimewatch.Voltage] = []float64{0, 1}[d.pick(.5, .5)]
	s.Spikes = []float64{0, 0.002, 0.01}[d.pick(.4, .3, .3)]
	s.Lost = []float64{0, 0.01, 0.1}[d.pick(.5, .4, .1)]
	return s
}

// events draws what people do: deliveries, set-points, large loads.
func (d *draws) events(p Params, seed uint64, start, end rimewatch.Time) []Event {
	events := Deliveries(p, seed, start, end, 0)
	shift := 2.5
	if p.Setpoint > -5 {
		shift = 1.2
	}
	set := p.Setpoint
	for at := start + rimewatch.Time(d.between(8, 50))*rimewatch.Day; at < end; at += rimewatch.Time(d.between(25, 90)) * rimewatch.Day {
		at := at + rimewatch.Time(d.between(6, 20)*float64(rimewatch.Hour))
		switch d.pick(.45, .35, .2) {
		case 0:
			to := set + d.between(-shift, shift)
			if set != p.Setpoint {
				to = set // back where it was
			}
			events = append(events, Event{At: at, Kind: SetpointChange, Value: to})
		case 1:
			events = append(events, Event{At: at, Kind: Loading, Value: d.between(2, 7) * p.ProductC})
		default:
			events = append(events, Event{At: at, Kind: DoorHeld, Value: d.between(300, 2400)})
		}
	}
	return events
}

// sensorEvent draws one thing that happens to a sensor, which the unit may lack.
func (d *draws) sensorEvent(p Params, at rimewatch.Time) SensorEvent {
	e := SensorEvent{At: at, Kind: SensorEventKind(d.pick(.25, .15, .15, .12, .1, .13, .1))}
	thermal := [...]rimewatch.Field{rimewatch.ProductZoneTemp, rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp, rimewatch.AmbientTemp}
	e.Field = thermal[int(d.uniform()*4)]
	sign := []float64{-1, 1}[d.pick(.5, .5)]
	switch e.Kind {
	case SensorShift:
		e.Value = sign * d.between(3, 9)
	case SensorScale:
		e.Field = []rimewatch.Field{rimewatch.AmpDraw, rimewatch.VibrationLevel}[d.pick(.5, .5)]
		e.Value = []float64{0.001, 0.8, 1.25, 1.6}[d.pick(.2, .25, .25, .3)]
		if e.Field == rimewatch.VibrationLevel && e.Value < 0.01 {
			e.Value = 25.4 // in/s turned into mm/s
		}
	case SensorSlide:
		e.Value = sign * d.between(.15, .5)
	case SensorFrozen:
		e.Value = []float64{p.Setpoint + 1, 64.3, 9.5, 22.4}[e.Field]
	case SensorNoisy:
		e.Value = d.between(4, 10)
	case SensorFahrenheit: // of the field that was drawn
	case SensorSwap:
		e.Field, e.With = rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp
	}
	return e
}

// Arrives reports whether the reading measured at a moment reaches the service:
// single ones get lost, and now and then nothing comes for hours.
func (w *Wild) Arrives(at rimewatch.Time) bool {
	day := int64(at / rimewatch.Day)
	if w.seed.uniform(4*day) < 0.05 {
		from := rimewatch.Time(day)*rimewatch.Day + rimewatch.Time(w.seed.uniform(4*day+1)*float64(20*rimewatch.Hour))
		length := 10*rimewatch.Minute + rimewatch.Time(w.seed.uniform(4*day+2)*float64(4*rimewatch.Hour))
		if at >= from && at < from+length {
			return false
		}
	}
	return w.seed.uniform(int64(at)^1<<61) >= w.lost
}
