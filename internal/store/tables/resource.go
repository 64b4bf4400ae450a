package tables

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/rimewatch/rimewatch/internal/store"
)

// resource is a shape of what people make, change and delete, with the rules for
// it and what the audit trail says of it.
type resource[T any] struct {
	shape[T]
	// What the trail calls what happens to it: its word, a dot and a verb.
	created, updated, deleted, other string
	// where finds one by its id and its workspace's; "" = by these columns.
	where string
	// ids are where a thing keeps its own id and its workspace's.
	ids func(*T) (id, workspaceID *int64)
	// check is what a thing has to be by itself.
	check func(*T) error
	// room refuses one more than there may be.
	room func(t *base, conn Conn, x *T) error
	// refers refuses references that lead nowhere; nil = it has none.
	refers func(conn Conn, x *T) error
	// fields is what is recorded of it, as it is now: change may reach into its lists.
	fields func(*T) store.Fields
	// changed amends what is recorded of a change, and reports whether that is
	// other than an update; nil = it never is.
	changed func(old, x *T, diff store.Fields) bool
}

// of finds one of a workspace's.
func (r *resource[T]) of(conn Conn, workspaceID, id int64) (T, error) {
	return r.find(conn, r.mine(), id, workspaceID)
}

func (r *resource[T]) mine() string { return cmp.Or(r.where, "id = ? AND workspace_id = ?") }

// get is of in a read of its own.
func (r *resource[T]) get(ctx context.Context, t *base, workspaceID, id int64) (T, error) {
	return r.first(ctx, t, r.mine(), id, workspaceID)
}

func (r *resource[T]) admit(conn Conn, x *T) error {
	if err := r.check(x); err != nil || r.refers == nil {
		return err
	}
	return r.refers(conn, x)
}

func (r *resource[T]) audit(ctx context.Context, t *base, conn Conn, x *T, action string, detail store.Fields) error {
	id, workspaceID := r.ids(x)
	word, _, _ := strings.Cut(action, ".")
	return t.audit(ctx, conn, *workspaceID, action, subject(word, *id), detail)
}

func (r *resource[T]) create(ctx context.Context, t *base, x *T) error {
	if err := r.check(x); err != nil {
		return err
	}
	return t.write(ctx, func(conn Conn) error {
		if r.room != nil {
			if err := r.room(t, conn, x); err != nil {
				return err
			}
		}
		return r.createIn(ctx, t, conn, x)
	})
}

// createIn is create in a transaction, where there is room.
func (r *resource[T]) createIn(ctx context.Context, t *base, conn Conn, x *T) error {
	if err := r.admit(conn, x); err != nil {
		return err
	}
	made, err := r.insert(conn, x)
	if err != nil {
		return err
	}
	r.keep(x, new(T), func(c column) bool { return c.given })
	id, _ := r.ids(x)
	*id = made
	return r.audit(ctx, t, conn, x, r.created, r.fields(x))
}

// change changes one of a workspace's. What is fixed stays.
func (r *resource[T]) change(ctx context.Context, t *base, workspaceID, id int64, change func(*T) error) (x T, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := r.of(conn, workspaceID, id)
		if err != nil {
			return err
		}
		x = old
		before := r.fields(&old)
		if err := change(&x); err != nil {
			return err
		}
		r.keep(&x, &old, func(c column) bool { return c.given || c.fixed })
		if err := r.admit(conn, &x); err != nil {
			return err
		}
		if err := r.update(conn, &x, id); err != nil {
			return err
		}
		diff, action := store.Difference(before, r.fields(&x)), r.updated
		if r.changed != nil && r.changed(&old, &x, diff) {
			action = r.other
		}
		if len(diff) == 0 {
			return nil
		}
		return r.audit(ctx, t, conn, &x, action, diff)
	})
	if err != nil {
		return *new(T), err
	}
	return x, nil
}

// delete has a function delete one of a workspace's, or say what speaks against it.
func (r *resource[T]) delete(ctx context.Context, t *base, workspaceID, id int64, by func(Conn, *T) error) error {
	return t.write(ctx, func(conn Conn) error {
		x, err := r.of(conn, workspaceID, id)
		if err != nil {
			return err
		}
		if err := by(conn, &x); err != nil {
			return err
		}
		return r.audit(ctx, t, conn, &x, r.deleted, r.fields(&x))
	})
}

// execAll runs statements that take the same arguments.
func execAll(conn Conn, args []any, statements ...string) error {
	for _, s := range statements {
		if _, err := exec(conn, s, args...); err != nil {
			return err
		}
	}
	return nil
}

// written is a value of the audit trail that stays what it is now.
func written(v any) json.RawMessage { return json.RawMessage(asJSON(v)) }
