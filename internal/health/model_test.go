package health_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"pgregory.net/rapid"
)

// The model works on the whole history at once and by the words of the
// definition. Its hold is constant, because its gaps are at least half of it.

type sample struct {
	at       rimewatch.Time
	value    float64
	end      rimewatch.Time // until when it is held
	side     int            // of the limits
	excluded bool
	broken   bool // maintenance lies between the sample before and this one
	bad      bool // out of limits without forgiveness
}

// history prepares the samples, which ascend.
func history(c *health.Config, samples []sample, now, hold rimewatch.Time) {
	for i := range samples {
		p := &samples[i]
		p.end = min(p.at+hold, max(now, p.at))
		if i+1 < len(samples) {
			p.end = min(p.end, samples[i+1].at)
		}
		for _, e := range c.Excluded {
			if e.From <= p.at && p.at < e.To {
				p.excluded = true
			}
			if e.From >= p.at {
				p.end = min(p.end, e.From)
			}
			if i > 0 && e.From <= p.at && e.To > samples[i-1].at {
				p.broken = true
			}
		}
		switch {
		case p.excluded:
			p.end = p.at
		case p.value > *c.Limits.TempMax:
			p.side = 1
		case p.value < *c.Limits.TempMin:
			p.side = -1
		}
	}
}

// judge finds the excursions and marks what they condemn.
func judge(c *health.Config, samples []sample) (ended []health.Excursion) {
	for i := 0; i < len(samples); {
		if samples[i].side == 0 {
			i++
			continue
		}
		n := i + 1 // samples[i:n] is a run on one side
		for n < len(samples) && samples[n].side == samples[i].side && !samples[n].broken {
			n++
		}
		lasted := max(samples[n-1].at, samples[n-1].end) - samples[i].at
		delayS := c.Limits.DelayS
		if samples[i].side < 0 {
			delayS = c.Limits.LowDelayS
		}
		if lasted < rimewatch.Time(delayS)*second {
			i = n
			continue
		}
		end, next := endOf(c, samples, i, n)
		e := health.Excursion{Start: samples[i].at, End: end, High: samples[i].side > 0, Peak: samples[i].value}
		for k := i; k < next; k++ {
			if p := &samples[k]; p.side == samples[i].side {
				p.bad = true
				if e.High {
					e.Peak = max(e.Peak, p.value)
					e.DegreeMinutes += (p.value - *c.Limits.TempMax) * float64(p.end-p.at) / 60000
				} else {
					e.Peak = min(e.Peak, p.value)
					e.DegreeMinutes += (*c.Limits.TempMin - p.value) * float64(p.end-p.at) / 60000
				}
			}
		}
		ended = append(ended, e) // also one that lasts, with End 0
		i = next
	}
	return ended
}

// endOf finds when the excursion of samples[i:n] ends, 0 = it does not, and
// the first sample behind it.
func endOf(c *health.Config, samples []sample, i, n int) (end rimewatch.Time, next int) {
	back := rimewatch.Time(0)
	for k := n; k < len(samples); k++ {
		p := &samples[k]
		if p.broken {
			for _, e := range c.Excluded {
				if e.To > samples[k-1].at && e.From <= p.at {
					return max(e.From, samples[k-1].at), k
				}
			}
		}
		inside := p.side == 0
		if samples[i].side > 0 {
			inside = inside && p.value <= *c.Limits.TempMax-c.Limits.ClearDelta
		} else {
			inside = inside && p.value >= *c.Limits.TempMin+c.Limits.ClearDelta
		}
		switch {
		case p.side == -samples[i].side:
			return p.at, k
		case !inside:
			back = 0
		default:
			if back == 0 {
				back = p.at
			}
			if p.at-back >= rimewatch.Time(c.Limits.ClearS)*second {
				return back, k
			}
		}
	}
	return 0, len(samples)
}

// sum cuts the held times to the window that ends at now.
func sum(c *health.Config, samples []sample, now rimewatch.Time) (total health.Compliance) {
	to := max(now, samples[len(samples)-1].at)
	from := to/(30*minute)*(30*minute) - 24*hour
	total.Window = int64(to - from)
	for _, e := range c.Excluded {
		total.Window -= int64(max(min(e.To, to)-max(e.From, from), 0))
	}
	for _, p := range samples {
		d := int64(max(min(p.end, to)-max(p.at, from), 0))
		total.Covered += d
		if p.side == 0 {
			total.Strict += d
		}
		if !p.bad {
			total.In += d
		}
	}
	return total
}

