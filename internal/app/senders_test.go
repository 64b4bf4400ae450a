package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
)

// receive passes a message of a topic to a source, as both ways of MQTT do.
func (h *house) receive(key, topic, body string) source.Outcome {
	h.t.Helper()
	src, err := h.Sources.ByKey(h.t.Context(), key)
	h.must(err)
	o, err := h.Sources.Receive(h.t.Context(), src, &inlet.Payload{Topic: topic, Body: []byte(body)})
	h.must(err)
	return o
}

// waits lists the senders of a source that wait.
func (h *house) waits(id int64) (list []string) {
	h.t.Helper()
	for _, s := range h.call(http.MethodGet, fmt.Sprintf("/sources/%d/held", id), "")["senders"].([]any) {
		list = append(list, s.(map[string]any)["external_id"].(string))
	}
	slices.Sort(list)
	return list
}

// temps are the temperatures of a device, the oldest first; "-" is a reading without.
func (h *house) temps(serial string) string {
	h.t.Helper()
	var list []string
	for _, r := range h.call(http.MethodGet, "/devices/"+serial+"/readings", "")["readings"].([]any) {
		if v := r.(map[string]any)["product_zone_temp"]; v != nil {
			list = append(list, fmt.Sprint(v))
		} else {
			list = append(list, "-")
		}
	}
	return strings.Join(list, " ")
}

// TestProbes: which probe of a board a device has is settled by its first reading and
// survives a restart of the service's memory; others wait, also where senders register.
func TestProbes(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"boards","on_unknown":"register"}`)
	const one = `{"DS18B20":{"Id":"B1","Temperature":-18.5},"TempUnit":"C"}`
	const two = `{"DS18B20-1":{"Id":"B1","Temperature":-17.5},"DS18B20-2":{"Id":"D4","Temperature":3},"TempUnit":"C"}`
	const other = `{"DS18B20":{"Id":"D4","Temperature":4},"TempUnit":"C"}`
	for _, body := range []string{one, two, other} {
		h.receive(key, "tele/frz/SENSOR", body)
	}
	if got := h.temps("frz"); got != "-18.5 -17.5" {
		t.Errorf("the device has %s", got)
	}
	if got := h.waits(id); !slices.Equal(got, []string{"frz/D4"}) {
		t.Errorf("waiting: %v", got)
	}
	bindings := fmt.Sprint(h.call(http.MethodGet, fmt.Sprintf("/sources/%d/bindings", id), ""))
	if !strings.Contains(bindings, "frz/B1") {
		t.Errorf("nothing remembers its probe: %s", bindings)
	}
	bound := h.call(http.MethodPost, fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"frz/D4","device_serial":"cooler"}]}`)
	if bound["accepted"] != 2.0 || h.temps("cooler") != "3 4" || len(h.waits(id)) != 0 {
		t.Errorf("accepted: %v, %s, waiting %v", bound, h.temps("cooler"), h.waits(id))
	}
}

