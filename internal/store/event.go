package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Events keeps the events for programs. They are written by Commit, and by the calls that make or
// revoke a token or hold a payload of an unknown sender. They are kept for
// rimewatch.EventsKept, and at most rimewatch.MaxEvents of a workspace; the newest stays.
type Events interface {
	// Events returns those of a workspace after a number, in order, by commits: limit bounds
	// how many of these are read. The last commit may come whole or not at all.
	Events(ctx context.Context, workspaceID, after int64, limit int) ([]rimewatch.Event, error)
	// EventRange returns the numbers of the oldest and of the newest event that a workspace
	// has; first is newest+1 and newest 0 where it never had any.
	EventRange(ctx context.Context, workspaceID int64) (first, newest int64, err error)
	// EventsSince returns the number of the last event before those that happened at or
	// after a moment.
	EventsSince(ctx context.Context, workspaceID int64, at rimewatch.Time) (after int64, err error)
}

// EventRow is where a commit's events of one workspace stand among those of all workspaces.
type EventRow struct {
	ID          int64
	WorkspaceID int64
	First, Last int64 // their numbers
}

// Webhooks keeps where events are sent. The rules of Control hold. Deliveries of a webhook are
// those of the channel with its id negated: UpdateDeliveries, PendingDeliveries and Deliveries
// take them.
type Webhooks interface {
	// Webhooks keep their position and health when they change. Delete drops waiting deliveries.
	Webhooks() Resource[rimewatch.Webhook]
	// PutEventDeliveries stores deliveries of the next events of a webhook and, in the same
	// step, that they are planned through that number. CodeConflict, and nothing is stored,
	// when the webhook has another Run by now, or is switched off.
	PutEventDeliveries(ctx context.Context, w *rimewatch.Webhook, list []*rimewatch.Delivery, through int64) error
	// RewindWebhook drops a webhook's waiting deliveries and has the events after a number planned
	// anew. It returns the webhook as it is then.
	RewindWebhook(ctx context.Context, workspaceID, id, after int64) (rimewatch.Webhook, error)
	// NoteWebhook keeps how a webhook works at present. One that is gone is no error.
	NoteWebhook(ctx context.Context, workspaceID, id int64, h *rimewatch.ChannelHealth) error

	// StopWebhook switches a webhook off, as Sentence.Stored returns why. What waits is planned
	// anew when it is switched on again.
	StopWebhook(ctx context.Context, workspaceID, id int64, why string) error
}