// drawHistory draws readings at least a minute apart, multiples of grain, that
// stay in, wander out and come back, with silences and maintenance.
func drawHistory(t *rapid.T, grain rimewatch.Time) (c *health.Config, samples []sample) {
	c = cooler()
	c.MaxHold = 2 * 60e9
	c.Limits.DelayS = rapid.SampledFrom([]int{0, 60, 600, 2700, 86400}).Draw(t, "delay")
	c.Limits.LowDelayS = rapid.SampledFrom([]int{0, 60, 1800}).Draw(t, "low delay")
	c.Limits.ClearS = rapid.SampledFrom([]int{0, 300}).Draw(t, "clear")
	when := noon + grain*rimewatch.Time(rapid.IntRange(0, 1000).Draw(t, "start"))
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		from := when + grain*rimewatch.Time(rapid.Int64Range(0, int64(30*hour/grain)).Draw(t, "from"))
		if n := len(c.Excluded); n > 0 {
			from = max(from, c.Excluded[n-1].To+grain)
		}
		c.Excluded = append(c.Excluded, health.Span{From: from, To: from + grain*rimewatch.Time(rapid.Int64Range(1, int64(3*hour/grain)).Draw(t, "for"))})
	}
	for range rapid.IntRange(1, 12).Draw(t, "phases") {
		values := rapid.SampledFrom([][]float64{{3}, {3, 4.8}, {9}, {7.5, 5.25}, {-2}, {9, 9, 9, 3}, {9, -2}, {4.8, 5.25}}).Draw(t, "values")
		for i := range rapid.IntRange(1, 120).Draw(t, "n") {
			samples = append(samples, sample{at: when, value: values[i%len(values)]})
			when += minute + grain*rimewatch.Time(rapid.IntRange(0, 5).Draw(t, "jitter"))
		}
		when += grain * rimewatch.Time(rapid.SampledFrom([]int64{0, 0, 0, int64(10 * minute / grain), int64(5 * hour / grain), int64(30 * hour / grain)}).Draw(t, "silence"))
	}
	return c, samples
}

// TestAgainstTheModel is exact for times that are multiples of the unit in
// which past half hours are kept.
func TestAgainstTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, samples := drawHistory(t, 2*second)
		checkModel(t, c, samples, 0)
	})
}

// TestRounding allows 2 s, and 2 s for each excursion.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, samples := drawHistory(t, 1)
		checkModel(t, c, samples, 2000)
	})
}

func checkModel(t *rapid.T, c *health.Config, samples []sample, tolerance int64) {
	last := samples[len(samples)-1].at
	now := last + 2*second*rimewatch.Time(rapid.SampledFrom([]int64{0, 30, 1000, 50_000}).Draw(t, "later"))
	var s health.State
	var got []health.Excursion
	for i := range samples {
		if e, ok := s.Observe(c, at(samples[i].at, samples[i].value)); ok {
			got = append(got, e)
		}
	}
	if e, ok := s.Excursion(); ok {
		got = append(got, e)
	}
	history(c, samples, last, 2*minute) // what the last reading is held for is not yet known then
	want := judge(c, samples)
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-4, 0.02), cmpopts.EquateEmpty()); d != "" {
		t.Fatal("excursions:", d)
	}
	for i := range samples {
		samples[i] = sample{at: samples[i].at, value: samples[i].value}
	}
	history(c, samples, now, 2*minute)
	count := int64(len(judge(c, samples)))
	wantSum, gotSum := sum(c, samples, now), s.Compliance(c, now, 0)
	slack := tolerance * (1 + count)
	for name, diff := range map[string]int64{
		"window": wantSum.Window - gotSum.Window, "covered": wantSum.Covered - gotSum.Covered,
		"in": wantSum.In - gotSum.In, "strict": wantSum.Strict - gotSum.Strict,
	} {
		if diff > slack || diff < -slack {
			t.Fatalf("%s: off by %d ms: want %+v, got %+v", name, diff, wantSum, gotSum)
		}
	}
}
