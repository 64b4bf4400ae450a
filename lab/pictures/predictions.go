package pictures

import (
	"fmt"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/lab/plot"
)

// story is a fault that grows, from the days before it to its end.
type story struct {
	name, title, equipment string
	fault                  simulate.Fault
	days                   int // after the onset, at most
	panels                 []field
}

const storyOnset = 12 // days of health before

var stories = []story{
	{name: "condenser-fouling", title: "A condenser fouls over three weeks: predicted long before the product is warm", equipment: "walkin_freezer",
		fault: simulate.Fault{Name: "condenser_fouling", Severity: 0.95, Profile: simulate.Linear, Ramp: 24 * 24 * time.Hour}, days: 30, panels: []field{discharge, amps, zoneOf(limitAt(-15))}},
	{name: "refrigerant-leak", title: "A charge leaks out over three weeks", equipment: "reach_in_cooler",
		fault: simulate.Fault{Name: "refrigerant_undercharge", Severity: 0.95, Profile: simulate.Linear, Ramp: 21 * 24 * time.Hour}, days: 26, panels: []field{discharge, suction, zoneOf(limitAt(5))}},
	{name: "dead-defrost-heater", title: "A defrost heater dies", equipment: "walkin_freezer",
		fault: simulate.Fault{Name: "defrost_failure", Severity: 1}, days: 10, panels: []field{suction, amps, zoneOf(limitAt(-15))}},
}

func predictionPictures() []drawn {
	out := make([]drawn, 0, len(stories))
	for i := range stories {
		out = append(out, drawn{"predict-" + stories[i].name, stories[i].draw})
	}
	return out
}

func (st *story) draw() (*plot.Trace, error) {
	onset := start + storyOnset*rimewatch.Day
	f := st.fault
	f.Onset = onset
	r, err := record(st.equipment, start, onset+rimewatch.Time(st.days)*rimewatch.Day, f)
	if err != nil {
		return nil, err
	}
	marks, end := st.judge(r, onset)
	if len(marks) < 2 {
		return nil, fmt.Errorf("%d marks", len(marks))
	}
	from := onset - 3*rimewatch.Day
	trace := &plot.Trace{Title: st.title, Width: 860, Marks: marks, Shades: []plot.Shade{{Name: "the fault grows", From: onset, To: end, Color: "#eef0f2"}}}
	for at := from; at < end; at += rimewatch.Hour {
		trace.Times = append(trace.Times, at)
	}
	for _, p := range st.panels {
		title := p.title + ", means of an hour"
		running := p.f != rimewatch.ProductZoneTemp
		if running {
			title += " of running"
		}
		trace.Panels = append(trace.Panels, plot.Panel{Title: title, Series: []plot.Series{{Values: r.hourly(p.f, trace.Times, running)}}, Limits: p.limits})
	}
	return trace, nil
}

// judge runs the engine on a recording and returns what it reported and
// when the picture ends: half a day after the product alarm.
func (st *story) judge(r *recording, onset rimewatch.Time) (marks []plot.Mark, end rimewatch.Time) {
	const amber, red, black = "#a15c00", "#b00020", "#222"
	c := engine.ConfigOf(&rimewatch.Device{EquipmentType: st.equipment})
	var (
		s   engine.State
		log []alert.Transition
	)
	end = r.times[len(r.times)-1]
	warm := false
	for i := range r.readings {
		at := r.times[i]
		if at > end {
			break
		}
		log, _ = s.Step(&c, nil, &engine.Input{Kind: engine.Reading, Reading: &r.readings[i], Last: true}, at, log[:0])
		log, _ = s.Step(&c, nil, &engine.Input{Kind: engine.Tick}, at, log)
		for k := range log {
			t := &log[k]
			switch {
			case t.Prediction != nil && t.Kind == rimewatch.TransitionOpened:
				marks = append(marks, plot.Mark{Name: "predicted: " + t.Prediction.Fault, At: at, Color: amber})
			case t.Prediction != nil && t.Kind == rimewatch.TransitionEscalated:
				marks = append(marks, plot.Mark{Name: "critical", At: at, Color: red})
			case t.Type == rimewatch.HighTemperature && t.Kind == rimewatch.TransitionOpened && at > onset && !warm:
				marks = append(marks, plot.Mark{Name: "product alarm", At: at, Color: black})
				end, warm = min(end, at+12*rimewatch.Hour), true
			}
		}
	}
	return marks, end
}

// hourly returns the means of a field over the hours that begin at times.
func (r *recording) hourly(f rimewatch.Field, times []rimewatch.Time, running bool) []float64 {
	out := make([]float64, len(times))
	i := 0
	for k, at := range times {
		sum, n := 0.0, 0
		for ; i < len(r.times) && r.times[i] < at+rimewatch.Hour; i++ {
			if r.times[i] >= at && (!running || r.truths[i].Running) {
				sum, n = sum+r.readings[i].Values[f], n+1
			}
		}
		if out[k] = math.NaN(); n > 0 {
			out[k] = sum / float64(n)
		}
	}
	return out
}
