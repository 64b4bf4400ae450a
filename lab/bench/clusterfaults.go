package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	faultRounds = 6
	probeEvery  = 2 * time.Millisecond
	settled     = time.Second // of quiet before and after
)

// probe is what one sender saw that posts to a workspace again and again.
type probe struct {
	mu      sync.Mutex
	answers []answer
	failed  []string
}

type answer struct{ sent, done time.Time }

// last is when the last request was sent that was acknowledged.
func (p *probe) last() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) == 0 {
		return time.Time{}
	}
	return p.answers[len(p.answers)-1].sent
}

// gap is the longest time between a request and its answer.
func (p *probe) gap() (worst time.Duration) {
	for _, a := range p.answers {
		worst = max(worst, a.done.Sub(a.sent))
	}
	return worst
}

// after is how long after a moment what was sent then was first acknowledged.
func (p *probe) after(t time.Time) time.Duration {
	for _, a := range p.answers {
		if a.sent.After(t) {
			return a.done.Sub(t)
		}
	}
	return time.Hour // never
}

// probing posts to shards through a node, one after the other each, while f runs, for a
// moment before, and until what was sent a moment after is answered.
func (c *nodes) probing(through int, shards []int, f func() error) ([]*probe, error) {
	ctx, cancel := context.WithCancel(context.Background())
	list := make([]*probe, len(shards))
	var all sync.WaitGroup
	for i, shard := range shards {
		p := &probe{}
		list[i] = p
		all.Go(func() { p.run(ctx, c.at(through, shard)) })
	}
	time.Sleep(settled)
	err := f()
	done := time.Now().Add(settled)
	for time.Since(done) < clusterHold && slices.ContainsFunc(list, func(p *probe) bool { return !p.last().After(done) }) {
		time.Sleep(probeEvery)
	}
	cancel()
	all.Wait()
	return list, err
}

func (p *probe) run(ctx context.Context, s *server) {
	next := single(s.token)
	var to *conn
	for n := 0; ctx.Err() == nil; n++ {
		sent := time.Now()
		var err error
		if to == nil {
			to, err = dial(s.addr)
		}
		status := 0
		if err == nil {
			to.buf = next(0, n, to.buf[:0])
			status, err = to.do(to.buf, nil)
		}
		p.mu.Lock()
		switch {
		case err != nil:
			p.failed = append(p.failed, err.Error())
			to = nil
		case status != 201 && status != 200: // one that was sent again may have been stored
			p.failed = append(p.failed, fmt.Sprintf("%d: %.80s", status, to.refusal))
		default:
			p.answers = append(p.answers, answer{sent, time.Now()})
		}
		p.mu.Unlock()
		time.Sleep(probeEvery)
	}
	if to != nil {
		_ = to.c.Close()
	}
}

// of returns the shards of a node.
func of(owner []int, node int) (shards []int) {
	for shard, n := range owner {
		if n == node {
			shards = append(shards, shard)
		}
	}
	return shards
}

// rounds does something to one node after the other while its shards are posted to
// through the next, and hands over what the senders saw, and when it was begun.
func (c *nodes) rounds(f func(node int, shards []int) error, saw func(list []*probe, began time.Time)) error {
	for round := range faultRounds {
		owner, err := c.balanced()
		if err != nil {
			return err
		}
		node := round % clusterNodes
		shards := of(owner, node)
		var began time.Time
		list, err := c.probing((node+1)%clusterNodes, shards, func() error {
			began = time.Now()
			return f(node, shards)
		})
		if err != nil {
			return err
		}
		saw(list, began)
	}
	return nil
}

// taken waits until other nodes have the shards of a node.
func (c *nodes) taken(node int, shards []int) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		owner, err := c.owners()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(shards, func(shard int) bool { return owner[shard] < 0 || owner[shard] == node }) {
			return nil
		}
	}
	return errors.New("nobody takes the shards over")
}

// restart starts a node again in its place.
func (c *nodes) restart(node int) error {
	s, err := c.node(node)
	if err == nil {
		c.list[node] = s
	}
	return err
}

// killed is how long the shards of a node are not served that is killed.
func (c *nodes) killed() error {
	return c.outage("a node killed", "p99 < 1 s", time.Second, func(node int, shards []int) error {
		c.list[node].kill()
		if err := c.taken(node, shards); err != nil {
			return err
		}
		return c.restart(node)
	})
}

// paused is the same of one that is frozen, and wakes.
func (c *nodes) paused() error {
	return c.outage("a node frozen", "p99 < 5 s", 5*time.Second, func(node int, shards []int) error {
		c.list[node].pause(true)
		defer c.list[node].pause(false)
		return c.taken(node, shards)
	})
}

func (c *nodes) outage(name, goal string, limit time.Duration, f func(node int, shards []int) error) error {
	var served result
	var failed []string
	err := c.rounds(f, func(list []*probe, began time.Time) {
		for _, p := range list {
			served.times = append(served.times, p.after(began))
			failed = append(failed, p.failed...)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(served.times)
	row(fmt.Sprintf("%s: its %d shards served again, p50 / p99", name, len(served.times)), fmt.Sprintf("%.2f / %.2f s", served.quantile(.5).Seconds(), served.quantile(.99).Seconds()), goal, served.quantile(.99) < limit)
	refusals(failed, "", true)
	return nil
}

// refusals prints how many requests failed, and how.
func refusals(failed []string, goal string, ok bool) {
	row("  requests that failed", fmt.Sprint(len(failed)), goal, ok)
	slices.Sort(failed)
	for _, text := range slices.Compact(failed) {
		row("    "+text, "", "", true)
	}
}

// planned stops nodes in order: nobody's request fails.
func (c *nodes) planned() error {
	var gaps result
	var failed []string
	err := c.rounds(func(node int, shards []int) error {
		s := c.list[node]
		if err := s.stop(); err != nil {
			return err
		}
		return c.restart(node)
	}, func(list []*probe, _ time.Time) {
		for _, p := range list {
			gaps.times = append(gaps.times, p.gap())
			failed = append(failed, p.failed...)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(gaps.times)
	row(fmt.Sprintf("a node stopped in order: %d shards, longest request p50 / worst", len(gaps.times)), fmt.Sprintf("%.0f / %.0f ms", ms(gaps.quantile(.5)), ms(gaps.quantile(1))), "< 300 ms", gaps.quantile(1) < 300*time.Millisecond)
	refusals(failed, "0", len(failed) == 0)
	return nil
}
