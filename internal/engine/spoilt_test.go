package engine_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

var spoilt = flag.Int("spoilt", 24, "recordings that TestSpoiltRecordings draws")

// recording is what arrives of a unit, in the order in which it does.
type recording struct {
	*rand.Rand
	list   []rimewatch.Reading
	broken rimewatch.Fields // said to be broken from half of it on
}

// from changes what comes after a share of the recording.
func (c *recording) from(share float64, change func(r *rimewatch.Reading)) {
	for i := int(share * float64(len(c.list))); i < len(c.list); i++ {
		change(&c.list[i])
	}
}

// spoils are ways in which what arrives of a unit is not what it measured.
var spoils = []struct {
	name string
	make func(c *recording)
}{
	{"constant", func(c *recording) {
		f, v := rimewatch.Field(c.IntN(int(rimewatch.NumCore))), c.list[0].Values
		c.from(c.Float64(), func(r *rimewatch.Reading) { r.Set(f, v[f]) })
	}},
	{"null", func(c *recording) {
		set := rimewatch.Fields(1 + c.IntN(int(rimewatch.CoreFields)))
		c.from(c.Float64(), func(r *rimewatch.Reading) { r.Present &^= set })
	}},
	{"said to be broken", func(c *recording) {
		c.broken |= 1 << c.IntN(int(rimewatch.NumCore))
		c.from(0.5, func(r *rimewatch.Reading) { r.Present, r.Faults = r.Present&^c.broken, r.Faults|c.broken })
	}},
	{"no number", func(c *recording) {
		f, v := c.IntN(int(rimewatch.NumCore)), []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}[c.IntN(4)]
		c.from(c.Float64(), func(r *rimewatch.Reading) { r.Values[f] = v })
	}},
	{"twice", func(c *recording) {
		from := c.IntN(len(c.list))
		c.list = slices.Concat(c.list, c.list[from:min(from+500, len(c.list))])
	}},
	{"reversed", func(c *recording) {
		from := c.IntN(len(c.list))
		slices.Reverse(c.list[from:min(from+1+c.IntN(2000), len(c.list))])
	}},
	{"seldom", func(c *recording) {
		every, kept := []int{2, 5, 15, 60}[c.IntN(4)], c.list[:0]
		for i := range c.list {
			if i%every == 0 {
				kept = append(kept, c.list[i])
			}
		}
		c.list = kept
	}},
	{"a reading a second", func(c *recording) {
		var list []rimewatch.Reading
		for i := len(c.list) / 2; i < len(c.list) && len(list) < 20_000; i++ {
			for k := range rimewatch.Time(60) {
				r := c.list[i]
				r.At += k * rimewatch.Second
				list = append(list, r)
			}
		}
		c.list = slices.Concat(c.list[:len(c.list)/2], list)
	}},
	{"a clock that jumps", func(c *recording) {
		by := rimewatch.Time(c.IntN(400)-200) * rimewatch.Hour
		c.from(c.Float64(), func(r *rimewatch.Reading) { r.At += by })
	}},
	{"in °F", func(c *recording) {
		c.from(float64(c.IntN(2))*c.Float64(), func(r *rimewatch.Reading) {
			for f := range rimewatch.Humidity {
				r.Values[f] = r.Values[f]*1.8 + 32
			}
		})
	}},
	{"swapped", func(c *recording) {
		a, b := c.IntN(8), c.IntN(8)
		c.from(float64(c.IntN(2))*c.Float64(), func(r *rimewatch.Reading) { r.Values[a], r.Values[b] = r.Values[b], r.Values[a] })
	}},
	{"off for a week", func(c *recording) {
		from := c.IntN(len(c.list))
		to := min(len(c.list), from+7*24*60)
		for i := range c.list[from:to] {
			c.list[from+i].Values = [rimewatch.NumCore]float64{22, 22, 22, 22, 50, c.list[from+i].Values[rimewatch.Voltage], 0, 0}
		}
	}},
	{"silent for weeks", func(c *recording) {
		by := rimewatch.Time(c.IntN(30)) * rimewatch.Day
		c.from(c.Float64(), func(r *rimewatch.Reading) { r.At += by })
	}},
	{"moved", func(c *recording) {
		k := float64(c.IntN(40) - 20)
		c.from(c.Float64(), func(r *rimewatch.Reading) {
			r.Values[rimewatch.AmbientTemp] += k
			r.Values[rimewatch.CompressorDischargeTemp] += 1.6 * k
			r.Values[rimewatch.Voltage] /= 2
		})
	}},
}

// silly is what no sentence may hold.
var silly = regexp.MustCompile(`NaN|Inf|%!|<nil>|\d{7}|[−-]0(\.0+)?[ °%]|%[a-zA-Z]|\b0 K |:\s*$|\(\)|  `)

// hearing holds what a device's alerts say against what can be.
type hearing struct {
	t    *testing.T
	open map[string]bool
	told rimewatch.Fields // sensors that had an alert of their own
}

