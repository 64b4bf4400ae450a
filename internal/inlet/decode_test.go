package inlet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// short writes what was decoded of a payload, for tables.
func short(r *Result) []string {
	if r.Problem != "" {
		return []string{"problem: " + rimewatch.SentenceOf(r.Problem).String()}
	}
	if r.Ignored != "" {
		return []string{"ignored"}
	}
	lines := []string{}
	for i := range r.Items {
		lines = append(lines, shortItem(&r.Items[i])...)
	}
	return lines
}

func shortItem(x *Item) (lines []string) {
	if x.Problem != "" {
		return []string{x.Name() + " problem: " + rimewatch.SentenceOf(x.Problem).String()}
	}
	for i := range x.Readings {
		r := &x.Readings[i]
		line := x.Name()
		if r.Serial != "" {
			line += " as " + r.Serial
		}
		if x.Unset != "" {
			line += " unset"
		}
		if x.At != 0 {
			line += " at " + x.At.String()
		}
		for f, v := range r.Reading.All() {
			line += fmt.Sprintf(" %v=%v", f, v)
		}
		for f := range r.Reading.Faults.All() {
			line += fmt.Sprintf(" %v=fault", f)
		}
		for f := range rimewatch.NumFlags {
			if yes, ok := r.Reading.Flags.Bool(f); ok {
				line += fmt.Sprintf(" %v=%v", f, yes)
			}
		}
		if x.Device.BatteryPct != nil {
			line += fmt.Sprintf(" battery=%v", *x.Device.BatteryPct)
		}
		if x.Device.RSSI != nil {
			line += fmt.Sprintf(" rssi=%v", *x.Device.RSSI)
		}
		if low := x.Device.BatteryLow; low != nil && *low {
			line += " low=true"
		}
		lines = append(lines, line)
	}
	return lines
}

