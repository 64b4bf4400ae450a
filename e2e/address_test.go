package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

// freeAddress is an address that nobody listens on, for a server that has to be known
// by it before it runs, and is started there again. On Linux the host is one of
// 127.0.0.0/8 that nobody else uses: a port of 127.0.0.1 may be taken by any connection
// that goes out meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
