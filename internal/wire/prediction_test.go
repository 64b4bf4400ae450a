package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

func TestPredictionsAreCountedByVerdict(t *testing.T) {
	q := PredictionQuality{}
	add := func(fault string, status rimewatch.AlertStatus, verdict rimewatch.Verdict) {
		v := &rimewatch.AlertView{EquipmentType: "walkin_cooler"}
		v.Status, v.Prediction = status, &rimewatch.Prediction{Fault: fault, Model: "m-1"}
		if verdict != "" {
			v.Feedback = &rimewatch.Feedback{Verdict: verdict}
		}
		q.Add(v)
	}
	q.Add(&rimewatch.AlertView{}) // it predicts nothing
	add("bearing_wear", rimewatch.AlertActive, rimewatch.Useful)
	add("condenser_fouling", rimewatch.AlertActive, "")
	add("condenser_fouling", rimewatch.AlertResolved, "")
	add("condenser_fouling", rimewatch.AlertResolved, rimewatch.Fixed)
	add("condenser_fouling", rimewatch.AlertResolved, rimewatch.FalseAlarm)
	q.Sort()
	want := PredictionQuality{
		Total: VerdictCounts{Predictions: 5, Useful: 1, Fixed: 1, FalseAlarm: 1, Open: 1, Unanswered: 1},
		Counts: []QualityCounts{
			{PredictionKind{"condenser_fouling", "walkin_cooler", "m-1"}, VerdictCounts{Predictions: 4, Fixed: 1, FalseAlarm: 1, Open: 1, Unanswered: 1}},
			{PredictionKind{"bearing_wear", "walkin_cooler", "m-1"}, VerdictCounts{Predictions: 1, Useful: 1}},
		},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Error(diff)
	}
}
