package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

const (
	databaseDevices = 10_000
	databaseConns   = 8 // of batches
)

// database is a PostgreSQL server of our own, with a connection that asks it.
type database struct {
	*pgtest.Server
	conn *pgx.Conn
	url  string
}

// startDatabase starts one as it is in service: every commit is synced. Its own
// checkpoints stay out of the measurement.
func startDatabase() (*database, error) {
	s, err := pgtest.Start("shared_buffers=256MB", "checkpoint_timeout=1h", "max_wal_size=16GB", "wal_buffers=16MB", "autovacuum_naptime=1min")
	if err != nil {
		return nil, err
	}
	d := &database{Server: s, url: s.URL("postgres")}
	if d.conn, err = pgx.Connect(context.Background(), d.url); err != nil {
		s.Stop()
		return nil, err
	}
	return d, nil
}

// number asks for one.
func (d *database) number(query string) (n int64, err error) {
	err = d.conn.QueryRow(context.Background(), query).Scan(&n)
	return n, err
}

// wal is how many bytes were written ahead so far.
func (d *database) wal() (int64, error) {
	return d.number("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
}

// benchDatabase: the load of the other parts with the store in PostgreSQL, which
// shares the cores.
func benchDatabase(o *options) error {
	heading("PostgreSQL: %d devices, server, database and generator on the same cores; load average before: %s", databaseDevices, loadAverage())
	d, err := startDatabase()
	if err != nil {
		return err
	}
	defer d.Stop()
	dir := filepath.Join(o.dir, "database")
	s, err := start("child-app", dir, d.url)
	if err != nil {
		return err
	}
	defer s.kill()
	if err := s.register(databaseDevices); err != nil {
		return err
	}
	f, err := newFeed()
	if err != nil {
		return err
	}
	m := &databaseLoad{o: o, d: d, s: s, feed: f.fleet(databaseDevices)}
	for _, l := range []struct {
		name, goal    string
		conns, size   int
		rate, walEach float64 // to reach; 0 = nothing is promised
	}{
		{"single POST, 64 connections", "≥ 12000", 64, 1, 12_000, 0},
		{"single POST, 256 connections", "≥ 25000", 256, 1, 25_000, 60},
		{"batches of 1000", "≥ 300000", databaseConns, 1000, 300_000, 60},
	} {
		if o.parts != "" && !strings.Contains(l.name, o.parts) {
			continue
		}
		if err := m.apply(l.name, l.goal, l.conns, l.size, l.rate, l.walEach); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return m.atRest()
}

// databaseLoad applies load and asks the database what it cost.
type databaseLoad struct {
	o    *options
	d    *database
	s    *server
	feed *feed
	sent int64
}

func (m *databaseLoad) apply(name, goal string, conns, size int, rate, walEach float64) error {
	f := m.feed.over(conns)
	next, status := f.singles(m.s.token, inTurn), 201
	if size > 1 {
		next, status = f.batches(size, m.s.token, inTurn), 200
	}
	before, err := m.d.wal()
	if err != nil {
		return err
	}
	var r result
	cpu := m.s.cpu()
	err = m.o.profiled(m.s, "postgres-"+strings.ReplaceAll(name, " ", "-"), func() (err error) {
		r, err = drive(m.s.addr, conns, m.o.load, status, next)
		return err
	})
	if err != nil {
		return err
	}
	cpu = m.s.cpu() - cpu
	after, err := m.d.wal()
	if err != nil {
		return err
	}
	n := r.count * int64(size)
	m.sent += n
	got := float64(n) / r.elapsed.Seconds()
	row(name, fmt.Sprintf("%.0f/s", got), goal, got >= rate)
	row("  p50 / p99 / worst", fmt.Sprintf("%.1f / %.1f / %.1f ms", ms(r.quantile(.5)), ms(r.quantile(.99)), ms(r.quantile(1))), "", true)
	row("  CPU of the service", fmt.Sprintf("%.1f µs each", float64(cpu.Microseconds())/float64(n)), "", true)
	each, target := float64(after-before)/float64(n), ""
	if walEach > 0 {
		target = fmt.Sprintf("≤ %.0f", walEach)
	}
	row("  written ahead (WAL)", fmt.Sprintf("%.1f B/reading", each), target, walEach == 0 || each <= walEach)
	return nil
}

// atRest is what a reading takes once everything is sealed and merged: chunks,
// their indexes and what belongs to them, after the database has tidied up.
func (m *databaseLoad) atRest() error {
	// Enough of every device that its chunks are as large as they get.
	for m.sent < databaseDevices*720 && !m.o.quick {
		f := m.feed.over(databaseConns)
		r, err := drive(m.s.addr, databaseConns, 10*time.Second, 200, f.batches(1000, m.s.token, friendly))
		if err != nil {
			return err
		}
		m.sent += r.count * 1000
	}
	began := time.Now()
	got, err := m.s.order("rest")
	if err != nil {
		return err
	}
	row("sealing and merging", fmt.Sprintf("%.1f s", time.Since(began).Seconds()), "", true)
	if got[1] != m.sent {
		return fmt.Errorf("%d readings are stored, %d were acknowledged", got[1], m.sent)
	}
	row(fmt.Sprintf("%d readings at rest", m.sent), fmt.Sprintf("%.0f a device", float64(m.sent)/databaseDevices), "", true)
	for _, step := range []struct{ what, statement string }{
		{"  with the room that merging left", "VACUUM reading_chunk"}, {"  rewritten", "VACUUM (FULL) reading_chunk"},
	} {
		if _, err := m.d.conn.Exec(context.Background(), step.statement); err != nil {
			return err
		}
		bytes, err := m.d.number("SELECT pg_total_relation_size('young_chunk') + pg_total_relation_size('grown_chunk')")
		if err != nil {
			return err
		}
		each := float64(bytes) / float64(m.sent)
		row(step.what, fmt.Sprintf("%.2f B/reading", each), "≤ 10", each <= 10)
	}
	return os.RemoveAll(filepath.Join(m.o.dir, "database"))
}
