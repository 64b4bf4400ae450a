package alert

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// epoch is minute 0 of every script.
const epoch = rimewatch.Time(1_800_000_000_000)

// failer is the part of testing.TB that rapid has too.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A machine is a unit and the rules that judge it, as the engine drives them.
type machine struct {
	State
	unit unit.State
}

func (m *machine) Observe(c *Config, p Presence, r *rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	return m.ObserveAll(c, p, []rimewatch.Reading{*r}, now, out)
}

// ObserveAll takes readings that arrive together.
func (m *machine) ObserveAll(c *Config, p Presence, rs []rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	var o unit.Observation
	for i := range rs {
		out = m.Arrived(c, p, &m.unit, now, out)
		m.unit.Observe(&c.Config, &rs[i], now, m.Hold(), &o)
		out = m.Judge(c, p, &m.unit, &o, now, i == len(rs)-1, out)
	}
	return out
}

func (m *machine) Tick(c *Config, p Presence, now rimewatch.Time, out []Transition) []Transition {
	return m.State.Tick(c, p, &m.unit, now, out)
}

func (m *machine) Deadline(c *Config, p Presence) rimewatch.Time {
	return m.State.Deadline(c, p, &m.unit)
}

func (m *machine) Active(yield func(Active) bool) { m.State.Active(&m.unit)(yield) }

func (m *machine) AppendBinary(b []byte) []byte { return m.State.AppendBinary(m.unit.AppendBinary(b)) }

func (m *machine) UnmarshalBinary(b []byte) error {
	var fresh machine
	rest, err := fresh.unit.DecodeBinary(b)
	if err == nil {
		rest, err = fresh.State.DecodeBinary(rest)
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return state.ErrDamaged
	}
	*m = fresh
	return nil
}

// A device is one machine with the part of the service that drives its State: a
// clock that stops at every deadline, presence, and a memory of transitions.
type device struct {
	t      failer
	c      *Config
	s      machine
	p      Presence
	now    rimewatch.Time
	silent bool // no heartbeats between the steps
	log    []Transition
	// reload, when set, replaces the state at every step by what a restart
	// would read from a checkpoint.
	reload bool
	// forgetful leaves nothing to add up: the rule of what lasts alone.
	forgetful bool
	// values is what the unit measures in "A..B" steps, minute is how many of
	// their readings there were.
	values map[string]float64
	minute int
	on, of int  // cycle: minutes of run in a cycle, 0 = as values say
	still  bool // the zone shows one number; it flickers otherwise
}

func newDevice(t failer, c *Config) *device {
	return &device{t: t, c: c, now: epoch, p: Presence{Online: true, OfflineAfter: 3 * time.Minute, LastSeen: epoch}}
}

// advance moves the clock, stopping wherever a timer of the service would.
func (u *device) advance(to rimewatch.Time) {
	for range 10000 {
		if !u.silent && u.p.Online {
			u.p.LastSeen = max(u.p.LastSeen, min(u.now, to))
		}
		next, offline := to, false
		if d := u.s.Deadline(u.c, u.p); d != 0 && max(d, u.now) < next {
			next = max(d, u.now)
		}
		if at := u.p.LastSeen.Add(u.p.OfflineAfter); u.p.Online && u.silent && at <= next {
			next, offline = max(at, u.now), true
		}
		u.now = next
		if !u.silent && u.p.Online {
			u.p.LastSeen = u.now
		}
		if offline {
			u.p.Online, u.p.OfflineSince = false, u.now
		}
		before := u.s
		n := len(u.log)
		u.log = u.s.Tick(u.c, u.p, u.now, u.log)
		if next == to && !offline && len(u.log) == n && (u.s == before || u.now == to) {
			if d := u.s.Deadline(u.c, u.p); d == 0 || d > to {
				return
			}
		}
	}
	u.t.Fatalf("the clock does not get past %s: deadline %s", u.now, u.s.Deadline(u.c, u.p))
}

// seen is any sign of life now.
func (u *device) seen() {
	u.p.Online, u.p.OfflineSince, u.p.LastSeen = true, 0, u.now
	u.p.Announced, u.p.NeverSeen = false, false
}

func (u *device) observe(rs ...rimewatch.Reading) {
	u.seen()
	if u.reload {
		b := u.s.AppendBinary(nil)
		u.s = machine{}
		if err := u.s.UnmarshalBinary(b); err != nil {
			u.t.Fatal(err)
		}
	}
	if u.forgetful {
		u.s.exposures = [2]exposure{}
	}
	u.log = u.s.ObserveAll(u.c, u.p, rs, u.now, u.log)
}

