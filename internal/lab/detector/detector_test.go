package detector

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/rimewatch/rimewatch/internal/lab/draw"
)

// machine yields rows of a healthy machine: two channels of noise, one that
// wanders slowly, one coarsely quantised.
func machine(seed uint64) func() []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	slow := 0.0
	return func() []float64 {
		slow = 0.98*slow + r.NormFloat64()
		return []float64{10 + r.NormFloat64(), 0.001 * r.NormFloat64(), 50 + slow, math.Round(r.NormFloat64() / 2)}
	}
}

func newTest(learn int) *Detector {
	return New(DefaultTuning(), learn, EitherWay, EitherWay, EitherWay, EitherWay)
}

func TestDetectorIsSilentOnHealthyMachines(t *testing.T) {
	alarms, rows := 0, 0
	for seed := range uint64(20) {
		d, next := newTest(400), machine(seed)
		was := false
		for range 3000 {
			v := d.Observe(next())
			if v.Alarm && !was {
				alarms++
			}
			was = v.Alarm
			rows++
		}
	}
	if lengths := rows / 400; 2*10*alarms > lengths { // half an alarm in ten lengths of learning
		t.Errorf("%d alarms in %d healthy rows", alarms, rows)
	}
}

func TestDetectorFindsAShiftWhereverItComes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		onset := rapid.IntRange(420, 2000).Draw(rt, "onset")
		channel := rapid.SampledFrom([]int{0, 1, 3}).Draw(rt, "channel")
		scale := []float64{1, 0.001, 0, 0.6}[channel] * rapid.SampledFrom([]float64{-4, 4}).Draw(rt, "size")
		d, next := newTest(400), machine(seed)
		begun, ended := -1, -1
		for i := range onset + 400 {
			row := next()
			if i >= onset && i < onset+200 {
				row[channel] += scale
			}
			v := d.Observe(row)
			if v.Alarm && i < onset+2 && i >= onset-60 {
				rt.Skip("the channel that wanders had left its range just then")
			}
			if _, _, cause := d.Channel(channel); cause && begun < 0 && i >= onset {
				begun = i
			}
			if begun >= 0 && ended < 0 && i >= onset+200 && !v.Alarm {
				ended = i
			}
		}
		if begun < 0 || begun > onset+30 {
			rt.Fatalf("shift at %d alarmed at %d", onset, begun)
		}
		if ended < 0 || ended > onset+200+60 {
			rt.Fatalf("shift over at %d, alarm until %d", onset+200, ended)
		}
	})
}

// A verdict follows the signal, never the count of rows: with healthy rows taken
// out before it, the same fault is found the same number of rows later.
func TestDetectorHasNoClock(t *testing.T) {
	begun := func(healthy int) int {
		d, next := newTest(400), machine(5)
		for range 400 + healthy {
			if v := d.Observe(next()); v.Alarm {
				t.Fatal("alarm on healthy rows")
			}
		}
		for i := range 100 {
			row := next()
			row[0] += 4
			if d.Observe(row).Alarm {
				return i
			}
		}
		return -1
	}
	for _, healthy := range []int{40, 170, 333, 1000} {
		if i := begun(healthy); i < 0 || i > 30 {
			t.Errorf("after %d healthy rows the alarm comes at %d", healthy, i)
		}
	}
}

func TestDetectorDoubtsAChannelThatOnlyWandered(t *testing.T) {
	score := func(smooth float64) float64 {
		r := rand.New(rand.NewPCG(3, 3))
		d := New(DefaultTuning(), 400, EitherWay)
		x := 0.0
		scale := math.Sqrt(1 - smooth*smooth)
		for range 400 {
			x = smooth*x + scale*r.NormFloat64()
			d.Observe([]float64{x})
		}
		for range 30 {
			d.Observe([]float64{4})
		}
		s, _, _ := d.Channel(0)
		return s
	}
	if fast, slow := score(0), score(0.99); fast < 2.5 || slow > 2.5 {
		t.Errorf("a shift of 4 deviations scores %.2f on white noise and %.2f on a slow channel", fast, slow)
	}
}

func TestDetectorSurvivesMissingValues(t *testing.T) {
	d, next := newTest(400), machine(9)
	for i := range 1500 {
		row := next()
		if i%3 == 0 {
			row[i%4] = math.NaN()
		}
		row[2] = math.NaN()
		if i > 1400 {
			row[0] += 5
		}
		v := d.Observe(row)
		if math.IsNaN(v.Score) || (v.Alarm && i <= 1400) {
			t.Fatalf("row %d: %+v", i, v)
		}
		if i == 1450 && !v.Alarm {
			t.Error("the fault is not found")
		}
	}
	if s, _, _ := d.Channel(2); s != 0 {
		t.Errorf("a channel without data scores %v", s)
	}
}

func TestDirection(t *testing.T) {
	for _, tc := range []struct {
		direction Direction
		shift     float64
		want      bool
	}{{Upwards, 5, true}, {Upwards, -5, false}, {EitherWay, -5, true}} {
		r := rand.New(rand.NewPCG(4, 4))
		d := New(DefaultTuning(), 400, tc.direction)
		var v Verdict
		for range 400 {
			d.Observe([]float64{r.NormFloat64()})
		}
		for range 40 {
			v = d.Observe([]float64{tc.shift + r.NormFloat64()})
		}
		if v.Alarm != tc.want {
			t.Errorf("direction %d, shift %v: alarm %v", tc.direction, tc.shift, v.Alarm)
		}
	}
}

func TestAutocorrelationTime(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, phi := range []float64{0, 0.5, 0.9} {
		x := make([]float64, 20000)
		for i := range x {
			x[i] = r.NormFloat64()
			if i > 0 {
				x[i] += phi * x[i-1]
			}
		}
		want := (1 + phi) / (1 - phi) // of a first-order autoregression
		if got := autocorrelationTime(x, meanSquare(x)); math.Abs(got-want) > 0.25*want {
			t.Errorf("φ = %v: %.2f, want %.2f", phi, got, want)
		}
	}
}

func BenchmarkDetector(b *testing.B) {
	d, next := newTest(400), machine(1)
	rows := make([][]float64, 1000)
	for i := range rows {
		rows[i] = next()
	}
	for i := 0; b.Loop(); i++ {
		d.Observe(rows[i%1000])
	}
}
