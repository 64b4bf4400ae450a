package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// Inlets keeps sources, the bindings of their senders, and payloads that wait.
// Every change is durable when the call returns. The rules of Control hold: names
// of sources are unique within a workspace without case, lists are by id. Keys
// are unique everywhere.
type Inlets interface {
	// Sources need their site (CodeValidationFailed), and keep their kind. One is deleted
	// with its bindings and what waits; that of the API cannot be (CodeConflict).
	Sources() Resource[rimewatch.Source]
	// APISource finds the source that stands for the API in a workspace, and makes
	// it at the first call.
	APISource(ctx context.Context, workspaceID int64, now rimewatch.Time) (rimewatch.Source, error)
	// SourceKeys need a source of rimewatch.SourcePush (CodeValidationFailed), which they
	// keep, and go with it.
	SourceKeys() Resource[rimewatch.SourceKey]
	// SourceByKey finds a source by the hash of one of its keys, and the key's ID:
	// CodeNotFound.
	SourceByKey(ctx context.Context, hash [32]byte) (s rimewatch.Source, keyID int64, err error)
	// NoteKeyUses remembers the newest use of keys of a workspace by devices. What is
	// of keys that are gone is left out.
	NoteKeyUses(ctx context.Context, workspaceID int64, list []rimewatch.KeyUse) error
	// KeyUses lists the uses of a workspace's keys, or of one of them, the newest first;
	// those by deleted devices are left out.
	KeyUses(ctx context.Context, workspaceID, keyID int64) ([]rimewatch.KeyUse, error)

	// PutBindings creates or replaces bindings of a source, in one step:
	// CodeConflict beyond rimewatch.MaxBindings.
	PutBindings(ctx context.Context, workspaceID, sourceID int64, list []rimewatch.Binding) error
	// DeleteBinding is CodeNotFound for one that does not exist.
	DeleteBinding(ctx context.Context, workspaceID, sourceID int64, externalID, serial string) error
	// Bindings lists by external id, then serial.
	Bindings(ctx context.Context, workspaceID, sourceID int64) ([]rimewatch.Binding, error)

	// Hold keeps payloads of a workspace's sources and sets their IDs. What would
	// go beyond rimewatch.MaxHeldBytes, or is of a new sender beyond
	// rimewatch.MaxHeldSenders, keeps ID 0; waiting payloads are never displaced.
	Hold(ctx context.Context, workspaceID int64, list []*rimewatch.Held) error
	// HeldSenders lists the senders of a source with waiting payloads, the newest
	// first.
	HeldSenders(ctx context.Context, workspaceID, sourceID int64, p Page) (list []rimewatch.HeldSender, total int, err error)
	// Held lists payloads of a sender with greater ids, the oldest first.
	Held(ctx context.Context, workspaceID, sourceID int64, externalID string, after int64, limit int) ([]rimewatch.Held, error)
	// NewestHeld lists payloads of a sender with smaller ids, the newest first; before 0 =
	// all.
	NewestHeld(ctx context.Context, workspaceID, sourceID int64, externalID string, before int64, limit int) ([]rimewatch.Held, error)
	// ReleaseHeld deletes payloads; those that are gone already are left out.
	ReleaseHeld(ctx context.Context, workspaceID int64, ids []int64) error
	// HeldTotal returns the payloads that wait in a workspace.
	HeldTotal(ctx context.Context, workspaceID int64) (senders, bytes int64, err error)
}