// TestPartsOfKnownDevice: a device that is called as its sender is one of the sender's sensors,
// from its first reading on and for a service whose memory is new. Of several in the first
// message nobody knows which.
func TestPartsOfKnownDevice(t *testing.T) {
	metric := func(slave, temp string) string {
		return `{"fields":{"temperature":` + temp + `},"name":"modbus","tags":{"name":"K-1","slave_id":"` + slave + `"}}`
	}
	for _, c := range []struct {
		name, temps string
		waits       []string
		send        func(h *house, s *source.Service, l *source.Live)
	}{
		{"several at once", "", []string{"K-1/1", "K-1/2"}, func(h *house, s *source.Service, l *source.Live) {
			h.take(s, l, `{"device":"K-1","sensors":[{"ch":1,"temperature":3},{"ch":2,"temperature":-18}]}`)
			h.take(s, l, `{"metrics":[`+metric("2", "-18")+`,`+metric("1", "3")+`]}`)
		}},
		{"one, then the other", "3 4", []string{"K-1/2"}, func(h *house, s *source.Service, l *source.Live) {
			h.take(s, l, metric("1", "3"))
			h.take(s, l, metric("1", "4"))
			h.take(s, l, metric("2", "-18"))
		}},
		{"both in one body of lines", "3 4", []string{"K-1/2"}, func(h *house, s *source.Service, l *source.Live) {
			for _, v := range []string{"3", "4"} {
				_, err := s.ReceiveLines(h.t.Context(), l, []byte("modbus,name=K-1,slave=1 temperature="+v+"\nmodbus,name=K-1,slave=2 temperature=-18\n"), "")
				h.must(err)
			}
		}},
		{"one of a list, then all", "3 4", []string{"K-1/2"}, func(h *house, s *source.Service, l *source.Live) {
			h.take(s, l, `{"device":"K-1","sensors":[{"ch":1,"temperature":3}]}`)
			h.take(s, l, `{"device":"K-1","sensors":[{"ch":2,"temperature":-18},{"ch":1,"temperature":4}]}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			h.call(http.MethodPost, "/devices", `{"serial":"K-1","name":"Cooler","equipment_type":"walkin_cooler"}`)
			id, key := h.newSource(`{"name":"boards"}`)
			l, err := h.Sources.ByKey(t.Context(), key)
			h.must(err)
			c.send(h, h.Sources, l)
			again, err := source.New(source.Config{Store: h.Store, Writer: h.Ingest, Now: func() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }})
			h.must(err)
			l, err = again.ByKey(t.Context(), key)
			h.must(err)
			h.take(again, l, metric("2", "-17"))
			want := c.temps
			if c.temps != "" {
				h.take(again, l, metric("1", "5"))
				want += " 5"
			} else { // nothing was known: the first that comes alone
				want = "-17"
			}
			if got := h.temps("K-1"); got != want {
				t.Errorf("the device has %s, want %s", got, want)
			}
			if got := h.waits(id); !slices.Equal(got, c.waits) {
				t.Errorf("waiting: %v, want %v", got, c.waits)
			}
		})
	}
}

// take passes a message to a service.
func (h *house) take(s *source.Service, l *source.Live, body string) {
	h.t.Helper()
	_, err := s.Receive(h.t.Context(), l, &inlet.Payload{Body: []byte(body)})
	h.must(err)
}

// TestProbesChosenByPlace: a probe that was chosen by its place is followed by its address.
func TestProbesChosenByPlace(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"boards"}`)
	h.receive(key, "tele/kit/SENSOR", `{"DS18B20-1":{"Id":"A","Temperature":3.5},"DS18B20-2":{"Id":"B","Temperature":-18.5},"TempUnit":"C"}`)
	h.receive(key, "tele/kit/SENSOR", `{"DS18B20-1":{"Id":"B","Temperature":-18},"DS18B20-2":{"Id":"C","Temperature":-20},"TempUnit":"C"}`)
	h.call(http.MethodPost, fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[
		{"external_id":"kit","device_serial":"cooler","fields":{"product_zone_temp":{"from":"payload[\"DS18B20-1\"].Temperature"}}},
		{"external_id":"kit","device_serial":"freezer","fields":{"product_zone_temp":{"from":"payload[\"DS18B20-2\"].Temperature"}}}]}`)
	if c, f := h.temps("cooler"), h.temps("freezer"); c != "3.5" || f != "-18.5 -18" {
		t.Errorf("cooler %s, freezer %s", c, f)
	}
	if got := h.waits(id); !slices.Equal(got, []string{"kit/C"}) {
		t.Errorf("waiting: %v", got)
	}
}

// TestHousingAfterProbe: what a housing measures does not take the place of the probe's,
// and the rest of its message is the device's.
func TestHousingAfterProbe(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"ble"}`)
	h.asOwner(http.MethodPost, fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"aa:bb","device_serial":"th"}]}`, http.StatusOK)
	h.receive(key, "home/gw/aabb", `{"id":"aa:bb","tempc2_ext":-18.5,"tempf2_ext":-1.3,"hum":60}`)
	h.receive(key, "home/gw/aabb", `{"id":"aa:bb","tempc":21.5,"tempf":70.7,"hum":61}`)
	h.receive(key, "home/gw/aabb", `{"id":"aa:bb","tempc2_ext":-18,"tempf2_ext":-0.4,"hum":62}`)
	if got := h.temps("th"); got != "-18.5 - -18" {
		t.Errorf("the device has %s", got)
	}
	if got := h.waits(id); !slices.Equal(got, []string{"aa:bb/tempc"}) {
		t.Errorf("waiting: %v", got)
	}
}

// TestClockUnset: a known device whose clock shows a time that cannot be is judged by
// arrival; history says so, in both forms.
func TestClockUnset(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"esp","on_unknown":"register"}`)
	for _, c := range []struct {
		body string
		n    outcomes
	}{
		{`{"id":"esp","temperature":-18,"ts":37}`, outcomes{Held: 1}}, // nobody knows it yet
		{`{"id":"esp","temperature":-18}`, outcomes{Accepted: 1}},
		{`{"id":"esp","temperature":-5,"ts":37}`, outcomes{Accepted: 1}},
		{`{"id":"esp","temperature":-5,"ts":37}`, outcomes{Duplicates: 1}},
		{`{"id":"esp","temperature":-4,"timestamp":"1970-01-01T00:01:37Z"}`, outcomes{Accepted: 1}},
		{`[{"id":"esp","temperature":-2,"ts":97},{"id":"esp","temperature":-1,"ts":127}]`, outcomes{Accepted: 1}}, // nobody knows how long apart
		{`[{"id":"esp","temperature":1,"ts":"1970-01-01T00:02:37Z"},{"id":"esp","temperature":2,"ts":"1970-01-01T00:02:07Z"}]`, outcomes{Accepted: 2}},
	} {
		status, text := h.push(http.MethodPost, "/in/"+key, c.body)
		if n := outcomes(h.outcome(status, text)); n != c.n {
			t.Errorf("%s: %+v, want %+v", c.body, n, c.n)
		}
	}
	if got := h.latest("esp"); got != 1 {
		t.Errorf("the device is at %v", got)
	}
	unset := 0
	for _, r := range h.call(http.MethodGet, "/devices/esp/readings", "")["readings"].([]any) {
		if r.(map[string]any)["clock_unset"] == true {
			unset++
		}
	}
	_, table := h.push(http.MethodGet, "/api/v1/devices/esp/readings", "", "Authorization", "Bearer "+h.token, "Accept", "text/csv")
	if rows := strings.Count(table, ",true,\r\n"); unset != 5 || rows != 5 {
		t.Errorf("%d of the readings, %d of the rows say that the clock was not set:\n%s", unset, rows, table)
	}
}

