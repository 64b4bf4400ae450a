package tables

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// resource is the shape of things that people make, change and delete, with their rules and
// their words in the audit trail.
type resource[T any] struct {
	shape[T]
	// What the trail calls what happens to it: its word, a dot and a verb.
	created, updated, deleted, other string
	key                              func(*T) key
	alive                            string   // holds for rows that are not deleted; "" = for all
	span                             bool     // has starts_at and ends_at
	parent                           string   // the column of the thing that it belongs to; "" = it belongs to none
	newest                           bool     // Select has the newest first
	filters                          []string // columns that Select narrows by
	counted                          string   // holds for those that count against most; "" = for all
	// check checks a thing by itself.
	check func(*T) error
	// most is how many a workspace may have, 0 = as many as it likes, and kind the word for
	// them. Spans that ended long ago do not count.
	most func(store.Quotas) int
	kind rimewatch.Sentence
	// refers refuses references that lead nowhere; nil = it has none.
	refers func(conn Conn, x *T) error
	// fields are its recorded members, as they are now: change may reach into its lists.
	fields func(*T) store.Fields
	// changed amends the record of a change, and reports whether that is
	// other than an update; nil = it never is.
	changed func(old, x *T, diff store.Fields) bool
	// event makes the event of a change, or of a new one (old is nil); nil = none.
	event func(old, x *T) (what rimewatch.EventType, data map[string]any)
}

// key are the members that every resource has.
type key struct {
	id, workspaceID, revision *int64
	createdAt                 *rimewatch.Time
	siteID                    *int64 // of the site that it belongs to; nil = such things belong to none
}

// resourceOf is the shape of a resource whose table has the columns of key, but for
// site_id, and more.
func resourceOf[T any](table string, missing, taken func() error, of func(*T) key, more func(*T) []column) shape[T] {
	return shapeOf(table, missing, taken, func(x *T) []column {
		k := of(x)
		return append([]column{
			given("id", number(k.id)), fixed("workspace_id", number(k.workspaceID)), col("revision", number(k.revision)), fixed("created_at", number(k.createdAt)),
		}, more(x)...)
	})
}

// mine is the condition for things of a workspace that the caller may see.
func (r *resource[T]) mine(ctx context.Context, workspaceID int64) (where string, args []any) {
	where, args = "workspace_id = ?", []any{workspaceID}
	if r.alive != "" {
		where += " AND " + r.alive
	}
	if within := store.SitesOf(ctx); within != nil && r.key(new(T)).siteID != nil {
		where += " AND site_id IN (-1" + strings.Repeat(", ?", len(within)) + ")"
		for _, id := range within {
			args = append(args, id)
		}
	}
	return where, args
}

// of finds one of a workspace's.
func (r *resource[T]) of(ctx context.Context, conn Conn, workspaceID, id int64) (T, error) {
	where, args := r.mine(ctx, workspaceID)
	return r.find(conn, where+" AND id = ?", append(args, id)...)
}

// admit refuses things that must not be stored.
func (r *resource[T]) admit(ctx context.Context, conn Conn, x *T) error {
	if err := r.check(x); err != nil {
		return err
	}
	if site := r.key(x).siteID; site != nil && !store.SitesOf(ctx).Has(*site) {
		return rimewatch.Invalid("site_id", "must be one of the sites that you are limited to")
	}
	if r.refers == nil {
		return nil
	}
	return r.refers(conn, x)
}

// hasRoom refuses one more of a workspace that has as many as it may have.
func (r *resource[T]) hasRoom(t *base, conn Conn, x *T) error {
	if r.most == nil {
		return nil
	}
	k := r.key(x)
	where, args := r.mine(context.Background(), *k.workspaceID)
	if r.span {
		where, args = where+" AND ends_at > ?", append(args, int64(*k.createdAt-rimewatch.SpansKept))
	}
	if r.counted != "" {
		where += " AND " + r.counted
	}
	return room(conn, r.kind, r.most(t.quotas), "SELECT count(*) FROM "+r.table+" WHERE "+where, args...)
}

func (r *resource[T]) audit(ctx context.Context, t *base, conn Conn, x *T, action string, detail store.Fields) error {
	k := r.key(x)
	word, _, _ := strings.Cut(action, ".")
	return t.audit(ctx, conn, *k.workspaceID, action, subject(word, *k.id), detail)
}

// createIn makes one in a transaction, where there is room.
func (r *resource[T]) createIn(ctx context.Context, t *base, conn Conn, x *T) error {
	k := r.key(x)
	*k.id = 0
	if err := r.admit(ctx, conn, x); err != nil {
		return err
	}
	*k.revision = 1
	made, err := r.insert(conn, x)
	if err != nil {
		return err
	}
	r.keep(x, new(T), func(c column) bool { return c.given })
	*k.id = made
	if err := r.tell(t, conn, nil, x); err != nil {
		return err
	}
	return r.audit(ctx, t, conn, x, r.created, r.fields(x))
}

// tell writes the event of a change.
func (r *resource[T]) tell(t *base, conn Conn, old, x *T) error {
	if r.event == nil {
		return nil
	}
	what, data := r.event(old, x)
	k := r.key(x)
	word, _, _ := strings.Cut(r.created, ".")
	return t.happened(conn, *k.workspaceID, *k.siteID, what, rimewatch.EventSubject(word, *k.id), data)
}

