package ingest

import (
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// addTransition adds a line to the timeline of an alert of the group. by is "" when the
// service itself did it.
func (g *group) addTransition(kind rimewatch.TransitionKind, row *rimewatch.Alert, now rimewatch.Time, by, note string) {
	effects := &g.result
	effects.Transitions = append(effects.Transitions, rimewatch.AlertTransition{
		WorkspaceID: row.WorkspaceID, AlertID: row.ID, Kind: kind, At: now, Severity: row.Severity, Actor: by, Note: note, Facts: row,
	})
}

// addEvent is addTransition with an event. what is "" where only members of the alert changed.
func (g *group) addEvent(what rimewatch.TransitionKind, row *rimewatch.Alert, now rimewatch.Time) {
	if what != "" {
		g.addTransition(what, row, now, "", "")
	}
	g.events.Alerts = append(g.events.Alerts, publish.AlertOf(what, row))
}

// moved adds to the timelines of a device's alerts that it has left a place: who is
// notified of them is decided anew.
func (g *group) moved(alerts []*rimewatch.Alert, from rimewatch.Place, now rimewatch.Time) {
	for _, row := range alerts {
		g.addEvent(rimewatch.TransitionMoved, row, now)
		g.result.Transitions[len(g.result.Transitions)-1].From = &from
	}
}

// audit adds an entry to the audit trail of the group's commit. who is from
// store.ActorOf.
func (g *group) audit(workspaceID int64, now rimewatch.Time, who, action, subject string, detail store.Fields) {
	e, err := store.NewAuditEntry(workspaceID, now, who, action, subject, detail)
	if err != nil { // numbers that JSON cannot write do not get past the API
		e, _ = store.NewAuditEntry(workspaceID, now, who, action, subject, nil)
	}
	g.result.Audit = append(g.result.Audit, e)
}

// auditAlert adds a person's change of an alert.
func (g *group) auditAlert(op *alertOp, a *rimewatch.Alert, now rimewatch.Time) {
	d := store.Fields{"type": a.Type, "severity": a.Severity}
	for name, text := range map[string]string{"device": op.found.DeviceSerial, "note": op.note, "verdict": string(op.verdict)} {
		if text != "" {
			d[name] = text
		}
	}
	if op.does == rimewatch.TransitionAcknowledged && a.AckExpiresAt != 0 {
		d["until"] = a.AckExpiresAt
	}
	g.audit(a.WorkspaceID, now, op.who, "alert."+string(op.does), fmt.Sprintf("alert %d", a.ID), d)
}

// detailOf returns the members of a device that people change.
func detailOf(d *rimewatch.Device) store.Fields {
	limits := d.Limits
	if limits.Empty() {
		limits = nil
	}
	detail := store.Fields{"serial": d.Serial, "limits": limits, "labels": d.Labels}
	for _, f := range rimewatch.DeviceFields() {
		detail[f.Name] = f.Value(d)
	}
	return detail
}

// auditDevice adds a person's change of a device. A change of nothing leaves no
// entry.
func (g *group) auditDevice(op *deviceOp, now rimewatch.Time) {
	d := &op.Device
	after := detailOf(d)
	subject := "device " + d.Serial
	switch {
	case op.Create != nil:
		g.audit(d.WorkspaceID, now, op.who, "device.created", subject, after)
	case op.Delete:
		g.audit(d.WorkspaceID, now, op.who, "device.deleted", subject, after)
	default:
		if changes := store.Difference(detailOf(op.Was), after); len(changes) > 0 {
			g.audit(d.WorkspaceID, now, op.who, "device.updated", subject, changes)
		}
	}
}
