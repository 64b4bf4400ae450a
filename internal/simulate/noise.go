package simulate

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// noise is a source of randomness without state: the value at an index is a
// function of the seed and the index alone. Two units of one site therefore
// see the same weather whenever each of them was started, a fault never shifts
// the random events around it, and a longer step changes no draw.
type noise uint64

// The independent streams of a unit or site.
const (
	streamParams noise = iota + 1
	streamWeather
	streamMoisture
	streamMains
	streamDoors
	streamControl
	streamSensors
	streamSite
	streamLink
	streamOutage
	streamFleet
	streamDeliveries
	streamMeters
	streamWild
	streamArrivals
)

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (n noise) stream(id noise) noise { return noise(mix(uint64(n)) ^ mix(uint64(id)<<32)) }

func (n noise) bits(k int64) uint64 { return mix(uint64(n) ^ mix(uint64(k))) }

// uniform is in [0, 1).
func (n noise) uniform(k int64) float64 { return float64(n.bits(k)>>11) / (1 << 53) }

// between is uniform in [lo, hi).
func (n noise) between(k int64, lo, hi float64) float64 { return lo + (hi-lo)*n.uniform(k) }

// normal has mean 0 and variance 1 (Box and Muller 1958).
func (n noise) normal(k int64) float64 {
	b := n.bits(k)
	u := (float64(b>>32) + 0.5) / (1 << 32)
	v := float64(b&0xffffffff) / (1 << 32)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// wander is an Ornstein–Uhlenbeck process (weather, mains voltage) on absolute
// time: knots a fixed time apart, straight lines between them.
type wander struct {
	n          noise
	every      rimewatch.Time
	keep, kick float64
	knot       int64 // index of the knot whose value is here
	here, next float64
}

// newWander starts a process with a standard deviation sd and a correlation
// time tau. It begins ten correlation times before at, where what it began
// with no longer matters.
func newWander(n noise, sd float64, tau, every, at rimewatch.Time) wander {
	keep := math.Exp(-float64(every) / float64(tau))
	w := wander{n: n, every: every, keep: keep, kick: sd * math.Sqrt(1-keep*keep)}
	w.knot = int64(at/every) - int64(10*tau/every)
	w.here = sd * n.normal(w.knot)
	w.next = w.follow(w.here, w.knot+1)
	w.at(at)
	return w
}

func (w *wander) follow(x float64, knot int64) float64 { return x*w.keep + w.kick*w.n.normal(knot) }

// at is the value at t, which must not go back.
func (w *wander) at(t rimewatch.Time) float64 {
	for target := int64(t / w.every); w.knot < target; w.knot++ {
		w.here = w.next
		w.next = w.follow(w.here, w.knot+2)
	}
	f := float64(t-rimewatch.Time(w.knot)*w.every) / float64(w.every)
	return w.here + f*(w.next-w.here)
}
