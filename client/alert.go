package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Alert is one condition of one device, or of a site, from its opening to its
// end. Null texts, times and ids are empty: of a site's alert all about the device.
type Alert struct {
	ID                 int64                 `json:"id"`
	Status             rimewatch.AlertStatus `json:"status"`
	Severity           rimewatch.Severity    `json:"severity"`
	Type               rimewatch.AlertType   `json:"type"`
	Part               string                `json:"part"` // of sensor_fault and sensor_stale, the measurement that it is about; "" where it is about several
	DeviceID           int64                 `json:"device_id"`
	DeviceSerial       string                `json:"device_serial"`
	DeviceName         string                `json:"device_name"`
	EquipmentType      string                `json:"equipment_type"`
	Site               *SiteRef              `json:"site"`
	Title              string                `json:"title"`
	Message            string                `json:"message"`
	Advice             string                `json:"advice"` // the end of the message that says what to do
	Metric             string                `json:"metric"`
	Value              *float64              `json:"value"`
	PeakValue          *float64              `json:"peak_value"`
	Threshold          *float64              `json:"threshold"`
	Unit               string                `json:"unit"`
	ConditionStartedAt rimewatch.Time        `json:"condition_started_at"`
	TriggeredAt        rimewatch.Time        `json:"triggered_at"`
	LastEvaluatedAt    rimewatch.Time        `json:"last_evaluated_at"`
	AcknowledgedAt     rimewatch.Time        `json:"acknowledged_at"`
	AcknowledgedBy     string                `json:"acknowledged_by"`
	AckExpiresAt       rimewatch.Time        `json:"acknowledgement_expires_at"`
	ResolvedAt         rimewatch.Time        `json:"resolved_at"`
	ResolvedBy         string                `json:"resolved_by"`
	Resolution         rimewatch.Resolution  `json:"resolution"`
	EndedBecause       rimewatch.Ending      `json:"ended_because"` // "" while it is active, and where it ended before this was noted
	BackSince          rimewatch.Time        `json:"back_since"`    // of a product temperature that is back in range: since when; 0 = not known
	Unmet              rimewatch.Unmet       `json:"unmet"`         // of not_cooling: why
	Note               string                `json:"note"`
	Occurrences        int                   `json:"occurrences"`
	Flapping           bool                  `json:"flapping"`
	SuppressedBy       *int64                `json:"suppressed_by"`
	Predictive         bool                  `json:"predictive"`
	ReplacedBy         *int64                `json:"replaced_by"` // of a prediction: the alert of the fault that fits better
	Prediction         *rimewatch.Prediction `json:"prediction"`  // nil unless predictive
	Feedback           *rimewatch.Feedback   `json:"feedback"`    // nil while nobody has judged the prediction
	Escalation         *Escalation           `json:"escalation"`  // nil in lists and events, and once it is over
	CaseID             *int64                `json:"case_id"`     // that it is in; nil in lists and events, and when it is in none
}

// Escalation lists the recipients of an alert so far, and the next ones unless somebody acknowledges it.
type Escalation struct {
	Level  int            `json:"level"` // steps of its route that have been taken
	Told   []Told         `json:"told"`
	NextAt rimewatch.Time `json:"next_at"` // 0 when there is no next step
	Next   []Recipient    `json:"next"`
}

