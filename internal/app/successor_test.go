package app

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

const successorDevices = 2*readFirst + 50

// unstarted is a node that takes and gives no shards by itself.
func unstarted(t *testing.T, database *pgtest.Server) *Node {
	t.Helper()
	peer, err := pgtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNode(t.Context(), Config{Logger: slog.New(slog.DiscardHandler), Serve: config.Serve{
		Data: t.TempDir(), Listen: "127.0.0.1:0", Store: database.URL("postgres"), HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: 5 * time.Second,
		ClusterListen: peer, ClusterURL: "http://" + peer, ClusterSecret: "a secret of the tests", ClusterShards: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// sendAll sends a reading of each device.
func sendAll(t *testing.T, a *App, workspace int64, at rimewatch.Time) error {
	t.Helper()
	inputs := make([]store.Input, 0, successorDevices)
	for i := range successorDevices {
		v, err := a.Store.Device(t.Context(), workspace, fmt.Sprint("D-", i))
		if err != nil {
			return err
		}
		in := store.Input{Kind: store.InputReading, DeviceID: v.ID}
		in.Reading.At = at
		in.Reading.Set(rimewatch.ProductZoneTemp, -20)
		inputs = append(inputs, in)
	}
	return a.Ingest.Submit(t.Context(), inputs, nil)
}

// TestHeir has a node read a shard while another serves it, and serve it when that one
// has let go: it knows every reading, and nothing that was not acknowledged.
func TestHeir(t *testing.T) {
	trial.NeedsAll(t)
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	ask := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first, second := unstarted(t, database), unstarted(t, database) // neither looks what the other does
	s, err := first.open(t.Context(), 0, 0)
	ask(err)
	owner := s.(*App)
	owner.registry.MustRegister(&telling{}) // as one that has notified somebody
	now := rimewatch.TimeOf(time.Now())
	w, err := owner.Accounts.FindWorkspace(t.Context(), "W", true, now)
	ask(err)
	send := func(a *App, at rimewatch.Time) { t.Helper(); ask(sendAll(t, a, w.ID, at)) }
	for i := range successorDevices {
		_, err := owner.Ingest.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: w.ID, Serial: fmt.Sprint("D-", i), Name: "D", EquipmentType: "walkin_freezer", OfflineAfterS: 86_400})
		ask(err)
	}
	send(owner, now-60_000)
	ask(owner.Store.Rest(t.Context())) // nothing is left for the background work
	send(owner, now-50_000)
	h, err := second.follow(t.Context(), 0, 1, owner.Moved())
	ask(err)
	send(owner, now-40_000) // it has not read this
	if second.Part(0) != nil {
		t.Error("it is served by two")
	}
	ask(owner.Stop())
	s, err = h.Serve(t.Context())
	ask(err)
	taken := s.(*App)
	t.Cleanup(func() { ask(taken.Stop()) })
	<-taken.Ingest.Loaded()
	v, err := taken.Store.Device(t.Context(), w.ID, "D-77")
	if err != nil || v.Latest.At != now-40_000 || v.Status != rimewatch.Online {
		t.Errorf("the device is %+v, %v", v, err)
	}
	if sum := taken.Ingest.Summary(w.ID); sum.OnlineDevices != successorDevices {
		t.Errorf("%d devices are online", sum.OnlineDevices)
	}
	send(taken, now-30_000)
	n := 0
	ask(taken.Store.Readings(t.Context(), store.HistoryQuery{DeviceID: v.ID, To: rimewatch.MaxTime, Limit: 100}, func(*rimewatch.Reading) error { n++; return nil }))
	if n != 4 {
		t.Errorf("%d readings, not 4", n)
	}
	// One that is not given the shard lets go of what it has read.
	if h, err = first.follow(t.Context(), 0, 2, taken.Moved()); err != nil {
		t.Fatal(err)
	}
	h.Drop()
	// And one that served it before, and whose metrics tell more than they did, gets it again.
	ask(taken.Stop())
	s, err = first.open(t.Context(), 0, 2)
	ask(err)
	ask(s.Stop())
}

// telling is a collector that tells more each time.
type telling struct{ times int }

// Describe implements prometheus.Collector.
func (c *telling) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *telling) Collect(ch chan<- prometheus.Metric) {
	c.times++
	for i := range c.times {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(fmt.Sprint("telling_", i), "", nil, nil), prometheus.GaugeValue, 1)
	}
}
