package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

// step lets a logged input happen to a device, live and in a replay alike:
// recovery rests on their being one. cfg and v are replaced where the input
// brings others.
func (w *writer) step(u *unit, state *engine.State, cfg **engine.Config, v *vitals, in *store.Input, now rimewatch.Time, out []alert.Transition) (_ []alert.Transition, over health.Excursion) {
	var e engine.Input // a Tick unless it is something else
	switch in.Kind {
	case store.InputReading:
		u.pending--
		e = engine.Input{Kind: engine.Reading, Reading: &in.Reading, Last: u.pending == 0}
	case store.InputHeartbeat:
		hb := decodeHeartbeat(in.Payload)
		v.take(&hb)
		e = engine.Input{Kind: engine.Heartbeat, Shutdown: hb.Offline}
	case store.InputDevice:
		*cfg = w.configs.after(*cfg, in.Payload)
	case store.InputResolve:
		e = engine.Input{Kind: engine.Resolve, Alert: rimewatch.AlertType(in.Payload)}
	case store.InputFeedback:
		e = decodeFeedback(in.Payload)
	default: // time alone
	}
	return state.Step(*cfg, w.downtimes, &e, now, out)
}
