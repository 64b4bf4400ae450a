package app

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch/internal/store"
)

// damagedStore is a store with so many damaged chunks.
type damagedStore struct {
	Store
	chunks int
}

func (s damagedStore) Damage() (list []store.DamagedChunk) {
	for i := range s.chunks {
		list = append(list, store.DamagedChunk{ID: int64(7 + i), DeviceID: 3, Readings: 100 + i})
	}
	return list
}

// TestDamageIsInTheMetrics: damaged chunks are named, as many as anybody reads.
func TestDamageIsInTheMetrics(t *testing.T) {
	for chunks, want := range map[int]int{0: 0, 2: 2, namedChunks + 1: namedChunks} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(damagedChunks{damagedStore{chunks: chunks}})
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if got++; chunks == 2 && (m.GetLabel()[1].GetValue() != "3" || m.GetGauge().GetValue() != 100 && m.GetGauge().GetValue() != 101) {
					t.Errorf("%s %v", f.GetName(), m)
				}
			}
		}
		if got != want {
			t.Errorf("%d of %d are named, want %d", got, chunks, want)
		}
	}
}
