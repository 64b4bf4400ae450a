package e2e

import (
	"context"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestKill9Postgres is TestKill9 on a database behind a proxy that cuts all
// connections again and again, and that is killed itself every other round.
func TestKill9Postgres(t *testing.T) {
	trial.NeedsLong(t)
	database, err := pgtest.Start("full_page_writes=off")
	if err != nil {
		t.Fatal(err)
	}
	defer database.Stop()
	u, err := url.Parse(database.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := pgtest.NewProxy(t, u.Host)
	u.Host = proxy.Addr()
	round := 0
	newKiller(t, "--store", u.String()).rounds(t, rounds(t), func(ctx context.Context) {
		round++
		for i := 1; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(50+rand.IntN(300)) * time.Millisecond):
			}
			if i > 1 || round%2 != 0 {
				proxy.CutAll()
				continue
			}
			database.Kill()
			if err := database.Restart("full_page_writes=off"); err != nil {
				t.Error(err)
			}
		}
	})
}
