package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestClusterFigures measures what the nodes cost and how long requests wait for them,
// on whatever program RIMEWATCH_E2E_BINARY names: one without the race detector, to
// mean anything.
func TestClusterFigures(t *testing.T) {
	trial.NeedsAll(t)
	faults(t)
	c := newCluster(t)
	c.execute("DROP FUNCTION guard CASCADE") // it costs time
	var direct, forwarded []time.Duration
	for workspace := range clusterWorkspaces {
		var byNode [][]time.Duration
		for node := range c.nodes {
			byNode = append(byNode, c.posts(workspace, node))
		}
		slices.SortFunc(byNode, func(a, b []time.Duration) int { return int(part(a, 50) - part(b, 50)) })
		direct = append(direct, byNode[0]...) // the owner's is the quickest
		forwarded = append(forwarded, slices.Concat(byNode[1:]...)...)
	}
	t.Logf("a POST, one at a time: to the owner %v median, %v p99; through another node %v, %v", part(direct, 50), part(direct, 99), part(forwarded, 50), part(forwarded, 99))
	c.compareRates()
	c.watch()
	var killed, stopped []time.Duration
	for round := range rounds(t) {
		node := round % clusterNodes
		killed = append(killed, c.waits(round+1, func() { c.nodes[node].p.kill() })...)
		c.restart(round)
		stopped = append(stopped, c.waits(round+1, func() { c.handOver(node) })...)
	}
	t.Logf("%d rounds: the longest that a request to a workspace waited: when a node was killed %v median, %v p99, %v longest; when one was stopped in order and started again %v, %v, %v",
		rounds(t), part(killed, 50), part(killed, 99), part(killed, 100), part(stopped, 50), part(stopped, 99), part(stopped, 100))
}

// What a socket on another node is sent meanwhile: readings a second, for how long.
const (
	watchBatch = 50
	watchEvery = 10 * time.Millisecond
	watchTime  = 4 * time.Second
)

// watch measures how long after it was sent a reading arrives at sockets of the same
// workspace, through each node.
func (c *cluster) watch() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), watchTime+5*time.Second)
	defer cancel()
	for i := range watchBatch {
		if _, err := c.client(c.devices[1], 0, nil).CreateDevice(ctx, fmt.Sprint("S-", i), client.DeviceFields{}); err != nil {
			c.t.Fatal(err)
		}
	}
	var mu sync.Mutex
	sent := make(map[rimewatch.Time]time.Time)
	took := make([][]time.Duration, clusterNodes)
	var open, ended sync.WaitGroup
	for i := range took {
		open.Add(1)
		opened := sync.OnceFunc(open.Done)
		ended.Go(func() {
			defer opened()
			for e, err := range c.client(c.devices[1], i, nil).Stream(ctx, client.Subscription{Channel: client.ChannelReadings}) {
				switch {
				case err != nil && ctx.Err() == nil:
					c.t.Errorf("a socket through node %d: %v", i, err)
				case e.Kind == client.Subscribed:
					opened()
				case e.Reading != nil:
					mu.Lock()
					if at, ok := sent[e.Reading.RecordedAt]; ok {
						took[i] = append(took[i], time.Since(at))
					}
					mu.Unlock()
				}
			}
		})
	}
	open.Wait()
	var posts sync.WaitGroup
	begun := time.Now()
	n := 0
	for tick := time.NewTicker(watchEvery); time.Since(begun) < watchTime; n++ {
		now := <-tick.C
		at := rimewatch.TimeOf(now)
		mu.Lock()
		sent[at] = time.Now()
		mu.Unlock()
		readings := make([]client.Reading, watchBatch)
		for i := range readings {
			readings[i] = client.Reading{DeviceSerial: fmt.Sprint("S-", i), RecordedAt: at, Measurements: client.Measurements{ProductZoneTemp: client.Value(3.0)}}
		}
		node := n
		posts.Go(func() {
			if _, err := c.client(c.devices[1], node, once).PostBatch(ctx, readings); err != nil {
				c.t.Error(err)
			}
		})
	}
	posts.Wait()
	rate := float64(n*watchBatch) / time.Since(begun).Seconds()
	cancel()
	ended.Wait()
	for i, list := range took {
		if len(list) == 0 {
			c.t.Fatalf("nothing arrived through node %d", i)
		}
		c.t.Logf("%.0f readings a second, sent through all nodes: at a socket of node %d %d of them, %v median, %v p99", rate, i, len(list), part(list, 50), part(list, 99))
	}
}

