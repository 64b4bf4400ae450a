package clock

import (
	"sync"

	"github.com/rimewatch/rimewatch"
)

// Keeper keeps the service's time for many who ask. The write path alone moves
// it, since deadlines move with it.
type Keeper struct {
	Witness
	look func() Machine

	mu    sync.Mutex
	state State
}

// NewKeeper makes a keeper that reads the machine's clocks by look.
func NewKeeper(look func() Machine) *Keeper {
	k := &Keeper{look: look}
	k.Start(0)
	return k
}

// Start starts again from the wall clock, but not before newest.
func (k *Keeper) Start(newest rimewatch.Time) {
	k.with(func(m Machine) { k.state = Start(m, newest) })
}

// Now is the service's time.
func (k *Keeper) Now() (now rimewatch.Time) {
	k.with(func(m Machine) { now = k.state.Now(m.Mono) })
	return now
}

// Look compares the machine's clocks; see State.Look.
func (k *Keeper) Look() (e Event) {
	k.with(func(m Machine) { e = k.state.Look(m) })
	return e
}

// Adopt moves the service's time by what a Due event said.
func (k *Keeper) Adopt(by rimewatch.Time) {
	k.with(func(m Machine) { k.state.Adopt(by, m.Mono) })
}

// Gap is how far the wall clock is ahead of the service's time since a step that
// is not adopted yet, 0 = it has not stepped.
func (k *Keeper) Gap() (gap rimewatch.Time) {
	k.with(func(Machine) { gap = k.state.Gap() })
	return gap
}

// Steps is the number of steps seen.
func (k *Keeper) Steps() (n int64) {
	k.with(func(Machine) { n = k.state.Steps() })
	return n
}

// Sure reports whether data may be deleted for their age: both clocks have run
// alike for AgreeToDelete, and the devices do not contradict.
func (k *Keeper) Sure() bool {
	var agreed, now rimewatch.Time
	k.with(func(m Machine) { agreed, now = k.state.AgreedFor(m.Mono), k.state.Now(m.Mono) })
	return agreed >= AgreeToDelete && k.Agrees(now)
}

func (k *Keeper) with(f func(Machine)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k.look())
}
