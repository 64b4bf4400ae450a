package predict

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// history keeps the newest windows of the channels that carry trends: ten days.
type history struct {
	values [trendChannels][historyLen * 3 / 2]uint8 // hundredths of the channel's floor, twelve bits each
	next   uint8
	n      uint8
}

const (
	trendChannels = unit.Vibration + 1 // the first channels
	historyLen    = 40
	historyUnit   = 100
)

// Of the twelve bits the first says whether the others count coarseStep times as much:
// beyond ten floors, where hundredths do not matter.
const (
	coarseBit  = 1 << 11
	coarseStep = 32
	fineMost   = coarseBit / 2
)

// put sets the i-th value of a channel.
func (h *history) put(c unit.Channel, i int, v int16) {
	coarse := uint16(0)
	if v < -fineMost || v >= fineMost {
		v, coarse = (v+coarseStep/2)>>5, coarseBit
	}
	bits, at := uint16(v)&(coarseBit-1)|coarse, h.values[c][i*3/2:]
	if i%2 == 0 {
		at[0], at[1] = uint8(bits), at[1]&0xf0|uint8(bits>>8)
	} else {
		at[0], at[1] = at[0]&0x0f|uint8(bits<<4), uint8(bits>>4)
	}
}

// get returns the i-th value of a channel.
func (h *history) get(c unit.Channel, i int) int16 {
	at := h.values[c][i*3/2:]
	bits := (uint16(at[0]) | uint16(at[1])<<8) >> (4 * (i % 2)) & (2*coarseBit - 1)
	v := int16(bits<<5) >> 5 // the sign of eleven bits
	if bits&coarseBit != 0 {
		return v * coarseStep
	}
	return v
}

func (h *history) add(u *unit.State) {
	for c := range trendChannels {
		now, _, _ := u.Departure(c)
		v := math.Round(now / c.Floor() * historyUnit)
		h.put(c, int(h.next), int16(max(-32000, min(32000, v))))
	}
	h.next = (h.next + 1) % historyLen
	h.n = min(h.n+1, historyLen)
}

// back is the value of a channel some windows ago, 0 being the newest.
func (h *history) back(c unit.Channel, windows int) float64 {
	if windows >= int(h.n) {
		return 0
	}
	i := (int(h.next) + 2*historyLen - 1 - windows) % historyLen
	return float64(h.get(c, i)) / historyUnit * c.Floor()
}

// step is how much of a channel's departure came within the last day, 0–1.
func (h *history) step(c unit.Channel) float64 {
	now := (h.back(c, 0) + h.back(c, 1)) / 2
	then := (h.back(c, unit.WindowsADay+1) + h.back(c, unit.WindowsADay+2)) / 2
	if now == 0 {
		return 0
	}
	return max(0, min(1, (now-then)/now))
}

// once is how much of a channel's departure came within one day, whichever of those that
// are kept, and has not grown since, 0–1.
func (h *history) once(c unit.Channel) float64 {
	pair := func(back int) float64 { return (h.back(c, back) + h.back(c, back+1)) / 2 }
	now, most := pair(0), 0.0
	if now == 0 {
		return 0
	}
	if oldest := historyLen - 2 - (unit.WindowsADay + 1); h.n == historyLen && pair(oldest)/now >= stays {
		return 1 // it was there so long ago that what was before is not kept, and has not grown since
	}
	for back := range int(h.n) - 2 {
		if then := pair(back); then/now >= stays {
			most = max(most, (then-pair(min(back+unit.WindowsADay+1, int(h.n)-2)))/now)
		}
	}
	return min(1, most)
}

// leapt is how much of what a channel departs by now came within one day, whichever of
// those that are kept, and has stayed since, 0–1. Windows of one time of day are compared.
func (h *history) leapt(c unit.Channel, now float64) float64 {
	most := 0.0
	for back := -1; back+unit.WindowsADay < int(h.n); back++ {
		then := 1.0
		if back >= 0 {
			then = h.back(c, back) / now
		}
		if then >= stays {
			most = max(most, min(then, 1)-h.back(c, back+unit.WindowsADay)/now)
		}
	}
	return min(1, most)
}

