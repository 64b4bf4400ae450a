package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errSource() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such source.") }

func errSourceTaken() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "This name is already in use.").With("name", "is taken")
}

const sourceColumns = "id, workspace_id, kind, name, template, document, on_unknown, site_id, equipment_type, enabled, key_hash, key_prefix, broker, created_at, updated_at, time_zone"

func scanSource(row Row, s *rimewatch.Source) error {
	*s = rimewatch.Source{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), Kind: rimewatch.SourceKind(row.ColumnText(2)), Name: row.ColumnText(3),
		Template: row.ColumnText(4), Document: row.ColumnText(5), OnUnknown: rimewatch.OnUnknown(row.ColumnText(6)), SiteID: row.ColumnInt64(7),
		EquipmentType: row.ColumnText(8), Enabled: row.ColumnBool(9), KeyPrefix: row.ColumnText(11),
		CreatedAt: columnTime(row, 13), UpdatedAt: columnTime(row, 14), TimeZone: row.ColumnText(15),
	}
	row.ColumnBytes(10, s.KeyHash[:])
	return fromJSON(row, 12, &s.Broker)
}

func findSource(conn Conn, where string, args ...any) (s rimewatch.Source, err error) {
	list, err := scanAll(conn, scanSource, "SELECT "+sourceColumns+" FROM source WHERE "+where, args...)
	if err != nil {
		return s, err
	}
	if len(list) == 0 {
		return s, errSource()
	}
	return list[0], nil
}

// sourceFields are a source's for the audit trail: no key and no password.
func sourceFields(s *rimewatch.Source) store.Fields {
	f := store.Fields{"name": s.Name, "kind": string(s.Kind), "template": s.Template, "on_unknown": string(s.OnUnknown), "site_id": s.SiteID,
		"equipment_type": s.EquipmentType, "enabled": s.Enabled, "key": s.KeyPrefix, "timezone": s.TimeZone}
	if s.Kind == rimewatch.SourceMQTT {
		f["broker"], f["topics"], f["username"] = s.Broker.URL, s.Broker.Topics, s.Broker.Username
	}
	return f
}

func (t Inlets) check(conn Conn, s *rimewatch.Source) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.SiteID == 0 {
		return nil
	}
	_, err := findSite(conn, s.WorkspaceID, s.SiteID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return rimewatch.Invalid("site_id", "must be a site")
	}
	return err
}

func keyColumn(s *rimewatch.Source) []byte {
	if s.KeyPrefix == "" {
		return []byte{}
	}
	return s.KeyHash[:]
}

