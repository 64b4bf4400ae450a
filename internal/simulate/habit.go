package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Event is something that people do to a unit.
type Event struct {
	At    rimewatch.Time
	Kind  EventKind
	Value float64
}

// EventKind is the kind of an act of people.
type EventKind uint8

// The events.
const (
	SetpointChange EventKind = iota // Value is the new Params.Setpoint, °C
	Loading                         // warm goods put in, Value is the heat they bring, J
	DoorHeld                        // the door held open, Value is for how long, s
)

// Deliveries are the events of a unit that gets goods on two mornings a week:
// the door is held open for some minutes and the goods are a little warm. The
// offset is that of local time from UTC. Pass them as Config.Events.
func Deliveries(p Params, seed uint64, from, to rimewatch.Time, offset time.Duration) []Event {
	n := noise(seed).stream(streamDeliveries)
	shift := rimewatch.Time(offset.Milliseconds())
	// Day 0 of the epoch was a Thursday.
	first, second := int64(n.uniform(0)*3), 3+int64(n.uniform(1)*3)
	var events []Event
	for day := int64((from + shift) / rimewatch.Day); day <= int64((to+shift)/rimewatch.Day); day++ {
		if weekday := (day + 3) % 7; weekday != first && weekday != second { // Monday is 0
			continue
		}
		at := rimewatch.Time(day)*rimewatch.Day - shift + rimewatch.Time(n.between(4*day+2, 7, 10)*float64(rimewatch.Hour))
		if at < from || at > to {
			continue
		}
		if p.DoorsAnHr > 0 {
			events = append(events, Event{At: at, Kind: DoorHeld, Value: n.between(4*day+3, 2, 6) * p.DoorS})
		}
		events = append(events, Event{At: at, Kind: Loading, Value: n.between(4*day+4, 0.3, 1.5) * p.ProductC})
	}
	return events
}

// planned are the events of a unit in order. What was done before it is first
// looked at has worn off, except that a set-point stays as it was left.
func planned(events []Event, from rimewatch.Time, p *Params) []Event {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	past := 0
	for past < len(events) && events[past].At < from {
		if events[past].Kind == SetpointChange {
			p.Setpoint = events[past].Value
		}
		past++
	}
	return events[past:]
}
