package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// Store is a store with the methods for the process around it.
type Store interface {
	store.Store
	// HeadBytes is the memory of readings that are not sealed yet.
	HeadBytes() int64
	// Damage lists the chunks that cannot be read, as far as that is known.
	Damage() []store.DamagedChunk
	// Moved counts the changes after which a process that follows this one has to read again.
	Moved() int64
	// Still has less of it happen for a while.
	Quiesce(d time.Duration)
	// Rest seals, trims and merges everything that can be.
	Rest(ctx context.Context) error
}

// remote is a store that another server can take over, and that may not answer.
type remote interface {
	Lost() <-chan struct{}
	Err() error
	GiveUp()
}

// openStore opens the one file of the data directory, or the database that the
// operator named. keeper may be nil.
func openStore(ctx context.Context, cfg *Config, keeper *clock.Keeper) (Store, error) {
	var sure func() bool
	if keeper != nil {
		sure = keeper.Sure
	}
	if cfg.Store == "" {
		s, err := sqlite.Open(ctx, sqlite.Config{
			Path: filepath.Join(cfg.Data, sqlite.FileName), Logger: cfg.Logger, Now: cfg.Now, Sure: sure,
			HeadBytes: cfg.HeadMemory << 20, SealAfter: cfg.SealAfter, LogAside: cfg.SetDamagedCommitsAside, Quotas: cfg.quotas(),
		})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := postgres.Open(ctx, postgres.Config{
		URL: cfg.Store, Primary: cfg.primaryFile(), Logger: cfg.Logger, Now: cfg.Now, Sure: sure, HeadBytes: cfg.HeadMemory << 20, SealAfter: cfg.SealAfter,
		LogAside: cfg.SetDamagedCommitsAside, Quotas: cfg.quotas(),
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// primaryFile remembers which server of the database was the primary last.
func (c *Config) primaryFile() string { return filepath.Join(c.Data, "primary") }

// quotas bounds the things of a workspace.
func (c *Config) quotas() store.Quotas {
	return store.Quotas{Devices: c.QuotaDevices, Sites: c.QuotaSites, Tokens: c.QuotaTokens, Members: c.QuotaMembers}
}

// secret returns the random bytes of a name, which every node has.
func (a *App) secret(ctx context.Context, name string) ([32]byte, error) {
	if a.cfg.part != nil {
		return a.cfg.part.secret(ctx, name)
	}
	return a.Store.Secret(ctx, name)
}

// remote returns the store as one that may be lost; false where it is a file.
func (a *App) remote() (remote, bool) {
	s := a.Store
	if late, ok := s.(*lateStore); ok {
		s = late.Store
	}
	r, ok := s.(remote)
	return r, ok
}

// watchStore ends the server when its store is lost.
func (a *App) watchStore(ctx context.Context) {
	r, ok := a.remote()
	if !ok {
		return
	}
	select {
	case <-ctx.Done():
	case <-r.Lost():
		select {
		case a.failed <- r.Err():
		case <-ctx.Done():
		}
	}
}

// limitWait ends the wait for a database that does not answer after the drain
// period: nothing that is unanswered was acknowledged.
func (a *App) limitWait() (done func()) {
	r, ok := a.remote()
	if !ok {
		return func() {}
	}
	t := time.AfterFunc(a.cfg.DrainPeriod, r.GiveUp)
	return func() { t.Stop() }
}
