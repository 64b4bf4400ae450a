package ingest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// step lets a logged input happen to a device, live and in a replay alike:
// recovery rests on their being one. Two inputs have more to do live, and come to the
// same functions of engine by a way of their own: a device that is changed (device.go)
// and a clock that is set back (clock.go; in a replay rebuild.go). f is replaced where the input brings other
// facts. down are the downtimes that were known at the time.
func (s *Service) step(state *engine.State, f *facts, down []presence.Downtime, in *store.Input, now rimewatch.Time, out []alert.Transition) (_ []alert.Transition, over []health.Excursion) {
	var e engine.Input // a Tick unless it is something else
	switch in.Kind {
	case store.InputReading:
		e = engine.Input{Kind: engine.Reading, Reading: &in.Reading, Last: in.Last}
	case store.InputHeartbeat:
		hb := decodeHeartbeat(in.Payload)
		f.vitals.take(&hb)
		e = engine.Input{Kind: engine.Heartbeat, Shutdown: hb.Offline, Charge: engine.Charge{Pct: hb.BatteryPct, Low: hb.Low, LowPct: hb.LowPct}}
	case store.InputDevice:
		was := f.cfg
		f.cfg = s.configs.after(was, in.Payload)
		state.Configured(was, f.cfg)
	case store.InputResolve:
		e = decodeResolve(in.Payload)
	case store.InputFeedback:
		e = decodeFeedback(in.Payload)
	case store.InputRejudged:
		e = decodeRejudged(in.Payload)
	default: // time alone
	}
	return state.Step(f.cfg, down, &e, now, out)
}
