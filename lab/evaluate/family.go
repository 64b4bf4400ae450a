package evaluate

import (
	"math"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/lab/foreign"
)

// family is a set of equations that units are simulated by. What holds on one of them
// alone was fitted to it.
type family struct {
	name  string
	types []string
	play  func(d *drawn) (*played, error)
}

// drawn is a unit that is about to be played: healthy where cause is nil.
type drawn struct {
	equipment   string
	seed        uint64
	start, end  rimewatch.Time
	cause       *cause
	onset       rimewatch.Time
	healthyTwin bool
}

// played is what a unit sent and what was true of it meanwhile.
type played struct {
	*life
	sample  time.Duration
	excused func(is truth, typ rimewatch.AlertType, at rimewatch.Time) bool // an alert that is right although nothing ails the unit
}

// families are those at hand. The second was written without reading the first.
func families() [2]family {
	return [2]family{{"first", wildTypes(), playFirst}, {"second", foreign.Types(), playSecond}}
}

func playFirst(d *drawn) (*played, error) {
	wild, err := simulate.Draw(d.equipment, d.seed, d.start, d.end, false)
	if err != nil {
		return nil, err
	}
	faults := slices.Clone(wild.Cut)
	c := d.cause
	if d.healthyTwin {
		c = nil
	}
	if c != nil && slices.Contains(simulate.FaultNames(), c.first) {
		f := simulate.Fault{Name: c.first, Severity: c.firstSize, Onset: d.onset}
		if c.ramp > 0 {
			f.Profile, f.Ramp = simulate.Linear, c.ramp
		}
		faults = append(faults, f)
	} else if c != nil {
		return playPeople(d, &wild, faults)
	}
	l, err := live(&wild, faults, d.end)
	if err != nil {
		return nil, err
	}
	return ofFirst(l, &wild), nil
}

func ofFirst(l *life, wild *simulate.Wild) *played {
	return &played{l, wild.Config.SampleEvery, func(is truth, typ rimewatch.AlertType, at rimewatch.Time) bool {
		return explained(wild, is, typ, at)
	}}
}

// playPeople plays what people do to a unit of the first family. Where its equations cannot change amid a life, it
// is that of another unit from then on.
func playPeople(d *drawn, wild *simulate.Wild, faults []simulate.Fault) (*played, error) {
	before, err := live(wild, faults, d.end)
	if err != nil {
		return nil, err
	}
	other := *wild
	p := *wild.Config.Params
	other.Config.Params = &p
	other.Config.Events = slices.Clone(wild.Config.Events)
	happens := func(kind simulate.EventKind, value float64) {
		other.Config.Events = append(other.Config.Events, simulate.Event{At: d.onset, Kind: kind, Value: value})
		slices.SortStableFunc(other.Config.Events, func(a, b simulate.Event) int { return int(a.At - b.At) })
	}
	switch from := d.onset; d.cause.first {
	case neverCold:
		faults, d.onset = append(faults, simulate.Fault{Name: "refrigerant_undercharge", Severity: 1}), d.start
	case raisedSetpoint:
		happens(simulate.SetpointChange, p.Setpoint+10)
	case loweredSetpoint:
		happens(simulate.SetpointChange, p.Setpoint-10)
	case emptied:
		p.ProductC /= 10
	case filled:
		happens(simulate.Loading, 0.5*15*p.ProductC)
	case movedAway:
		air := *other.Config.Site.Climate
		air.MeanC += 8
		other.Config.Site.Climate = &air
		faults = append(faults, simulate.Fault{Name: "thermostat_stuck_off", Severity: 1, Onset: from, End: from + 3*rimewatch.Hour})
	case largerCompressor:
		p.Displacement *= 1.4
	case wrongWire:
		other.Config.Seed++
	}
	after, err := live(&other, faults, d.end)
	if err != nil {
		return nil, err
	}
	return ofFirst(spliced(before, after, d), &other), nil
}

