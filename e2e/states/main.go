// Command states serves a data directory as rimewatch does. Asked by SIGUSR1, it prints
// the states of the devices 1 to N, as they are stored, and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store"
)

func main() {
	if err := serve(); err != nil {
		slog.Error("ended", "err", err)
		os.Exit(1)
	}
}

func serve() error {
	cfg := app.Config{Serve: config.Serve{Listen: "127.0.0.1:0", DrainPeriod: time.Second}, Version: "states", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.StringVar(&cfg.Data, "data", "", "the data directory")
	flag.DurationVar(&cfg.SealAfter, "seal-after", time.Hour, "how long readings wait to be sealed")
	flag.Int64Var(&cfg.HeadMemory, "head-memory", 16, "memory for readings that are not sealed, in MiB")
	devices := flag.Int64("devices", 0, "N")
	flag.Parse()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	ctx := context.Background()
	a, err := app.New(ctx, cfg)
	if err != nil {
		return err
	}
	if err := a.Start(ctx); err != nil {
		return err
	}
	select {
	case err := <-a.Failed():
		return err
	case <-asked:
		return errors.Join(states(ctx, a, *devices), a.Stop())
	}
}

func states(ctx context.Context, a *app.App, devices int64) error {
	a.Ingest.CheckpointAll()
	ids := make([]int64, devices)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	return a.Store.Checkpoints(ctx, ids, func(c store.Checkpoint) error {
		_, err := fmt.Printf("state %d %x\n", c.DeviceID, c.State)
		return err
	})
}
