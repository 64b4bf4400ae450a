package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

func configOf(slug string) *Config {
	e, _ := rimewatch.EquipmentBySlug(slug)
	return &Config{Config: unit.Config{Equipment: e}, Limits: e.Limits}
}

// The freezer's range is −30…−15 °C with 60 min of delay, critical above
// −12 °C for 60 min; the cooler's 0…5 °C with 45 min (30 min below), critical
// above 7 °C for 120 min or 2 h outside; the vaccine refrigerator's 2…8 °C.
var temperatureCases = []struct {
	name, equipment, script, want string
}{
	{"inside all the time", "walkin_freezer", `
		0m -21
		60m -18
		120m -15
		180m -30`, ``},
	{"opens at the reading that completes the delay", "walkin_freezer", `
		0m -21
		10m -14
		40m -13
		70m -14`, `
		1h10m opened high_temperature warning since 10m value -13 peak -13 limit -15`},
	{"opens by timer with the newest value", "walkin_freezer", `
		0m -14
		5m -13
		90m tick`, `
		1h opened high_temperature warning since 0s value -13 peak -13 limit -15`},
	{"one reading inside takes nothing from what adds up", "walkin_freezer", `
		0m -14
		20m -14
		40m -14
		59m -15
		60m -14
		61m -14`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"what adds up waits for a reading that is beyond", "walkin_freezer", `
		0m -14
		40m -15
		60m -14
		82m -15
		83m -15
		110m tick
		130m -14`, ``},
	{"a backlog whose end is back within opens nothing", "walkin_freezer", `
		0m -14
		40m -15
		70m -14 -14 -14 -15 at 45m 50m 65m 70m`, ``},
	{"an excursion shorter than the delay is none", "walkin_freezer", `
		0m -14
		59m -16
		300m tick`, ``},
	{"critical at once when both delays end together", "walkin_freezer", `
		0m -10
		60m -9`, `
		1h opened high_temperature critical since 0s value -10 peak -10 limit -12`},
	{"warning, then critical", "walkin_freezer", `
		0m -14
		30m -11
		60m -10.5
		90m -11`, `
		1h opened high_temperature warning since 0s value -11 peak -11 limit -15
		1h30m escalated high_temperature critical since 0s value -10.5 peak -10.5 limit -12`},
	{"critical falls back to a warning and then resolves", "walkin_freezer", `
		0m -10
		61m -12.4
		70m -12.5
		74m -13
		75m -13
		80m -16
		85m -16
		90m tick`, `
		1h opened high_temperature critical since 0s value -10 peak -10 limit -12
		1h15m deescalated high_temperature warning since 0s value -13 peak -10 limit -15
		1h25m resolved high_temperature warning since 0s value -16 peak -10 limit -15`},
	{"it resolves five minutes past the clear value", "walkin_freezer", `
		0m -14
		60m -15
		70m -15.4
		80m -15.5
		84m -15.2
		86m -15.5
		90m -15.5
		95m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h31m resolved high_temperature warning since 0s value -15.5 peak -14 limit -15`},
	{"two hours outside are critical for food", "walkin_cooler", `
		0m 5.4
		60m 5.5
		119m 5.2
		120m 5.2
		130m 4.8
		140m 4
		144m 4
		150m tick`, `
		45m opened high_temperature warning since 0s value 5.4 peak 5.4 limit 5
		2h escalated high_temperature critical since 0s value 5.2 peak 5.5 limit 5
		2h25m resolved high_temperature critical since 0s value 4 peak 5.5 limit 5`},
	{"an end that one reading alone shows waits for the next one", "walkin_cooler", `
		0m 8
		30m 8
		60m 4
		90m 8
		120m 4
		150m 4`, `
		45m opened high_temperature warning since 0s value 8 peak 8 limit 5
		1h30m updated high_temperature warning since 0s value 8 peak 8 limit 5 occurrences 2
		2h30m resolved high_temperature warning since 0s value 4 peak 8 limit 5 occurrences 2`},
	{"two hours outside do not matter for frozen goods", "walkin_freezer", `
		0m -14
		300m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"of two hours of which most passed in silence half have to be seen", "walkin_cooler", `
		0m 6
		10m 6
		95m 6
		160m tick`, `
		45m opened high_temperature warning since 0s value 6 peak 6 limit 5
		2h35m escalated high_temperature critical since 0s value 6 peak 6 limit 5`},
	{"but not of what had lasted for its delay before the silence", "walkin_cooler", `
		0m 6
		10m 6
		20m 6
		30m 6
		40m 6
		46m 6
		130m 6
		160m tick`, `
		45m opened high_temperature warning since 0s value 6 peak 6 limit 5
		2h escalated high_temperature critical since 0s value 6 peak 6 limit 5`},
	{"nor of what is beyond the critical limit", "walkin_cooler", `
		0m 6
		10m 6
		95m 8
		130m tick`, `
		45m opened high_temperature warning since 0s value 6 peak 6 limit 5
		2h escalated high_temperature critical since 0s value 8 peak 8 limit 5`},
	{"the critical bound may pass before the two hours: it stays critical when they are over", "walkin_cooler", `
		0m 8
		30m 6
		31m 9
		151m 5.5
		200m tick`, `
		45m opened high_temperature warning since 0s value 9 peak 9 limit 5
		2h escalated high_temperature critical since 0s value 9 peak 9 limit 5`},
	{"a vaccine below 0 °C is critical after 10 minutes", "vaccine_refrigerator", `
		0m 5
		1m -0.5
		20m tick`, `
		11m opened low_temperature critical since 1m value -0.5 peak -0.5 limit 0`},
	{"a vaccine below 2 °C is a warning after 15", "vaccine_refrigerator", `
		0m 1.5
		16m 1.2
		20m -1
		40m tick
		41m 2.6
		45m 2.6
		50m tick`, `
		15m opened low_temperature warning since 0s value 1.5 peak 1.5 limit 2
		30m escalated low_temperature critical since 0s value -1 peak -1 limit 0
		46m resolved low_temperature critical since 0s value 2.6 peak -1 limit 0`},
	{"a unit without limits is never judged", "other", `
		0m 30
		600m -40`, ``},
	{"an ice machine has a critical limit only", "ice_machine", `
		0m 12
		119m 11
		120m 12
		121m 9
		125m 9
		130m tick`, `
		2h opened high_temperature critical since 0s value 11 peak 12 limit 10
		2h6m resolved high_temperature critical since 0s value 9 peak 12 limit 10`},
	{"absent measurements are no evidence", "walkin_freezer", `
		0m -14
		30m null
		61m null
		62m -20
		63m -20
		64m null
		70m null`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h7m resolved high_temperature warning since 0s value -20 peak -14 limit -15`},
	{"what no zone can be is not a temperature", "walkin_freezer", `
		0m 85
		60m 150
		120m 85`, ``},
}

