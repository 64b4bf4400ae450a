package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// fleet are devices with their newest readings.
type fleet struct {
	mu      sync.Mutex
	devices map[int64]rimewatch.DeviceView
	asked   int
}

func (f *fleet) each(_ context.Context, _ int64, yield func(*rimewatch.DeviceView) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	for _, id := range slices.Sorted(maps.Keys(f.devices)) {
		v := f.devices[id]
		if err := yield(&v); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) report(at rimewatch.Time, zone float64, ids ...int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.devices == nil {
		f.devices = make(map[int64]rimewatch.DeviceView)
	}
	for _, id := range ids {
		v := f.devices[id]
		v.ID, v.Serial, v.SiteID = id, "FRZ-"+string(rune('0'+id%10)), id/10
		v.Latest = rimewatch.Reading{At: at, ReceivedAt: at}
		v.Latest.Set(rimewatch.ProductZoneTemp, zone)
		f.devices[id] = v
	}
}

// zones are what a receiver was sent since it was last asked, by message.
func (r *rig) zones() (messages []map[string]float64) {
	r.Helper()
	for _, body := range r.program.messages() {
		var m struct {
			Type string
			Data struct {
				Readings []struct {
					DeviceSerial    string  `json:"device_serial"`
					ProductZoneTemp float64 `json:"product_zone_temp"`
				}
			}
		}
		r.must(json.Unmarshal(body, &m))
		if m.Type != "reading.batch" {
			continue
		}
		zones := make(map[string]float64)
		for _, x := range m.Data.Readings {
			zones[x.DeviceSerial] = x.ProductZoneTemp
		}
		messages = append(messages, zones)
	}
	return messages
}

// TestReadingsToAProgram: a webhook that names them is sent the newest reading of each device that has
// reported since, every ten seconds at most, what it refused with the next ones; its sites are heeded; nobody
// is asked for readings where no webhook wants them.
func TestReadingsToAProgram(t *testing.T) {
	bubble(t, func(r *rig) {
		r.hook(nil) // all events are no readings
		r.fleet.report(r.now(), 1, 11, 12, 23)
		r.pass(time.Minute)
		if r.fleet.asked != 0 || len(r.zones()) != 0 {
			r.Fatalf("asked %d times for readings that nobody wants", r.fleet.asked)
		}
		site := rimewatch.Site{WorkspaceID: r.workspace, Name: "Main Street", TimeZone: "UTC"}
		r.must(r.store.Sites().Create(r.Context(), &site))
		w := r.hook(func(w *rimewatch.Webhook) {
			w.Types, w.SiteIDs = []rimewatch.EventType{rimewatch.EventReadingBatch}, rimewatch.Sites{site.ID}
		})
		see := func(what string, want ...map[string]float64) {
			r.Helper()
			if got := r.zones(); !slices.EqualFunc(got, want, maps.Equal) {
				r.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		r.pass(15 * time.Second)
		see("at first", map[string]float64{"FRZ-1": 1, "FRZ-2": 1})
		r.pass(time.Minute)
		see("without a new one")
		r.fleet.report(r.now(), 2, 11, 23)
		r.pass(4 * time.Second)
		r.fleet.report(r.now(), 3, 11)
		r.pass(16 * time.Second)
		see("two of one device", map[string]float64{"FRZ-1": 3})

		r.program.set(func(subject string) error {
			if strings.HasPrefix(subject, "webhook/") {
				return errors.New("down")
			}
			return nil
		})
		r.fleet.report(r.now(), 4, 12)
		r.pass(25 * time.Second)
		if got := r.hooked(w.ID); got.Failures < 2 || got.FailingSince == 0 || got.LastError == "" {
			r.Errorf("%+v", got.ChannelHealth)
		}
		r.fleet.report(r.now(), 5, 12)
		r.program.set(nil)
		r.pass(15 * time.Second)
		see("after it was down", map[string]float64{"FRZ-2": 5})
		if got := r.hooked(w.ID); got.Failures != 0 || got.FailingSince != 0 {
			r.Errorf("%+v", got.ChannelHealth)
		}

		var many []int64
		for id := range int64(2500) {
			many = append(many, 10+id%10+1000*id) // of site 1 only where id is small
		}
		r.fleet.report(r.now(), 6, many...)
		_, err := r.store.Outbox().Webhooks().Update(r.Context(), r.workspace, w.ID, func(w *rimewatch.Webhook) error { w.SiteIDs = nil; return nil })
		r.must(err)
		r.pass(15 * time.Second)
		if got := r.program.messages(); len(got) != 3 {
			r.Errorf("%d messages for 2,500 devices", len(got))
		}
	})
}
