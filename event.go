package rimewatch

import (
	"slices"
	"strconv"
	"strings"
)

// EventType is the type of an event, for programs. The names are in the API for ever; more may be added.
type EventType string

// The types of events.
const (
	EventDeviceCreated       EventType = "device.created"
	EventDeviceUpdated       EventType = "device.updated"
	EventDeviceDeleted       EventType = "device.deleted"
	EventDeviceOnline        EventType = "device.online"
	EventDeviceOffline       EventType = "device.offline"
	EventAlertOpened         EventType = "alert.opened"
	EventAlertEscalated      EventType = "alert.escalated"
	EventAlertDeescalated    EventType = "alert.deescalated"
	EventAlertAcknowledged   EventType = "alert.acknowledged"
	EventAlertUnacknowledged EventType = "alert.acknowledgement_expired"
	EventAlertNoted          EventType = "alert.noted"
	EventAlertSuppressed     EventType = "alert.suppressed"
	EventAlertReleased       EventType = "alert.released"
	EventAlertFeedback       EventType = "alert.feedback"
	EventAlertResolved       EventType = "alert.resolved"
	EventExcursionOpened     EventType = "excursion.opened"
	EventExcursionClosed     EventType = "excursion.closed"
	EventExcursionCorrected  EventType = "excursion.corrected"
	EventCheckDue            EventType = "check.due"
	EventCheckMissed         EventType = "check.missed"
	EventCheckCompleted      EventType = "check.completed"
	EventSenderWaiting       EventType = "source.sender_waiting"
	EventTokenCreated        EventType = "token.created"
	EventTokenRevoked        EventType = "token.revoked"
	EventOrderCreated        EventType = "work_order.created"
	EventOrderUpdated        EventType = "work_order.updated"
	EventOrderDone           EventType = "work_order.done"
	EventOrderVerified       EventType = "work_order.verified"

	// EventReadingBatch is sent to the webhooks that name it: the newest reading of each device, every ten
	// seconds at most. Readings are too many for events: none is stored, and neither feed nor stream has it.
	EventReadingBatch EventType = "reading.batch"
)

// EventKind is a row of the table of events.
type EventKind struct {
	Type  EventType
	Needs Scopes // scopes of its resource, required besides ScopeEventsRead
	Text  string // when it happens
}

// EventKinds lists all types of events, those of a resource together.
func EventKinds() []EventKind {
	return []EventKind{
		{EventDeviceCreated, ScopeDevicesRead, "A device was created, by a person, a program or its first message."},
		{EventDeviceUpdated, ScopeDevicesRead, "Somebody changed the settings of a device; changed names them."},
		{EventDeviceDeleted, ScopeDevicesRead, "A device was deleted."},
		{EventDeviceOnline, ScopeDevicesRead, "A device came online."},
		{EventDeviceOffline, ScopeDevicesRead, "A device went offline."},
		{EventAlertOpened, ScopeAlertsRead, "An alert opened."},
		{EventAlertEscalated, ScopeAlertsRead, "A warning became critical."},
		{EventAlertDeescalated, ScopeAlertsRead, "A critical alert became a warning."},
		{EventAlertAcknowledged, ScopeAlertsRead, "Somebody acknowledged an alert."},
		{EventAlertUnacknowledged, ScopeAlertsRead, "An acknowledgement expired."},
		{EventAlertNoted, ScopeAlertsRead, "Somebody wrote a note."},
		{EventAlertSuppressed, ScopeAlertsRead, "Another alert explains this one."},
		{EventAlertReleased, ScopeAlertsRead, "The alert that explained this one is over, this one is not."},
		{EventAlertFeedback, ScopeAlertsRead, "Somebody judged a prediction."},
		{EventAlertResolved, ScopeAlertsRead, "An alert was resolved."},
		{EventExcursionOpened, ScopeReadingsRead, "A product zone has been out of its limits for longer than the alarm delay."},
		{EventExcursionClosed, ScopeReadingsRead, "An excursion is over, and recorded."},
		{EventExcursionCorrected, ScopeReadingsRead, "Late readings showed an excursion, changed one, or showed that there was none (withdrawn)."},
		{EventCheckDue, ScopeRecords, "The time of a round has begun at a site."},
		{EventCheckMissed, ScopeRecords, "The time of a round is over, and nobody has entered it."},
		{EventCheckCompleted, ScopeRecords, "Somebody has completed a round, within its time."},
		{EventSenderWaiting, ScopeSources, "An unknown sender waits to be accepted."},
		{EventTokenCreated, ScopeTokens, "An API token was created."},
		{EventTokenRevoked, ScopeTokens, "An API token was revoked."},
		{EventOrderCreated, ScopeRecords, "Somebody ordered work."},
		{EventOrderUpdated, ScopeRecords, "A work order was changed, given to somebody, begun or cancelled."},
		{EventOrderDone, ScopeRecords, "What a work order asked for was done, and is on record."},
		{EventOrderVerified, ScopeRecords, "Somebody verified what was done by a work order."},
	}
}

