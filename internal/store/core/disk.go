package core

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Disk is an engine's storage for a Core: the log, checkpoints, chunks and
// rollups. Each call that writes is one transaction, durable when it returns
// nil; what it was given is its own no longer.
type Disk interface {
	// Last returns the greatest position of the log and the greatest ids that
	// devices and alerts ever had.
	Last(ctx context.Context) (Last, error)
	// Append adds a row to the log, unless row is empty, and writes the devices
	// and effects of a group (tables.Tables.Commit).
	Append(ctx context.Context, seq store.Seq, row []byte, ops []*store.DeviceOp, e *store.Effects) error
	// Log calls yield for each row of the log after a position, in order. The bytes are
	// only valid in the call.
	Log(ctx context.Context, after store.Seq, yield func(seq store.Seq, row []byte) error) error
	// TrimLog deletes rows before floor, a slice at a time, and notes that the log
	// was at last. It returns false when nothing was left to delete.
	TrimLog(ctx context.Context, floor store.Seq, last store.Seq, at rimewatch.Time) (bool, error)

	SaveCheckpoints(ctx context.Context, list []Checkpoint) error
	// Checkpoints calls yield for those of some devices. The bytes are only valid in
	// the call.
	Checkpoints(ctx context.Context, devices []int64, yield func(*Checkpoint) error) error
	// CheckpointRange does so for the devices with ids in [from, to), with their states
	// where these are wanted: then those of other shards may be among them. Several
	// goroutines may call it at once.
	CheckpointRange(ctx context.Context, from, to int64, states bool, yield func(*Checkpoint) error) error

	// Seal writes new chunks and, for each device, up to which commit its readings
	// are in chunks.
	Seal(ctx context.Context, list []Sealed) error
	// SealMarks returns these positions, of devices that still have rows in the log.
	SealMarks(ctx context.Context) (map[int64]store.Seq, error)
	// Merge replaces chunks by others: an error when one to replace is gone.
	Merge(ctx context.Context, list []Merge) error
	// RollUp replaces chunks by rollups, likewise.
	RollUp(ctx context.Context, list []Rollup) error
	// DropRollups deletes a workspace's rollups that end before a moment.
	DropRollups(ctx context.Context, workspaceID int64, before rimewatch.Time) error
	// YoungChunks lists the devices that have young chunks.
	YoungChunks(ctx context.Context) ([]int64, error)
	// Expired lists at most limit chunks of a workspace that end before a moment.
	Expired(ctx context.Context, workspaceID int64, before rimewatch.Time, limit int) ([]DeviceSpan, error)

	// SetAside takes damaged chunks out of what all other calls see; their bytes are
	// kept. One that is gone is left alone.
	SetAside(ctx context.Context, list []Damaged) error
	// Aside lists the chunks that were set aside.
	Aside(ctx context.Context) ([]Damaged, error)
	// DropAside deletes what of a workspace was set aside and ends before a moment.
	DropAside(ctx context.Context, workspaceID int64, before rimewatch.Time) error
	// SetLogAside takes a damaged row out of the log and keeps it elsewhere.
	SetLogAside(ctx context.Context, seq store.Seq, why string) error

	// View runs f on a snapshot of the committed rows.
	View(ctx context.Context, f func(Chunks) error) error
	// LookUp is View for the write path, which waits for no reader. It is called
	// by one goroutine at a time.
	LookUp(f func(Chunks) error) error

	// Tidy is called between pieces of background work, one call at a time.
	Tidy(ctx context.Context) error
	// Sizes describes what is there, without what the Core knows by itself.
	Sizes(ctx context.Context) (store.Stats, error)
}

// Chunks are the chunks at one moment.
type Chunks interface {
	// NewestSealed is the newest moment in a device's chunks, −1 = none.
	NewestSealed(deviceID int64) (rimewatch.Time, error)
	// Spans lists a device's chunks that touch [from, to) by their end, at most
	// limit (−1 = all).
	Spans(deviceID int64, from, to rimewatch.Time, descending bool, limit int) ([]Span, error)
	Data(s Span) ([]byte, error)
	Summary(deviceID int64, s Span) ([]byte, error)
	// Rollups calls yield for a device's rollups that touch [from, to).
	Rollups(deviceID int64, from, to rimewatch.Time, yield func(id int64, from, to rimewatch.Time, data []byte) error) error
}

// Last returns how far things are.
type Last struct {
	Seq      store.Seq
	DeviceID int64
	AlertID  int64
	// DeviceEnd and AlertEnd are the last ids that may be given out before More
	// returns others that nobody has or had: (after, end]. Nil = ids never end.
	DeviceEnd, AlertEnd int64
	More                func(ctx context.Context, alerts bool) (after, end int64, err error)
}

// Checkpoint is a device's streaming state and live values after commit Seq.
type Checkpoint struct {
	store.Checkpoint
	Latest        []byte // the newest reading, encoded as in the log, with a checksum
	CurrentTemp   float64
	CurrentTempAt rimewatch.Time
}

// Span is a chunk's place: on the time line and on the disk.
type Span struct {
	ID       int64
	Segments int // the disk's own
	Young    bool
	From, To rimewatch.Time
	N        int // readings
}

// DeviceSpan is a Span with its device.
type DeviceSpan struct {
	Span
	DeviceID int64
}

// Chunk is a chunk on its way to the disk.
type Chunk struct {
	From, To rimewatch.Time
	N        int
	Young    bool // it will be merged soon
	Summary  []byte
	Data     []byte
}

// Sealed is one device's part of a slice.
type Sealed struct {
	DeviceID int64
	Mark     store.Seq
	Chunks   []Chunk
}

// Merge replaces chunks of one device's day by as few as can be.
type Merge struct {
	DeviceID int64
	Old      []Span
	Chunks   []Chunk
}

// Rollup replaces a chunk by a summary of each of its hours.
type Rollup struct {
	DeviceSpan
	From, To rimewatch.Time
	Data     []byte // empty = the chunk held nothing
}
