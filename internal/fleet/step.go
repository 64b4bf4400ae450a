package fleet

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Step applies a logged input to a device of a group at now: its transitions of alerts are
// appended to out.
func (f *Fleet[Own]) Step(st *Staged[Own], in *store.Input, now rimewatch.Time, out []alert.Transition) (_ []alert.Transition, over []health.Excursion) {
	return f.step(st.State, &st.Facts, f.downtimes, in, now, out)
}

// step lets a logged input happen to a device, live and in a replay alike:
// recovery rests on their being one. Two inputs have more to do live, and come to the
// same functions of engine by a way of their own: a device that is changed (by the write path)
// and a clock that is set back (SetBack). x is replaced where the input brings other
// facts. down are the downtimes that were known at the time.
func (f *Fleet[Own]) step(state *engine.State, x *Facts, down []presence.Downtime, in *store.Input, now rimewatch.Time, out []alert.Transition) (_ []alert.Transition, over []health.Excursion) {
	var e engine.Input // a Tick unless it is something else
	switch in.Kind {
	case store.InputReading:
		e = engine.Input{Kind: engine.Reading, Reading: &in.Reading, Last: in.Last}
	case store.InputHeartbeat:
		hb := decodeHeartbeat(in.Payload)
		x.Vitals.take(&hb)
		e = engine.Input{Kind: engine.Heartbeat, Shutdown: hb.Offline, Charge: engine.Charge{Pct: hb.BatteryPct, Low: hb.Low, LowPct: hb.LowPct}}
	case store.InputDevice:
		was := x.Config
		x.Config = f.Configs.after(was, in.Payload)
		state.Configured(was, x.Config)
	case store.InputResolve:
		e = decodeResolve(in.Payload)
	case store.InputFeedback:
		e = decodeFeedback(in.Payload)
	case store.InputRejudged:
		e = decodeRejudged(in.Payload)
	default: // time alone
	}
	return state.Step(x.Config, down, &e, now, out)
}
