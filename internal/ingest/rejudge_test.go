package ingest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// sent is a reading on its way.
type sent struct {
	at   rimewatch.Time
	temp float64
}

// submit sends readings of a device in the order given.
func (r *rig) submit(id int64, list []sent) {
	r.t.Helper()
	inputs := make([]store.Input, len(list))
	for i, x := range list {
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id}
		inputs[i].Reading.At = x.at
		inputs[i].Reading.Set(rimewatch.ProductZoneTemp, x.temp)
	}
	if err := r.in.Submit(r.t.Context(), inputs, nil); err != nil {
		r.t.Fatal(err)
	}
}

// limited is a device with a limit, and a delay above it.
func (r *rig) limited(serial string, most float64, delay int) int64 {
	r.t.Helper()
	v, err := r.in.CreateDevice(r.t.Context(), &rimewatch.Device{
		WorkspaceID: r.ws, Serial: serial, Name: serial, EquipmentType: "other", Limits: &rimewatch.LimitOverrides{TempMax: &most, DelayS: &delay},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return v.ID
}

// recorded is what an inspector is told of the excursions of a device, and those that last.
func (r *rig) recorded(id int64) (list []rimewatch.Excursion) {
	r.t.Helper()
	list, err := r.s.Records().Excursions(r.t.Context(), r.ws, id, 0, rimewatch.MaxTime, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	return append(list, r.in.OpenExcursions(r.ws, id)...)
}

// sameExcursions compares what is recorded, but for how and where, and for how sums are rounded.
func sameExcursions(t *testing.T, what string, got, want []rimewatch.Excursion) {
	t.Helper()
	d := cmp.Diff(want, got, cmpopts.IgnoreFields(rimewatch.Excursion{}, "ID", "WorkspaceID", "DeviceID", "FoundLateAt"), cmpopts.EquateApprox(1e-3, 0.1), cmpopts.EquateEmpty())
	if d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// drawPast is readings up to a moment, oldest first: phases within and beyond limits of
// −15 to −10 °C, with silences.
func drawPast(rnd *rand.Rand, until rimewatch.Time) (list []sent) {
	every := []rimewatch.Time{10 * rimewatch.Second, rimewatch.Minute, rimewatch.Minute, 5 * rimewatch.Minute, 15 * rimewatch.Minute}[rnd.IntN(5)]
	jitter := []int64{1, 1000, int64(every) / 4}[rnd.IntN(3)]
	at := until
	for n := 20 + rnd.IntN(1000); n > 0; {
		value := []float64{-20, -20, -20, -14.8, -12, -5, -10.2}[rnd.IntN(7)]
		for range min(n, 1+rnd.IntN(1+int(6*rimewatch.Hour/every))) {
			list = append(list, sent{at - rimewatch.Time(rnd.Int64N(jitter)), value + float64(rnd.IntN(3))/10})
			at -= every
			n--
		}
		at -= []rimewatch.Time{0, 0, 0, 0, 7 * every, 5 * rimewatch.Hour}[rnd.IntN(6)]
	}
	slices.Reverse(list)
	return list
}

// disordered is how a past arrives, in parts.
func disordered(rnd *rand.Rand, list []sent) (parts [][]sent, how string) {
	n := len(list)
	out := slices.Clone(list)
	switch rnd.IntN(7) {
	case 6:
		how = "the last part, the first, the middle"
		out = slices.Concat(list[2*n/3:], list[:n/3], list[n/3:2*n/3])
	case 0:
		how = "the live value first"
		out = append([]sent{out[n-1]}, out[:n-1]...)
	case 1:
		how = "newest first"
		slices.Reverse(out)
	case 2:
		how = "neighbours swapped"
		for i := 0; i+1 < n; i += 2 {
			out[i], out[i+1] = out[i+1], out[i]
		}
	case 3:
		how = "a part last"
		from := rnd.IntN(n)
		to := from + rnd.IntN(n-from)
		out = append(append(slices.Clone(list[:from]), list[to:]...), list[from:to]...)
	case 4:
		how = "shuffled"
		rnd.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	case 5:
		how = "jitter"
		for i := range out {
			j := min(n-1, i+rnd.IntN(4))
			out[i], out[j] = out[j], out[i]
		}
	}
	for len(out) > 0 {
		k := min(len(out), 1+rnd.IntN(n))
		parts, out = append(parts, out[:k]), out[k:]
	}
	return parts, how
}

// TestOrderOfArrival: excursions, and the compliance of the last day, are what they are
// for a device that sent the same in order, whatever the order in which readings come,
// and although the service is killed meanwhile.
func TestOrderOfArrival(t *testing.T) {
	seed := trial.Seed(t)
	for round := range uint64(shorter(6, 2)) {
		rnd := rand.New(rand.NewPCG(seed, round))
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer func() { r.close() }()
			r.checkOrder(rnd)
		})
	}
}

// checkOrder compares some devices with twins that send in order.
func (r *rig) checkOrder(rnd *rand.Rand) {
	t := r.t
	if rnd.IntN(3) == 0 { // there is room for one state in memory
		r.close()
		r.memory = 1
		r.open()
	}
	for range rnd.IntN(3) {
		from := r.now() - rimewatch.Time(rnd.Int64N(int64(24*rimewatch.Hour)))
		w := &rimewatch.MaintenanceWindow{WorkspaceID: r.ws, StartsAt: from, EndsAt: min(from+rimewatch.Time(rnd.Int64N(int64(5*rimewatch.Hour))), r.now()), CreatedBy: "Ana"}
		if err := r.in.MaintenanceWindows().Create(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	const pairs = 8
	var twins, ids [pairs]int64
	var parts [pairs][][]sent
	var how [pairs]string
	for i := range pairs {
		delay := []int{0, 60, 1800, 5400}[rnd.IntN(4)]
		twins[i], ids[i] = r.limited(fmt.Sprint("twin-", i), -15, delay), r.limited(fmt.Sprint("D-", i), -15, delay)
		past := drawPast(rnd, r.now()-[]rimewatch.Time{0, 0, rimewatch.Hour, 22 * rimewatch.Hour, 30 * rimewatch.Hour}[rnd.IntN(5)])
		parts[i], how[i] = disordered(rnd, past)
		how[i] += fmt.Sprintf(", delay %d s, %d readings in %d parts", delay, len(past), len(parts[i]))
		r.submit(twins[i], past)
	}
	for left := true; left; {
		left = false
		for i := range pairs {
			if len(parts[i]) > 0 {
				r.submit(ids[i], parts[i][0])
				parts[i], left = parts[i][1:], true
			}
		}
		switch rnd.IntN(12) {
		case 0:
			r.crash()
		case 1:
			r.in.CheckpointAll()
			r.crash()
		case 2, 3:
			time.Sleep([]time.Duration{time.Second, 65 * time.Second}[rnd.IntN(2)])
		}
	}
	time.Sleep(2*time.Minute + time.Second)
	r.equalPairs(twins[:], ids[:], how[:])
	r.crash()
	r.equalPairs(twins[:], ids[:], how[:])
	time.Sleep(time.Duration(rnd.IntN(shorter(600, 60))) * time.Minute)
	for i := range pairs { // what ran goes on, and ends
		for k, temp := range []float64{-12, -12, -20, -20, -20, -20, -20, -20, -20} {
			x := []sent{{r.now() + rimewatch.Time(k-10)*rimewatch.Minute, temp}}
			r.submit(twins[i], x)
			r.submit(ids[i], x)
		}
	}
	r.equalPairs(twins[:], ids[:], how[:])
}

func (r *rig) equalPairs(twins, ids []int64, how []string) {
	r.t.Helper()
	for i := range ids {
		sameExcursions(r.t, how[i], r.recorded(ids[i]), r.recorded(twins[i]))
		got, want := r.in.DeviceCompliance(ids[i]), r.in.DeviceCompliance(twins[i])
		slack := int64(20_000) // units of 2 s, and what is known of the usual time between readings
		if off(got.Window, want.Window) > slack || off(got.Covered, want.Covered) > slack || off(got.In, want.In) > slack || off(got.Strict, want.Strict) > slack {
			r.t.Fatalf("%s: compliance %+v, want %+v", how[i], got, want)
		}
	}
}

func off(a, b int64) int64 { return max(a-b, b-a) }

// TestLateSpell: two hours of a backlog that come last are in the record, found late, and
// wake nobody; a device that sends in order is not judged again.
func TestLateSpell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id, other := r.limited("L", -15, 1800), r.limited("O", -15, 1800)
		began := r.now() - 6*rimewatch.Hour
		var good, bad []sent
		for at := began; at <= r.now(); at += rimewatch.Minute {
			if at >= began+2*rimewatch.Hour && at < began+4*rimewatch.Hour {
				bad = append(bad, sent{at, -5})
			} else {
				good = append(good, sent{at, -20})
			}
		}
		r.submit(id, good)
		r.submit(other, good)
		r.submit(id, bad)
		r.crash()
		time.Sleep(time.Second)
		list := r.excursions()
		if len(list) != 1 {
			t.Fatalf("recorded %+v", list)
		}
		e := list[0]
		if e.DeviceID != id || e.From != bad[0].at || e.To != bad[len(bad)-1].at+rimewatch.Minute || e.Peak != -5 || e.Limit != -15 || e.FoundLateAt == 0 || e.Cause != rimewatch.CauseUnknown {
			t.Errorf("recorded %+v", e)
		}
		same(t, "alerts", r.alerts(), []string(nil))
		sum := r.in.DeviceCompliance(id)
		if v, _ := sum.Percent(); math.Abs(v-66.6) > 0.1 {
			t.Errorf("compliance is %v", v)
		}
		// A reading within limits in its middle splits it, and the record is mended.
		half := bad[60].at
		for k := range rimewatch.Time(20) {
			r.submit(id, []sent{{half + k*20*rimewatch.Second + 1, -20}})
		}
		time.Sleep(2 * time.Minute)
		after := r.excursions()
		if len(after) != 1 || after[0].ID != e.ID || after[0].From != e.From {
			t.Errorf("recorded %+v, was %+v", after, e)
		}
		r.in.CheckpointAll()
		r.crash()
		time.Sleep(time.Minute)
		same(t, "after a restart", r.excursions(), after)
	})
}

// TestLateLeavesAlone: what was over before the late readings began, and what began long after
// them, stays on record as it is, under its id.
func TestLateLeavesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.limited("L", -15, 300)
		began := r.now() - 50*rimewatch.Hour
		var first, middle, last []sent
		for at := began; at <= began+12*rimewatch.Hour; at += 10 * rimewatch.Second {
			x := sent{at, -20}
			if into := (at - began) % (2 * rimewatch.Hour); into >= rimewatch.Hour && into < rimewatch.Hour+20*rimewatch.Minute {
				x.temp = -10
			}
			switch {
			case at < began+4*rimewatch.Hour:
				first = append(first, x)
			case at < began+8*rimewatch.Hour:
				middle = append(middle, x)
			default:
				last = append(last, x)
			}
		}
		r.submit(id, first)
		r.submit(id, last)
		was := r.excursions()
		if len(was) != 4 {
			t.Fatalf("recorded %+v", was)
		}
		r.submit(id, middle)
		time.Sleep(2 * time.Minute)
		is := r.excursions()
		slices.SortFunc(is, func(a, b rimewatch.Excursion) int { return int(a.From - b.From) })
		if len(is) != 6 {
			t.Fatalf("recorded %+v", is)
		}
		same(t, "before and after", slices.Concat(is[:2], is[4:]), was)
	})
}

