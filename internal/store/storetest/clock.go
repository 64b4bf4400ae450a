package storetest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// setBack: a group may set the clock back. What is alive goes back with it, also
// after a crash; readings before those of the lost time become the newest, and
// none of them is taken for stored or stored twice.
func (f *fixture) setBack() {
	const hour = rimewatch.Hour
	id := f.addDevice("LC")
	at := func(t rimewatch.Time, temp float64) store.Input {
		in := store.Input{Kind: store.InputReading, DeviceID: id}
		in.Reading.At = t
		in.Reading.Set(rimewatch.ProductZoneTemp, temp)
		return in
	}
	latest := func() float64 {
		v, err := f.s.Device(f.ctx, f.workspace, "LC")
		f.must(err)
		return v.CurrentTemp
	}
	f.group(&store.Group{Now: t0 + hour, Parts: [][]store.Input{{at(t0+hour-60_000, 1), at(t0+hour, 2)}}}, store.Effects{})
	f.must(f.s.MarkAlive(f.ctx, t0+hour+5))
	f.e.Settle(f.T, f.s)
	clock := []store.Input{{Kind: store.InputClock, Payload: []byte("back")}}
	g := &store.Group{Now: t0, Back: true, Parts: [][]store.Input{clock}}
	f.group(g, store.Effects{Back: t0})
	f.equal("moment of the group", g.Now, t0)
	f.equal("outcome", clock[0].Outcome, store.Accepted)
	inputs := []store.Input{at(t0+1, 3), at(t0+hour, 9)}
	g = &store.Group{Now: t0 + 1, Parts: [][]store.Input{inputs}}
	f.group(g, store.Effects{})
	f.equal("moment of the next group", g.Now, t0+1)
	f.equal("outcomes", []store.Outcome{inputs[0].Outcome, inputs[1].Outcome}, []store.Outcome{store.Accepted, store.Duplicate})
	f.equal("current temperature", latest(), 3.0)
	got := f.recover()
	f.equal("current temperature after a crash", latest(), 3.0)
	alive, err := f.s.AliveAt(f.ctx)
	f.must(err)
	f.equal("alive at", alive, t0+1)
	backs := 0
	for _, e := range got.Entries {
		if e == "2 0 8 0 back" || len(e) > 9 && e[len(e)-9:] == " 8 0 back" {
			backs++
		}
	}
	f.equal("logged steps", backs, 1)
}
