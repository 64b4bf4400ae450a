package store

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
)

// Seq is a position in the commit log: 1 for the first commit, growing.
type Seq int64

// InputKind is the kind of an Input.
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
	InputClock     InputKind = 8 // the clock was set back, of no device (DeviceID 0); Payload says how far
	InputRejudged  InputKind = 9 // the device's temperatures were judged once more, after late readings; Payload is what is known since
)

// Vitals are a device's reports of itself, besides its measurements.
type Vitals struct {
	DeviceID  int64
	Heartbeat rimewatch.Heartbeat
}

// Outcome is the store's decision on an Input.
type Outcome uint8

// The outcomes.
const (
	Accepted      Outcome = iota // new, part of this commit
	Duplicate                    // a reading of that moment is already stored; nothing is written
	UnknownDevice                // the device does not exist (any more); nothing is written
	Failed                       // the device's stored data cannot be read; nothing is written
)

// Input is one thing that happened to a device.
type Input struct {
	DeviceID  int64
	Reading   rimewatch.Reading // for InputReading
	Payload   []byte            // for the other kinds, opaque to the store
	Kind      InputKind
	AtArrival bool    // the reading has no time of its own: the store gives it the device's next free millisecond from the group's time on
	Outcome   Outcome // set by Stage
	// Conflicts are measurements of which another value is stored for the same moment,
	// which is kept. Set by Stage.
	Conflicts rimewatch.Fields
	Last      bool // set by Stage: the last of the group's accepted readings of its device
}

// DeviceOp creates, changes or deletes one device inside a commit. Stage sets
// Device and Err; an op that fails leaves the rest of the group unharmed. One
// that succeeds is logged before the group's inputs, as InputDevice with
// Payload or as InputDelete.
type DeviceOp struct {
	WorkspaceID int64
	Serial      string            // which device to create, change or delete
	Create      *rimewatch.Device // insert this one; its ID comes from NewDeviceID
	Change      *rimewatch.Device // replaces the stored one of the same ID
	Was         *rimewatch.Device // of Change: the stored device when it was made; ErrOutdated where that has changed since
	Delete      bool              // mark as deleted; the serial is free again
	Payload     []byte            // the log's form of the configuration
	// Calibration is kept with the change; the store sets ID, WorkspaceID and
	// DeviceID. nil = none.
	Calibration *rimewatch.Calibration
	Device      rimewatch.Device // the device after the op
	Err         error            // CodeSerialTaken, CodeDeviceNotFound, CodeQuotaExceeded or ErrOutdated
}

// ErrOutdated refuses a change of a device that another change came before: whoever
// made it looks at the device as it is now and makes it again.
var ErrOutdated = errors.New("the device has changed meanwhile")

// Group are the inputs and changes of one commit.
type Group struct {
	Now     rimewatch.Time // the moment of the commit; Stage moves it up to that of the group before, unless Back
	Back    bool           // the clock was set back to Now: AliveAt goes back with it
	Seq     Seq            // set by Stage
	Parts   [][]Input      // in order; one part per caller
	Devices []*DeviceOp    // settled before the inputs
}

// togetherInputs is how many inputs of different callers are looked at under one hold
// of a lock. Readers wait for that long, not for a whole group; to let them in after each
// single reading costs more than the reading.
const togetherInputs = 64

// Together returns how many of the first parts, of which there is one at least, are
// looked at under one hold of a lock.
func Together(parts [][]Input) int {
	n := len(parts[0])
	for i, part := range parts[1:] {
		if n += len(part); n > togetherInputs {
			return i + 1
		}
	}
	return len(parts)
}

// Staged is a group on its way from Stage to the log. Exactly one of its
// methods is called, once.
type Staged interface {
	// Commit writes the group's inputs and their effects in one transaction.
	// When it returns nil, both are on stable storage and visible to readers;
	// when it returns an error, nothing of the group is. Errors are
	// CodeUnavailable (the disk is full, the store is closing) or internal.
	Commit(ctx context.Context, e *Effects) error
	// Discard takes the group back, as a Commit that fails does: nothing of it
	// was logged or written.
	Discard()
}

