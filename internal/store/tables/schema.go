package tables

// Schema is the tables that every engine has, in SQLite's words. PostgreSQL has
// others for the same types (package postgres replaces them); indexes and
// constraints are the same in both. Times are milliseconds since the epoch, UTC.
const Schema = `
CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secret (
	name TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	name_key TEXT NOT NULL UNIQUE,
	on_unknown TEXT NOT NULL, -- of readings by the API: hold, register, refuse
	time_zone TEXT NOT NULL DEFAULT 'UTC',
	raw_days INTEGER NOT NULL,
	rollup_days INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	limits TEXT NOT NULL DEFAULT '{}', -- overrides by equipment type as JSON
	require_second_factor INTEGER NOT NULL DEFAULT 0,
	delete_at INTEGER NOT NULL DEFAULT 0, -- when it is erased, 0 = it is not to be
	exposure_since INTEGER NOT NULL DEFAULT 0, -- from when on short times out of range add up, 0 = always
	revision INTEGER NOT NULL DEFAULT 1,
	slug TEXT NOT NULL DEFAULT '', -- names it in links; every one that it had is in workspace_slug
	test_of INTEGER NOT NULL DEFAULT 0, -- the workspace whose sandbox it is
	test_devices INTEGER NOT NULL DEFAULT 0, -- that are simulated
	require_action TEXT NOT NULL DEFAULT 'none', -- which cases wait for documentation
	logo_at INTEGER NOT NULL DEFAULT 0 -- when its logo was set, 0 = it has none
) STRICT;

CREATE TABLE site (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	name TEXT NOT NULL,
	time_zone TEXT NOT NULL,
	address TEXT NOT NULL DEFAULT '',
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX site_by_workspace ON site(workspace_id);

CREATE TABLE person (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	email TEXT NOT NULL UNIQUE, -- lower case
	name TEXT NOT NULL DEFAULT '',
	password_hash TEXT NOT NULL,
	locale TEXT NOT NULL, -- JSON
	theme TEXT NOT NULL DEFAULT 'system',
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	break_glass INTEGER NOT NULL DEFAULT 0, -- gets in by password when the provider does not answer
	provided_at INTEGER NOT NULL DEFAULT 0, -- last sign-in at a provider, 0 = none is known
	lapse_told INTEGER NOT NULL DEFAULT 0 -- announcements since then that tokens lapse
) STRICT;

CREATE TABLE password_link (
	user_id INTEGER PRIMARY KEY REFERENCES person(id),
	hash BLOB NOT NULL UNIQUE,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE second_factor (
	user_id INTEGER PRIMARY KEY REFERENCES person(id),
	secret BLOB NOT NULL,
	confirmed_at INTEGER NOT NULL, -- 0 = not yet: it is not asked for
	last_step INTEGER NOT NULL -- the newest time step whose code was used
) STRICT;

CREATE TABLE recovery_code (
	user_id INTEGER NOT NULL REFERENCES person(id),
	hash BLOB NOT NULL,
	PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

-- Who a person is at a provider (OpenID Connect).
CREATE TABLE identity (
	issuer TEXT NOT NULL,
	subject TEXT NOT NULL,
	user_id INTEGER NOT NULL REFERENCES person(id),
	PRIMARY KEY (issuer, subject),
	UNIQUE (user_id, issuer)
) STRICT, WITHOUT ROWID;

-- An offer of a membership to the holder of an address.
CREATE TABLE invitation (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	email TEXT NOT NULL, -- lower case
	role TEXT NOT NULL,
	sites TEXT NOT NULL DEFAULT '',
	hash BLOB NOT NULL UNIQUE,
	invited_by INTEGER NOT NULL, -- user, 0 = the command line
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	UNIQUE (workspace_id, email)
) STRICT;

CREATE TABLE member (
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	user_id INTEGER NOT NULL REFERENCES person(id),
	role TEXT NOT NULL,
	sites TEXT NOT NULL DEFAULT '', -- ids between commas that it is limited to, '' = all
	provided INTEGER NOT NULL, -- made by a provider's groups, and ended by them
	created_at INTEGER NOT NULL,
	PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_user ON member(user_id);

CREATE TABLE session (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	hash BLOB NOT NULL UNIQUE,
	user_id INTEGER NOT NULL REFERENCES person(id),
	workspace_id INTEGER NOT NULL,
	user_agent TEXT NOT NULL DEFAULT '',
	address TEXT NOT NULL DEFAULT '',
	strong INTEGER NOT NULL, -- signed in with a second factor or by a provider
	created_at INTEGER NOT NULL,
	last_used_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL, -- moves on with every use
	ends_at INTEGER NOT NULL, -- does not
	provided INTEGER NOT NULL DEFAULT 0 -- begun by a provider
) STRICT;
CREATE INDEX session_by_user ON session(user_id);

CREATE TABLE token (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	name TEXT NOT NULL,
	prefix TEXT NOT NULL,
	hash BLOB NOT NULL UNIQUE,
	scopes INTEGER NOT NULL,
	sites TEXT NOT NULL DEFAULT '',
	created_by INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL DEFAULT 0,
	revoked_at INTEGER NOT NULL DEFAULT 0,
	last_used_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX token_by_workspace ON token(workspace_id);

-- Of requests with an Idempotency-Key.
CREATE TABLE answer (
	caller INTEGER NOT NULL, -- id of a token; of a user, negative
	request_key TEXT NOT NULL,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	request BLOB NOT NULL, -- hash of what was asked
	at INTEGER NOT NULL,
	device_id INTEGER NOT NULL, -- whose reading at reading_at was stored, 0 = it was another request
	reading_at INTEGER NOT NULL,
	status INTEGER NOT NULL, -- 0 = the answer is not known
	body BLOB NOT NULL,
	PRIMARY KEY (caller, request_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_by_time ON answer(at);
CREATE INDEX answer_by_workspace ON answer(workspace_id);

CREATE TABLE device (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	serial TEXT NOT NULL,
	serial_key TEXT NOT NULL,
	name TEXT NOT NULL,
	equipment_type TEXT NOT NULL,
	site_id INTEGER NOT NULL DEFAULT 0,
	heartbeat_interval_s INTEGER NOT NULL DEFAULT 0,
	offline_after_s INTEGER NOT NULL DEFAULT 0,
	firmware_version TEXT NOT NULL DEFAULT '',
	details TEXT NOT NULL DEFAULT '{}', -- labels, manufacturer, model, notes, limits, installed_at as JSON
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX device_by_serial ON device(workspace_id, serial_key) WHERE deleted_at = 0;
CREATE INDEX device_deleted ON device(workspace_id, serial_key) WHERE deleted_at <> 0;

CREATE TABLE alert (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	site_id INTEGER NOT NULL, -- of an alert of a site, otherwise 0
	status TEXT NOT NULL,
	severity TEXT NOT NULL,
	type TEXT NOT NULL,
	triggered_at INTEGER NOT NULL,
	acknowledged_at INTEGER NOT NULL,
	resolved_at INTEGER NOT NULL,
	body TEXT NOT NULL, -- the rest of the alert as JSON: the facts that its sentences are made of
	part TEXT NOT NULL DEFAULT '' -- the measurement, where each has an alert of the type
) STRICT;
CREATE INDEX alert_by_time ON alert(workspace_id, triggered_at, id);
CREATE INDEX alert_active_by_time ON alert(workspace_id, triggered_at, id) WHERE status = 'active';
CREATE INDEX alert_by_device ON alert(device_id, triggered_at);
CREATE UNIQUE INDEX alert_active ON alert(device_id, site_id, type, part) WHERE status = 'active';

CREATE TABLE alert_transition (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	alert_id INTEGER NOT NULL,
	kind TEXT NOT NULL,
	at INTEGER NOT NULL,
	severity TEXT NOT NULL,
	actor TEXT NOT NULL,
	note TEXT NOT NULL,
	facts TEXT NOT NULL
) STRICT;
CREATE INDEX alert_transition_by_alert ON alert_transition(alert_id, id);
CREATE INDEX alert_transition_by_time ON alert_transition(workspace_id, at);

-- Channels and routes that were deleted keep their names for the log of
-- deliveries, and nothing else.
CREATE TABLE channel (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	kind TEXT NOT NULL,
	enabled INTEGER NOT NULL,
	addresses TEXT NOT NULL, -- JSON array
	url TEXT NOT NULL,
	secret TEXT NOT NULL,
	fallback_id INTEGER NOT NULL,
	locale TEXT NOT NULL, -- JSON
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0,
	last_success_at INTEGER NOT NULL DEFAULT 0,
	last_failure_at INTEGER NOT NULL DEFAULT 0,
	last_error TEXT NOT NULL DEFAULT '',
	failures INTEGER NOT NULL DEFAULT 0,
	revision INTEGER NOT NULL DEFAULT 1,
	owner_id INTEGER NOT NULL DEFAULT 0,
	after_s INTEGER NOT NULL DEFAULT 0,
	quiet TEXT NOT NULL DEFAULT 'null' -- JSON
) STRICT;
CREATE UNIQUE INDEX channel_by_name ON channel(workspace_id, name_key) WHERE deleted = 0;

CREATE TABLE route (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	enabled INTEGER NOT NULL,
	body TEXT NOT NULL, -- matchers, steps and the rest as JSON
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX route_by_name ON route(workspace_id, name_key) WHERE deleted = 0;

CREATE TABLE silence (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	match TEXT NOT NULL, -- JSON
	starts_at INTEGER NOT NULL,
	ends_at INTEGER NOT NULL,
	comment TEXT NOT NULL,
	created_by TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX silence_by_end ON silence(workspace_id, ends_at);

CREATE TABLE report_schedule (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_id INTEGER NOT NULL, -- 0 = all sites
	period TEXT NOT NULL,
	channel_ids TEXT NOT NULL, -- JSON
	enabled INTEGER NOT NULL,
	through INTEGER NOT NULL, -- end of the last period that is dealt with
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX report_schedule_by_workspace ON report_schedule(workspace_id);

CREATE TABLE delivery (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	key TEXT NOT NULL,
	alert_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	route_id INTEGER NOT NULL,
	level INTEGER NOT NULL,
	kind TEXT NOT NULL,
	status TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	next_attempt_at INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	sent_at INTEGER NOT NULL,
	last_error TEXT NOT NULL,
	body BLOB NOT NULL,
	urgent INTEGER NOT NULL DEFAULT 0,
	in_doubt INTEGER NOT NULL DEFAULT 0,
	subject TEXT NOT NULL DEFAULT '' -- of an event: those of one go out in order
) STRICT;
CREATE UNIQUE INDEX delivery_by_key ON delivery(workspace_id, key);
CREATE INDEX delivery_by_workspace ON delivery(workspace_id, id);
CREATE INDEX delivery_by_time ON delivery(workspace_id, created_at);
CREATE INDEX delivery_by_channel ON delivery(workspace_id, channel_id, id);
CREATE INDEX delivery_by_alert ON delivery(alert_id, id) WHERE alert_id > 0;
CREATE INDEX delivery_pending ON delivery(next_attempt_at, id) WHERE status = 'pending';

-- How many deliveries are kept: counting a million rows is not quick.
CREATE TABLE delivery_count (
	workspace_id INTEGER NOT NULL,
	channel_id INTEGER NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (workspace_id, channel_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
	device_id INTEGER PRIMARY KEY,
	seq INTEGER NOT NULL,
	latest BLOB NOT NULL, -- version of the log and newest reading, encoded as there, if any; a checksum
	current_temp REAL NOT NULL,
	current_temp_at INTEGER NOT NULL,
	state BLOB NOT NULL
) STRICT;

-- Up to which commit a device's readings are in chunks.
CREATE TABLE seal_mark (
	device_id INTEGER PRIMARY KEY,
	seq INTEGER NOT NULL
) STRICT;

CREATE TABLE downtime (
	shard INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	PRIMARY KEY (shard, from_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE reading_rollup (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	device_id INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;
CREATE INDEX reading_rollup_by_device ON reading_rollup(device_id, to_at, from_at);

CREATE TABLE maintenance_window (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_ids TEXT NOT NULL, -- JSON
	device_ids TEXT NOT NULL, -- JSON
	starts_at INTEGER NOT NULL,
	ends_at INTEGER NOT NULL,
	reason TEXT NOT NULL,
	created_by TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1,
	plan_id INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX maintenance_window_by_end ON maintenance_window(ends_at);

CREATE TABLE audit (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	action TEXT NOT NULL,
	subject TEXT NOT NULL,
	detail TEXT NOT NULL, -- JSON object
	hash BLOB NOT NULL
) STRICT;
CREATE INDEX audit_by_workspace ON audit(workspace_id, id);

CREATE TABLE excursion (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	low INTEGER NOT NULL,
	limit_temp REAL NOT NULL,
	peak REAL NOT NULL,
	degree_minutes REAL NOT NULL,
	cause TEXT NOT NULL,
	found_late_at INTEGER NOT NULL DEFAULT 0,
	runs INTEGER NOT NULL DEFAULT 0, -- short times that it consists of, 0 = it is one that lasted
	sum_ms INTEGER NOT NULL DEFAULT 0 -- of them together
) STRICT;
CREATE INDEX excursion_by_workspace ON excursion(workspace_id, to_at);
CREATE INDEX excursion_by_device ON excursion(device_id, to_at);

-- What devices were judged by until others came.
CREATE TABLE former_limits (
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	until_at INTEGER NOT NULL,
	body TEXT NOT NULL, -- JSON
	PRIMARY KEY (device_id, until_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_limits_by_workspace ON former_limits(workspace_id, until_at);

CREATE TABLE corrective_action (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	alert_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	performed_at INTEGER NOT NULL,
	body TEXT NOT NULL, -- the rest as JSON
	case_id INTEGER NOT NULL DEFAULT 0 -- that it was recorded for, 0 = none
) STRICT;
CREATE INDEX corrective_action_by_alert ON corrective_action(alert_id);
CREATE INDEX corrective_action_by_device ON corrective_action(device_id, performed_at);

CREATE TABLE calibration (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	device_id INTEGER NOT NULL,
	performed_at INTEGER NOT NULL,
	body TEXT NOT NULL -- the rest as JSON
) STRICT;
CREATE INDEX calibration_by_device ON calibration(device_id, performed_at);

CREATE TABLE source (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	name_key TEXT NOT NULL,
	template TEXT NOT NULL,
	document TEXT NOT NULL,
	on_unknown TEXT NOT NULL,
	site_id INTEGER NOT NULL,
	equipment_type TEXT NOT NULL,
	enabled INTEGER NOT NULL,
	key_hash BLOB NOT NULL, -- of servers that know one key alone; empty since there is source_key
	key_prefix TEXT NOT NULL, -- likewise
	broker TEXT NOT NULL, -- JSON
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	time_zone TEXT NOT NULL DEFAULT '', -- of times without one
	revision INTEGER NOT NULL DEFAULT 1,
	UNIQUE (workspace_id, name_key)
) STRICT;
CREATE UNIQUE INDEX source_by_key ON source(key_hash) WHERE key_prefix <> '';

CREATE TABLE binding (
	source_id INTEGER NOT NULL REFERENCES source(id),
	external_id TEXT NOT NULL,
	external_key TEXT NOT NULL, -- as it is compared: folded where it is a serial of the API
	serial TEXT NOT NULL,
	serial_key TEXT NOT NULL,
	fields TEXT NOT NULL, -- JSON, empty: by the template
	created_at INTEGER NOT NULL,
	PRIMARY KEY (source_id, external_key, serial_key)
) STRICT, WITHOUT ROWID;

-- Payloads that wait for their sender to be accepted, and what they add up to.
CREATE TABLE held (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	source_id INTEGER NOT NULL REFERENCES source(id),
	external_id TEXT NOT NULL,
	external_key TEXT NOT NULL,
	received_at INTEGER NOT NULL,
	topic TEXT NOT NULL,
	query TEXT NOT NULL,
	body BLOB NOT NULL,
	reason TEXT NOT NULL,
	label TEXT NOT NULL,
	bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX held_by_sender ON held(source_id, external_key, id);
CREATE INDEX held_by_age ON held(received_at);

CREATE TABLE held_sender (
	source_id INTEGER NOT NULL REFERENCES source(id),
	external_id TEXT NOT NULL, -- as the first that waits has it
	external_key TEXT NOT NULL,
	label TEXT NOT NULL,
	reason TEXT NOT NULL,
	payloads INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	last_at INTEGER NOT NULL,
	PRIMARY KEY (source_id, external_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE held_total (
	workspace_id INTEGER PRIMARY KEY,
	senders INTEGER NOT NULL,
	bytes INTEGER NOT NULL
) STRICT;
` + contactSQL + ";\n" +
	sourceKeySQL + ";\n" +
	eventSQL + ";\n" +
	webhookSQL + ";\n" +
	actSQL + ";\n" +
	installationSQL + ";\n" +
	slugSQL + ";\n" +
	tokenCallSQL + ";\n" +
	rotaSQL + ";\n" +
	caseIndexSQL + ";\n" +
	caseSQL + ";\n" +
	signatureSQL + ";\n" +
	attachmentSQL + ";\n" +
	orderSQL + ";\n" +
	roundSQL + ";\n" +
	logoSQL + ";\n" +
	planSQL + ";\n"
