package submit

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// singleOnce is Single for a request with an Idempotency-Key. What is kept of it is
// which reading it stored: its answer is made of that again.
func (g *Readings) singleOnce(w http.ResponseWriter, r *http.Request, p *account.Principal, now rimewatch.Time, s *singleScratch) (int, *rimewatch.Error) {
	s.Left = -1
	status, body, replayed, e := g.api.Once(r, &httpapi.Work{
		Principal: p, Now: now, Body: s.body,
		Do: func(ctx context.Context) (int, []byte, *rimewatch.Error) {
			status, e := g.Single(ctx, p, now, s.body, &s.Scratch)
			return status, s.Out, e
		},
		Again: func(ctx context.Context, deviceID int64, at rimewatch.Time) (int, []byte, *rimewatch.Error) {
			stored, err := g.History.ReadingAt(ctx, deviceID, at)
			if err != nil {
				return 0, nil, httpapi.AsError(err)
			}
			if e := wire.DecodeReading(s.body, &s.sent); e != nil {
				return 0, nil, e
			}
			serial := string(s.sent.Serial)
			if who, _ := g.identify(p, s.sent.Serial); who != nil {
				serial = who.Serial // as registered
			}
			return http.StatusCreated, appendStored(nil, deviceID, serial, &stored, false, 0, s.sent.Ignored), nil
		},
	})
	if e == nil && replayed {
		s.Out = body
		httpapi.SetReplayed(w.Header())
	}
	return status, e
}

// batchOnce is Batch, for a request with an Idempotency-Key or without one.
func (g *Readings) batchOnce(w http.ResponseWriter, r *http.Request, p *account.Principal, now rimewatch.Time, ndjson bool, s *batchScratch) *rimewatch.Error {
	if !httpapi.Keyed(r) {
		return g.Batch(r.Context(), p, now, ndjson, s.body, &s.Batch)
	}
	_, body, replayed, e := g.api.Once(r, &httpapi.Work{
		Principal: p, Now: now, Body: s.body,
		Do: func(ctx context.Context) (int, []byte, *rimewatch.Error) {
			e := g.Batch(ctx, p, now, ndjson, s.body, &s.Batch)
			return http.StatusOK, s.Out, e
		},
	})
	if e == nil && replayed {
		s.Out = body
		httpapi.SetReplayed(w.Header())
	}
	return e
}
