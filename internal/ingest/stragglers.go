package ingest

const (
	mostStragglers   = 256    // units that catch up between two groups
	fewestStragglers = 64     // of them, however much they have to catch up with
	stragglerInputs  = 32_768 // that these have to catch up with, about: some ten milliseconds

	// inputsADevice is how many logged inputs take as long as reading the state of a
	// device that has none.
	inputsADevice = 10
)

// startsBehind reports whether readings are taken before this many devices have
// caught up with this many logged inputs.
func (c *Config) startsBehind(devices int, inputs int64) bool {
	return devices+int(inputs/inputsADevice) > c.ReadFirst
}

// stragglerSlice returns how many of this many units catch up between two groups, when all
// of them have this many logged inputs to catch up with.
func stragglerSlice(units int, inputs int64) int {
	return min(max(int(stragglerInputs*int64(units)/max(inputs, 1)), fewestStragglers), mostStragglers)
}

// stragglers are the units whose states are not what the log says yet. Of the writer
// goroutine.
type stragglers struct {
	w     *writer
	slice int // of them that catch up between two groups
}

// catchUpAll lets all stragglers catch up at once.
func (x *stragglers) catchUpAll() error {
	for x.w.known.loading() {
		if err := x.catchUpNext(); err != nil {
			return err
		}
	}
	return x.w.makeRoom(0)
}

// catchUpNext lets some stragglers catch up.
func (x *stragglers) catchUpNext() error {
	list := x.w.fleet.NextBehind(x.slice, fewestStragglers)
	if err := x.w.makeRoom(len(list)); err != nil {
		return err
	}
	if err := x.w.fleet.CatchUp(list); err != nil {
		return err
	}
	x.w.fleet.Lock()
	defer x.w.fleet.Unlock()
	x.w.eval.hear()
	return nil
}
