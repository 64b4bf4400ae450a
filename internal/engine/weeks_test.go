package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// A plot is what happens to a unit in some weeks: stretches in which it is too
// warm, gets too little voltage or is silent, hours apart, and times in which
// the service itself was down.
type plot struct {
	interval rimewatch.Time // between readings
	happens  []stretch
	down     []presence.Downtime
	end      rimewatch.Time
}

type stretch struct {
	what     string // warm, sag or silent
	from, to rimewatch.Time
}

func drawPlot(t *rapid.T) *plot {
	p := &plot{interval: rapid.SampledFrom([]rimewatch.Time{rimewatch.Minute, 2 * rimewatch.Minute, 5 * rimewatch.Minute}).Draw(t, "interval")}
	minutes := func(name string, from, to int) rimewatch.Time {
		return rimewatch.Time(rapid.IntRange(from, to).Draw(t, name)) * rimewatch.Minute
	}
	grid := func(at rimewatch.Time) rimewatch.Time { return at - (at-t0)%p.interval }
	at := t0 + rimewatch.Day
	for range rapid.IntRange(1, 10).Draw(t, "stretches") {
		at += 8 * rimewatch.Hour
		if rapid.IntRange(0, 3).Draw(t, "down between") == 0 {
			from := at - minutes("before", 180, 240)
			p.down = append(p.down, presence.Downtime{From: from, To: from + minutes("for", 1, 120)})
		}
		s := stretch{rapid.SampledFrom([]string{"warm", "sag", "silent"}).Draw(t, "what"), grid(at + minutes("at", 0, 300)), 0}
		s.to = grid(s.from + minutes("lasts", 10, 300))
		p.happens = append(p.happens, s)
		if s.what == "silent" && rapid.Bool().Draw(t, "down meanwhile") {
			from := s.from + minutes("into", 1, 20)
			p.down = append(p.down, presence.Downtime{From: from, To: min(from+minutes("for", 1, 60), s.to-1)})
		}
		at = s.to
	}
	p.end = at + 8*rimewatch.Hour
	return p
}

func (p *plot) during(what string, at rimewatch.Time) bool {
	return slices.ContainsFunc(p.happens, func(s stretch) bool { return s.what == what && at >= s.from && at < s.to })
}

func (p *plot) isDown(at rimewatch.Time) (presence.Downtime, bool) {
	for _, d := range p.down {
		if at >= d.From && at < d.To {
			return d, true
		}
	}
	return presence.Downtime{}, false
}

// expected are the alerts that the plot calls for, to the moment where a timer
// decides and to the reading where a reading does.
func (p *plot) expected(offlineAfter rimewatch.Time) (want []string) {
	for _, s := range p.happens {
		lasts := s.to - s.from
		switch s.what {
		case "warm":
			if lasts < 30*rimewatch.Minute {
				continue
			}
			want = append(want, line(s.from+30*rimewatch.Minute, "opened", rimewatch.HighTemperature))
			if lasts >= 2*rimewatch.Hour {
				want = append(want, line(s.from+2*rimewatch.Hour, "escalated", rimewatch.HighTemperature))
			}
			want = append(want, line(s.to+5*rimewatch.Minute, "resolved", rimewatch.HighTemperature))
		case "sag":
			want = append(want, line(s.from+p.interval, "opened", rimewatch.LowVoltage), line(s.to+(5*rimewatch.Minute+p.interval-1)/p.interval*p.interval, "resolved", rimewatch.LowVoltage))
		case "silent":
			at := s.from - p.interval + 300 + offlineAfter // from the arrival of the last reading on
			for _, d := range p.down {
				if d.From < at && d.To > s.from-p.interval {
					at += d.To - d.From
				}
			}
			if at > s.to+300 { // the deadline comes before a reading of the same moment
				continue
			}
			want = append(want, line(at, "opened", rimewatch.DeviceOffline))
			// Our downtime shifts when it went offline. What follows waits for us.
			critical := at + max(rimewatch.Hour, 4*offlineAfter)
			if d, down := p.isDown(critical); down {
				critical = d.To
			}
			if critical <= s.to+300 {
				want = append(want, line(critical, "escalated", rimewatch.DeviceOffline))
			}
			want = append(want, line(s.to, "resolved", rimewatch.DeviceOffline))
		}
	}
	return want
}

// line rounds to the minute: readings come a moment after the full one.
func line(at rimewatch.Time, kind string, typ rimewatch.AlertType) string {
	return fmt.Sprintf("%s %s %s", (at - t0 + 5*rimewatch.Second).Sub(0).Truncate(time.Minute), kind, typ)
}

// life is a unit with the part of the service that drives it.
type life struct {
	t    *rapid.T
	p    *plot
	cfg  engine.Config
	down []presence.Downtime // those that are over
	s    engine.State
	now  rimewatch.Time
	log  []alert.Transition
}

