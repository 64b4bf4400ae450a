package shortpath

import (
	"net"
	"sync"
	"sync/atomic"
)

// Bound limits the connections of a listener that are open at a time, so that
// descriptors are left for everything else. A connection beyond the limit takes
// the place of one on which nothing moves, those that were never answered first.
// Where all are busy, the new one is closed. most ≤ 0 means no limit.
func Bound(l net.Listener, most int) net.Listener {
	if most <= 0 {
		return l
	}
	return &bounded{Listener: l, most: most, open: make(map[*boundedConn]struct{})}
}

type bounded struct {
	net.Listener
	most int

	mu     sync.Mutex
	opened uint64
	open   map[*boundedConn]struct{}
}

// boundedConn counts what happens on a connection.
type boundedConn struct {
	net.Conn
	l      *bounded
	number uint64        // of the newest connection when this one came or was seen to move; under l.mu
	read   atomic.Uint32 // reads and writes that have moved bytes
	wrote  atomic.Uint32
	seen   uint64 // of both when it was last looked at; under l.mu
}

// lookedAt is how many connections are looked at to find a silent one: all of them
// would take too long at the rate at which a stranger opens them.
const lookedAt = 32

// Accept implements net.Listener.
func (l *bounded) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &boundedConn{Conn: raw, l: l}
		victim, ok := l.add(c)
		if victim != nil {
			_ = victim.Close()
		}
		if ok {
			return c, nil
		}
		_ = raw.Close()
	}
}

// add makes room for a connection. It reports false where there is none.
func (l *bounded) add(c *boundedConn) (victim *boundedConn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		if victim = l.silent(); victim == nil {
			return nil, false
		}
		delete(l.open, victim)
	}
	l.opened++
	c.number = l.opened
	l.open[c] = struct{}{}
	return victim, true
}

// silent looks at some connections, in no order, and returns the one that has been
// still for longest; nil = none is. Time is counted in new connections, and one
// that was answered before is given a whole turn of all places more. Under mu.
func (l *bounded) silent() (victim *boundedConn) {
	looked, least := 0, uint64(0)
	for c := range l.open {
		read, wrote := c.read.Load(), c.wrote.Load()
		if moved := uint64(read)<<32 | uint64(wrote); moved != c.seen {
			c.seen, c.number = moved, l.opened
		} else {
			number := c.number
			if wrote > 0 {
				number += uint64(l.most)
			}
			if victim == nil || number < least {
				victim, least = c, number
			}
		}
		if looked++; looked == lookedAt {
			break
		}
	}
	return victim
}

// Read implements net.Conn.
func (c *boundedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.read.Add(1)
	}
	return n, err
}

// Write implements net.Conn.
func (c *boundedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.wrote.Add(1)
	}
	return n, err
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.l.mu.Lock()
	delete(c.l.open, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the side that writes.
func (c *boundedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
