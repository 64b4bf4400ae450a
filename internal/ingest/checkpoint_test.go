package ingest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestCheckpointInputs: states that lag far behind are written before they are old, so
// that whoever takes a shard over after a heavy load has little to replay.
func TestCheckpointInputs(t *testing.T) {
	for _, tt := range []struct {
		devices, readings int // of each device
		written           bool
	}{
		{2, 45, false},
		{2, 55, true},
		{10, 25, false}, // thirty for each device
		{10, 32, true},
	} {
		t.Run(fmt.Sprint(tt.devices, " devices, ", tt.readings, " readings"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer func() { r.close() }()
				r.lag = 100
				r.crash()
				var ids []int64
				for i := range tt.devices {
					ids = append(ids, r.device(fmt.Sprint("D-", i), "walkin_freezer"))
				}
				for i := range tt.readings {
					for _, id := range ids {
						r.send(id, r.now().Add(time.Duration(i)*time.Millisecond), -20)
					}
				}
				time.Sleep(2 * time.Second) // far less than a state may be old
				states := 0
				if err := r.s.Checkpoints(t.Context(), ids, func(store.Checkpoint) error { states++; return nil }); err != nil {
					t.Fatal(err)
				}
				if want := map[bool]int{true: tt.devices}[tt.written]; states != want {
					t.Errorf("%d states are written, not %d", states, want)
				}
			})
		})
	}
}

// TestCheckpointPace: a fleet that has reported in one moment is not written in one.
func TestCheckpointPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		var ids []int64
		for i := range 2500 {
			ids = append(ids, r.device(fmt.Sprint("D-", i), "walkin_freezer"))
		}
		for _, id := range ids {
			r.send(id, r.now(), -20)
		}
		written := func() (n int) {
			if err := r.s.Checkpoints(t.Context(), ids, func(store.Checkpoint) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(119*time.Second + 500*time.Millisecond) // between two ticks: at one, part of it is written
		last := written()
		var steps []int
		for range 6 {
			time.Sleep(time.Second)
			n := written()
			if n-last > 1024 {
				t.Errorf("%d states are written within a second", n-last)
			}
			steps, last = append(steps, n), n
		}
		if last != len(ids) {
			t.Errorf("%d states are written in the end: %v", last, steps)
		}
	})
}
