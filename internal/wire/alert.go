package wire

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Alert is an alert in answers.
type Alert struct {
	ID                 int64                       `json:"id"`
	Status             rimewatch.AlertStatus       `json:"status" enum:"active,resolved"`
	Severity           rimewatch.Severity          `json:"severity" enum:"warning,critical"`
	Type               rimewatch.AlertType         `json:"type" doc:"An open set: new types may appear." example:"high_temperature"`
	Part               *string                     `json:"part" doc:"Of sensor_fault and sensor_stale, the measurement that the alert is about: each has an alert of its own. null where it is about several at once, and of all other types." example:"ambient_temp"`
	DeviceID           *int64                      `json:"device_id" doc:"null for the alert of a site, as all about the device is."`
	DeviceSerial       *string                     `json:"device_serial"`
	DeviceName         *string                     `json:"device_name"`
	EquipmentType      *string                     `json:"equipment_type"`
	Site               Maybe[SiteRef]              `json:"site"`
	Title              string                      `json:"title"`
	Message            string                      `json:"message" doc:"What is wrong, and what to do about it."`
	Advice             string                      `json:"advice" doc:"The end of the message that says what to do; empty where there is nothing to do."`
	Metric             *string                     `json:"metric" doc:"Measurement or derived measure; null when the alert rests on none."`
	Value              *float64                    `json:"value" doc:"Newest value of the metric."`
	PeakValue          *float64                    `json:"peak_value" doc:"Worst value since the condition began."`
	Threshold          *float64                    `json:"threshold" doc:"The limit that was passed."`
	Unit               *string                     `json:"unit"`
	ConditionStartedAt rimewatch.Time              `json:"condition_started_at"`
	TriggeredAt        rimewatch.Time              `json:"triggered_at" nullable:"false"`
	LastEvaluatedAt    rimewatch.Time              `json:"last_evaluated_at"`
	AcknowledgedAt     rimewatch.Time              `json:"acknowledged_at"`
	AcknowledgedBy     *string                     `json:"acknowledged_by"`
	AckExpiresAt       rimewatch.Time              `json:"acknowledgement_expires_at"`
	ResolvedAt         rimewatch.Time              `json:"resolved_at"`
	ResolvedBy         *string                     `json:"resolved_by"`
	Resolution         *string                     `json:"resolution" enum:"auto,manual,superseded,null" doc:"null while the alert is active."`
	EndedBecause       *string                     `json:"ended_because" doc:"Why it ended, an open set: in_range (back within its limit), as_usual (what is usual for the unit), cools (of not_cooling: twice down to where the unit usually stops), cools_elsewhere (its thermostat cycles at another level), runs (the compressor has started and run), reports, sensor_works, charged (the battery of its sensor was charged or changed), not_confirmed (of a prediction by single events), another_fault, sensor, ambient_sensor, load_varies, relearning, limits_changed, not_judged, person, device_removed; null while it is active, and where it ended before this was noted."`
	BackSince          rimewatch.Time              `json:"back_since" doc:"Of a product temperature whose alert has ended in range, since when it was back: resolved_at is when it had stayed there for long enough. Otherwise null."`
	Unmet              *string                     `json:"unmet" doc:"Of not_cooling, why the zone does not become colder, an open set: no_current, locked_rotor, no_run, no_effect (the compressor runs), not_falling (nothing shows what the compressor does), begun (it has run since, or the zone has become colder, but has not come down to where it usually stops); otherwise null."`
	Note               *string                     `json:"note"`
	Occurrences        int                         `json:"occurrences" doc:"How often the condition came back on this alert."`
	Flapping           bool                        `json:"flapping"`
	SuppressedBy       *int64                      `json:"suppressed_by" doc:"The alert that explains this one."`
	Predictive         bool                        `json:"predictive" doc:"It foresees, from how the machine runs, what has not come yet."`
	ReplacedBy         *int64                      `json:"replaced_by" doc:"Of a prediction that is superseded: the alert of the fault that fits better."`
	Prediction         Maybe[rimewatch.Prediction] `json:"prediction" doc:"null unless the alert is predictive."`
	Feedback           Maybe[rimewatch.Feedback]   `json:"feedback" doc:"Feedback on the prediction; null without any."`
}

// OrNull returns nil for the empty value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Words write what an alert says, for one reader.
type Words interface {
	Title(a *rimewatch.Alert) string
	Parts(a *rimewatch.Alert) (what, advice string)
	Prediction(p *rimewatch.Prediction) *rimewatch.Prediction
}

// NewAlert returns an alert as it stands in answers, in the words of whoever
// reads it.
func NewAlert(v *rimewatch.AlertView, w Words) Alert {
	what, advice := w.Parts(&v.Alert)
	out := Alert{
		ID: v.ID, Status: v.Status, Severity: v.Severity, Type: v.Type, Part: OrNull(v.Part), Predictive: v.Type.Predictive(),
		DeviceID: OrNull(v.DeviceID), DeviceSerial: OrNull(v.DeviceSerial), DeviceName: OrNull(v.DeviceName), EquipmentType: OrNull(v.EquipmentType), Site: NewSiteRef(v.Site),
		Title: w.Title(&v.Alert), Message: strings.TrimSpace(what + " " + advice), Advice: advice, Metric: OrNull(v.Metric), Value: v.Value, PeakValue: v.PeakValue, Threshold: v.Threshold, Unit: OrNull(v.Unit),
		ConditionStartedAt: v.ConditionStartedAt, TriggeredAt: v.TriggeredAt, LastEvaluatedAt: v.LastEvaluatedAt,
		AcknowledgedAt: v.AcknowledgedAt, AcknowledgedBy: OrNull(v.AcknowledgedBy), AckExpiresAt: v.AckExpiresAt,
		ResolvedAt: v.ResolvedAt, ResolvedBy: OrNull(v.ResolvedBy), Resolution: OrNull(string(v.Resolution)), Note: OrNull(v.Note),
		EndedBecause: OrNull(string(v.EndedBecause())), BackSince: v.BackSince, Unmet: OrNull(string(v.Unmet)),
		Occurrences: v.Occurrences, Flapping: v.Flapping, SuppressedBy: OrNull(v.SuppressedBy), ReplacedBy: OrNull(v.ReplacedBy),
	}
	out.Prediction.Value, out.Feedback.Value = w.Prediction(v.Prediction), v.Feedback
	return out
}