var lateCases = []struct {
	name, equipment, script, want string
}{
	{"a late reading opens nothing", "walkin_freezer", `
		60m -20
		61m -5 at 0m
		62m -5 at 60m
		200m -20`, ``},
	{"a late reading resolves nothing", "walkin_freezer", `
		0m -14
		61m -14
		62m -20 at 50m
		90m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"a backlog alerts for what still holds at its end", "walkin_freezer", `
		0m -20
		1m silent
		100m -14 -13 -14 at 20m 60m 100m`, `
		4m opened device_offline warning since 4m
		1h4m escalated device_offline critical since 4m
		1h40m resolved device_offline critical since 4m
		1h40m opened high_temperature warning since 20m value -14 peak -13 limit -15`},
	{"an excursion that ended within a backlog is history", "walkin_freezer", `
		0m -20
		1m silent
		100m -14 -13 -20 at 10m 99m 99.5m`, `
		4m opened device_offline warning since 4m
		1h4m escalated device_offline critical since 4m
		1h40m resolved device_offline critical since 4m`},
	{"the old end of a backlog says nothing of now", "walkin_freezer", `
		0m -20
		100m -14 -13 at 10m 90m
		180m tick
		181m -13`, `
		3h1m opened high_temperature warning since 10m value -13 peak -13 limit -15`},
	{"a backlog can end an alert", "walkin_freezer", `
		0m -14
		100m -20 -21 at 70m 80m`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h40m resolved high_temperature warning since 0s value -21 peak -14 limit -15`},
	{"a clock that runs ahead is judged by arrival", "walkin_freezer", `
		0m -14 at 5m
		30m -14 at 35m
		61m -14 at 66m`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
}

var offlineCases = []struct {
	name, equipment, script, want string
}{
	{"offline is a warning at once, critical after an hour, over when seen", "walkin_freezer", `
		0m -20
		1m silent
		90m beat`, `
		4m opened device_offline warning since 4m
		1h4m escalated device_offline critical since 4m
		1h30m resolved device_offline critical since 4m`},
	{"an announced shutdown is no alert", "walkin_freezer", `
		0m -20
		1m announce
		600m tick`, ``},
	{"a running delay waits while the device is offline", "walkin_freezer", `
		0m -14
		10m silent
		90m tick
		91m beat
		100m tick`, `
		13m opened device_offline warning since 13m
		1h13m escalated device_offline critical since 13m
		1h31m resolved device_offline critical since 13m
		1h32m opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"the first reading after a silence decides before the timer", "walkin_freezer", `
		0m -14
		10m silent
		91m beat
		91.5m -20
		300m tick`, `
		13m opened device_offline warning since 13m
		1h13m escalated device_offline critical since 13m
		1h31m resolved device_offline critical since 13m`},
	{"after a silence a fresh value waits for a second one, for ten minutes at most", "walkin_freezer", `
		0m -20
		1m silent
		5m delay 30
		10m beat
		10m -14
		21m tick`, `
		4m opened device_offline warning since 4m
		10m resolved device_offline warning since 4m
		20m30s opened high_temperature warning since 10m value -14 peak -14 limit -15`},
	{"who goes offline while a warning waits for a second reading is told of before", "walkin_freezer", `
		0m -20
		5m -20
		10m -20
		11m delay 60
		15m -14
		15m silent
		30m tick`, `
		17m59.999s opened high_temperature warning since 15m value -14 peak -14 limit -15
		18m opened device_offline warning since 18m`},
	{"what no unit can have reached counts when nothing else has come for ten minutes", "walkin_freezer", `
		0m -20
		1m -20
		60m -20.1
		61m -20
		63m 10
		65m null
		150m tick`, `
		2h3m opened high_temperature critical since 1h3m value 10 peak 10 limit -12`},
	{"though the device is offline by then, if its delay was over before", "walkin_freezer", `
		0m -20
		1m -20
		60m -20.1
		61m delay 60
		62m -20
		63m 10
		63m silent
		80m tick`, `
		1h6m opened device_offline warning since 1h6m
		1h13m opened high_temperature warning since 1h3m value 10 peak 10 limit -15`},
	{"not when another has", "walkin_freezer", `
		0m -20
		1m -20
		60m -20.1
		63m 10
		72m -20
		150m tick`, ``},
	{"at once within the first hour, when it may be a person who tries the service out", "walkin_freezer", `
		0m -20
		1m -20
		1m delay 0
		2m 10
		3m -20`, `
		2m opened high_temperature warning since 2m value 10 peak 10 limit -15`},
	{"nor one of a backlog that came too late", "walkin_freezer", `
		0m -20
		1m -20
		60m -20.1
		100m 10 at 63m
		210m tick`, ``},
	{"silence does not resolve a temperature", "walkin_freezer", `
		0m -14
		61m -16
		62m silent
		63m tick
		200m tick
		201m -16`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h5m opened device_offline warning since 1h5m
		2h5m escalated device_offline critical since 1h5m
		3h21m resolved device_offline critical since 1h5m
		3h21m resolved high_temperature warning since 0s value -16 peak -14 limit -15`},
	{"the fourth return within two hours is latched", "walkin_freezer", `
		0m silent
		5m beat
		6m silent
		10m beat
		11m silent
		15m beat
		16m silent
		20m beat
		30m silent
		40m beat
		140m tick`, `
		3m opened device_offline warning since 3m
		5m resolved device_offline warning since 3m
		9m opened device_offline warning since 9m
		10m resolved device_offline warning since 9m
		14m opened device_offline warning since 14m
		15m resolved device_offline warning since 14m
		19m opened device_offline warning since 19m flapping
		1h40m resolved device_offline warning since 19m occurrences 2 flapping`},
}

var peopleCases = []struct {
	name, equipment, script, want string
}{
	{"a warning resolved by hand opens again after 30 minutes", "walkin_freezer", `
		0m -14
		61m resolve high_temperature
		100m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h31m opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"a critical one after 5", "walkin_freezer", `
		0m -11
		61m resolve high_temperature
		100m tick`, `
		1h opened high_temperature critical since 0s value -11 peak -11 limit -12
		1h6m opened high_temperature critical since 0s value -11 peak -11 limit -12`},
	{"it does not open again when the condition ends", "walkin_freezer", `
		0m -14
		61m resolve high_temperature
		70m -20
		200m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"a new condition after a manual resolve has its own delay", "walkin_freezer", `
		0m -14
		61m resolve high_temperature
		62m -20
		63m -14
		64m -14
		200m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		2h3m opened high_temperature warning since 1h3m value -14 peak -14 limit -15`},
	{"offline resolved by hand", "walkin_freezer", `
		0m silent
		5m resolve device_offline
		40m beat`, `
		3m opened device_offline warning since 3m
		35m opened device_offline warning since 3m
		40m resolved device_offline warning since 3m`},
	{"a tighter limit starts the delay when it is set", "walkin_freezer", `
		0m -18
		10m max -20
		80m tick`, `
		1h10m opened high_temperature warning since 10m value -18 peak -18 limit -20`},
	{"a wider limit ends the alert", "walkin_freezer", `
		0m -14
		70m max -10
		80m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15
		1h10m resolved high_temperature warning since 0s value -14 peak -14 limit -10 superseded limits`},
	{"an alert that other limits carry goes on", "walkin_freezer", `
		0m -12.5
		70m max -13
		80m -12.5
		90m -20
		94m -20
		96m tick`, `
		1h opened high_temperature warning since 0s value -12.5 peak -12.5 limit -15
		1h35m resolved high_temperature warning since 0s value -20 peak -12.5 limit -13`},
	{"one that is about to end does not end by other limits", "walkin_freezer", `
		0m -12.5
		70m -20
		71m -20
		72m max -14
		80m tick`, `
		1h opened high_temperature warning since 0s value -12.5 peak -12.5 limit -15
		1h15m resolved high_temperature warning since 0s value -20 peak -12.5 limit -14`},
	{"nor by limits of the other side", "walkin_freezer", `
		0m -14
		70m -15.2
		72m min -40
		80m tick`, `
		1h opened high_temperature warning since 0s value -14 peak -14 limit -15`},
	{"without a limit nothing recovers", "walkin_freezer", `
		0m -12.5
		70m type other
		80m tick`, `
		1h opened high_temperature warning since 0s value -12.5 peak -12.5 limit -15
		1h10m resolved high_temperature warning since 0s value -12.5 peak -12.5 limit 0 superseded not_judged`},
	{"what has added up beyond other limits is void", "walkin_freezer", `
		0m -14
		40m -15
		45m max -16
		50m -14
		75m -14`, ``},
	{"a shorter delay counts from the start", "walkin_freezer", `
		0m -14
		10m delay 300`, `
		10m opened high_temperature warning since 0s value -14 peak -14 limit -15`},
}

func TestTemperatureAndOffline(t *testing.T) {
	for _, table := range [][]struct{ name, equipment, script, want string }{temperatureCases, lateCases, offlineCases, peopleCases} {
		for _, tc := range table {
			for _, reload := range []bool{false, true} {
				t.Run(tc.name, func(t *testing.T) {
					u := newDevice(t, configOf(tc.equipment))
					u.reload = reload
					u.run(tc.script)
					if diff := cmp.Diff(lines(tc.want), summary(u.log)); diff != "" {
						t.Error("transitions (-want +got):\n" + diff)
					}
				})
			}
		}
	}
}

func TestOutOfLimits(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		since, due   time.Duration // after the epoch; −1 = none
	}{
		{"within its limits", "0m -21", -1, -1},
		{"above, not long enough", "0m -21\n10m -14\n30m -13", 10 * time.Minute, 70 * time.Minute},
		{"beyond the critical limit as well", "0m -21\n10m -14\n20m -10", 10 * time.Minute, 70 * time.Minute},
		{"below", "0m -21\n5m -31", 5 * time.Minute, 35 * time.Minute},
		{"after runs that add up to most of the delay", "0m..1m z=-21\n1m..21m z=-14\n21m..41m z=-16\n41m..61m z=-14\n61m..70m z=-16\n70m..71m z=-14", 70 * time.Minute, 90*time.Minute - 60*time.Minute/25},
		{"after one that leaves the window before", "0m..1m z=-21\n1m..41m z=-14\n41m..111m z=-16\n111m..112m z=-14", 111 * time.Minute, 171 * time.Minute},
		{"back inside", "0m -14\n20m -16", -1, -1},
		{"alerted already", "0m -14\n70m -14", 0, -1},
	} {
		u := newDevice(t, configOf("walkin_freezer"))
		u.c.Limits.LowDelayS, u.c.Limits.CriticalMin = 1800, nil
		u.run(tc.script)
		since, due := u.s.OutOfLimits(u.c)
		for _, x := range []struct {
			name string
			got  rimewatch.Time
			want time.Duration
		}{{"since", since, tc.since}, {"due", due, tc.due}} {
			want := rimewatch.Time(0)
			if x.want >= 0 {
				want = epoch.Add(x.want)
			}
			if x.got != want {
				t.Errorf("%s: %s %s, want %s", tc.name, x.name, x.got, want)
			}
		}
	}
}

