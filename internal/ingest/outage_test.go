package ingest_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
)

// opened counts the alerts that each commit opened.
type opened struct {
	mu      sync.Mutex
	commits []int
}

func (o *opened) Publish(p *publish.Commit) {
	n := 0
	for _, e := range p.Alerts {
		if e.Kind == publish.AlertOpened {
			n++
		}
	}
	if n > 0 {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.commits = append(o.commits, n)
	}
}

// TestMassOutage: when thousands of devices fall silent in the same moment their
// alerts come in several commits, so that a reading of somebody else waits for one of
// them and not for all.
func TestMassOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const devices, slice = 4500, 2000
		r := newRig(t)
		defer func() { r.close() }()
		o := &opened{}
		r.heard = o
		ids := make([]int64, devices)
		var made sync.WaitGroup
		for i := range ids {
			made.Go(func() { ids[i] = r.device(fmt.Sprintf("D%d", i), "other") })
		}
		made.Wait()
		batch := make([]store.Input, devices)
		for i, id := range ids {
			batch[i] = store.Input{Kind: store.InputReading, DeviceID: id}
			batch[i].Reading.At = r.now()
			batch[i].Reading.Set(rimewatch.ProductZoneTemp, -20)
		}
		if err := r.in.Submit(t.Context(), batch, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		o.mu.Lock()
		defer o.mu.Unlock()
		all := 0
		for _, n := range o.commits {
			if all += n; n > slice {
				t.Errorf("%d alerts in one commit", n)
			}
		}
		if all != devices {
			t.Errorf("%d alerts of %d silent devices, in commits of %v", all, devices, o.commits)
		}
	})
}
