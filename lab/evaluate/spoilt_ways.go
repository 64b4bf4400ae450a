package evaluate

import (
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// spoil is a way in which what arrives of a unit is not what it measured, or not of the
// unit that it is said to be.
type spoil struct {
	name string
	due  []rimewatch.AlertType // any of which has to report it; none = nothing is to be raised
	note string                // what the product says or does beside alerts
	make func(c *spoiling)     // nil = it is left as it is
}

var (
	sensorDue  = []rimewatch.AlertType{rimewatch.SensorFault, rimewatch.SensorStale}
	offlineDue = []rimewatch.AlertType{rimewatch.DeviceOffline}
	warmDue    = []rimewatch.AlertType{rimewatch.HighTemperature, rimewatch.LowTemperature}
)

// spoils are all ways: first the unit as it is, to compare with.
var spoils = slices.Concat(
	[]spoil{{name: "nothing", note: "what such units bring anyway"}},
	eachField("constant", constant),
	eachField("null", null),
	[]spoil{
		{name: "a text for a number", due: offlineDue, note: "each row is refused with the field and why", make: func(c *spoiling) { c.texts = true }},
		{name: "every row twice", note: "a duplicate changes nothing", make: twice},
		{name: "twelve hours, newest first", due: offlineDue, note: "late rows are stored and judged no more", make: reversed},
		{name: "a reading a second (5 days)", make: func(c *spoiling) { c.sampled(time.Second, 5) }},
		{name: "a reading every 10 s", make: func(c *spoiling) { c.sampled(10*time.Second, spoiltDays) }},
		{name: "a reading every 5 min", make: func(c *spoiling) { c.sampled(5*time.Minute, spoiltDays) }},
		{name: "a reading every 60 min", note: "predicts nothing: it cannot see runs", make: func(c *spoiling) { c.sampled(time.Hour, spoiltDays) }},
		{name: "clock 3 min ahead", note: "judged at its arrival", make: func(c *spoiling) { c.clock(3 * rimewatch.Minute) }},
		{name: "clock 2 h ahead", due: offlineDue, note: "each row is refused: “must not be more than 5 minutes in the future”", make: func(c *spoiling) { c.clock(2 * rimewatch.Hour) }},
		{name: "clock 20 min back", note: "judged by when they arrive; its page says that its clock is wrong", make: func(c *spoiling) { c.clock(offGrid - 20*rimewatch.Minute) }},
		{name: "clock 7 h back", note: "likewise", make: func(c *spoiling) { c.clock(offGrid - 7*rimewatch.Hour) }},
		{name: "clock 9 days back", note: "likewise", make: func(c *spoiling) { c.clock(offGrid - 9*rimewatch.Day) }},
		{name: "clock 7 h back to the millisecond", due: offlineDue, note: "for 7 h its rows are duplicates by their times", make: func(c *spoiling) { c.clock(-7 * rimewatch.Hour) }},
		{name: "°F from the start", due: sensorDue, make: func(c *spoiling) { c.always(); c.fahrenheit() }},
		{name: "°F from a day on", due: sensorDue, make: (*spoiling).fahrenheit},
		{name: "wrong equipment type", due: warmDue, make: otherType},
		{name: "suction and discharge swapped from the start", due: sensorDue, make: func(c *spoiling) {
			c.always()
			c.swap(rimewatch.CompressorSuctionTemp, rimewatch.CompressorDischargeTemp)
		}},
		{name: "suction and discharge swapped from a day on", due: sensorDue, make: func(c *spoiling) {
			c.swap(rimewatch.CompressorSuctionTemp, rimewatch.CompressorDischargeTemp)
		}},
		{name: "zone and ambient swapped from the start", due: slices.Concat(sensorDue, warmDue), make: func(c *spoiling) {
			c.always()
			c.swap(rimewatch.ProductZoneTemp, rimewatch.AmbientTemp)
		}},
		{name: "zone and ambient swapped from a day on", due: slices.Concat(sensorDue, warmDue), make: func(c *spoiling) {
			c.swap(rimewatch.ProductZoneTemp, rimewatch.AmbientTemp)
		}},
		{name: "off for a week, its device is not", due: slices.Concat([]rimewatch.AlertType{rimewatch.PowerLoss}, warmDue), make: off},
		{name: "off for a week with its device", due: offlineDue, make: silent},
		{name: "moved to where it is 12 K warmer", make: func(c *spoiling) { c.moved(12) }},
		{name: "moved to where it is 12 K colder", make: func(c *spoiling) { c.moved(-12) }},
	},
)

// eachField is a way for every core measurement.
func eachField(name string, make func(c *spoiling, f rimewatch.Field)) (list []spoil) {
	for f := range rimewatch.NumCore {
		list = append(list, spoil{name: name + ": " + f.String(), due: sensorDue, make: func(c *spoiling) {
			c.fields = 1 << f
			make(c, f)
		}})
	}
	return list
}

// since calls change with every reading from the moment on from which it is spoilt.
func (c *spoiling) since(change func(a *arrival)) {
	for i := range c.list {
		if c.list[i].now >= c.from {
			change(&c.list[i])
		}
	}
}

// always says that it was never right.
func (c *spoiling) always() { c.from = c.start }

func constant(c *spoiling, f rimewatch.Field) {
	held, has := 0.0, false
	c.since(func(a *arrival) {
		if !has {
			held, has = a.Value(f)
		}
		if a.Present.Has(f) {
			a.Values[f] = held
		}
	})
}

func null(c *spoiling, f rimewatch.Field) {
	c.since(func(a *arrival) { a.Present, a.Faults, a.Values[f] = a.Present&^(1<<f), a.Faults&^(1<<f), 0 })
}

// twice hands every row over once more, a few seconds later.
func twice(c *spoiling) {
	list := make([]arrival, 0, 2*len(c.list))
	for i := range c.list {
		list = append(list, c.list[i])
		if a := c.list[i]; a.now >= c.from {
			a.now += 3 * rimewatch.Second
			list = append(list, a)
		}
	}
	c.list = list
}

// reversed has a device that is cut off for twelve hours send what it measured meanwhile
// from the newest to the oldest.
func reversed(c *spoiling) {
	to := c.from + 12*rimewatch.Hour
	first := slices.IndexFunc(c.list, func(a arrival) bool { return a.now >= c.from })
	last := slices.IndexFunc(c.list, func(a arrival) bool { return a.now >= to })
	if first < 0 || last < 0 {
		return
	}
	slices.Reverse(c.list[first:last])
	for i := first; i < last; i++ {
		c.list[i].now = c.list[last].now
	}
}

// sampled draws the unit once more with another time between readings.
func (c *spoiling) sampled(every time.Duration, days rimewatch.Time) {
	cfg := c.wild.Config
	cfg.SampleEvery = every
	c.always()
	c.end = c.start + days*rimewatch.Day
	c.list, c.err = arrivals(c.wild, cfg, c.start, c.end)
}

// offGrid keeps readings of a clock that was set back apart from those that were stored
// before: the times of a unit of the simulator lie on whole minutes or parts of them.
const offGrid = 17 * rimewatch.Second

// clock has the device's clock be ahead by so much.
func (c *spoiling) clock(by rimewatch.Time) { c.since(func(a *arrival) { a.At += by }) }

func (c *spoiling) fahrenheit() {
	c.fields = 1<<rimewatch.Humidity - 1
	c.since(func(a *arrival) {
		for f := range rimewatch.Humidity {
			if a.Present.Has(f) {
				a.Values[f] = a.Values[f]*1.8 + 32
			}
		}
	})
}

func (c *spoiling) swap(f, with rimewatch.Field) {
	c.fields = 1<<f | 1<<with
	c.since(func(a *arrival) { a.Values[f], a.Values[with] = a.Values[with], a.Values[f] })
}

// otherType declares the unit as a type that keeps its goods at least 5 K warmer or
// colder.
func otherType(c *spoiling) {
	c.always()
	is, _ := rimewatch.EquipmentBySlug(c.equipment)
	for _, k := range c.Perm(len(c.equipments)) {
		other, _ := rimewatch.EquipmentBySlug(c.equipments[k])
		if is.Setpoint == nil || other.Setpoint == nil || max(*is.Setpoint-*other.Setpoint, *other.Setpoint-*is.Setpoint) < 5 {
			continue
		}
		c.equipment = other.Slug
		return
	}
	c.none = true
}

// off cuts the power of the unit for a week while its device sends on.
func off(c *spoiling) {
	until := c.from + 7*rimewatch.Day
	cfg := c.wild.Config
	cfg.Faults = append(slices.Clone(c.wild.Cut), simulate.Fault{Name: "power_failure", Severity: 1, Onset: c.from, End: until})
	c.right = until + rimewatch.Day // until it is cold again
	c.list, c.err = arrivals(c.wild, cfg, c.start, c.end)
}

func silent(c *spoiling) {
	until := c.from + 7*rimewatch.Day
	c.list = slices.DeleteFunc(c.list, func(a arrival) bool { return a.now >= c.from && a.now < until })
}

// moved puts the unit to another place, where it starts anew six hours later.
func (c *spoiling) moved(by float64) {
	there, cfg := *c.wild.Config.Site.Climate, c.wild.Config
	there.MeanC += by
	cfg.Site.Climate = &there
	begins := c.from + 6*rimewatch.Hour
	list, err := arrivals(c.wild, cfg, begins, c.end)
	c.list = append(slices.DeleteFunc(c.list, func(a arrival) bool { return a.now >= c.from }), list...)
	c.err = err
}
