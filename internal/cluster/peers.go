package cluster

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Headers between nodes. Only the internal listener believes them, from those who
// know the secret.
const (
	headerSecret = "X-Rimewatch-Cluster-Secret"
	headerShard  = "X-Rimewatch-Cluster-Shard"
	headerClient = "X-Rimewatch-Cluster-Client" // the client's address
	headerTLS    = "X-Rimewatch-Cluster-Tls"    // the client spoke TLS
	headerCame   = "X-Rimewatch-Cluster-Came"   // when the request was taken in, ms
	headerAgain  = "X-Rimewatch-Cluster-Again"  // it was sent to a node that is gone
	headerGroup  = "X-Rimewatch-Cluster-Group"  // it consists of several
	headerMoved  = "X-Rimewatch-Cluster-Moved"  // of an answer: the shard is not here
)

const (
	pathHold = "/cluster/hold"
	pathPoke = "/cluster/poke"
)

// watchMembers keeps a connection to every other member: it breaks when the process
// ends. Under mu.
func (n *Node) watchMembers() {
	there := make(map[string]bool)
	for i := range n.view.Members {
		m := &n.view.Members[i]
		if m.Name == n.name || m.URL == "" {
			continue
		}
		there[m.Name] = true
		p, known := n.members[m.Name]
		if !known {
			p.ctx, p.cancel = context.WithCancel(n.ctx)
			n.work.Go(func() { n.hold(p.ctx, m.Name, m.URL) })
		}
		p.leaving = m.Leaving
		n.members[m.Name] = p
	}
	for name, p := range n.members {
		switch {
		case there[name]:
			continue
		case p.leaving: // it says of every request on its way that the shard is not there
			time.AfterFunc(2*lookEvery, p.cancel)
		default:
			p.cancel()
		}
		delete(n.members, name)
	}
}

// hold holds a connection to a member. One that breaks and is refused again says
// that the process is gone.
func (n *Node) hold(ctx context.Context, name, base string) {
	for ctx.Err() == nil {
		n.holdOnce(ctx, base)
		if ctx.Err() != nil {
			return
		}
		if n.refused(ctx, base) {
			n.bury(ctx, name)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (n *Node) holdOnce(ctx context.Context, base string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+pathHold, nil)
	if err != nil {
		return
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	resp, err := n.client.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// refused reports whether nobody listens where a node did.
func (n *Node) refused(ctx context.Context, base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := n.cfg.Dial(ctx, "tcp", u.Host)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// bury takes a member that is gone off the list.
func (n *Node) bury(ctx context.Context, name string) {
	v, err := n.cfg.Database.Look(ctx)
	if err != nil {
		return
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == name {
			n.log.Warn("a node is gone: its shards are taken over", "node", name)
			if err := n.cfg.Database.Bury(ctx, name, m.Beat); err != nil {
				n.log.Warn("take a node off the list", "node", name, "err", err)
			}
		}
	}
	n.Wake()
}

// poke has another node look how things stand.
func (n *Node) poke(base string) {
	if base == "" {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+pathPoke, nil)
	if err != nil {
		return
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	if resp, err := n.client.Do(r); err == nil {
		_ = resp.Body.Close()
	}
}

// Internal serves what other nodes ask for.
func (n *Node) Internal() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(headerSecret)), []byte(n.cfg.Secret)) != 1 {
			http.Error(w, "this address is for the nodes of the cluster", http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case pathHold:
			control := http.NewResponseController(w)
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.SetReadDeadline(time.Time{})
			w.WriteHeader(http.StatusOK)
			_ = control.Flush()
			select {
			case <-r.Context().Done():
			case <-n.ctx.Done():
			}
		case pathPoke:
			n.Wake()
		default:
			n.forwarded(w, r)
		}
	})
}
