package ingest

import (
	"encoding/json"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
)

// tell adds a line to the timeline of an alert of the group. by is "" when the
// service itself did it.
func (s *Service) tell(kind rimewatch.TransitionKind, row *rimewatch.Alert, now rimewatch.Time, by, note string) {
	effects := &s.group.result
	effects.Transitions = append(effects.Transitions, rimewatch.AlertTransition{
		WorkspaceID: row.WorkspaceID, AlertID: row.ID, Kind: kind, At: now, Severity: row.Severity, Actor: by, Note: note, Facts: row,
	})
}

// timelineKinds are the lines that the rules' transitions leave.
var timelineKinds = map[alert.Kind]rimewatch.TransitionKind{
	alert.Opened:      rimewatch.TransitionOpened,
	alert.Escalated:   rimewatch.TransitionEscalated,
	alert.Deescalated: rimewatch.TransitionDeescalated,
	alert.Resolved:    rimewatch.TransitionResolved,
	alert.Updated:     rimewatch.TransitionUpdated,
}

// audit adds an entry to the audit trail of the group's commit. who is from
// store.ActorOf; detail is written as a JSON object.
func (s *Service) audit(workspaceID int64, now rimewatch.Time, who, action, subject string, detail any) {
	b, err := json.Marshal(detail)
	if err != nil { // numbers that JSON cannot write do not get past the API
		b = []byte("{}")
	}
	s.group.result.Audit = append(s.group.result.Audit, &rimewatch.AuditEntry{
		WorkspaceID: workspaceID, At: now, Actor: who, Action: action, Subject: subject, Detail: string(b),
	})
}

// alertDetail is what the audit trail tells of a person's work on an alert.
type alertDetail struct {
	Type     rimewatch.AlertType `json:"type"`
	Device   string              `json:"device,omitempty"`
	Severity rimewatch.Severity  `json:"severity"`
	Note     string              `json:"note,omitempty"`
	Until    rimewatch.Time      `json:"until,omitempty"` // of an acknowledgement
	Verdict  rimewatch.Verdict   `json:"verdict,omitempty"`
}

// auditAlert adds what a person did to an alert.
func (s *Service) auditAlert(op *alertOp, a *rimewatch.Alert, now rimewatch.Time) {
	d := alertDetail{Type: a.Type, Device: op.found.DeviceSerial, Severity: a.Severity, Note: op.note, Verdict: op.verdict}
	if op.does == rimewatch.TransitionAcknowledged {
		d.Until = a.AckExpiresAt
	}
	s.audit(a.WorkspaceID, now, op.who, "alert."+string(op.does), fmt.Sprintf("alert %d", a.ID), d)
}

// deviceDetail is what the audit trail tells of a device.
type deviceDetail struct {
	Serial             string                    `json:"serial"`
	Name               string                    `json:"name"`
	EquipmentType      string                    `json:"equipment_type"`
	SiteID             int64                     `json:"site_id"`
	HeartbeatIntervalS int                       `json:"heartbeat_interval_s"`
	OfflineAfterS      int                       `json:"offline_after_s"`
	Limits             *rimewatch.LimitOverrides `json:"limits"`
	Labels             map[string]string         `json:"labels"`
	Manufacturer       string                    `json:"manufacturer"`
	Model              string                    `json:"model"`
	Notes              string                    `json:"notes"`
	InstalledAt        rimewatch.Time            `json:"installed_at"`
}

// detailOf gives the parts of a device that people change, each as JSON.
func detailOf(d *rimewatch.Device) map[string]json.RawMessage {
	detail := deviceDetail{
		Serial: d.Serial, Name: d.Name, EquipmentType: d.EquipmentType, SiteID: d.SiteID, HeartbeatIntervalS: d.HeartbeatIntervalS,
		OfflineAfterS: d.OfflineAfterS, Labels: d.Labels, Manufacturer: d.Manufacturer, Model: d.Model, Notes: d.Notes, InstalledAt: d.InstalledAt,
	}
	if !d.Limits.Empty() {
		detail.Limits = d.Limits
	}
	parts := make(map[string]json.RawMessage)
	if b, err := json.Marshal(detail); err == nil {
		_ = json.Unmarshal(b, &parts) // what was written here
	}
	return parts
}

// auditDevice adds what a person did to a device. A change of nothing leaves no
// entry.
func (s *Service) auditDevice(op *deviceOp, now rimewatch.Time) {
	d := &op.Device
	after := detailOf(d)
	subject := "device " + d.Serial
	switch {
	case op.Create != nil:
		s.audit(d.WorkspaceID, now, op.who, "device.created", subject, after)
	case op.Delete:
		s.audit(d.WorkspaceID, now, op.who, "device.deleted", subject, after)
	default:
		type change struct {
			From json.RawMessage `json:"from"`
			To   json.RawMessage `json:"to"`
		}
		changes := make(map[string]change)
		for name, v := range after {
			if string(op.before[name]) != string(v) {
				changes[name] = change{op.before[name], v}
			}
		}
		if len(changes) > 0 {
			s.audit(d.WorkspaceID, now, op.who, "device.updated", subject, changes)
		}
	}
}