// TestLateInLongExcursion: an excursion that began longer ago than is judged again keeps its
// beginning and its worst, while it lasts and after that.
func TestLateInLongExcursion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		twin, id := r.limited("T", -15, 300), r.limited("L", -15, 300)
		began := r.now() - 45*rimewatch.Day
		list := []sent{{began - rimewatch.Hour, -20}}
		for at := began; at <= r.now()-rimewatch.Day; at += 15 * rimewatch.Minute {
			list = append(list, sent{at, -10})
		}
		list[100].temp = 5
		late := []sent{{r.now() - 2*rimewatch.Day + 1, -10}}
		check := func(what string) {
			t.Helper()
			time.Sleep(2 * time.Minute)
			sameExcursions(t, what, r.recorded(id), r.recorded(twin))
		}
		r.submit(twin, list)
		r.submit(id, list)
		r.submit(id, late)
		check("while it lasts")
		for at := r.now() - 20*rimewatch.Hour; at < r.now()-19*rimewatch.Hour; at += 10 * rimewatch.Minute {
			r.submit(twin, []sent{{at, -20}})
			r.submit(id, []sent{{at, -20}})
		}
		check("that is over")
		late[0].at++
		r.submit(id, late)
		check("when it is over")
	})
}

// TestFormerLimits: late readings are judged by the limits of their time.
func TestFormerLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.limited("L", -15, 600)
		began := r.now()
		r.warm(id, -20, 10*time.Minute)
		time.Sleep(3 * time.Hour)
		most, delay := -5.0, 600
		if _, err := r.in.UpdateDevice(t.Context(), r.ws, "L", func(d *rimewatch.Device) error {
			d.Limits = &rimewatch.LimitOverrides{TempMax: &most, DelayS: &delay}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		changed := r.now()
		time.Sleep(3 * time.Hour)
		r.warm(id, -20, 10*time.Minute)
		for at := began + rimewatch.Hour; at < began+2*rimewatch.Hour; at += rimewatch.Minute {
			r.submit(id, []sent{{at, -12}, {at + 3*rimewatch.Hour, -12}, {at + 4*rimewatch.Hour, -3}})
		}
		r.submit(id, []sent{{began + 2*rimewatch.Hour, -20}})
		time.Sleep(2 * time.Minute)
		sameExcursions(t, "limits of before", r.recorded(id), []rimewatch.Excursion{
			{From: began + rimewatch.Hour, To: began + 2*rimewatch.Hour, Limit: -15, Peak: -12, DegreeMinutes: 180, Cause: rimewatch.CauseUnknown},
			{From: began + 5*rimewatch.Hour, To: changed + 3*rimewatch.Hour, Limit: -5, Peak: -3, DegreeMinutes: 122, Cause: rimewatch.CauseUnknown},
		})
	})
}