// vendors are payloads in the shape in which each sender documents them.
var vendors = []vendor{
	{"chirpstack-v4", Payload{Query: map[string]string{"event": "up"}, Body: []byte(`{
		"deduplicationId":"3ac7e3c4-4401-4b8d-9386-a5c902f9202d","time":"2026-11-20T19:20:10.123+00:00",
		"deviceInfo":{"tenantName":"ChirpStack","applicationName":"Cold rooms","deviceName":"Walk-in 1","devEui":"24e124136b502217","tags":{}},
		"devAddr":"00189440","adr":true,"dr":1,"fCnt":4,"fPort":85,"confirmed":false,"data":"AXVcA2eEAQ==",
		"object":{"battery":92,"humidity":61.5,"temperature":-18.4,"history":[{"timestamp":1795201800,"temperature":-18.2,"humidity":60}]},
		"rxInfo":[{"gatewayId":"0016c001f153a14c","rssi":-61,"snr":9.5}],"txInfo":{"frequency":868100000}}`)},
		[]string{"24e124136b502217 at 2026-11-20T19:20:10.123Z product_zone_temp=-18.4 humidity=61.5 battery=92 rssi=-61",
			"24e124136b502217 at 2026-11-20T19:10:00.000Z product_zone_temp=-18.2 humidity=60 rssi=-61"}},
	{"chirpstack-v4", Payload{Query: map[string]string{"event": "join"}, Body: []byte(`{"deviceInfo":{"devEui":"24e1"},"time":"2026-11-20T19:20:10Z"}`)}, []string{"ignored"}},
	{"chirpstack-v4", Payload{Topic: "application/8f/device/24e1/event/status", Body: []byte(`{"deviceInfo":{"devEui":"24e1"},"margin":7}`)}, []string{"ignored"}},
	{"tts-v3", Payload{Body: []byte(`{"end_device_ids":{"device_id":"walk-in-1","application_ids":{"application_id":"cold"},"dev_eui":"0004A30B001C0530"},
		"received_at":"2026-11-20T19:20:10.998Z","uplink_message":{"f_port":1,"f_cnt":3,"frm_payload":"AQ==","decoded_payload":{"temperature":3.7,"relative_humidity":55},
		"rx_metadata":[{"gateway_ids":{"gateway_id":"gtw1"},"rssi":-97,"snr":8}],"received_at":"2026-11-20T19:20:10.763284922Z",
		"last_battery_percentage":{"f_cnt":1,"value":93.7,"received_at":"2026-11-20T18:00:00Z"}}}`)},
		[]string{"walk-in-1 at 2026-11-20T19:20:10.763Z product_zone_temp=3.7 humidity=55 battery=93.7 rssi=-97"}},
	{"tts-v3", Payload{Body: []byte(`{"end_device_ids":{"device_id":"walk-in-1"},"join_accept":{"session_key_id":"x"}}`)}, []string{"ignored"}},
	{"milesight-gateway", Payload{Body: []byte(`{"applicationID":"1","applicationName":"cold","data":"AXVkA2f4AARoTQ==","devEUI":"24E124136B502217","deviceName":"EM300","fCnt":12,"fPort":85,
		"object":{"battery":100,"humidity":38.5,"temperature":24.8},"rxInfo":[{"loRaSNR":13,"mac":"24e124fffef01234","rssi":-39,"time":"2026-11-20T19:20:10Z"}]}`)},
		[]string{"24E124136B502217 at 2026-11-20T19:20:10.000Z product_zone_temp=24.8 humidity=38.5 battery=100 rssi=-39"}},
	{"milesight-gateway", Payload{Body: []byte(`{"applicationID":"1","devEUI":"24E124136B502217","objectJSON":"{\"temperature\":4.25}"}`)},
		[]string{"24E124136B502217 product_zone_temp=4.25"}},
	{"zigbee2mqtt", Payload{Topic: "zigbee2mqtt/kitchen/fridge 1", Body: []byte(`{"battery":87,"humidity":48.3,"last_seen":"2026-11-20T20:20:10+01:00","linkquality":120,"temperature":4.1,"voltage":2985}`)},
		[]string{"kitchen/fridge 1 at 2026-11-20T19:20:10.000Z product_zone_temp=4.1 humidity=48.3 battery=87"}},
	{"zigbee2mqtt", Payload{Topic: "zigbee2mqtt/plug", Body: []byte(`{"current":0.91,"energy":112.4,"linkquality":90,"power":198,"state":"ON","voltage":231}`)},
		[]string{"plug voltage=231 amp_draw=0.91 power=198 energy=112.4"}},
	{"zigbee2mqtt", Payload{Topic: "zigbee2mqtt/door", Body: []byte(`{"contact":false,"linkquality":90,"temperature":5}`)}, []string{"door product_zone_temp=5 door_open=true"}},
	{"zigbee2mqtt", Payload{Topic: "zigbee2mqtt/bridge/state", Body: []byte(`{"state":"online"}`)}, []string{"ignored"}},
	{"zigbee2mqtt", Payload{Topic: "zigbee2mqtt/fridge/availability", Body: []byte(`online`)}, []string{"ignored"}},
	{"tasmota", Payload{Topic: "tele/freezer/SENSOR", Body: []byte(`{"Time":"2026-11-20T19:20:10","DS18B20":{"Id":"0119F46A2BFF","Temperature":-0.4},"TempUnit":"F"}`)},
		[]string{"freezer product_zone_temp=-18"}},
	{"tasmota", Payload{Topic: "tele/plug/SENSOR", Body: []byte(`{"Time":"2026-11-20T19:20:10","ENERGY":{"TotalStartTime":"2024-01-01T00:00:00","Total":12.5,"Yesterday":0.9,"Power":230,"ApparentPower":251,"Factor":0.9,"Voltage":231,"Current":1.1}}`)},
		[]string{"plug voltage=231 amp_draw=1.1 power=230 energy=12.5"}},
	{"tasmota", Payload{Topic: "tele/freezer/STATE", Body: []byte(`{"Time":"2026-11-20T19:20:10","Uptime":"0T01:00:00"}`)}, []string{"ignored"}},
	{"home-assistant", Payload{Body: []byte(`{"entity_id":"sensor.fridge","state":"38.3","attributes":{"unit_of_measurement":"°F","device_class":"temperature","friendly_name":"Fridge"},"last_updated":"2026-11-20T19:20:10.5+00:00"}`)},
		[]string{"sensor.fridge at 2026-11-20T19:20:10.500Z product_zone_temp=3.5"}},
	{"home-assistant", Payload{Body: []byte(`{"entity_id":"sensor.fridge","state":"unavailable","attributes":{"device_class":"temperature"}}`)}, []string{"ignored"}},
	{"telegraf", Payload{Body: []byte(`{"metrics":[{"fields":{"air_temp":-18.5,"defrost_active":1,"setpoint_temp":-20},"name":"modbus","tags":{"host":"pi","name":"ak-cc-1","slave_id":"1"},"timestamp":1795202410},
		{"fields":{"temperature":3.5},"name":"modbus","tags":{"host":"pi","name":"ak-cc-2"},"timestamp":1795202410}]}`)},
		[]string{"ak-cc-1/1 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 setpoint_temp=-20 defrost_active=true",
			"ak-cc-2 at 2026-11-20T19:20:10.000Z product_zone_temp=3.5"}},
	{"ruuvi-gateway", Payload{Body: []byte(`{"data":{"coordinates":"","timestamp":1795202411,"gw_mac":"D6:19:19:F5:3A:0C","tags":{
		"E5:52:21:C8:DD:2E":{"rssi":-71,"timestamp":1795202409,"data":"0201061BFF9904058000FFFFFFFF800080008000FFFFFFFFFFFFFFFFFFFFFF"},
		"CB:B8:33:4C:88:4F":{"rssi":-50,"timestamp":1795202410,"data":"0201061BFF99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"}}}}`)},
		[]string{"CB:B8:33:4C:88:4F at 2026-11-20T19:20:10.000Z product_zone_temp=24.3 humidity=53.49 battery=97 rssi=-50",
			"E5:52:21:C8:DD:2E at 2026-11-20T19:20:09.000Z rssi=-71"}},
	{"disruptive", Payload{Body: []byte(`{"event":{"eventId":"c1","targetName":"projects/p1/devices/emuc17m7","eventType":"temperature","data":{"temperature":{"value":4.9,"updateTime":"2026-11-20T19:20:10.361624Z"}},"timestamp":"2026-11-20T19:20:10.4Z"},"labels":{"name":"Fridge"},"metadata":{}}`)},
		[]string{"emuc17m7 at 2026-11-20T19:20:10.361Z product_zone_temp=4.9"}},
	{"disruptive", Payload{Body: []byte(`{"event":{"targetName":"projects/p1/devices/d1","eventType":"objectPresent","data":{"objectPresent":{"state":"NOT_PRESENT","updateTime":"2026-11-20T19:20:10Z"}}}}`)},
		[]string{"d1 at 2026-11-20T19:20:10.000Z door_open=true"}},
	{"disruptive", Payload{Body: []byte(`{"event":{"targetName":"projects/p1/devices/d1","eventType":"networkStatus","data":{}}}`)}, []string{"ignored"}},
	{"auto", Payload{Body: []byte(`{"device":"fridge-1","ts":1795202410123,"temperature":4.5,"hum":60}`)}, []string{"fridge-1 at 2026-11-20T19:20:10.123Z product_zone_temp=4.5 humidity=60"}},
	{"auto", Payload{Body: []byte(`[{"sn":"a","temp_f":39.2},{"sn":"b","temp_c":-18,"temp_f":-0.4}]`)}, []string{"a product_zone_temp=4", "b product_zone_temp=-18"}},
	{"auto", Payload{Topic: "kitchen/fridge/temperature", Body: []byte(`4.25`)}, []string{"kitchen/fridge/temperature product_zone_temp=4.25"}},
	{"auto", Payload{Query: map[string]string{"id": "esp", "temperature": "4.25"}}, []string{"esp product_zone_temp=4.25"}},
	{"auto", Payload{Body: []byte(`{"serial":"x","product_zone_temp":-18,"compressor_discharge_temp":71,"compressor_on":true,"body_temp":30}`)},
		[]string{"x product_zone_temp=-18 compressor_discharge_temp=71 compressor_on=true"}},
}

