package health_test

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

func TestCodecProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, samples := drawHistory(t, 1)
		var s health.State
		for _, p := range samples[:rapid.IntRange(0, len(samples)).Draw(t, "seen")] {
			s.Observe(c, at(p.at, p.value))
			if rapid.IntRange(0, 20).Draw(t, "late") == 0 {
				s.Observe(c, at(p.at-hour, 9))
				s.Observe(c, at(p.at-hour+minute, 9))
			}
		}
		s.Note(health.Vibration, 0.5, samples[0].at)
		b := s.AppendBinary([]byte("x"))
		var got health.State
		rest, err := got.DecodeBinary(append(b[1:len(b):len(b)], "rest"...))
		if err != nil || string(rest) != "rest" || got != s {
			t.Fatalf("%+v, want %+v: %q %v", got, s, rest, err)
		}
		for n := range len(b) - 1 {
			if _, err := got.DecodeBinary(b[1 : 1+n]); err == nil {
				t.Fatal("decoded from", n, "bytes of", len(b)-1)
			}
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	var s health.State
	f.Add(s.AppendBinary(nil))
	feed(&s, cooler(), noon, noon+hour, 9)
	f.Add(s.AppendBinary(nil))
	feed(&s, cooler(), noon-2*hour, noon-hour, 9)
	feed(&s, cooler(), noon+hour, noon+26*hour, 3)
	f.Add(s.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again health.State
		if _, err := s.DecodeBinary(b); err != nil {
			return
		}
		if rest, err := again.DecodeBinary(s.AppendBinary(nil)); err != nil || len(rest) != 0 {
			t.Fatalf("%+v does not come back: %v", s, err)
		}
		// Whatever was decoded can be worked with.
		c := cooler()
		last := rimewatch.Time(0)
		for _, v := range []float64{9, 3, -5} {
			last += 47 * minute
			s.Observe(c, at(noon+last, v))
			s.Observe(c, at(noon-last, v))
			s.Compliance(c, noon+last, 0)
		}
		s.Drivers(&health.Circumstances{Now: noon})
	})
}

func TestCheckpointSize(t *testing.T) {
	var s health.State
	feed(&s, cooler(), noon, noon+40*hour, 3)
	if n := len(s.AppendBinary(nil)); n > 90 {
		t.Error("a healthy device takes", n, "bytes")
	}
}

func BenchmarkObserve(b *testing.B) {
	var s health.State
	c := cooler()
	when := noon
	for b.Loop() {
		r := rimewatch.Reading{At: when, Present: 1}
		r.Values[0] = float64(when/minute%90) / 10
		s.Observe(c, &r)
		when += minute
	}
}

func BenchmarkCompliance(b *testing.B) {
	var s health.State
	c := cooler()
	feed(&s, c, noon, noon+30*hour, 3)
	for b.Loop() {
		s.Compliance(c, noon+30*hour, 0)
	}
}

func BenchmarkScore(b *testing.B) {
	var s health.State
	s.Note(health.Temperature, 0.7, noon)
	c := health.Circumstances{Now: noon + hour, OpenWarning: true}
	for b.Loop() {
		s.Score(&c)
	}
}

func BenchmarkFleetScore(b *testing.B) {
	var f health.Fleet
	for i := range 100_000 {
		f.Replace(health.Share{}, health.NewShare(50+float64(i%500)/10, health.Compliance{}))
	}
	for b.Loop() {
		f.Score()
	}
}
