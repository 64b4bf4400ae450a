package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/ingest"
)

func (a *App) registerMetrics(r prometheus.Registerer) {
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "rimewatch", Name: name, Help: help}, f))
	}
	gauge("ingest_queue_inputs", "Inputs that wait for a commit.", func() float64 { return float64(a.Ingest.QueueDepth()) })
	for i, v := range rimewatch.Verdicts {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "rimewatch", Name: "prediction_feedback", Help: "Verdicts of people on predictions.", ConstLabels: prometheus.Labels{"verdict": string(v)},
		}, func() float64 { return float64(a.Ingest.Verdicts()[i]) }))
	}
	r.MustRegister(newDeliveries(a.Notify, a.now))
	gauge("store_head_bytes", "Memory of readings that are not sealed yet.", func() float64 { return float64(a.Store.HeadBytes()) })
}

// health gives the API the write path's view of fleets and devices.
type health struct{ ingest *ingest.Service }

func (h health) Summary(_ context.Context, workspaceID int64) (httpapi.Summary, error) {
	return httpapi.Summary(h.ingest.Summary(workspaceID)), nil
}

func (h health) DeviceHealth(deviceID int64) (float64, []httpapi.Driver) {
	score, reasons := h.ingest.DeviceHealth(deviceID)
	drivers := make([]httpapi.Driver, len(reasons))
	for i, r := range reasons {
		drivers[i] = httpapi.Driver{Component: r.Component, Weight: r.Weight, Severity: r.Severity, PointsLost: r.PointsLost, Text: driverText(r.Component)}
	}
	return score, drivers
}

func (h health) OpenExcursions(workspaceID, deviceID int64) []rimewatch.Excursion {
	return h.ingest.OpenExcursions(workspaceID, deviceID)
}

func (h health) DeviceCompliance(deviceID int64) httpapi.Compliance {
	return httpapi.ComplianceOf(h.ingest.DeviceCompliance(deviceID))
}

// driverText says for people what a component of the score speaks of.
func driverText(component string) string {
	switch component {
	case "temperature":
		return "Product temperature out of its limits within the last day."
	case "discharge_suction":
		return "Discharge or suction temperature out of range."
	case "electrical":
		return "Voltage, current or power supply out of range."
	case "vibration":
		return "The compressor vibrates more than it should."
	case "cycling":
		return "The compressor starts too often or runs too long."
	case "predicted_fault":
		return "A fault is predicted."
	case "sensor_fault":
		return "A sensor reports implausible values."
	case "data_freshness":
		return "Readings are missing."
	case "calibration":
		return "The calibration of a probe is overdue."
	case "open_critical_alert":
		return "A critical alert is active."
	case "open_warning_alert":
		return "A warning is active."
	case "offline":
		return "The device is offline."
	default:
		return component
	}
}
