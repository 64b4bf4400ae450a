package core

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// TestLongLog: what some devices have sent and nothing came after is sealed before it is
// old where the log behind it has become long: it is read again by whoever opens the disk
// next.
func TestLongLog(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	for _, tt := range []struct {
		name   string
		most   int64
		busy   int // readings of one device after the first of ten others
		sealed int // devices
	}{
		{"short", 100, 200, 0}, // thirty for each
		{"long", 100, 340, 11},
		{"as long as it likes", 0, 2000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Config{LogReadings: tt.most, Now: func() time.Time { return now }}, nil, nil)
			seq, at := int64(0), rimewatch.TimeOf(now)
			var devices []*device
			send := func(d *device) {
				seq++
				at++
				r := rimewatch.Reading{At: at, ReceivedAt: at}
				size := d.head.stage(&s.heads, chunk.AppendReading(nil, &r, 0), at)
				s.seal.publish(d, int32(size), 1, int32(s.cfg.SealReadings), seq, at, at)
			}
			for i := range 11 {
				devices = append(devices, newDevice(&rimewatch.Device{ID: int64(i + 1)}))
				send(devices[i])
			}
			for range tt.busy {
				send(devices[10])
			}
			s.seal.full = nil // a day's worth is sealed anyway
			sealed := 0
			for list := s.due(); len(list) > 0; list = s.due() {
				for _, d := range list {
					d.head.beginSeal(int32(s.cfg.SealReadings), seq)
					s.finishSeal(d, nil)
				}
				sealed += len(list)
			}
			if sealed != tt.sealed {
				t.Errorf("%d devices are sealed, not %d", sealed, tt.sealed)
			}
		})
	}
}
