package health_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
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
	defrost  bool // the unit was known to defrost
}

// shortRun is a run out of limits that ended before the alarm delay: samples[i:n].
type shortRun struct {
	i, n int
	end  rimewatch.Time
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
	var short []shortRun
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
			if n < len(samples) { // it is over
				short = append(short, shortRun{i, n, runEnd(c, samples, n)})
			}
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
	ended = append(ended, judgeDays(c, samples, short)...)
	slices.SortFunc(ended, func(a, b health.Excursion) int { return cmp.Or(int(a.Start-b.Start), a.Runs-b.Runs) })
	return ended
}

// runEnd is when a run ended that samples[n] or the maintenance before it ended.
func runEnd(c *health.Config, samples []sample, n int) rimewatch.Time {
	if samples[n].broken {
		for _, e := range c.Excluded {
			if e.To > samples[n-1].at && e.From <= samples[n].at {
				return max(e.From, samples[n-1].at)
			}
		}
	}
	return samples[n].at
}

// judgeDays finds the days whose short runs are together more than is graced.
func judgeDays(c *health.Config, samples []sample, short []shortRun) (ended []health.Excursion) {
	if c.Days.Zone == nil {
		return nil
	}
	for len(short) > 0 {
		begin := samples[short[0].i].at.DayTime(0, 0, c.Days.Zone)
		next := samples[short[0].i].at.DayTime(1, 0, c.Days.Zone)
		k := 0
		for k < len(short) && samples[short[k].i].at < next {
			k++
		}
		if begin >= c.Days.Since {
			ended = append(ended, judgeDay(c, samples, short[:k], next)...)
		}
		short = short[k:]
	}
	return ended
}

// judgeDay sums up the short runs of a day that ends with next.
func judgeDay(c *health.Config, samples []sample, runs []shortRun, next rimewatch.Time) []health.Excursion {
	var all, own, last [2]rimewatch.Time
	e := health.Excursion{Start: samples[runs[0].i].at}
	peak := [2]float64{-1000, 1000}
	for _, r := range runs {
		k, ran, defrost := 0, rimewatch.Time(0), r.i > 0 && !samples[r.i].broken && samples[r.i-1].defrost && samples[r.i-1].side == 0
		for j := r.i; j < r.n; j++ {
			p := &samples[j]
			ran += p.end - p.at
			defrost = defrost || p.defrost
			if p.side > 0 {
				e.DegreeMinutes += (p.value - *c.Limits.TempMax) * float64(p.end-p.at) / 60000
				peak[0] = max(peak[0], p.value)
			} else {
				k = 1
				e.DegreeMinutes += (*c.Limits.TempMin - p.value) * float64(p.end-p.at) / 60000
				peak[1] = min(peak[1], p.value)
			}
		}
		if ran == 0 {
			continue
		}
		e.Runs++
		all[k] += ran
		last[k] = r.end
		if k == 1 || !defrost {
			own[k] += ran
		}
	}
	high, low := rimewatch.Time(c.Limits.DelayS)*second, rimewatch.Time(c.Limits.LowDelayS)*second
	if e.Sum = all[0] + all[1]; own[0] <= high && own[1] <= low && e.Sum <= c.Days.Grace+max(high, low) {
		return nil
	}
	for _, r := range runs {
		for j := r.i; j < r.n; j++ {
			samples[j].bad = true
		}
	}
	e.High = all[0] >= all[1]
	if e.Peak = peak[1]; e.High {
		e.Peak = peak[0]
	}
	pending := lastRun(samples)
	switch {
	case len(pending) > 0 && pending[0].at < next: // of this day: it counts in any case
		if pending[0].at >= e.Start {
			for j := range pending {
				pending[j].bad = true
			}
		}
	case samples[len(samples)-1].at >= next:
		e.End = max(last[0], last[1])
	}
	return []health.Excursion{e}
}

// lastRun is the run out of limits that goes on and is no excursion.
func lastRun(samples []sample) []sample {
	i := len(samples) - 1
	if samples[i].side == 0 || samples[i].bad {
		return nil
	}
	for i > 0 && samples[i-1].side == samples[i].side && !samples[i].broken {
		i--
	}
	return samples[i:]
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
	if zone := rapid.SampledFrom([]string{"", "UTC", "Asia/Kathmandu", "Europe/Berlin", "Australia/Lord_Howe"}).Draw(t, "zone"); zone != "" {
		c.Days = health.Days{
			Zone: rimewatch.ZoneOf(zone), Grace: minute * rimewatch.Time(rapid.SampledFrom([]int{0, 24, 120}).Draw(t, "grace")),
			Since: rapid.SampledFrom([]rimewatch.Time{0, 0, noon + 20*hour}).Draw(t, "since"),
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		from := when + grain*rimewatch.Time(rapid.Int64Range(0, int64(30*hour/grain)).Draw(t, "from"))
		if n := len(c.Excluded); n > 0 {
			from = max(from, c.Excluded[n-1].To+grain)
		}
		c.Excluded = append(c.Excluded, health.Span{From: from, To: from + grain*rimewatch.Time(rapid.Int64Range(1, int64(3*hour/grain)).Draw(t, "for"))})
	}
	for range rapid.IntRange(1, 12).Draw(t, "phases") {
		values := rapid.SampledFrom([][]float64{{3}, {3, 4.8}, {9}, {7.5, 5.25}, {-2}, {9, 9, 9, 3}, {9, 9, 9, 9, 9, 9, 9, 9, 3}, {-1, -1, -1, 3}, {9, -2}, {4.8, 5.25}}).Draw(t, "values")
		defrost := rapid.Bool().Draw(t, "defrost")
		for i := range rapid.IntRange(1, 120).Draw(t, "n") {
			samples = append(samples, sample{at: when, value: values[i%len(values)], defrost: defrost})
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

// observe has a state take a sample, and what the unit knows of it.
func observe(s *health.State, c *health.Config, p *sample) []health.Excursion {
	ended := s.Observe(c, at(p.at, p.value))
	if p.defrost {
		s.Hint(health.HintDefrost)
	} else {
		s.Hint(0)
	}
	return ended
}

func checkModel(t *rapid.T, c *health.Config, samples []sample, tolerance int64) {
	last := samples[len(samples)-1].at
	now := last + 2*second*rimewatch.Time(rapid.SampledFrom([]int64{0, 30, 1000, 50_000}).Draw(t, "later"))
	var s health.State
	var got []health.Excursion
	for i := range samples {
		got = append(got, observe(&s, c, &samples[i])...)
	}
	if e, ok := s.Excursion(); ok {
		got = append(got, e)
	}
	if e, ok := s.Day(); ok {
		got = append(got, e)
	}
	slices.SortFunc(got, func(a, b health.Excursion) int { return cmp.Or(int(a.Start-b.Start), a.Runs-b.Runs) })
	history(c, samples, last, 2*minute) // what the last reading is held for is not yet known then
	want := judge(c, samples)
	if d := gocmp.Diff(want, got, cmpopts.EquateApprox(1e-4, 0.02), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(health.Excursion{}, "Hints")); d != "" {
		t.Fatal("excursions:", d)
	}
	for i := range samples {
		samples[i] = sample{at: samples[i].at, value: samples[i].value, defrost: samples[i].defrost}
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
