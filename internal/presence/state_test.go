package presence_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/presence"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

const noon = rimewatch.Time(1_780_000_000_000)

// every makes a device heard n times at a rhythm.
func every(n int, gap rimewatch.Time) (s presence.State, last rimewatch.Time) {
	for i := range n {
		last = noon + rimewatch.Time(i)*gap
		s.Seen(nil, last)
	}
	return s, last
}

func TestOfflineAfter(t *testing.T) {
	for _, tc := range []struct {
		name  string
		heard int
		gap   rimewatch.Time
		c     presence.Config
		want  time.Duration
	}{
		{"nothing known", 0, 0, presence.Config{}, 180 * time.Second},
		{"a first gap stands in", 2, 600_000, presence.Config{}, 30 * time.Minute},
		{"for that of an hourly logger at most", 2, 20 * 3_600_000, presence.Config{}, 3 * time.Hour},
		{"five gaps are", 6, 600_000, presence.Config{}, 30 * time.Minute},
		{"at least three minutes", 20, 10_000, presence.Config{}, 180 * time.Second},
		{"declared beats learnt", 20, 600_000, presence.Config{IntervalS: 100}, 300 * time.Second},
		{"declared and short", 0, 0, presence.Config{IntervalS: 5}, 180 * time.Second},
		{"configured beats all", 20, 600_000, presence.Config{IntervalS: 100, OfflineAfterS: 10}, 10 * time.Second},
		{"a burst is one sign of life", 50, 999, presence.Config{}, 180 * time.Second},
	} {
		s, _ := every(tc.heard, tc.gap)
		if got := s.OfflineAfter(tc.c); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// heard makes a device heard after each of some gaps, over and over.
func heard(times int, gaps ...time.Duration) (s presence.State) {
	now := noon
	s.Seen(nil, now)
	for range times {
		for _, g := range gaps {
			now = now.Add(g)
			s.Seen(nil, now)
		}
	}
	return s
}

// TestSilenceIsJudgedByTheDistributionOfGaps: what is learnt fits sensors that report on change and in
// bursts, and is no longer than the alarm delay unless a person says so.
func TestSilenceIsJudgedByTheDistributionOfGaps(t *testing.T) {
	const m, h = time.Minute, time.Hour
	onChange := []time.Duration{8 * time.Second, 40 * time.Second, 90 * time.Second, 185 * time.Second, 25 * time.Second, 335 * time.Second, 60 * time.Second, 420 * time.Second}
	burst := []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 2 * h}
	steady := func(n int, gap time.Duration, outages ...time.Duration) []time.Duration {
		list := make([]time.Duration, n, n+len(outages))
		for i := range list {
			list[i] = gap
		}
		return append(list, outages...)
	}
	for _, tc := range []struct {
		name  string
		s     presence.State
		c     presence.Config
		after time.Duration
		by    presence.Basis
		offer time.Duration
	}{
		{"on change", heard(20, onChange...), presence.Config{AlarmDelayS: 2700}, 15 * m, presence.ByGaps, 0},
		{"every 30 min", heard(10, 30*m), presence.Config{AlarmDelayS: 7200}, 75 * m, presence.ByGaps, 0},
		{"every 2 h is offered", heard(10, 2*h), presence.Config{AlarmDelayS: 2700}, 45 * m, presence.ByAlarm, 3 * h},
		{"every 2 h is accepted", heard(10, 2*h), presence.Config{AlarmDelayS: 2700, OfflineAfterS: 10_800}, 3 * h, presence.Declared, 0},
		{"every 2 h where nothing is judged", heard(10, 2*h), presence.Config{}, 3 * h, presence.ByGaps, 0},
		{"in bursts", heard(10, burst...), presence.Config{AlarmDelayS: 14_400}, 3 * h, presence.ByGaps, 0},
		{"six hours at most", heard(10, 12*h), presence.Config{}, 6 * h, presence.ByGaps, 0},
		{"outages are no rhythm", heard(1, steady(60, m, 5*h, 7*h)...), presence.Config{AlarmDelayS: 2700}, 3 * m, presence.ByGaps, 0},
		{"a rhythm that was is forgotten", heard(1, append(steady(60, 20*m), steady(400, m)...)...), presence.Config{AlarmDelayS: 7200}, 3 * m, presence.ByGaps, 0},
		{"a Shelly at first", heard(1, m), presence.Config{AlarmDelayS: 2700, Habit: rimewatch.HabitSleeps}, 3 * h, presence.ByKind, 0},
		{"a Shelly that sleeps", heard(60, 2*h), presence.Config{AlarmDelayS: 2700, Habit: rimewatch.HabitSleeps}, 3 * h, presence.ByGaps, 0},
		{"a Shelly on the mains", heard(60, m), presence.Config{AlarmDelayS: 2700, Habit: rimewatch.HabitSleeps}, 3 * m, presence.ByGaps, 0},
		{"LoRaWAN at first", heard(0), presence.Config{AlarmDelayS: 2700, Habit: rimewatch.HabitLoRaWAN}, 2 * h, presence.ByKind, 0},
		{"LoRaWAN", heard(10, 40*m), presence.Config{AlarmDelayS: 2700, Habit: rimewatch.HabitLoRaWAN}, 80 * m, presence.ByKind, 0},
		{"a declared interval", heard(10, m), presence.Config{AlarmDelayS: 2700, IntervalS: 3600}, 3 * h, presence.ByInterval, 0},
	} {
		if got := tc.s.Silence(tc.c); got.After != tc.after || got.By != tc.by || got.Offer != tc.offer {
			t.Errorf("%s: %v by %s, offered %v; want %v by %s, offered %v", tc.name, got.After, got.By, got.Offer, tc.after, tc.by, tc.offer)
		}
	}
}

// TestOurDowntimeIsNoGap: a gap in which nobody listened says nothing of the rhythm.
func TestOurDowntimeIsNoGap(t *testing.T) {
	s := heard(10, time.Minute)
	want := s
	for range 10 {
		from := s.LastSeen
		down := []presence.Downtime{{From: from + 1000, To: from + 7_200_000}}
		s.Seen(down, from+7_230_000)
	}
	if got := s.OfflineAfter(presence.Config{}); got != want.OfflineAfter(presence.Config{}) {
		t.Error(got)
	}
	live, replayed := want, want
	from := want.LastSeen
	live.Seen(nil, from+60_000)
	replayed.Seen([]presence.Downtime{{From: from + 90_000, To: from + 100_000}}, from+60_000) // one that came later
	if live != replayed {
		t.Errorf("%+v, after a replay %+v", live, replayed)
	}
}

// TestStateOfVersion1: what an older program has learnt of a slow sensor is kept, and not bounded by
// an alarm delay that nobody was asked about.
func TestStateOfVersion1(t *testing.T) {
	old := []byte{1, 1, 6, 6}
	for _, at := range []rimewatch.Time{noon, 0, noon, noon} {
		old = binary.AppendVarint(old, int64(at))
	}
	for range 6 {
		old = binary.AppendUvarint(old, 3_600_000)
	}
	var s presence.State
	if rest, err := s.DecodeBinary(old); err != nil || len(rest) != 0 {
		t.Fatal(rest, err)
	}
	c := presence.Config{AlarmDelayS: 2700}
	if got := s.Silence(c); got.After != 3*time.Hour || got.By != presence.ByGaps || !s.Online || s.LastSeen != noon {
		t.Errorf("%+v %+v", got, s)
	}
	var again presence.State
	if _, err := again.DecodeBinary(s.AppendBinary(nil)); err != nil || again != s {
		t.Errorf("%+v became %+v: %v", s, again, err)
	}
}

// TestSlowRhythmIsLearnt: a device that reports every ten minutes goes offline
// after its first report, and no more once it has come back.
func TestSlowRhythmIsLearnt(t *testing.T) {
	var s presence.State
	offline := 0
	for i := range 20 {
		now := noon + rimewatch.Time(i)*10*rimewatch.Minute
		if s.Tick(presence.Config{}, nil, now-1) {
			offline++
		}
		s.Seen(nil, now)
	}
	if offline != 1 {
		t.Errorf("offline %d times, want 1", offline)
	}
}

func TestOutageDoesNotChangeTheRhythm(t *testing.T) {
	s, last := every(20, rimewatch.Minute)
	for i := range 3 {
		last += rimewatch.Hour
		s.Seen(nil, last)
		last += rimewatch.Minute
		s.Seen(nil, last)
		if got := s.Interval(presence.Config{}); got != time.Minute {
			t.Errorf("after %d outages: %v", i+1, got)
		}
	}
}

func TestBacklogIsOneSignOfLife(t *testing.T) {
	s, last := every(6, rimewatch.Minute)
	for i := range 500 { // in one batch and in requests that follow each other quickly
		s.Seen(nil, last+rimewatch.Minute+rimewatch.Time(i/50))
	}
	if got := s.Interval(presence.Config{}); got != time.Minute {
		t.Error(got)
	}
}

func TestLifeOfADevice(t *testing.T) {
	var s presence.State
	c := presence.Config{IntervalS: 60}
	if s.Online || s.Deadline(c, nil) != 0 || s.Tick(c, nil, noon) || s.ChangedAt != 0 {
		t.Fatalf("never seen: %+v", s)
	}
	if !s.Seen(nil, noon) || !s.Online || s.ChangedAt != noon || s.LastSeen != noon || s.LastHeartbeat != 0 {
		t.Fatalf("first reading: %+v", s)
	}
	if s.Heartbeat(nil, noon+1000, false) || s.LastHeartbeat != noon+1000 || s.LastSeen != noon+1000 || s.ChangedAt != noon {
		t.Fatalf("heartbeat: %+v", s)
	}
	deadline := noon + 1000 + 180_000
	if s.Deadline(c, nil) != deadline || s.Tick(c, nil, deadline-1) || !s.Tick(c, nil, deadline) {
		t.Fatalf("silence: %+v", s)
	}
	if s.Online || s.ChangedAt != deadline || s.Announced || s.Deadline(c, nil) != 0 || s.Tick(c, nil, deadline+1) {
		t.Fatalf("offline: %+v", s)
	}
	back := deadline + 5000
	if !s.Seen(nil, back) || s.ChangedAt != back {
		t.Fatalf("back: %+v", s)
	}
	if !s.Heartbeat(nil, back+1, true) || s.Online || !s.Announced || s.ChangedAt != back+1 || s.LastSeen != back+1 {
		t.Fatalf("announced: %+v", s)
	}
	if s.Heartbeat(nil, back+2, true) || s.Deadline(c, nil) != 0 {
		t.Fatalf("announced again: %+v", s)
	}
	if !s.Heartbeat(nil, back+3, false) || !s.Online || s.Announced {
		t.Fatalf("back after announcement: %+v", s)
	}
}

func TestDowntimeMovesTheDeadline(t *testing.T) {
	s, last := every(1, 0)
	c := presence.Config{OfflineAfterS: 100}
	down := func(fromS, forS rimewatch.Time) presence.Downtime {
		return presence.Downtime{From: last + fromS*1000, To: last + (fromS+forS)*1000}
	}
	for _, tc := range []struct {
		name string
		down []presence.Downtime
		want rimewatch.Time // s after the last sign of life
	}{
		{"none", nil, 100},
		{"before the sign of life", []presence.Downtime{down(-500, 400)}, 100},
		{"begun before it", []presence.Downtime{down(-50, 80)}, 130},
		{"after it", []presence.Downtime{down(10, 1000)}, 1100},
		{"after the deadline", []presence.Downtime{down(100, 50)}, 100},
		{"reached by the moved deadline", []presence.Downtime{down(10, 50), down(120, 30)}, 180},
		{"not reached even so", []presence.Downtime{down(10, 50), down(160, 30)}, 150},
	} {
		if got := (s.Deadline(c, tc.down) - last) / 1000; got != tc.want {
			t.Errorf("%s: %d s, want %d", tc.name, got, tc.want)
		}
	}
}

// TestDeadlineProperties compares with counting the seconds listened, and the
// learnt interval with a list of all arrivals.
func TestDeadlineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			s        presence.State
			arrivals []rimewatch.Time
			now      = noon
		)
		for range rapid.IntRange(1, 30).Draw(t, "arrivals") {
			s.Seen(nil, now)
			arrivals = append(arrivals, now)
			now += rimewatch.Time(rapid.OneOf(rapid.Int64Range(0, 3000), rapid.Int64Range(50_000, 70_000), rapid.Int64Range(0, 2e8)).Draw(t, "gap"))
		}
		if got, want := s.Interval(presence.Config{}), learnt(arrivals); got != want {
			t.Fatalf("interval %v, want %v of %v", got, want, arrivals)
		}
		last := arrivals[len(arrivals)-1]
		var down []presence.Downtime
		at := last - 300_000
		for range rapid.IntRange(0, 4).Draw(t, "downtimes") {
			at += rimewatch.Time(rapid.Int64Range(1, 200).Draw(t, "up")) * 1000
			to := at + rimewatch.Time(rapid.Int64Range(1, 200).Draw(t, "down"))*1000
			down = append(down, presence.Downtime{From: at, To: to})
			at = to
		}
		c := presence.Config{OfflineAfterS: rapid.IntRange(10, 400).Draw(t, "configured")}
		want := last
		for left := c.OfflineAfterS; left > 0; want += 1000 {
			if !slices.ContainsFunc(down, func(d presence.Downtime) bool { return d.From <= want && want < d.To }) {
				left--
			}
		}
		if got := s.Deadline(c, down); got != want {
			t.Fatalf("deadline %d after the last sign of life, want %d; downtimes %v", got-last, want-last, down)
		}
	})
}

