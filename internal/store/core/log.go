package core

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// logVersion is of an entry of the log and of the rows in it.
const logVersion = 3

// logHeader is the length of the sum before the version of an entry.
const logHeader = 4

// decodeLog calls f for every input of a packed commit. The rows of readings
// are given as encoded, too.
func decodeLog(seq int64, data []byte, f func(e *store.Entry, row []byte) error) error {
	if err := checkLog(seq, data); err != nil {
		return err
	}
	return decodeRow(seq, data, everything, f)
}

// checkLog compares a packed commit with its checksum.
func checkLog(seq int64, data []byte) error {
	if len(data) < 6 || binary.LittleEndian.Uint32(data) != sum(data[logHeader:], seq) {
		return damagedCommit(seq, "checksum")
	}
	return nil
}

func damagedCommit(seq int64, what string) error {
	return fmt.Errorf("commit %d is %w: %s", seq, ErrDamaged, what)
}

// share is a part of all devices: those whose ids leave part when divided by of.
type share struct{ part, of int64 }

var everything = share{0, 1}

// decodeRow is decodeLog without the checksum, for a share of the devices. What is
// of others is passed over, which costs a fraction of decoding it.
func decodeRow(seq int64, data []byte, own share, f func(e *store.Entry, row []byte) error) error {
	if data[logHeader] != logVersion {
		return fmt.Errorf("commit %d has version %d, this program knows %d: it is from another version of Rimewatch", seq, data[logHeader], logVersion)
	}
	now, n := binary.Varint(data[logHeader+1:])
	if n <= 0 {
		return damagedCommit(seq, "time")
	}
	data = data[logHeader+1+n:]
	var e store.Entry
	for len(data) > 0 {
		kind := store.InputKind(data[0])
		id, n := binary.Uvarint(data[1:])
		if n <= 0 {
			return damagedCommit(seq, "device")
		}
		data = data[1+n:]
		mine := int64(id)%own.of == own.part
		e.Seq, e.Now = store.Seq(seq), rimewatch.Time(now)
		e.Input.Kind, e.Input.DeviceID, e.Input.Payload = kind, int64(id), nil
		var row []byte
		if kind == store.InputReading {
			var n int
			var err error
			if mine {
				n, err = chunk.DecodeReading(data, &e.Input.Reading, 0)
			} else {
				n, err = chunk.SkipReading(data)
			}
			if err != nil {
				return damagedCommit(seq, err.Error())
			}
			row, data = data[:n], data[n:]
		} else {
			size, n := binary.Uvarint(data)
			if n <= 0 || size > uint64(len(data)-n) {
				return damagedCommit(seq, "payload")
			}
			e.Input.Payload = data[n : n+int(size)]
			data = data[n+int(size):]
		}
		if !mine {
			continue
		}
		if err := f(&e, row); err != nil {
			return err
		}
	}
	return nil
}

// rowsAhead is how many rows of the log are in memory at a time while workers
// read them.
const rowsAhead = 16

// logReader hands the rows of the log to workers, each of which walks all of them
// for its own share of the devices.
type logReader struct {
	take    func(worker int, e *store.Entry, row []byte) error
	workers []chan *logRow
	spare   chan *logRow // those that no worker has to read any more
	running sync.WaitGroup
	failed  atomic.Bool
	last    store.Seq // of the rows that the disk had
	mu      sync.Mutex
	err     error // the first of a worker
}

type logRow struct {
	seq  int64
	data []byte
	left atomic.Int32 // workers that have to read it
}

// eachLogged calls take for every logged input after a position, from as many
// goroutines, each with its number: what is of one device comes from one of them, in
// order. A row that begins with a step of the clock is taken while the others wait.
// damaged hears of rows whose checksum is wrong. It returns where the log ends.
func eachLogged(ctx context.Context, disk Disk, after store.Seq, workers int, damaged func(seq store.Seq, data []byte, err error) error,
	take func(worker int, e *store.Entry, row []byte) error,
) (store.Seq, error) {
	r := &logReader{take: take, last: after, spare: make(chan *logRow, rowsAhead)}
	for range rowsAhead {
		r.spare <- new(logRow)
	}
	for i := range workers {
		rows := make(chan *logRow, rowsAhead)
		r.workers = append(r.workers, rows)
		r.running.Go(func() { r.work(i, workers, rows) })
	}
	err := disk.Log(ctx, after, func(at store.Seq, data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.last = at
		if err := checkLog(int64(at), data); err != nil {
			return damaged(at, data, err)
		}
		return r.hand(int64(at), data)
	})
	for _, rows := range r.workers {
		close(rows)
	}
	r.running.Wait()
	if r.err != nil {
		err = r.err
	}
	return r.last, err
}

// hand passes a row to all workers.
func (r *logReader) hand(seq int64, data []byte) error {
	if r.failed.Load() {
		return errStopped
	}
	if ofClock(data) {
		return r.alone(seq, data)
	}
	row := <-r.spare
	row.seq, row.data = seq, append(row.data[:0], data...)
	row.left.Store(int32(len(r.workers)))
	for _, rows := range r.workers {
		rows <- row
	}
	return nil
}

// errStopped ends the reading of the log after a worker has failed.
var errStopped = errors.New("stopped")

// ofClock reports whether a row begins with a step of the clock.
func ofClock(data []byte) bool {
	_, n := binary.Varint(data[logHeader+1:])
	return n > 0 && logHeader+1+n < len(data) && store.InputKind(data[logHeader+1+n]) == store.InputClock
}

// alone takes a row while no worker reads another.
func (r *logReader) alone(seq int64, data []byte) error {
	all := make([]*logRow, rowsAhead)
	for i := range all {
		all[i] = <-r.spare
	}
	if r.failed.Load() {
		return errStopped
	}
	err := decodeRow(seq, data, everything, func(e *store.Entry, row []byte) error {
		return r.take(int(e.Input.DeviceID%int64(len(r.workers))), e, row)
	})
	for _, row := range all {
		r.spare <- row
	}
	return err
}

func (r *logReader) work(i, of int, rows chan *logRow) {
	own := share{int64(i), int64(of)}
	for row := range rows {
		if !r.failed.Load() {
			err := decodeRow(row.seq, row.data, own, func(e *store.Entry, encoded []byte) error { return r.take(i, e, encoded) })
			if err != nil {
				r.mu.Lock()
				if r.err == nil {
					r.err = err
				}
				r.mu.Unlock()
				r.failed.Store(true)
			}
		}
		if row.left.Add(-1) == 0 {
			r.spare <- row
		}
	}
}