func TestVendors(t *testing.T) {
	lib := library(t)
	tried := map[string]bool{}
	for _, c := range slices.Concat(vendors, boards, shapes) {
		tried[c.template] = true
		r := lib.Decode(&c.payload, nil)
		if r.Template != c.template {
			t.Errorf("%s %s: taken for %s", c.template, c.payload.Body, r.Template)
		}
		if diff := cmp.Diff(c.want, short(r)); diff != "" {
			t.Errorf("%s %s %s: (-want +got)\n%s", c.template, c.payload.Topic, c.payload.Body, diff)
		}
		matching := []string{}
		body, err := parse(&c.payload)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lib.mappers {
			if m.match.holds(newEnvironment(&c.payload, body)) {
				matching = append(matching, m.Template.Name)
			}
		}
		if len(matching) > 1 {
			t.Errorf("%s: several templates take it: %v", c.payload.Body, matching)
		}
		// The template by itself reads the same.
		if m, ok := lib.Find(c.template); ok {
			if diff := cmp.Diff(c.want, short(m.Decode(&c.payload, nil))); diff != "" {
				t.Errorf("%s alone: (-want +got)\n%s", c.template, diff)
			}
		}
	}
	for _, x := range lib.Templates() {
		if !tried[x.Name] {
			t.Errorf("no payload of %s is tried", x.Name)
		}
	}
	if len(lib.Templates()) != 16 {
		t.Errorf("%d templates, want fifteen and auto", len(lib.Templates()))
	}
}

