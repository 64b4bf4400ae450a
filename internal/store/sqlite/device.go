package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// details are the parts of a device that are never searched by.
type details struct {
	Labels       map[string]string         `json:"labels,omitempty"`
	Manufacturer string                    `json:"manufacturer,omitempty"`
	Model        string                    `json:"model,omitempty"`
	Notes        string                    `json:"notes,omitempty"`
	InstalledAt  rimewatch.Time            `json:"installed_at,omitempty"`
	Limits       *rimewatch.LimitOverrides `json:"limits,omitempty"`

	Offsets        []rimewatch.Offset         `json:"offsets,omitempty"`
	CalibrationDue []rimewatch.CalibrationDue `json:"calibration_due,omitempty"`
}

func detailsOf(d *rimewatch.Device) details {
	return details{d.Labels, d.Manufacturer, d.Model, d.Notes, d.InstalledAt, d.Limits, d.Offsets, d.CalibrationDue}
}

func (x *details) into(d *rimewatch.Device) {
	d.Labels, d.Manufacturer, d.Model, d.Notes = x.Labels, x.Manufacturer, x.Model, x.Notes
	d.InstalledAt, d.Limits, d.Offsets, d.CalibrationDue = x.InstalledAt, x.Limits, x.Offsets, x.CalibrationDue
}

const deviceColumns = `id, workspace_id, serial, name, equipment_type, site_id, heartbeat_interval_s,
	offline_after_s, firmware_version, details, created_at, updated_at, deleted_at`

func loadDevices(conn *sqlite.Conn, f *fleet) error {
	return sqlitex.ExecuteTransient(conn, "SELECT "+deviceColumns+" FROM device WHERE deleted_at = 0 ORDER BY id", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			d, err := scanDevice(stmt)
			if err != nil {
				return err
			}
			f.put(d)
			return nil
		},
	})
}

func scanDevice(stmt *sqlite.Stmt) (*rimewatch.Device, error) {
	d := &rimewatch.Device{
		ID:                 stmt.ColumnInt64(0),
		WorkspaceID:        stmt.ColumnInt64(1),
		Serial:             stmt.ColumnText(2),
		Name:               stmt.ColumnText(3),
		EquipmentType:      stmt.ColumnText(4),
		SiteID:             stmt.ColumnInt64(5),
		HeartbeatIntervalS: stmt.ColumnInt(6),
		OfflineAfterS:      stmt.ColumnInt(7),
		FirmwareVersion:    stmt.ColumnText(8),
		CreatedAt:          rimewatch.Time(stmt.ColumnInt64(10)),
		UpdatedAt:          rimewatch.Time(stmt.ColumnInt64(11)),
		DeletedAt:          rimewatch.Time(stmt.ColumnInt64(12)),
	}
	text := stmt.ColumnText(9)
	if text == "{}" {
		return d, nil
	}
	var x details
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return nil, fmt.Errorf("details of device %d: %w", d.ID, err)
	}
	x.into(d)
	return d, nil
}

func saveDevice(conn *sqlite.Conn, d *rimewatch.Device) error {
	text, err := json.Marshal(detailsOf(d))
	if err != nil {
		return err
	}
	return sqlitex.Execute(conn, `INSERT INTO device (`+deviceColumns+`, serial_key)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET serial = excluded.serial, serial_key = excluded.serial_key, name = excluded.name,
			equipment_type = excluded.equipment_type, site_id = excluded.site_id,
			heartbeat_interval_s = excluded.heartbeat_interval_s, offline_after_s = excluded.offline_after_s,
			firmware_version = excluded.firmware_version, details = excluded.details,
			updated_at = excluded.updated_at, deleted_at = excluded.deleted_at`,
		&sqlitex.ExecOptions{Args: []any{
			d.ID, d.WorkspaceID, d.Serial, d.Name, d.EquipmentType, d.SiteID, d.HeartbeatIntervalS,
			d.OfflineAfterS, d.FirmwareVersion, string(text), int64(d.CreatedAt), int64(d.UpdatedAt), int64(d.DeletedAt),
			rimewatch.SerialKey(d.Serial),
		}})
}

// settle works out every device op of a group against the fleet and the ops
// before it, without changing either.
func (s *Store) settle(g *store.Group) {
	staged := make(map[string]*rimewatch.Device, len(g.Devices)) // by workspace and serial; nil = deleted
	for _, op := range g.Devices {
		row, ok := staged[stageKey(op.WorkspaceID, op.Serial)]
		if !ok {
			s.mu.RLock()
			if d := s.fleet.find(op.WorkspaceID, rimewatch.SerialKey(op.Serial)); d != nil {
				row = new(d.row.device())
			}
			s.mu.RUnlock()
		}
		op.Err = settleOne(op, row, g.Now)
		if op.Err != nil {
			continue
		}
		if op.Delete {
			staged[stageKey(op.WorkspaceID, op.Serial)] = nil
		} else {
			staged[stageKey(op.WorkspaceID, op.Serial)] = &op.Device
		}
	}
}

func settleOne(op *store.DeviceOp, row *rimewatch.Device, now rimewatch.Time) error {
	switch {
	case op.Create != nil && row != nil:
		return rimewatch.Errorf(rimewatch.CodeSerialTaken, "The serial %s is taken.", op.Serial).With("serial", "is taken")
	case op.Create != nil:
		op.Device = *op.Create
		op.Device.CreatedAt, op.Device.UpdatedAt = now, now
		return nil
	case row == nil:
		return errDevice()
	}
	op.Device = *row
	op.Device.UpdatedAt = now
	if op.Delete {
		op.Device.DeletedAt = now
		return nil
	}
	return op.Change(&op.Device)
}

func stageKey(workspaceID int64, serial string) string {
	return fmt.Sprintf("%d/%s", workspaceID, rimewatch.SerialKey(serial))
}

// Serials implements store.Fleet.
func (s *Store) Serials(ctx context.Context, workspaceID int64, ids []int64) (map[int64]string, error) {
	out := make(map[int64]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return each(conn, "SELECT id, serial FROM device WHERE workspace_id = ? AND id IN (SELECT value FROM json_each(?))",
			func(stmt *sqlite.Stmt) { out[stmt.ColumnInt64(0)] = stmt.ColumnText(1) }, workspaceID, asJSON(ids))
	})
	return out, err
}
