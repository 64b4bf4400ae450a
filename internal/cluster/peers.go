package cluster

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
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
	headerURI    = "X-Rimewatch-Cluster-Uri"    // of the client's request
	headerClient = "X-Rimewatch-Cluster-Client" // the client's address
	headerTLS    = "X-Rimewatch-Cluster-Tls"    // the client spoke TLS
	headerCame   = "X-Rimewatch-Cluster-Came"   // when the request was taken in, ms
	headerBroken = "X-Rimewatch-Cluster-Broken" // its body breaks off, and was to be so long
	headerName   = "X-Rimewatch-Cluster-Name"   // of an answer: the node's name
	headerMoved  = "X-Rimewatch-Cluster-Moved"  // of an answer: the shard is not here
)

// innerHeaders are those of requests.
var innerHeaders = []string{headerSecret, headerURI, headerClient, headerTLS, headerCame, headerBroken}

// Requests between nodes. A client's request comes on one of these paths whatever it
// asks for, so no client reaches another.
const (
	pathHold    = "/hold"
	pathPoke    = "/poke"
	pathPing    = "/ping"
	pathFollow  = "/follow"  // announces a shard that is to be given away
	pathForward = "/forward" // a client's request
)

// mostHolds bounds the connections that other nodes hold to this one: each node holds one,
// and a second for a moment when the first breaks.
const mostHolds = 1024

const (
	pingEvery = 500 * time.Millisecond
	// lostAfter is how long a member that does not answer counts as one that can be
	// reached.
	lostAfter = store.GoneAfter
	// reachFor is how long a node that starts waits until it can be reached: its name may
	// have to get around first.
	reachFor = 15 * time.Second
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
		if who, there := n.call(p.ctx, http.MethodGet, base+pathPing, lostAfter); there && who == name {
			heard = time.Now()
		} else if there {
			n.log.Error("the address of a node leads to another", "node", name, "url", base, "answers", who)
		}
		n.mu.Lock()
		switch lost := time.Since(heard) >= lostAfter; {
		case p.ctx.Err() != nil:
		case lost && p.link.Err() == nil:
			p.cut()
			n.log.Error("a node cannot be reached from this one: requests for its shards are answered 503", "node", name, "url", base)
			n.wakeWaiting()
		case !lost && p.link.Err() != nil:
			p.link, p.cut = context.WithCancel(p.ctx)
			n.log.Info("a node can be reached again", "node", name, "url", base)
			n.wakeWaiting()
		}
		n.mu.Unlock()
	}
}

// reachSelf reports why other nodes would not reach this one at its URL.
func (n *Node) reachSelf(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachFor)
	defer cancel()
	for {
		switch who, there := n.call(ctx, http.MethodGet, n.cfg.URL+pathPing, lostAfter); {
		case there && who == n.name:
			return nil
		case there:
			return fmt.Errorf("--cluster-url %s leads to the node %s, not to this one", n.cfg.URL, who)
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return fmt.Errorf("nobody answers at --cluster-url %s, where other nodes are to reach this one at --cluster-listen", n.cfg.URL)
		}
	}
}

// call makes a small request to another node. It returns the node's name, and whether the
// request was carried out.
func (n *Node) call(ctx context.Context, method, address string, patience time.Duration) (who string, there bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return "", false
	}
	r.Header.Set(headerSecret, n.cfg.Secret)
	resp, err := n.client.Do(r)
	if err != nil {
		return "", false
	}
	_ = resp.Body.Close()
	return resp.Header.Get(headerName), resp.StatusCode == http.StatusOK
}

// refused reports whether a node's address refuses connections.
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
			if err := n.cfg.Database.RemoveMember(ctx, name, m.Beat); err != nil {
				n.log.Warn("take a node off the list", "node", name, "err", err)
			}
		}
	}
	n.Wake()
}

// poke has another node look how things stand.
func (n *Node) poke(base string) {
	if base != "" {
		_, _ = n.call(n.ctx, http.MethodPost, base+pathPoke, time.Second)
	}
}

// Internal serves the requests of other nodes.
func (n *Node) Internal() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(headerSecret)), []byte(n.cfg.Secret)) != 1 {
			http.Error(w, "this address is for the nodes of the cluster", http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case pathHold:
			defer n.holds.Add(-1)
			if n.holds.Add(1) > mostHolds {
				http.Error(w, "too many nodes hold a connection to this one", http.StatusServiceUnavailable)
				return
			}
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
			w.Header().Set(headerName, n.name)
		case pathFollow:
			n.inherit(w, r)
		case pathTrunk:
			n.serveTrunk(w, r)
		case pathForward:
			n.forwarded(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}
