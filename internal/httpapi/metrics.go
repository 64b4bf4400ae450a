package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// meter counts and times requests by route.
type meter struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMeter(r prometheus.Registerer) *meter {
	m := &meter{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rimewatch_http_requests_total", Help: "Requests by route and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rimewatch_http_request_duration_seconds", Help: "Time until the answer was written, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route"}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.seconds)
	}
	return m
}

// observe records one request. Paths that no route has share one label, and so
// do unknown methods: labels must not grow with the requests of strangers.
func (m *meter) observe(rt *Route, status int, took time.Duration) {
	name, label := "other", "other"
	if rt != nil {
		name, label = rt.Path, rt.Method
	}
	m.requests.WithLabelValues(label, name, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(label, name).Observe(took.Seconds())
}

// HotMeter returns the meter of a direct route.
func (a *API) HotMeter(method, path string) HotMeter { return a.meter.Hot(method, path) }

// HotMeter is a route's part of the meter with its labels resolved.
type HotMeter struct {
	path     string
	byStatus map[int]prometheus.Counter // complete from the start, so reads need no lock
	seconds  prometheus.Observer
}

func (m *meter) Hot(method, path string) HotMeter {
	h := HotMeter{path: path, byStatus: make(map[int]prometheus.Counter), seconds: m.seconds.WithLabelValues(method, path)}
	for _, status := range StatusOf {
		h.byStatus[status] = m.requests.WithLabelValues(method, path, strconv.Itoa(status))
	}
	for _, status := range []int{http.StatusOK, http.StatusCreated, http.StatusAccepted} {
		h.byStatus[status] = m.requests.WithLabelValues(method, path, strconv.Itoa(status))
	}
	return h
}

// Path is that of the route.
func (h *HotMeter) Path() string { return h.path }

// Observe counts one answered request and the time it took.
func (h *HotMeter) Observe(status int, took time.Duration) {
	h.byStatus[status].Inc()
	h.seconds.Observe(took.Seconds())
}
