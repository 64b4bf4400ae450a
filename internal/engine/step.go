package engine

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// Kind is the kind of an Input.
type Kind uint8

// The kinds of inputs.
const (
	Tick      Kind = iota // time has passed, or the configuration has changed
	Reading               // a reading was newly stored
	Heartbeat             // the device sent a sign of life
	Resolve               // a person resolved an alert
	Feedback              // a person gave a verdict on a prediction
	Rejudged              // the temperatures were judged once more, in their order
)

// Input is one thing that happens to a device.
type Input struct {
	Kind     Kind
	Last     bool                // of a Reading: the device's last of those that arrived together
	Shutdown bool                // of a Heartbeat: the device announces its own end
	Charge   Charge              // of a Heartbeat
	Reading  *rimewatch.Reading  // of a Reading; left as it is
	Alert    rimewatch.AlertType // of a Resolve and of a Feedback; "" when the prediction was over
	Part     string              // of a Resolve: the part of the type that the alert is about
	Verdict  rimewatch.Verdict   // of a Feedback
	Was      rimewatch.Verdict   // of a Feedback: the verdict that it replaces, "" = none
	Health   *health.State       // of Rejudged: the new state of compliance; nil = unchanged
}

// Step applies an input to the device at now and appends the transitions of its alerts.
// Otherwise a State changes by SetBack and Configured only, and the deletion of a device ends
// its excursion. Live and in a replay alike, equal inputs in equal
// order give equal states. down lists the
// service's downtimes that are known at now, oldest first. over are the excursions
// that a reading ended.
func (s *State) Step(c *Config, down []presence.Downtime, in *Input, now rimewatch.Time, out []alert.Transition) (_ []alert.Transition, over []health.Excursion) {
	from := len(out)
	switch in.Kind {
	case Tick:
		out = s.tick(c, down, now, out)
	case Reading:
		out, over = s.reading(c, down, in.Reading, now, in.Last, out)
	case Heartbeat:
		s.Presence.Heartbeat(down, now, in.Shutdown)
		out = s.battery.charged(&in.Charge, now, s.Alert.Tick(&c.Alert, s.view(c), &s.Unit, now, out))
	case Resolve:
		s.resolved(c, in.Alert, in.Part, now)
	case Feedback:
		out = s.judged(c, in.Alert, in.Verdict, in.Was, now, out)
	case Rejudged:
		if in.Health != nil {
			s.Health = *in.Health
		}
	}
	return s.inhibit(c, now, out, from), over
}

// Configured goes before the Tick of another configuration: alerts that its limits do not
// carry are superseded with that Tick, and where it corrects temperatures otherwise that
// were judged, they are to be judged once more.
func (s *State) Configured(was, is *Config) {
	s.Alert.Configured(&was.Alert, &is.Alert)
	if from, differ := rimewatch.CorrectedFrom(was.Offsets, is.Offsets, rimewatch.ProductZoneTemp); differ {
		s.Health.Doubt(from)
	}
}
