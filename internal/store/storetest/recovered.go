package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch/internal/store"
)

// recovered is what a store returns at its start; entries by commit and device.
type recovered struct {
	Checkpoints map[int64]string
	Entries     []string
}

func (f *fixture) recover() recovered {
	f.Helper()
	f.s = f.e.Reopen(f.T, f.s)
	out := recovered{Checkpoints: map[int64]string{}}
	const workers = 3
	var (
		mu   sync.Mutex
		ids  []int64
		seqs = make(map[int64]store.Seq)
		of   = make(map[int64]int) // the worker of a device
		list [workers][]logged
	)
	f.must(f.s.Recover(f.ctx, workers, func(_ int, c store.Checkpoint) error {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, c.DeviceID)
		seqs[c.DeviceID] = c.Seq
		return nil
	}, func(worker int, e *store.Entry) error {
		text := fmt.Sprintf("%d %d %d %d %s", e.Seq, e.Now-t0, e.Input.Kind, e.Input.DeviceID, payload(&e.Input))
		if own := list[worker]; len(own) > 0 && own[len(own)-1].seq > e.Seq {
			f.Errorf("worker %d is given %q after %q", worker, text, own[len(own)-1].text)
		}
		list[worker] = append(list[worker], logged{e.Seq, e.Input.DeviceID, text})
		mu.Lock()
		defer mu.Unlock()
		if before, ok := of[e.Input.DeviceID]; ok && before != worker && e.Input.Kind != store.InputClock {
			f.Errorf("device %d comes from the workers %d and %d", e.Input.DeviceID, before, worker)
		}
		of[e.Input.DeviceID] = worker
		return nil
	}))
	slices.Sort(ids)
	f.must(f.s.Checkpoints(f.ctx, ids, func(c store.Checkpoint) error {
		f.equal("place of a checkpoint", c.Seq, seqs[c.DeviceID])
		out.Checkpoints[c.DeviceID] = fmt.Sprintf("%d %s", c.Seq, c.State)
		return nil
	}))
	f.equal("checkpoints that can be read", len(out.Checkpoints), len(ids))
	all := slices.Concat(list[:]...)
	slices.SortStableFunc(all, func(a, b logged) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.device, b.device))
	})
	for _, e := range all {
		out.Entries = append(out.Entries, e.text)
	}
	return out
}

// logged is an entry of the log.
type logged struct {
	seq    store.Seq
	device int64
	text   string
}
