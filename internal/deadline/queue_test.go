package deadline_test

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/deadline"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

const noon = rimewatch.Time(1_780_000_000_000)

type device struct {
	deadline.Entry
	id int
}

// wish is a deadline of the model, with the step in which it was set.
type wish struct {
	at   rimewatch.Time
	step int
}

// TestQueueProperties drives a queue beside a plain map.
func TestQueueProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			q       deadline.Queue[*device]
			devices [40]device
			model   = map[int]wish{}
			now     = noon
		)
		for i := range devices {
			devices[i].id = i
		}
		pop := func() {
			got, ok := q.Pop(now)
			want := earliest(model)
			if ok != (want >= 0 && model[want].at <= now) || ok && got.id != want {
				t.Fatalf("popped %v %v, want %d of %v at %d", got, ok, want, model, now)
			}
			if ok {
				delete(model, want)
			}
		}
		for step := range rapid.IntRange(1, 150).Draw(t, "steps") {
			d := &devices[rapid.IntRange(0, len(devices)-1).Draw(t, "id")]
			switch rapid.IntRange(0, 7).Draw(t, "op") {
			case 0:
				q.Remove(d)
				delete(model, d.id)
			case 1:
				q.Set(d, 0)
				delete(model, d.id)
			case 2, 3, 4, 5: // few moments, so that many are the same
				at := now + rimewatch.Time(rapid.Int64Range(-3, 12).Draw(t, "in"))*1000
				q.Set(d, at)
				if model[d.id].at != at {
					model[d.id] = wish{at, step}
				}
			default:
				now += rimewatch.Time(rapid.Int64Range(-2, 5).Draw(t, "by")) * 1000
				for range rapid.IntRange(1, 10).Draw(t, "pops") {
					pop()
				}
			}
			if first := earliest(model); q.Len() != len(model) || q.Next() != model[first].at || d.Due() != model[d.id].at {
				t.Fatalf("%d deadlines, the next at %d, want %v", q.Len(), q.Next(), model)
			}
			for d := range q.All {
				if _, ok := model[d.id]; !ok {
					t.Fatal("All yields", d.id, "of", model)
				}
			}
		}
		for now = rimewatch.MaxTime; len(model) > 0; { // in the end everything is named
			pop()
		}
		pop()
	})
}

// earliest is the id of the model's first deadline, −1 when there is none.
func earliest(model map[int]wish) int {
	first := -1
	for id, w := range model {
		if f := model[first]; first < 0 || cmp.Or(cmp.Compare(w.at, f.at), cmp.Compare(w.step, f.step)) < 0 {
			first = id
		}
	}
	return first
}

// TestOrder names a mass outage in order, with deadlines put off and brought
// forward meanwhile.
func TestOrder(t *testing.T) {
	var q deadline.Queue[*device]
	rnd := rand.New(rand.NewPCG(1, 2))
	devices := make([]device, 5000)
	for range 4 {
		for i := range devices {
			q.Set(&devices[i], noon+rimewatch.Time(rnd.Int64N(3_600_000)))
		}
	}
	last, named := rimewatch.Time(0), 0
	for range devices {
		due := q.Next()
		d, ok := q.Pop(noon + rimewatch.Hour)
		if !ok || due < last || d.Due() != 0 {
			t.Fatalf("%d comes after %d (%v), and keeps %d", due, last, ok, d.Due())
		}
		last = due
		named++
	}
	if named != len(devices) || q.Len() != 0 {
		t.Fatal(named, q.Len())
	}
}

// BenchmarkSet is what a deadline costs: put off, as by a reading, and brought
// forward, which moves it.
func BenchmarkSet(b *testing.B) {
	const n = 100_000
	for _, bench := range []struct {
		name string
		at   func(i int) rimewatch.Time
	}{
		{"off", func(i int) rimewatch.Time { return noon + rimewatch.Hour + rimewatch.Time(i) }},
		{"forward", func(i int) rimewatch.Time { return noon - rimewatch.Time(i) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			q, devices := fill(n)
			i := 0
			for b.Loop() {
				q.Set(&devices[i*7919%n], bench.at(i))
				i++
			}
		})
	}
	b.Run("pop and set", func(b *testing.B) {
		q, _ := fill(n)
		i := 0
		for b.Loop() {
			d, _ := q.Pop(rimewatch.MaxTime)
			q.Set(d, noon+rimewatch.Minute*3+rimewatch.Time(i))
			i++
		}
	})
}

func fill(n int) (*deadline.Queue[*device], []device) {
	q := new(deadline.Queue[*device])
	devices := make([]device, n)
	for i := range devices {
		q.Set(&devices[i], noon+rimewatch.Time(i%180_000))
	}
	return q, devices
}
