package demo

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// What everything is about, as people see it.
const (
	workspaceName = "Demo Market"
	ownerEmail    = "demo@rimewatch.example"
	timeZone      = "Europe/Berlin"
)

// How far back the demo goes.
const (
	usualPast   = 48 * rimewatch.Hour
	foulingPast = 21 * rimewatch.Day
	slippedPast = 12 * rimewatch.Day
	deadPast    = 9 * rimewatch.Day
	pastEvery   = rimewatch.Minute
)

// place is a site of the market.
type place struct {
	name, address string
	seed          uint64
	climate       *simulate.Climate // nil draws one
}

// The air in Harbour Street is conditioned. With weather as usual, one in forty moments at which
// somebody starts a demo follows days that show the fouling late, or as another fault.
var places = [...]place{
	{"Harbour Street", "Harbour Street 12", 101, &simulate.Climate{MeanC: 22.5, SeasonK: 0.5, DailyK: 1.5, WeatherK: 0.3, Humidity: 50}},
	{"Market Hall", "Market Square 3", 102, nil},
}

// trouble is a fault of a device.
type trouble uint8

const (
	healthy trouble = iota
	fouling
	doorOpen
	powerLoss
	brownOut
	slipped
	mistyped
	dead
)

// story returns the visible events.
func (t trouble) story() string {
	switch t {
	case fouling:
		return "its condenser has been fouling for two weeks"
	case doorOpen:
		return "its door was left open; someone will close it in ten minutes"
	case powerLoss:
		return "has been without power for hours; it comes back in three minutes"
	case brownOut:
		return "its supply is about to sag; it recovers two minutes later"
	case slipped:
		return "its suction probe slipped off the pipe four days ago"
	case dead:
		return "its contactor has just failed; a technician replaces it in fifty minutes"
	case mistyped:
		return "nobody judges it: it was registered with a type that does not exist"
	default:
		return ""
	}
}

// fixture is a device of the market.
type fixture struct {
	name, equipment     string
	manufacturer, model string
	place               int
	trouble             trouble
}

var fixtures = [...]fixture{
	{"Walk-in freezer", "walkin_freezer", "Norvik", "WF-240", 0, fouling},
	{"Walk-in cooler", "walkin_cooler", "Norvik", "WC-260", 0, healthy},
	{"Dairy multideck", "display_case_open", "Halden", "MD-375", 0, healthy},
	{"Drinks merchandiser", "display_case_closed", "Halden", "GD-2", 0, brownOut},
	{"Ice-cream cabinet", "ice_cream_cabinet", "Polarin", "IC-600", 0, dead},
	{"Kitchen reach-in", "reach_in_cooler", "Polarin", "RC-49", 0, healthy},
	{"Reach-in freezer", "reach_in_freezer", "Polarin", "RF-23", 1, healthy},
	{"Sandwich prep table", "prep_table", "Polarin", "PT-60", 1, mistyped},
	{"Fish cooler", "fish_cooler", "Norvik", "FC-80", 1, doorOpen},
	{"Meat cooler", "meat_cooler", "Norvik", "MC-110", 1, slipped},
	{"Bottle cooler", "beverage_cooler", "Halden", "BC-3", 1, healthy},
	{"Pharmacy refrigerator", "vaccine_refrigerator", "Medikalt", "VR-140", 1, powerLoss},
}

func (f *fixture) serial() string {
	return simulate.SerialPrefix(f.equipment) + "-0001"
}

// registered is the type that people gave it.
func (f *fixture) registered() string {
	if f.trouble == mistyped {
		return "sandwich_unit"
	}
	return f.equipment
}

// past is how much of a device's past is simulated.
func (f *fixture) past() rimewatch.Time {
	switch f.trouble {
	case fouling:
		return foulingPast
	case slipped:
		return slippedPast
	case dead:
		return deadPast
	default:
		return usualPast
	}
}

