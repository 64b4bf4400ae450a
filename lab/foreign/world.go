package foreign

import (
	"math"
	"math/rand/v2"

	"github.com/rimewatch/rimewatch"
)

// site is the air around a unit and the people who use it.
type site struct {
	mean, daily, weather float64 // °C; K; K
	season               float64 // K, warmest in July
	waves                [4]struct{ period, phase float64 }
	humidity             float64 // kg/kg
	opens, closes        float64 // h of the local day
	sundays              bool    // open then
	outdoors             bool
	mains                float64 // share by which they are off their nominal value
	zone                 float64 // s, local time minus UTC
}

func drawSite(r *rand.Rand, outdoors float64) site {
	s := site{mean: between(r, 19, 26), daily: between(r, 0.5, 3), weather: between(r, 0.3, 1.2), season: between(r, 0, 2), humidity: between(r, 0.0055, 0.0105),
		opens: between(r, 6, 9.5), closes: between(r, 18, 22.5), sundays: r.Float64() < 0.6, mains: 0.02 * r.NormFloat64(), zone: 3600 * float64(r.IntN(12)-6)}
	if r.Float64() < outdoors {
		s.outdoors = true
		s.mean, s.daily, s.weather, s.season = between(r, 9, 17), between(r, 3, 7), between(r, 2, 4), between(r, 6, 10)
		s.humidity = between(r, 0.005, 0.009)
	}
	for i := range s.waves {
		s.waves[i].period, s.waves[i].phase = between(r, 1.7, 11)*86400, between(r, 0, 2*math.Pi)
	}
	return s
}

// hot is the air of a hot day, °C.
func (s *site) hot() float64 { return s.mean + s.season + s.daily + 1.5*s.weather + 1 }

// air is the temperature around the condenser at a moment, °C.
func (s *site) air(at rimewatch.Time) float64 {
	t := float64(at) / float64(rimewatch.Second)
	day := math.Mod((t+s.zone)/86400, 1)
	v := s.mean + s.daily*math.Cos(2*math.Pi*(day-15.0/24)) + s.season*math.Cos(2*math.Pi*(t/86400-201)/365.25)
	for i := range s.waves {
		v += s.weather * 0.7 * math.Sin(2*math.Pi*t/s.waves[i].period+s.waves[i].phase)
	}
	return v
}

// open reports whether the shop is, and how busy: 1 on average, more in rushes before
// work, at noon and in the evening.
func (s *site) open(at rimewatch.Time) (busy float64, open bool) {
	t := float64(at)/float64(rimewatch.Second) + s.zone
	hour := math.Mod(t/3600, 24)
	if int(math.Floor(t/86400)+4)%7 == 0 && !s.sundays || hour < s.opens || hour > s.closes {
		return 0.03, false
	}
	rush := func(at, wide float64) float64 { return math.Exp(-(hour - at) * (hour - at) / (2 * wide * wide)) }
	return 0.5 + 1.6*rush(s.opens+1, 0.6) + 2*rush(12.4, 0.7) + 1.8*rush(17.6, 0.8), true
}

// people open doors and bring goods. Their stream depends on seed and time alone.
type people struct {
	r          *rand.Rand
	next, shut rimewatch.Time // of the door
	visit      rimewatch.Time // when goods are brought next
	warm       float64        // share of the goods that are being brought
}

const busiest = 4.2 // of open

// step returns whether the door is open, and the share of the goods that are put in warm.
func (p *people) step(at rimewatch.Time, b *build, s *site) (open bool, warm float64) {
	if p.next == 0 {
		p.next = p.after(at, b)
		p.visit = p.delivery(at, b, s)
	}
	for at >= p.next && b.doorArea > 0 {
		busy, _ := s.open(p.next)
		if p.r.Float64() < busy/busiest {
			p.shut = max(p.shut, p.next+seconds(b.doorS*around(p.r, 0.6)))
		}
		p.next = p.after(p.next, b)
	}
	if at >= p.visit {
		warm = b.restock * around(p.r, 0.5)
		if b.doorArea > 0 {
			p.shut = max(p.shut, at+seconds(between(p.r, 60, 360)))
		}
		p.visit = p.delivery(at+rimewatch.Hour, b, s)
	}
	return at < p.shut, warm
}

func (p *people) after(at rimewatch.Time, b *build) rimewatch.Time {
	return at + seconds(p.r.ExpFloat64()*3600/max(0.01, b.doors*busiest))
}

// delivery is when goods are brought next: in the first three hours of a working day.
func (p *people) delivery(at rimewatch.Time, b *build, s *site) rimewatch.Time {
	for d := range 21 {
		t := at + rimewatch.Time(d)*rimewatch.Day
		local := (t + seconds(s.zone)) / rimewatch.Day * rimewatch.Day
		t = local - seconds(s.zone) + seconds(3600*(s.opens+3*p.r.Float64()))
		if t > at && p.r.Float64() < float64(b.visits)/6 {
			if _, open := s.open(t + rimewatch.Hour); open {
				return t
			}
		}
	}
	return at + 21*rimewatch.Day
}

func seconds(s float64) rimewatch.Time { return rimewatch.Time(s * float64(rimewatch.Second)) }
