package realtime

import (
	"context"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// queue are the commits that were published and not dispatched yet.
type queue struct {
	mu       sync.Mutex
	readings waiting[queued]
	devices  waiting[publish.Device]
	alerts   waiting[alertEvent]
}

// waiting are the queued events of one sort.
type waiting[T any] struct {
	list  []T
	cutAt int // so many are too many
}

// cut keeps the newest of each device or alert where too many wait, and returns how
// many it dropped.
func (b *waiting[T]) cut(key func(*T) (id int64, at rimewatch.Time)) (dropped int) {
	before := len(b.list)
	if before <= max(b.cutAt, queueKept) {
		return 0
	}
	b.list = newestOf(b.list, key)
	b.cutAt = 2 * len(b.list)
	return before - len(b.list)
}

// swap exchanges the queued events for an empty list.
func (b *waiting[T]) swap(empty *waiting[T]) {
	clear(empty.list)
	if cap(empty.list) > queueKept {
		empty.list = nil
	}
	b.list, empty.list = empty.list[:0], b.list
	b.cutAt = 0
}

// queued is a reading on its way from the writer to the dispatcher.
type queued struct {
	device int64
	at     rimewatch.Time
	value  rimewatch.Reading
}

type alertEvent struct {
	publish.Alert
	at rimewatch.Time
}

// queueKept is how many of each sort may wait for the dispatcher one by one.
const queueKept = 1 << 16

// Publish implements ingest.Publisher. The events wait in a queue; where more
// waits than the dispatcher can be behind for any good reason, only the newest
// reading and event of each device and the newest event of each alert are kept: an
// event holds all of its device or alert.
func (h *Hub) Publish(p *publish.Commit) {
	if h.live.Load() == 0 {
		return
	}
	q := &h.queue
	q.mu.Lock()
	for _, part := range p.Parts {
		for i := range part {
			in := &part[i]
			if imported, _ := in.Reading.Flags.Bool(rimewatch.Imported); imported && !in.Last {
				continue // a file is one event
			}
			if in.Kind == store.InputReading && in.Outcome == store.Accepted {
				q.readings.list = append(q.readings.list, queued{in.DeviceID, p.Now, in.Reading})
			}
		}
	}
	if dropped := q.readings.cut(func(x *queued) (int64, rimewatch.Time) { return x.device, x.value.At }); dropped > 0 {
		h.meter.coalesced(dropped)
	}
	q.devices.list = append(q.devices.list, p.Devices...)
	q.devices.cut(func(x *publish.Device) (int64, rimewatch.Time) { return x.DeviceID, 0 })
	for _, a := range p.Alerts {
		q.alerts.list = append(q.alerts.list, alertEvent{a, p.Now})
	}
	q.alerts.cut(func(x *alertEvent) (int64, rimewatch.Time) { return x.Alert.Alert.ID, 0 })
	q.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// newestOf keeps the newest element of each id, in order; of equals the last.
func newestOf[T any](list []T, key func(*T) (id int64, at rimewatch.Time)) []T {
	type place struct {
		at rimewatch.Time
		i  int
	}
	newest := make(map[int64]place)
	for i := range list {
		id, at := key(&list[i])
		if old, ok := newest[id]; !ok || old.at <= at {
			newest[id] = place{at, i}
		}
	}
	kept := list[:0]
	for i := range list {
		if id, _ := key(&list[i]); newest[id].i == i {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}

// swap takes the queue and leaves the empty one that it is given.
func (q *queue) swap(empty *queue) {
	q.mu.Lock()
	q.readings.swap(&empty.readings)
	q.devices.swap(&empty.devices)
	q.alerts.swap(&empty.alerts)
	q.mu.Unlock()
}

// dispatch is the dispatcher goroutine.
func (h *Hub) dispatch() {
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		select {
		case <-h.wake:
		case <-due.C:
		case <-h.ctx.Done():
			return
		}
		h.queue.swap(&h.scratch)
		h.distribute(&h.scratch)
		h.tellEvents()
		if wait, some := h.flush(time.Now()); some {
			due.Reset(wait)
		}
	}
}

// distribute brings the published events into the rooms.
func (h *Hub) distribute(q *queue) {
	var r *room
	for i := range q.readings.list {
		x := &q.readings.list[i]
		d := h.cfg.Store.Identity(x.device)
		if d == nil {
			continue // it was deleted a moment ago
		}
		if r == nil || r.id != d.WorkspaceID {
			if r = h.find(d.WorkspaceID); r == nil {
				continue
			}
		}
		r.gather(reading{at: x.at, device: d, value: x.value})
	}
	for i := range q.devices.list {
		h.deviceEvent(&q.devices.list[i])
	}
	for i := range q.alerts.list {
		h.alertEvent(&q.alerts.list[i])
	}
}

func (h *Hub) deviceEvent(e *publish.Device) {
	r := h.find(e.WorkspaceID)
	if r == nil {
		return
	}
	gone := rimewatch.Live{Presence: rimewatch.Presence{Status: rimewatch.Offline}}
	emit := func(kind publish.Kind, v *rimewatch.DeviceView, movedTo *int64) {
		body, err := wire.AppendJSON([]byte(`{"device":`), wire.NewDeviceItem(v, h.cfg.Now()))
		if err != nil {
			h.log.Error("encode an event", "device", e.DeviceID, "err", err)
			return
		}
		r.emit(event{at: e.At, channel: devices, device: store.IdentityOf(&v.Device), movedTo: movedTo}, string(kind), append(body, '}'), nil)
	}
	if e.Device != nil {
		emit(e.Kind, &rimewatch.DeviceView{Device: *e.Device, Live: gone}, nil)
		return
	}
	v, ok := h.cfg.Store.DeviceByID(e.DeviceID)
	if !ok {
		return // its end is among the events to come
	}
	if e.Left != nil { // subscribers who may not see its new site learn that it is gone, and not where
		was := rimewatch.DeviceView{Device: v.Device, Live: gone}
		was.SiteID, was.Site = *e.Left, nil
		emit(publish.DeviceDeleted, &was, &v.SiteID)
	}
	emit(e.Kind, &v, nil)
}

func (h *Hub) alertEvent(e *alertEvent) {
	r := h.find(e.Alert.Alert.WorkspaceID)
	if r == nil {
		return
	}
	v, err := h.cfg.Store.ViewAlert(context.Background(), e.Alert.Alert)
	write := func(l rimewatch.Locale) []byte {
		body, err := wire.AppendJSON([]byte(`{"alert":`), wire.NewAlert(&v, phrase.In(l).For(&v)))
		if err != nil {
			h.log.Error("encode an event", "alert", e.Alert.Alert.ID, "err", err)
			return nil
		}
		return append(body, '}')
	}
	var body []byte
	if err == nil {
		body = write(rimewatch.Locale{})
	} else {
		h.log.Error("read the alert of an event", "alert", e.Alert.Alert.ID, "err", err)
	}
	if body == nil {
		return
	}
	site := int64(0)
	if v.Site != nil {
		site = v.Site.ID
	}
	r.emit(event{
		at: e.at, channel: alerts, severity: v.Severity, kind: v.Type,
		device: &store.Identity{ID: v.DeviceID, WorkspaceID: v.WorkspaceID, SiteID: site, Key: rimewatch.SerialKey(v.DeviceSerial)},
	}, string(e.Kind), body, write)
}

// flush sends the due batches of the rooms. It returns how long the
// next one takes to be due, if any has something.
func (h *Hub) flush(now time.Time) (wait time.Duration, some bool) {
	h.eachRoom(func(r *room) {
		if w := r.flush(now); w > 0 && (!some || w < wait) {
			wait, some = w, true
		}
	})
	return wait, some
}
