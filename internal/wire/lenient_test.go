package wire

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestLenient: what clients send who know little more than a serial and a
// temperature.
func TestLenient(t *testing.T) {
	const at = 1_795_202_410_000
	isAt := func(want rimewatch.Time) func(*SentReading) bool {
		return func(r *SentReading) bool { return r.At == want }
	}
	ignores := func(names ...string) func(*SentReading) bool {
		return func(r *SentReading) bool { return slices.Equal(r.Ignored, names) }
	}
	with := func(more string) string { return `{` + serial + `,"humidity":1,` + more + `}` }
	checkDecode(t, []decodeCase{
		{"foreign fields", with(`"battery":87,"firmware":"1.2","nested":{"a":[1]}`), "", "", ignores("battery", "firmware", "nested")},
		{"nothing known is left", `{` + serial + `,"battery":87}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"near miss: case", with(`"Voltage":230`), rimewatch.CodeValidationFailed, "Voltage", nil},
		{"near miss: letters", with(`"product_zone_tmp":1`), rimewatch.CodeValidationFailed, "product_zone_tmp", nil},
		{"near miss: two letters", with(`"prodct_zone_tmp":1`), rimewatch.CodeValidationFailed, "prodct_zone_tmp", nil},
		{"near miss: short, one letter", with(`"powr":1`), rimewatch.CodeValidationFailed, "powr", nil},
		{"short, two letters", with(`"por":1`), "", "", ignores("por")},
		{"near miss: hyphens", with(`"suction-pressure":1`), rimewatch.CodeValidationFailed, "suction-pressure", nil},
		{"timestamp", with(`"timestamp":"2026-11-20T19:20:10Z"`), "", "", isAt(at)},
		{"ts in seconds", with(`"ts":1795202410`), "", "", isAt(at)},
		{"time in milliseconds", with(`"time":1795202410000`), "", "", isAt(at)},
		{"recorded_at in seconds with a fraction", with(`"recorded_at":1795202410.5`), "", "", isAt(at + 500)},
		{"digits as text", with(`"ts":"1795202410"`), "", "", isAt(at)},
		{"recorded_at goes first", with(`"ts":5,"recorded_at":"2026-11-20T19:20:10Z"`), "", "", isAt(at)},
		{"null is absent", with(`"recorded_at":null,"ts":1795202410`), "", "", isAt(at)},
		{"before 2015", with(`"ts":1063640000`), rimewatch.CodeValidationFailed, "ts", nil},
		{"no zone", with(`"time":"2026-11-20T19:20:10"`), rimewatch.CodeValidationFailed, "time", nil},
		{"age", with(`"age_s":"2.5"`), "", "", func(r *SentReading) bool { r.Arrived(at); return r.At == at-2500 }},
		{"negative age", with(`"age_s":-1`), rimewatch.CodeValidationFailed, "age_s", nil},
		{"numbers as text", `{` + serial + `,"product_zone_temp":"-19.1","start_count":"42"}`, "", "", func(r *SentReading) bool {
			starts, _ := r.Value(rimewatch.StartCount)
			return r.Values[rimewatch.ProductZoneTemp] == -19.1 && starts == 42
		}},
		{"a text that is no number", `{` + serial + `,"product_zone_temp":"-19,1"}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"an empty text", `{` + serial + `,"product_zone_temp":""}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"a hexadecimal text", `{` + serial + `,"product_zone_temp":"0x1p4"}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"NaN as text", `{` + serial + `,"product_zone_temp":"NaN"}`, rimewatch.CodeValidationFailed, "product_zone_temp", nil},
		{"of the device", with(`"battery_pct":"87","rssi_dbm":-61,"firmware_version":"1.2"`), "", "", func(r *SentReading) bool {
			return *r.BatteryPct == 87 && *r.RSSI == -61 && r.Firmware == "1.2" && r.Vitals()
		}},
		{"battery out of range", with(`"battery_pct":101`), rimewatch.CodeValidationFailed, "battery_pct", nil},
	})
}

// TestNearMissIsCheap: a body may hold a hundred thousand foreign names, and a
// device may send some with every reading.
func TestNearMissIsCheap(t *testing.T) {
	name := []byte("Kettle_Colour")
	if nearMiss(name) != "" || nearMiss([]byte("Product-Zone-Tmp")) != "product_zone_temp" {
		t.Fatal("near misses are not what they were")
	}
	if n := testing.AllocsPerRun(100, func() { nearMiss(name) }); n > 2 {
		t.Errorf("a foreign name costs %v allocations, want its folded form alone", n)
	}
}
