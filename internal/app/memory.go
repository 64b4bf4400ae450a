package app

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// The garbage collector lets the heap grow to twice the live bytes before it
// collects. For a server that keeps a hundred thousand devices in memory that
// is as much again for nothing: most of it are states without pointers, which a
// collection does not walk, and a reading leaves a dozen bytes of garbage. So the
// heap may grow by a third of what a collection does walk, and by headroom at least.
const (
	headroom     = 24 << 20
	walkedPart   = 3
	leastPercent = 5
	usualPercent = 100
	// loadingPercent holds while a store is loaded: nearly all that is allocated then
	// stays.
	loadingPercent = 400
)

// unknownMemory is the memory for the states of devices where the machine's memory
// is not known: those of 400,000 devices.
const unknownMemory = 1 << 30

// stateMemory returns the memory for the states of devices, in bytes; want 0 = a
// quarter of the machine's memory, all (0 = not known). More than half of it is
// never taken: the rest is needed for what is read and written.
func stateMemory(want, all int64) int64 {
	switch {
	case all > 0 && want > 0:
		return min(want, all/2)
	case want > 0:
		return want
	case all > 0:
		return all / 4
	}
	return unknownMemory
}

// stateBudget returns the operator's wish, as far as the machine has the memory.
func stateBudget(cfg *Config) int64 {
	want, all := cfg.StateMemory<<20, machineMemory()
	most := stateMemory(want, all)
	if want > most {
		cfg.Logger.Warn("--state-memory is more than half of this machine's memory; half is used", "wanted_mib", want>>20, "used_mib", most>>20)
	}
	return most
}

// StateMemory returns the memory that the states of so many devices take, and the memory that
// they may take unless an operator decides otherwise, in bytes.
func StateMemory(devices int64) (needed, budget int64) {
	return devices * ingest.StateBytes, stateMemory(0, machineMemory())
}

// releaseAfterRecovery gives back the memory that the recovery of a large store needed for
// a moment. It costs a collection, so small stores are spared.
func releaseAfterRecovery() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys > 4*headroom {
		debug.FreeOSMemory()
	}
}

// collectLess is for the time in which a store is loaded; restore ends it.
func collectLess() (restore func()) {
	before := debug.SetGCPercent(loadingPercent)
	return sync.OnceFunc(func() { debug.SetGCPercent(before) })
}

// tuneMemory adjusts the collector to the live bytes until ctx ends. Where there is
// little memory it collects as often as it has to, unless GOMEMLIMIT says otherwise.
func tuneMemory(ctx context.Context) {
	if all := machineMemory(); all > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(all - all/10)
		defer debug.SetMemoryLimit(math.MaxInt64)
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	before := debug.SetGCPercent(usualPercent)
	defer debug.SetGCPercent(before)
	last := usualPercent
	for range ticker.Every(ctx.Done(), 2*time.Second, nil) {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 || sample[1].Value.Kind() != metrics.KindUint64 {
			return
		}
		if p := collectAt(sample[0].Value.Uint64(), sample[1].Value.Uint64()); p != last {
			debug.SetGCPercent(p)
			last = p
		}
	}
}

// collectAt returns the growth, in percent of the live bytes, at which to collect;
// walked is how much of the heap holds pointers.
func collectAt(live, walked uint64) int {
	if live == 0 {
		return usualPercent
	}
	return int(min(max(max(walked/walkedPart, headroom)*100/live, leastPercent), usualPercent))
}
