package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// openTrunk asks a node for a trunk by hand.
func openTrunk(t *testing.T, b *book, g *rig, secret, upgrade string) (conn net.Conn, status int) {
	t.Helper()
	conn, err := b.network.dial(t.Context(), "", strings.TrimPrefix(g.inner.url, "http://"))
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\nContent-Length: 0\r\n\r\n", pathTrunk, headerSecret, secret, upgrade)
	}
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return conn, resp.StatusCode
}

// TestTrunkRefuses: only nodes open trunks; and one on which something comes that is no
// group breaks, without an answer.
func TestTrunkRefuses(t *testing.T) { synctest.Test(t, testTrunkRefuses) }

func testTrunkRefuses(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	for _, tt := range []struct {
		secret, upgrade string
		want            int
	}{{"another", trunkProtocol, http.StatusForbidden}, {sharedSecret, "websocket", http.StatusUpgradeRequired}} {
		conn, status := openTrunk(t, b, x, tt.secret, tt.upgrade)
		if status != tt.want {
			t.Errorf("%q %q: %d, not %d", tt.secret, tt.upgrade, status, tt.want)
		}
		_ = conn.Close()
	}
	head := string(make([]byte, questionHead-4))
	for name, bad := range map[string]string{
		"too short":               "\x00\x00\x00\x01x",
		"too long":                "\xff\xff\xff\xff",
		"a part that breaks off":  "\x00\x00\x00\x15" + head + "\x02\x09no",
		"a part without a length": "\x00\x00\x00\x12" + head + "\x80",
	} {
		conn, status := openTrunk(t, b, x, sharedSecret, trunkProtocol)
		if status != http.StatusSwitchingProtocols {
			t.Fatal(status)
		}
		go func() { _, _ = io.WriteString(conn, bad) }() // it is closed before all is read
		if text, err := io.ReadAll(conn); err != nil || len(text) > 0 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		_ = conn.Close()
	}
}

// TestTrunkUnread: a node that does not read its answers holds up nobody who gives the
// shard away.
func TestTrunkUnread(t *testing.T) { synctest.Test(t, testTrunkUnread) }

func testTrunkUnread(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	conn, status := openTrunk(t, b, x, sharedSecret, trunkProtocol)
	defer conn.Close()
	if status != http.StatusSwitchingProtocols {
		t.Fatal(status)
	}
	frame := appendPart(make([]byte, questionHead), Part{At: b.now(), Data: []byte("x")})
	frame[3] = byte(len(frame) - 4)
	if _, err := conn.Write(frame); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // it is answered
	begun := time.Now()
	x.Leave()
	if took := time.Since(begun); took < lostAfter || took > 2*lostAfter {
		t.Errorf("the node left after %v", took)
	}
}
