package simulate

import (
	"container/heap"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Network is the way from the device to the service. The zero value delivers
// every reading once, at once and in order.
type Network struct {
	Missing     float64       // probability that a reading never arrives
	Duplicate   float64       // probability that it arrives twice
	Latency     time.Duration // mean time on the way
	OutagesADay float64       // of the site's gateway, which all its units share
	OutageMean  time.Duration // how long they last; at most 12 h
	Buffer      time.Duration // how much the gateway keeps of an outage, newest first
	CatchUp     time.Duration // within which it then sends that, in any order
	Skew        time.Duration // by which the device's clock is ahead
	SkewADay    time.Duration // and by which it gains every day since the first reading
}

// TypicalNetwork is a fair cellular or Wi-Fi gateway.
func TypicalNetwork() Network {
	return Network{
		Missing: 0.002, Duplicate: 0.001, Latency: 800 * time.Millisecond,
		OutagesADay: 0.15, OutageMean: 20 * time.Minute, Buffer: 2 * time.Hour, CatchUp: 10 * time.Minute,
	}
}

// Feed turns what a unit measures into what arrives. It is not safe for
// concurrent use.
type Feed struct {
	unit    *Unit
	net     Network
	link    noise // of the unit's own way
	gateway noise // of its site's
	first   rimewatch.Time
	count   int64
	waiting arrivals
}

// NewFeed puts a unit behind a network.
func NewFeed(u *Unit, n Network) *Feed {
	return &Feed{
		unit: u, net: n, first: u.NextAt(),
		link:    u.seed.stream(streamLink),
		gateway: noise(u.cfg.Site.Seed).stream(streamOutage),
	}
}

// Next is the next reading to arrive. ReceivedAt is when it does, At is what
// the device's clock said when it was measured. It never ends, unless nothing
// is ever delivered (Missing of 1), where ok is false.
func (f *Feed) Next() (r rimewatch.Reading, ok bool) {
	if f.net.Missing >= 1 {
		return r, false
	}
	f.fill()
	return heap.Pop(&f.waiting).(rimewatch.Reading), true
}

// NextAt is when the next reading will arrive.
func (f *Feed) NextAt() rimewatch.Time {
	if f.net.Missing >= 1 {
		return rimewatch.MaxTime
	}
	f.fill()
	return f.waiting[0].ReceivedAt
}

// fill measures until no later measurement can arrive before the earliest
// that waits.
func (f *Feed) fill() {
	for len(f.waiting) == 0 || f.unit.NextAt() <= f.waiting[0].ReceivedAt {
		f.send(f.unit.Next())
	}
}

func (f *Feed) send(r rimewatch.Reading) {
	f.count++
	k := f.count << 3
	measured := r.At
	if f.link.uniform(k) < f.net.Missing {
		return
	}
	lag := float64(f.net.Latency.Milliseconds()) * -math.Log(1-f.link.uniform(k+1))
	r.ReceivedAt = measured + rimewatch.Time(lag)
	if end := f.outage(r.ReceivedAt); end > 0 {
		if end.Sub(measured) > f.net.Buffer {
			return
		}
		r.ReceivedAt = end + rimewatch.Time(f.link.uniform(k+2)*float64(f.net.CatchUp.Milliseconds()))
	}
	gained := float64(f.net.SkewADay.Milliseconds()) * float64(measured-f.first) / float64(rimewatch.Day)
	r.At = measured.Add(f.net.Skew) + rimewatch.Time(gained)
	heap.Push(&f.waiting, r)
	if f.link.uniform(k+3) < f.net.Duplicate {
		r.ReceivedAt += rimewatch.Time(f.link.between(k+4, 1000, 30000))
		heap.Push(&f.waiting, r)
	}
}

const longestOutage = 12 * rimewatch.Hour

// outage is when the gateway's outage at a moment ends, 0 when there is none.
// One may begin in every hour, by the draw of the site for that hour.
func (f *Feed) outage(at rimewatch.Time) rimewatch.Time {
	if f.net.OutagesADay <= 0 {
		return 0
	}
	var until rimewatch.Time
	for hour := int64((at - longestOutage) / rimewatch.Hour); hour <= int64(at/rimewatch.Hour); hour++ {
		if f.gateway.uniform(3*hour) >= f.net.OutagesADay/24 {
			continue
		}
		begin := rimewatch.Time(hour)*rimewatch.Hour + rimewatch.Time(f.gateway.uniform(3*hour+1)*float64(rimewatch.Hour))
		length := rimewatch.Time(float64(f.net.OutageMean.Milliseconds()) * -math.Log(1-f.gateway.uniform(3*hour+2)))
		if end := begin + min(length, longestOutage); begin <= at && at < end {
			until = max(until, end)
		}
	}
	return until
}

// arrivals is a heap of readings on their way, earliest arrival first; those
// of one moment in the order of measurement.
type arrivals []rimewatch.Reading

// Len, Less, Swap, Push and Pop are heap.Interface.
func (a arrivals) Len() int { return len(a) }

func (a arrivals) Less(i, j int) bool {
	if a[i].ReceivedAt != a[j].ReceivedAt {
		return a[i].ReceivedAt < a[j].ReceivedAt
	}
	return a[i].At < a[j].At
}

func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push adds a rimewatch.Reading.
func (a *arrivals) Push(x any) { *a = append(*a, x.(rimewatch.Reading)) }

// Pop takes the last one.
func (a *arrivals) Pop() any {
	last := len(*a) - 1
	r := (*a)[last]
	*a = (*a)[:last]
	return r
}
