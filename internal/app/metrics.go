package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/ingest"
)

func (a *App) registerMetrics(r prometheus.Registerer) {
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "rimewatch", Name: name, Help: help}, f))
	}
	gauge("ingest_queue_inputs", "Inputs that wait for a commit.", func() float64 { return float64(a.Ingest.QueueDepth()) })
	gauge("store_head_bytes", "Memory of readings that are not sealed yet.", func() float64 { return float64(a.Store.HeadBytes()) })
}

// health gives the API the write path's view of fleets and devices.
type health struct{ ingest *ingest.Service }

func (h health) Summary(_ context.Context, workspaceID int64) (httpapi.Summary, error) {
	return httpapi.Summary(h.ingest.Summary(workspaceID)), nil
}

func (h health) DeviceHealth(deviceID int64) (float64, []httpapi.Driver) {
	return 100, nil
}
