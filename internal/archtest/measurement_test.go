package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// TestMeasurementsHaveOneTable: a measurement is a row of field.go, a field of the
// client, the UI's copy of the table, and what the simulator knows of it. Whatever
// else has to do with measurements is made from the table and names none of those
// that nothing judges; so adding one touches four files.
func TestMeasurementsHaveOneTable(t *testing.T) {
	const most = 4
	for name, pattern := range map[string]string{
		"setpoint_temp":      `setpoint_temp|SetpointTemp`,
		"evaporator_temp":    `evaporator_temp|EvaporatorTemp`,
		"liquid_line_temp":   `liquid_line_temp|LiquidLineTemp`,
		"suction_pressure":   `suction_pressure|SuctionPressure`,
		"discharge_pressure": `discharge_pressure|DischargePressure`,
	} {
		var files []string
		re := regexp.MustCompile(`\b(` + pattern + `)\b`)
		walk(t, func(path string, text []byte) {
			if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".test.ts") && !strings.Contains(path, "/storetest/") && re.Match(text) {
				files = append(files, path)
			}
		})
		if len(files) < 3 || len(files) > most {
			t.Errorf("%s is named in %d files, at most %d: %s", name, len(files), most, strings.Join(files, ", "))
		}
	}
}