// changeIn changes one in a transaction. What is fixed stays.
func (r *resource[T]) changeIn(ctx context.Context, t *base, conn Conn, old T, change func(*T) error) (T, error) {
	revision := *r.key(&old).revision
	if err := store.CheckRevision(ctx, revision); err != nil {
		return old, err
	}
	x, before := old, r.fields(&old)
	if err := change(&x); err != nil {
		return x, err
	}
	r.keep(&x, &old, func(c column) bool { return c.given || c.fixed })
	*r.key(&x).revision = revision + 1
	if err := r.admit(ctx, conn, &x); err != nil {
		return x, err
	}
	if err := r.update(conn, &x, *r.key(&x).id); err != nil {
		return x, err
	}
	diff, action := store.Difference(before, r.fields(&x)), r.updated
	if r.changed != nil && r.changed(&old, &x, diff) {
		action = r.other
	}
	if len(diff) == 0 {
		return x, nil
	}
	if err := r.tell(t, conn, &old, &x); err != nil {
		return x, err
	}
	return x, r.audit(ctx, t, conn, &x, action, diff)
}

// handle is a resource of a store: a store.Resource.
type handle[T any] struct {
	t *base
	r *resource[T]
	// remove deletes one, or returns the reason against it; nil = such things only end.
	remove func(conn Conn, x *T) error
}

// Create implements store.Resource.
func (h handle[T]) Create(ctx context.Context, x *T) error {
	if err := h.r.check(x); err != nil {
		return err
	}
	return h.t.write(ctx, func(conn Conn) error {
		if err := h.r.hasRoom(h.t, conn, x); err != nil {
			return err
		}
		return h.r.createIn(ctx, h.t, conn, x)
	})
}

// Update implements store.Resource.
func (h handle[T]) Update(ctx context.Context, workspaceID, id int64, change func(*T) error) (x T, err error) {
	err = h.t.write(ctx, func(conn Conn) error {
		old, err := h.r.of(ctx, conn, workspaceID, id)
		if err == nil {
			x, err = h.r.changeIn(ctx, h.t, conn, old, change)
		}
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return x, nil
}

// Delete implements store.Resource.
func (h handle[T]) Delete(ctx context.Context, workspaceID, id int64) error {
	err := h.t.write(ctx, func(conn Conn) error {
		x, err := h.r.of(ctx, conn, workspaceID, id)
		if err != nil {
			return err
		}
		if err := store.CheckRevision(ctx, *h.r.key(&x).revision); err != nil {
			return err
		}
		if h.remove == nil {
			return rimewatch.Errorf(rimewatch.CodeConflict, "This can be ended, but not deleted.")
		}
		if err := h.remove(conn, &x); err != nil {
			return err
		}
		if store.Rehearsed(ctx) {
			return errRehearsed
		}
		return h.r.audit(ctx, h.t, conn, &x, h.r.deleted, h.r.fields(&x))
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}

// errRehearsed rolls back a rehearsal.
var errRehearsed = errors.New("rehearsed")

// Get implements store.Resource.
func (h handle[T]) Get(ctx context.Context, workspaceID, id int64) (x T, err error) {
	err = h.t.read(ctx, func(conn Conn) (err error) {
		x, err = h.r.of(ctx, conn, workspaceID, id)
		return err
	})
	return x, err
}

// List implements store.Resource.
func (h handle[T]) List(ctx context.Context, workspaceID int64) ([]T, error) {
	where, args := h.r.mine(ctx, workspaceID)
	return h.r.all(ctx, h.t, where+" ORDER BY id", args...)
}

// Select implements store.Resource.
func (h handle[T]) Select(ctx context.Context, workspaceID int64, s store.Selection) (list []T, total int, err error) {
	where, args := h.r.mine(ctx, workspaceID)
	also := func(condition string, v int64) { where, args = where+" AND "+condition, append(args, v) }
	if s.EndAfter != 0 && h.r.span {
		also("ends_at > ?", int64(s.EndAfter))
	}
	switch {
	case s.Of == 0:
	case h.r.parent == "":
		return nil, 0, nil
	default:
		also(h.r.parent+" = ?", s.Of)
	}
	switch {
	case s.SiteID == 0:
	case h.r.key(new(T)).siteID == nil:
		return nil, 0, nil
	default:
		also("site_id = ?", s.SiteID)
	}
	for column, v := range s.Only {
		if !slices.Contains(h.r.filters, column) {
			return nil, 0, nil
		}
		where, args = where+" AND "+column+" IN (NULL"+strings.Repeat(", ?", len(v))+")", append(args, v...)
	}
	err = h.t.read(ctx, func(conn Conn) error {
		if s.Limit != 0 {
			n, err := queryInt(conn, "SELECT count(*) FROM "+h.r.table+" WHERE "+where, args...)
			if err != nil {
				return err
			}
			total = int(n)
		}
		order, after := " ORDER BY id", "id > ?"
		if h.r.newest {
			order, after = " ORDER BY id DESC", "id < ?"
		}
		if s.After != 0 {
			also(after, s.After)
		}
		where += order
		switch {
		case s.Limit == 0:
		case s.After != 0:
			where, args = where+" LIMIT ?", append(args, s.Limit)
		default:
			where, args = where+" LIMIT ? OFFSET ?", append(args, s.Limit, s.Offset)
		}
		list, err = h.r.list(conn, where, args...)
		return err
	})
	if s.Limit == 0 {
		total = len(list)
	}
	return list, total, err
}

// deleteFrom deletes a row of a table by its id.
func deleteFrom(conn Conn, table string, id int64) error {
	return execAll(conn, []any{id}, "DELETE FROM "+table+" WHERE id = ?")
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

// written is a value of the audit trail, encoded now.
func written(v any) json.RawMessage { return json.RawMessage(asJSON(v)) }
