package inlet

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// told writes the items that have something: what was read, and what is named.
func told(r *Result) string {
	if r.Ignored != "" {
		return "ignored"
	}
	var out []string
	for i := range r.Items {
		x := &r.Items[i]
		if x.Split && x.Readings[0].Empty() {
			continue
		}
		for j, line := range shortItem(x) {
			if x.Problem == "" {
				for _, f := range x.Readings[j].Fields {
					if f.LeftOut() {
						line += " !" + f.Expression
					}
				}
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// TestSenders are shapes of senders that were mixed up, half read or lost.
func TestSenders(t *testing.T) {
	lib := library(t)
	for _, c := range []struct {
		topic, client, body, want string
	}{
		// One id, two channels; and a number that only its model makes a name.
		{"rtl_433/attic/events", "", `{"time":1795202410,"model":"Ambient-X","id":77,"channel":1,"battery_ok":1,"temperature_C":2.5}`, "Ambient-X/77/1 at 2026-11-20T19:20:10.000Z product_zone_temp=2.5"},
		{"rtl_433/attic/events", "", `{"time":1795202410,"model":"Ambient-X","id":77,"channel":3,"temperature_F":5}`, "Ambient-X/77/3 at 2026-11-20T19:20:10.000Z product_zone_temp=-15"},
		// Topics that all devices share.
		{"v1/devices/me/telemetry", "board-1", `{"temperature":-20.5}`, "board-1 product_zone_temp=-20.5"},
		{"v1/devices/me/telemetry", "board-2", `{"ts":1795202410000,"values":{"temperature":2.5}}`, "board-2 at 2026-11-20T19:20:10.000Z product_zone_temp=2.5"},
		{"v1/devices/me/attributes", "board-2", `{"firmware":"1.2"}`, "ignored"},
		{"v1/gateway/telemetry", "gw", `{"Island":[{"ts":1795202410000,"values":{"temperature":-21,"humidity":70}},{"ts":1795202470000,"values":{"temperature":-20}}],"Dairy":[{"ts":1795202410000,"values":{"temperature":2}}]}`,
			"Dairy at 2026-11-20T19:20:10.000Z product_zone_temp=2; Island at 2026-11-20T19:20:10.000Z product_zone_temp=-21 humidity=70; Island at 2026-11-20T19:21:10.000Z product_zone_temp=-20"},
		// States alone.
		{"zigbee2mqtt/back door", "", `{"battery":90,"contact":false,"linkquality":99}`, "back door door_open=true battery=90"},
		{"", "", `{"entity_id":"binary_sensor.cold_door","state":"off","attributes":{"device_class":"door"}}`, "binary_sensor.cold_door door_open=false"},
		{"", "", `{"id":"x","door":"open","compressor_state":"off","defrost":true}`, "x compressor_on=false defrost_active=true door_open=true"},
		{"", "", `{"id":"x","door_open_count":1,"door_alarm":true,"temperature":3}`, "x product_zone_temp=3"},
		// A probe goes before its housing, the other is named.
		{"zigbee2mqtt/box", "", `{"battery":70,"humidity":44,"temperature":22.5,"temperature_probe":-19.5}`, "box product_zone_temp=-19.5 humidity=44 battery=70 !payload.temperature"},
		{"", "", `{"deviceInfo":{"devEui":"a817"},"object":{"temperature":22,"humidity":40,"externalTemperature":-18.5,"externalTemperature2":3.5}}`,
			"a817 humidity=40 !item.temperature; a817/external product_zone_temp=-18.5; a817/external_2 product_zone_temp=3.5"},
		{"home/gw/aa", "", `{"id":"aa:bb","tempc2_ext":-18.2,"tempf2_ext":-0.76,"hum":60.5,"batt":81}`, "aa:bb product_zone_temp=-18.2 humidity=60.5 battery=81"},
		{"", "", `{"device":"dev:8644","sn":"Chest","when":1795202410,"body":{"temperature":-18.5},"temp":21.5}`, "dev:8644 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 !payload.temp"},
		{"", "", `{"id":"x","TempC_SHT":21,"TempC_DS":-18,"Hum_SHT":40}`, "x product_zone_temp=-18 humidity=40 !payload.TempC_SHT"},
		// A time that cannot be.
		{"", "", `{"id":"x","temperature":-4.5,"ts":37}`, "x unset product_zone_temp=-4.5"},
		{"", "", `{"id":"x","temperature":-4.5,"timestamp":"1970-01-01T00:00:37Z"}`, "x unset product_zone_temp=-4.5"},
		{"", "", `{"id":"x","temperature":-4.5,"time":"2000-01-01T00:00:37Z"}`, "x unset product_zone_temp=-4.5"},
		// A battery that is empty.
		{"zigbee2mqtt/f", "", `{"battery":0,"temperature":-100,"humidity":0,"linkquality":1}`, "f product_zone_temp=fault humidity=fault !payload.temperature"},
		// Numbers of which nobody says how many are one degree.
		{"", "", `{"id":"bf1","status":[{"code":"va_temperature","value":35},{"code":"va_humidity","value":61}]}`, "bf1 !payload.status[0].value !payload.status[1].value"},
		{"", "", `{"device":"AA:BB","sku":"H5112","tem":-1710,"hum":6920,"tem2":660}`, "AA:BB !payload.tem !payload.tem2 !payload.hum"},
		{"", "", `{"device":"AA:BB","tem":-1,"hum":65535,"tem2":-420}`, "AA:BB !payload.tem !payload.tem2 !payload.hum"},
		// Names of the network server's, where those of the sensor say nothing.
		{"", "", `{"end_device_ids":{"device_id":"fz"},"uplink_message":{"decoded_payload":{"bytes":"00"},"normalized_payload":[{"air":{"temperature":-19.5,"relativeHumidity":55},"battery":3.1}],"received_at":"2026-11-20T19:20:10Z"}}`,
			"fz at 2026-11-20T19:20:10.000Z product_zone_temp=-19.5 humidity=55 battery=100"},
		{"", "", `{"end_device_ids":{"device_id":"sc"},"uplink_message":{"decoded_payload":{"messages":[{"type":"report_telemetry","measurementId":4097,"measurementValue":-18.5},{"type":"report_telemetry","measurementId":4098,"measurementValue":61}]}}}`,
			"sc product_zone_temp=-18.5 humidity=61"},
		{"/device_sensor_data/1/2CF7F1/2/vs/4097", "", `{"value":-18.5,"timestamp":1795202410000}`, "2CF7F1/2 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5"},
		// Names of places.
		{"esp/sensor/chest_freezer_temperature/state", "", `-18.5`, "esp/chest_freezer product_zone_temp=-18.5"},
		{"esp/sensor/drawer_temperature/state", "", `3.5`, "esp/drawer product_zone_temp=3.5"},
		{"esp/sensor/examination_room_temperature/state", "", `3.5`, "esp/examination_room product_zone_temp=3.5"},
		{"esp/sensor/evaporator_temperature/state", "", `-26`, "esp/evaporator evaporator_temp=-26"},
		// Conventions of brokers.
		{"/devices/ref_12/meta/name", "", `Room 2`, "ignored"},
		{"/devices/ref_12/controls/Air Temperature", "", `3.5`, "ref_12 product_zone_temp=3.5"},
		{"/devices/ref_12/controls/Evaporator Temperature", "", `-6.5`, "ref_12 evaporator_temp=-6.5"},
		{"/devices/ref_12/controls/Defrost State", "", `1`, "ref_12 defrost_active=true"},
		{"/devices/ref_12/controls/Air Temperature/meta/error", "", `r`, "ignored"},
		{"homeassistant/sensor/freezer/unit_of_measurement", "", `"°C"`, "ignored"},
		{"homie/board/temperature/$unit", "", `°C`, "ignored"},
		{"rimewatch/F-1/readings", "", `{"temperature":3.5}`, "F-1 product_zone_temp=3.5"},
		{"tele/bridge/SENSOR", "", `{"ZbReceived":{"0x8F20":{"Device":"0x8F20","Name":"Chest","Temperature":-18.5,"Humidity":60,"LinkQuality":90}}}`, "bridge/0x8F20 product_zone_temp=-18.5 humidity=60"},
		// One value in a message.
		{"gate/status/bthomesensor:201", "", `{"id":201,"value":-18.5}`, "gate/bthomesensor:201"},
		{"plant/iot", "", `{"Type":"ED","Value":"-18.5","Unit":"°C","Category":"T","Tag":"Island"}`, "plant/iot/Island product_zone_temp=-18.5"},
		{"plant/iot", "", `{"Type":"ED","Value":"38.3","Unit":"°F","Category":"T","Tag":"Dairy"}`, "plant/iot/Dairy product_zone_temp=3.5"},
		// One EUI.
		{"", "", `{"applicationID":"7","deviceName":"Four","devEUI":"JOEkE2tQIhc=","objectJSON":"{\"temperature\":-18.5}","publishedAt":"2026-11-20T19:20:10Z"}`, "24e124136b502217 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5"},
		// Text.
		{"cold/a/temperature", "", "3.5 °C", "cold/a/temperature product_zone_temp=3.5"},
		{"cold/a/temperature", "", "-18,5", "cold/a/temperature product_zone_temp=-18.5"},
		{"cold/a/temperature", "", "38.3 °F", "cold/a/temperature product_zone_temp=3.5"},
		{"cold/a/temperature", "", "3.5 C", "cold/a/temperature product_zone_temp=3.5"},
		{"cold/a/temperature", "", "-18,5 °C", "cold/a/temperature product_zone_temp=-18.5"},
		// One value that is none of several costs itself.
		{"", "", `{"id":"x","t":1,"temp_1":nan,"temp_2":-18.5,"temp_3": NaN}`, "x/1 !payload.temp_1; x/2 product_zone_temp=-18.5; x/3 !payload.temp_3"},
		// A list of sensors, of which some have no temperature.
		{"", "", `{"measurements":[{"serial":"282C1","battery":"ok","measured_at":"2026-11-20T19:20:10Z","params":[{"channel":1,"type":"temperature","value":-18.5},{"channel":2,"type":"humidity","value":30}]},
			{"serial":"282C2","battery":"low","params":[{"channel":1,"type":"open-close","value":"open"}]}]}`, "282C1 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 humidity=30; 282C2 low=true"},
		// Lists beside each other are of several senders.
		{"", "", `{"Freezer A":[{"ts":1795202410,"values":{"temperature":-18.5}}],"Freezer B":[{"ts":1795202410,"values":{"temperature":3.5}}]}`,
			"Freezer A at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5; Freezer B at 2026-11-20T19:20:10.000Z product_zone_temp=3.5"},
		{"", "", `{"sensors":{"16817009.12":[{"observed":"2026-11-20T19:20:10Z","time":1795202410,"temperature":-0.4}],"16817010.98":[{"time":1795202410,"temperature":3}]}}`,
			"16817009.12 at 2026-11-20T19:20:10.000Z product_zone_temp=-0.4; 16817010.98 at 2026-11-20T19:20:10.000Z product_zone_temp=3"},
		// A unit beside its value.
		{"", "", `{"observation_list":[{"sensor_sn":"20-1","timestamp":"2026-11-20T19:20:10Z","si_value":-18.4,"si_unit":"°C","us_value":-1.12,"us_unit":"°F"},{"sensor_sn":"20-2","timestamp":"2026-11-20T19:20:10Z","si_value":3.4,"si_unit":"°C","us_value":38.1,"us_unit":"°F"}]}`,
			"20-1 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.4; 20-2 at 2026-11-20T19:20:10.000Z product_zone_temp=3.4"},
		{"", "", `{"sensorId":"D-9","sensorValue":"-18.4","sensorUnits":"°C"}`, "D-9 product_zone_temp=-18.4"},
		{"", "", `[{"serial_no":"4411","measurement":-18.3,"physical_unit":"°C"}]`, "4411 product_zone_temp=-18.3"},
		// A set point in two words.
		{"", "", `{"id":"c1","set_point":-20,"temperature":-18.5}`, "c1 product_zone_temp=-18.5"},
		{"", "", `{"id":"c1","set point temperature":-20,"temperature":-18.5}`, "c1 product_zone_temp=-18.5 !payload[\"set point temperature\"]"},
		// Events that name the device within.
		{"", "", `{"eventData":{"events":[{"eventTime":"2026-11-20T19:20:10Z","deviceEvent":{"eventId":"e1","deviceId":"9a1c","attribute":"temperature","value":-18.4,"unit":"C"}},
			{"eventTime":"2026-11-20T19:20:10Z","deviceEvent":{"eventId":"e2","deviceId":"7b2d","attribute":"temperature","value":38.3,"unit":"F"}}]}}`,
			"9a1c at 2026-11-20T19:20:10.000Z product_zone_temp=-18.4; 7b2d at 2026-11-20T19:20:10.000Z product_zone_temp=3.5"},
		{"", "", `{"serial":"SN7","measurements":[{"field":"TEMPERATURE","value":-18.5},{"field":"HUMIDITY","value":55}]}`, "SN7 product_zone_temp=-18.5 humidity=55"},
		// A name that says in which parts of its unit a value counts.
		{"", "", `{"id":"x","temp_tenths_c":-185}`, "x product_zone_temp=-18.5"},
		{"", "", `{"id":"x","tempSensorTenthsC":3}`, "x product_zone_temp=0.3"},
		{"", "", `{"id":"x","temperature_centi":-1850,"humidity_tenths":455}`, "x product_zone_temp=-18.5 humidity=45.5"},
		{"", "", `{"id":"x","temperature_tenths_f":383}`, "x product_zone_temp=3.5"},
		// A door that is told to be closed.
		{"", "", `{"id":"x","temperature":3.5,"doorClosed":true}`, "x product_zone_temp=3.5 door_open=false"},
		{"", "", `{"id":"x","temperature":3.5,"doorClosed":{"value":false}}`, "x product_zone_temp=3.5 door_open=true"},
		{"", "", `{"id":"x","temperature":3.5,"door":"closed","door_state":"closed"}`, "x product_zone_temp=3.5 door_open=false"},
		// Names that are no ASCII, and very long.
		{"", "", `{"id":"холод 🧊","температура":3.5}`, "холод 🧊 product_zone_temp=3.5"},
		{"", "", `{"id":"x","Температура воздуха 🧊":3.5}`, "x product_zone_temp=3.5"},
		{"", "", `{"id":"x","` + strings.Repeat("y", 300) + `_temperature":3.5}`, "x product_zone_temp=3.5"},
	} {
		if got := told(lib.Decode(&Payload{Topic: c.topic, Client: c.client, Body: []byte(c.body)}, nil)); got != c.want {
			t.Errorf("%s %.160s:\n got %q\nwant %q", c.topic, c.body, got, c.want)
		}
	}
}

// TestProbesKeepTheirUnit: which sensor a device's temperature is of is settled by the
// first, and holds in whatever order, number and place they come later.
func TestProbesKeepTheirUnit(t *testing.T) {
	lib := library(t)
	const one = `{"Time":"2026-11-20T19:20:10Z","DS18B20":{"Id":"B1","Temperature":-18.5},"TempUnit":"C"}`
	const two = `{"Time":"2026-11-20T19:21:10Z","DS18B20-1":{"Id":"B1","Temperature":-17.5},"DS18B20-2":{"Id":"D4","Temperature":3},"TempUnit":"C"}`
	const turned = `{"Time":"2026-11-20T19:22:10Z","DS18B20-1":{"Id":"D4","Temperature":3.5},"DS18B20-2":{"Id":"B1","Temperature":-17},"TempUnit":"C"}`
	const other = `{"Time":"2026-11-20T19:23:10Z","DS18B20":{"Id":"D4","Temperature":4},"TempUnit":"C"}`
	decode := func(body string, b ...*Binding) string {
		return told(lib.Decode(&Payload{Topic: "tele/kit/SENSOR", Body: []byte(body), Zone: rimewatch.ZoneOf("UTC")}, func(id, part string) []*Binding {
			if NameOf(id, part) == "kit" {
				return b
			}
			return nil
		}))
	}
	first := lib.Decode(&Payload{Topic: "tele/kit/SENSOR", Body: []byte(one)}, nil).Items[0].Readings[0]
	if first.Probe != "B1" {
		t.Fatalf("the first is of the probe %q", first.Probe)
	}
	settled := &Binding{Serial: "F", Probe: "B1", Settled: true}
	chosen := func(place, probe string) *Binding {
		b, err := NewBinding("C", map[string]Rule{"product_zone_temp": {From: `payload["` + place + `"].Temperature`, Probe: probe}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		body string
		b    []*Binding
		want string
	}{
		{one, []*Binding{settled}, "kit as F product_zone_temp=-18.5"},
		{two, []*Binding{settled}, "kit as F product_zone_temp=-17.5; kit/D4 product_zone_temp=3"},
		{turned, []*Binding{settled}, "kit as F product_zone_temp=-17; kit/D4 product_zone_temp=3.5"},
		{other, []*Binding{settled}, "kit/D4 product_zone_temp=4"},
		{two, []*Binding{{Serial: "F"}}, "kit/B1 product_zone_temp=-17.5; kit/D4 product_zone_temp=3"},
		{two, nil, "kit/B1 product_zone_temp=-17.5; kit/D4 product_zone_temp=3"},
		// Chosen by hand, it is the probe that it was then.
		{turned, []*Binding{chosen("DS18B20-1", "B1")}, "kit as C product_zone_temp=-17; kit/D4 product_zone_temp=3.5"},
		{other, []*Binding{chosen("DS18B20-1", "B1")}, "kit as C"},
	} {
		if got := decode(c.body, c.b...); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.body, got, c.want)
		}
	}
	r := lib.Decode(&Payload{Topic: "tele/kit/SENSOR", Body: []byte(two)}, func(string, string) []*Binding { return []*Binding{chosen("DS18B20-2", "")} })
	if got := r.Items[0].Readings[0].Probes["product_zone_temp"]; got != "D4" {
		t.Errorf("the chosen probe is %q", got)
	}
}

// TestChosenValues: a value that was chosen by hand is in the unit that it says, and what
// stands beside it is read as well.
func TestChosenValues(t *testing.T) {
	lib := library(t)
	for _, c := range []struct{ topic, body, from, unit, want string }{
		{"tele/p/SENSOR", `{"DS18B20":{"Id":"1","Temperature":44.3},"TempUnit":"F"}`, "payload.DS18B20.Temperature", "", "p as S product_zone_temp=6.833333333"},
		{"tele/p/SENSOR", `{"DS18B20":{"Id":"1","Temperature":44.3},"TempUnit":"F"}`, "payload.DS18B20.Temperature", "°C", "p as S product_zone_temp=6.833333333"},
		{"zigbee2mqtt/t", `{"battery":64,"humidity":55,"temperature":21.5,"temperature_probe":-18.5}`, "payload.temperature_probe", "", "t as S product_zone_temp=-18.5 humidity=55 battery=64 !payload.temperature"},
		{"zigbee2mqtt/t", `{"battery":64,"humidity":55,"temperature":21.5,"temperature_probe":-18.5}`, "payload.temperature", "", "t as S product_zone_temp=21.5 humidity=55 battery=64"},
	} {
		b, err := NewBinding("S", map[string]Rule{"product_zone_temp": {From: c.from, Unit: c.unit}})
		if err != nil {
			t.Fatal(err)
		}
		if got := told(lib.Decode(&Payload{Topic: c.topic, Body: []byte(c.body)}, func(id, part string) []*Binding {
			if part == "" {
				return []*Binding{b}
			}
			return nil
		})); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}

// TestSenderLines are lines that were lost or mixed up.
func TestSenderLines(t *testing.T) {
	for line, want := range map[string]string{
		`°C,domain=sensor,entity_id=mini_fridge_temperature value=3.5`:                                                                              "sensor.mini_fridge_temperature product_zone_temp=3.5",
		`°C,domain=sensor,entity_id=counter_display_temperature value=3.5`:                                                                          "sensor.counter_display_temperature product_zone_temp=3.5",
		`°C,domain=sensor,entity_id=raw_meat_cooler_temperature value=3.5`:                                                                          "sensor.raw_meat_cooler_temperature product_zone_temp=3.5",
		`°C,domain=sensor,entity_id=unit_2_freezer_temperature value=3.5`:                                                                           "sensor.unit_2_freezer_temperature product_zone_temp=3.5",
		`°C,domain=sensor,entity_id=freezer_internal_temperature value=3.5`:                                                                         "sensor.freezer_internal_temperature product_zone_temp=3.5",
		`°C,domain=sensor,entity_id=head_office_fridge value=3.5`:                                                                                   "sensor.head_office_fridge product_zone_temp=3.5",
		`sensor__temperature,domain=sensor,entity_id=deep_freezer_temperature device_class_str="temperature",unit_of_measurement_str="°F",value=-4`: "sensor.deep_freezer_temperature product_zone_temp=-20",
		`event,domain=sensor,entity_id=kitchen device_class_str="temperature",unit_of_measurement_str="°F",value=41`:                                "sensor.kitchen product_zone_temp=5",
		`units,domain=sensor,entity_id=walk_in unit_of_measurement_str="°C",value=3.5`:                                                              "sensor.walk_in product_zone_temp=3.5",
		`sensor.cold_room_temperature,domain=sensor,entity_id=cold_room_temperature value=3.5`:                                                      "sensor.cold_room_temperature product_zone_temp=3.5",
		`°C,domain=climate,entity_id=cold_room current_temperature=3.5,temperature=2,state="cool"`:                                                  "climate.cold_room product_zone_temp=3.5",
		`modbus,host=pi,name=bus,slave_id=2,type=holding_register temperature=-19.5`:                                                                "bus/2 product_zone_temp=-19.5",
		`ds18b20,host=pi,rom=28-01 temperature=3.5`:                                                                                                 "pi/28-01 product_zone_temp=3.5",
		`state,domain=binary_sensor,entity_id=cold_room device_class_str="door",value=1`:                                                            "binary_sensor.cold_room door_open=true",
	} {
		got, n := readLines(t, new(LineReader), line, "")
		if strings.Join(got, "; ") != want || n.Bad != 0 {
			t.Errorf("%s:\n got %q\nwant %q", line, got, want)
		}
	}
}
