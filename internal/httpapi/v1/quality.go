package v1

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// QualityInput narrows the predictions that are counted.
type QualityInput struct {
	Since string `query:"since" format:"date-time" doc:"Only predictions that opened at or after this."`
}

// alertSlice is how many alerts are read at once.
const alertSlice = 1000

// eachAlert yields every alert that passes a filter, newest first.
func (a *core) eachAlert(ctx context.Context, f store.AlertFilter, yield func(v *rimewatch.AlertView)) error {
	for page := (store.AlertPage{Limit: alertSlice}); ; {
		list, _, err := a.cfg.Alerts.Alerts(ctx, httpapi.CallOf(ctx).Workspace(), f, page)
		if err != nil {
			return err
		}
		for i := range list {
			yield(&list[i])
		}
		if len(list) < alertSlice {
			return nil
		}
		last := &list[len(list)-1]
		page.BeforeAt, page.BeforeID = last.TriggeredAt, last.ID
	}
}

func (a devices) predictionQuality(ctx context.Context, in *QualityInput) (wire.PredictionQuality, error) {
	var since rimewatch.Time
	if in.Since != "" {
		since, _ = rimewatch.ParseTime(in.Since)
	}
	out := wire.PredictionQuality{Counts: []wire.QualityCounts{}}
	for _, typ := range predict.AlertTypes() {
		if err := a.eachAlert(ctx, store.AlertFilter{Type: typ, Since: since}, out.Add); err != nil {
			return wire.PredictionQuality{}, err
		}
	}
	out.Sort()
	return out, nil
}