// Effects are the effects of a group. They are only valid during Commit.
type Effects struct {
	// Back is the Now of a group with Back, else 0.
	Back rimewatch.Time
	// Alerts are inserted or overwritten, resolved ones too. The ID of a new one
	// comes from NewAlertID, and is greater than those of all earlier commits.
	Alerts      []*rimewatch.Alert
	Touched     []AlertTouch
	Live        []LiveWrite
	Transitions []rimewatch.AlertTransition // the alerts' timelines; the store sets ID
	Audit       []*rimewatch.AuditEntry     // the store sets ID and Hash
	Excursions  []*rimewatch.Excursion      // to insert, and the store sets ID; to overwrite where it is set
	Unfounded   []int64                     // ids of excursions that never were, as late readings show
	Former      []*rimewatch.FormerLimits   // of devices that are judged by others from now on
	Answers     []*Answer                   // to requests of the group
	Events      []rimewatch.Event           // for programs, in order
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

// LiveWrite is a device's presence after the group, where it has changed. What
// follows from readings and alerts alone (latest reading, current temperature,
// active alerts, and that the device was seen at the group's time) the store keeps
// up by itself.
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
	// Stage settles the outcome of every input and every DeviceOp of a group, and
	// numbers it. Groups are staged by one goroutine at a time and end (Commit or
	// Discard) in the order in which they were staged. A group may be staged while
	// the one before is being committed: it sees that group's readings as stored.
	// A group with Devices is on its own: all groups before it have ended, it ends
	// before the next is staged, and other writes wait for it. When a group does
	// not become durable, neither does any that was staged after it: their Commit
	// fails. Errors of Stage are those of Commit, and leave nothing staged.
	Stage(ctx context.Context, g *Group) (Staged, error)
	// NewDeviceID returns an id that no device has or had, greater than all of
	// them.
	NewDeviceID() int64
	// NewAlertID returns an id for an alert, greater than all that it returned
	// before and than those of all stored alerts.
	NewAlertID() int64
	// SaveCheckpoints stores streaming states; it may write behind each State, within
	// its capacity. No input before floor is needed any more by any device; 0 = nothing
	// new is known about that.
	SaveCheckpoints(ctx context.Context, states []Checkpoint, floor Seq) error
	// Recover hands out first the checkpoints, without their State, which Checkpoints
	// reads, then the logged inputs. As many workers call, each with its number from 0. The
	// inputs of one device come from one worker, in order; an InputClock comes while
	// no other worker calls. It is called once, before the first Commit.
	Recover(ctx context.Context, workers int, checkpoint func(worker int, c Checkpoint) error, entry func(worker int, e *Entry) error) error
	// Join has the store become this process's own, where Recover only followed what
	// another process writes: it calls ahead, waits until that one has let go, and hands
	// out what was logged since, as Recover does. For any other store it does nothing. It
	// is called once, after Recover. What was read of tables before may be old by then.
	Join(ctx context.Context, workers int, ahead func() error, entry func(worker int, e *Entry) error) error
	// Checkpoints hands out the newest checkpoints of some devices. A device
	// without one is left out; the State of one that is damaged is empty.
	Checkpoints(ctx context.Context, devices []int64, yield func(Checkpoint) error) error
	// Logged hands out the logged inputs as Recover does, with those that were
	// committed since. Inputs before the floor of SaveCheckpoints may be gone.
	Logged(ctx context.Context, workers int, entry func(worker int, e *Entry) error) error
	// PutLive restores live states after Recover. Nothing durable changes.
	PutLive(live []LiveWrite, touched []AlertTouch)
	// PutLimits sets the overrides of workspaces for types of equipment: views of
	// devices show it as WorkspaceLimits. Nothing durable changes.
	PutLimits(limits map[int64]map[string]rimewatch.LimitOverrides)
	// MarkAlive records that this node watched until now.
	MarkAlive(ctx context.Context, now rimewatch.Time) error
	// AliveAt is the last moment recorded by MarkAlive or by a commit, 0 for a
	// fresh store.
	AliveAt(ctx context.Context) (rimewatch.Time, error)
	// AddDowntime records a span without a watch. One of zero length is not recorded.
	AddDowntime(ctx context.Context, d Downtime) error
	// Downtimes lists all that are known, oldest first. It writes nothing: a server
	// comes up on a full disk, too.
	Downtimes(ctx context.Context) ([]Downtime, error)
}
