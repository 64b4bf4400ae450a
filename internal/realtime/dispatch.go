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

// queue is what was published and not dispatched yet.
type queue struct {
	mu        sync.Mutex
	readings  []queued
	devices   []publish.Device
	alerts    []alertEvent
	compactAt int // readings that are too many
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

// queueKept is how many readings may wait for the dispatcher one by one.
const queueKept = 1 << 16

// Publish implements ingest.Publisher. Readings wait in a queue; where more
// wait than the dispatcher can be behind for any good reason, only the newest of
// each device is kept.
func (h *Hub) Publish(p *publish.Commit) {
	if h.live.Load() == 0 {
		return
	}
	q := &h.queue
	q.mu.Lock()
	for _, part := range p.Parts {
		for i := range part {
			if in := &part[i]; in.Kind == store.InputReading && in.Outcome == store.Accepted {
				q.readings = append(q.readings, queued{in.DeviceID, p.Now, in.Reading})
			}
		}
	}
	if len(q.readings) > max(q.compactAt, queueKept) {
		before := len(q.readings)
		q.readings = newestOf(q.readings)
		q.compactAt = 2 * len(q.readings)
		h.meter.coalesced(before - len(q.readings))
	}
	q.devices = append(q.devices, p.Devices...)
	for _, a := range p.Alerts {
		q.alerts = append(q.alerts, alertEvent{a, p.Now})
	}
	q.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// newestOf keeps the newest reading of each device, in order.
func newestOf(list []queued) []queued {
	newest := make(map[int64]rimewatch.Time, len(list)/2)
	for i := range list {
		newest[list[i].device] = max(newest[list[i].device], list[i].value.At)
	}
	kept := list[:0]
	for i := range list {
		if newest[list[i].device] == list[i].value.At {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// swap takes what waits and leaves the empty queue that it is given.
func (q *queue) swap(empty *queue) {
	clear(empty.devices)
	clear(empty.alerts)
	if cap(empty.readings) > queueKept {
		empty.readings = nil
	}
	q.mu.Lock()
	q.readings, empty.readings = empty.readings[:0], q.readings
	q.devices, empty.devices = empty.devices[:0], q.devices
	q.alerts, empty.alerts = empty.alerts[:0], q.alerts
	q.compactAt = 0
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
		if wait, some := h.flush(time.Now()); some {
			due.Reset(wait)
		}
	}
}

// distribute brings what was published into the rooms.
func (h *Hub) distribute(q *queue) {
	var r *room
	for i := range q.readings {
		d := h.cfg.Store.Identity(q.readings[i].device)
		if d == nil {
			continue // it was deleted a moment ago
		}
		if r == nil || r.id != d.WorkspaceID {
			if r = h.find(d.WorkspaceID); r == nil {
				continue
			}
		}
		r.gather(reading{at: q.readings[i].at, device: d, value: q.readings[i].value})
	}
	for i := range q.devices {
		h.deviceEvent(&q.devices[i])
	}
	for i := range q.alerts {
		h.alertEvent(&q.alerts[i])
	}
}

func (h *Hub) deviceEvent(e *publish.Device) {
	r := h.find(e.WorkspaceID)
	if r == nil {
		return
	}
	v := rimewatch.DeviceView{Live: rimewatch.Live{Presence: rimewatch.Presence{Status: rimewatch.Offline}}}
	if e.Device != nil {
		v.Device = *e.Device
	} else {
		var ok bool
		if v, ok = h.cfg.Store.DeviceByID(e.DeviceID); !ok {
			return // its end is among the events to come
		}
	}
	body, err := wire.AppendJSON([]byte(`{"device":`), wire.NewDeviceItem(&v, h.cfg.Now()))
	if err != nil {
		h.log.Error("encode an event", "device", e.DeviceID, "err", err)
		return
	}
	r.emit(event{at: e.At, channel: devices, device: store.IdentityOf(&v.Device)}, string(e.Kind), append(body, '}'), nil)
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

// flush sends what the rooms have gathered and is due. It returns how long the
// next one takes to be due, if any has something.
func (h *Hub) flush(now time.Time) (wait time.Duration, some bool) {
	h.eachRoom(func(r *room) {
		if w := r.flush(now); w > 0 && (!some || w < wait) {
			wait, some = w, true
		}
	})
	return wait, some
}
