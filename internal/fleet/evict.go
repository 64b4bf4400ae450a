package fleet

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
)

// evictLeast is how many states leave memory at a time, so that their checkpoints
// share a transaction.
const evictLeast = 256

// Needed are devices whose states must be in memory for a group, and stay there until Done.
type Needed[Own any] struct{ here, away []*Device[Own] }

// AllHere reports whether all states are in memory, as the log says, and within the budget:
// those of new devices are here from the first.
func (f *Fleet[Own]) AllHere() bool {
	return f.memory.used() == f.devices.Len() && f.memory.used() <= f.memory.most && f.behind.n == 0
}

// Need adds a device, if there is one with this id.
func (f *Fleet[Own]) Need(n *Needed[Own], id int64) {
	d := f.devices.Get(id)
	if d == nil || d.needed {
		return
	}
	d.needed = true
	if d.slot == 0 || d.behind {
		n.away = append(n.away, d)
	} else {
		n.here = append(n.here, d)
	}
}

// Away returns how many states have to come into memory.
func (n *Needed[Own]) Away() int { return len(n.away) }

// Done lets the states leave memory again.
func (n *Needed[Own]) Done() {
	for _, list := range [][]*Device[Own]{n.here, n.away} {
		for _, d := range list {
			d.needed = false
		}
	}
}

// Load brings the needed states into memory.
func (f *Fleet[Own]) Load(n *Needed[Own]) error {
	f.Lock()
	defer f.Unlock()
	return f.load(n.away)
}

// LoadOne brings the state of a device into memory, if it is not there.
func (f *Fleet[Own]) LoadOne(d *Device[Own]) error {
	f.Lock()
	defer f.Unlock()
	return f.load([]*Device[Own]{d})
}

// LoadAll brings all states into memory. After an error those that could not be read are lost
// until Rebuild: the log says how they go on. Under the lock.
func (f *Fleet[Own]) LoadAll() error {
	var away []*Device[Own]
	for d := range f.devices.All() {
		if d.slot == 0 || d.behind {
			away = append(away, d)
		}
	}
	err := f.load(away)
	if err != nil {
		for _, d := range away {
			d.lost = true
			f.lost = append(f.lost, d)
		}
	}
	return err
}

// Cold lists the coldest states, as many as have to leave memory before n more have their place
// within the budget, or as can: none when there is room.
func (f *Fleet[Own]) Cold(n int) []*Device[Own] {
	over := f.memory.used() + n - f.memory.most
	if over <= 0 {
		return nil
	}
	f.Lock()
	defer f.Unlock()
	return f.memory.coldest(max(over, evictLeast), nil)
}

// Dirty reports whether some of these devices have changed since their checkpoints.
func Dirty[Own any](list []*Device[Own]) bool {
	for _, d := range list {
		if d.dirtySeq != 0 {
			return true
		}
	}
	return false
}

// Evict takes states out of memory, and writes the checkpoints of those that have changed as
// of commit seq: everything in them is durable.
func (f *Fleet[Own]) Evict(list []*Device[Own], seq store.Seq) error {
	c := Copies[Own]{seq: seq}
	for _, d := range list {
		if state := f.memory.state(d); d.dirtySeq != 0 && state != nil {
			c.list = append(c.list, copied[Own]{dirtyDevice: dirtyDevice[Own]{device: d, seq: d.dirtySeq}, facts: d.Facts, state: *state})
		}
	}
	if len(c.list) > 0 {
		if err := f.Save(&c); err != nil {
			return err
		}
		for i := range c.list {
			c.list[i].device.dirtySeq = 0
		}
	}
	f.Lock()
	defer f.Unlock()
	for _, d := range list {
		d.recent = false
		f.memory.remove(d)
	}
	return nil
}

// load reads the states of devices from their checkpoints, and brings those that are behind
// to where the log ends. Under the lock.
func (f *Fleet[Own]) load(list []*Device[Own]) error {
	if f.behind.n > 0 {
		var behind []*Device[Own]
		list, behind = partition(list)
		if err := f.catchUp(behind); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	f.fetched.Add(int64(len(list)))
	err := f.store.Checkpoints(context.Background(), ids, func(c store.Checkpoint) error {
		d := f.devices.Get(c.DeviceID)
		x := d.Facts
		state := f.memory.add(d)
		if err := f.readCheckpoint(c.State, &x, state); err != nil {
			f.unread(d, err)
			if !errors.Is(err, engine.ErrAnew) {
				*state = engine.State{}
			}
			f.news.Anew = append(f.news.Anew, d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.slot == 0 {
			f.memory.add(d)
		}
	}
	return nil
}