// TestNothingDisappears: text that nobody can read waits with itself, and clients whose
// topics are those of every other are told apart.
func TestNothingDisappears(t *testing.T) {
	h := newHouse(t, listening)
	id, key := h.newSource(`{"name":"mqtt","on_unknown":"register"}`)
	for i, body := range []string{`{'temperature': 3}`, `{"temperature":`, `hello`} {
		if o := h.receive(key, fmt.Sprintf("cold/odd-%d", i), body); o.Held != 1 {
			t.Errorf("%s: %+v", body, o)
		}
	}
	if got := h.waits(id); len(got) != 3 {
		t.Errorf("waiting: %v", got)
	}
	for i, client := range []string{"board-a", "board-b"} {
		d := h.thing(4)
		d.connect(client, key, true)
		d.sendAll(publication(1, 1, "v1/devices/me/telemetry", fmt.Sprintf(`{"temperature":%d}`, i)))
		d.expect(packets.Puback, 1, 0)
		if got := h.temps(client); got != fmt.Sprint(i) {
			t.Errorf("%s has %s", client, got)
		}
	}
	received := h.call(http.MethodGet, fmt.Sprintf("/sources/%d", id), "")["source"].(map[string]any)["received"].(map[string]any)
	if received["ignored"] != 0.0 {
		t.Errorf("ignored without a reason: %v", received)
	}
}