// EventKindOf finds the row of a type.
func EventKindOf(t EventType) (EventKind, bool) {
	list := EventKinds()
	i := slices.IndexFunc(list, func(k EventKind) bool { return k.Type == t })
	if i < 0 {
		return EventKind{}, false
	}
	return list[i], true
}

// EventTypesFor lists the types that scopes allow to read.
func EventTypesFor(s Scopes) (list []EventType) {
	for _, k := range EventKinds() {
		if s.Has(k.Needs) {
			list = append(list, k.Type)
		}
	}
	return list
}

// Event is the event that a transition of an alert is to programs; "" = it is none: the
// evidence of a prediction changes often, a device that moves is news of the device, and a
// corrective action is a record.
func (k TransitionKind) Event() EventType {
	switch k {
	case TransitionOpened:
		return EventAlertOpened
	case TransitionEscalated:
		return EventAlertEscalated
	case TransitionDeescalated:
		return EventAlertDeescalated
	case TransitionAcknowledged:
		return EventAlertAcknowledged
	case TransitionAckExpired:
		return EventAlertUnacknowledged
	case TransitionNoted:
		return EventAlertNoted
	case TransitionSuppressed:
		return EventAlertSuppressed
	case TransitionReleased:
		return EventAlertReleased
	case TransitionFeedback:
		return EventAlertFeedback
	case TransitionResolved:
		return EventAlertResolved
	case TransitionUpdated, TransitionMoved, TransitionCorrective:
	}
	return ""
}

// Event is one thing that happened, for programs. It is written in the commit that makes it
// happen, and never changed.
type Event struct {
	WorkspaceID int64
	Number      int64 // within the workspace: 1 for the first, growing by one
	At          Time
	Type        EventType
	Subject     string           // what happened to, such as device/7: the events of one come in order
	SiteID      int64            // where it stood then, 0 = at none
	Data        []byte           // a JSON object; nil where Alert says it
	Alert       *AlertTransition // of an event of an alert, with its facts
}

// Bounds of events.
const (
	EventsKept = 30 * Day  // and
	MaxEvents  = 5_000_000 // of a workspace, whichever is less
)

const eventPrefix = "evt_"

// ID names an event for ever: evt_WORKSPACE_NUMBER.
func (e *Event) ID() string { return EventID(e.WorkspaceID, e.Number) }

// EventID is the id of a workspace's event of that number.
func EventID(workspaceID, number int64) string {
	b := strconv.AppendInt([]byte(eventPrefix), workspaceID, 10)
	return string(strconv.AppendInt(append(b, '_'), number, 10))
}

// ParseEventID reads an id; false if it is none.
func ParseEventID(id string) (workspaceID, number int64, ok bool) {
	rest, ok := strings.CutPrefix(id, eventPrefix)
	w, n, found := strings.Cut(rest, "_")
	workspaceID, err := strconv.ParseInt(w, 10, 64)
	number, err2 := strconv.ParseInt(n, 10, 64)
	if !ok || !found || err != nil || err2 != nil || EventID(workspaceID, number) != id {
		return 0, 0, false
	}
	return workspaceID, number, true
}

// EventSubject is the subject of events about something of a kind.
func EventSubject(kind string, id int64) string { return kind + "/" + strconv.FormatInt(id, 10) }

// EventKey is the key of the delivery of an event to a webhook in one of its runs.
func EventKey(w *Webhook, number int64) string {
	b := append([]byte(EventID(w.WorkspaceID, number)), '/')
	b = append(strconv.AppendInt(b, w.ID, 10), '/')
	return string(strconv.AppendInt(b, w.Run, 10))
}

// EventOfKey is the number of the event of such a key; false if it is none.
func EventOfKey(key string) (number int64, ok bool) {
	id, _, _ := strings.Cut(key, "/")
	_, number, ok = ParseEventID(id)
	return number, ok
}
