package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// grounds are orders that are friendlier than the load that counts, and others
// that are not.
func (x *fleet) grounds() error {
	for _, c := range []struct {
		name    string
		next    order
		scatter bool
	}{
		{"a device's ten minutes in a batch", friendly, false},
		{"devices drawn at random", atRandom, false},
		{"ten devices send 99 %", tenHot, false},
		{"clocks that differ by up to twelve hours", inTurn, true},
	} {
		if c.scatter {
			x.feed.scatter()
			x.other.scatter()
		}
		ours, other, err := x.pair(1, min(x.o.load, groundLoad), c.next)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		text := fmt.Sprintf("%s / %.1f", rate(&ours), ours.cpuEach())
		if x.victoria != nil {
			text += fmt.Sprintf(", %s / %.1f", rate(&other), other.cpuEach())
		}
		x.set(c.name+", readings/s / µs, ours, VictoriaMetrics", "", "%s", text)
	}
	return nil
}

// worst is the worst POST of a minute in which batches keep the sealing busy,
// with a loop beside it that only syncs.
func (x *fleet) worst() error {
	x.only(x.ours)
	span := x.o.minute()
	const batchConns = 2
	f := x.feed.over(worstConns + batchConns)
	var (
		wg                    sync.WaitGroup
		singles, bulk         result
		singleErr, bulkErr, e error
		syncs                 []time.Duration
	)
	wg.Go(func() {
		singles, singleErr = drive(x.ours.addr, worstConns, span, 201, pace(worstSingles, worstConns, f.singles(x.ours.token, inTurn)))
	})
	wg.Go(func() {
		next := f.batches(growthBatch, x.ours.token, inTurn)
		bulk, bulkErr = drive(x.ours.addr, batchConns, span, 200, pace(worstBatches, batchConns, func(w, n int, buf []byte) []byte {
			return next(worstConns+w, n, buf) // devices that the single POSTs leave alone
		}))
	})
	wg.Go(func() { syncs, e = syncLoop(filepath.Join(x.dir, "sync"), span) })
	wg.Wait()
	if err := errors.Join(singleErr, bulkErr, e); err != nil {
		return err
	}
	x.sent += singles.count + bulk.count*growthBatch
	at := func(r result) float64 { return ms(r.quantile(.999)) }
	sync := result{times: syncs}
	x.set(fmt.Sprintf("worst commit while sealing: POST p99.9 of %v, of a sync, ms", span), "difference < 50", "%.1f, %.1f", at(singles), at(sync))
	return nil
}

// pace holds the requests of all connections to a rate a second.
func pace(rate, conns int, next func(w, n int, buf []byte) []byte) func(w, n int, buf []byte) []byte {
	began := time.Now()
	return func(w, n int, buf []byte) []byte {
		time.Sleep(time.Until(began.Add(time.Duration(n*conns+w) * time.Second / time.Duration(rate))))
		return next(w, n, buf)
	}
}

// syncLoop writes and syncs a page a hundred times a second: what the disk alone
// makes a commit wait.
func syncLoop(path string, span time.Duration) (times []time.Duration, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := make([]byte, 4096)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(span); time.Now().Before(end); <-tick.C {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times, nil
}

// recovery is the time from the start after a kill −9 to the first POST that is
// acknowledged.
func (x *fleet) recovery() error {
	stats, err := x.ours.order("stats")
	if err != nil {
		return err
	}
	x.ours.kill()
	f := x.feed.over(1)
	began := time.Now()
	args := []string{filepath.Join(x.dir, "ours")}
	if x.o.profile != "" {
		args = append(args, filepath.Join(x.o.profile, fmt.Sprintf("growth%d-recovery.pprof", x.n)))
	}
	again, err := start("child-app", args...)
	if err != nil {
		return err
	}
	x.ours = again
	took, err := firstAnswer(again, 201, began, f.singles(again.token, inTurn))
	if err != nil {
		return err
	}
	x.sent++
	x.set("ready after kill −9, s (unsealed readings)", "< 5 with 2M", "%.2f (%s)", took.Seconds(), thousands(int(stats[2])))
	if took, err = firstAnswer(again, 200, began, func(_, _ int, buf []byte) []byte {
		return request(buf, "GET", "/api/v1/devices", again.token, "", nil)
	}); err != nil {
		return err
	}
	x.set("all states read, lists are answered, s", "", "%.2f", took.Seconds())
	x.set("resident after it, MB", "", "%.0f", float64(again.rss())/1e6)
	if x.victoria == nil {
		return nil
	}
	x.victoria.kill()
	began = time.Now()
	if x.victoria, err = startVictoria(filepath.Join(x.dir, "victoria")); err != nil {
		return err
	}
	if took, err = firstAnswer(x.victoria, 204, began, x.other.over(1).lines(1, x.victoria.token, inTurn)); err != nil {
		return err
	}
	x.set("VictoriaMetrics, s", "", "%.2f", took.Seconds())
	return nil
}

// firstAnswer sends a request until it is answered with the status that is wanted.
func firstAnswer(s *server, want int, began time.Time, next func(w, n int, buf []byte) []byte) (time.Duration, error) {
	for {
		_, err := drive(s.addr, 1, time.Hour, want, upTo(1, next))
		if err == nil || time.Since(began) > 10*time.Minute {
			return time.Since(began), err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// rest is what a reading takes in the file once all are sealed.
func (x *fleet) rest() error {
	x.only(x.ours)
	got, err := x.ours.order("rest")
	if err != nil {
		return err
	}
	if got[1] != x.sent {
		return fmt.Errorf("%d readings are stored, %d were acknowledged", got[1], x.sent)
	}
	x.set("bytes a reading at rest (readings a device)", "", "%.1f (%.0f)", float64(got[0])/float64(got[1]), float64(got[1])/float64(x.n))
	if x.victoria == nil {
		return nil
	}
	x.only(x.victoria)
	size, err := flushVictoria(x.victoria, filepath.Join(x.dir, "victoria"))
	if err != nil {
		return err
	}
	x.set("VictoriaMetrics, bytes (readings a device)", "", "%.1f (%.0f)", float64(size)/float64(x.sentOther), float64(x.sentOther)/float64(x.n))
	return nil
}