// learnt is the interval by its definition: the median of the last eight gaps
// between arrivals, of which those within a second count as one.
func learnt(arrivals []rimewatch.Time) time.Duration {
	var gaps []rimewatch.Time
	start := arrivals[0]
	for _, at := range arrivals[1:] {
		if at-start < 1000 {
			continue
		}
		if at-start <= rimewatch.Day {
			gaps = append(gaps, at-start)
		}
		start = at
	}
	if len(gaps) > 8 {
		gaps = gaps[len(gaps)-8:]
	}
	if len(gaps) < 5 {
		return 0
	}
	slices.Sort(gaps)
	return time.Duration((gaps[(len(gaps)-1)/2]+gaps[len(gaps)/2])/2) * time.Millisecond
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s presence.State
		now := noon
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			now += rimewatch.Time(rapid.Int64Range(0, 1e7).Draw(t, "gap"))
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				s.Heartbeat(nil, now, rapid.Bool().Draw(t, "shutdown"))
			case 1:
				s.Tick(presence.Config{}, nil, now)
			default:
				s.Seen(nil, now)
			}
		}
		b := s.AppendBinary([]byte("x"))
		var got presence.State
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
	s, _ := every(9, rimewatch.Minute)
	f.Add(s.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again presence.State
		if _, err := s.DecodeBinary(b); err != nil {
			return
		}
		s.Seen(nil, s.LastSeen+rimewatch.Minute)
		if rest, err := again.DecodeBinary(s.AppendBinary(nil)); err != nil || len(rest) != 0 || s != again {
			t.Fatalf("%+v became %+v: %v", s, again, err)
		}
	})
}

func TestStateSize(t *testing.T) {
	s, _ := every(20, rimewatch.Minute)
	if n := unsafe.Sizeof(s); n > 96 {
		t.Error("a state takes", n, "bytes")
	}
	if n := len(s.AppendBinary(nil)); n > 96 {
		t.Error("a checkpoint takes", n, "bytes")
	}
}
