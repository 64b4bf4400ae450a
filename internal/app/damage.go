package app

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// damagedChunks names the chunks that cannot be read.
type damagedChunks struct{ store Store }

var damagedChunkDesc = prometheus.NewDesc("rimewatch_store_damaged_chunk_readings", "Readings of a chunk that cannot be read.", []string{"chunk", "device_id"}, nil)

// namedChunks bounds the chunks that are named.
const namedChunks = 50

// Describe implements prometheus.Collector.
func (damagedChunks) Describe(ch chan<- *prometheus.Desc) { ch <- damagedChunkDesc }

// Collect implements prometheus.Collector.
func (d damagedChunks) Collect(ch chan<- prometheus.Metric) {
	for i, b := range d.store.Damage() {
		if i == namedChunks {
			return
		}
		ch <- prometheus.MustNewConstMetric(damagedChunkDesc, prometheus.GaugeValue, float64(b.Readings), strconv.FormatInt(b.ID, 10), strconv.FormatInt(b.DeviceID, 10))
	}
}
