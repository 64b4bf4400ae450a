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

var sourceTable = resource[rimewatch.Source]{
	shape: resourceOf("source", errSource, errSourceTaken, sourceKey, func(s *rimewatch.Source) []column {
		return []column{
			fixed("kind", text(&s.Kind)), col("name", text(&s.Name)), nameKey(s.Name), col("template", text(&s.Template)), col("document", text(&s.Document)),
			col("on_unknown", text(&s.OnUnknown)), col("site_id", number(&s.SiteID)), col("equipment_type", text(&s.EquipmentType)), col("enabled", flag(&s.Enabled)),
			unused("key_hash", []byte{}), unused("key_prefix", ""), col("broker", document(&s.Broker)), col("updated_at", number(&s.UpdatedAt)),
			col("time_zone", text(&s.TimeZone)),
		}
	}),
	created: "source.created", updated: "source.updated", deleted: "source.deleted",
	key:   sourceKey,
	check: (*rimewatch.Source).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxSources }, kind: rimewatch.Sentencef("sources"),
	refers: func(conn Conn, s *rimewatch.Source) error {
		return checkSite(conn, s.WorkspaceID, s.SiteID)
	},
	fields: sourceFields,
	changed: func(old, s *rimewatch.Source, diff store.Fields) bool {
		if old.Document != s.Document {
			diff["document"] = store.Change{From: "", To: "changed"}
		}
		if old.Broker.Password != s.Broker.Password {
			diff["password"] = store.Change{From: "", To: "changed"}
		}
		return false
	},
}

func sourceKey(s *rimewatch.Source) key {
	return key{&s.ID, &s.WorkspaceID, &s.Revision, &s.CreatedAt, nil}
}

// sourceFields are a source's for the audit trail: no key and no password.
func sourceFields(s *rimewatch.Source) store.Fields {
	f := store.Fields{"name": s.Name, "kind": string(s.Kind), "template": s.Template, "on_unknown": string(s.OnUnknown), "site_id": s.SiteID,
		"equipment_type": s.EquipmentType, "enabled": s.Enabled, "timezone": s.TimeZone}
	if s.Kind == rimewatch.SourceMQTT {
		f["broker"], f["topics"], f["username"] = s.Broker.URL, written(s.Broker.Topics), s.Broker.Username
	}
	return f
}

// checkSite refuses a site of another workspace; 0 = no site.
func checkSite(conn Conn, workspaceID, siteID int64) error {
	if siteID == 0 {
		return nil
	}
	return mustBeSite(conn, workspaceID, siteID)
}

func mustBeSite(conn Conn, workspaceID, siteID int64) error {
	_, err := siteTable.of(context.Background(), conn, workspaceID, siteID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return rimewatch.Invalid("site_id", "must be a site")
	}
	return err
}

// Sources implements store.Inlets.
func (t Inlets) Sources() store.Resource[rimewatch.Source] {
	return handle[rimewatch.Source]{t.base, &sourceTable, removeSource}
}

func removeSource(conn Conn, s *rimewatch.Source) error {
	if s.Kind == rimewatch.SourceAPI {
		return rimewatch.Errorf(rimewatch.CodeConflict, "The source of the API cannot be deleted.")
	}
	var senders, bytes int64
	err := each(conn, "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM held_sender WHERE source_id = ?",
		func(row Row) { senders, bytes = row.ColumnInt64(0), row.ColumnInt64(1) }, s.ID)
	if err != nil {
		return err
	}
	if err := addHeld(conn, s.WorkspaceID, -senders, -bytes); err != nil {
		return err
	}
	return execAll(conn, []any{s.ID}, "DELETE FROM held WHERE source_id = ?", "DELETE FROM held_sender WHERE source_id = ?",
		"DELETE FROM binding WHERE source_id = ?", "DELETE FROM key_use WHERE key_id IN (SELECT id FROM source_key WHERE source_id = ?)",
		"DELETE FROM source_key WHERE source_id = ?", "DELETE FROM source WHERE id = ?")
}

// APISource implements store.Inlets.
func (t Inlets) APISource(ctx context.Context, workspaceID int64, now rimewatch.Time) (s rimewatch.Source, err error) {
	const ofAPI = "workspace_id = ? AND kind = 'api'"
	if s, err = sourceTable.first(ctx, t.base, ofAPI, workspaceID); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return s, err
	}
	err = t.write(ctx, func(conn Conn) error {
		s, err = sourceTable.find(conn, ofAPI, workspaceID)
		if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			return err
		}
		s = rimewatch.Source{WorkspaceID: workspaceID, Kind: rimewatch.SourceAPI, Name: "api", Template: rimewatch.TemplateAuto,
			OnUnknown: rimewatch.HoldUnknown, Enabled: true, CreatedAt: now, UpdatedAt: now}
		return sourceTable.createIn(ctx, t.base, conn, &s)
	})
	return s, err
}

// AllSources implements store.Everywhere.
func (t Everywhere) AllSources(ctx context.Context, kind rimewatch.SourceKind) ([]rimewatch.Source, error) {
	return sourceTable.all(ctx, t.base, "kind = ?"+t.and("workspace_id")+" ORDER BY id", string(kind))
}

// PutBindings implements store.Inlets.
func (t Inlets) PutBindings(ctx context.Context, workspaceID, sourceID int64, list []rimewatch.Binding) error {
	return t.write(ctx, func(conn Conn) error {
		src, err := sourceTable.of(ctx, conn, workspaceID, sourceID)
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
		src, err := sourceTable.of(ctx, conn, workspaceID, sourceID)
		if err != nil {
			return err
		}
		if err := execOne(conn, rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such binding."), "DELETE FROM binding WHERE source_id = ? AND external_key = ? AND serial_key = ?", sourceID, src.SenderKey(externalID), rimewatch.SerialKey(serial)); err != nil {
			return err
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
