package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

type clusterCmd struct {
	Status clusterStatusCmd `cmd:"" help:"Show which node serves which shards."`
	Divide clusterDivideCmd `cmd:"" help:"Divide the database into another number of shards. No server may run."`
}

type databaseFlag struct {
	Store string `env:"RIMEWATCH_STORE" required:"" placeholder:"URL" help:"PostgreSQL database: postgres://USER@HOST/DATABASE."`
}

type clusterStatusCmd struct{ databaseFlag }

// Run prints the members and the shards.
func (c *clusterStatusCmd) Run(ctx context.Context, s streams) error {
	if err := config.CheckStore(c.Store); err != nil {
		return usageError{err}
	}
	v, err := postgres.LookAt(ctx, c.Store)
	if err != nil {
		return err
	}
	names := make(map[string]string)
	for i := range v.Members {
		m := &v.Members[i]
		names[m.Name] = m.Name
		state := "there"
		switch {
		case m.URL == "":
			state = "no node of a cluster"
		case v.Silent(m):
			state = fmt.Sprintf("silent for %d s", (int64(v.Now)-m.Beat)/1000)
		case m.Leaving:
			state = "gives its shards away"
		}
		shards := 0
		for j := range v.Holdings {
			if h := &v.Holdings[j]; h.Open && h.Node == m.Name {
				shards++
			}
		}
		fmt.Fprintf(s.out, "%-40s %-30s %s, since %s, %s\n", m.Name, m.URL, state, m.Since.Std().Format(time.DateTime), plural(shards, "shard"))
	}
	for i := range v.Holdings {
		h := &v.Holdings[i]
		if times, why := v.Failures(h.Shard); times > 0 {
			fmt.Fprintf(s.out, "shard %-3d could not be opened %d times: %s\n", h.Shard, times, why)
		}
		switch {
		case !h.Open:
			fmt.Fprintf(s.out, "shard %-3d nobody serves it\n", h.Shard)
		case names[h.Node] == "":
			fmt.Fprintf(s.out, "shard %-3d %s, which is gone\n", h.Shard, h.Node)
		default:
			fmt.Fprintf(s.out, "shard %-3d %s, since %s\n", h.Shard, h.Node, h.Since.Std().Format(time.DateTime))
		}
	}
	return nil
}

type clusterDivideCmd struct {
	databaseFlag
	Shards int64 `default:"16" placeholder:"N" help:"How many shards, 1 to 256."`
}

// Help is shown by cluster divide --help.
func (clusterDivideCmd) Help() string {
	return `Everything that is not sealed yet is read and sealed first, as at a start. Nothing is moved: a shard is only which
workspaces one node serves.

  rimewatch cluster divide --store postgres://rimewatch@db/rimewatch --shards 16`
}

// Run divides the database.
func (c *clusterDivideCmd) Run(ctx context.Context, s streams) error {
	if c.Shards < 1 || c.Shards > 256 {
		return usagef("--shards is 1 to 256")
	}
	if err := config.CheckStore(c.Store); err != nil {
		return usageError{err}
	}
	logger, err := newLogger(s.err, "warn", "text")
	if err != nil {
		return err
	}
	if err := app.Divide(ctx, c.Store, c.Shards, logger); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "The database is divided into %s.\n", plural(int(c.Shards), "shard"))
	return err
}
