package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Post is a plain POST; the answer has the node, the request and when it came.
func (s *service) Post(came rimewatch.Time, request, b []byte) []byte {
	if s.asked != nil {
		s.asked(store.Arrival{At: came})
	}
	return fmt.Appendf(b, "%s %s %d", s.v.name, request, came)
}

func always() bool { return true }

func never() bool { return false }

// aShardOf is one that a node serves.
func aShardOf(g *rig) (shard int64, s *service) {
	g.Each(func(number int64, x Service) { shard, s = number, x.(*service) })
	return shard, s
}

// TestPost has many plain POSTs answered by another node: everybody gets the answer to what
// he asked, and hears who gave it. When the node dies with them, those that are stored once
// although they are sent twice are sent to whoever has the shard next, with the times at
// which they came; whoever sends another is told that it may be stored.
func TestPost(t *testing.T) { synctest.Test(t, testPost) }

func testPost(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	shard, owner := aShardOf(y)
	const requests = 200
	var lost atomic.Int64
	ask := func(by *rig, timed func() bool) {
		var answers sync.WaitGroup
		for i := range requests {
			answers.Go(func() {
				request := fmt.Sprint(shard, " number ", i)
				want := fmt.Sprintf("%s %s %d", by.name, request, b.now())
				answer, host, err := x.Post(shard, []byte(request), timed)
				switch {
				case err != nil && rimewatch.CodeOf(err) == rimewatch.CodeUnavailable && strings.Contains(err.Error(), "may have been stored"):
					lost.Add(1)
				case err != nil || string(answer) != want || host != by.Host():
					t.Errorf("%q by %s, %v; not %q", answer, host, err, want)
				}
			})
		}
		answers.Wait()
	}
	ask(y, never)
	if n := x.Counts.Forwarded.Load(); n != requests || lost.Load() != 0 {
		t.Errorf("%d of %d were passed on, %d lost", n, requests, lost.Load())
	}
	died := make(chan struct{})
	owner.asked = func(store.Arrival) { <-died }
	go func() {
		time.Sleep(time.Second)
		y.inner.refuse()
		y.end()
	}()
	var all sync.WaitGroup
	all.Go(func() { ask(x, never) })
	all.Go(func() { ask(x, always) })
	all.Wait()
	if lost.Load() != requests {
		t.Errorf("%d of %d that were under way are lost", lost.Load(), requests)
	}
	close(died)
	y.die()
	if n := x.waiting.Load(); n != 0 {
		t.Errorf("%d bytes seem to wait", n)
	}
}

// TestPostReset breaks the trunk between two nodes that go on: what is stored once is sent
// again at once, whoever sends anything else is told at once, and the next goes through.
func TestPostReset(t *testing.T) { synctest.Test(t, testPostReset) }

func testPostReset(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	shard, owner := aShardOf(y)
	for _, timed := range []bool{true, false, true} {
		begun, asked := time.Now(), 0
		owner.asked = func(store.Arrival) {
			if asked++; asked == 1 {
				b.network.reset(strings.TrimPrefix(y.inner.url, "http://"))
			}
		}
		_, _, err := x.Post(shard, fmt.Append(nil, shard), func() bool { return timed })
		if took := time.Since(begun); took > 0 || timed != (err == nil) || timed != (asked == 2) {
			t.Errorf("timed: %v: %v after %v, asked %d times", timed, err, took, asked)
		}
		if _, _, err := x.Post(shard, fmt.Append(nil, shard), never); err != nil {
			t.Errorf("the next: %v", err)
		}
	}
}

// TestPostNobody: whoever is not answered in time is told so.
func TestPostNobody(t *testing.T) { synctest.Test(t, testPostNobody) }

func testPostNobody(t *testing.T) {
	b := newBook()
	b.aside[1] = true
	x := join(t, b, "x", 0)
	begun := time.Now()
	_, _, err := x.Post(1, []byte("1"), always)
	var e *rimewatch.Error
	if !errors.As(err, &e) || e.Code != rimewatch.CodeUnavailable || e.RetryAfter != time.Second {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took < patience || took > patience+lookEvery {
		t.Errorf("it waited %v", took)
	}
}

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

// questionOf is a frame with a request.
func questionOf(request string) []byte {
	frame := append(make([]byte, questionHead), request...)
	frame[3] = byte(len(frame) - 4)
	return frame
}

// TestTrunkRefuses: only nodes open trunks; one on which something comes that is no question
// breaks without an answer; and of a workspace that is another's a node says so.
func TestTrunkRefuses(t *testing.T) { synctest.Test(t, testTrunkRefuses) }

func testTrunkRefuses(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
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
	for name, bad := range map[string]string{"too short": "\x00\x00\x00\x01x", "too long": "\x00\x01\x00\x01"} {
		conn, _ := openTrunk(t, b, x, sharedSecret, trunkProtocol)
		go func() { _, _ = io.WriteString(conn, bad) }() // it is closed before all is read
		if text, err := io.ReadAll(conn); err != nil || len(text) > 0 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		_ = conn.Close()
	}
	shard, _ := aShardOf(y)
	conn, _ := openTrunk(t, b, x, sharedSecret, trunkProtocol)
	defer conn.Close()
	for _, request := range []string{fmt.Sprint(shard), "whose is this"} {
		go func() { _, _ = conn.Write(questionOf(request)) }()
		answer := make([]byte, answerHead)
		if _, err := io.ReadFull(conn, answer); err != nil || answer[answerHead-1] != 0 {
			t.Errorf("%q is answered %v, %v", request, answer, err)
		}
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
	if _, err := conn.Write(questionOf("1")); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // it is answered
	begun := time.Now()
	x.Leave()
	if took := time.Since(begun); took < lostAfter || took > 2*lostAfter {
		t.Errorf("the node left after %v", took)
	}
}
