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
