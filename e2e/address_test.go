package e2e

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

// freeAddress is an address for a server that is started there again and again.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := pgtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
