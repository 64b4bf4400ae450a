package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// ErrDamaged is wrapped by an engine's error where a file has bytes that were never
// written to it.
var ErrDamaged = errors.New("damaged")

// Damaged is a chunk that cannot be read. It is set aside: its device goes on
// without it, and its bytes are kept until the readings would have expired.
type Damaged struct {
	DeviceSpan
	Why string
}

// damagedChunk is the error of reading one.
type damagedChunk struct{ Damaged }

func (e *damagedChunk) Error() string {
	return fmt.Sprintf("chunk %d of device %d is damaged: %s", e.ID, e.DeviceID, e.Why)
}

// Unwrap makes it an ErrDamaged.
func (e *damagedChunk) Unwrap() error { return ErrDamaged }

// damage are the damaged chunks that were found, and those of them that are set aside.
type damage struct {
	aid   Disk // sets it aside
	log   *slog.Logger
	wake  func() // something was found
	mu    sync.Mutex
	found map[DeviceSpan]string
	aside []Damaged
}

// skip reports whether err is a damaged chunk, which is then known to be one:
// whoever reads goes on as if it were not there.
func (g *damage) skip(err error) bool {
	var bad *damagedChunk
	if !errors.As(err, &bad) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.found[bad.DeviceSpan]; !known {
		if g.found == nil {
			g.found = make(map[DeviceSpan]string)
		}
		g.found[bad.DeviceSpan] = bad.Why
		g.log.Error("a chunk is damaged; its device goes on without it", "device", bad.DeviceID, "chunk", bad.ID,
			"from", bad.From, "to", bad.To, "readings", bad.N, "err", bad.Why)
		g.wake()
	}
	return true
}

// setAside moves damaged chunks out of the way of readers.
func (g *damage) setAside(ctx context.Context) error {
	g.mu.Lock()
	list := make([]Damaged, 0, len(g.found))
	for sp, why := range g.found {
		list = append(list, Damaged{sp, why})
	}
	g.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b Damaged) int { return cmp.Compare(a.ID, b.ID) })
	if err := g.aid.SetAside(ctx, list); err != nil {
		return fmt.Errorf("set damaged chunks aside: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range list {
		delete(g.found, list[i].DeviceSpan)
	}
	g.aside = append(g.aside, list...)
	return nil
}

// Damage lists the chunks that cannot be read, as far as that is known.
func (g *damage) Damage() (list []store.DamagedChunk) {
	g.mu.Lock()
	defer g.mu.Unlock()
	add := func(sp DeviceSpan, why string) {
		list = append(list, store.DamagedChunk{ID: sp.ID, DeviceID: sp.DeviceID, From: sp.From, To: sp.To, Readings: sp.N, Why: why})
	}
	for i := range g.aside {
		add(g.aside[i].DeviceSpan, g.aside[i].Why)
	}
	for sp, why := range g.found {
		add(sp, why)
	}
	return list
}

// The places that sums belong to.

func (c *Chunk) place(deviceID int64) []int64 {
	return []int64{deviceID, int64(c.From), int64(c.To), int64(c.N)}
}

func (sp *Span) place(deviceID int64) []int64 {
	return []int64{deviceID, int64(sp.From), int64(sp.To), int64(sp.N)}
}

func (c *Checkpoint) place() []int64 {
	return []int64{c.DeviceID, int64(c.Seq), int64(math.Float64bits(c.CurrentTemp)), int64(c.CurrentTempAt)}
}

// The checks of a file's rows, for doctor, backup and restore: each returns the damage of a row,
// nil = none.

// VerifyLog checks a row of the log.
func VerifyLog(seq store.Seq, row []byte) error {
	return decodeLog(int64(seq), row, func(*store.Entry, []byte) error { return nil })
}

// VerifyChunk checks a chunk and its summary.
func VerifyChunk(deviceID int64, sp Span, data, summary []byte) error {
	if _, err := decodeChunk(data, deviceID, sp); err != nil {
		return err
	}
	if _, ok := cutSum(summary, sp.place(deviceID)...); !ok {
		return errors.New("checksum of its summary")
	}
	return nil
}

// VerifyRollup checks a rollup.
func VerifyRollup(deviceID int64, from, to rimewatch.Time, data []byte) error {
	if _, ok := cutSum(data, deviceID, int64(from), int64(to)); !ok {
		return errors.New("checksum")
	}
	return nil
}

// VerifyCheckpoint checks a device's state.
func VerifyCheckpoint(c *Checkpoint) error {
	if _, ok := cutSum(c.State, c.place()...); !ok {
		return errors.New("checksum of its state")
	}
	if _, ok := cutSum(c.Latest, c.place()...); !ok {
		return errors.New("checksum of its newest reading")
	}
	return nil
}

// decodeChunk opens the bytes of a chunk and decodes all of it once.
func decodeChunk(data []byte, deviceID int64, sp Span) ([]rimewatch.Reading, error) {
	data, ok := cutSum(data, sp.place(deviceID)...)
	if !ok {
		return nil, errors.New("checksum")
	}
	c, err := chunk.Open(data)
	if err != nil {
		return nil, err
	}
	return c.Readings(nil)
}

// row takes a damaged row of the log out of the way, where that is wanted,
// and says what it costs.
func (g *damage) row(ctx context.Context, asideToo bool, seq store.Seq, data []byte, why error) error {
	readings, devices := 0, make(map[int64]bool)
	if len(data) > logHeader {
		_ = decodeRow(int64(seq), data, everything, func(e *store.Entry, encoded []byte) error {
			devices[e.Input.DeviceID] = true
			if encoded != nil {
				readings++
			}
			return nil
		})
	}
	cost := fmt.Sprintf("as far as it can be read it held %d readings and %d devices; what of it is in chunks already is kept", readings, len(devices))
	if !asideToo {
		return fmt.Errorf("%w (%s): start with --set-damaged-commits-aside to go on without it", why, cost)
	}
	if err := g.aid.SetLogAside(ctx, seq, why.Error()); err != nil {
		return fmt.Errorf("set commit %d aside: %w", seq, err)
	}
	g.log.Error("a damaged commit was set aside: what only it held is lost", "commit", seq, "readings", readings, "devices", len(devices), "err", why)
	return nil
}