// advance lets time pass as the service does: every deadline is kept, unless
// the service is down.
func (l *life) advance(to rimewatch.Time) {
	for range 1000 {
		due := max(l.s.Deadline(&l.cfg, l.down), l.now)
		if l.s.Deadline(&l.cfg, l.down) == 0 {
			due = to + 1
		}
		if d, down := l.asleep(min(due, to)); down {
			if d.To > to {
				l.now = to
				return
			}
			l.wake(d)
			continue
		}
		if due > to {
			l.now = to
			return
		}
		l.now = due
		l.step(engine.Input{Kind: engine.Tick})
	}
	l.t.Fatalf("stuck at %s", l.now)
}

// asleep returns a downtime that has begun by then and was not slept through yet.
func (l *life) asleep(by rimewatch.Time) (presence.Downtime, bool) {
	for _, d := range l.p.down {
		if d.From <= by && !slices.Contains(l.down, d) {
			return d, true
		}
	}
	return presence.Downtime{}, false
}

// wake is the start of the service after a downtime.
func (l *life) wake(d presence.Downtime) {
	l.now = max(l.now, d.To)
	l.down = append(slices.Clone(l.down), d)
	l.restart()
}

func (l *life) step(in engine.Input) {
	l.log, _ = l.s.Step(&l.cfg, l.down, &in, l.now, l.log)
}

func (l *life) restart() {
	var again engine.State
	if err := again.UnmarshalBinary(l.s.AppendBinary(nil)); err != nil {
		l.t.Fatal(err)
	}
	l.s = again
}

func (l *life) reading(at rimewatch.Time, last bool) {
	r := rimewatch.Reading{At: at, ReceivedAt: l.now}
	zone, volts := 3+float64(at/rimewatch.Minute%7)/10, 230+float64(at/rimewatch.Minute%5)
	if l.p.during("warm", at) {
		zone = 6 + float64(at/rimewatch.Minute%3)/10
	}
	if l.p.during("sag", at) {
		volts = 200
	}
	r.Set(rimewatch.ProductZoneTemp, zone)
	r.Set(rimewatch.Voltage, volts)
	r.Set(rimewatch.AmbientTemp, 24)
	l.step(engine.Input{Kind: engine.Reading, Reading: &r, Last: last})
}

// wild is a late reading far off every limit. It must do nothing but prove the
// device alive.
func (l *life) wild(at rimewatch.Time) {
	r := rimewatch.Reading{At: at, ReceivedAt: l.now}
	r.Set(rimewatch.ProductZoneTemp, rapid.SampledFrom([]float64{-50, 50}).Draw(l.t, "wild"))
	r.Set(rimewatch.Voltage, 30)
	n := len(l.log)
	l.step(engine.Input{Kind: engine.Reading, Reading: &r, Last: true})
	if len(l.log) != n {
		l.t.Fatalf("a late reading of %s brought %+v", at, l.log[n:])
	}
}

// TestWeeks lives weeks with restarts, downtimes, backlogs, reordering, late
// data, lost readings and needless ticks, and expects each condition once, at
// its moment, and none missed.
func TestWeeks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlot(t)
		l := &life{t: t, p: p, now: t0}
		l.cfg = engine.ConfigOf(&rimewatch.Device{EquipmentType: "milk_cooler", HeartbeatIntervalS: int(p.interval / rimewatch.Second)})
		l.cfg.Alert.Rules &^= alert.RuleDefrost | alert.RuleCooling // two warm spells that are alike are a defrost's, and one that lasts needs no limit
		offlineAfter := max(3*p.interval, 180*rimewatch.Second)
		chaos := rapid.SliceOfN(rapid.IntRange(0, 99), 64, 64).Draw(t, "chaos")
		lost := false
		for i, at := 0, t0; at < p.end; i, at = i+1, at+p.interval {
			if p.during("silent", at) {
				continue
			}
			arrives := at + 300
			d, down := p.isDown(arrives)
			if down {
				arrives = d.To + 1000 // the gateway keeps it
			}
			l.advance(max(l.now, arrives))
			next := at + p.interval
			_, more := p.isDown(next + 300)
			fate := chaos[(i*31+i/64)%64]
			calm := !down && !p.decides(at)
			switch {
			case fate < 5 && calm && !lost:
				lost = true // on its way
				continue
			case fate < 10:
				l.restart()
			case fate < 15:
				l.step(engine.Input{Kind: engine.Tick})
			}
			l.reading(at, !more)
			lost = false
			if fate >= 15 && fate < 20 && !more {
				l.reading(at, true)                            // a duplicate
				l.wild(at - rimewatch.Time(1+fate)*7*1000 - 1) // and something old
			}
		}
		l.advance(p.end)
		var got []string
		for i := range l.log {
			x := &l.log[i]
			got = append(got, line(x.At, string(x.Kind), x.Type))
		}
		if d := cmp.Diff(p.expected(offlineAfter), got); d != "" {
			t.Fatalf("plot %+v\nalerts (-want +got):\n%s", p, d)
		}
	})
}

// decides reports whether the moment of an alert may hang on a reading.
func (p *plot) decides(at rimewatch.Time) bool {
	near := func(x rimewatch.Time) bool { return at >= x-2*p.interval && at <= x+3*p.interval+5*rimewatch.Minute }
	return slices.ContainsFunc(p.happens, func(s stretch) bool { return near(s.from) || near(s.to) })
}