// config lets a fixture live until now and on.
func (f *fixture) config(seed uint64, now rimewatch.Time, every time.Duration, offset time.Duration) simulate.Config {
	c := simulate.Config{
		Equipment: f.equipment, Seed: seed, Start: now - f.past(), SampleEvery: every,
		Site:   simulate.Site{Seed: places[f.place].seed, Offset: offset, Climate: places[f.place].climate},
		Faults: f.faults(now),
		// Norvik's controllers also report defrosts, doors and starts, and so does that of one freezer.
		Extras: f.manufacturer == "Norvik" || f.equipment == "reach_in_freezer",
		// Two units have gauges on the circuit and a meter.
		Meters: f.trouble == fouling || f.equipment == "reach_in_cooler",
	}
	if f.trouble == slipped {
		c.Flaws.Events = []simulate.SensorEvent{{At: now - slippedSince, Kind: simulate.SensorShift, Field: rimewatch.CompressorSuctionTemp, Value: slippedBy}}
	}
	p, err := simulate.TypicalParams(f.equipment)
	switch {
	case err != nil:
	case f.trouble == fouling: // a monoblock, like most of its kind but for the capillary tube that feeds it
		p.Capillary = true
		c.Params = &p
	case f.equipment == "reach_in_freezer":
		// Its controller counts running hours to the next defrost instead of following
		// a clock, and it is defrosting when somebody looks first.
		p.Trigger = simulate.ByRunTime
		c.Params = &p
		return defrosting(c, now)
	}
	return c
}

// defrosting has a unit that counts running hours count some minutes more or fewer
// of them, so that a defrost has just begun at a moment.
func defrosting(c simulate.Config, at rimewatch.Time) simulate.Config {
	want, usual := at-defrostSince, *c.Params
	nth := len(defrosts(&c, at))
	tried := c
	for range 10 {
		all := defrosts(&tried, at+8*rimewatch.Hour)
		if nth == 0 || len(all) < nth {
			break
		}
		off := all[nth-1] - want
		if max(off, -off) <= 5*rimewatch.Minute {
			return tried
		}
		p := *tried.Params
		p.Defrosts *= float64(all[nth-1]-c.Start) / float64(want-c.Start)
		if p.Defrosts < .8*usual.Defrosts || p.Defrosts > 1.2*usual.Defrosts {
			break
		}
		tried.Params = &p
	}
	return c
}

// defrosts returns when the unit's defrosts until a moment begin.
func defrosts(c *simulate.Config, until rimewatch.Time) (all []rimewatch.Time) {
	u, err := simulate.New(*c)
	if err != nil {
		return nil // it is said when the unit is made
	}
	for melting := false; u.NextAt() <= until; {
		r := u.Next()
		if was := melting; u.Truth().Defrosting != was {
			if melting = !was; melting {
				all = append(all, r.At)
			}
		}
	}
	return all
}

// What happens when, seen from the start. The short troubles come again for a
// week.
const (
	foulingFor  = 15 * rimewatch.Day
	foulingRamp = 18 * 24 * time.Hour

	doorSince = 3 * rimewatch.Hour
	doorUntil = 10 * rimewatch.Minute
	doorAgain = 8 * rimewatch.Hour

	powerSince = 4 * rimewatch.Hour
	powerUntil = 3 * rimewatch.Minute
	powerAgain = 9 * rimewatch.Hour

	slippedSince = 100 * rimewatch.Hour
	slippedBy    = 9 // K: it hangs in the warmer air beside the pipe

	deadSince = 10 * rimewatch.Minute
	deadUntil = 50 * rimewatch.Minute
	deadAgain = 9 * rimewatch.Hour

	defrostSince = 10 * rimewatch.Minute

	sagFrom  = 10 * rimewatch.Second
	sagUntil = 150 * rimewatch.Second
	sagAgain = 5 * rimewatch.Hour

	again = 7 * rimewatch.Day
)

func (f *fixture) faults(now rimewatch.Time) []simulate.Fault {
	switch f.trouble {
	case fouling:
		return []simulate.Fault{{Name: "condenser_fouling", Severity: 0.8, Onset: now - foulingFor, Profile: simulate.Linear, Ramp: foulingRamp}}
	case doorOpen:
		return repeated("door_open", now-doorSince, now+doorUntil, doorAgain)
	case powerLoss:
		return repeated("power_failure", now-powerSince, now+powerUntil, powerAgain)
	case dead:
		return repeated("contactor_open", now-deadSince, now+deadUntil, deadAgain)
	case brownOut:
		return repeated("voltage_sag", now+sagFrom, now+sagUntil, sagAgain)
	default:
		return nil
	}
}

// repeated is a fault that comes back every so often.
func repeated(name string, from, to, every rimewatch.Time) []simulate.Fault {
	var all []simulate.Fault
	for shift := rimewatch.Time(0); shift < again; shift += every {
		all = append(all, simulate.Fault{Name: name, Onset: from + shift, End: to + shift})
	}
	return all
}
