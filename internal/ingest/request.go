package ingest

import (
	"cmp"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
)

// request is one caller waiting for a commit.
type request struct {
	inputs  []store.Input
	beats   []store.Input // heartbeats that came with them
	devices []*deviceOp
	alert   *alertOp
	// settings hold from now on, nil = as before.
	settings *settings
	clock    *clockOp
	// siteGone is the id of a site that was deleted, 0 = none.
	siteGone int64
	rejudged []rejudge.Mending // changes of the record by each of the inputs, which are InputRejudged then
	answer   *store.Answer     // kept in the same commit, nil = none
	alerts   int               // changes of alerts in the group that it was committed in
	done     chan error
}

// weight returns the number that a request counts for in the queue and in a group.
func (r *request) weight() int { return len(r.inputs) + len(r.beats) + 1 }

// setsBack reports whether a request sets the clock back.
func (r *request) setsBack() bool { return r != nil && r.clock != nil && r.clock.back }

// solitary reports whether a request needs a group of its own. Inputs beside a clock that is set
// back would get a moment after it; a change of a device beside a conclusion about it would come
// before that, and be forgotten.
func (r *request) solitary() bool { return r != nil && (r.setsBack() || len(r.rejudged) > 0) }

// alertOp is a person's change of an alert.
type alertOp struct {
	workspaceID, id int64
	does            rimewatch.TransitionKind
	by, who, note   string               // by is shown with the alert, who in the audit trail
	expires         time.Duration        // of an acknowledgement, 0 = by severity
	verdict         rimewatch.Verdict    // of feedback
	found           *rimewatch.AlertView // as stored when the request came
	err             error
}

// anyTime reports whether the op may be done to an alert that is over.
func (op *alertOp) anyTime() bool {
	return op.does == rimewatch.TransitionNoted || op.does == rimewatch.TransitionFeedback
}

// judges makes the input of feedback.
func (op *alertOp) judges() ([]store.Input, error) {
	a := &op.found.Alert
	if !a.Takes(op.verdict) {
		return nil, rimewatch.Invalid("verdict", "can be given on predictions only, and normal on not_cooling while it is active")
	}
	j := fleet.Judgement{Verdict: op.verdict}
	if a.Status == rimewatch.AlertActive {
		j.Type = a.Type
	}
	if a.Feedback != nil {
		j.Was = a.Feedback.Verdict
	}
	b, err := j.Encode()
	if err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeInternal, err, "The feedback could not be saved.")
	}
	return []store.Input{{Kind: store.InputFeedback, DeviceID: a.DeviceID, Payload: b}}, nil
}

// judge writes the verdict into the alert, ends one that is open, and returns the kind of the change.
func (op *alertOp) judge(a *rimewatch.Alert, now rimewatch.Time) rimewatch.TransitionKind {
	a.Feedback = &rimewatch.Feedback{Verdict: op.verdict, Note: op.note, By: op.by, At: now}
	if a.Status != rimewatch.AlertActive || !engine.Ends(op.verdict) {
		return rimewatch.TransitionFeedback
	}
	op.resolve(a, now)
	return rimewatch.TransitionResolved
}

func (op *alertOp) resolve(a *rimewatch.Alert, now rimewatch.Time) {
	a.Status, a.Resolution, a.ResolvedAt, a.ResolvedBy = rimewatch.AlertResolved, rimewatch.ResolvedManual, now, op.by
}

// apply changes the alert as the person asked, and returns the kind of the change.
func (op *alertOp) apply(a *rimewatch.Alert, now rimewatch.Time) rimewatch.TransitionKind {
	if op.note != "" {
		a.Note = op.note
	}
	switch op.does {
	case rimewatch.TransitionFeedback:
		return op.judge(a, now)
	case rimewatch.TransitionResolved:
		op.resolve(a, now)
	case rimewatch.TransitionAcknowledged:
		span := rimewatch.Time(op.expires.Milliseconds())
		if span == 0 {
			span = alert.AcknowledgedFor(a.Severity)
		}
		a.AcknowledgedAt, a.AcknowledgedBy, a.AckExpiresAt = now, op.by, now+span
	default: // a note
	}
	return op.does
}

func errNotActive() error {
	return rimewatch.Errorf(rimewatch.CodeAlertNotActive, "The alert is no longer active.")
}

// deviceOp is a change of a device on its way.
type deviceOp struct {
	store.DeviceOp
	who string // for the audit trail; "" = the device itself, which leaves no entry
}

// changes makes op the change of a device as it was read a moment ago.
func (op *deviceOp) changes(was *rimewatch.Device, change func(*rimewatch.Device) error) error {
	was.WorkspaceLimits = nil // of its workspace, not of its row
	next := *was
	op.Was, op.Change = was, &next
	return change(op.Change)
}

// declares reports whether a heartbeat differs from the device's row.
func declares(hb *rimewatch.Heartbeat, d *rimewatch.Device) bool {
	return (hb.FirmwareVersion != "" && hb.FirmwareVersion != d.FirmwareVersion) ||
		(hb.HeartbeatIntervalS != 0 && hb.HeartbeatIntervalS != d.HeartbeatIntervalS) || (hb.Habit != "" && hb.Habit != d.Habit)
}

// declare adds the change of a device's row that a heartbeat asks for.
func declare(ops []*deviceOp, hb *rimewatch.Heartbeat, d *rimewatch.Device) []*deviceOp {
	op := &deviceOp{DeviceOp: store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial}}
	_ = op.changes(d, func(d *rimewatch.Device) error {
		d.FirmwareVersion = cmp.Or(hb.FirmwareVersion, d.FirmwareVersion)
		d.HeartbeatIntervalS = cmp.Or(hb.HeartbeatIntervalS, d.HeartbeatIntervalS)
		d.Habit = cmp.Or(hb.Habit, d.Habit)
		return nil
	})
	return append(ops, op)
}

// clockOp is news of the machine's clock, or a step backwards to adopt.
type clockOp struct {
	action     string
	by         rimewatch.Time
	back       bool
	workspaces []int64 // whose audit trail records it
}
