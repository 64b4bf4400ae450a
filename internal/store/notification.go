package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Routing keeps channels, routes and rotas, silences, scheduled reports and maintenance. Every
// change is durable when the call returns. The rules of Control hold: names of
// channels and routes are unique within a workspace without case, updating keeps
// ids and times of creation, lists are by id.
type Routing interface {
	// Channels keep their health when they change. Delete refuses (CodeConflict, naming
	// the routes) while a route or a scheduled report uses one; what is to be sent to it is
	// dropped, and channels that fall back to it fall back to any that works.
	Channels() Resource[rimewatch.Channel]
	// Routes need every channel that they name (CodeValidationFailed).
	Routes() Resource[rimewatch.Route]
	// Rotas need their site, and members for the users that they name (CodeValidationFailed).
	// One that a route names is not deleted (CodeConflict); with its site goes only the clock.
	Rotas() Resource[rimewatch.Rota]
	// Silences are spans, which end and are not deleted.
	Silences() Resource[rimewatch.Silence]
	// ReportSchedules need the site and every channel that they name, of the kind email
	// (CodeValidationFailed). A schedule is deleted with its site.
	ReportSchedules() Resource[rimewatch.ReportSchedule]
	// ReportsThrough notes the end of the last period whose report is among the
	// deliveries. CodeNotFound when the schedule is gone.
	ReportsThrough(ctx context.Context, workspaceID, id int64, through rimewatch.Time) error

	// MaintenanceWindows are spans, which end and are not deleted. Those of plans do not count against the most.
	MaintenanceWindows() Resource[rimewatch.MaintenanceWindow]
	// MaintenancePlans may name sites and devices that are no more.
	MaintenancePlans() Resource[rimewatch.MaintenancePlan]
	// SettleMaintenance makes windows of a plan, and deletes some of those that begin after a moment (coming), as settle
	// says it inside the transaction. plan is as it is then, nil once it was deleted. In the audit trail it is an act of
	// who made the windows (CreatedBy).
	SettleMaintenance(ctx context.Context, workspaceID, planID int64, after rimewatch.Time, settle func(plan *rimewatch.MaintenancePlan, coming []rimewatch.MaintenanceWindow) (made []rimewatch.MaintenanceWindow, withdrawn []int64)) error
}

// EventRow is where a commit's events of one workspace stand among those of all workspaces.
type EventRow struct {
	ID          int64
	WorkspaceID int64
	First, Last int64 // their numbers
}

// Outbox keeps what happened and what is to be sent of it: the transitions of alerts, events
// for programs, and the deliveries of both.
//
// Events are written by Commit, and by the calls that make or revoke a token or hold what an
// unknown sender has sent. They are kept for rimewatch.EventsKept, and at most
// rimewatch.MaxEvents of a workspace; the newest stays.
//
// Deliveries of a webhook are those of the channel with its id negated: UpdateDeliveries,
// PendingDeliveries and Deliveries take them.
type Outbox interface {
	// AlertTransitions is an alert's timeline, oldest first.
	AlertTransitions(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.AlertTransition, error)
	// PlannedThrough is the id of the last transition whose deliveries are stored.
	PlannedThrough(ctx context.Context) (int64, error)

	// PutDeliveries stores new deliveries and, in the same step, that the
	// transitions through that id are planned (0 = no change). A key that exists in
	// the workspace is left as it is, and its ID given. Pending ones to a channel
	// that is gone are stored, and given back, as dropped.
	PutDeliveries(ctx context.Context, list []*rimewatch.Delivery, through int64) error
	// UpdateDeliveries records in one step an attempt of deliveries to one channel
	// (status, attempts, times, doubt, error) and, when health is not nil, what it says of
	// the channel. To a channel that is gone nothing becomes pending: it is stored,
	// and given back, as dropped. CodeNotFound, and nothing is recorded, when one of
	// them does not exist.
	UpdateDeliveries(ctx context.Context, list []*rimewatch.Delivery, health *rimewatch.ChannelHealth) error
	// AlertDeliveries returns all of an alert, oldest first; the planner's memory.
	AlertDeliveries(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.Delivery, error)
	// PendingDeliveries returns the urgent or the other pending deliveries of a channel, by
	// NextAttemptAt.
	PendingDeliveries(ctx context.Context, workspaceID, channelID int64, urgent bool, limit int) ([]rimewatch.Delivery, error)
	// Deliveries lists newest first. channelID 0 = of all channels; Page.After
	// selects those with a smaller id.
	Deliveries(ctx context.Context, workspaceID, channelID int64, p Page) (list []rimewatch.Delivery, total int, err error)
	Delivery(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error)
	// DeliveryNames names the channels and routes of a workspace, deleted ones
	// included.
	DeliveryNames(ctx context.Context, workspaceID int64) (DeliveryNames, error)

	// Events returns those of a workspace after a number, in order, by commits: limit bounds
	// how many of these are read. The last commit may come whole or not at all.
	Events(ctx context.Context, workspaceID, after int64, limit int) ([]rimewatch.Event, error)
	// EventRange returns the numbers of the oldest and of the newest event that a workspace
	// has; first is newest+1 and newest 0 where it never had any.
	EventRange(ctx context.Context, workspaceID int64) (first, newest int64, err error)
	// EventsSince returns the number of the last event before those that happened at or
	// after a moment.
	EventsSince(ctx context.Context, workspaceID int64, at rimewatch.Time) (after int64, err error)

	// Webhooks keep their position and health when they change. Delete drops what waits.
	Webhooks() Resource[rimewatch.Webhook]
	// PutEventDeliveries stores deliveries of the next events of a webhook and, in the same
	// step, that they are planned through that number. CodeConflict, and nothing is stored,
	// when the webhook has another Run by now, or is switched off.
	PutEventDeliveries(ctx context.Context, w *rimewatch.Webhook, list []*rimewatch.Delivery, through int64) error
	// RewindWebhook drops what waits for a webhook and has the events after a number planned
	// anew. It returns the webhook as it is then.
	RewindWebhook(ctx context.Context, workspaceID, id, after int64) (rimewatch.Webhook, error)
	// NoteWebhook keeps how a webhook works at present. One that is gone is no error.
	NoteWebhook(ctx context.Context, workspaceID, id int64, h *rimewatch.ChannelHealth) error

	// StopWebhook switches a webhook off, as Sentence.Stored returns why. What waits is planned
	// anew when it is switched on again.
	StopWebhook(ctx context.Context, workspaceID, id int64, why string) error
}

