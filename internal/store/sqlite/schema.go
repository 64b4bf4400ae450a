package sqlite

import "github.com/rimewatch/rimewatch/internal/store/tables"

// applicationID marks the file as ours ("RIMW").
const applicationID = 0x52494d57

// schema is the schema of a fresh file: the tables of every engine, and those of this
// one. A copy gets the triggers when its rows are there.
const schema = tables.Schema + ownTables + triggers

const triggers = `
CREATE TRIGGER delivery_counted AFTER INSERT ON delivery BEGIN
	INSERT INTO delivery_count VALUES (NEW.workspace_id, NEW.channel_id, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER delivery_discounted AFTER DELETE ON delivery BEGIN
	UPDATE delivery_count SET n = n - 1 WHERE workspace_id = OLD.workspace_id AND channel_id = OLD.channel_id;
END;

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is only added to'); END;
CREATE TRIGGER audit_is_never_replaced BEFORE INSERT ON audit WHEN NEW.id IN (SELECT id FROM audit)
BEGIN SELECT RAISE(ABORT, 'the audit trail is only added to'); END;
CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit
WHEN coalesce((SELECT delete_at FROM workspace WHERE id = OLD.workspace_id), 0) = 0
BEGIN SELECT RAISE(ABORT, 'the audit trail is only added to'); END;
`

const ownTables = `
CREATE TABLE commit_log (
	seq INTEGER PRIMARY KEY,
	shard INTEGER NOT NULL DEFAULT 0, -- of the workspaces whose inputs it holds; one file has one
	data BLOB NOT NULL -- with a version and a checksum of its own
) STRICT;

CREATE TABLE reading_chunk (
	device_id INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	young INTEGER NOT NULL, -- 1 while it waits to be merged: its segments are in young_segment
	segment INTEGER NOT NULL, -- the first; the others follow it
	segments INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	n INTEGER NOT NULL,
	summary BLOB NOT NULL,
	PRIMARY KEY (device_id, to_at, young, segment)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunk_segment (
	id INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;

CREATE TABLE young_segment (
	id INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;

-- Chunks that cannot be read. Their segments are where they were.
CREATE TABLE damaged_chunk (
	young INTEGER NOT NULL,
	segment INTEGER NOT NULL,
	segments INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	n INTEGER NOT NULL,
	found_at INTEGER NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (young, segment)
) STRICT, WITHOUT ROWID;

-- Rows of the log that cannot be read, set aside at the operator's wish.
CREATE TABLE damaged_commit (
	seq INTEGER PRIMARY KEY,
	found_at INTEGER NOT NULL,
	why TEXT NOT NULL,
	data BLOB NOT NULL
) STRICT;
`
