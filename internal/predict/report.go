package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Report is what the predictor knows of a device, for people.
type Report struct {
	State         string                `json:"state" enum:"learning,watching,alarmed,not_judged" doc:"not_judged: the compressor's load varies by itself (an inverter, a digital scroll), and neither of its pipes is measured, or known well enough yet."`
	Phase         string                `json:"phase" enum:"unknown,off,running,defrosting,recovering,stopped,no_power" doc:"What the unit does."`
	LearningSince rimewatch.Time        `json:"learning_since" doc:"When this unit's baselines were begun; null before its first reading."`
	Relearning    rimewatch.Relearning  `json:"relearning" enum:",maintenance,fixed,false_alarm,silence,normal" doc:"Why they were restarted: a maintenance window ended, a repair or a false alarm was reported, somebody said that what the unit does is normal now, or nothing was heard for two weeks; empty for a new unit."`
	LearnedHours  int                   `json:"learned_hours" doc:"Hours of steady running that the baselines are based on."`
	NeededHours   int                   `json:"needed_hours" doc:"As many are needed before the unit is judged by its own history."`
	LearnedCycles int                   `json:"learned_cycles" doc:"Compressor cycles that were learned from."`
	Risk          float64               `json:"risk" minimum:"0" maximum:"1" doc:"Of the open prediction, else of what is seen."`
	LeadTimeH     *float64              `json:"lead_time_h" doc:"h until the fault ends the unit's work; null when no trend supports one."`
	Defrost       *DefrostCourse        `json:"-"` // that goes on, nil when none is recognised
	Prediction    *rimewatch.Prediction `json:"-"` // the open one, nil when none is
	Candidates    []Candidate           `json:"candidates" nullable:"false" doc:"Faults that fit best; empty while nothing departs."`
	Drivers       []Departure           `json:"drivers" nullable:"false" doc:"How far each measure is from this unit's baseline."`
	Baselines     []Baseline            `json:"baselines" nullable:"false" doc:"What is usual for this unit."`
	Model         string                `json:"model" doc:"Method and version."`
}

// DefrostCourse is how a defrost that goes on usually ends.
type DefrostCourse struct {
	Since  rimewatch.Time `json:"since" doc:"It began."`
	BackBy rimewatch.Time `json:"back_by" doc:"The zone is usually cold again."`
	Latest rimewatch.Time `json:"latest" doc:"An alert that waits for it is raised at this moment at the latest."`
	Known  int            `json:"known" doc:"Defrosts of this kind that were seen."`
}

// Candidate is a fault and how well it fits.
type Candidate struct {
	Fault string  `json:"fault"`
	Fit   float64 `json:"fit" minimum:"0" maximum:"1"`
}

// Departure is a measure and how far it is from its baseline.
type Departure struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit" doc:"Of departure and threshold: K, % or percentage points."`
	Departure float64 `json:"departure"`
	Threshold float64 `json:"threshold" doc:"Least departure that counts."`
	Certainty float64 `json:"certainty" doc:"Standard normal deviates; 2.5 are needed."`
	Observed  float64 `json:"observed" doc:"In the unit of the measure's baseline."`
	Expected  float64 `json:"expected" doc:"At the same ambient temperature, zone temperature and supply."`
}

// Baseline is what a measure shows on this unit at 25 °C ambient, its usual zone
// temperature and nominal supply, and how it follows the ambient.
type Baseline struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Level     float64 `json:"level" doc:"At 25 °C ambient, the usual zone temperature and nominal supply."`
	PerKelvin float64 `json:"per_kelvin" doc:"Change per K of ambient, in drift_unit."`
	Scatter   float64 `json:"scatter" doc:"Standard deviation of six healthy hours, in drift_unit."`
	DriftUnit string  `json:"drift_unit" doc:"K, % or percentage points."`
	Windows   int     `json:"windows" doc:"Six-hour windows behind scatter."`
}

// Report describes the state. It changes nothing.
func (s *State) Report(u *unit.State) Report {
	f := s.findings(u)
	since, why := u.LearningSince()
	r := Report{
		State: "watching", Phase: u.Phase().String(), LearningSince: since, Relearning: why, Model: Model,
		LearnedHours: u.LearntHours(), NeededHours: u.NeededHours(), LearnedCycles: u.Runs(),
		Candidates: []Candidate{}, Drivers: []Departure{}, Baselines: []Baseline{},
	}
	if d, ok := u.Defrost(); ok {
		r.Defrost = &DefrostCourse{Since: d.Since, BackBy: d.Back, Latest: d.Latest, Known: d.Known}
	}
	switch {
	case s.alarm.active():
		r.State, r.Risk = "alarmed", round(float64(s.alarm.risk), 2)
		r.Prediction = s.prediction(u, u.At(), &f)
		if s.alarm.hasLead {
			h := round(float64(s.alarm.lead.h), 1)
			r.LeadTimeH = &h
		}
	case unjudged(u):
		r.State = "not_judged"
	case u.Learning():
		r.State = "learning"
	}
	s.describe(u, &r, &f)
	return r
}

func (s *State) describe(u *unit.State, r *Report, f *findings) {
	if !u.Ready() {
		return
	}
	most := 0.0
	for ch := range unit.NumChannels {
		usual, ok := u.Usual(ch)
		if !ok {
			continue
		}
		observed, expected := u.Absolute(ch, f.of[ch], u.Ambient())
		r.Baselines = append(r.Baselines, Baseline{
			Metric: channelMetric[ch], Unit: rimewatch.MeasureUnit(channelMetric[ch]), Level: round(usual.Level, 2),
			PerKelvin: round(usual.PerKelvin, 2), Scatter: round(usual.Scatter, 2),
			DriftUnit: residualUnit(ch), Windows: usual.Windows,
		})
		r.Drivers = append(r.Drivers, Departure{
			Metric: channelMetric[ch], Unit: residualUnit(ch), Departure: round(f.of[ch], 2), Threshold: ch.Floor(),
			Certainty: round(math.Abs(u.Certainty(ch, f.of[ch], 2)), 1), Observed: round(observed, 2), Expected: round(expected, 2),
		})
		if ch < trendChannels {
			most = max(most, math.Abs(f.of[ch])/ch.Floor())
		}
	}
	if u.Learning() || most < 0.5 && !s.alarm.active() {
		return
	}
	d := diagnose(f)
	for _, i := range []uint8{d.first, d.second} {
		if i != fiNone {
			r.Candidates = append(r.Candidates, Candidate{faults[i].name, round(max(0, min(1, fit(i, f))), 2)})
		}
	}
	if !s.alarm.active() {
		r.Risk = round(min(0.25, 0.2*most*d.score), 2)
	}
}
