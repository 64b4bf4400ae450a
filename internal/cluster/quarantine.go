package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	// mostFailures is how often a shard may fail to open, at any nodes, before it is
	// quarantined.
	mostFailures = 3
	// tryAgain is how long a node leaves a shard alone that it could not open, for each
	// time that it could not.
	tryAgain = time.Second
	// quarantineFor is how long all nodes leave a shard alone that is quarantined: opening
	// it costs a node work that the other shards need, and what is broken seldom mends itself.
	quarantineFor = time.Minute
	// servedFor is how long a node has a shard that it can serve: what failed before does
	// not count any more.
	servedFor = 10 * time.Second
	// mostReason bounds the text of a failure, in bytes.
	mostReason = 300
)

// fault is a shard that this node could not open.
type fault struct {
	store.Failure
	last time.Time
}

// trials are how often the nodes failed to open a shard.
type trials struct {
	failures int       // of all nodes
	before   int       // those of them after which a node served it
	since    time.Time // of the last of them
	open     bool      // a node has it
}

// quarantined reports whether the shard is left alone.
func (t *trials) quarantined() bool { return !t.open && t.failures-t.before >= mostFailures }

// failed notes that a shard could not be opened, unless that says nothing about the shard:
// another node was quicker, or the database cannot be used. Under mu.
func (n *Node) failed(shard int64, err error) {
	if errors.Is(err, store.ErrTaken) || rimewatch.CodeOf(err) == rimewatch.CodeUnavailable || n.ctx.Err() != nil {
		return
	}
	f := n.faults[shard]
	if f == nil {
		f = &fault{Failure: store.Failure{Shard: shard}}
		n.faults[shard] = f
	}
	f.Times, f.last, f.Why = f.Times+1, time.Now(), err.Error()
	f.Why = f.Why[:min(len(f.Why), mostReason)]
	n.news.Store(true)
	n.Wake()
}

// failures are told to the other nodes: the plan of all of them follows from that. Under mu.
func (n *Node) failures() (list []store.Failure) {
	for _, f := range n.faults {
		list = append(list, f.Failure)
	}
	return list
}

// mayTry reports whether this node may open a shard now: what it could not open before, it
// leaves to others until they know, and for a while if there are none. Under mu.
func (n *Node) mayTry(v *store.ClusterState, shard int64) bool {
	if t := n.trials[shard]; t != nil && t.quarantined() && time.Since(t.since) < quarantineFor {
		return false
	}
	f := n.faults[shard]
	if f == nil {
		return true
	}
	told := 0
	for i := range v.Members {
		if m := &v.Members[i]; m.Name == n.name {
			told = m.FailedAt(shard).Times
		}
	}
	return told >= f.Times && time.Since(f.last) >= tryAgain*time.Duration(min(f.Times, mostFailures))
}

// watchFailures notes how often shards could not be opened. Under mu.
func (n *Node) watchFailures(v *store.ClusterState) {
	for i := range v.Holdings {
		h := &v.Holdings[i]
		failures, why := v.Failures(h.Shard)
		if failures == 0 {
			delete(n.trials, h.Shard)
			continue
		}
		t := n.trials[h.Shard]
		if t == nil {
			t = &trials{}
			n.trials[h.Shard] = t
		}
		if t.before = min(t.before, failures); h.Open && v.Now.Sub(h.Since) >= servedFor {
			t.before = failures
		}
		t.open = h.Open
		if failures == t.failures {
			continue
		}
		if t.failures, t.since = failures, time.Now(); t.quarantined() {
			n.log.Error("a shard is quarantined: its workspaces are not served, all others are", "shard", h.Shard, "failures", failures, "reason", why)
		}
	}
}

// Quarantined returns how many shards no node could open.
func (n *Node) Quarantined() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.trials {
		if t.quarantined() {
			count++
		}
	}
	return count
}

// inQuarantine returns the error of a request for a shard that is quarantined, nil for
// others: nobody waits for such a shard.
func (n *Node) inQuarantine(shard int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.trials[shard]
	if t == nil || !t.quarantined() {
		return nil
	}
	e := rimewatch.Wrap(rimewatch.CodeUnavailable, fmt.Errorf("shard %d is quarantined", shard), "The data of the workspace cannot be opened at the moment. The operator of the service has been told.")
	e.RetryAfter = max(quarantineFor-time.Since(t.since), time.Second)
	return e
}
