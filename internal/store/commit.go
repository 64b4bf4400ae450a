package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Seq is a position in the commit log: 1 for the first commit, growing.
type Seq int64

// InputKind says what an Input is.
type InputKind uint8

// The kinds of inputs. The numbers are stored.
const (
	InputReading   InputKind = 1 // a reading of the device
	InputHeartbeat InputKind = 2 // Payload is the heartbeat
	InputTick      InputKind = 3 // a deadline of the device passed
	InputDevice    InputKind = 4 // the device was created or its configuration changed; Payload is the configuration
	InputResolve   InputKind = 5 // a person resolved an alert; Payload is its type
	InputDelete    InputKind = 6 // the device was deleted
	InputFeedback  InputKind = 7 // a person judged a prediction; Payload says how
)

// Outcome is what the store found out about an Input.
type Outcome uint8

// The outcomes.
const (
	Accepted      Outcome = iota // new, part of this commit
	Duplicate                    // a reading of that moment is already stored; nothing is written
	UnknownDevice                // the device does not exist (any more); nothing is written
)

// Input is one thing that happened to a device.
type Input struct {
	DeviceID  int64
	Reading   rimewatch.Reading // for InputReading
	Payload   []byte            // for the other kinds, opaque to the store
	Kind      InputKind
	AtArrival bool    // the reading has no time of its own: the store gives it the device's next free millisecond from the group's time on
	Outcome   Outcome // set by the store before Evaluate
}

// DeviceOp creates, changes or deletes one device inside a commit. The store
// sets Device and Err before Evaluate; an op that fails leaves the rest of the
// group unharmed. One that succeeds is logged before the group's inputs, as
// InputDevice with Payload's bytes or as InputDelete.
type DeviceOp struct {
	WorkspaceID int64
	Serial      string                         // which device to create, change or delete
	Create      *rimewatch.Device              // insert this one; its ID comes from NewDeviceID
	Change      func(*rimewatch.Device) error  // change what is there
	Delete      bool                           // mark as deleted; the serial is free again
	Payload     func(*rimewatch.Device) []byte // what the log keeps of the configuration; nil = nothing
	// Calibration is kept with the change; the store sets ID, WorkspaceID and
	// DeviceID. nil = none.
	Calibration *rimewatch.Calibration
	Device      rimewatch.Device // the device after the op
	Err         error            // CodeSerialTaken, CodeDeviceNotFound or what Change returned
}

// Group is what is committed together.
type Group struct {
	Now     rimewatch.Time // the moment of the commit, never before that of the last one
	Parts   [][]Input      // in order; one part per caller
	Devices []*DeviceOp    // settled before the inputs

	// Evaluate says what the accepted inputs mean. It runs inside the
	// transaction, after every outcome is known. An error aborts the commit.
	Evaluate func(Seq) (Effects, error)
	// Committed runs once, after the commit is durable and before any other
	// commit begins. It must not call the store.
	Committed func()
}

// Effects are what a group means.
type Effects struct {
	Alerts  []*rimewatch.Alert // to insert (ID 0; the store sets it) or to overwrite, resolved ones too
	Touched []AlertTouch
	Live    []LiveWrite
	// Transitions are the alerts' timelines. Alert points to one of Alerts, whose
	// ID may not be known before; the store sets ID and AlertID.
	Transitions []TransitionOf
	// Explained are alerts that another one of this commit explains, whose ID may
	// not be known before: the store sets SuppressedBy. Both are among Alerts.
	Explained  []Explained
	Audit      []*rimewatch.AuditEntry // the store sets ID and Hash
	Excursions []*rimewatch.Excursion  // to insert; the store sets ID
	Empty      bool                    // nothing is to be logged or written: the inputs turned out to be void
}

// Explained says which alert explains another.
type Explained struct {
	Alert, By *rimewatch.Alert
}

// TransitionOf is a line of an alert's timeline. Alert is nil when the alert
// itself stays as it is stored: then AlertID names it.
type TransitionOf struct {
	Alert *rimewatch.Alert
	rimewatch.AlertTransition
}

// AlertTouch is news of an active alert that changes neither its state nor its
// severity. A store may keep it in memory only: replay gives it again.
type AlertTouch struct {
	AlertID   int64
	Value     float64
	Peak      float64
	HasValue  bool
	Evaluated rimewatch.Time
}

// LiveWrite is a device's presence after the group. What follows from readings
// and alerts alone (latest reading, current temperature, active alerts) the
// store keeps up by itself.
type LiveWrite struct {
	DeviceID int64
	Presence rimewatch.Presence
}

// Checkpoint is a device's streaming state after commit Seq.
type Checkpoint struct {
	DeviceID int64
	Seq      Seq
	State    []byte
}

// Entry is one logged input on its way back from the log.
type Entry struct {
	Seq   Seq
	Now   rimewatch.Time
	Input Input
}

// Downtime is a span in which no node watched, [From, To).
type Downtime struct {
	From, To rimewatch.Time
}

// Log is the part of a store that ingest writes to and recovers from.
type Log interface {
	// Commit makes a group durable, see the package comment. Errors are
	// CodeUnavailable (the disk is full, the store is closing) or internal.
	Commit(ctx context.Context, g *Group) error
	// NewDeviceID gives an id that no device has or had.
	NewDeviceID(ctx context.Context) (int64, error)
	// SaveCheckpoints stores streaming states. No input before floor is needed
	// any more by any device.
	SaveCheckpoints(ctx context.Context, states []Checkpoint, floor Seq) error
	// Recover hands out first the checkpoints, then the logged inputs in order.
	// It is called once, before the first Commit.
	Recover(ctx context.Context, checkpoint func(Checkpoint) error, entry func(*Entry) error) error
	// PutLive restores live states after Recover. Nothing durable changes.
	PutLive(live []LiveWrite, touched []AlertTouch)
	// PutLimits tells what workspaces override for types of equipment: views of
	// devices show it as WorkspaceLimits. Nothing durable changes.
	PutLimits(limits map[int64]map[string]rimewatch.LimitOverrides)
	// MarkAlive records that this node watched until now.
	MarkAlive(ctx context.Context, now rimewatch.Time) error
	// AliveAt is the last moment recorded by MarkAlive or by a commit, 0 for a
	// fresh store.
	AliveAt(ctx context.Context) (rimewatch.Time, error)
	// AddDowntime records a span without a watch and gives all that are known,
	// oldest first. A span of zero length is not recorded.
	AddDowntime(ctx context.Context, d Downtime) ([]Downtime, error)
}
