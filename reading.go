package rimewatch

import (
	"iter"
	"math/bits"
	"slices"
)

// Flag identifies a yes/no observation by its number, which is stored like that
// of a Field: it never changes and is never used again.
type Flag uint8

// The observations, all of them optional.
const (
	CompressorOn  Flag = 0
	DefrostActive Flag = 1
	DoorOpen      Flag = 2
	NumFlags      Flag = 3
)

// ClockUnset is set in the readings of a device whose clock shows a time that cannot be:
// they have that of their arrival. It is no observation, and follows these in the store.
const ClockUnset Flag = 3

// Imported is set in readings of a file that somebody brought: they complete the record, and
// neither are a sign of life nor raise an alert. It is no observation, and follows ClockUnset
// in the store.
const Imported Flag = 4

var flagNames = [NumFlags]string{
	CompressorOn:  "compressor_on",
	DefrostActive: "defrost_active",
	DoorOpen:      "door_open",
}

// String returns the observation's name on the wire.
func (x Flag) String() string {
	if x >= NumFlags {
		return "unknown"
	}
	return flagNames[x]
}

// FlagByName finds an observation by its exact name on the wire.
func FlagByName(name string) (Flag, bool) {
	i := slices.Index(flagNames[:], name)
	return Flag(max(i, 0)), i >= 0
}

// Flags holds the yes/no observations of a reading. Observation x has bit 2x for
// "was sent" and bit 2x+1 for its value.
type Flags uint32

// Bool returns an observation; ok is false where it was not sent.
func (f Flags) Bool(x Flag) (value, ok bool) { return f>>(2*x)&2 != 0, f>>(2*x)&1 != 0 }

// WithBool returns the flags with an observation added.
func (f Flags) WithBool(x Flag, value bool) Flags {
	f = f&^(3<<(2*x)) | 1<<(2*x)
	if value {
		f |= 2 << (2 * x)
	}
	return f
}

// Reading is a device's measurements of one moment. A measurement that is not in
// Present was not sent, was null, or came from a broken sensor (then it is in
// Faults). Within a device At is unique.
type Reading struct {
	At         Time             // when it was measured (recorded_at)
	ReceivedAt Time             // when the service took it; answers say Received
	Values     [NumCore]float64 // the core measurements; 0 where absent
	Optional   []float64        // the optional measurements that are present, by their numbers; shared by copies, so never changed in place
	Present    Fields
	Faults     Fields // sensors that reported a sentinel instead of a measurement
	Flags      Flags
}

// Promptly is the time from measurement to arrival that a reading takes at most unless it
// comes from a backlog.
const Promptly = Minute

// Received is the moment of arrival as answers say it and as the store keeps it in the end:
// within a second of ReceivedAt, and never on the other side of At. Of a reading that
// came promptly it is At and the whole seconds that passed; of one that came later, the
// clock's second, so that a backlog, which arrives all at once, has one moment of arrival.
func (r *Reading) Received() Time {
	if second := r.ReceivedAt.FloorSecond(); second-r.At >= Promptly {
		return second
	}
	return r.At + (r.ReceivedAt-r.At)/Second*Second
}

// Value returns one measurement; ok is false where it is absent.
func (r *Reading) Value(f Field) (v float64, ok bool) {
	if f < NumCore {
		return r.Values[f], r.Present.Has(f)
	}
	return r.optional(f)
}

// Set stores one measurement.
func (r *Reading) Set(f Field, v float64) {
	if f < NumCore {
		r.Values[f] = v
		r.Present |= 1 << f
		return
	}
	r.setOptional(f, v)
}

// slot returns where in Optional the measurement is, or would be.
func (r *Reading) slot(f Field) int {
	return bits.OnesCount32(uint32(r.Present & (1<<f - 1) &^ CoreFields))
}

func (r *Reading) optional(f Field) (v float64, ok bool) {
	if !r.Present.Has(f) {
		return 0, false
	}
	return r.Optional[r.slot(f)], true
}