// TestHabitOfSource: a device knows how senders of its source's kind report from its first message on, also
// one that was registered before.
func TestHabitOfSource(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"any","on_unknown":"register"}`)
	h.call(http.MethodPost, "/devices", `{"serial":"70b3d5","equipment_type":"walkin_freezer"}`)
	silence := func(serial string) string {
		d := h.call(http.MethodGet, "/devices/"+serial, "")["device"].(map[string]any)
		return fmt.Sprintf("%v %v", d["offline_after_s"], d["silence"].(map[string]any)["by"])
	}
	if got := silence("70b3d5"); got != "180 default" {
		t.Errorf("before its first message: %s", got)
	}
	h.receive(key, "shellyhtg3-1/status/temperature:0", `{"id":0,"tC":-18.4,"tF":-1.1}`)
	h.receive(key, "application/1/device/70b3d5/event/up", `{"deviceInfo":{"devEui":"70b3d5"},"object":{"temperature":-18.5}}`)
	h.receive(key, "home/frz/temperature", `-18.5`)
	for _, s := range h.call(http.MethodGet, "/devices", "")["devices"].([]any) {
		serial := s.(map[string]any)["serial"].(string)
		want := "180 default"
		switch {
		case strings.HasPrefix(serial, "D-"): // of the house
			continue
		case serial == "70b3d5":
			want = "7200 kind"
		case strings.HasPrefix(serial, "shelly"):
			want = "10800 kind"
		}
		if got := silence(serial); got != want {
			t.Errorf("%s: %s, want %s", serial, got, want)
		}
	}
}

// TestBatteryOfSender: a level, a voltage and a flag are understood wherever they come from, warn once, and are
// listed with the worst first.
func TestBatteryOfSender(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"any","on_unknown":"register"}`)
	h.receive(key, "zigbee2mqtt/level", `{"temperature":-18.5,"battery":12,"linkquality":80}`)
	h.receive(key, "site/volts", `{"temperature":-18.5,"batteryVoltage":2.2,"rssi":-112}`)
	h.receive(key, "site/flag", `{"temperature":-18.5,"battery_low":true}`)
	h.receive(key, "rtl_433/ok", `{"model":"LaCrosse","id":5,"temperature_C":-18.5,"battery_ok":0}`)
	h.receive(key, "site/good", `{"temperature":-18.5,"battery_level":88,"battery_low":false}`)
	h.call(http.MethodPost, "/devices", `{"serial":"rest"}`)
	h.call(http.MethodPost, "/readings", `{"device_serial":"rest","product_zone_temp":-18.5,"battery_v":2.1}`)
	h.call(http.MethodPost, "/devices", `{"serial":"beat"}`)
	h.asOwner(http.MethodPatch, "/devices/beat/heartbeat", `{"battery_low":true}`, http.StatusOK)
	var warned []string
	for _, a := range h.call(http.MethodGet, "/alerts?type=battery_low", "")["alerts"].([]any) {
		alert := a.(map[string]any)
		if alert["severity"] != "warning" {
			t.Error(alert)
		}
		warned = append(warned, alert["device_serial"].(string))
	}
	var listed []string
	for _, s := range h.call(http.MethodGet, "/sensors", "")["sensors"].([]any) {
		x := s.(map[string]any)
		listed = append(listed, fmt.Sprint(x["serial"], " ", x["battery_pct"], " ", x["battery_low"], " ", x["rssi_dbm"]))
	}
	slices.Sort(warned)
	if len(warned) != 6 || slices.Contains(warned, "site-good") {
		t.Errorf("warned of %v", warned)
	}
	if len(listed) != 7 || !strings.HasPrefix(listed[0], "rest 5") || !strings.HasPrefix(listed[1], "site-volts 10") || !strings.HasPrefix(listed[6], "site-good 88 false") {
		t.Errorf("listed: %q", listed)
	}
}
