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

// openLane asks a node for a lane by hand.
func openLane(t *testing.T, b *book, g *rig, secret, upgrade string) (conn net.Conn, status int) {
	t.Helper()
	conn, err := b.network.dial(t.Context(), "", strings.TrimPrefix(g.inner.url, "http://"))
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\nContent-Length: 0\r\n\r\n", pathLane, headerSecret, secret, upgrade)
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

// TestLaneRefuses: only nodes open lanes; and one on which something comes that is no
// group breaks, without an answer.
func TestLaneRefuses(t *testing.T) { synctest.Test(t, testLaneRefuses) }

func testLaneRefuses(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	for _, tt := range []struct {
		secret, upgrade string
		want            int
	}{{"another", laneProtocol, http.StatusForbidden}, {sharedSecret, "websocket", http.StatusUpgradeRequired}} {
		conn, status := openLane(t, b, x, tt.secret, tt.upgrade)
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
		conn, status := openLane(t, b, x, sharedSecret, laneProtocol)
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

// TestLaneUnread: a node that does not read its answers holds up nobody who gives the
// shard away.
func TestLaneUnread(t *testing.T) { synctest.Test(t, testLaneUnread) }

func testLaneUnread(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	conn, status := openLane(t, b, x, sharedSecret, laneProtocol)
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