// setOptional replaces Optional, which copies of the reading share.
func (r *Reading) setOptional(f Field, v float64) {
	at := r.slot(f)
	if r.Present.Has(f) {
		r.Optional = slices.Clone(r.Optional)
		r.Optional[at] = v
		return
	}
	grown := make([]float64, len(r.Optional)+1)
	copy(grown, r.Optional[:at])
	grown[at] = v
	copy(grown[at+1:], r.Optional[at:])
	r.Optional = grown
	r.Present = r.Present.With(f)
}

// All returns the measurements that are present, by their numbers.
func (r *Reading) All() iter.Seq2[Field, float64] {
	return func(yield func(Field, float64) bool) {
		for f, v := range r.Values {
			if r.Present.Has(Field(f)) && !yield(Field(f), v) {
				return
			}
		}
		i := 0
		for f := range (r.Present &^ CoreFields).All() {
			if !yield(f, r.Optional[i]) {
				return
			}
			i++
		}
	}
}

// Without returns the reading without the measurements that another of the same moment has:
// equal or not, the other's values are kept.
func (r *Reading) Without(other *Reading) Reading {
	had := other.Present | other.Faults
	if (r.Present|r.Faults)&had == 0 && r.Flags&other.Flags.sent() == 0 {
		return *r
	}
	out := Reading{At: r.At, ReceivedAt: r.ReceivedAt, Faults: r.Faults &^ had, Flags: r.Flags &^ other.Flags.sent()}
	for f, v := range r.All() {
		if !had.Has(f) {
			out.Set(f, v)
		}
	}
	if out.Empty() { // a mark of the whole reading is none by itself
		out.Flags = 0
	}
	return out
}

// sent returns both bits of each flag that was sent.
func (f Flags) sent() Flags {
	const was = 0x55555555
	return f&was | f&was<<1
}

// Conflicts returns the measurements of which both readings have a value, and not the same.
func (r *Reading) Conflicts(other *Reading) (set Fields) {
	for f, v := range r.All() {
		if x, ok := other.Value(f); ok && x != v {
			set = set.With(f)
		}
	}
	return set
}

// Heartbeat is a sign of life with the device's own state. Zero and nil mean
// not sent.
type Heartbeat struct {
	Offline            bool // the device announces a planned shutdown
	SentAt             Time
	FirmwareVersion    string
	BatteryPct         *float64 // 0–100
	BatteryLow         *bool    // by the device's own word
	BatteryLowPct      int      // level at which senders of its kind are low, 0 = not known
	RSSI               *float64 // dBm
	UptimeS            *int64
	HeartbeatIntervalS int   // s, 0 = not declared
	Habit              Habit // of senders of its kind, "" = not known
}

// Empty reports whether there is neither a measurement nor a state in the reading, nor a
// broken sensor.
func (r *Reading) Empty() bool {
	return r.Present|r.Faults == 0 && r.Flags&(1<<(2*NumFlags)-1) == 0
}

// Implausible returns the core measurements of the reading that are not plausible.
func (r *Reading) Implausible() (set Fields) {
	for f := range NumCore {
		v := r.Values[f]
		if b := &surely[f]; v >= b.low && v <= b.high {
			continue
		}
		if r.Present.Has(f) && !f.Plausible(v) {
			set = set.With(f)
		}
	}
	return set
}

// Count is the course of a counter over readings that follow one another. The zero Count
// is that of no value at all.
type Count struct {
	First, Last float64
	Increase    float64 // what was counted from First to Last
	Known       bool    // there is a value
	Restarted   bool    // it began again from 0 between First and Last
}

// CountOf is the Count of one value.
func CountOf(v float64) Count { return Count{First: v, Last: v, Known: true} }

// Then returns the Count of c and of next, which follows it. A counter that is lower
// than before has restarted from 0.
func (c Count) Then(next Count) Count {
	switch {
	case !next.Known:
		return c
	case !c.Known:
		return next
	}
	both := Count{First: c.First, Last: next.Last, Known: true, Restarted: c.Restarted || next.Restarted}
	switch {
	case next.First < c.Last:
		both.Restarted = true
		both.Increase = c.Increase + next.First + next.Increase
	case both.Restarted:
		both.Increase = c.Increase + (next.First - c.Last) + next.Increase
	default:
		both.Increase = both.Last - both.First // which leaves no errors of adding up
	}
	return both
}
