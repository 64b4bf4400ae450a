package ingest_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// BenchmarkSilence is what an alert costs when very many devices fall silent at
// once, and what the end of it costs when they are back.
func BenchmarkSilence(b *testing.B) {
	const devices = 10_000
	var clock atomic.Int64
	clock.Store(1_790_000_000_000)
	st, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), sqlite.FileName)})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	w := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 400, RollupDays: 1000, CreatedAt: 1, UpdatedAt: 1}
	if err := st.CreateWorkspace(b.Context(), w); err != nil {
		b.Fatal(err)
	}
	in := ingest.New(ingest.Config{Store: st, Now: func() time.Time { return time.UnixMilli(clock.Load()) }})
	if err := in.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer in.Stop()
	ids := make([]int64, devices)
	var wg sync.WaitGroup
	for part := range 100 {
		wg.Go(func() {
			for i := part; i < devices; i += 100 {
				v, err := in.CreateDevice(b.Context(), &rimewatch.Device{WorkspaceID: w.ID, Serial: fmt.Sprintf("S-%d", i), EquipmentType: "walkin_freezer"})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = v.ID
			}
		})
	}
	wg.Wait()
	wait := func(alerts int) {
		for in.Summary(w.ID).ActiveAlerts != alerts {
			time.Sleep(10 * time.Millisecond)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		at := rimewatch.Time(clock.Add(60_000))
		inputs := make([]store.Input, devices)
		for i := range inputs {
			inputs[i] = store.Input{Kind: store.InputReading, DeviceID: ids[i]}
			inputs[i].Reading.At = at
			inputs[i].Reading.Set(rimewatch.ProductZoneTemp, -20)
		}
		if err := in.Submit(b.Context(), inputs, nil); err != nil {
			b.Fatal(err)
		}
		wait(0)
		clock.Add(7 * 86_400_000) // long enough not to be flapping
		wait(devices)
	}
}
