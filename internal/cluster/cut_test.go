package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestCut cuts the network from one node to another that keeps its shards. What was
// under way ends, and nobody says of it that nothing was stored; what comes waits for a
// while and is told that nothing was; and once the network is whole, all is as before.
func TestCut(t *testing.T) { synctest.Test(t, testCut) }

func testCut(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	var shard int64
	var owner *service
	y.Each(func(number int64, s Service) { shard, owner = number, s.(*service) })
	healed, under := make(chan struct{}), make(chan struct{}, 3)
	owner.asked = func(store.Arrival) { under <- struct{}{}; <-healed }
	address := strings.TrimPrefix(y.inner.url, "http://")
	var answers sync.WaitGroup
	ask := func(method, query string, want int, message string) {
		answers.Go(func() {
			begun := time.Now()
			w := httptest.NewRecorder()
			x.ServeHTTP(w, httptest.NewRequest(method, fmt.Sprintf("/?workspace=%d%s", shard, query), strings.NewReader("body")))
			if w.Code != want || !strings.Contains(w.Body.String(), message) || (w.Header().Get("Retry-After") != "") != (want == http.StatusServiceUnavailable) {
				t.Errorf("%s %q: %d %v %s", method, query, w.Code, w.Header(), w.Body)
			}
			if took := time.Since(begun); took > patience+lookEvery {
				t.Errorf("%s %q took %v", method, query, took)
			}
		})
	}
	ask(http.MethodPost, "", http.StatusGatewayTimeout, "outcome_unknown")
	ask(http.MethodPost, "&readings", http.StatusServiceUnavailable, "may have been stored")
	ask(http.MethodGet, "", http.StatusServiceUnavailable, "cannot be reached")
	for range cap(under) {
		<-under
	}
	heal := b.network.cut(address)
	time.Sleep(lostAfter + 2*pingEvery)
	if n, m := x.Unreachable(), y.Unreachable(); n != 1 || m != 0 {
		t.Errorf("%d and %d nodes cannot be reached, not 1 and 0", n, m)
	}
	if y.Ready() != nil {
		t.Errorf("the node that cannot be reached is not ready: %v", y.Ready())
	}
	ask(http.MethodPost, "", http.StatusServiceUnavailable, "cannot be reached")
	answers.Wait()
	close(healed)
	heal()
	owner.asked = nil
	if status, answer := x.ask(int(shard), http.MethodPost, "body"); status != http.StatusOK || !strings.HasPrefix(answer, "y ") {
		t.Errorf("once the network is whole again: %d %s", status, answer)
	}
	if status, answer := y.ask(int(shard), http.MethodPost, "body"); status != http.StatusOK || b.owner(int(shard)) != "y" {
		t.Errorf("the node that could not be reached has lost its shard: %d %s", status, answer)
	}
}
