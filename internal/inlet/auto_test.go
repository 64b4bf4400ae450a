package inlet

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// model is a sensor with what its decoder returns, in the shape of the public
// converter samples of ThingsBoard (github.com/thingsboard/data-converters, read
// 2026-11): the 75 of them that measure a temperature, with values of our own.
// ProductZoneTemp is the one that is meant, nil where several have an equal claim
// or the only one is of the electronics.
type model struct {
	Model           string
	Decoded         json.RawMessage
	ProductZoneTemp *float64 `json:"product_zone_temp"`
}

func models(t testing.TB) (list []model) {
	t.Helper()
	b, err := os.ReadFile("testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestModels holds what is recognised by names alone against sensors on sale: at
// least 70 of 75 are right, and none of the others becomes something it is not.
// Each goes through the wrapping of two network servers and bare.
func TestModels(t *testing.T) {
	lib := library(t)
	list := models(t)
	if len(list) != 75 {
		t.Fatalf("%d models, want 75", len(list))
	}
	wrappings := map[string]string{
		"auto":          `%`,
		"chirpstack-v4": `{"deviceInfo":{"devEui":"24e124136b502217"},"time":"2026-11-20T19:47:12+00:00","object":%}`,
		"tts-v3":        `{"end_device_ids":{"device_id":"x1"},"uplink_message":{"decoded_payload":%,"received_at":"2026-11-20T19:47:12.123456789Z"}}`,
	}
	for template, wrapping := range wrappings {
		right := 0
		for _, m := range list {
			r := lib.Decode(&Payload{Body: []byte(replaceOnce(wrapping, string(m.Decoded)))}, nil)
			if r.Template != template || r.Problem != "" || len(r.Items) == 0 {
				t.Fatalf("%s in %s: %+v", m.Model, template, r)
			}
			got := &r.Items[0].Readings[0]
			v, found := got.Reading.Value(rimewatch.ProductZoneTemp)
			switch {
			case m.ProductZoneTemp == nil && found:
				t.Errorf("%s in %s: %v was taken for the product's temperature", m.Model, template, v)
			case m.ProductZoneTemp != nil && found && v != *m.ProductZoneTemp:
				t.Errorf("%s in %s: product zone %v, want %v", m.Model, template, v, *m.ProductZoneTemp)
			case found:
				right++
			}
			for _, f := range []rimewatch.Field{rimewatch.Voltage, rimewatch.AmpDraw, rimewatch.Power, rimewatch.Energy, rimewatch.AmbientTemp} {
				if v, found := got.Reading.Value(f); found {
					t.Errorf("%s in %s: %v = %v", m.Model, template, f, v)
				}
			}
		}
		t.Logf("%s: %d of %d", template, right, len(list))
		if right < 70 {
			t.Errorf("%s: %d of %d right, want at least 70", template, right, len(list))
		}
	}
}

// TestBatteryIsNoVoltage: what a sensor calls its battery is a share only when it
// is a whole number of percent; a voltage is a level.
func TestBatteryIsNoVoltage(t *testing.T) {
	lib := library(t)
	for body, want := range map[string]float64{
		`{"temperature":1,"battery":92}`:           92,
		`{"temperature":1,"battery":"80%"}`:        80,
		`{"temperature":1,"battery":2.9}`:          87,
		`{"temperature":1,"battery":3600}`:         100,
		`{"temperature":1,"battery_voltage":3}`:    100,
		`{"temperature":1,"battery":3}`:            -1,
		`{"temperature":1,"battery":999}`:          -1,
		`{"temperature":1,"batteryLevel":55}`:      55,
		`{"temperature":1,"battery":"12 V"}`:       100,
		`{"temperature":1,"rem_batt_capacity":90}`: 90,
	} {
		got := -1.0
		if d := lib.Decode(&Payload{Body: []byte(body)}, nil).Items[0].Device; d.BatteryPct != nil {
			got = *d.BatteryPct
		}
		if got != want {
			t.Errorf("%s: battery %v, want %v", body, got, want)
		}
	}
}
