package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
)

func (a *App) registerMetrics(r prometheus.Registerer) {
	gauge, counter := gaugesOf(r, ""), countersOf(r, "")
	gauge("ingest_queue_inputs", "Inputs waiting to be committed.", func() float64 { return float64(a.Ingest.QueueDepth()) })
	gauge("device_states_memory", "Devices whose state is in memory.", func() float64 { return float64(a.Ingest.Memory().States) })
	gauge("device_states_on_disk", "Devices whose state is on the disk alone, because --state-memory has no room for it.", func() float64 { return float64(a.Ingest.Memory().OnDisk) })
	gauge("device_states_bytes", "Memory used by states of devices.", func() float64 { return float64(a.Ingest.Memory().Bytes) })
	counter("device_states_read_total", "States of devices that were read from the disk because their device reported.", func() int64 { return a.Ingest.Memory().Read })
	for i, v := range rimewatch.Verdicts {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "rimewatch", Name: "prediction_feedback", Help: "Feedback on predictions.", ConstLabels: prometheus.Labels{"verdict": string(v)},
		}, func() float64 { return float64(a.Ingest.Verdicts()[i]) }))
	}
	if a.clock != nil {
		gauge("clock_step_seconds", "How far the machine's clock is ahead of the service's time since a step that is not believed yet.", func() float64 {
			return float64(a.clock.Gap()) / float64(rimewatch.Second)
		})
		counter("clock_steps_total", "Steps of the machine's clock over 5 s.", func() int64 { return a.clock.Steps() })
		gauge("retention_allowed", "1 where the clock is believed enough to delete expired data.", func() float64 {
			if a.clock.Sure() {
				return 1
			}
			return 0
		})
	}
	gauge("workspaces_without_owner", "Workspaces that nobody owns, so that nobody can manage their members.", func() float64 { return float64(a.Accounts.Ownerless()) })
	a.registerInlets(r)
	r.MustRegister(newDeliveries(a.Notify.Figures, a.now))
	gauge("store_damaged_chunks", "Chunks that cannot be read and are set aside; doctor lists them.", func() float64 { return float64(len(a.Store.Damage())) })
	r.MustRegister(damagedChunks{a.Store})
	gauge("store_head_bytes", "Memory used by readings that are not sealed yet.", func() float64 { return float64(a.Store.HeadBytes()) })
}

// gaugesOf returns the function that registers gauges of a subsystem.
func gaugesOf(r prometheus.Registerer, subsystem string) func(name, help string, f func() float64) {
	return func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "rimewatch", Subsystem: subsystem, Name: name, Help: help}, f))
	}
}

// countersOf returns the function that registers counters of a subsystem.
func countersOf(r prometheus.Registerer, subsystem string) func(name, help string, f func() int64) {
	return func(name, help string, f func() int64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "rimewatch", Subsystem: subsystem, Name: name, Help: help}, func() float64 { return float64(f()) }))
	}
}

// registerInlets registers the counters of sources.
func (a *App) registerInlets(r prometheus.Registerer) {
	counter := countersOf(r, "inlet")
	n := &a.Sources.Counts
	counter("payloads_total", "Payloads that came from sources.", n.Payloads.Load)
	counter("readings_total", "Readings from sources that were stored.", n.Accepted.Load)
	counter("duplicates_total", "Readings from sources that had been stored before.", n.Duplicates.Load)
	counter("rejected_total", "Readings from sources that cannot be stored.", n.Rejected.Load)
	counter("ignored_total", "Parts of payloads without a measurement.", n.Ignored.Load)
	counter("left_out_values_total", "Values of known senders that were not stored as measurements.", n.LeftOut.Load)
	counter("retained_total", "Retained messages of brokers without a time of their own, which are not stored.", n.Retained.Load)
	counter("held_total", "Payloads that had to wait.", n.Held.Load)
	counter("held_full_total", "Payloads that could not wait, because too much waits already.", n.HeldFull.Load)
	counter("held_expired_total", "Payloads that waited too long.", n.Expired)
	gauge := gaugesOf(r, "mqtt")
	gauge("brokers_connected", "Brokers of sources that are connected.", func() float64 { return float64(a.MQTT.Brokers.Connected()) })
	if l := a.MQTT.Listener; l != nil {
		gauge("connections", "MQTT connections of devices.", func() float64 { return float64(l.Counts.Connections.Load()) })
		counter := countersOf(r, "mqtt")
		counter("messages_total", "Messages that devices published.", l.Counts.Messages.Load)
		counter("malformed_total", "MQTT connections that ended because of a packet against the protocol.", l.Counts.Malformed.Load)
		counter("refused_total", "MQTT connections that were refused.", l.Counts.Refused.Load)
	}
	counter("failed_total", "Payloads of which nothing could be stored.", n.Failed.Load)
}
