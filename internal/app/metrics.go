package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
)

func (a *App) registerMetrics(r prometheus.Registerer) {
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "rimewatch", Name: name, Help: help}, f))
	}
	gauge("ingest_queue_inputs", "Inputs waiting to be committed.", func() float64 { return float64(a.Ingest.QueueDepth()) })
	for i, v := range rimewatch.Verdicts {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "rimewatch", Name: "prediction_feedback", Help: "Feedback on predictions.", ConstLabels: prometheus.Labels{"verdict": string(v)},
		}, func() float64 { return float64(a.Ingest.Verdicts()[i]) }))
	}
	r.MustRegister(newDeliveries(a.Notify, a.now))
	gauge("store_head_bytes", "Memory used by readings that are not sealed yet.", func() float64 { return float64(a.Store.HeadBytes()) })
}
