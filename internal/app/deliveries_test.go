package app

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify"
)

// TestDeliveriesKnownAgain: what describes deliveries is the same collector for a registry
// before and after somebody has been notified.
func TestDeliveriesKnownAgain(t *testing.T) {
	f := notify.Figures{Deliveries: make(map[notify.Kind]int64)}
	d := newDeliveries(func() notify.Figures { return f }, func() rimewatch.Time { return 0 })
	r := prometheus.NewRegistry()
	r.MustRegister(d)
	f.Deliveries[notify.Kind{Kind: rimewatch.DeliveryOpened, Status: rimewatch.DeliverySent}]++
	if !r.Unregister(d) {
		t.Fatal("the registry does not know it any more")
	}
	if err := r.Register(d); err != nil {
		t.Fatal(err)
	}
}
