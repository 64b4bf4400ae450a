package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// readingEnd is how long a shard that is given away waits for requests that change
// nothing: exports take longer than others can wait.
const readingEnd = time.Second

// drop ends the service of a shard that is another's. That may take long, where
// requests are stuck in it: meanwhile the shard may be given to this node again. Under mu.
func (n *Node) drop(shard int64, own *held, why error) {
	if own.leaving {
		return
	}
	own.leaving = true
	delete(n.held, shard)
	n.Counts.Fenced.Add(1)
	n.log.Warn("a shard is not this node's any more", "shard", shard, "reason", why)
	n.work.Go(func() { n.stop(shard, own) })
}

// give hands a shard over to another node, which reads it before this one lets go of it.
// Under mu.
func (n *Node) give(shard int64, own *held, to string) {
	own.giving = true
	url := n.urlOf(to)
	n.work.Go(func() {
		if url != "" {
			n.announce(shard, own, url)
		}
		n.mu.Lock()
		dropped := own.leaving
		own.leaving = true
		n.mu.Unlock()
		if dropped {
			return
		}
		begun := time.Now()
		n.stop(shard, own)
		n.Counts.Given.Add(1)
		n.log.Info("gave a shard away", "shard", shard, "to", to, "ms", time.Since(begun).Milliseconds())
		n.poke(url)
	})
}

// stop lets running requests end and closes a shard.
func (n *Node) stop(shard int64, own *held) {
	own.service.DrainStreams()
	awaitAll(&own.reading, readingEnd)
	awaitAll(&own.writing, n.cfg.Drain)
	if err := own.service.Stop(); err != nil {
		n.log.Warn("close a shard", "shard", shard, "err", err)
	}
	n.mu.Lock()
	if n.held[shard] == own {
		delete(n.held, shard)
	}
	n.wakeWaiting()
	n.mu.Unlock()
}

// awaitAll waits for requests, for a while at most. Its goroutine stays until the last of
// them ends, as each does with its connection: nothing is left to do then.
func awaitAll(running *sync.WaitGroup, most time.Duration) {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// wakeWaiting wakes the requests that wait for a change of owners. Under mu.
func (n *Node) wakeWaiting() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// Leave hands all shards over. Requests that come nevertheless are brought to other
// nodes, until whoever sends them has seen that this node is not Ready any more: it is
// to go on taking them in until Leave returns, and until Stop.
func (n *Node) Leave() { n.left.Do(n.leave) }

func (n *Node) leave() {
	n.mu.Lock()
	n.leaving, n.leaveBy = true, time.Now().Add(n.cfg.Drain/2)
	n.mu.Unlock()
	if n.heard.Load() == nil || n.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.Drain+n.cfg.Drain/2+store.GoneAfter)
	defer cancel()
	_ = n.round(ctx, true)
	n.mu.Lock()
	for shard, own := range n.held { // where nobody else is there to take them
		if !own.giving && !own.leaving {
			n.give(shard, own, "")
		}
	}
	n.mu.Unlock()
	n.awaitEmpty(ctx)
	if _, members := n.Held(); members <= 1 {
		n.end() // no node is going to serve: requests need not wait
		return
	}
	t := time.NewTimer(n.cfg.Linger)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.ctx.Done():
	}
}

// Leaving reports whether this node gives its shards away because it is to end.
func (n *Node) Leaving() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leaving
}

// Stop ends the node, after Leave.
func (n *Node) Stop() {
	n.Leave()
	n.end()
	n.work.Wait()
	if n.heard.Load() != nil {
		ctx, cancel := context.WithTimeout(context.Background(), store.GoneAfter)
		defer cancel()
		if err := n.cfg.Database.Leave(ctx); err != nil {
			n.log.Warn("leave the cluster", "err", err)
		}
	}
	n.client.CloseIdleConnections()
}

// awaitEmpty waits until this node serves nothing.
func (n *Node) awaitEmpty(ctx context.Context) {
	for {
		n.mu.Lock()
		left, changed := len(n.held)+len(n.busy), n.changed
		n.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}