// part is the duration below which so many per cent lie.
func part(list []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(10 * time.Microsecond)
}

// posts posts readings for a workspace through a node, one after the other.
func (c *cluster) posts(workspace, node int) (took []time.Duration) {
	c.t.Helper()
	cl := c.client(c.devices[workspace], node, once)
	for range 100 {
		begun := time.Now()
		_, _, err := cl.PostReading(c.t.Context(), client.Reading{DeviceSerial: c.devices[workspace].serial, Measurements: client.Measurements{ProductZoneTemp: client.Value(3.0)}})
		if err != nil {
			c.t.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	return took
}

// Connections that post at the same time, and for how long.
const (
	rateConnections = 64
	rateTime        = time.Second // in which no device sends more than it may in a minute
)

// compareRates posts as fast as one can, to the owner of a workspace and through the
// other nodes.
func (c *cluster) compareRates() {
	c.t.Helper()
	best := make([]float64, clusterNodes) // of two turns
	for turn := range 2 * clusterNodes {
		node := turn % clusterNodes
		before := c.figures(c.nodes[node], figureForwarded)[figureForwarded]
		for i := range rateConnections {
			if _, err := c.client(c.devices[0], 0, nil).CreateDevice(c.t.Context(), fmt.Sprintf("R-%d-%d", turn, i), client.DeviceFields{}); err != nil {
				c.t.Fatal(err)
			}
		}
		rate := c.rate(node, turn)
		best[node] = max(best[node], rate)
		c.t.Logf("%d connections through node %d: %.0f POSTs a second, %.0f forwarded", rateConnections, node, rate, c.figures(c.nodes[node], figureForwarded)[figureForwarded]-before)
	}
	slices.Sort(best)
	c.t.Logf("through other nodes than the owner: %.2f and %.2f times its own rate", best[0]/best[2], best[1]/best[2])
}

// rate returns how many readings a second workspace 0 takes in through a node in a turn.
func (c *cluster) rate(node, turn int) float64 {
	c.t.Helper()
	address := strings.TrimPrefix(c.nodes[node].address(), "http://")
	var posts sync.WaitGroup
	var count atomic.Int64
	begun := time.Now()
	for i := range rateConnections {
		posts.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				c.t.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for n := 0; time.Since(begun) < rateTime; n++ {
				body := fmt.Sprintf(`{"device_serial":"R-%d-%d","product_zone_temp":%d.%d}`, turn, i, n%7, n%10)
				if _, err := fmt.Fprintf(conn, "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.tokens[0], len(body), body); err != nil {
					c.t.Error(err)
					return
				}
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					c.t.Error(err)
					return
				}
				text, _ := io.ReadAll(resp.Body)
				if resp.StatusCode != http.StatusCreated {
					c.t.Errorf("%s %s", resp.Status, text)
					return
				}
				count.Add(1)
			}
		})
	}
	posts.Wait()
	return float64(count.Load()) / time.Since(begun).Seconds()
}

// waits asks for all workspaces through a node while f runs, and returns the longest
// time that a request of each took. Every request is answered.
func (c *cluster) waits(node int, f func()) []time.Duration {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	longest := make([]time.Duration, clusterWorkspaces)
	var wg sync.WaitGroup
	for i := range longest {
		cl := c.client(c.devices[i], node, once)
		wg.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				if _, err := cl.Device(context.WithoutCancel(ctx), c.devices[i].serial); err != nil {
					c.t.Errorf("workspace %d: %v", i, err)
				}
				longest[i] = max(longest[i], time.Since(begun))
				time.Sleep(2 * time.Millisecond) //nolint:forbidigo // the load is not what is measured
			}
		})
	}
	time.Sleep(200 * time.Millisecond) //nolint:forbidigo // what is normal
	f()
	time.Sleep(time.Second) //nolint:forbidigo // until all is served again
	cancel()
	wg.Wait()
	return longest
}
