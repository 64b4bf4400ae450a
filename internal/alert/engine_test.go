package alert

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// chaos measures a unit that does everything that units do and much that they
// should not: it wanders between regimes, loses sensors and supply.
type chaos struct {
	*rand.Rand
	v      [rimewatch.NumCore]float64
	level  [rimewatch.NumCore]float64
	absent rimewatch.Fields
	broken rimewatch.Fields
	minute int
	count  int64
}

// few draws a set of fields: the larger n, the fewer.
func (c *chaos) few(n int) rimewatch.Fields {
	s := rimewatch.CoreFields
	for range n {
		s &= rimewatch.Fields(c.IntN(256))
	}
	return s
}

func (c *chaos) reading(at rimewatch.Time) rimewatch.Reading {
	r := rimewatch.Reading{At: at}
	if c.minute%97 == 0 {
		f := rimewatch.Field(c.IntN(int(rimewatch.NumCore)))
		wild := [...][]float64{{-20, -14, -10, -31, 65}, {85, 110, 125, 40}, {-3, 20, 30, -25}, {24, 40, 5}, {50, 80, 96}, {230, 200, 190, 0, 260}, {15, 19, 30}, {0.9, 2.5, 6}}[f]
		c.level[f] = wild[c.IntN(len(wild))]
		c.absent ^= c.few(3)
		c.broken ^= c.few(4)
	}
	cycle := 2 + c.minute/3000%20
	on := c.minute%cycle < cycle/2
	if c.minute%cycle == 0 {
		c.count++
	}
	for f := range rimewatch.NumCore {
		c.v[f] += 0.3*(c.level[f]-c.v[f]) + 0.05*c.NormFloat64()
		v := c.v[f]
		if !on && (f == rimewatch.AmpDraw || f == rimewatch.VibrationLevel) {
			v *= 0.05
		}
		if on && f == rimewatch.AmpDraw && c.IntN(500) == 0 {
			v *= 6
		}
		switch {
		case c.broken.Has(f):
			r.Faults = r.Faults.With(f)
		case !c.absent.Has(f):
			r.Set(f, round(v))
		}
	}
	if c.minute%7000 > 5000 {
		r.Flags = r.Flags.WithBool(rimewatch.DefrostActive, c.minute%360 < 25)
		r.Set(rimewatch.StartCount, float64(c.count))
		r.Set(rimewatch.RunSeconds, 30*float64(c.minute))
	}
	c.minute++
	return r
}

// witness follows the alerts as the service does and says what is impossible.
type witness map[rule]rimewatch.Severity

func (w witness) see(t *rapid.T, log []Transition, now rimewatch.Time) {
	for _, tr := range log {
		i, _ := ruleOf(tr.Type, tr.Part)
		was, active := w[i]
		ok := false
		switch tr.Kind {
		case rimewatch.TransitionOpened:
			ok = !active
			w[i] = tr.Severity
		case rimewatch.TransitionEscalated:
			ok = active && was == rimewatch.Warning && tr.Severity == rimewatch.Critical
			w[i] = tr.Severity
		case rimewatch.TransitionDeescalated:
			ok = active && was == rimewatch.Critical && tr.Severity == rimewatch.Warning
			w[i] = tr.Severity
		case rimewatch.TransitionUpdated:
			ok = active && was == tr.Severity && (tr.Occurrences > 1 || tr.HasHold || tr.HasUsual || tr.Unmet != "")
		case rimewatch.TransitionResolved:
			ok = active && was == tr.Severity
			delete(w, i)
		case rimewatch.TransitionSuppressed, rimewatch.TransitionReleased, // only Inhibit says so, which is not called here
			rimewatch.TransitionAcknowledged, rimewatch.TransitionAckExpired, rimewatch.TransitionNoted, // people's
			rimewatch.TransitionFeedback, rimewatch.TransitionCorrective, rimewatch.TransitionMoved:
			ok = false
		}
		if !ok || tr.At != now || tr.ConditionStartedAt > tr.At || tr.ConditionStartedAt == 0 || tr.Occurrences < 1 {
			t.Fatalf("impossible (was %q): %+v", was, tr)
		}
	}
}

// agree holds the state's own list of active alerts against the witness's.
func (w witness) agree(t *rapid.T, s *machine) {
	got, types := witness{}, []rimewatch.AlertType(nil)
	for a := range s.Active {
		i, _ := ruleOf(a.Type, a.Part)
		got[i] = a.Severity
		types = append(types, a.Type)
		if !Knows(&s.State, a.Type, a.Part) {
			t.Fatalf("%s of %q is not known", a.Type, a.Part)
		}
	}
	if known := slices.Collect(TypesOf(&s.State)); !slices.Equal(types, known) {
		t.Fatalf("types %v of %v", known, types)
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Fatalf("active alerts (-by transitions +by state):\n%s", diff)
	}
}

