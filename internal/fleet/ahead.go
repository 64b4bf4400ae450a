package fleet

import (
	"github.com/rimewatch/rimewatch/internal/prefetch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Ahead is how many inputs before its turn a device is asked for in memory: there they
// lie in no order.
const Ahead = 8

// Ask asks for a device in memory.
func (f *Fleet[Own]) Ask(id int64) { prefetch.Of(f.devices.Get(id)) }

// AskDevice asks for the device in memory.
func (st *Staged[Own]) AskDevice() { prefetch.Of(st.Device) }

// AskState asks for a state in memory.
func (st *Staged[Own]) AskState() { prefetch.Of(st.State) }

// AskParts asks for the memory that the parts of a group after the i-th need first: of single
// readings that is all.
func (f *Fleet[Own]) AskParts(parts [][]store.Input, i int) {
	if k := i + Ahead; k < len(parts) && len(parts[k]) > 0 {
		f.Ask(parts[k][0].DeviceID)
	}
	if k := i + Ahead/2; k < len(parts) && len(parts[k]) > 0 {
		if d := f.devices.Get(parts[k][0].DeviceID); d != nil {
			prefetch.Of(f.memory.state(d))
		}
	}
}

// AskNext asks for the device of a list that comes Ahead after the i-th.
func AskNext[Own any](list []*Device[Own], i int) {
	if i+Ahead < len(list) {
		prefetch.Of(list[i+Ahead])
	}
}