// TestOdd is what senders get wrong.
func TestOdd(t *testing.T) {
	lib := library(t)
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct{ body, want string }{
		{`{"id":"x","temperature":"unavailable"}`, "x"},
		{`{"id":"x","temperature":null}`, "x"},
		{`{"id":"x","temperature":true}`, "x"},
		{`{"id":"x","temperature":"-19.1"}`, "x product_zone_temp=-19.1"},
		{`{"id":"x","temperature":"NaN"}`, "x"},
		{`{"id":"x","temperature":-127}`, "x product_zone_temp=fault"},
		{`{"id":"x","temperature":-196.6,"temperature_unit":"°F"}`, "x product_zone_temp=fault"},
		{`{"id":"x","temperature":85}`, "x product_zone_temp=fault"},
		{`{"id":"x","product_zone_temp":"unavailable","sensor_temp":40}`, "x"}, // one sensor does not stand in for another
		{`{"id":"x","product_zone_temp":-127,"sensor_temp":40}`, "x product_zone_temp=fault"},
		{`{"id":"x","temperature":185,"unit":"F"}`, "x product_zone_temp=fault"},
		{`{"id":"x","temperature":85.1}`, "x product_zone_temp=85.1"},
		{`{"id":"x","compressor_discharge_temp":85}`, "x compressor_discharge_temp=85"},
		{`{"id":"x","temperature":-327.68}`, "x"},
		{`{"id":"x","temperature":"4,5"}`, "x"},
		{`{"id":"x","temperature":274.15,"unit":"K"}`, "x product_zone_temp=1"},
		{`{"id":"x","temp_1":4,"temp_2":5}`, "x; x/1 product_zone_temp=4; x/2 product_zone_temp=5"},
		{`{"id":"x","temperature":32,"unit_of_measurement":"°F"}`, "x product_zone_temp=0"},
		{`{"id":"x","temperature":32,"Units":"degrees Fahrenheit"}`, "x product_zone_temp=0"},
		{`{"id":"x","temperature":3,"ambient_temp_f":50}`, "x product_zone_temp=3 ambient_temp=10"},
		{`{"id":"x","evaporator_temp_c":-26,"evaporator_temp_f":-14.8}`, "x evaporator_temp=-26"},
		{`{"device":"gv","tem":7.1,"hum":55}`, "gv product_zone_temp=7.1 humidity=55"},
		{`{"id":"x","temperature":4,"ts":0}`, "x unset product_zone_temp=4"},
		{`{"id":"x","temperature":4,"ts":1795202410}`, "x at 2026-11-20T19:20:10.000Z product_zone_temp=4"},
		{`{"id":"x","temperature":4,"ts":1795202410000000}`, "x at 2026-11-20T19:20:10.000Z product_zone_temp=4"},
		{`{"id":"x","temperature":4,"ts":1795202410000000000}`, "x at 2026-11-20T19:20:10.000Z product_zone_temp=4"},
		{`{"id":"x","temperature":4,"ts":"1795202410"}`, "x at 2026-11-20T19:20:10.000Z product_zone_temp=4"},
		{`{"id":"x","temperature":4,"ts":99999999999999999999}`, "x unset product_zone_temp=4"},
		{`{"id":"x","temperature":4,"time":"2026-11-20T19:20:10"}`, "x problem: time has no time zone: set the one that is meant in the source's settings"},
		{`{"id":9007199254740993,"temperature":4}`, "9007199254740993 product_zone_temp=4"},
		{`{"id":123456789,"temperature":4}`, "123456789 product_zone_temp=4"},
		{`{"temperature":4`, "problem: The payload is not JSON."},
		{`{"temperature":4}{}`, "problem: The payload is not JSON."},
		{"{\"temperature\":\"\xff\"}", "problem: The payload is not UTF-8."},
		{deep, "problem: The payload is nested deeper than 64 levels."},
		{`{"id":"x","temperature":4` + strings.Repeat(`,"a":1`, 10_000) + `}`, "problem: The payload has too many members in one object."},
		{`{"id":"x","name":"cut \ud83e","temperature":4}`, "x product_zone_temp=4"},
		{strings.Repeat(" ", MaxPayload+1), "problem: The payload is larger than 1 MiB."},
		{`{"id":"` + strings.Repeat("x", 200) + `","temperature":4}`, " product_zone_temp=4"}, // no identifier is so long
		{``, ""},
	} {
		got := strings.Join(short(lib.Decode(&Payload{Body: []byte(c.body)}, nil)), "; ")
		if got != c.want {
			t.Errorf("%.80s: %q, want %q", c.body, got, c.want)
		}
	}
}

