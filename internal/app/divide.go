package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

// Divide divides a database into so many shards, while no server runs: each shard that
// there is begins its service, seals everything, and ends.
func Divide(ctx context.Context, url string, shards int64, log *slog.Logger) (err error) {
	dir, err := os.MkdirTemp("", "rimewatch-divide-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := Config{Serve: config.Serve{Data: dir, Store: url, Listen: "127.0.0.1:0", HeadMemory: 48, SealAfter: time.Hour, DrainPeriod: 10 * time.Second}, Logger: log, Now: time.Now}
	db, err := postgres.Connect(ctx, postgres.Config{URL: url, Logger: log, Now: cfg.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	v, err := db.Look(ctx)
	if err != nil {
		return err
	}
	for i := range v.Members {
		if m := &v.Members[i]; !v.Silent(m) {
			return fmt.Errorf("%s uses the database: stop all servers", m.Name)
		}
	}
	for i := range v.Holdings {
		if err := rest(ctx, db, &v.Holdings[i], &cfg); err != nil {
			return fmt.Errorf("seal shard %d: %w", v.Holdings[i].Shard, err)
		}
	}
	return db.Divide(ctx, shards)
}

// rest brings a shard to where its log is empty.
func rest(ctx context.Context, db *postgres.Database, h *store.Holding, cfg *Config) error {
	s, err := db.Open(ctx, h.Shard, h.Stream, postgres.Config{Logger: cfg.Logger, Now: cfg.Now, HeadBytes: cfg.HeadMemory << 20})
	if err != nil {
		return err
	}
	return errors.Join(seal(ctx, s, cfg), s.Close())
}

// seal replays the log of a store and brings all of it to its place.
func seal(ctx context.Context, s *postgres.Store, cfg *Config) error {
	in := ingest.New(ingest.Config{Store: s, Now: cfg.Now, Logger: cfg.Logger, ReadFirst: math.MaxInt})
	if err := in.Start(ctx); err != nil {
		return err
	}
	defer in.Stop()
	in.CheckpointAll()
	return s.Rest(ctx)
}
