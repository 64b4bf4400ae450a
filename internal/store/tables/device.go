package tables

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const deviceColumns = `id, workspace_id, serial, name, equipment_type, site_id, heartbeat_interval_s,
	offline_after_s, firmware_version, details, created_at, updated_at, deleted_at`

// DeviceRanges returns the ranges of ids, of so many each, up to last in which there
// may be devices: i is [i·size, (i+1)·size). Shards are given ids in blocks, and some
// never use theirs: to look into every range would cost more with each take-over.
func (t Devices) DeviceRanges(ctx context.Context, size, last int64) (list []int64, err error) {
	if t.shard.Whole() {
		for i := range last/size + 1 {
			list = append(list, i)
		}
		return list, nil
	}
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, "SELECT DISTINCT d.id / ? FROM workspace w JOIN device d ON d.workspace_id = w.id AND d.deleted_at = 0 WHERE TRUE"+t.and("w.id")+" ORDER BY 1",
			func(row Row) { list = append(list, row.ColumnInt64(0)) }, size)
	})
	return list, err
}

// EachDeviceRow calls yield for every existing device of every workspace with an id
// in [from, to), by id.
func (t Devices) EachDeviceRow(ctx context.Context, from, to int64, yield func(*rimewatch.Device)) error {
	return t.readLong(ctx, func(conn Conn) error {
		return each(conn, "SELECT "+deviceColumns+" FROM device WHERE deleted_at = 0 AND id >= ? AND id < ?"+t.and("workspace_id")+" ORDER BY id",
			func(row Row) { yield(scanDevice(row)) }, from, to)
	})
}

// DeviceName finds the name of a device, deleted ones included; empty
// when there never was one.
func (t Devices) DeviceName(ctx context.Context, id int64) (serial, name, equipmentType string, err error) {
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, "SELECT serial, name, equipment_type FROM device WHERE id = ?",
			func(row Row) { serial, name, equipmentType = row.ColumnText(0), row.ColumnText(1), row.ColumnText(2) }, id)
	})
	return serial, name, equipmentType, err
}

// DeletedDevices implements store.Fleet.
func (t Devices) DeletedDevices(ctx context.Context, workspaceID, id int64) (list []rimewatch.Device, err error) {
	sites := store.SitesOf(ctx)
	query, args := "SELECT "+deviceColumns+" FROM device WHERE workspace_id = ? AND deleted_at <> 0", []any{workspaceID}
	if id != 0 {
		query, args = query+" AND id = ?", append(args, id)
	}
	err = t.readLong(ctx, func(conn Conn) error {
		return each(conn, query+" ORDER BY id", func(row Row) {
			if d := scanDevice(row); sites.Has(d.SiteID) {
				list = append(list, *d)
			}
		}, args...)
	})
	return list, err
}

func scanDevice(row Row) *rimewatch.Device {
	d := &rimewatch.Device{
		ID:                 row.ColumnInt64(0),
		WorkspaceID:        row.ColumnInt64(1),
		Serial:             row.ColumnText(2),
		Name:               row.ColumnText(3),
		EquipmentType:      row.ColumnText(4),
		SiteID:             row.ColumnInt64(5),
		HeartbeatIntervalS: row.ColumnInt(6),
		OfflineAfterS:      row.ColumnInt(7),
		FirmwareVersion:    row.ColumnText(8),
		CreatedAt:          rimewatch.Time(row.ColumnInt64(10)),
		UpdatedAt:          rimewatch.Time(row.ColumnInt64(11)),
		DeletedAt:          rimewatch.Time(row.ColumnInt64(12)),
	}
	text := row.ColumnText(9)
	if text == "{}" {
		return d
	}
	whole := *d
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		d.Notes = unreadable // one damaged row does not keep other devices from being read
		return d
	}
	return &whole
}

func saveDevice(conn Conn, d *rimewatch.Device) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return conn.Later(nil, `INSERT INTO device (`+deviceColumns+`, serial_key)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET serial = excluded.serial, serial_key = excluded.serial_key, name = excluded.name,
			equipment_type = excluded.equipment_type, site_id = excluded.site_id,
			heartbeat_interval_s = excluded.heartbeat_interval_s, offline_after_s = excluded.offline_after_s,
			firmware_version = excluded.firmware_version, details = excluded.details,
			updated_at = excluded.updated_at, deleted_at = excluded.deleted_at`,
		d.ID, d.WorkspaceID, d.Serial, d.Name, d.EquipmentType, d.SiteID, d.HeartbeatIntervalS,
		d.OfflineAfterS, d.FirmwareVersion, string(text), int64(d.CreatedAt), int64(d.UpdatedAt), int64(d.DeletedAt),
		rimewatch.SerialKey(d.Serial))
}

// Serials implements store.Fleet.
func (t Devices) Serials(ctx context.Context, workspaceID int64, ids []int64) (map[int64]string, error) {
	out := make(map[int64]string, len(ids))
	err := t.readLong(ctx, func(conn Conn) error {
		for part := range slices.Chunk(ids, 500) { // engines bound the number of parameters
			args := []any{workspaceID}
			for _, id := range part {
				args = append(args, id)
			}
			err := each(conn, "SELECT id, serial FROM device WHERE workspace_id = ? AND id IN (?"+strings.Repeat(", ?", len(part)-1)+")",
				func(row Row) { out[row.ColumnInt64(0)] = row.ColumnText(1) }, args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
