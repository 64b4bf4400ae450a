package app_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// told is a log that calls back at a word, before whoever says it goes on.
type told struct {
	word string
	then func()
}

func (l told) Write(p []byte) (int, error) {
	if strings.Contains(string(p), l.word) {
		l.then()
	}
	return len(p), nil
}

// A database that goes away as soon as a server serves does not take it along, though
// nobody has set it up yet.
func TestDatabaseGoesAsItServes(t *testing.T) {
	trial.NeedsAll(t)
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	a := serving(t, func(c *app.Config) {
		c.Store, c.Logger = database.URL("postgres"), slog.New(slog.NewTextHandler(told{"msg=serving", database.Kill}, nil))
	})
	if err := database.Restart("fsync=off"); err != nil {
		t.Fatal(err)
	}
	await(t, "the server does not read its database again", func() bool {
		code, needed, err := a.Accounts.SetupCode(t.Context())
		return err == nil && needed && code != ""
	})
}
