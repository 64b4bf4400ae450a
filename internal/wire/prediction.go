package wire

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// VerdictCounts are predictions by what people said of them.
type VerdictCounts struct {
	Predictions int `json:"predictions" doc:"All retained ones: the sum of the others."`
	Useful      int `json:"useful" doc:"Judged right."`
	Fixed       int `json:"fixed" doc:"Judged right, and repaired."`
	FalseAlarm  int `json:"false_alarm" doc:"Judged wrong."`
	Normal      int `json:"normal" doc:"Not as it was, and that is how it ought to be."`
	Open        int `json:"open" doc:"Active, and not judged yet."`
	Unanswered  int `json:"unanswered" doc:"Over, and nobody has judged them."`
}

// add counts a prediction.
func (n *VerdictCounts) add(a *rimewatch.Alert) {
	n.Predictions++
	switch {
	case a.Feedback == nil && a.Status == rimewatch.AlertActive:
		n.Open++
	case a.Feedback == nil:
		n.Unanswered++
	case a.Feedback.Verdict == rimewatch.Useful:
		n.Useful++
	case a.Feedback.Verdict == rimewatch.Fixed:
		n.Fixed++
	case a.Feedback.Verdict == rimewatch.NormalNow:
		n.Normal++
	default:
		n.FalseAlarm++
	}
}

// PredictionKind is the key that predictions are counted by.
type PredictionKind struct {
	Fault         string `json:"fault" doc:"The fault that was named last." example:"condenser_fouling"`
	EquipmentType string `json:"equipment_type" doc:"Of the unit as it is now; empty when it has none or was removed."`
	Model         string `json:"model" doc:"Method and version that predicted it." example:"rimewatch-drift-1"`
}

// QualityCounts are the predictions of one kind.
type QualityCounts struct {
	PredictionKind
	VerdictCounts
}

// PredictionQuality counts people's verdicts on all predictions.
type PredictionQuality struct {
	Total  VerdictCounts   `json:"total"`
	Counts []QualityCounts `json:"counts" doc:"By fault, equipment type and model; those with the most predictions first."`
}

// Add counts a prediction; what predicts nothing is not counted.
func (q *PredictionQuality) Add(v *rimewatch.AlertView) {
	if v.Prediction == nil {
		return
	}
	k := PredictionKind{v.Prediction.Fault, v.EquipmentType, v.Prediction.Model}
	i := slices.IndexFunc(q.Counts, func(c QualityCounts) bool { return c.PredictionKind == k })
	if i < 0 {
		i = len(q.Counts)
		q.Counts = append(q.Counts, QualityCounts{PredictionKind: k})
	}
	q.Counts[i].add(&v.Alert)
	q.Total.add(&v.Alert)
}

// Sort puts those with the most predictions first.
func (q *PredictionQuality) Sort() {
	slices.SortFunc(q.Counts, func(x, y QualityCounts) int {
		return cmp.Or(y.Predictions-x.Predictions, cmp.Compare(x.Fault, y.Fault), cmp.Compare(x.EquipmentType, y.EquipmentType), cmp.Compare(x.Model, y.Model))
	})
}
