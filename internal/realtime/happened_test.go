package realtime

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// happens writes events and tells the hub of them, as one commit.
func (g *ground) happens(list ...rimewatch.Event) {
	p := g.fleet.past
	p.mu.Lock()
	first := int64(len(p.list)) + 1
	for i := range list {
		list[i].WorkspaceID, list[i].Number, list[i].At = 1, first+int64(i), rimewatch.Time(1000)
		if list[i].Alert == nil {
			list[i].Data = []byte(`{}`)
		}
	}
	p.list = append(p.list, list...)
	last := int64(len(p.list))
	p.mu.Unlock()
	g.Happened([]store.EventRow{{ID: last, WorkspaceID: 1, First: first, Last: last}})
}

func eventIDs(list []said) (ids []string) {
	for _, m := range list {
		if m.Op == "event" {
			ids = append(ids, m.Data.Event.ID+" "+m.Event+" "+m.Data.Event.Subject)
		}
	}
	return ids
}

// TestEventsOfTheStream: events reach who may read them, each once and in order, narrowed by
// type and site; who comes back gets what was missed; the other channels hear nothing of them.
func TestEventsOfTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		defer g.stop()
		site := rimewatch.Sites{1}
		all := g.joinAs(account.Principal{WorkspaceID: 1, TokenID: 1, Scopes: rimewatch.ScopesAdmin})
		devices := g.joinAs(account.Principal{WorkspaceID: 1, TokenID: 2, Scopes: rimewatch.ScopeDevicesRead | rimewatch.ScopeEventsRead, Limit: &site})
		none := g.joinAs(account.Principal{WorkspaceID: 1, TokenID: 3, Scopes: rimewatch.ScopesFull})
		elsewhere := g.joinAs(account.Principal{WorkspaceID: 2, TokenID: 4, Scopes: rimewatch.ScopesAdmin})
		const sub = `{"op":"subscribe","id":1,"channel":"events"`
		for _, p := range []*peer{all, devices, elsewhere} {
			if m := p.say(sub + `}`); m[0].Op != "subscribed" {
				t.Fatalf("%+v", m)
			}
		}
		if m := none.say(sub + `}`); m[0].Error.Code != "forbidden" || m[0].Error.Fields["scope"][0] != "events:read" {
			t.Errorf("without the scope: %+v", m)
		}
		if m := none.say(`{"op":"subscribe","id":2,"channel":"devices"}`); m[0].Op != "subscribed" {
			t.Fatalf("%+v", m)
		}
		if m := devices.say(`{"op":"subscribe","id":2,"channel":"events","filter":{"types":["alert.opened"]}}`); m[0].Error.Code != "forbidden" {
			t.Errorf("a type without its scope: %+v", m)
		}
		for _, bad := range []string{`{"types":[]}`, `{"types":["alert.rang"]}`, `{"types":"x"}`, `{"serials":["A"]}`} {
			if m := all.say(`{"op":"subscribe","id":9,"channel":"events","filter":` + bad + `}`); m[0].Error.Code != "validation_failed" {
				t.Errorf("%s: %+v", bad, m)
			}
		}
		of := func(what rimewatch.EventType, subject string, site int64) rimewatch.Event {
			return rimewatch.Event{Type: what, Subject: subject, SiteID: site}
		}
		opened := of(rimewatch.EventAlertOpened, "alert/7", 1)
		opened.Alert = &rimewatch.AlertTransition{AlertID: 7, Facts: &rimewatch.Alert{ID: 7, WorkspaceID: 1, DeviceID: 1, Type: rimewatch.HighTemperature}}
		g.happens(of(rimewatch.EventDeviceCreated, "device/1", 1), opened, of(rimewatch.EventDeviceOffline, "device/2", 2), of(rimewatch.EventTokenCreated, "token/5", 0))
		want := []string{"evt_1_1 device.created device/1", "evt_1_2 alert.opened alert/7", "evt_1_3 device.offline device/2", "evt_1_4 token.created token/5"}
		heard := all.take()
		if got := eventIDs(heard); !slices.Equal(got, want) {
			t.Errorf("all: %v", got)
		}
		if heard[1].Data.Event.Type != "alert.opened" || heard[1].Channel != "events" {
			t.Errorf("an alert: %+v", heard[1])
		}
		if got := eventIDs(devices.take()); !slices.Equal(got, want[:1]) {
			t.Errorf("of devices at one site: %v", got)
		}
		if got := append(none.take(), elsewhere.take()...); len(got) != 0 {
			t.Errorf("others: %+v", got)
		}
		last := heard[0].ID.(string)
		if m := all.say(strings.Replace(sub, `"id":1`, `"id":3`, 1) + `,"since":"` + last + `","filter":{"types":["device.offline"]}}`); !m[0].Recovered || !slices.Equal(eventIDs(m), want[2:3]) {
			t.Errorf("what was missed: %+v", m)
		}
	})
}