// TestCalibratedLater: what was judged before a calibration was recorded is judged again by
// its offset, from its moment on, so that the record is the same whenever it came and
// whatever came late, and says the same as the readings beside it.
func TestCalibratedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		until := r.now()
		var list []sent
		for i := range rimewatch.Time(20 * 60) { // an hour of each at a time
			list = append(list, sent{until - 20*rimewatch.Hour + i*rimewatch.Minute, []float64{-20, -14, -20, -16}[i/60%4]})
		}
		first, second := list[90].at, list[len(list)-450].at
		ids := make([]int64, 5)
		for i := range ids {
			ids[i] = r.limited(fmt.Sprint(i), -15, 600)
		}
		calibrate := func(i int, from rimewatch.Time, offset float64) {
			c := &rimewatch.Calibration{Field: rimewatch.ProductZoneTemp, Method: "other", Offset: offset, PerformedAt: from, AppliedFrom: from, DueAt: until + rimewatch.Day, PerformedBy: "Ana"}
			if _, err := r.in.Calibrate(t.Context(), r.ws, fmt.Sprint(i), c, func(*rimewatch.Device) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		settle := func() { time.Sleep(3 * time.Minute) }
		calibrate(0, first, 2) // known before anything came
		calibrate(0, second, -2)
		r.submit(ids[0], list)
		for i := 1; i < 3; i++ {
			r.submit(ids[i], list)
		}
		r.submit(ids[3], list[600:])
		r.submit(ids[4], list[:600])
		settle()
		calibrate(1, first, 2)
		calibrate(1, second, -2)
		calibrate(2, second, -2) // the later first
		settle()
		for i := 2; i < 5; i++ {
			calibrate(i, first, 2)
		}
		r.crash()
		r.submit(ids[3], list[:600])
		r.submit(ids[4], list[600:])
		settle()
		calibrate(3, second, -2)
		calibrate(4, second, -2)
		settle()
		if n := len(r.recorded(ids[0])); n < 3 {
			t.Fatalf("only %d excursions", n)
		}
		r.equalPairs(slices.Repeat(ids[:1], 4), ids[1:], []string{"afterwards", "the later first", "newest first", "amid"})
	})
}

