package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// primary knows the newest primary that was seen, so that one which it replaced is
// not taken for the primary when it is started again: that one takes writes, too, and
// nobody else would see them. PostgreSQL counts the promotions of a database: that is
// its timeline.
type primary struct {
	file string // remembers it over restarts; "" = nothing does
	log  *slog.Logger

	mu      sync.Mutex
	seen    sighting
	here    bool                   // seen by this process, not only by one before it
	blind   bool                   // it was said that the server does not show its timeline
	refused map[string]*limit.Gate // of log lines, by server
	moved   func()                 // closes connections, which may lead to an older one; nil = there are none to close yet
	missed  bool                   // moved was to be called
}

// sighting is a server's statement about itself.
type sighting struct {
	server   string
	system   string // of the database, with all servers that hold copies of it
	timeline int64
	standby  bool
}

// askSighting works without privileges. The timeline of a primary is the one that it
// writes to; its control file shows that only after a checkpoint.
const askSighting = `SELECT (SELECT system_identifier FROM pg_control_system()), pg_is_in_recovery(), CASE WHEN pg_is_in_recovery()
	THEN (SELECT greatest(r.min_recovery_end_timeline, c.timeline_id)::bigint FROM pg_control_recovery() r, pg_control_checkpoint() c)
	ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint END`

func newPrimary(file string, log *slog.Logger) *primary {
	p := &primary{file: file, log: log, refused: make(map[string]*limit.Gate)}
	if file == "" {
		return p
	}
	text, err := os.ReadFile(file) //nolint:gosec // in the data directory
	if err == nil {
		_, err = fmt.Sscan(string(text), &p.seen.system, &p.seen.timeline, &p.seen.server)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.seen = sighting{}
		log.Warn("it is not known which primary is the newest: the file cannot be read", "file", file, "err", err)
	}
	return p
}

// save saves the newest sighting. Under mu.
func (p *primary) save() {
	if p.file == "" {
		return
	}
	text := fmt.Sprintf("%s %d %s\n", p.seen.system, p.seen.timeline, p.seen.server)
	err := os.WriteFile(p.file+".partial", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(p.file+".partial", p.file)
	}
	if err != nil {
		p.log.Warn("which primary is the newest is not remembered over a restart", "err", err)
	}
}

// onMove has f called whenever another primary is seen, and now if one has been.
func (p *primary) onMove(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.moved = f; p.missed {
		f()
	}
}

// judge notes a server's statement about itself, and returns why it must not be used.
func (p *primary) judge(s sighting) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.seen
	switch {
	case known.system == s.system && s.timeline == known.timeline:
		p.here = true
	case known.system == "" || known.system == s.system && s.timeline > known.timeline, known.system != s.system && !p.here:
		p.seen, p.here = s, true
		p.save()
		if known.system != "" {
			p.log.Warn("the database has another primary", "server", s.server, "timeline", s.timeline, "before", known.timeline, "same_database", known.system == s.system)
			if p.missed = p.moved == nil; !p.missed {
				p.moved()
			}
		}
	case known.system != s.system:
		return p.refuse(s, fmt.Errorf("%s holds another database than %s (system identifiers %s and %s): to use it, restart every server", s.server, known.server, s.system, known.system))
	case !s.standby:
		return p.refuse(s, fmt.Errorf("%s was the primary before a fail-over: its timeline is %d, %s has %d; make it a standby", s.server, s.timeline, known.server, known.timeline))
	}
	return nil
}

// refuse returns why a server is not used, and logs it once a minute. Under mu.
func (p *primary) refuse(s sighting, why error) error {
	g := p.refused[s.server]
	if g == nil {
		g = new(limit.Gate)
		p.refused[s.server] = g
	}
	if _, ok := g.Pass(rimewatch.TimeOf(time.Now()), time.Minute); ok {
		p.log.Error("a server of the database is not used", "server", s.server, "reason", why)
	}
	return why
}