func (t Inlets) insertSource(ctx context.Context, conn Conn, s *rimewatch.Source) (err error) {
	if err := t.check(conn, s); err != nil {
		return err
	}
	s.ID, err = insert(conn, errSourceTaken(),
		`INSERT INTO source (workspace_id, kind, name, name_key, template, document, on_unknown, site_id, equipment_type, enabled, key_hash, key_prefix, broker, created_at, updated_at, time_zone)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.WorkspaceID, string(s.Kind), s.Name, rimewatch.TextKey(s.Name), s.Template, s.Document, string(s.OnUnknown), s.SiteID, s.EquipmentType,
		s.Enabled, keyColumn(s), s.KeyPrefix, asJSON(s.Broker), int64(s.CreatedAt), int64(s.UpdatedAt), s.TimeZone)
	if err != nil {
		return err
	}
	return t.audit(ctx, conn, s.WorkspaceID, "source.created", subject("source", s.ID), sourceFields(s))
}

// CreateSource implements store.Inlets.
func (t Inlets) CreateSource(ctx context.Context, s *rimewatch.Source) error {
	return t.write(ctx, func(conn Conn) error {
		if err := room(conn, rimewatch.Sentencef("sources"), rimewatch.MaxSources, "SELECT count(*) FROM source WHERE workspace_id = ?", s.WorkspaceID); err != nil {
			return err
		}
		return t.insertSource(ctx, conn, s)
	})
}

// UpdateSource implements store.Inlets.
func (t Inlets) UpdateSource(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Source) error) (s rimewatch.Source, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findSource(conn, "id = ? AND workspace_id = ?", id, workspaceID)
		if err != nil {
			return err
		}
		s = old
		if err := change(&s); err != nil {
			return err
		}
		s.ID, s.WorkspaceID, s.Kind, s.CreatedAt = old.ID, old.WorkspaceID, old.Kind, old.CreatedAt
		if err := t.check(conn, &s); err != nil {
			return err
		}
		_, err = exec(conn,
			`UPDATE source SET name = ?, name_key = ?, template = ?, document = ?, on_unknown = ?, site_id = ?, equipment_type = ?, enabled = ?,
				key_hash = ?, key_prefix = ?, broker = ?, updated_at = ?, time_zone = ? WHERE id = ?`,
			s.Name, rimewatch.TextKey(s.Name), s.Template, s.Document, string(s.OnUnknown), s.SiteID, s.EquipmentType, s.Enabled,
			keyColumn(&s), s.KeyPrefix, asJSON(s.Broker), int64(s.UpdatedAt), s.TimeZone, id)
		if err != nil {
			return unique(err, errSourceTaken())
		}
		before, after := sourceFields(&old), sourceFields(&s)
		if old.Document != s.Document {
			before["document"], after["document"] = "", "changed"
		}
		if old.Broker.Password != s.Broker.Password {
			before["password"], after["password"] = "", "changed"
		}
		return t.auditChange(ctx, conn, workspaceID, "source.updated", subject("source", id), before, after)
	})
	if err != nil {
		return rimewatch.Source{}, err
	}
	return s, nil
}

// DeleteSource implements store.Inlets.
func (t Inlets) DeleteSource(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		s, err := findSource(conn, "id = ? AND workspace_id = ?", id, workspaceID)
		if err != nil {
			return err
		}
		if s.Kind == rimewatch.SourceAPI {
			return rimewatch.Errorf(rimewatch.CodeConflict, "The source of the API cannot be deleted.")
		}
		var senders, bytes int64
		err = each(conn, "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM held_sender WHERE source_id = ?",
			func(row Row) { senders, bytes = row.ColumnInt64(0), row.ColumnInt64(1) }, id)
		if err != nil {
			return err
		}
		if err := addHeld(conn, workspaceID, -senders, -bytes); err != nil {
			return err
		}
		for _, statement := range []string{"DELETE FROM held WHERE source_id = ?", "DELETE FROM held_sender WHERE source_id = ?",
			"DELETE FROM binding WHERE source_id = ?", "DELETE FROM source WHERE id = ?"} {
			if _, err := exec(conn, statement, id); err != nil {
				return err
			}
		}
		return t.audit(ctx, conn, workspaceID, "source.deleted", subject("source", id), sourceFields(&s))
	})
}

func (t Inlets) oneSource(ctx context.Context, where string, args ...any) (s rimewatch.Source, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		s, err = findSource(conn, where, args...)
		return err
	})
	return s, err
}

// Source implements store.Inlets.
func (t Inlets) Source(ctx context.Context, workspaceID, id int64) (rimewatch.Source, error) {
	return t.oneSource(ctx, "id = ? AND workspace_id = ?", id, workspaceID)
}

// SourceByKey implements store.Inlets.
func (t Inlets) SourceByKey(ctx context.Context, hash [32]byte) (rimewatch.Source, error) {
	return t.oneSource(ctx, "key_hash = ? AND key_prefix <> ''", hash[:])
}

// APISource implements store.Inlets.
func (t Inlets) APISource(ctx context.Context, workspaceID int64, now rimewatch.Time) (s rimewatch.Source, err error) {
	const ofAPI = "workspace_id = ? AND kind = 'api'"
	if s, err = t.oneSource(ctx, ofAPI, workspaceID); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return s, err
	}
	err = t.write(ctx, func(conn Conn) error {
		s, err = findSource(conn, ofAPI, workspaceID)
		if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return err
		}
		s = rimewatch.Source{WorkspaceID: workspaceID, Kind: rimewatch.SourceAPI, Name: "api", Template: rimewatch.TemplateAuto,
			OnUnknown: rimewatch.HoldUnknown, Enabled: true, CreatedAt: now, UpdatedAt: now}
		return t.insertSource(ctx, conn, &s)
	})
	return s, err
}

func (t Inlets) sources(ctx context.Context, where string, arg any) (list []rimewatch.Source, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = scanAll(conn, scanSource, "SELECT "+sourceColumns+" FROM source WHERE "+where+" ORDER BY id", arg)
		return err
	})
	return list, err
}

// Sources implements store.Inlets.
func (t Inlets) Sources(ctx context.Context, workspaceID int64) ([]rimewatch.Source, error) {
	return t.sources(ctx, "workspace_id = ?", workspaceID)
}

// AllSources implements store.Everywhere.
func (t Inlets) AllSources(ctx context.Context, kind rimewatch.SourceKind) ([]rimewatch.Source, error) {
	return t.sources(ctx, "kind = ?"+t.and("workspace_id"), string(kind))
}

// PutBindings implements store.Inlets.
func (t Inlets) PutBindings(ctx context.Context, workspaceID, sourceID int64, list []rimewatch.Binding) error {
	return t.write(ctx, func(conn Conn) error {
		src, err := findSource(conn, "id = ? AND workspace_id = ?", sourceID, workspaceID)
		if err != nil {
			return err
		}
		for i := range list {
			b := &list[i]
			b.SourceID = sourceID
			if err := b.Check(); err != nil {
				return err
			}
			_, err := exec(conn,
				`INSERT INTO binding (source_id, external_id, external_key, serial, serial_key, fields, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
					ON CONFLICT (source_id, external_key, serial_key) DO UPDATE SET external_id = excluded.external_id, serial = excluded.serial, fields = excluded.fields, created_at = excluded.created_at`,
				sourceID, b.ExternalID, src.SenderKey(b.ExternalID), b.Serial, rimewatch.SerialKey(b.Serial), b.Fields, int64(b.CreatedAt))
			if err != nil {
				return err
			}
			err = t.audit(ctx, conn, workspaceID, "binding.set", subject("source", sourceID),
				store.Fields{"external_id": b.ExternalID, "device_serial": b.Serial, "fields": b.Fields})
			if err != nil {
				return err
			}
		}
		n, err := queryInt(conn, "SELECT COUNT(*) FROM binding WHERE source_id = ?", sourceID)
		if err == nil && n > rimewatch.MaxBindings {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "A source can have at most %d bindings.", rimewatch.MaxBindings)
		}
		return err
	})
}

// DeleteBinding implements store.Inlets.
func (t Inlets) DeleteBinding(ctx context.Context, workspaceID, sourceID int64, externalID, serial string) error {
	return t.write(ctx, func(conn Conn) error {
		src, err := findSource(conn, "id = ? AND workspace_id = ?", sourceID, workspaceID)
		if err != nil {
			return err
		}
		n, err := exec(conn, "DELETE FROM binding WHERE source_id = ? AND external_key = ? AND serial_key = ?", sourceID, src.SenderKey(externalID), rimewatch.SerialKey(serial))
		if err != nil {
			return err
		}
		if n == 0 {
			return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such binding.")
		}
		return t.audit(ctx, conn, workspaceID, "binding.deleted", subject("source", sourceID), store.Fields{"external_id": externalID, "device_serial": serial})
	})
}

// Bindings implements store.Inlets.
func (t Inlets) Bindings(ctx context.Context, workspaceID, sourceID int64) (list []rimewatch.Binding, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, `SELECT b.source_id, b.external_id, b.serial, b.fields, b.created_at FROM binding b JOIN source s ON s.id = b.source_id
				WHERE s.workspace_id = ? AND b.source_id = ? ORDER BY b.external_id, b.serial_key`,
			func(row Row) {
				list = append(list, rimewatch.Binding{SourceID: row.ColumnInt64(0), ExternalID: row.ColumnText(1), Serial: row.ColumnText(2),
					Fields: row.ColumnText(3), CreatedAt: columnTime(row, 4)})
			}, workspaceID, sourceID)
	})
	return list, err
}