// stays is the share of a departure that must have been there for it not to grow.
const stays = 0.8

// trend is a robust straight line through a channel's newest windows.
type trend struct {
	now           float64 // value at the newest window
	slope, lo, hi float64 // per day; the middle 68 % of the pairwise slopes
	r2            float64
	days          float64
}

// leastTrend is how long something must have been rising to be called a trend.
const leastTrend = 3 * rimewatch.Day

// fit draws the Theil–Sen line through the newest windows of a channel.
func (h *history) fit(c unit.Channel, windows int) trend {
	n := min(windows, int(h.n))
	if n < 3 {
		return trend{}
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	y := make([]float64, n) // oldest first
	for i := range n {
		y[i] = h.back(c, n-1-i)
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			slopes = append(slopes, (y[j]-y[i])/float64(j-i)*float64(unit.WindowsADay))
		}
	}
	slices.Sort(slopes)
	at := func(q float64) float64 { return slopes[int(q*float64(len(slopes)-1))] }
	t := trend{slope: at(.5), lo: at(.16), hi: at(.84), days: float64(n) / float64(unit.WindowsADay)}
	level := make([]float64, n)
	for i := range n {
		level[i] = y[i] - t.slope*float64(i)/float64(unit.WindowsADay)
	}
	slices.Sort(level)
	base := level[n/2]
	t.now = base + t.slope*float64(n-1)/float64(unit.WindowsADay)
	m, ss, sr := meanOf(y), 0.0, 0.0
	for i := range n {
		ss += (y[i] - m) * (y[i] - m)
		e := y[i] - base - t.slope*float64(i)/float64(unit.WindowsADay)
		sr += e * e
	}
	if ss > 0 {
		t.r2 = 1 - sr/ss
	}
	return t
}

// lead is the time until a fault ends the unit's work, in h.
type lead struct{ h, lo, hi float32 }

// openEnd is how many times the lead its upper bound is at most; there it means
// that the trend may as well peter out.
const openEnd = 10

// leadDoubt is the factor by which a lead may be wrong, whatever its trend says: at
// what size a unit fails differs from unit to unit by as much, and wear speeds up.
const leadDoubt = 2

// iceSpeedsUp is how much sooner ice ends a unit's work than a straight line through what
// it has done says: it closes the way of the air with more than its square.
const iceSpeedsUp = 2

// leadTime follows the trend of the fault's channels to where it ends. ok is
// false when no channel has a trend: less than three days, less than half of the
// variance, or not towards the limit.
func (h *history) leadTime(ends []limit, windows int) (best lead, ok bool) {
	windows = max(windows, int(leastTrend/unit.WindowLength))
	if int(h.n) < int(leastTrend/unit.WindowLength) {
		return best, false
	}
	for _, e := range ends {
		t := h.fit(e.channel, windows)
		side := math.Copysign(1, e.at)
		if t.r2 < 0.5 || t.slope*side <= 0 {
			continue
		}
		togo := max(0, (e.at-t.now)*side)
		speed, fast, slow := t.slope*side, t.hi*side, t.lo*side
		if side < 0 {
			fast, slow = slow, fast
		}
		h := 24 * togo / speed
		l := lead{float32(h), float32(24 * togo / fast), float32(openEnd * h)}
		if slow > 0 {
			l.hi = min(l.hi, float32(24*togo/slow))
		}
		l.lo, l.hi = min(l.lo, l.h/leadDoubt), max(l.hi, l.h*leadDoubt)
		if !ok || l.h < best.h {
			best, ok = l, true
		}
	}
	return best, ok && best.h < 24*60
}

func meanOf(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}
