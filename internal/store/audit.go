package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/rimewatch/rimewatch"
)

// Audit keeps the audit trail. Entries come with the changes themselves: every
// method of this package that changes something of a workspace writes, in the
// same transaction, who did it (see WithActor); Effects.Audit are those of a
// commit. Changes of a person are noted in every workspace that the person is a
// member of. Sessions leave no entries by themselves.
type Audit interface {
	// AuditEntries lists newest first. subject and action narrow by prefix, "" =
	// all; Page.After selects those with a smaller id.
	AuditEntries(ctx context.Context, workspaceID int64, action, subject string, p Page) (list []rimewatch.AuditEntry, total int, err error)
	// AuditUser adds, to every workspace that a person is a member of, an entry
	// about what changes nothing, such as a sign-in.
	AuditUser(ctx context.Context, userID int64, action string, detail Fields) error
	// AuditWorkspace adds an entry about an event that changes nothing, such as a refusal.
	AuditWorkspace(ctx context.Context, workspaceID int64, action, subject string, detail Fields) error
	// VerifyAudit walks the chain and returns the id of the first entry that does not
	// fit, or whose record is not what it was, 0 = all do. It reads the whole trail.
	VerifyAudit(ctx context.Context, workspaceID int64) (int64, error)
}

// AuditHash is the hash of an entry: SHA-256 over the hash of the entry before
// it in its workspace (zeroes for the first) and its own fields, numbers as
// varints, texts behind their length. Every engine uses this one function.
func AuditHash(prev [32]byte, e *rimewatch.AuditEntry) [32]byte {
	b := make([]byte, 0, 128+len(e.Detail))
	b = append(b, prev[:]...)
	b = binary.AppendVarint(b, e.WorkspaceID)
	b = binary.AppendVarint(b, int64(e.At))
	for _, s := range []string{e.Actor, e.Action, e.Subject, e.Detail} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// Fields are the recorded members of a thing or of its change. Never a secret.
type Fields map[string]any

// Change is one of the fields that became another.
type Change struct {
	From any `json:"from"`
	To   any `json:"to"`
}

// Difference returns a Change for each of the fields that differ.
func Difference(before, after Fields) Fields {
	out := make(Fields)
	for name, v := range after {
		if !reflect.DeepEqual(before[name], v) {
			out[name] = Change{From: before[name], To: v}
		}
	}
	return out
}

// NewAuditEntry makes an entry of an actor's action. ID and Hash are for the
// store to set.
func NewAuditEntry(workspaceID int64, at rimewatch.Time, actor, action, subject string, detail Fields) (*rimewatch.AuditEntry, error) {
	b := []byte("{}")
	if len(detail) > 0 {
		var err error
		if b, err = json.Marshal(detail); err != nil {
			return nil, fmt.Errorf("audit %s: %w", action, err)
		}
	}
	return &rimewatch.AuditEntry{WorkspaceID: workspaceID, At: at, Actor: actor, Action: action, Subject: subject, Detail: string(b)}, nil
}

type actorKey struct{}

// WithActor returns a context for calls whose changes the actor makes.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf returns the actor of changes; "service" without one.
func ActorOf(ctx context.Context) string {
	if a, ok := ctx.Value(actorKey{}).(string); ok && a != "" {
		return a
	}
	return nobody
}

// nobody is the actor of changes that no person or token asked for.
const nobody = "service"

// WithActorElse is WithActor where ctx has no actor yet.
func WithActorElse(ctx context.Context, actor string) context.Context {
	if ActorOf(ctx) == nobody {
		return WithActor(ctx, actor)
	}
	return ctx
}
