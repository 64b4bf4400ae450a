package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mochi-mqtt/server/v2/packets"
)

// bad is something that a sender may do wrong, with what becomes of it.
type bad struct {
	says string
	body string
	want int
	n    outcomes
	// Of the device bad, once the body was sent.
	temp float64
	left string // what is said of a value that was left out
}

type outcomes struct{ Accepted, Duplicates, Held, Rejected, Ignored int }

// TestBadInput sends what senders do wrong to a webhook: what can be understood is
// stored as it was meant, and nothing else is. What brokers do is in
// TestBroker and TestBrokerRefused, what clients of MQTT do in TestMQTTRefused and
// TestMQTTTruncated, a changed template in TestChangedTemplate, and a deleted source
// in TestSourceRules.
func TestBadInput(t *testing.T) {
	h := newHouse(t)
	_, key := h.newSource(`{"name":"in","on_unknown":"register"}`)
	now := time.Now().UTC().Truncate(time.Second)
	epoch := now.Add(4 * time.Minute).Unix() // newer than what comes without a time; a clock may be fast by five
	with := func(members string) string { return `{"id":"bad",` + members + `}` }
	stored, one := outcomes{Accepted: 1}, http.StatusOK
	for _, c := range []bad{
		{"a plain value", with(`"temperature":3.5`), one, stored, 3.5, ""},
		{"°F in its name", with(`"temperature_f":39.2`), one, stored, 4, ""},
		{"°F in the value", with(`"temperature":"41 °F"`), one, stored, 5, ""},
		{"°F and °C of one thing", with(`"temperature_c":6,"temperature_f":42.8`), one, stored, 6, ""},
		{"°F as Home Assistant names it", with(`"temperature":41,"unit_of_measurement":"°F"`), one, stored, 5, ""},
		{"a name of ours in °F", with(`"temperature":6,"ambient_temp_f":80`), one, stored, 6, ""},
		{"a short name", with(`"tem":6,"hum":55`), one, stored, 6, ""},
		{"a second probe", with(`"temperature":6,"externalTemperature":-21.5,"temp_setpoint":4`), one, outcomes{Accepted: 1, Held: 1}, 6, // it waits, and the first goes on
			`product_zone_temp "4" comes as temp_setpoint, and nothing says what that measures; say so by a binding`},
		{"a name twice", with(`"temperature":1,"temperature" : 6,"x":"temperature"`), one, stored, 6, `product_zone_temp "6" is in the payload more than once, and only the last was read`},
		{"unavailable", with(`"temperature":"unavailable"`), one, outcomes{}, 6, `product_zone_temp "unavailable" is "unavailable", not a number`},
		{"NaN", with(`"temperature":NaN,"humidity":50`), one, stored, 6, `product_zone_temp "NaN" is "NaN", not a number`},
		{"NaN as a text", with(`"temperature":"NaN"`), one, outcomes{}, 6, `product_zone_temp "NaN" is "NaN", not a number`},
		{"a broken DS18B20", with(`"temperature":-127`), one, stored, 6, `product_zone_temp "-127" is what a broken or disconnected sensor reports`},
		{"a DS18B20 after its power came back", with(`"temperature":85.0`), one, stored, 6, `product_zone_temp "85" is what a DS18B20 reports after its power came back, before it measures`},
		{"beyond what is measured", with(`"temperature":5000.5`), one, outcomes{}, 6, `product_zone_temp "5000.5" is 5000.5, not between −100 and 200 °C`},
		{"an integer that may be in tenths", with(`"temperature":5000`), one, outcomes{}, 6, `product_zone_temp "5000" comes as temperature without a unit, and may be in tenths, hundredths or thousandths; say so by a binding`},
		{"seconds", with(fmt.Sprintf(`"temperature":1,"ts":%d`, epoch)), one, stored, 1, ""},
		{"the same uplink twice", with(fmt.Sprintf(`"temperature":1,"ts":%d`, epoch)), one, outcomes{Duplicates: 1}, 1, ""},
		{"the same moment in ms", with(fmt.Sprintf(`"temperature":2,"ts":%d`, epoch*1e3)), one, outcomes{Duplicates: 1}, 1, `product_zone_temp "" another value is stored for this moment, and is kept`},
		{"in µs", with(fmt.Sprintf(`"temperature":2,"ts":%d`, epoch*1e6)), one, outcomes{Duplicates: 1}, 1, `product_zone_temp "" another value is stored for this moment, and is kept`},
		{"in ns", with(fmt.Sprintf(`"temperature":2,"ts":%d`, epoch*1e9)), one, outcomes{Duplicates: 1}, 1, `product_zone_temp "" another value is stored for this moment, and is kept`},
		{"1970", with(`"temperature":2,"ts":86400`), one, stored, 1, ""},
		{"2106", with(`"temperature":2,"ts":4294967295`), one, stored, 1, ""},
		{"ahead of its time", with(fmt.Sprintf(`"temperature":2,"ts":%d`, epoch+3600)), one, stored, 1, ""},
		{"before what is kept", with(`"temperature":2,"ts":1451606400`), one, stored, 1, ""},
		{"1970 again", with(`"temperature":2,"ts":86400`), one, outcomes{Duplicates: 1}, 1, ""},
		{"a history that begins before what is kept", chirpHistory(now), one, outcomes{Accepted: 2, Rejected: 1}, 1, `recorded_at "2016-01-01T00:00:00.000Z" is before the time for which readings are kept`},
		{"not UTF-8", "{\"id\":\"bad\",\"temperature\":3,\"x\":\"\xff\"}", 400, outcomes{}, 1, ""},
		{"more than 1 MiB", with(`"temperature":3,"x":"` + strings.Repeat("x", 1<<20) + `"`), 413, outcomes{}, 1, ""},
		{"64 deep", with(`"temperature":3,"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64)), 400, outcomes{}, 1, ""},
		{"half of it", `{"id":"bad","temperature":3`, 400, outcomes{}, 1, ""},
		{"an identifier that is no serial", `{"id":"../../etc/passwd","temperature":3}`, one, stored, 1, ""},
	} {
		status, text := h.push(http.MethodPost, "/in/"+key, c.body)
		if status != c.want {
			t.Errorf("%s: %d %s, want %d", c.says, status, text, c.want)
			continue
		}
		if status == http.StatusOK {
			if n := outcomes(h.outcome(status, text)); n != c.n {
				t.Errorf("%s: %+v, want %+v: %s", c.says, n, c.n, text)
			}
			if left := leftOut(t, text); left != c.left {
				t.Errorf("%s: left out %q, want %q", c.says, left, c.left)
			}
		}
		if got := h.latest("bad"); got != c.temp {
			t.Errorf("%s: the device is at %v, want %v", c.says, got, c.temp)
		}
	}
	for says, from := range map[string]string{
		"a loop":           `map(1..1000000000, # * 2)`,
		"a power":          `2 ** 1000000`,
		"a repeated text":  `repeat(\"x\", 1000000000)`,
		"a long one":       strings.Repeat("1+", 300) + "1",
		"something hidden": `payload.constructor(`,
	} {
		body := fmt.Sprintf(`{"name":%q,"template_document":{"version":1,"id":"payload.id","fields":{"product_zone_temp":{"from":"%s"}}}}`, says, from)
		if answer := fmt.Sprint(h.asOwner(http.MethodPost, "/sources", body, http.StatusUnprocessableEntity)); answer != "map[]" {
			t.Errorf("%s: %v", says, answer)
		}
	}
}

// chirpHistory is an uplink of a device bad that tells of three moments, one of them long ago.
func chirpHistory(now time.Time) string {
	return fmt.Sprintf(`{"deviceInfo":{"devEui":"bad-history","deviceName":"B"},"time":%q,"object":{"temperature":2,"history":[{"timestamp":1451606400,"temperature":3},{"timestamp":%d,"temperature":4}]}}`,
		now.Format(time.RFC3339), now.Add(-time.Minute).Unix())
}

// TestFlood: a key that makes up senders fills what may wait, is told so, and
// displaces nothing; those that are known go on.
func TestFlood(t *testing.T) {
	h := newHouse(t)
	id, key := h.newSource(`{"name":"in"}`)
	h.call(http.MethodPost, "/devices", `{"serial":"known","name":"Known","equipment_type":"walkin_cooler"}`)
	if n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"id":"first","temperature":3}`)); n.Held != 1 {
		t.Fatalf("%+v", n)
	}
	var lines strings.Builder
	const many = 10_000
	for i := range many {
		fmt.Fprintf(&lines, "t,device=flood-%d temperature=%d\n", i, i%10)
	}
	status, text := h.push(http.MethodPost, "/api/v2/write", lines.String(), "Authorization", "Token "+key)
	if status != http.StatusTooManyRequests {
		t.Errorf("flood: %d %.200s", status, text)
	}
	if status, text := h.push(http.MethodPost, "/in/"+key, `{"id":"late","temperature":3}`); status != http.StatusTooManyRequests || !strings.Contains(text, "held_full") {
		t.Errorf("one more: %d %s", status, text)
	}
	if n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"id":"known","temperature":4}`)); n.Accepted != 1 {
		t.Errorf("a known device: %+v", n)
	}
	total := h.call(http.MethodGet, fmt.Sprintf("/sources/%d/held?per_page=1", id), "")["pagination"].(map[string]any)["total"]
	if total != float64(many) {
		t.Errorf("%v wait", total)
	}
	if bound := h.call(http.MethodPost, fmt.Sprintf("/sources/%d/bind", id), `{"bindings":[{"external_id":"first"}]}`); bound["accepted"] != 1.0 {
		t.Errorf("the first was displaced: %v", bound)
	}
}

// leftOut is what an answer says of values that were left out.
func leftOut(t *testing.T, text string) string {
	t.Helper()
	var envelope struct {
		Data struct {
			LeftOut []struct{ Field, Value, Reason string } `json:"left_out"`
		}
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, x := range envelope.Data.LeftOut {
		said = append(said, fmt.Sprintf("%s %q %s", x.Field, x.Value, x.Reason))
	}
	return strings.Join(said, "; ")
}

// TestLeftOut: what known senders sent wrong stands at the source, whichever way it
// came; of unknown ones it does not, because it waits.
func TestLeftOut(t *testing.T) {
	h := newHouse(t, listening)
	id, key := h.newSource(`{"name":"in"}`)
	h.call(http.MethodPost, "/devices", `{"serial":"known","name":"Known","equipment_type":"walkin_cooler"}`)
	for range 3 {
		n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"id":"known","temperature":"unavailable","humidity":300,"door_open":"ajar"}`))
		if n != (outcomes{}) {
			t.Fatalf("%+v", n)
		}
	}
	if n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"id":"known","temperature":3,"humidity":"`+strings.Repeat("9", 500)+`"}`)); n != (outcomes{Accepted: 1}) {
		t.Fatalf("the rest of a reading: %+v", n)
	}
	if n := h.outcome(h.push(http.MethodPost, "/in/"+key, `{"id":"stranger","temperature":"unavailable"}`)); n != (outcomes{Held: 1}) {
		t.Fatalf("a stranger: %+v", n)
	}
	if status, text := h.push(http.MethodPost, "/api/v2/write", "t,device=known product_zone_temp=5000,setpoint_temp=\"off\",ambient_temp=true\n", "Authorization", "Token "+key); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	d := h.thing(4)
	d.connect("board", key, true)
	d.sendAll(publication(1, 1, "cold/known", `{"id":"known","evaporator_temp":-999}`))
	d.expect(packets.Puback, 1, 0)
	received := h.call(http.MethodGet, fmt.Sprintf("/sources/%d", id), "")["source"].(map[string]any)["received"].(map[string]any)
	want := []string{
		"evaporator_temp|-999|is what a broken or disconnected sensor reports|1",
		"ambient_temp|true|is not a number|1",
		"setpoint_temp|off|is not a number|1",
		"product_zone_temp|5000|is 5000, not between −100 and 200 °C|4",
		"humidity|" + strings.Repeat("9", 40) + "…|is \"" + strings.Repeat("9", 40) + "…\", not a number|4",
		"door_open|ajar|is neither true nor false|3",
	}
	var got []string
	for _, x := range received["left_out"].([]any) {
		x := x.(map[string]any)
		got = append(got, fmt.Sprintf("%v|%v|%v|%v", x["field"], x["value"], x["reason"], x["count"]))
		if x["external_id"] != "known" || x["at"] == nil {
			t.Errorf("%v", x)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("at the source (-want +got):\n%s", diff)
	}
	for name, n := range map[string]float64{"payloads": 7, "accepted": 2, "held": 1, "ignored": 0, "left_out_values": 14} {
		if received[name] != n {
			t.Errorf("%s: %v, want %v", name, received[name], n)
		}
	}
	metrics, text := h.push(http.MethodGet, "/metrics", "")
	if metrics != http.StatusOK || !strings.Contains(text, "\nrimewatch_inlet_left_out_values_total 14\n") {
		t.Errorf("metrics: %d, no 14 values left out", metrics)
	}
	// As many senders as there may be are remembered, not more.
	for i := range 30 {
		h.call(http.MethodPost, "/devices", fmt.Sprintf(`{"serial":"many-%d"}`, i))
		h.push(http.MethodPost, "/in/"+key, fmt.Sprintf(`{"id":"many-%d","temperature":"?"}`, i))
	}
	received = h.call(http.MethodGet, fmt.Sprintf("/sources/%d", id), "")["source"].(map[string]any)["received"].(map[string]any)
	if list := received["left_out"].([]any); len(list) != 10 || list[0].(map[string]any)["external_id"] != "many-29" {
		t.Errorf("%d remembered: %v", len(list), list)
	}
}