// TestAnythingGoes lives days of chaos with gaps, duplicates, reordering,
// backlogs, silences, edits, manual resolves and restarts, under all rules.
// Whatever happens: transitions fit each other, a restart changes nothing, late
// readings move nothing, timers get on, and a second Tick does nothing.
func TestAnythingGoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		c := &chaos{Rand: rand.New(rand.NewPCG(seed, 1))}
		c.level = [rimewatch.NumCore]float64{-20, 85, -3, 24, 50, 230, 15, 0.9}
		c.v = c.level
		slug := rapid.SampledFrom([]string{"walkin_freezer", "walkin_cooler", "vaccine_refrigerator", "condensing_unit", "other"}).Draw(t, "type")
		u := newDevice(t, configOf(slug))
		u.c.Rules = AllRules
		twin, seen := machine{}, witness{}
		call := func(f func(s *machine, out []Transition) []Transition) {
			before := len(u.log)
			u.log = f(&u.s, u.log)
			again := f(&twin, nil)
			if first := u.log[before:]; len(first)+len(again) > 0 {
				if diff := cmp.Diff(first, again); diff != "" {
					t.Fatalf("the restarted engine differs (-first +restarted):\n%s", diff)
				}
				seen.see(t, first, u.now)
			}
		}
		tick := func() {
			call(func(s *machine, out []Transition) []Transition { return s.Tick(u.c, u.p, u.now, out) })
		}
		end := epoch + 4*rimewatch.Day
		for u.now < end {
			step := rimewatch.Minute
			if c.IntN(400) == 0 {
				step = rimewatch.Time(c.IntN(int(9 * hour)))
			}
			next := u.now + step
			for { // the timers until then
				d := u.s.Deadline(u.c, u.p)
				if gone := u.p.LastSeen.Add(u.p.OfflineAfter); u.p.Online && gone <= next && (d == 0 || gone <= d) {
					u.now = gone
					u.p.Online, u.p.OfflineSince = false, gone
				} else if d != 0 && d <= next {
					u.now = max(u.now, d)
				} else {
					break
				}
				tick()
				if d := u.s.Deadline(u.c, u.p); d != 0 && d <= u.now {
					t.Fatalf("the timer stands still at %s now %s alive %v hold %v rules %b active %b live %b", short(d), short(u.now), u.s.aliveUntil, u.s.holdUntil, u.s.pool.rules, u.s.active, u.s.live)
				}
			}
			u.now = next
			live(u, c, call, tick)
			if u.s != twin {
				t.Fatal("the restarted engine is in another state")
			}
			if c.IntN(20) == 0 {
				b := u.s.AppendBinary(nil)
				if !bytes.Equal(b, twin.AppendBinary(nil)) {
					t.Fatal("equal states have unequal bytes")
				}
				twin = machine{}
				if err := twin.UnmarshalBinary(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		tick()
		again := u.s
		if out := again.Tick(u.c, u.p, u.now, nil); len(out) != 0 || again != u.s {
			t.Fatalf("a second Tick did something: %v", summary(out))
		}
		seen.agree(t, &u.s)
	})
}

// live lets one thing happen to the unit.
func live(u *device, c *chaos, call func(func(*machine, []Transition) []Transition), tick func()) {
	observe := func(rs ...rimewatch.Reading) {
		u.seen()
		call(func(s *machine, out []Transition) []Transition { return s.ObserveAll(u.c, u.p, rs, u.now, out) })
	}
	switch c.IntN(60) {
	case 0: // lost on the way
	case 1: // twice, and one that is late
		r := c.reading(u.now)
		late := c.reading(u.now - 3*rimewatch.Minute)
		observe(r, r, late)
	case 2: // a backlog
		var rs []rimewatch.Reading
		for k := rimewatch.Time(40); k >= 0; k-- {
			rs = append(rs, c.reading(u.now-k*rimewatch.Minute))
		}
		observe(rs...)
	case 3: // a clock that runs ahead
		observe(c.reading(u.now + rimewatch.Time(c.IntN(300))*second))
	case 4: // a heartbeat
		u.seen()
		tick()
	case 5: // somebody resolves
		i := rule(c.IntN(int(numRules)))
		typ, part := ruleSpecs[i].typ, i.part()
		for a := range u.s.Active {
			if a.Type == typ && a.Part == part && c.IntN(2) == 0 {
				call(func(s *machine, out []Transition) []Transition {
					s.Resolved(u.c, &s.unit, typ, part, u.now)
					// The service tells its own people; here it is a transition too.
					return append(out, Transition{Kind: rimewatch.TransitionResolved, Type: typ, Part: part, Severity: a.Severity, At: u.now, ConditionStartedAt: u.now, Occurrences: 1})
				})
			}
		}
		tick()
	case 6: // somebody edits
		if c.IntN(20) == 0 {
			n := *u.c
			limit := float64(-18 + c.IntN(6))
			n.Limits.TempMax = &limit
			n.Rules = AllRules &^ (1 << c.IntN(14))
			u.c = &n
			tick()
		}
	default:
		observe(c.reading(u.now))
	}
}

// TestUnmarshalRefuses what is not a state: other versions, cut and damaged
// bytes do not panic and leave the state alone.
func TestUnmarshalRefuses(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = AllRules
	u.run(known + `
		72h..72h20m z=-10 v=190`)
	good := u.s.AppendBinary(nil)
	var s machine
	if err := s.UnmarshalBinary(good); err != nil || s != u.s {
		t.Fatalf("a round trip fails: %v", err)
	}
	for i := range good {
		if err := s.UnmarshalBinary(good[:i]); err == nil {
			t.Errorf("%d of %d bytes pass for a state", i, len(good))
		}
	}
	if s.UnmarshalBinary(append(good[:len(good):len(good)], 0)) == nil {
		t.Error("a trailing byte passes")
	}
	if s != u.s {
		t.Error("an error has changed the state")
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(good)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		var s machine
		if s.UnmarshalBinary(b) == nil {
			// What is read must be usable, whatever it means.
			s.Tick(u.c, u.p, u.now, nil)
			s.Observe(u.c, u.p, &rimewatch.Reading{At: u.now + 1}, u.now+1, nil)
			for range s.Active {
			}
		}
	})
}