// spliced is one life up to the onset of a cause and another from then on, as its sensors show it.
func spliced(l, after *life, d *drawn) *life {
	drain, odd := math.NaN(), false
	at := func(r rimewatch.Reading) int { return int(r.At - d.onset) }
	i, _ := slices.BinarySearchFunc(l.readings, 0, func(r rimewatch.Reading, _ int) int { return at(r) })
	k, _ := slices.BinarySearchFunc(after.readings, 0, func(r rimewatch.Reading, _ int) int { return at(r) })
	own, truths := l.readings[i:], l.truths[i:]
	joined := &life{equipment: l.equipment, readings: slices.Concat(l.readings[:i], after.readings[k:]), truths: slices.Concat(l.truths[:i], after.truths[k:])}
	for j := range joined.readings[i:] {
		r := &joined.readings[i+j]
		switch d.cause.first {
		case wrongWire: // all is as before but the current, which is that of another unit
			if j >= len(own) {
				return &life{equipment: l.equipment, readings: joined.readings[:i+j], truths: joined.truths[:i+j]}
			}
			amps := r.Values[rimewatch.AmpDraw]
			if *r, joined.truths[i+j] = own[j], truths[j]; r.Present.Has(rimewatch.AmpDraw) {
				r.Set(rimewatch.AmpDraw, amps)
			}
		case probeInDrain: // melt water drips on it, between defrosts it hangs in cold air
			v, has := r.Value(rimewatch.ProductZoneTemp)
			if !has {
				continue
			}
			reaches := r.Values[rimewatch.CompressorSuctionTemp] - 2
			if joined.truths[i+j]&melts != 0 {
				reaches = 1
			}
			if math.IsNaN(drain) {
				drain = v
			}
			drain += (min(reaches, v+1) - drain) * 0.05
			r.Set(rimewatch.ProductZoneTemp, drain)
		case oddReading:
			if v, has := r.Value(rimewatch.ProductZoneTemp); has && !odd {
				r.Set(rimewatch.ProductZoneTemp, v+20)
				odd = true
			}
		}
	}
	return joined
}

// playSecond draws besides the unit how often it sends, from once a second to once an
// hour, and for half of the units a share of odd readings on every channel.
func playSecond(d *drawn) (*played, error) {
	c := foreign.Config{Equipment: d.equipment, Seed: d.seed, Start: d.start, SampleEvery: sampling(d.seed)}
	if x := mixed(d.seed + 1); x%2 == 0 {
		c.Spikes = []float64{0.0001, 0.0003, 0.001}[x/2%3]
	}
	if d.cause != nil && !d.healthyTwin {
		f := foreign.Fault{Name: d.cause.second, Severity: d.cause.secondSize, Onset: d.onset, Ramp: d.cause.ramp}
		if f.Name == foreign.NeverCold {
			f.Onset = 0
		}
		c.Faults = []foreign.Fault{f}
	}
	u, err := foreign.New(c)
	if err != nil {
		return nil, err
	}
	kind, _ := rimewatch.EquipmentBySlug(d.equipment)
	n := int((d.end-d.start)/u.Sample()) + 1
	l := &life{equipment: d.equipment, readings: make([]rimewatch.Reading, 0, n), truths: make([]truth, 0, n)}
	var last, door rimewatch.Time
	cooled := d.start
	var doors []rimewatch.Time // when one had been held open for long
	for u.NextAt() < d.end {
		r, arrives := u.Next()
		is, what := u.Truth(), truth(0)
		if is.Running {
			what |= running
		}
		if is.Defrosting {
			what |= melts
		} else {
			cooled = r.At
		}
		if is.Asks && !is.Running || r.At-cooled > tooLong {
			what |= asked
		}
		if is.Frost >= icedUp {
			what |= iced
		}
		if kind.Limits.Outside(is.Goods) {
			what |= goodsOut
			last = r.At
		}
		if last != 0 && r.At-last < 6*rimewatch.Hour {
			what |= goodsWere
		}
		if !is.DoorOpen {
			door = r.At
		} else if r.At-door > 3*rimewatch.Minute {
			doors = append(doors, r.At)
		}
		if arrives {
			l.readings, l.truths = append(l.readings, r), append(l.truths, what)
		}
	}
	return &played{l, c.SampleEvery, func(is truth, typ rimewatch.AlertType, at rimewatch.Time) bool {
		outside := typ == rimewatch.HighTemperature || typ == rimewatch.LowTemperature
		i, _ := slices.BinarySearch(doors, at-4*rimewatch.Hour)
		return is&iced != 0 || outside && is&goodsOut != 0 || typ == rimewatch.ExcessiveRunTime && is&goodsWere != 0 ||
			i < len(doors) && doors[i] <= at
	}}, nil
}

// sampling is how often a unit of the second family sends: mostly once a minute.
func sampling(seed uint64) time.Duration {
	switch x := mixed(seed+2) % 40; {
	case x == 0:
		return time.Second
	case x < 4:
		return 10 * time.Second
	case x < 8:
		return 5 * time.Minute
	case x < 11:
		return 15 * time.Minute
	case x < 13:
		return time.Hour
	default:
		return time.Minute
	}
}