// meanwhile is a store that lets something happen while the writer concludes what was
// judged again.
type meanwhile struct {
	*sqlite.Store
	happen func()
}

func (m *meanwhile) Records() store.Records { return recordsMeanwhile{m.Store.Records(), m} }

type recordsMeanwhile struct {
	store.Records
	m *meanwhile
}

func (r recordsMeanwhile) Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time, limit int) ([]rimewatch.Excursion, error) {
	if f := r.m.happen; f != nil && to == rimewatch.MaxTime {
		r.m.happen = nil
		f()
	}
	return r.Records.Excursions(ctx, workspaceID, deviceID, from, to, limit)
}

// TestCalibratedMeanwhile: of two calibrations the second counts also where it waits to be
// committed while the record is judged again by the first.
func TestCalibratedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.close()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		m := &meanwhile{Store: s}
		r.s, r.in = s, ingest.New(ingest.Config{Store: m, Publisher: r})
		if err := r.in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.close() }()
		id, from := r.limited("A", -15, 600), r.now()-10*rimewatch.Hour
		var list []sent
		for i := range rimewatch.Time(600) {
			list = append(list, sent{from + i*rimewatch.Minute, -16})
		}
		r.submit(id, list)
		calibrate := func(offset float64) {
			c := &rimewatch.Calibration{Field: rimewatch.ProductZoneTemp, Method: "other", Offset: offset, PerformedAt: from, AppliedFrom: from, DueAt: r.now() + rimewatch.Day, PerformedBy: "Ana"}
			if _, err := r.in.Calibrate(t.Context(), r.ws, "A", c, func(*rimewatch.Device) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		m.happen = func() {
			go calibrate(0.5)
			synctest.Wait()
		}
		calibrate(3)
		time.Sleep(3 * time.Minute)
		if got := r.in.OpenExcursions(r.ws, id); m.happen != nil || len(got) != 0 || len(r.recorded(id)) != 0 {
			t.Errorf("judged by the first calibration: %+v, %+v", got, r.recorded(id))
		}
	})
}

// TestAlwaysBackwards: a device that sends backwards for good is judged once a minute.
func TestAlwaysBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.limited("L", -15, 300)
		var rejudged atomic.Int32
		r.heard = heard(func(kind store.InputKind) {
			if kind == store.InputRejudged {
				rejudged.Add(1)
			}
		})
		end := r.now()
		for i := range rimewatch.Time(600) {
			r.submit(id, []sent{{end - i*rimewatch.Second, -12}})
			time.Sleep(time.Second)
		}
		if n := rejudged.Load(); n < 8 || n > 12 {
			t.Errorf("judged %d times in ten minutes", n)
		}
		time.Sleep(time.Minute)
		if got := r.in.OpenExcursions(r.ws, id); len(got) != 1 || got[0].From != end-599*rimewatch.Second {
			t.Errorf("lasts: %+v", got)
		}
	})
}

// heard hears of the kinds of all inputs.
type heard func(store.InputKind)

func (h heard) Publish(p *publish.Commit) {
	for _, part := range p.Parts {
		for i := range part {
			h(part[i].Kind)
		}
	}
}
