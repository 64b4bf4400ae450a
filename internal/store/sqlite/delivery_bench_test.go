package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// BenchmarkNotificationLists reads from a million transitions and deliveries of
// a hundred thousand alerts, to ten channels.
func BenchmarkNotificationLists(b *testing.B) {
	trial.NeedsLong(b) // a million rows take half a minute to write
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), FileName), ControlOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	const rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) INSERT INTO "
	err = s.disk.Write(b.Context(), func(conn tables.Conn) error {
		for _, q := range []string{
			rows + "alert_transition SELECT i, 1, 1 + i / 10, 'opened', i, 'warning', '', '', 'The product zone is 4.2 K above its limit.' FROM n",
			rows + `delivery SELECT i, 1, 'alert/' || (1 + i / 10) || '/0/opened/0/' || i, 1 + i / 10, 1 + i % 10, 0, 0, 'opened',
				CASE WHEN i % 1000 THEN 'sent' ELSE 'pending' END, 1, i, i, i, '', zeroblob(600) FROM n`,
		} {
			if _, err := conn.Exec(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	for name, read := range map[string]func() (int, error){
		"outbox": func() (int, error) {
			l, err := s.Everywhere().AllTransitionsAfter(ctx, 999_900, 100)
			return len(l), err
		},
		"timeline": func() (int, error) { l, err := s.Outbox().AlertTransitions(ctx, 1, 50_000); return len(l), err },
		"alert":    func() (int, error) { l, err := s.Outbox().AlertDeliveries(ctx, 1, 50_000); return len(l), err },
		"pending":  func() (int, error) { l, err := s.Outbox().PendingDeliveries(ctx, 1, 3, false, 100); return len(l), err },
		"channel": func() (int, error) {
			l, _, err := s.Outbox().Deliveries(ctx, 1, 3, store.Page{Limit: 15})
			return len(l), err
		},
		"workspace": func() (int, error) {
			l, _, err := s.Outbox().Deliveries(ctx, 1, 0, store.Page{Limit: 15, After: 500_000})
			return len(l), err
		},
		"deep page": func() (int, error) {
			l, _, err := s.Outbox().Deliveries(ctx, 1, 3, store.Page{Limit: 15, Offset: 90_000})
			return len(l), err
		},
		"put": func() (int, error) {
			d := rimewatch.Delivery{WorkspaceID: 1, Key: "alert/1/0/opened/0/10", ChannelID: 1}
			return 1, s.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if n, err := read(); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
