package realtime

import "github.com/prometheus/client_golang/prometheus"

// meter counts the work of the stream.
type meter struct {
	frames, merged prometheus.Counter
	ended          *prometheus.CounterVec
}

func newMeter(r prometheus.Registerer, h *Hub) *meter {
	m := &meter{
		frames: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rimewatch_stream_frames_total", Help: "Messages sent to subscribers.",
		}),
		merged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rimewatch_stream_coalesced_total", Help: "Readings that gave way to newer ones of their device before they were sent.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rimewatch_stream_closed_total", Help: "Streams that ended, by reason.",
		}, []string{"reason"}),
	}
	if r != nil {
		r.MustRegister(m.frames, m.merged, m.ended, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rimewatch_stream_subscribers", Help: "Open streams.",
		}, func() float64 { return float64(h.Subscribers()) }))
	}
	return m
}

func (m *meter) sent(n int)           { m.frames.Add(float64(n)) }
func (m *meter) coalesced(n int)      { m.merged.Add(float64(n)) }
func (m *meter) closed(reason string) { m.ended.WithLabelValues(reason).Inc() }

// Subscribers is the number of open streams.
func (h *Hub) Subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sockets)
}
