package shortpath

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestBound: silent connections give way to new ones, busy ones do not, and all
// places are free again in the end.
func TestBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(trial.Seed(t), 1))
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 20
	l := Bound(raw, most).(*bounded)
	served, accepted := make(chan struct{}), make(chan struct{})
	go func() { // an echo of lines
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", raw.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		<-accepted // or two would come at once for the listener, and who is busy would have had no time to show it
		return c
	}
	echo := func(c net.Conn) error {
		_ = c.SetDeadline(time.Now().Add(10 * time.Minute))
		if _, err := c.Write([]byte("x\n")); err != nil {
			return err
		}
		_, err := bufio.NewReader(c).ReadString('\n')
		return err
	}
	var busy []net.Conn
	for range 1 + rnd.IntN(most-1) {
		c := dial()
		if err := echo(c); err != nil {
			t.Fatal(err)
		}
		busy = append(busy, c)
	}
	var silent []net.Conn
	for range 3 * most {
		silent = append(silent, dial())
		for _, c := range busy { // between any two looks
			if err := echo(c); err != nil {
				t.Fatalf("a busy connection was closed beside %d silent ones: %v", len(silent), err)
			}
		}
	}
	if err := echo(dial()); err != nil {
		t.Errorf("a new client does not get in: %v", err)
	}
	closed := 0
	for _, c := range silent {
		if echo(c) != nil {
			closed++
		}
	}
	if want := 3*most - (most - len(busy)); closed < want || closed > want+1 {
		t.Errorf("%d of %d silent connections were closed beside %d busy ones, want about %d", closed, len(silent), len(busy), want)
	}
	for _, c := range append(busy, silent...) {
		_ = c.Close()
	}
	_ = l.Close()
	<-served
}

// TestBoundOfBusyOnes: where everybody works a new connection is refused, and the
// place of one that has ended is taken.
func TestBoundOfBusyOnes(t *testing.T) {
	l := &bounded{most: 2, open: make(map[*boundedConn]struct{})}
	mine, theirs := net.Pipe()
	defer theirs.Close()
	conns := []*boundedConn{{Conn: mine, l: l}, {l: l}}
	for _, c := range conns {
		if victim, ok := l.add(c); victim != nil || !ok {
			t.Fatal("there was room")
		}
		c.read.Add(1)
	}
	if victim, ok := l.add(&boundedConn{l: l}); victim != nil || ok {
		t.Error("a busy connection was closed")
	}
	conns[0].wrote.Add(1) // an answer that takes long
	next := &boundedConn{l: l}
	if victim, ok := l.add(next); victim != conns[1] || !ok {
		t.Error("the one on which nothing moved was not closed")
	}
	next.read.Add(1)
	_ = conns[0].Close()
	if victim, ok := l.add(&boundedConn{l: l}); victim != nil || !ok {
		t.Error("the place was not free again")
	}
}
