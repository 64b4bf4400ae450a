package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/unit"
)

const t0 rimewatch.Time = 1_790_000_000_000

func take(s *engine.State, cfg *engine.Config, r *rimewatch.Reading, now rimewatch.Time) []alert.Transition {
	out, _ := s.Step(cfg, nil, &engine.Input{Kind: engine.Reading, Reading: r, Last: true}, now, nil)
	return out
}

func tick(s *engine.State, cfg *engine.Config, now rimewatch.Time) []alert.Transition {
	out, _ := s.Step(cfg, nil, &engine.Input{Kind: engine.Tick}, now, nil)
	return out
}

// TestReplay drives a unit and a twin that is written and read back at random
// moments: the same inputs give the same transitions, deadlines and state. It
// is what recovery after a restart rests on.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: rapid.SampledFrom([]string{"walkin_freezer", "vaccine_refrigerator", "other", "unknown"}).Draw(t, "type")})
		for from := t0; rapid.Bool().Draw(t, "maintenance"); {
			from += rimewatch.Time(rapid.IntRange(1, 10).Draw(t, "pause")) * rimewatch.Hour
			to := from + rimewatch.Time(rapid.IntRange(1, 200).Draw(t, "work"))*rimewatch.Minute
			cfg.Health.Excluded = append(cfg.Health.Excluded, health.Span{From: from, To: to})
			from = to
		}
		var down []presence.Downtime
		var one, twin engine.State
		now := t0
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += rimewatch.Time(rapid.SampledFrom([]int{1, 500, 60_000, 60_000, 60_000, 600_000, 7_200_000}).Draw(t, "after"))
			r := rimewatch.Reading{At: now - rimewatch.Time(rapid.SampledFrom([]int{0, 0, 0, 250, 90_000, -30_000}).Draw(t, "late"))}
			for f := range rimewatch.NumCore {
				if rapid.IntRange(0, 9).Draw(t, "has") > 0 {
					r.Set(f, float64(rapid.IntRange(-300, 900).Draw(t, f.String()))/10)
				}
			}
			kind := rapid.IntRange(0, 9).Draw(t, "kind")
			in := engine.Input{Kind: engine.Tick}
			switch {
			case kind < 6:
				in = engine.Input{Kind: engine.Reading, Reading: &r, Last: kind > 0}
			case kind < 8:
				in = engine.Input{Kind: engine.Heartbeat, Shutdown: kind == 7}
			case kind == 9:
				down = []presence.Downtime{{From: now - 1000, To: now}}
			}
			step := func(s *engine.State) []alert.Transition {
				out, _ := s.Step(&cfg, down, &in, now, nil)
				return out
			}
			a, b := step(&one), step(&twin)
			if d := cmp.Diff(a, b); d != "" {
				t.Fatalf("transitions (-one +twin):\n%s", d)
			}
			if one.Deadline(&cfg, down) != twin.Deadline(&cfg, down) {
				t.Fatal("deadlines differ")
			}
			if rapid.IntRange(0, 4).Draw(t, "restart") == 0 {
				var again engine.State
				if err := again.UnmarshalBinary(twin.AppendBinary(nil)); err != nil {
					t.Fatal(err)
				}
				twin = again
			}
			if string(one.AppendBinary(nil)) != string(twin.AppendBinary(nil)) {
				t.Fatal("states differ")
			}
		}
	})
}

func TestDamagedState(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	var s engine.State
	r := rimewatch.Reading{At: t0}
	r.Set(rimewatch.ProductZoneTemp, -10)
	take(&s, &cfg, &r, t0)
	whole := s.AppendBinary(nil)
	for n := range whole {
		var got engine.State
		if err := got.UnmarshalBinary(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes were taken for a state", n, len(whole))
		}
	}
}

// TestPartOfAnotherVersion: what one part of a program later or earlier wrote is
// learnt anew; who is online and what the other parts know stays.
func TestPartOfAnotherVersion(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	var s engine.State
	for i := range rimewatch.Time(90) {
		r := rimewatch.Reading{At: t0 + i*rimewatch.Minute}
		r.Set(rimewatch.ProductZoneTemp, -5)
		r.Set(rimewatch.AmpDraw, 8)
		take(&s, &cfg, &r, r.At)
	}
	s.Verdicts[0] = 3
	whole := s.AppendBinary(nil)
	at := 1
	for i, name := range []string{"presence", "health", "unit", "alert", "predict"} {
		b := bytes.Clone(whole)
		b[at+2] ^= 0x40 // its version
		at += 2 + int(binary.LittleEndian.Uint16(b[at:]))
		var got engine.State
		err := got.UnmarshalBinary(b)
		if i == 0 {
			if err == nil || errors.Is(err, engine.ErrAnew) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, engine.ErrAnew) {
			t.Errorf("%s: %v", name, err)
		}
		want := s
		switch name {
		case "health":
			want.Health = health.State{}
		case "alert":
			want.Alert = alert.State{}
		default:
			want.Unit, want.Predict = unit.State{}, predict.State{}
		}
		if !bytes.Equal(got.AppendBinary(nil), want.AppendBinary(nil)) || !got.Presence.Online || got.Verdicts[0] != 3 {
			t.Errorf("%s: other parts are lost", name)
		}
		// It goes on from there.
		r := rimewatch.Reading{At: t0 + 2*rimewatch.Hour}
		r.Set(rimewatch.ProductZoneTemp, -5)
		take(&got, &cfg, &r, r.At)
	}
}

// TestCircumstances: what the score rests on follows presence and alerts.
func TestCircumstances(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	var s engine.State
	now := t0
	feed := func(temp float64, minutes int) {
		for range minutes {
			now += rimewatch.Minute
			r := rimewatch.Reading{At: now}
			r.Set(rimewatch.ProductZoneTemp, temp)
			take(&s, &cfg, &r, now)
			tick(&s, &cfg, now)
		}
	}
	feed(-20, 10)
	if c := s.Circumstances(&cfg, now); c.Offline || c.OpenWarning || c.OpenCritical {
		t.Errorf("healthy: %+v", c)
	}
	feed(-13, 62)
	if c := s.Circumstances(&cfg, now); !c.OpenWarning || c.OpenCritical || c.Severity[health.Temperature] != 0.5 {
		t.Errorf("too warm: %+v", c)
	}
	now += 10 * rimewatch.Minute
	tick(&s, &cfg, now)
	if c := s.Circumstances(&cfg, now); !c.Offline || c.Severity[health.DataFreshness] != 0.5 {
		t.Errorf("silent: %+v", c)
	}
}

// TestMaintenanceEnds: a window's end is a deadline of its own, and comes once.
func TestMaintenanceEnds(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	first, second := t0+rimewatch.Hour, t0+3*rimewatch.Hour
	cfg.Health.Excluded = []health.Span{{From: t0, To: first}, {From: first + 1, To: second}}
	var s engine.State
	s.Step(&cfg, nil, &engine.Input{Kind: engine.Heartbeat, Shutdown: true}, t0, nil) // off while people work on it
	for _, end := range []rimewatch.Time{first, second} {
		if got := s.Deadline(&cfg, nil); got != end {
			t.Fatalf("the deadline is %v, want %v", got, end)
		}
		tick(&s, &cfg, end-1)
		if s.Maintained >= end {
			t.Fatal("it ends too early")
		}
		tick(&s, &cfg, end)
		if s.Maintained != end {
			t.Fatalf("maintained until %v, want %v", s.Maintained, end)
		}
	}
	if got := s.Deadline(&cfg, nil); got != 0 {
		t.Fatalf("the deadline is %v after the last window", got)
	}
}
