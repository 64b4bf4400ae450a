package fleet

import (
	"context"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Rebuild builds the lost states from their checkpoints and the log after them, and returns
// whose they are. It reads the whole log: a second for some million inputs, once for
// a disk that fails. After an error they are still lost. Under the lock.
func (f *Fleet[Own]) Rebuild() ([]*Device[Own], error) {
	list := f.lost
	was := make([]Facts, len(list))
	for i, d := range list {
		was[i] = d.Facts
		if d.slot == 0 {
			f.memory.add(d)
		}
		*f.memory.state(d) = engine.State{}
		d.Vitals, d.savedSeq, d.missed = Vitals{}, 0, chain{}
	}
	err := f.replayLost()
	for i, d := range list {
		d.Facts = was[i] // they were put back before; a replay comes to the same
	}
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		d.lost = false
		d.See(f.memory.state(d))
	}
	f.lost = nil
	_, behind := partition(list)
	f.caughtUp(behind)
	return list, nil
}

// replayLost replays the durable inputs of the lost devices, whose states are zero.
func (f *Fleet[Own]) replayLost() error {
	if err := f.readCheckpoints(f.lost); err != nil {
		return err
	}
	x := newUnreplayed[Own]()
	x.read = true
	var first sync.Once
	err := f.store.Logged(context.Background(), len(x.workers), func(worker int, e *store.Entry) error {
		first.Do(func() { x.down = f.downtimesAt(e.Seq) })
		if e.Input.Kind == store.InputClock {
			return f.rebuildClock(x, e)
		}
		if d := f.devices.Get(e.Input.DeviceID); d != nil && d.lost && e.Seq > d.savedSeq {
			x.add(worker, d, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.replay(x, f.lost)
}

// rebuildClock sets the clock of lost devices back once more.
func (f *Fleet[Own]) rebuildClock(x *unreplayed[Own], e *store.Entry) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	if err := f.replay(x, f.lost); err != nil {
		return err
	}
	x.down = moved(x.down, by)
	for _, d := range f.lost {
		if d.savedSeq < e.Seq {
			f.memory.state(d).SetBack(by, e.Now)
		}
	}
	return nil
}

// setBack is a commit that set the clock back.
type setBack struct {
	seq store.Seq
	by  rimewatch.Time
}

// SetBack moves the remembered moments of the devices when commit seq sets the clock back
// by so much (by < 0) to now, live and in a replay alike. Devices whose checkpoint
// covers the commit are left alone. Under the lock.
func (f *Fleet[Own]) SetBack(by, now rimewatch.Time, seq store.Seq) {
	f.backs = append(f.backs, setBack{seq, by})
	f.downtimes = moved(f.downtimes, by)
	for i := range f.dirty.list {
		d := &f.dirty.list[i]
		d.since = min(d.since, now)
	}
	for d := range f.devices.All() {
		state := f.memory.state(d)
		if d.savedSeq >= seq || state == nil {
			continue
		}
		state.SetBack(by, now)
		d.See(state)
		f.dirty.add(d, seq, now)
	}
}

// moved returns downtimes moved by so much.
func moved(list []presence.Downtime, by rimewatch.Time) []presence.Downtime {
	out := make([]presence.Downtime, len(list))
	for i, d := range list {
		out[i] = presence.Downtime{From: d.From + by, To: d.To + by}
	}
	return out
}

// downtimesAt returns the downtimes in the time of a commit, before it.
func (f *Fleet[Own]) downtimesAt(seq store.Seq) []presence.Downtime {
	down := f.downtimes
	for _, b := range f.backs {
		if b.seq >= seq {
			down = moved(down, -b.by)
		}
	}
	return down
}
