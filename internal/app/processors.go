package app

import "runtime"

// spareProcessor lets Go code run on one thread more than there are processors, which the
// scheduler counts as a processor more. The thread that syncs a commit keeps its own until a watcher
// takes it back, late, and may find none free when the sync has ended: then everybody who
// waits for the commit waits for a turn, too. What an operator, or the limit of a control
// group, has set (chosen: by a flag, 0 = not) stays as it is: threads beyond a limit are stopped for a while.
func spareProcessor(chosen int) {
	now := runtime.GOMAXPROCS(0)
	if n := threads(chosen, now, runtime.NumCPU()); n != now { // to set what is so would have it never follow a limit again
		runtime.GOMAXPROCS(n)
	}
}

// threads returns on how many threads Go code may run at a time: chosen is the operator's
// choice, 0 = none; now is how many they are; processors is how many there are.
func threads(chosen, now, processors int) int {
	switch {
	case chosen != 0:
		return chosen
	case now != processors: // GOMAXPROCS, or the limit of a control group
		return now
	}
	return processors + 1
}
