package app

import (
	"os"
	"runtime"
)

// spareProcessor lets Go code run on one thread more than there are processors, which the
// scheduler counts as a processor more. Whoever syncs a commit keeps his until a watcher
// takes it back, late, and may find none free when the sync has ended: then everybody who
// waits for the commit waits for a turn, too. What an operator, or the limit of a control
// group, has set stays as it is: threads beyond a limit are stopped for a while.
func spareProcessor() {
	now := runtime.GOMAXPROCS(0)
	if n := threads(os.Getenv("GOMAXPROCS"), now, runtime.NumCPU()); n != now { // to set what is so would have it never follow a limit again
		runtime.GOMAXPROCS(n)
	}
}

// threads returns on how many threads Go code may run at a time: chosen is the operator's
// choice, "" = none; now is how many they are; processors is how many there are.
func threads(chosen string, now, processors int) int {
	if chosen != "" || now != processors {
		return now
	}
	return processors + 1
}
