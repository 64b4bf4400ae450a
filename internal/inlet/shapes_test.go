package inlet

// shapes are payloads of senders that write what was measured beside its value, or name
// their sensors in a list.
var shapes = []vendor{
	// github.com/OpenWonderLabs/SwitchBotAPI, "Receive Webhook Events".
	{"auto", Payload{Body: []byte(`{"eventType":"changeReport","eventVersion":"1","context":{"deviceType":"WoMeter","deviceMac":"AABBCCDDEEFF","temperature":-1.3,
		"scale":"FAHRENHEIT","humidity":31,"battery":90,"timeOfSample":1795202410000}}`)},
		[]string{"AABBCCDDEEFF at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 humidity=31 battery=90"}},
	// doc.yosmart.com: the battery of a YoLink sensor is a level of 0 to 4.
	{"auto", Payload{Body: []byte(`{"event":"THSensor.Report","time":1795202410000,"data":{"state":"normal","battery":4,"mode":"c","temperature":-18.6,"humidity":51.2,
		"tempLimit":{"max":-10,"min":-30}},"deviceId":"d88b4c0100012345"}`)}, []string{"d88b4c0100012345 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.6 humidity=51.2"}},
	// monnit.com, "Webhook Push": the values in Celsius, the plotted ones as the account is set.
	{"auto", Payload{Body: []byte(`{"gatewayMessage":{"gatewayID":"10000","date":"2026-11-20 19:20:10","signalStrength":"19"},"sensorMessages":[
		{"sensorID":"10001","sensorName":"Freezer - 10001","dataType":"TemperatureData","dataValue":"-18.7","plotValues":"-1.66","plotLabels":"Fahrenheit","batteryLevel":"100"},
		{"sensorID":"10002","sensorName":"Cooler - 10002","dataType":"TemperatureData","dataValue":"3.1","plotValues":"37.6","plotLabels":"Fahrenheit","batteryLevel":"90"}]}`)},
		[]string{"10001 product_zone_temp=-18.7 battery=100", "10002 product_zone_temp=3.1 battery=90"}},
	// Efento: one message, the probes of many loggers.
	{"auto", Payload{Body: []byte(`{"measurements":[{"serial":"282C02407B5A","measured_at":"2026-11-20T19:20:10Z","battery":"ok","rssi":-77,
		"params":[{"name":"temperature","number":1,"value":-18.8,"type":"TEMPERATURE","unit":"C","status":"OK"}]}]}`)},
		[]string{"282C02407B5A at 2026-11-20T19:20:10.000Z product_zone_temp=-18.8 rssi=-77"}},
	// docs.efento.io/efento-gateways/integration/api-documentation: its times are UTC.
	{"efento", Payload{Body: []byte(`{"measurements":[{"serial":"282C024FFFB3","response_handle":3,"battery":"ok","signal":-70,"measured_at":"2026-11-20 19:20:10","measurement_interval":180,
		"params":[{"channel":1,"type":"temperature","value":-18.5},{"channel":2,"type":"humidity","value":30}]},{"serial":"282C024FFFB4","response_handle":4,"battery":"low","signal":-71,
		"measured_at":"2026-11-20 19:20:11","params":[{"channel":1,"type":"temperature","value":3.5},{"channel":2,"type":"temperature","value":4.5}]}]}`)},
		[]string{"282C024FFFB3 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5 humidity=30 rssi=-70", "282C024FFFB4 at 2026-11-20T19:20:11.000Z rssi=-71 low=true",
			"282C024FFFB4/1 at 2026-11-20T19:20:11.000Z product_zone_temp=3.5 rssi=-71 low=true", "282C024FFFB4/2 at 2026-11-20T19:20:11.000Z product_zone_temp=4.5 rssi=-71 low=true"}},
	// docs.helium.com: Cayenne LPP as the Console decodes it, spelling included.
	{"auto", Payload{Body: []byte(`{"dev_eui":"6081F945664E1866","reported_at":1795202410000,"decoded":{"status":"success","payload":[
		{"channel":0,"name":"temperature","type":103,"unit":"celcius","value":-18.9},{"channel":2,"name":"humidity","type":104,"unit":"percent","value":31}]}}`)}, //nolint:misspell // its spelling
		[]string{"6081F945664E1866 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.9 humidity=31"}},
	// The Things Network v2, which gateways of that time still send.
	{"auto", Payload{Body: []byte(`{"app_id":"cold","dev_id":"freezer-987","hardware_serial":"1234567812345678","payload_fields":{"battery":3.8,"humidity":48.1,"temperature":-19},
		"metadata":{"time":"2026-11-20T19:20:10Z","gateways":[{"gtw_id":"eui-58a0","time":"2026-11-20T19:20:09Z","rssi":-59}]}}`)},
		[]string{"1234567812345678 at 2026-11-20T19:20:10.000Z product_zone_temp=-19 humidity=48.1 rssi=-59"}},
	// FIWARE NGSI v2.
	{"auto", Payload{Body: []byte(`{"id":"urn:ngsi-ld:Device:freezer001","type":"Device","temperature":{"type":"Number","value":-20.3},
		"dateObserved":{"type":"DateTime","value":"2026-11-20T19:20:10Z"}}`)}, []string{"urn:ngsi-ld:Device:freezer001 at 2026-11-20T19:20:10.000Z product_zone_temp=-20.3"}},
	// ChirpStack's own Cayenne LPP codec: one object a kind, a member a channel.
	{"chirpstack-v4", Payload{Body: []byte(`{"deviceInfo":{"devEui":"0102030405060708"},"time":"2026-11-20T19:20:10Z","object":{"temperatureSensor":{"1":-20.4},"humiditySensor":{"3":44.5}}}`)},
		[]string{"0102030405060708 at 2026-11-20T19:20:10.000Z product_zone_temp=-20.4 humidity=44.5"}},
	{"chirpstack-v4", Payload{Body: []byte(`{"deviceInfo":{"devEui":"0102030405060708"},"time":"2026-11-20T19:20:10Z","object":{"temperatureSensor":{"1":-20.4,"2":3.5}}}`)},
		[]string{"0102030405060708 at 2026-11-20T19:20:10.000Z", "0102030405060708/1 at 2026-11-20T19:20:10.000Z product_zone_temp=-20.4", "0102030405060708/2 at 2026-11-20T19:20:10.000Z product_zone_temp=3.5"}},
	// Ubidots.
	{"auto", Payload{Topic: "/v1.6/devices/freezer-1", Body: []byte(`{"temperature":{"value":-20.6,"timestamp":1795202410000},"humidity":44}`)},
		[]string{"/v1.6/devices/freezer-1 at 2026-11-20T19:20:10.000Z product_zone_temp=-20.6 humidity=44"}},
	// zwave-js-ui, "Time-Value": the topic says what the value is.
	{"auto", Payload{Topic: "zwave/Kitchen/Freezer/49/0/Air_temperature", Body: []byte(`{"time":1795202410000,"value":-20.1,"nodeName":"Freezer"}`)},
		[]string{"zwave/Kitchen/Freezer/49/0/Air_temperature at 2026-11-20T19:20:10.000Z product_zone_temp=-20.1"}},
	// A gateway that names its sensors, one or several in a message, under one name each.
	{"auto", Payload{Body: []byte(`{"mac":"G1","time":1795202410000,"list":[{"mac":"S1","temperature":4},{"mac":"S2","temperature":5}]}`)},
		[]string{"G1/S1 at 2026-11-20T19:20:10.000Z product_zone_temp=4", "G1/S2 at 2026-11-20T19:20:10.000Z product_zone_temp=5"}},
	{"auto", Payload{Body: []byte(`{"mac":"G1","time":1795202410000,"list":[{"mac":"S1","temperature":4}]}`)}, []string{"G1/S1 at 2026-11-20T19:20:10.000Z product_zone_temp=4"}},
	// A share of 4 % that says so is one; a set-point beside its value stays out.
	{"auto", Payload{Body: []byte(`{"id":"F1","temperature":{"value":-18,"unit":"°C"},"setpoint":{"value":-20},"battery":"4%"}`)}, []string{"F1 product_zone_temp=-18 battery=4"}},
	{"auto", Payload{Body: []byte(`{"id":"F1","values":[{"name":"temperature_setpoint","value":-20},{"name":"dew point","value":-25}]}`)}, []string{"F1"}},
	{"auto", Payload{Body: []byte(`{"id":"F1","values":[{"name":"Set point","value":-20,"unit":"°C"},{"name":"alarm high","value":-10,"unit":"°C"}]}`)}, []string{"F1"}},
	{"auto", Payload{Body: []byte(`{"id":"F1","name":"Back freezer","value":-18,"unit":"°C"}`)}, []string{"F1 product_zone_temp=-18"}},
	// A value in two units, each a member of what it is.
	{"auto", Payload{Body: []byte(`{"sensor_id":"s9","temp":{"c":3.5,"f":38.3},"rh":50}`)}, []string{"s9 product_zone_temp=3.5 humidity=50"}},
	{"auto", Payload{Body: []byte(`{"sensor_id":"s9","temperature":{"fahrenheit":38.3}}`)}, []string{"s9 product_zone_temp=3.5"}},
	// docs.particle.io, webhooks: the event's name says what its data is.
	{"auto", Payload{Body: []byte(`{"event":"temp","data":"-18.5","published_at":"2026-11-20T19:20:10.000Z","coreid":"e00fce68"}`)}, []string{"e00fce68 at 2026-11-20T19:20:10.000Z product_zone_temp=-18.5"}},
	// sensorpush.com/gateway-cloud-api: samples by sensor; they are in the account's unit, which the source's template says.
	{"auto", Payload{Body: []byte(`{"last_time":"2026-11-20T19:20:10.000Z","sensors":{"269.1":[{"observed":"2026-11-20T19:20:10.000Z","temperature":3.5,"humidity":45}],"270.5":[{"observed":"2026-11-20T19:20:11.000Z","temperature":-18}]}}`)},
		[]string{"269.1 at 2026-11-20T19:20:10.000Z product_zone_temp=3.5 humidity=45", "270.5 at 2026-11-20T19:20:11.000Z product_zone_temp=-18"}},
	// Probes that say where they are, and a board that is called by a uid.
	{"auto", Payload{Body: []byte(`{"serialNumber":"A1","sensors":[{"position":"top","temperatureCelsius":3.5},{"position":"bottom","temperatureCelsius":4.5}]}`)}, []string{"A1/top product_zone_temp=3.5", "A1/bottom product_zone_temp=4.5"}},
	{"auto", Payload{Body: []byte(`{"uid":"abc","temperature_probe_1":-18.5,"temperature_probe_2":3.5,"door_1":"closed"}`)}, []string{"abc door_open=false", "abc/probe_1 product_zone_temp=-18.5", "abc/probe_2 product_zone_temp=3.5"}},
	// Nodes behind a gateway and probes of a board, in one message or in one each, by whatever they are numbered.
	{"auto", Payload{Body: []byte(`{"gateway":"G1","nodes":[{"node_id":1,"temp":3.5},{"node_id":2,"temp":4}]}`)}, []string{"G1/1 product_zone_temp=3.5", "G1/2 product_zone_temp=4"}},
	{"auto", Payload{Body: []byte(`{"gateway":"G1","node":1,"temp":3.5}`)}, []string{"G1/1 product_zone_temp=3.5"}},
	{"auto", Payload{Topic: "cold/readings", Body: []byte(`{"node_id":5,"temp":3.5}`)}, []string{"cold/readings/5 product_zone_temp=3.5"}},
	{"auto", Payload{Body: []byte(`{"device_id":"G1","data":{"sensor_id":7,"temp":3.5}}`)}, []string{"G1/7 product_zone_temp=3.5"}},
	{"auto", Payload{Body: []byte(`{"device":"G1","probe":"left","temp":3.5}`)}, []string{"G1/left product_zone_temp=3.5"}},
	// thingsboard.io/docs/reference/mqtt-api and gateway-mqtt-api.
	{"thingsboard", Payload{Topic: "v1/devices/me/telemetry", Client: "board-1", Body: []byte(`{"temperature":3.5}`)}, []string{"board-1 product_zone_temp=3.5"}},
	// wirenboard.com: the topic of a device's control, and of what it says of it.
	{"wirenboard", Payload{Topic: "/devices/ref_12/controls/Air Temperature", Body: []byte(`3.5`)}, []string{"ref_12 product_zone_temp=3.5"}},
	{"wirenboard", Payload{Topic: "/devices/ref_12/controls/Air Temperature/meta/type", Body: []byte(`temperature`)}, []string{"ignored"}},
	// tasmota.github.io/docs/Zigbee: each sensor of the bridge in a message of its own.
	{"tasmota-zigbee", Payload{Topic: "tele/bridge/SENSOR", Body: []byte(`{"ZbReceived":{"0x8F20":{"Device":"0x8F20","Name":"Chest","Temperature":-18.5,"LinkQuality":90}}}`)}, []string{"bridge/0x8F20 product_zone_temp=-18.5"}},
}