// DeliveryNames are the names of channels, routes and devices of deliveries, by id.
type DeliveryNames struct {
	Channels map[int64]ChannelName
	Routes   map[int64]string
}

// ChannelName is the part of a channel that is kept for ever.
type ChannelName struct {
	Name string
	Kind rimewatch.ChannelKind
}

// Records keeps the records for inspectors. They are never changed, except for excursions
// of which late readings show that they were others.
type Records interface {
	// Excursions of a workspace's devices that overlap [from, to), oldest first;
	// deviceID 0 = of all devices; at most limit. They are written by Commit, and
	// kept for as long as rollups are.
	Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time, limit int) ([]rimewatch.Excursion, error)
	// ExcursionTotals adds up a workspace's excursions that ended within [from, to), by device.
	ExcursionTotals(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (map[int64]ExcursionTotal, error)
	// Responses lists the critical alerts of a workspace that were raised in [from, to).
	Responses(ctx context.Context, workspaceID int64, from, to rimewatch.Time) ([]Response, error)
	// FormerLimits of a device that were in force until after a moment, oldest first.
	// They are written by Commit, and kept for as long as excursions are.
	FormerLimits(ctx context.Context, deviceID int64, after rimewatch.Time) ([]rimewatch.FormerLimits, error)

	// CreateCorrectiveAction sets ID and, of one about an alert, DeviceID; the alert
	// must exist (CodeAlertNotFound), and gets a line in its timeline. One about no
	// alert is of DeviceID, which must exist (CodeDeviceNotFound), and so must its excursion,
	// if it is about one (CodeValidationFailed). One for a case (CaseID) is of a device of it.
	// The case of the alert or excursion owns it, and is documented from then on.
	CreateCorrectiveAction(ctx context.Context, a *rimewatch.CorrectiveAction) error
	// CorrectiveAction returns one; CodeNotFound.
	CorrectiveAction(ctx context.Context, workspaceID, id int64) (rimewatch.CorrectiveAction, error)
	// VerifyCorrectiveAction stores who verified one, if Verify takes it, and returns it; CodeNotFound.
	VerifyCorrectiveAction(ctx context.Context, workspaceID, id int64, d rimewatch.Doer, now rimewatch.Time) (rimewatch.CorrectiveAction, error)
	// CorrectiveActions returns those of an alert (alertID not 0) or of a device
	// (deviceID not 0) that were performed in [from, to), oldest first.
	CorrectiveActions(ctx context.Context, workspaceID, alertID, deviceID int64, from, to rimewatch.Time) ([]rimewatch.CorrectiveAction, error)

	// Calibrations of a device, by when they were performed, newest first. They
	// are written by Commit with the change of the device that they bring.
	Calibrations(ctx context.Context, workspaceID, deviceID int64) ([]rimewatch.Calibration, error)

	Cases
	Orders
	Rounds
}

// ExcursionTotal is the sum of a device's excursions in a span.
type ExcursionTotal struct {
	Count int
	Sum   rimewatch.Time // ms out of limits within the span
}

// Add counts one excursion, of which at least a part lies in [from, to). One that lasts goes on to the end.
func (t *ExcursionTotal) Add(e *rimewatch.Excursion, from, to rimewatch.Time) {
	t.Count++
	switch {
	case e.Runs > 0:
		t.Sum += e.Sum
	case e.To == 0:
		t.Sum += max(to-max(e.From, from), 0)
	default:
		t.Sum += max(min(e.To, to)-max(e.From, from), 0)
	}
}

// Response is when a critical alert was raised, and first acknowledged.
type Response struct {
	DeviceID       int64 // 0 = the alert is of a site
	SiteID         int64 // of an alert of a site
	TriggeredAt    rimewatch.Time
	AcknowledgedAt rimewatch.Time // 0 = never
	ResolvedAt     rimewatch.Time // 0 = it is active
}

// ErrNoRecord is CodeNotFound for a corrective action or a calibration.
func ErrNoRecord() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such record.")
}
