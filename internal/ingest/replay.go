package ingest

const (
	mostPending   = 256    // units that catch up between two groups
	fewestPending = 64     // of them, however much they have to catch up with
	pendingInputs = 32_768 // that these have to catch up with, about: some ten milliseconds

	// inputsADevice is how many logged inputs take as long as reading the state of a
	// device that has none.
	inputsADevice = 10
)

// startsBehind reports whether readings are taken before this many devices have replayed this many
// logged inputs.
func (c *Config) startsBehind(devices int, inputs int64) bool {
	return devices+int(inputs/inputsADevice) > c.ReadFirst
}

// pendingSlice returns how many of this many units catch up between two groups, when all
// of them have this many logged inputs to catch up with.
func pendingSlice(units int, inputs int64) int {
	return min(max(int(pendingInputs*int64(units)/max(inputs, 1)), fewestPending), mostPending)
}

// pendingReplay has the units catch up whose states lack inputs of the log. Of the writer goroutine.
type pendingReplay struct {
	w     *writer
	slice int // of them that catch up between two groups
}

// catchUpAll has all pending units catch up at once.
func (x *pendingReplay) catchUpAll() error {
	for x.w.known.loading() {
		if err := x.catchUpNext(); err != nil {
			return err
		}
	}
	return x.w.makeRoom(0)
}

// catchUpNext has some pending units catch up.
func (x *pendingReplay) catchUpNext() error {
	list := x.w.fleet.NextBehind(x.slice, fewestPending)
	if err := x.w.makeRoom(len(list)); err != nil {
		return err
	}
	if err := x.w.fleet.CatchUp(list); err != nil {
		return err
	}
	x.w.fleet.Lock()
	defer x.w.fleet.Unlock()
	x.w.eval.takeNews()
	return nil
}
