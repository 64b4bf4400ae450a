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

	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
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
	headerBroken = "X-Rimewatch-Cluster-Broken" // its body breaks off, and was to be so long
	headerMoved  = "X-Rimewatch-Cluster-Moved"  // of an answer: the shard is not here
)

const (
	pathHold = "/cluster/hold"
	pathPoke = "/cluster/poke"
	pathPing = "/cluster/ping"
	// pathFollow announces a shard that is to be given away.
	pathFollow = "/cluster/follow"
)

const (
	pingEvery = 500 * time.Millisecond
	// lostAfter is how long a member that does not answer counts as one that can be
	// reached.
	lostAfter = store.GoneAfter
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
			p = &peer{}
			p.ctx, p.cancel = context.WithCancel(n.ctx)
			p.link, p.cut = context.WithCancel(p.ctx)
			n.members[m.Name] = p
			n.work.Go(func() { n.hold(p.ctx, m.Name, m.URL) })
			n.work.Go(func() { n.ping(p, m.Name, m.URL) })
		}
		p.leaving = m.Leaving
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

// ping asks a member again and again whether it is there. When there is no answer for
// lostAfter, the requests that are on their way to it end, and others wait: it may be
// alive, and keep its shards, where only the network between the two is cut.
func (n *Node) ping(p *peer, name, base string) {
	heard := time.Now()
	for range ticker.Every(p.ctx.Done(), pingEvery, nil) {
		if n.call(p.ctx, http.MethodGet, base+pathPing, lostAfter) {
			heard = time.Now()
		}
		n.mu.Lock()
		switch lost := time.Since(heard) >= lostAfter; {
		case p.ctx.Err() != nil:
		case lost && p.link.Err() == nil:
			p.cut()
			n.log.Error("a node cannot be reached from this one: requests for its shards are answered 503", "node", name, "url", base)
			n.tell()
		case !lost && p.link.Err() != nil:
			p.link, p.cut = context.WithCancel(p.ctx)
			n.log.Info("a node can be reached again", "node", name, "url", base)
			n.tell()
		}
		n.mu.Unlock()
	}
}

// call makes a small request to another node and reports whether it was carried out.
func (n *Node) call(ctx context.Context, method, address string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return false
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	resp, err := n.client.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
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
	if base != "" {
		_ = n.call(n.ctx, http.MethodPost, base+pathPoke, time.Second)
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
		case pathPing:
		case pathFollow:
			n.inherit(w, r)
		case pathTrunk:
			n.serveTrunk(w, r)
		default:
			n.forwarded(w, r)
		}
	})
}
