package fleet

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch/internal/store"
)

// behind are the devices whose states lack inputs of the log.
type behind[Own any] struct {
	n          int // of them
	list       []*Device[Own]
	unreplayed *unreplayed[Own] // the inputs that they lack
	ended      bool             // there were some, or none to begin with, and all have caught up
}

// Expect adds a device of the store before Recover. Its state is behind.
func (f *Fleet[Own]) Expect(d *Device[Own]) {
	d.behind = true
	f.devices.Put(d.ID, d)
	f.behind.list = append(f.behind.list, d)
	f.behind.n++
}

// Recover gathers the inputs that the states of the expected devices lack:
// checkpoints, and every logged input after them, in the time of the downtimes that are known. It
// returns the last commit.
func (f *Fleet[Own]) Recover(ctx context.Context) (last Position, err error) {
	x := newUnreplayed[Own]()
	f.behind.unreplayed = x
	entry := func(worker int, e *store.Entry) error {
		if e.Input.Kind == store.InputClock {
			f.join(&last)
			return f.replayClock(e, &last)
		}
		g := &x.workers[worker]
		g.last = Position{e.Seq, max(g.last.Now, e.Now)}
		if d := f.devices.Get(e.Input.DeviceID); d != nil && e.Seq > d.savedSeq {
			g.changed(d, e.Seq, e.Now)
			x.add(worker, d, e)
		}
		return nil
	}
	err = f.store.Recover(ctx, len(x.workers), func(_ int, c store.Checkpoint) error {
		if d := f.devices.Get(c.DeviceID); d != nil {
			d.savedSeq = c.Seq
		}
		return nil
	}, entry)
	f.join(&last)
	x.down = slices.Clone(f.downtimes) // the newest is added when its length is known
	if err == nil {
		err = f.store.Join(ctx, len(x.workers), f.readAhead, entry)
	}
	f.join(&last)
	return last, err
}

// readAhead reads the states while another node still serves the store, and has them catch up
// with the log so far: afterwards they are as good as loaded. Settings
// that change meanwhile are applied once the store is ours, as after any start.
func (f *Fleet[Own]) readAhead() error {
	if f.behind.unreplayed.read || f.devices.Len() > f.memory.most {
		return nil
	}
	return f.replayAll()
}

// replayAll has all states catch up.
func (f *Fleet[Own]) replayAll() error {
	for d := range f.devices.All() {
		if d.slot == 0 {
			f.memory.add(d)
		}
	}
	err := f.replay(f.behind.unreplayed, f.behind.list)
	f.behind.unreplayed.read = err == nil
	return err
}

// join takes over the results of the workers. None of them may be under way.
func (f *Fleet[Own]) join(last *Position) {
	x := f.behind.unreplayed
	x.takeDirty(&f.dirty)
	for i := range x.workers {
		g := &x.workers[i]
		*last = Position{max(last.Seq, g.last.Seq), max(last.Now, g.last.Now)}
		g.last = Position{}
	}
}

// replayClock sets the clock back once more, for which all states are needed.
func (f *Fleet[Own]) replayClock(e *store.Entry, last *Position) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	f.behind.unreplayed.down = slices.Clone(f.downtimes)
	if err := f.replayAll(); err != nil {
		return err
	}
	*last = Position{e.Seq, e.Now}
	f.SetBack(by, e.Now, e.Seq)
	return nil
}

// Behind returns how many devices are behind.
func (f *Fleet[Own]) Behind() int { return f.behind.n }

// NextBehind lists devices that are behind, at most n of them or what memory holds, at least
// fewest. The writing goroutine calls it.
func (f *Fleet[Own]) NextBehind(n, fewest int) []*Device[Own] {
	b := &f.behind
	for len(b.list) > 0 && !b.list[0].behind {
		b.list = b.list[1:]
	}
	n = min(n, max(f.memory.most, fewest))
	list := make([]*Device[Own], 0, n)
	for i := 0; i < len(b.list) && len(list) < n; i++ {
		if d := b.list[i]; d.behind && !d.lost {
			list = append(list, d)
		}
	}
	return list
}

// CatchUp brings devices that are behind into memory and to where the log ended at the start. News
// then names them.
func (f *Fleet[Own]) CatchUp(list []*Device[Own]) error {
	f.Lock()
	defer f.Unlock()
	return f.catchUp(list)
}

// catchUp is CatchUp under the lock.
func (f *Fleet[Own]) catchUp(list []*Device[Own]) error {
	for _, d := range list {
		if d.slot == 0 {
			f.memory.add(d)
		}
	}
	if err := f.replay(f.behind.unreplayed, list); err != nil {
		for _, d := range list {
			f.memory.remove(d)
		}
		return err
	}
	f.caughtUp(list)
	return nil
}

// caughtUp notes that devices are behind no more.
func (f *Fleet[Own]) caughtUp(list []*Device[Own]) {
	for _, d := range list {
		d.behind = false
		d.See(f.memory.state(d))
	}
	f.news.CaughtUp = append(f.news.CaughtUp, list...)
	f.behind.n -= len(list)
	f.settle()
}

// settle ends the start when no device is behind.
func (f *Fleet[Own]) settle() {
	if f.behind.n > 0 || f.behind.ended {
		return
	}
	f.behind = behind[Own]{ended: true}
	if n := f.unreadable.Load(); n > 1 {
		f.log.Warn("states were lost", "devices", n)
	}
}

// partition returns the devices that are behind apart from the others.
func partition[Own any](list []*Device[Own]) (here, behind []*Device[Own]) {
	for _, d := range list {
		if d.behind {
			behind = append(behind, d)
		} else {
			here = append(here, d)
		}
	}
	return here, behind
}
