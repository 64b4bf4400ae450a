package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// heat is how warm a device is.
type heat uint8

const (
	never heat = iota
	always
	sometimes
)

// sender is one device. It alone sends its readings, at growing times.
type sender struct {
	serial string
	number int
	size   int
	heat   heat
	last   rimewatch.Time
	count  int
	sent   map[rimewatch.Time]*sample
	late   *atomic.Bool     // when set, what is acknowledged comes too late to count; nil: what is under way is given up at the end
	unit   *simulate.Unit   // that is measured; nil makes temperatures up
	first  rimewatch.Time   // its first reading
	before []rimewatch.Time // its last reading before each load
	rest   func()           // ends its sending; what is under way then is given up where late is nil
	rests  <-chan struct{}  // closed when it sends no more
}

// sample is a reading that was sent: its sum, and all of it until it is acknowledged.
type sample struct {
	sum          uint64
	open         *client.Measurements
	acknowledged bool
}

var seed = maphash.MakeSeed()

// sumOf returns a number that is the same for the same measurements.
func sumOf(m *client.Measurements) uint64 {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // of pointers to numbers
	}
	return maphash.Bytes(seed, text)
}

func (s *sample) acknowledge() { s.acknowledged, s.open = true, nil }

// next returns a reading that nobody has sent.
func (d *sender) next() client.Reading {
	var m client.Measurements
	if d.unit != nil {
		r := d.unit.Next()
		d.last, m = r.At, client.MeasurementsOf(&r)
	} else {
		d.last, m = max(d.last+1, rimewatch.TimeOf(time.Now())), d.madeUp()
	}
	d.first = cmp.Or(d.first, d.last)
	d.sent[d.last] = &sample{sum: sumOf(&m), open: &m}
	return d.reading(d.last, &m)
}

// madeUp returns a temperature, and the number of the reading in its device as run_seconds.
func (d *sender) madeUp() client.Measurements {
	d.count++
	temperature := 2 + float64(d.count%10)/10
	if d.heat == always || (d.heat == sometimes && d.count/40%2 == 1) {
		temperature += 10
	}
	return client.Measurements{ProductZoneTemp: &temperature, RunSeconds: client.Value(int64(d.count))}
}

func (d *sender) reading(at rimewatch.Time, m *client.Measurements) client.Reading {
	return client.Reading{DeviceSerial: d.serial, RecordedAt: at, Measurements: *m}
}

// drive sends until ctx ends or the server does not answer any more, and
// remembers what was acknowledged. It calls answered after the first
// acknowledgement, and at its end.
func (d *sender) drive(ctx context.Context, c *client.Client, answered func()) {
	defer answered()
	posts := ctx
	if d.late != nil {
		posts = context.WithoutCancel(ctx)
	}
	for ctx.Err() == nil {
		readings := make([]client.Reading, d.size)
		for i := range readings {
			readings[i] = d.next()
		}
		err := d.post(posts, c, readings)
		if err != nil && client.StatusOf(err) == 0 {
			return
		}
		if err == nil {
			answered()
		}
		pause := pauseMS
		switch {
		case d.unit != nil:
			pause = machineMS
		case d.size > 1:
			pause = batchMS
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(time.Duration(pause) * time.Millisecond)):
		}
	}
}

func (d *sender) post(ctx context.Context, c *client.Client, readings []client.Reading) error {
	if len(readings) == 1 {
		_, _, err := c.PostReading(ctx, readings[0])
		if err == nil {
			d.acknowledged(readings)
		}
		return err
	}
	result, err := c.PostNDJSON(ctx, readings)
	if err != nil {
		return err
	}
	if result.Rejected > 0 {
		return &result.Results[0]
	}
	d.acknowledged(readings)
	return nil
}

func (d *sender) acknowledged(readings []client.Reading) {
	if d.late != nil && d.late.Load() {
		return
	}
	for i := range readings {
		d.sent[readings[i].RecordedAt].acknowledge()
	}
}

// verify compares what is stored with what was sent in the last so many loads, or ever
// where they are 0.
func (d *sender) verify(c *client.Client, loads int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience+time.Duration(len(d.sent))*time.Millisecond)
	defer cancel()
	from := cmp.Or(d.first, rimewatch.TimeOf(time.Now())) - rimewatch.Day // what was never sent is not there either
	if loads > 0 {
		from = max(from, d.before[len(d.before)-loads]+1)
	}
	found, err := stored(ctx, c, d.serial, from, d.sent, func(s *sample, r *client.StoredReading) bool {
		return sumOf(&r.Measurements) == s.sum
	})
	if err != nil {
		return err
	}
	for at, s := range d.sent {
		if at >= from && s.acknowledged && !found[at] {
			return fmt.Errorf("%s was acknowledged and is lost", at)
		}
	}
	return nil
}

// any reports whether any reading was acknowledged.
func (d *sender) any() bool {
	for _, s := range d.sent {
		if s.acknowledged {
			return true
		}
	}
	return false
}