func zoneReading(at rimewatch.Time, v float64) rimewatch.Reading {
	r := rimewatch.Reading{At: at, ReceivedAt: at}
	r.Set(rimewatch.ProductZoneTemp, v)
	return r
}

// run plays a script, one step a line:
//
//	30m -12           a reading at minute 30, arriving at once
//	30m -12 at 20m    the same recorded at minute 20
//	30m -12 -13 at 20m 21m   a backlog that arrives together
//	30m null          a reading without the product-zone temperature
//	30m tick          nothing but time
//	30m silent        heartbeats stop (a device beats all the time otherwise)
//	30m beat          a heartbeat, and the beats go on
//	30m announce      it announces its shutdown
//	30m resolve TYPE  a person resolves; TYPE:PART where it has parts
//	30m max -10       somebody edits temp_max (or min, delay, critmax)
//	30m type other    somebody makes it another type
//	0m..60m v=230 i=15 a reading a minute with these fields and those of the
//	                  steps before; "on" and "off" set what a running or a
//	                  standing compressor shows, "cycle=9/17" alternates them,
//	                  "v=" leaves a field out, "v!" breaks its sensor; "still"
//	                  keeps the zone from flickering
func (u *device) run(script string) {
	for line := range strings.Lines(script) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		if from, to, ok := strings.Cut(w[0], ".."); ok {
			u.minutes(u.moment(from), u.moment(to), w[1:])
			continue
		}
		u.advance(u.moment(w[0]))
		switch w[1] {
		case "tick":
		case "silent":
			u.silent = true
		case "beat":
			u.silent = false
			u.seen()
		case "announce":
			u.silent = true
			u.p.Online, u.p.Announced, u.p.OfflineSince = false, true, u.now
		case "null":
			u.observe(rimewatch.Reading{At: u.now})
		case "resolve":
			typ, part, _ := strings.Cut(w[2], ":")
			u.s.Resolved(u.c, &u.s.unit, rimewatch.AlertType(typ), part, u.now)
		case "type":
			c := configOf(w[2])
			c.Rules = u.c.Rules
			u.s.Configured(u.c, c)
			u.c = c
		case "max", "min", "critmax", "delay":
			u.edit(w[1], w[2])
		default:
			u.observe(u.readings(w[1:])...)
		}
		u.advance(u.now)
	}
}

func (u *device) edit(what, value string) {
	c := *u.c
	v := u.number(value)
	switch what {
	case "max":
		c.Limits.TempMax = &v
	case "min":
		c.Limits.TempMin = &v
	case "critmax":
		c.Limits.CriticalMax = &v
	case "delay":
		c.Limits.DelayS = int(v)
	}
	u.s.Configured(u.c, &c)
	u.c = &c
}

func (u *device) readings(w []string) []rimewatch.Reading {
	var values, times []string
	values = w
	for i := range w {
		if w[i] == "at" {
			values, times = w[:i], w[i+1:]
		}
	}
	var rs []rimewatch.Reading
	for i, v := range values {
		at := u.now
		if times != nil {
			at = u.moment(times[i])
		}
		rs = append(rs, zoneReading(at, u.number(v)))
	}
	return rs
}

func (u *device) number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		u.t.Fatal(err)
	}
	return v
}

func (u *device) moment(s string) rimewatch.Time {
	d, err := time.ParseDuration(s)
	if err != nil {
		u.t.Fatal(err)
	}
	return epoch.Add(d)
}

// summary writes transitions as the tables expect them:
// "1h0m0s opened high_temperature warning since 0s value -12 peak -11 limit -15".
func summary(log []Transition) []string {
	lines := []string{}
	for _, t := range log {
		s := fmt.Sprintf("%s %s %s %s since %s", short(t.At), t.Kind, t.Type, t.Severity, short(t.ConditionStartedAt))
		if t.HasValue && t.Type != rimewatch.DeviceOffline {
			s += fmt.Sprintf(" value %v peak %v limit %v", t.Value, t.Peak, t.Threshold)
		}
		if t.Metric != "" && (!t.HasValue || t.Metric == rimewatch.ZoneAge) {
			s += " " + t.Metric
		}
		if t.Occurrences > 1 {
			s += fmt.Sprintf(" occurrences %d", t.Occurrences)
		}
		if t.Flapping {
			s += " flapping"
		}
		if t.Superseded != "" {
			s += " superseded " + string(t.Superseded)
		}
		lines = append(lines, s)
	}
	return lines
}

