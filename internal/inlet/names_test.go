package inlet

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// others are names that senders use for numbers that have to do with a temperature
// and are not what the sensor is there to measure.
var others = strings.Fields(`
	mcuTemp cpu_temperature chip_temp pcb_temp moduleTemp gatewayTemp radio_temp internalTemp deviceTemperature node_temp dewpoint_temp wetBulbTemp
	feels_like_temp apparent_temperature heat_index_temp windchill_temp outside_temp outdoor_temperature temp_setpoint target_temperature temp_high_alarm
	tempMax24h min_temperature temp_calibration temp_offset avg_temp tempStdDev temp_change_rate temp_threshold_low temp_unit temp_sensor_count temp_alarm
	sensor_temp_type template_id attempt_count temporary hysteresis_temp supply_temp return_temp flow_temperature gas_temp oil_temp ir_temp motor_temp
	compressor_temp condensing_temp inverterTemp heatsink_temp temp_ok temp_id temp_index temp_channel temp_valid temp_quality temp_high temp_low hi_temp
	lo_temp temp_timestamp temp_version temp_battery temp_rate temp_gradient temp_sd temp_hysteresis temp_deadband psu_temp battTemp board_temp_c modem_temp
	lora_temp fan_temp temp_sp tempSet set_temp desired_temp previous_temp last_temp forecast_temp weather_temp temp_uncertainty temp_accuracy
	temp_resolution temp_interval temperature_report_interval temp_trend temp_slope temp_diff temp_compensation ph_temp ec_temp temperatureSensorFailure
	temp_err tempError temp_counter temp_seq temp_flag temp_bits absolute_humidity humidity_alarm humidity_offset humidityThreshold pressure lux voltage power`)

// TestOthers: a number under such a name alone becomes no measurement.
func TestOthers(t *testing.T) {
	lib := library(t)
	for _, name := range others {
		body, err := json.Marshal(map[string]any{"id": "x", name: 7})
		if err != nil {
			t.Fatal(err)
		}
		if r := &lib.Decode(&Payload{Body: body}, nil).Items[0].Readings[0]; !r.Empty() {
			t.Errorf("%s was taken for %v", name, r.Reading.Present.Names())
		}
	}
}

// TestNames: a number under such a name alone is what the sensor measures.
func TestNames(t *testing.T) {
	lib := library(t)
	for _, name := range strings.Fields(`freezer_temp fridgeTemperature walk-in-temp CaseTemp ProbeTemp1 temp_ch1 TempC_DS TEMP_SENSOR_2 coldRoomTemp
		temperatura Temperatur coolerTempF sensor_temperature_celsius SHT31_Temperature vaccine_fridge_temp temp2`) {
		body, err := json.Marshal(map[string]any{"id": "x", name: 7})
		if err != nil {
			t.Fatal(err)
		}
		if r := &lib.Decode(&Payload{Body: body}, nil).Items[0].Readings[0]; !r.Reading.Present.Has(rimewatch.ProductZoneTemp) {
			t.Errorf("%s was not recognised", name)
		}
	}
}

// TestModelsVaried: what is recognised does not depend on how names are spelt, on how
// deep they stand, or on other numbers beside them.
func TestModelsVaried(t *testing.T) {
	lib := library(t)
	spellings := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "_", "-") },
		func(s string) string { return strings.ReplaceAll(s, "_", " ") },
		strings.ToUpper,
		func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	}
	wrappers := []string{"data", "values", "measurements", "sensors", "object", "state", "reported", "payload"}
	r := rand.New(rand.NewPCG(7, 75))
	const rounds = 40
	right, wrong := 0, 0
	for range rounds {
		for _, m := range models(t) {
			var decoded any
			if err := json.Unmarshal(m.Decoded, &decoded); err != nil {
				t.Fatal(err)
			}
			decoded = respelt(decoded, spellings[r.IntN(len(spellings))])
			if object, ok := decoded.(map[string]any); ok {
				for range r.IntN(4) {
					object[others[r.IntN(len(others))]] = 60 + r.IntN(30)
				}
			}
			for range r.IntN(3) {
				decoded = map[string]any{wrappers[r.IntN(len(wrappers))]: decoded}
			}
			body, err := json.Marshal(map[string]any{"id": "x", "reading": decoded})
			if err != nil {
				t.Fatal(err)
			}
			got, found := lib.Decode(&Payload{Body: body}, nil).Items[0].Readings[0].Reading.Value(rimewatch.ProductZoneTemp)
			switch {
			case found && m.ProductZoneTemp != nil && got == *m.ProductZoneTemp:
				right++
			case found:
				wrong++
				t.Errorf("%s: %v in %s", m.Model, got, body)
			}
		}
	}
	t.Logf("%d of %d right", right, rounds*75)
	if right < rounds*70 {
		t.Errorf("%d of %d right", right, rounds*75)
	}
}

// respelt spells the names of all members anew.
func respelt(v any, spell func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[spell(k)] = respelt(x, spell)
		}
		return out
	case []any:
		for i := range v {
			v[i] = respelt(v[i], spell)
		}
	}
	return v
}
