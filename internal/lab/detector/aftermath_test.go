package detector

import (
	"math/rand/v2"
	"testing"
)

// plays runs rows of noise with a shift, given per row, through a detector of one
// channel and returns the rows in which alarms opened and ended.
func plays(rows int, shift func(i int) float64) (opened, ended []int) {
	r := rand.New(rand.NewPCG(6, 6))
	d := New(DefaultTuning(), 400, EitherWay)
	was := false
	for i := range rows {
		v := d.Observe([]float64{shift(i) + r.NormFloat64()})
		if v.Alarm && !was {
			opened = append(opened, i)
		}
		if !v.Alarm && was {
			ended = append(ended, i)
		}
		was = v.Alarm
	}
	return opened, ended
}

// What a fault leaves behind is not another fault, unless it is worse; after as long as
// the alarm lasted it is.
func TestAftermath(t *testing.T) {
	fault := func(left float64, worse bool) func(int) float64 {
		return func(i int) float64 {
			switch {
			case i < 500:
				return 0
			case i < 800:
				return 12
			case worse && i >= 900:
				return 30
			default:
				return left
			}
		}
	}
	opened, ended := plays(1050, fault(4, false))
	if len(opened) != 1 || len(ended) != 1 || ended[0] < 800 || ended[0] > 830 {
		t.Errorf("a level left behind: opened %v, ended %v", opened, ended)
	}
	if opened, _ := plays(1600, fault(4, false)); len(opened) != 2 || opened[1] < 1050 {
		t.Errorf("a level left behind for longer than the alarm: opened %v", opened)
	}
	if opened, _ := plays(1050, fault(0, true)); len(opened) != 2 || opened[1] > 930 {
		t.Errorf("a worse fault after it: opened %v", opened)
	}
}

// After a gap the levels are learnt anew, not the scatter.
func TestResume(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	d := New(DefaultTuning(), 400, EitherWay)
	for range 600 {
		d.Observe([]float64{r.NormFloat64()})
	}
	d.Resume()
	learning, alarms := 0, 0
	for i := range 900 {
		level := 8.0 // it stands elsewhere since
		if i >= 700 {
			level = 14
		}
		v := d.Observe([]float64{level + r.NormFloat64()})
		if v.Learning {
			learning++
		}
		if v.Alarm && i < 700 {
			t.Fatalf("alarm in row %d after the gap", i)
		}
		if v.Alarm {
			alarms++
		}
	}
	if learning != 200 || alarms < 150 {
		t.Errorf("learnt for %d rows, in alarm for %d of 200", learning, alarms)
	}
}

// A channel that wandered slowly through its learning is evidence and raises nothing.
func TestSlowChannel(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	d := New(DefaultTuning(), 400, EitherWay, EitherWay)
	slow := 0.0
	raised := false
	for i := range 900 {
		slow = 0.995*slow + 0.1*r.NormFloat64()
		row := []float64{r.NormFloat64(), slow}
		if i >= 500 {
			row[1] += 50
		}
		raised = d.Observe(row).Alarm || raised
	}
	if score, _, cause := d.Channel(1); raised || cause || score < DefaultTuning().Threshold {
		t.Errorf("alarm %v, cause %v, score %.1f", raised, cause, score)
	}
}