// TestBackInside: an alert whose value is back says since when, and when it ends if it stays so.
func TestBackInside(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		since, clear time.Duration // after the epoch; −1 = none
	}{
		{"no alert", "0m -21", -1, -1},
		{"beyond", "0m..70m z=-14", -1, -1},
		{"back", "0m..70m z=-14\n71m..73m z=-21", 71 * time.Minute, 76 * time.Minute},
		{"out again", "0m..70m z=-14\n71m..73m z=-21\n74m -14", -1, -1},
	} {
		u := newDevice(t, configOf("walkin_freezer"))
		u.run(tc.script)
		since, clearAt := u.s.BackInside(u.c)
		at := func(d time.Duration) rimewatch.Time {
			if d < 0 {
				return 0
			}
			return epoch.Add(d)
		}
		if since != at(tc.since) || clearAt != at(tc.clear) {
			t.Errorf("%s: since %s until %s, want %s and %s", tc.name, since, clearAt, at(tc.since), at(tc.clear))
		}
	}
}

// TestBackSince: an alert that ends because its value has stayed in range for its clear time says since when it was back.
func TestBackSince(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.run("0m..70m z=-14\n71m..90m z=-21")
	over := u.log[len(u.log)-1]
	if over.Kind != rimewatch.TransitionResolved || over.BackSince != epoch.Add(71*time.Minute) || over.At.Sub(over.BackSince) != 5*time.Minute {
		t.Errorf("%s at %s, back since %s", over.Kind, over.At, over.BackSince)
	}
}

func lines(s string) []string {
	out := []string{}
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}
