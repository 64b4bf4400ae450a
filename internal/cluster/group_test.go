package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestGrouped has many requests answered by another node: what comes while others
// are under way goes together, and everybody gets the answer to what he asked.
// When the node dies with them, whoever has the shard next is asked again, with the
// times at which they came.
func TestGrouped(t *testing.T) { synctest.Test(t, testGrouped) }

func testGrouped(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	const requests = groupsAtOnce*groupParts + 2
	var mu sync.Mutex
	var groups int
	died := make(chan struct{})
	slow := func(store.Arrival) {
		mu.Lock()
		groups++
		mu.Unlock()
		time.Sleep(time.Second)
	}
	shard := int64(0)
	y.Each(func(number int64, s Service) { shard = number; s.(*service).asked = slow })
	ask := func(owner string) (again int) {
		var answers sync.WaitGroup
		for i := range requests {
			answers.Go(func() {
				want := fmt.Sprintf("%s %d %d ", owner, i, b.now())
				var answer text
				status, _, refusal := x.Grouped(shard, fmt.Append(nil, i), &answer)
				sent, ok := strings.CutPrefix(string(answer), want)
				if status != 0 || !ok {
					t.Errorf("%d %s %q, not %q", status, refusal, answer, want)
				}
				if sent == "true" {
					mu.Lock()
					again++
					mu.Unlock()
				}
			})
		}
		answers.Wait()
		return again
	}
	if again := ask("y"); again != 0 {
		t.Errorf("%d requests are said to have been sent before", again)
	}
	if groups != groupsAtOnce+1 && groups != groupsAtOnce+2 { // the first with those that have come by then, the others as full as they may be
		t.Errorf("%d requests went in %d groups", requests, groups)
	}
	synctest.Wait() // a group is counted after its answers are handed out
	if n := x.Counts.Forwarded.Load(); n != requests {
		t.Errorf("%d were forwarded, not %d", n, requests)
	}
	y.Each(func(number int64, s Service) {
		s.(*service).asked = func(store.Arrival) { <-died }
	})
	go func() {
		time.Sleep(time.Second)
		y.inner.refuse()
		y.end()
	}()
	if again := ask("x"); again < groupsAtOnce || again == requests {
		t.Errorf("%d requests were sent again, not those that were under way", again)
	}
	close(died)
	y.die()
}

// TestGroupedGathers: what comes one shortly after the other, while as many groups are
// under way as may be, goes in one group.
func TestGroupedGathers(t *testing.T) { synctest.Test(t, testGroupedGathers) }

func testGroupedGathers(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	var groups atomic.Int64
	shard := int64(0)
	y.Each(func(number int64, s Service) {
		shard = number
		s.(*service).asked = func(store.Arrival) {
			groups.Add(1)
			time.Sleep(time.Second)
		}
	})
	var answers sync.WaitGroup
	for i := range 10 {
		answers.Go(func() {
			if status, _, _ := x.Grouped(shard, fmt.Append(nil, i), new(text)); status != 0 {
				t.Errorf("%d", status)
			}
		})
		time.Sleep(gatherFor / 20)
	}
	answers.Wait()
	if n := groups.Load(); n != groupsAtOnce+1 {
		t.Errorf("10 requests went in %d groups, not in one each and the rest", n)
	}
}

// TestGroupedHalves: those who send again whenever they are answered go in two halves,
// however they have begun. Nobody who sends once waits for long for those who have gone.
func TestGroupedHalves(t *testing.T) { synctest.Test(t, testGroupedHalves) }

func testGroupedHalves(t *testing.T) {
	const senders, times, takes = 10, 20, time.Second
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	var mu sync.Mutex
	var sizes []int
	shard := int64(0)
	y.Each(func(number int64, s Service) {
		shard = number
		s.(*service).grouped = func(size int) {
			mu.Lock()
			sizes = append(sizes, size)
			mu.Unlock()
			time.Sleep(takes)
		}
	})
	ask := func() time.Duration {
		begun := time.Now()
		if status, _, _ := x.Grouped(shard, []byte("request"), new(text)); status != 0 {
			t.Errorf("%d", status)
		}
		return time.Since(begun)
	}
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			for range times {
				time.Sleep(time.Duration(i+1) * gatherFor / senders / 2) // one after the other, and soon
				ask()
			}
		})
	}
	all.Wait()
	if i := slices.Index(sizes, senders/2); i < 0 || i > 8 || len(sizes) < 2*times-4 || slices.ContainsFunc(sizes[8:2*times-4], func(size int) bool { return size != senders/2 }) {
		t.Errorf("the groups are of %v, not of %d soon", sizes, senders/2)
	}
	if took := ask(); took > takes+gatherFor {
		t.Errorf("one who sends after them is answered after %v", took)
	}
	if took := ask(); took != takes {
		t.Errorf("and then after %v", took)
	}
}

// TestGroupedNobody: whoever is not answered in time is told so, and nobody waits
// longer because others waited before.
func TestGroupedNobody(t *testing.T) { synctest.Test(t, testGroupedNobody) }

func testGroupedNobody(t *testing.T) {
	b := newBook()
	b.aside[1] = true
	x := join(t, b, "x", 0)
	var answers sync.WaitGroup
	for range 10 {
		answers.Go(func() {
			begun := time.Now()
			status, header, body := x.Grouped(1, []byte("request"), new(text))
			if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" || !strings.Contains(string(body), "unavailable") {
				t.Errorf("%d %v %s", status, header, body)
			}
			if took := time.Since(begun); took < patience || took > patience+lookEvery {
				t.Errorf("it waited %v", took)
			}
		})
	}
	answers.Wait()
	if n := x.waiting.Load(); n != 0 {
		t.Errorf("%d bytes seem to wait", n)
	}
}
