package ingest

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestForeseen: a prediction explains the warnings about what stands in its
// evidence, and nothing else; when it is over they stand for themselves.
func TestForeseen(t *testing.T) {
	prediction := &rimewatch.Alert{ID: 1, Status: rimewatch.AlertActive, Severity: rimewatch.Warning, Type: rimewatch.CondenserFoulingSuspected,
		Prediction: &rimewatch.Prediction{Evidence: []rimewatch.Evidence{{Metric: "compressor_discharge_temp"}}}}
	hot := func(id int64, severity rimewatch.Severity, metric, unit string, by int64) *rimewatch.Alert {
		return &rimewatch.Alert{ID: id, Status: rimewatch.AlertActive, Severity: severity, Type: rimewatch.HighDischargeTemperature, Metric: metric, Unit: unit, SuppressedBy: by}
	}
	for _, c := range []struct {
		name   string
		alerts []*rimewatch.Alert
		want   int64
		line   rimewatch.TransitionKind
	}{
		{"by its baseline", []*rimewatch.Alert{prediction, hot(2, rimewatch.Warning, "compressor_discharge_temp_deviation", "K", 0)}, 1, rimewatch.TransitionSuppressed},
		{"already explained", []*rimewatch.Alert{prediction, hot(2, rimewatch.Warning, "compressor_discharge_temp_deviation", "K", 1)}, 1, ""},
		{"past a fixed limit", []*rimewatch.Alert{prediction, hot(2, rimewatch.Warning, "compressor_discharge_temp", "°C", 0)}, 0, ""},
		{"critical", []*rimewatch.Alert{prediction, hot(2, rimewatch.Critical, "compressor_discharge_temp_deviation", "K", 0)}, 0, ""},
		{"became critical", []*rimewatch.Alert{prediction, hot(2, rimewatch.Critical, "compressor_discharge_temp_deviation", "K", 1)}, 0, rimewatch.TransitionReleased},
		{"another measure", []*rimewatch.Alert{prediction, hot(2, rimewatch.Warning, "amp_draw_deviation", "%", 0)}, 0, ""},
		{"the prediction is over", []*rimewatch.Alert{hot(2, rimewatch.Warning, "compressor_discharge_temp_deviation", "K", 1)}, 0, rimewatch.TransitionReleased},
	} {
		s := &Service{}
		st := &staged{unit: &unit{alerts: c.alerts}, alerts: c.alerts}
		s.foreseen(st, 1000)
		if got := st.alerts[len(st.alerts)-1].SuppressedBy; got != c.want {
			t.Errorf("%s: explained by %d, want %d", c.name, got, c.want)
		}
		var line rimewatch.TransitionKind
		for _, l := range s.group.result.Transitions {
			line = l.Kind
		}
		if line != c.line || len(s.group.result.Alerts) != len(s.group.result.Transitions) {
			t.Errorf("%s: timeline %q, want %q, %d rows", c.name, line, c.line, len(s.group.result.Alerts))
		}
	}
}