// look asks the server at the end of a connection. Those that do not say it, because
// they are no PostgreSQL or may not, are used as if all were well.
func (p *primary) look(ctx context.Context, c *pgconn.PgConn) (s sighting, known bool, err error) {
	s.server = cmp.Or(c.Conn().RemoteAddr().String(), "-")
	answer, err := c.Exec(ctx, askSighting).ReadAll()
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && !c.IsClosed():
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.blind {
			p.blind = true
			p.log.Warn("the server does not show its timeline: a primary that was replaced is not noticed", "err", err)
		}
		return s, false, nil
	case err != nil:
		return s, false, err
	}
	row := answer[0].Rows[0]
	s.system, s.standby = string(row[0]), string(row[1]) == "t"
	s.timeline, err = strconv.ParseInt(string(row[2]), 10, 64)
	return s, err == nil, err
}

// guard has new connections refuse a server that is not the newest primary. The next
// host is then tried.
func (p *primary) guard(cfg *pgconn.Config) {
	validate := cfg.ValidateConnect
	cfg.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		if s, known, err := p.look(ctx, c); err != nil {
			return err
		} else if known {
			if err := p.judge(s); err != nil {
				return err
			}
		}
		if validate == nil {
			return nil
		}
		return validate(ctx, c)
	}
}

const (
	surveyEvery = 5 * time.Second
	surveyTime  = 2 * time.Second // a server that is silent does not hold up the start for longer
)

// findPrimary returns how each server that the connection string names is reached,
// and asks them all, where there are several.
func (d *disk) findPrimary(ctx context.Context) ([]*pgconn.Config, error) {
	cfg, err := pgx.ParseConfig(d.cfg.URL)
	if err != nil {
		return nil, badURL(err)
	}
	prepare(cfg)
	list := servers(&cfg.Config)
	if len(list) > 1 {
		survey(ctx, d.primary, list)
	}
	return list, nil
}

// survey asks servers who they are, and returns those that answered: the first one may
// be an old primary although a newer one is there.
func survey(ctx context.Context, p *primary, servers []*pgconn.Config) (list []sighting) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, one := range servers {
		asked.Go(func() {
			c, err := pgconn.ConnectConfig(ctx, one)
			if err != nil {
				return // whoever needs it says so
			}
			s, known, _ := p.look(ctx, c)
			_ = c.Close(ctx)
			if known {
				_ = p.judge(s)
				mu.Lock()
				list = append(list, s)
				mu.Unlock()
			}
		})
	}
	asked.Wait()
	slices.SortFunc(list, func(a, b sighting) int { return strings.Compare(a.server, b.server) })
	return list
}

// servers returns how each server that a connection string names is reached alone.
func servers(cfg *pgconn.Config) (list []*pgconn.Config) {
	all := append([]*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
	for i, f := range all {
		if i > 0 && f.Host == all[i-1].Host && f.Port == all[i-1].Port { // with and without TLS
			last := list[len(list)-1]
			last.Fallbacks = append(last.Fallbacks, f)
			continue
		}
		one := cfg.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks, one.ValidateConnect = f.Host, f.Port, f.TLSConfig, nil, nil
		list = append(list, one)
	}
	return list
}

// watchServers is the goroutine that looks for newer primaries: the old one may still
// answer.
func (d *disk) watchServers(list []*pgconn.Config) {
	for range ticker.Every(d.closing.Done(), surveyEvery, nil) {
		survey(d.closing, d.primary, list)
	}
}

// rivals returns the complaint about servers of which more than one takes writes, ""
// when that is not so.
func rivals(list []sighting) string {
	var names []string
	systems := make(map[string]bool)
	for _, s := range list {
		systems[s.system] = true
		if !s.standby {
			names = append(names, fmt.Sprintf("%s (timeline %d)", s.server, s.timeline))
		}
	}
	switch {
	case len(systems) > 1:
		return "the connection string names servers of different databases: " + strings.Join(names, ", ")
	case len(names) > 1:
		return strings.Join(names, " and ") + " take writes: stop those with the lower timeline, and make them standbys"
	}
	return ""
}
