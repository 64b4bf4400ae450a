package inlet

// vendor is a payload in the shape in which its sender documents it, with what
// is read of it.
type vendor struct {
	template string
	payload  Payload
	want     []string
}

// boards are payloads of senders that publish each value by itself: what two probes
// of one board measure must not become one device.
var boards = []vendor{
	{"shelly", Payload{Query: map[string]string{"hum": "53", "temp": "21.88", "id": "shellyht-6C2B21"}}, []string{"shellyht-6C2B21 product_zone_temp=21.88 humidity=53"}},
	{"shelly", Payload{Topic: "shellyhtg3-84fce63ad204/events/rpc", Body: []byte(`{"src":"shellyhtg3-84fce63ad204","dst":"shellyhtg3/events","method":"NotifyFullStatus","params":{"ts":1795202410.52,
		"devicepower:0":{"id":0,"battery":{"V":5.41,"percent":81},"external":{"present":false}},"humidity:0":{"id":0,"rh":44.2},"temperature:0":{"id":0,"tC":3.6,"tF":38.5},"wifi":{"rssi":-55}}}`)},
		[]string{"shellyhtg3-84fce63ad204 at 2026-11-20T19:20:10.520Z product_zone_temp=3.6 humidity=44.2 battery=81 rssi=-55"}},
	{"shelly", Payload{Topic: "shellyhtg3-84fce63ad204/status/temperature:0", Body: []byte(`{"id": 0,"tC":3.5,"tF":38.3}`)}, []string{"shellyhtg3-84fce63ad204 product_zone_temp=3.5"}},
	{"shelly", Payload{Topic: "shellies/shellyht-6C2B21/sensor/temperature", Body: []byte(`4.12`)}, []string{"shellyht-6C2B21 product_zone_temp=4.12"}},
	{"shelly", Payload{Topic: "shellyplus1pm-a8/status/switch:0", Body: []byte(`{"id":0,"output":true,"apower":188.4,"voltage":229.9,"current":0.87,"aenergy":{"total":18250.5},"temperature":{"tC":41.2,"tF":106.2}}`)},
		[]string{"shellyplus1pm-a8 voltage=229.9 amp_draw=0.87 power=188.4 energy=18.2505"}},
	// shelly-api-docs.shelly.cloud/gen2/Addons/ShellySensorAddon: the components of an add-on are numbered from 100
	// on; gen2/ComponentsAndServices/Mqtt: TOPIC_PREFIX/status/COMPONENT:ID, where the prefix is the owner's choice.
	{"shelly", Payload{Topic: "shellyplus1-b/status/temperature:100", Body: []byte(`{"id":100,"tC":-18.5,"tF":-1.3}`)}, []string{"shellyplus1-b/temperature:100 product_zone_temp=-18.5"}},
	{"shelly", Payload{Topic: "shellyplus1-b/status/temperature:101", Body: []byte(`{"id":101,"tC":4.5,"tF":40.1}`)}, []string{"shellyplus1-b/temperature:101 product_zone_temp=4.5"}},
	{"shelly", Payload{Topic: "shellyplus1-b/status/humidity:100", Body: []byte(`{"id":100,"rh":61.2}`)}, []string{"shellyplus1-b/humidity:100 humidity=61.2"}},
	{"shelly", Payload{Topic: "shop/back/status/temperature:0", Body: []byte(`{"id":0,"tC":3.5,"tF":38.3}`)}, []string{"shop/back product_zone_temp=3.5"}},
	{"shelly", Payload{Topic: "shellies/shellyplus2pm-a8/status/switch:1", Body: []byte(`{"id":1,"apower":90,"voltage":230,"current":0.4,"temperature":{"tC":41.2}}`)},
		[]string{"shellyplus2pm-a8/switch:1 voltage=230 amp_draw=0.4 power=90"}},
	{"shelly", Payload{Topic: "shellyplus1-b/events/rpc", Body: []byte(`{"src":"shellyplus1-b","dst":"shellyplus1-b/events","method":"NotifyFullStatus","params":{"ts":1795202410.52,
		"switch:0":{"id":0,"apower":188.4,"temperature":{"tC":41.2}},"temperature:100":{"id":100,"tC":-18.5,"tF":-1.3},"temperature:101":{"id":101,"tC":4.5,"tF":40.1},"wifi":{"rssi":-55}}}`)},
		[]string{"shellyplus1-b at 2026-11-20T19:20:10.520Z power=188.4 rssi=-55", "shellyplus1-b/temperature:100 at 2026-11-20T19:20:10.520Z product_zone_temp=-18.5",
			"shellyplus1-b/temperature:101 at 2026-11-20T19:20:10.520Z product_zone_temp=4.5"}},
	{"shelly", Payload{Topic: "shellyplus1-b/events/rpc", Body: []byte(`{"src":"shellyplus1-b","dst":"shellyplus1-b/events","method":"NotifyStatus","params":{"ts":1795202410.52,"temperature:101":{"id":101,"tC":4.5,"tF":40.1}}}`)},
		[]string{"shellyplus1-b/temperature:101 at 2026-11-20T19:20:10.520Z product_zone_temp=4.5"}},
	// shelly-api-docs.shelly.cloud/gen1: shellies/MODEL-ID/temperature is the inside of a plug or a relay; what is
	// connected is in sensor/ (H&T, Flood, Door/Window) or ext_temperature/INDEX (add-on, Uni).
	{"shelly", Payload{Topic: "shellies/shellyplug-s-1/temperature", Body: []byte(`55.1`)}, []string{"ignored"}},
	{"shelly", Payload{Topic: "shellies/shelly1pm-1/temperature_f", Body: []byte(`131.2`)}, []string{"ignored"}},
	{"shelly", Payload{Topic: "shellies/shellyplug-s-1/relay/0/power", Body: []byte(`118.3`)}, []string{"shellyplug-s-1 power=118.3"}},
	{"shelly", Payload{Topic: "shellies/shellyem-1/emeter/1/power", Body: []byte(`118.3`)}, []string{"shellyem-1/emeter/1 power=118.3"}},
	{"shelly", Payload{Topic: "shellies/shellyswitch25-1/relay/power", Body: []byte(`118.3`)}, []string{"shellyswitch25-1 power=118.3"}},
	{"shelly", Payload{Topic: "shellies/shelly1-X/ext_temperature/0", Body: []byte(`-18.69`)}, []string{"shelly1-X/ext/0 product_zone_temp=-18.69"}},
	{"shelly", Payload{Topic: "shellies/shelly1-X/ext_humidity/0", Body: []byte(`60`)}, []string{"shelly1-X/ext/0 humidity=60"}},
	{"shelly", Payload{Topic: "shellies/shelly1-X/ext_temperature/1", Body: []byte(`4.5`)}, []string{"shelly1-X/ext/1 product_zone_temp=4.5"}},
	{"shelly", Payload{Topic: "shellies/shelly1-X/ext_temperature_f/1", Body: []byte(`40.1`)}, []string{"ignored"}},
	{"shelly", Payload{Topic: "shellies/shellyht-6C2B21/sensor/humidity", Body: []byte(`53`)}, []string{"shellyht-6C2B21 humidity=53"}},
	{"shelly", Payload{Topic: "shellies/shelly1-X/relay/0", Body: []byte(`off`)}, []string{"shelly1-X"}},

	// esphome.io/components/mqtt: TOPIC_PREFIX/COMPONENT_TYPE/COMPONENT_NAME/state, where the prefix is the node's name
	// unless it is set.
	{"esphome", Payload{Topic: "cold-room/sensor/freezer_temperature/state", Body: []byte(`-18.50`)}, []string{"cold-room/freezer product_zone_temp=-18.5"}},
	{"esphome", Payload{Topic: "cold-room/sensor/wifi_signal/state", Body: []byte(`-50`)}, []string{"cold-room/wifi_signal"}},
	{"esphome", Payload{Topic: "cold-room/sensor/freezer_temperature/state", Body: []byte(`nan`)}, []string{"ignored"}},
	{"esphome", Payload{Topic: "esp2/sensor/walk_in_temperature/state", Body: []byte(`-18.5`)}, []string{"esp2/walk_in product_zone_temp=-18.5"}},
	{"esphome", Payload{Topic: "esp2/sensor/walk_in_humidity/state", Body: []byte(`60`)}, []string{"esp2/walk_in humidity=60"}},
	{"esphome", Payload{Topic: "esp2/sensor/display_case_temperature/state", Body: []byte(`4.5`)}, []string{"esp2/display_case product_zone_temp=4.5"}},
	{"esphome", Payload{Topic: "esp2/sensor/temperature_1/state", Body: []byte(`4.5`)}, []string{"esp2/temperature_1 product_zone_temp=4.5"}},
	{"esphome", Payload{Topic: "esp3/sensor/temperature/state", Body: []byte(`4.5`)}, []string{"esp3 product_zone_temp=4.5"}},
	{"esphome", Payload{Topic: "esp3/sensor/internal_temperature/state", Body: []byte(`53.3`)}, []string{"esp3/internal"}}, // of the chip
	{"esphome", Payload{Topic: "shop/esp4/sensor/evaporator_temp/state", Body: []byte(`-26`)}, []string{"shop/esp4 evaporator_temp=-26"}},
	{"esphome", Payload{Topic: "shop/esp4/binary_sensor/door_open/state", Body: []byte(`ON`)}, []string{"shop/esp4 door_open=true"}},
	// home-assistant.io/integrations/mqtt_statestream: BASE_TOPIC/DOMAIN/ENTITY/state, in the same form.
	{"esphome", Payload{Topic: "homeassistant/sensor/freezer_temperature/state", Body: []byte(`-18.5`)}, []string{"homeassistant/freezer product_zone_temp=-18.5"}},
	// What a board says of itself beside its sensors.
	{"esphome", Payload{Topic: "cold-room/status", Body: []byte(`online`)}, []string{"ignored"}},
	{"esphome", Payload{Topic: "esphome/discover/cold-room", Body: []byte(`{"ip":"192.0.2.7","name":"cold-room","port":6053}`)}, []string{"ignored"}},
	{"esphome", Payload{Topic: "homeassistant/sensor/cold-room/freezer_temperature/config", Body: []byte(`{"name":"Freezer temperature","unit_of_meas":"°C"}`)}, []string{"ignored"}},
	{"esphome", Payload{Topic: "esphome/sensor/freezer_temperature/state", Body: []byte(`-18.5`)}, []string{"esphome/freezer product_zone_temp=-18.5"}},

	// Values whose topic alone says what they are, and in which unit.
	{"auto", Payload{Topic: "shop/cooler/temperature", Body: []byte(`4`)}, []string{"shop/cooler/temperature product_zone_temp=4"}},
	{"auto", Payload{Topic: "rtl_433/shop/devices/Acurite-986/1R/24501/temperature_F", Body: []byte(`39.2`)}, []string{"rtl_433/shop/devices/Acurite-986/1R/24501/temperature_F product_zone_temp=4"}},
	{"auto", Payload{Topic: "shop/cooler/tempF", Body: []byte(`{"value":39.2}`)}, []string{"shop/cooler/tempF product_zone_temp=4"}},
	{"auto", Payload{Topic: "shop/cooler/temperature_F", Body: []byte(`{"value":4,"unit":"°C"}`)}, []string{"shop/cooler/temperature_F product_zone_temp=4"}},
}