func (h *hearing) hear(tr *alert.Transition) {
	key := string(tr.Type) + " " + tr.Part
	if f, ok := rimewatch.FieldByName(tr.Metric); ok && tr.Type == rimewatch.SensorFault {
		h.told = h.told.With(f)
	}
	if open := h.open[key]; open != (tr.Kind != rimewatch.TransitionOpened) {
		h.t.Errorf("%s of %s, which was open: %v", tr.Kind, key, open)
	}
	h.open[key] = tr.Kind != rimewatch.TransitionResolved
	a := rimewatch.Alert{
		Type: tr.Type, Severity: tr.Severity, Metric: tr.Metric, Unit: tr.Unit, Status: rimewatch.AlertActive, ConditionStartedAt: tr.ConditionStartedAt,
		TriggeredAt: tr.At, LastEvaluatedAt: tr.At, Occurrences: tr.Occurrences, Flapping: tr.Flapping, Prediction: tr.Prediction, Relearning: tr.Relearning,
	}
	if tr.HasValue {
		a.Value, a.PeakValue = &tr.Value, &tr.Peak
	}
	if tr.HasThreshold {
		a.Threshold = &tr.Threshold
	}
	if tr.Kind == rimewatch.TransitionResolved {
		a.Status, a.Resolution, a.ResolvedAt = rimewatch.AlertResolved, tr.Resolution, tr.At
	}
	if tr.ConditionStartedAt > tr.At || tr.ConditionStartedAt == 0 {
		h.t.Errorf("%s %s at %s began at %s", tr.Kind, key, tr.At, tr.ConditionStartedAt)
	}
	for _, lang := range []string{"en", "es"} {
		w := phrase.In(rimewatch.Locale{Language: lang})
		said := []string{w.Title(&a), w.Message(&a)}
		if p := tr.Prediction; p != nil {
			if p.Risk < 0 || p.Risk > 1 || p.LeadTimeH != nil && !(*p.LeadTimeH >= 0) || p.Fault == "" || p.Fault == p.RunnerUp || len(p.Evidence) == 0 {
				h.t.Errorf("%s %s predicts %+v", tr.Kind, key, p)
			}
			for i := range p.Evidence {
				said = append(said, w.Evidence(p, &p.Evidence[i]))
			}
		}
		for _, s := range said {
			if s == "" || silly.MatchString(s) {
				h.t.Errorf("%s %s says %q", tr.Kind, key, s)
			}
		}
	}
}

// TestSpoiltRecordings: whatever arrives of a unit, in whatever order and as whatever
// equipment, what is said of it has sense, a sensor that is said to be broken has its
// alert, and the state stays one that can be written and read.
func TestSpoiltRecordings(t *testing.T) {
	types := simulate.Simulable()
	as := append(slices.Clone(types), rimewatch.OtherEquipment, "from_the_future")
	n := *spoilt
	for seed := range uint64(n) {
		c := &recording{Rand: rand.New(rand.NewPCG(seed, 15))}
		days := rimewatch.Time(4 + c.IntN(8))
		wild, err := simulate.Draw(types[c.IntN(len(types))], seed, t0, t0+days*rimewatch.Day, false)
		if err != nil {
			t.Fatal(err)
		}
		wild.Config.SampleEvery = time.Minute
		u, err := simulate.New(wild.Config)
		if err != nil {
			t.Fatal(err)
		}
		for u.NextAt() < t0+days*rimewatch.Day {
			c.list = append(c.list, u.Next())
		}
		var done []string
		for range 1 + c.IntN(3) {
			s := &spoils[c.IntN(len(spoils))]
			done = append(done, s.name)
			s.make(c)
		}
		equipment := wild.Config.Equipment
		if c.IntN(3) == 0 {
			equipment = as[c.IntN(len(as))]
		}
		h := hear(t, equipment, c.list)
		if len(done) == 1 && c.broken != 0 && h.told&c.broken == 0 {
			t.Errorf("nobody is told of a broken sensor: %v", c.broken.Names())
		}
		if t.Failed() {
			t.Fatalf("seed %d: a %s as %s, %v", seed, wild.Config.Equipment, equipment, done)
		}
	}
}

// hear plays a recording as it arrives.
func hear(t *testing.T, equipment string, list []rimewatch.Reading) *hearing {
	t.Helper()
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: equipment})
	var s engine.State
	h := &hearing{t: t, open: map[string]bool{}}
	now := rimewatch.Time(0)
	for i := range list {
		r := &list[i]
		until := max(now, r.At)
		for range 100 {
			due := s.Deadline(&cfg, nil)
			if now == 0 || due == 0 || due > until {
				break
			}
			now = max(now, due)
			for _, tr := range tick(&s, &cfg, now) {
				h.hear(&tr)
			}
		}
		now = until
		r.ReceivedAt = now
		for _, tr := range take(&s, &cfg, r, now) {
			h.hear(&tr)
		}
		if t.Failed() {
			return h
		}
	}
	b := s.AppendBinary(nil)
	var back engine.State
	if err := back.UnmarshalBinary(b); err != nil {
		t.Errorf("the state cannot be read: %v", err)
	}
	return h
}