func short(t rimewatch.Time) string {
	s := t.Sub(epoch).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var fieldKeys = map[string]rimewatch.Field{
	"z": rimewatch.ProductZoneTemp, "d": rimewatch.CompressorDischargeTemp, "s": rimewatch.CompressorSuctionTemp,
	"a": rimewatch.AmbientTemp, "h": rimewatch.Humidity, "v": rimewatch.Voltage, "i": rimewatch.AmpDraw, "x": rimewatch.VibrationLevel,
}

var (
	running  = []string{"i=15", "x=0.9", "d=85", "s=-3"}
	standing = []string{"i=0.2", "x=0.06", "d=50", "s=5"}
)

// minutes sends a reading a minute in [from, to).
func (u *device) minutes(from, to rimewatch.Time, words []string) {
	if u.values == nil {
		u.values = map[string]float64{"z": -20, "a": 24, "h": 50, "v": 230}
		u.set(standing...)
	}
	u.still = slices.Contains(words, "still")
	for i, w := range words {
		switch {
		case w == "on", w == "off":
			u.of = 0
			u.set(map[string][]string{"on": running, "off": standing}[w]...)
		case strings.HasPrefix(w, "cycle="):
			if _, err := fmt.Sscanf(w, "cycle=%d/%d", &u.on, &u.of); err != nil {
				u.t.Fatal(err)
			}
		case w == "still", strings.HasPrefix(w, "every="):
			continue
		default:
			u.set(words[i])
		}
	}
	every := rimewatch.Minute
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, "every="); ok {
			every = u.moment(v) - epoch
		}
	}
	for at := from; at < to; at += every {
		u.advance(at)
		r := rimewatch.Reading{At: at}
		for k, v := range u.values {
			f, known := fieldKeys[strings.TrimSuffix(k, "!")]
			switch {
			case k == "door":
				r.Flags = r.Flags.WithBool(rimewatch.DoorOpen, v > 0)
			case k == "defrost":
				r.Flags = r.Flags.WithBool(rimewatch.DefrostActive, v > 0)
			case k == "starts":
				r.Set(rimewatch.StartCount, v)
			case strings.HasSuffix(k, "!"):
				r.Faults = r.Faults.With(f)
			case known:
				r.Set(f, v)
			default:
				u.t.Fatalf("unknown field %q", k)
			}
		}
		u.cycle(&r)
		u.flicker(&r)
		u.observe(r)
		u.minute++
	}
}

func (u *device) set(words ...string) {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case strings.HasSuffix(w, "!"):
			delete(u.values, strings.TrimSuffix(w, "!"))
			u.values[w] = 0
		case value == "":
			delete(u.values, key)
		default:
			delete(u.values, key+"!")
			u.values[key] = u.number(value)
		}
	}
}

// cycle makes the compressor run for the first part of every cycle. The zone
// follows a little, as a thermostat lets it.
func (u *device) cycle(r *rimewatch.Reading) {
	if u.of == 0 {
		return
	}
	k := u.minute % u.of
	words := standing
	if k < u.on {
		words = running
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		f := fieldKeys[key]
		if v := u.number(value); r.Present.Has(f) && (words[0] == standing[0] || u.values[key] == u.numberOf(standing, key)) {
			r.Set(f, v)
		}
	}
	if r.Present.Has(rimewatch.ProductZoneTemp) {
		r.Set(rimewatch.ProductZoneTemp, r.Values[rimewatch.ProductZoneTemp]+float64(k%7)/10)
	}
}

// flicker moves a zone that does not cycle by a step of its sensor, once in sixty readings
// and towards what is usual: none stands still for days.
func (u *device) flicker(r *rimewatch.Reading) {
	v, sent := r.Value(rimewatch.ProductZoneTemp)
	if !sent || u.of != 0 || u.still || u.minute%60 != 37 {
		return
	}
	r.Set(rimewatch.ProductZoneTemp, v+math.Copysign(0.1, -20-v))
}

func (u *device) numberOf(words []string, key string) float64 {
	for _, w := range words {
		if k, v, _ := strings.Cut(w, "="); k == key {
			return u.number(v)
		}
	}
	return 0
}