// TestFieldsSayWhy: every measurement says where it came from, or why it is not
// there.
func TestFieldsSayWhy(t *testing.T) {
	lib := library(t)
	r := lib.Decode(&Payload{Explain: true, Body: []byte(`{"id":"x","probe":{"temp_1":4,"temp_2":5},"humidity":"n/a","co2":1e9}`)}, nil)
	got := map[string]string{}
	for _, f := range r.Items[0].Readings[0].Fields {
		got[f.Name] = f.Expression + ": " + rimewatch.SentenceOf(f.Problem).String()
	}
	want := map[string]string{
		"humidity": `payload.humidity: is "n/a", not a number`,
		"co2":      "payload.co2: is 1e+09, not between 0 and 100000 ppm",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	values := []Value{{"payload.co2", 1e9}, {"payload.probe.temp_1", 4}, {"payload.probe.temp_2", 5}}
	if diff := cmp.Diff(values, r.Items[0].Values); diff != "" {
		t.Error(diff)
	}
}

func TestBindings(t *testing.T) {
	lib := library(t)
	bind := func(serial string, rules map[string]Rule) *Binding {
		b, err := NewBinding(serial, rules)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	bindings := map[string][]*Binding{
		"logger": {
			bind("FREEZER", map[string]Rule{"product_zone_temp": {From: "payload.probe.temp_1"}}),
			bind("COOLER", map[string]Rule{"product_zone_temp": {From: "payload.probe.temp_2", Unit: "°F"}, "humidity": {From: "payload.rh", Scale: 0.1}}),
		},
		"plain": {bind("P-1", nil)},
	}
	bound := func(id, part string) []*Binding { return bindings[NameOf(id, part)] }
	body := `{"id":"logger","probe":{"temp_1":-18,"temp_2":39.2},"rh":605}`
	got := short(lib.Decode(&Payload{Body: []byte(body)}, bound))
	if diff := cmp.Diff([]string{"logger as FREEZER product_zone_temp=-18", "logger as COOLER product_zone_temp=4 humidity=60.5"}, got); diff != "" {
		t.Error(diff)
	}
	got = short(lib.Decode(&Payload{Body: []byte(`{"id":"plain","temperature":2}`)}, bound))
	if diff := cmp.Diff([]string{"plain as P-1 product_zone_temp=2"}, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		serial string
		rules  map[string]Rule
		field  string
	}{
		{"not a serial", nil, "device_serial"},
		{"X", map[string]Rule{"temperature": {From: "payload.t"}}, "template.fields.temperature"},
		{"X", map[string]Rule{"humidity": {From: "payload.t", Unit: "°C"}}, "template.fields.humidity.unit"},
		{"X", map[string]Rule{"humidity": {From: "payload.("}}, "template.fields.humidity.from"},
		{"X", map[string]Rule{"humidity": {}}, "template.fields.humidity.from"},
	} {
		_, err := NewBinding(c.serial, c.rules)
		if !hasField(err, c.field) {
			t.Errorf("%s %v: %v, want a word on %s", c.serial, c.rules, err, c.field)
		}
	}
}

// TestTextThatIsNoNumber: what only begins with one is not taken for it.
func TestTextThatIsNoNumber(t *testing.T) {
	for _, text := range []string{"2026-11-20T19:47:12Z", "19:47", "1.2.3", "20/11/2026", "4,5", "", "-", "°C"} {
		if n, unit, err := textNumber(text); err == nil {
			t.Errorf("%q is %v %q", text, n, unit)
		}
	}
	for text, want := range map[string]float64{"17.34℃": 17.34, " -3 °F": -3, "48 %": 48, "1e2": 100, "5eV": 5} {
		if n, _, err := textNumber(text); err != nil || n != want {
			t.Errorf("%q is %v %v, want %v", text, n, err, want)
		}
	}
}
