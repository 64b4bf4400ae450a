package unit

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

const bucket = 5 * minute // of the count of starts

// cycles is what the compressor's starts and runs look like.
type cycles struct {
	lens       [5]uint16 // s, the newest runs, newest first; 0 = none
	starts     [12]uint8 // by bucket, the last hour
	failed     [12]uint8 // failed starts, two hours of the day in a byte
	usualStart float32   // starts an hour that are normal for this unit; 0 = not known yet
	usualRun   float32   // min, length of a normal run
	startCount uint32    // the device's own counters at its newest start
	runSeconds uint32
	counted    bool // the device counts its starts itself
}

// readCounters prefers the device's own counters, which miss no start.
func (s *State) readCounters(o *Observation) {
	w, r := &s.cycles, o.Reading
	starts, sent := r.Value(rimewatch.StartCount)
	if !sent {
		return
	}
	seconds, timed := r.Value(rimewatch.RunSeconds)
	count, run := uint32(int64(starts)), uint32(int64(seconds))
	if w.counted && count > w.startCount && count-w.startCount <= 60 {
		n := count - w.startCount
		s.addStarts(o.At, n)
		if timed && run >= w.runSeconds {
			// All but the newest of these starts have ended; the seconds are
			// about those of the runs before it.
			for range min(n, 5) {
				w.addRun(int64((run - w.runSeconds) / n))
			}
		}
	}
	if !w.counted || count != w.startCount {
		w.startCount, w.runSeconds = count, run
	}
	w.counted = true
}

// failStart counts a start that has failed, and reports it in o.
func (w *cycles) failStart(o *Observation) {
	w.fail(o.At)
	o.FailedStart = true
}

func (w *cycles) addRun(seconds int64) {
	copy(w.lens[1:], w.lens[:])
	w.lens[0] = uint16(max(1, min(seconds, 65535)))
}

// addStarts counts n starts since the last reading, spread evenly over the
// buckets in between.
func (s *State) addStarts(e rimewatch.Time, n uint32) {
	s.window.starts += uint16(n)
	first, last := e/bucket, e/bucket
	if s.at != 0 && n > 1 {
		first = min(last, s.at/bucket+1)
	}
	span := uint32(last - first + 1)
	for k := range span {
		share := n*(k+1)/span - n*k/span
		if b := &s.cycles.starts[(first+rimewatch.Time(k))%12]; span-k <= 12 {
			*b = uint8(min(255, uint32(*b)+share))
		}
	}
}

// takeStart takes back a start that was none.
func (w *cycles) takeStart(e, at rimewatch.Time) {
	if b := &w.starts[e/bucket%12]; *b > 0 && at-e < hour {
		*b--
	}
}

// failures is the half byte of an hour of the day.
func (w *cycles) failures(h rimewatch.Time) (b *uint8, shift int) {
	h %= 24
	return &w.failed[h/2], int(4 * (h % 2))
}

func (w *cycles) fail(e rimewatch.Time) {
	if b, shift := w.failures(e / hour); *b>>shift&15 < 15 {
		*b += 1 << shift
	}
}

// unfail takes the newest failed start back.
func (w *cycles) unfail(e rimewatch.Time) {
	for h := e / hour; h > e/hour-2; h-- {
		if b, shift := w.failures(h); *b>>shift&15 > 0 {
			*b -= 1 << shift
			return
		}
	}
}

// roll empties the buckets that lie between two readings.
func (w *cycles) roll(from, to rimewatch.Time) {
	if from == 0 || from/bucket == to/bucket {
		return
	}
	for b := max(from/bucket+1, to/bucket-11); b <= to/bucket; b++ {
		w.starts[b%12] = 0
	}
	for h := max(from/hour+1, to/hour-23); h <= to/hour; h++ {
		b, shift := w.failures(h)
		*b &^= 15 << shift
	}
}

// StartsPerHour counts the starts of the last hour.
func (w *cycles) StartsPerHour() int {
	n := 0
	for _, b := range w.starts {
		n += int(b)
	}
	return n
}

// FailedStarts counts the failed starts of this clock hour and those before it,
// so many in all, up to 24.
func (s *State) FailedStarts(hours int) int {
	n := 0
	for k := range rimewatch.Time(hours) {
		b, shift := s.cycles.failures(s.at/hour + 24 - k)
		n += int(*b >> shift & 15)
	}
	return n
}

// HasFailedStarts reports whether any start failed in about a day.
func (w *cycles) HasFailedStarts() bool { return w.failed != [12]uint8{} }

// FailedStartAmps is the current of the newest start that no run followed, A.
func (w *running) FailedStartAmps() float64 { return w.tried.Float() }

// MedianRun is the median of the newest five runs in minutes; ok is false
// before there are five.
func (w *cycles) MedianRun() (minutes float64, ok bool) {
	if w.lens[4] == 0 {
		return 0, false
	}
	l := w.lens
	slices.Sort(l[:])
	return float64(l[2]) / 60, true
}

// RunsBelow reports whether the median of the newest five runs is below so many
// minutes, without sorting them.
func (w *cycles) RunsBelow(minutes float64) bool {
	if w.lens[4] == 0 {
		return false
	}
	n, limit := 0, int(math.Ceil(60*minutes)) // of whole seconds
	for _, l := range w.lens {
		if int(l) < limit {
			n++
		}
	}
	return n > len(w.lens)/2
}

// CountsStarts reports whether starts can be judged at all: by the device's own
// counters, or by readings at least once a minute.
func (s *State) CountsStarts() bool {
	return s.cycles.counted || (s.running.source > fromHeat && s.gap > 0 && s.gap <= countedGap)
}

// SelfCounted reports whether the device counts its starts itself.
func (w *cycles) SelfCounted() bool { return w.counted }

// UsualCycle is this unit's normal cycle: starts an hour and the length of a
// run in min; 0 and 0 while it is not known.
func (w *cycles) UsualCycle() (starts, run float64) {
	return float64(w.usualStart), float64(w.usualRun)
}

func (w *cycles) warmUp() rimewatch.Time {
	if w.usualRun == 0 {
		return warmUp
	}
	return max(shortWarm, min(warmUp, rimewatch.Time(0.6*w.usualRun*float32(minute))))
}

// learnCycles follows the unit's normal cycle: open cases start eight times
// an hour all their life. n starts were seen in some hours.
func (w *cycles) learnCycles(n uint16, hours, weight float32) {
	median, ok := w.MedianRun()
	if !ok {
		return
	}
	if w.usualRun == 0 {
		w.usualStart, w.usualRun = float32(n)/hours, float32(median)
		return
	}
	w.usualStart += weight * (float32(n)/hours - w.usualStart)
	w.usualRun += weight * (float32(median) - w.usualRun)
}
