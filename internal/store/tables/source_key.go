package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// sourceKeySQL makes the tables of the keys of sources, and of who was heard by them.
const sourceKeySQL = `CREATE TABLE source_key (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	source_id INTEGER NOT NULL REFERENCES source(id),
	name TEXT NOT NULL,
	hash BLOB NOT NULL,
	prefix TEXT NOT NULL,
	made_at INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX source_key_by_hash ON source_key(hash);
CREATE INDEX source_key_by_source ON source_key(source_id);
CREATE TABLE key_use (
	workspace_id INTEGER NOT NULL,
	key_id INTEGER NOT NULL REFERENCES source_key(id),
	device_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (key_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_use_by_workspace ON key_use(workspace_id)`

// sourceKeyUpgradeSQL is the step by which a source may have several keys. Servers of the
// version before go on reading the only key that they know in its source.
const sourceKeyUpgradeSQL = sourceKeySQL + `;
INSERT INTO source_key (workspace_id, source_id, name, hash, prefix, made_at, created_at, updated_at)
	SELECT workspace_id, id, '', key_hash, key_prefix, created_at, created_at, created_at FROM source WHERE key_prefix <> ''`

func errSourceKey() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such key.") }

var sourceKeyTable = resource[rimewatch.SourceKey]{
	shape: resourceOf("source_key", errSourceKey, errSourceKey, keyOfKey, func(k *rimewatch.SourceKey) []column {
		return []column{
			fixed("source_id", number(&k.SourceID)), col("name", text(&k.Name)), col("hash", hash(&k.Hash)), col("prefix", text(&k.Prefix)), col("made_at", number(&k.MadeAt)),
			col("updated_at", number(&k.UpdatedAt)),
		}
	}),
	created: "source_key.created", updated: "source_key.updated", deleted: "source_key.deleted", other: "source_key.replaced",
	key:    keyOfKey,
	parent: "source_id",
	check:  (*rimewatch.SourceKey).Check,
	most:   func(store.Quotas) int { return rimewatch.MaxSourceKeys }, kind: rimewatch.Sentencef("keys of sources"),
	refers: func(conn Conn, k *rimewatch.SourceKey) error {
		s, err := sourceTable.of(context.Background(), conn, k.WorkspaceID, k.SourceID)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound || err == nil && s.Kind != rimewatch.SourcePush {
			return rimewatch.Invalid("source_id", "must be a source that senders connect to")
		}
		return err
	},
	fields: func(k *rimewatch.SourceKey) store.Fields {
		return store.Fields{"source_id": k.SourceID, "name": k.Name, "key": k.Prefix}
	},
	changed: func(old, k *rimewatch.SourceKey, diff store.Fields) bool {
		if old.Hash == k.Hash {
			return false
		}
		diff["key"] = store.Change{From: old.Prefix, To: k.Prefix} // which may be alike
		return true
	},
}

func keyOfKey(k *rimewatch.SourceKey) key {
	return key{&k.ID, &k.WorkspaceID, &k.Revision, &k.CreatedAt, nil}
}

// SourceKeys implements store.Inlets.
func (t Inlets) SourceKeys() store.Resource[rimewatch.SourceKey] {
	return handle[rimewatch.SourceKey]{t.base, &sourceKeyTable, func(conn Conn, k *rimewatch.SourceKey) error {
		return execAll(conn, []any{k.ID}, "DELETE FROM key_use WHERE key_id = ?", "DELETE FROM source_key WHERE id = ?")
	}}
}

// SourceByKey implements store.Inlets.
func (t Inlets) SourceByKey(ctx context.Context, hash [32]byte) (s rimewatch.Source, keyID int64, err error) {
	err = t.read(ctx, func(conn Conn) error {
		k, err := sourceKeyTable.find(conn, "hash = ?", hash[:])
		if err != nil {
			return err
		}
		keyID = k.ID
		s, err = sourceTable.find(conn, "id = ?", k.SourceID)
		return err
	})
	return s, keyID, err
}

// NoteKeyUses implements store.Inlets.
func (t Inlets) NoteKeyUses(ctx context.Context, workspaceID int64, list []rimewatch.KeyUse) error {
	return t.write(ctx, func(conn Conn) error {
		for i := range list {
			u := &list[i]
			_, err := exec(conn, `INSERT INTO key_use (workspace_id, key_id, device_id, at) SELECT workspace_id, id, ?, ? FROM source_key WHERE id = ? AND workspace_id = ?
				ON CONFLICT (key_id, device_id) DO UPDATE SET at = excluded.at WHERE key_use.at < excluded.at`, u.DeviceID, int64(u.At), u.KeyID, workspaceID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// KeyUses implements store.Inlets.
func (t Inlets) KeyUses(ctx context.Context, workspaceID, keyID int64) (list []rimewatch.KeyUse, err error) {
	where, args := "u.workspace_id = ?", []any{workspaceID}
	if keyID != 0 {
		where, args = where+" AND u.key_id = ?", append(args, keyID)
	}
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, `SELECT u.key_id, u.device_id, COALESCE(d.serial, ''), COALESCE(d.name, ''), u.at FROM key_use u LEFT JOIN device d ON d.id = u.device_id AND d.deleted_at = 0
				WHERE `+where+` AND (u.device_id = 0 OR d.id IS NOT NULL) ORDER BY u.at DESC, u.key_id, u.device_id`,
			func(row Row) {
				list = append(list, rimewatch.KeyUse{KeyID: row.ColumnInt64(0), DeviceID: row.ColumnInt64(1), Serial: row.ColumnText(2), Name: row.ColumnText(3), At: columnTime(row, 4)})
			}, args...)
	})
	return list, err
}