// Recipient is a person, a group or a program that is notified of alerts.
type Recipient struct {
	Kind string `json:"kind"` // member or channel
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Told is a recipient and when the first message arrived there.
type Told struct {
	Recipient
	At rimewatch.Time `json:"at"`
}

// AlertFilter narrows an alert list. Empty fields do not filter, except that an
// empty Status means active ones.
type AlertFilter struct {
	Status       rimewatch.AlertStatus // AllAlerts for both
	Severity     rimewatch.Severity
	Type         rimewatch.AlertType
	DeviceSerial string
	Acknowledged *bool
	Since        rimewatch.Time // triggered at or after
}

// AllAlerts is the status filter that lets active and resolved alerts pass.
const AllAlerts rimewatch.AlertStatus = "all"

func (f *AlertFilter) values() url.Values {
	q := url.Values{}
	setText(q, "status", string(f.Status))
	setText(q, "severity", string(f.Severity))
	setText(q, "type", string(f.Type))
	setText(q, "device_serial", f.DeviceSerial)
	setText(q, "since", f.Since.String())
	if f.Acknowledged != nil {
		q.Set("acknowledged", strconv.FormatBool(*f.Acknowledged))
	}
	return q
}

// AlertPage lists one page of alerts, newest first.
func (c *Client) AlertPage(ctx context.Context, f AlertFilter, p Page) ([]Alert, Pagination, error) {
	q := f.values()
	p.set(q)
	data, err := fetch[struct {
		Alerts     []Alert    `json:"alerts"`
		Pagination Pagination `json:"pagination"`
	}](ctx, c, get("/alerts", q))
	return data.Alerts, data.Pagination, err
}

// Alerts lists all alerts that pass the filter, newest first.
func (c *Client) Alerts(ctx context.Context, f AlertFilter) iter.Seq2[Alert, error] {
	return all(ctx, largestPage, func(ctx context.Context, p Page) ([]Alert, Pagination, error) {
		return c.AlertPage(ctx, f, p)
	})
}

func alertPath(id int64) string { return "/alerts/" + strconv.FormatInt(id, 10) }

// Alert finds an alert: rimewatch.CodeAlertNotFound.
func (c *Client) Alert(ctx context.Context, id int64) (Alert, error) {
	return one[Alert](ctx, c, get(alertPath(id), nil), "alert")
}

// Acknowledge acknowledges an alert for a while (whole
// seconds, at least a minute) or, with 0, until it is over.
// rimewatch.CodeAlertNotActive.
func (c *Client) Acknowledge(ctx context.Context, id int64, note string, expires time.Duration) (Alert, error) {
	call := send(http.MethodPost, alertPath(id)+"/acknowledge", struct {
		Note       string `json:"note,omitempty"`
		ExpiresInS int64  `json:"expires_in_s,omitempty"`
	}{note, int64(expires / time.Second)}, true)
	return one[Alert](ctx, c, call, "alert")
}

// Resolve ends an alert. When its condition still holds, a new one opens later.
// rimewatch.CodeAlertNotActive.
func (c *Client) Resolve(ctx context.Context, id int64, note string) (Alert, error) {
	call := send(http.MethodPost, alertPath(id)+"/resolve", struct {
		Note string `json:"note,omitempty"`
	}{note}, false)
	return one[Alert](ctx, c, call, "alert")
}

// Note writes a note into the timeline of an alert, be it active or over.
func (c *Client) Note(ctx context.Context, id int64, note string) (Alert, error) {
	call := send(http.MethodPost, alertPath(id)+"/notes", struct {
		Note string `json:"note"`
	}{note}, false)
	return one[Alert](ctx, c, call, "alert")
}

// AlertTransition is one line of an alert's timeline.
type AlertTransition struct {
	ID       int64                    `json:"id"`
	Kind     rimewatch.TransitionKind `json:"kind"`
	At       rimewatch.Time           `json:"at"`
	Severity rimewatch.Severity       `json:"severity"` // after it
	Actor    string                   `json:"actor"`    // "" = the service itself
	Note     string                   `json:"note"`
	Message  string                   `json:"message"` // the alert's at that moment

	Prediction *rimewatch.Prediction `json:"prediction"` // as it was at that moment, nil unless the alert is predictive
}

// AlertTimeline is all that happened to an alert, oldest first.
func (c *Client) AlertTimeline(ctx context.Context, id int64) ([]AlertTransition, error) {
	return one[[]AlertTransition](ctx, c, get(alertPath(id)+"/timeline", nil), "transitions")
}

// AlertCounts are the numbers of retained alerts.
type AlertCounts struct {
	Total    int `json:"total"`
	ByStatus struct {
		Active   int `json:"active"`
		Resolved int `json:"resolved"`
	} `json:"by_status"`
	BySeverity          SeverityCounts `json:"by_severity"` // active and resolved ones
	ByStatusAndSeverity struct {
		Active   SeverityCounts `json:"active"`
		Resolved SeverityCounts `json:"resolved"`
	} `json:"by_status_and_severity"`
}

// SeverityCounts counts alerts by severity.
type SeverityCounts struct {
	Warning  int `json:"warning"`
	Critical int `json:"critical"`
}

// AlertCounts counts all retained alerts, or those triggered since a moment.
func (c *Client) AlertCounts(ctx context.Context, since rimewatch.Time) (AlertCounts, error) {
	q := url.Values{}
	setText(q, "since", since.String())
	return fetch[AlertCounts](ctx, c, get("/alerts/counts", q))
}
