package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// happened are the workspace's events after a number: type and subject.
func (r *rig) happened(after int64) (list []string) {
	r.t.Helper()
	found, err := r.s.Outbox().Events(r.t.Context(), r.ws, after, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range found {
		e := &found[i]
		if e.Number != after+1+int64(i) {
			r.t.Fatalf("event %d has the number %d", i, e.Number)
		}
		list = append(list, fmt.Sprintf("%s %s", e.Type, e.Subject))
	}
	return list
}

func (r *rig) lastEvent() int64 {
	r.t.Helper()
	_, newest, err := r.s.Outbox().EventRange(r.t.Context(), r.ws)
	if err != nil {
		r.t.Fatal(err)
	}
	return newest
}

// TestEvents: what happens to a device is written as events in the commit that makes it
// happen, in an order that makes sense, and once; a reading alone is none, and neither is a
// change that changes nothing or that nobody has made.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		id := r.device("A", "walkin_freezer")
		device := rimewatch.EventSubject("device", id)
		r.warm(id, -20, 3*time.Hour)
		same(t, "a device that is well", r.happened(0), []string{"device.created " + device, "device.online " + device})

		by := store.WithActor(t.Context(), "Olga")
		rename := func(d *rimewatch.Device) error { d.Name = "Back"; return nil }
		for range 2 {
			if _, err := r.in.UpdateDevice(by, r.ws, "A", rename); err != nil {
				t.Fatal(err)
			}
		}
		reading := []store.Input{{Kind: store.InputReading, DeviceID: id}}
		reading[0].Reading.At = r.now()
		reading[0].Reading.Set(rimewatch.ProductZoneTemp, -20)
		if err := r.in.Submit(t.Context(), reading, []store.Vitals{{DeviceID: id, Heartbeat: rimewatch.Heartbeat{FirmwareVersion: "2"}}}); err != nil {
			t.Fatal(err)
		}
		same(t, "an edit", r.happened(2), []string{"device.updated " + device})
		list, err := r.s.Outbox().Events(t.Context(), r.ws, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Device struct {
				ID   int64
				Name string
			}
			Changed []string
		}
		if err := json.Unmarshal(list[0].Data, &data); err != nil {
			t.Fatal(err)
		}
		same(t, "its data", []any{data.Device.ID, data.Device.Name, strings.Join(data.Changed, " ")}, []any{id, "Back", "name"})

		n := r.lastEvent()
		r.warm(id, 5, 4*time.Hour)
		warm := r.happened(n)
		opened := map[string]int{}
		for _, e := range warm {
			what, _, _ := strings.Cut(e, " ")
			opened[what]++
		}
		same(t, "a unit that is warm", opened, map[string]int{"alert.opened": 1, "excursion.opened": 1})

		n = r.lastEvent()
		r.warm(id, -20, 3*time.Hour)
		over := map[string]int{}
		for _, e := range r.happened(n) {
			what, _, _ := strings.Cut(e, " ")
			over[what]++
		}
		same(t, "a unit that is cold again", over, map[string]int{"alert.resolved": 1, "excursion.closed": 1})

		before := r.happened(0)
		r.crash()
		same(t, "after a crash", r.happened(0), before)
		n = r.lastEvent()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		silent := r.happened(n)
		same(t, "a unit that is silent", strings.Join(silent, ", ")[:len("alert.opened alert/")], "alert.opened alert/")
		if last := silent[len(silent)-1]; !strings.HasPrefix(last, "alert.") && last != "device.offline "+device {
			t.Errorf("a unit that is silent: %v", silent)
		}

		n = r.lastEvent()
		if _, err := r.in.DeleteDevice(by, r.ws, "A"); err != nil {
			t.Fatal(err)
		}
		gone := r.happened(n)
		if len(gone) != 2 || !strings.HasPrefix(gone[0], "alert.resolved ") || gone[1] != "device.deleted "+device {
			t.Errorf("a device that is deleted: %v", gone)
		}
	})
}
