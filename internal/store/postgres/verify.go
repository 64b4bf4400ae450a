package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// damageShown bounds the damage that Inspect lists.
const damageShown = 100

func note(list *[]string, format string, args ...any) {
	if len(*list) < damageShown {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
}

// verify checks every row that has a checksum, of all shards, and notes damaged rows and those
// that were set aside before.
func (in *Inspection) verify(s *session) (err error) {
	each := func(query string, f func(row tables.Row)) {
		failed := s.Query(func(row tables.Row) error { f(row); return nil }, query)
		if strings.HasPrefix(code(failed), "XX") { // the server cannot read its own pages
			note(&in.Damage, "%s: %v", query, failed)
		} else {
			err = errors.Join(err, failed)
		}
	}
	of := int64(0) // each shard counts its commits from 1
	each("SELECT count(*) FROM shard", func(row tables.Row) { of = row.ColumnInt64(0) })
	each("SELECT seq, data, shard FROM commit_log", func(row tables.Row) {
		err := core.VerifyLog(store.Seq(row.ColumnInt64(0)), core.Column(row, 1, nil))
		switch {
		case err != nil && of > 1:
			note(&in.Damage, "shard %d: %v", row.ColumnInt64(2), err)
		case err != nil:
			note(&in.Damage, "%v", err)
		}
	})
	each("SELECT id, device_id, from_at, to_at, n, summary, data FROM reading_chunk", func(row tables.Row) {
		id, device := row.ColumnInt64(0), row.ColumnInt64(1)
		sp := core.Span{From: rimewatch.Time(row.ColumnInt64(2)), To: rimewatch.Time(row.ColumnInt64(3)), N: int(row.ColumnInt64(4))}
		if err := core.VerifyChunk(device, sp, core.Column(row, 6, nil), core.Column(row, 5, nil)); err != nil {
			note(&in.Damage, "chunk %d of device %d (%d readings, %s to %s): %v", id, device, sp.N, sp.From, sp.To, err)
		}
	})
	each("SELECT id, device_id, from_at, to_at, data FROM reading_rollup", func(row tables.Row) {
		device, from, to := row.ColumnInt64(1), rimewatch.Time(row.ColumnInt64(2)), rimewatch.Time(row.ColumnInt64(3))
		if err := core.VerifyRollup(device, from, to, core.Column(row, 4, nil)); err != nil {
			note(&in.Damage, "rollup %d of device %d (%s to %s): %v", row.ColumnInt64(0), device, from, to, err)
		}
	})
	err = errors.Join(err, core.ReadCheckpoints(s, new(core.Checkpoint), true, "TRUE", func(c *core.Checkpoint) error {
		if err := core.VerifyCheckpoint(c); err != nil {
			note(&in.Damage, "checkpoint of device %d: %v", c.DeviceID, err)
		}
		return nil
	}))
	_, broken, failed := tables.VerifyTrails(s)
	err = errors.Join(err, failed)
	for _, id := range broken {
		note(&in.Damage, "entry %d of the audit trail does not follow from the one before it, or its record is another one: something was changed or removed", id)
	}
	each("SELECT id, device_id, n, from_at, to_at, why FROM damaged_chunk ORDER BY id", func(row tables.Row) {
		note(&in.Aside, "chunk %d of device %d (%d readings, %s to %s): %s", row.ColumnInt64(0), row.ColumnInt64(1), row.ColumnInt64(2),
			rimewatch.Time(row.ColumnInt64(3)), rimewatch.Time(row.ColumnInt64(4)), row.ColumnText(5))
	})
	each("SELECT why FROM damaged_commit ORDER BY seq", func(row tables.Row) { note(&in.Aside, "%s", row.ColumnText(0)) })
	return err
}
