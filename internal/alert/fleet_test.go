package alert

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

var fiveTypes = []string{"walkin_freezer", "walkin_cooler", "reach_in_cooler", "display_case_open", "vaccine_refrigerator"}

// scene is a simulated unit behind a network.
type scene struct {
	sim   simulate.Config
	net   simulate.Network
	rules Rules
	goods bool // deliveries on two mornings a week
	days  int
}

// play lets the unit report for some days and returns what the rules made of it.
func (sc scene) play(t testing.TB) *device {
	t.Helper()
	return sc.playUntil(t, epoch+rimewatch.Time(sc.days)*rimewatch.Day)
}

func (sc scene) playUntil(t testing.TB, end rimewatch.Time) *device {
	t.Helper()
	sc.sim.Start = epoch
	if sc.goods {
		p, err := simulate.RandomParams(sc.sim.Equipment, sc.sim.Seed)
		if err != nil {
			t.Fatal(err)
		}
		sc.sim.Events = simulate.Deliveries(p, sc.sim.Seed, epoch, end, 0)
	}
	sim, err := simulate.New(sc.sim)
	if err != nil {
		t.Fatal(err)
	}
	c := configOf(sc.sim.Equipment)
	c.Rules = sc.rules
	u := newDevice(t, c)
	u.silent = true // the readings are its only signs of life
	u.p.OfflineAfter = max(u.p.OfflineAfter, 3*sc.sim.SampleEvery+10*time.Second)
	for feed := simulate.NewFeed(sim, sc.net); ; {
		r, ok := feed.Next()
		if !ok || r.ReceivedAt >= end {
			return u
		}
		u.advance(max(u.now, r.ReceivedAt))
		u.observe(r)
	}
}

var fleetSeeds = flag.Int("fleet", 2, "units of each type in TestHealthyFleet")

// TestHealthyFleet is the promise that people can sleep: healthy units with
// doors, defrosts, deliveries and noise. "make fleet" asks more of them.
func TestHealthyFleet(t *testing.T) {
	const days = 30
	seeds := uint64(*fleetSeeds)
	warnings := 0
	for _, typ := range fiveTypes {
		for seed := range seeds {
			sc := scene{
				sim: simulate.Config{Equipment: typ, Seed: seed + 1, Extras: seed%2 == 1}, rules: DefaultRules, goods: true, days: days,
				net: simulate.Network{Latency: 800 * time.Millisecond, Missing: 0.002, Duplicate: 0.001},
			}
			for _, tr := range sc.play(t).log {
				if tr.Severity == rimewatch.Critical {
					t.Errorf("%s, seed %d: %s", typ, seed+1, summary([]Transition{tr})[0])
				}
				if tr.Kind == rimewatch.TransitionOpened {
					warnings++
					t.Logf("%s, seed %d: %s", typ, seed+1, summary([]Transition{tr})[0])
				}
			}
		}
	}
	months := len(fiveTypes) * int(seeds)
	t.Logf("%d alerts in %d device-months", warnings, months)
	if warnings >= months {
		t.Errorf("%d alerts in %d device-months, want less than one a month", warnings, months)
	}
}

// TestHealthyAtOtherRates: loggers that report every ten seconds, five minutes
// or half an hour are as quiet.
func TestHealthyAtOtherRates(t *testing.T) {
	for every, days := range map[time.Duration]int{10 * time.Second: 3, 5 * time.Minute: 20, 30 * time.Minute: 20} {
		for _, typ := range fiveTypes {
			sc := scene{sim: simulate.Config{Equipment: typ, Seed: 5, SampleEvery: every}, rules: DefaultRules, goods: true, days: days}
			for _, line := range summary(sc.play(t).log) {
				t.Errorf("%s every %s: %s", typ, every, line)
			}
		}
	}
}

// TestHealthyFleetBehindABadNetwork adds outages of the gateway: they are told
// as what they are, and what arrives afterwards raises nothing.
func TestHealthyFleetBehindABadNetwork(t *testing.T) {
	net := simulate.TypicalNetwork()
	net.OutagesADay = 1
	for _, typ := range fiveTypes {
		u := scene{sim: simulate.Config{Equipment: typ, Seed: 3}, net: net, rules: DefaultRules, days: 10}.play(t)
		offline := 0
		for _, tr := range u.log {
			if tr.Type == rimewatch.DeviceOffline {
				offline++
				continue
			}
			t.Errorf("%s: %s", typ, summary([]Transition{tr})[0])
		}
		if offline == 0 {
			t.Errorf("%s: no outage was seen in 10 days", typ)
		}
	}
}

const onset = 4 * rimewatch.Day // of every fault, when the units are known

// faultCases are what each fault of the simulator brings within some hours: the
// alerts that it calls for, and no others. What breaks no limit in that time
// brings none. The fault's alerts by the unit's own baseline come after the
// second window of six hours.
var faultCases = []struct {
	fault string
	types string // equipment, "" = all five
	hours int    // after onset
	want  string // one alert of each of these types, sorted
}{
	{"refrigerant_undercharge", "walkin_freezer", 20, "excessive_run_time high_discharge_temperature high_suction_temperature"},
	{"refrigerant_undercharge", "walkin_cooler reach_in_cooler display_case_open vaccine_refrigerator", 20, "high_discharge_temperature high_suction_temperature"},
	{"liquid_line_restriction", "", 20, "high_discharge_temperature high_suction_temperature"},
	{"condenser_fouling", "walkin_freezer walkin_cooler display_case_open vaccine_refrigerator", 20, "high_discharge_temperature"},
	{"condenser_fouling", "reach_in_cooler", 20, "high_amp_draw high_discharge_temperature"},
	{"condenser_fan_failure", "walkin_freezer", 9, "high_temperature slow_recovery"}, // of the defrost at its onset
	{"condenser_fan_failure", "display_case_open", 9, "high_temperature"},
	{"condenser_fan_failure", "walkin_cooler reach_in_cooler", 9, ""},
	{"condenser_fan_failure", "vaccine_refrigerator", 9, "short_cycling"},
	{"noncondensables_overcharge", "walkin_freezer walkin_cooler reach_in_cooler", 20, "high_discharge_temperature"},
	{"noncondensables_overcharge", "display_case_open vaccine_refrigerator", 20, ""},
	{"evaporator_icing", "walkin_freezer walkin_cooler reach_in_cooler vaccine_refrigerator", 21, ""},
	{"evaporator_icing", "display_case_open", 21, "low_suction_temperature"},
	{"defrost_failure", "", 20, ""},
	{"defrost_stuck_on", "", 20, "high_temperature not_cooling"},
	{"evaporator_fan_failure", "walkin_freezer", 9, "high_temperature low_suction_temperature"},
	{"evaporator_fan_failure", "walkin_cooler reach_in_cooler display_case_open vaccine_refrigerator", 9, "high_temperature not_cooling short_cycling"},
	{"compressor_valve_leakage", "walkin_freezer walkin_cooler reach_in_cooler display_case_open", 15, "high_discharge_temperature"},
	{"compressor_valve_leakage", "vaccine_refrigerator", 15, ""},
	{"bearing_wear", "", 20, "high_vibration"},
	{"liquid_floodback", "", 20, "low_suction_temperature"},
	{"start_component_failure", "reach_in_cooler vaccine_refrigerator", 20, "compressor_start_failure"},
	{"start_component_failure", "walkin_freezer walkin_cooler", 20, "compressor_start_failure high_temperature"},
	{"start_component_failure", "display_case_open", 20, "compressor_start_failure high_temperature not_cooling"},
	{"contactor_fault", "", 20, "short_cycling"},
	{"single_phasing", "", 20, "compressor_start_failure high_temperature not_cooling"},
	{"contactor_open", "", 20, "high_temperature not_cooling"},
	{"locked_rotor", "", 20, "compressor_start_failure high_temperature not_cooling"},
	{"voltage_sag", "", 20, "low_voltage"},
	{"phase_or_supply_overvoltage", "", 20, "high_voltage"},
	{"thermostat_stuck_on", "", 18, "excessive_run_time low_temperature"},
	{"thermostat_stuck_off", "", 20, "high_temperature not_cooling"},
	{"door_open", "walkin_freezer display_case_open", 9, ""},
	{"door_open", "walkin_cooler", 9, "high_temperature"},
	{"door_open", "reach_in_cooler", 9, "door_open_suspected high_temperature"},
	{"door_open", "vaccine_refrigerator", 9, "door_open_suspected high_temperature not_cooling"},
	{"gasket_leak", "", 20, ""},
	{"sensor_drift", "walkin_freezer", 20, "high_temperature sensor_fault slow_recovery"}, // the zone of the defrost at its onset stays 4 K warm, and touches its limit
	{"sensor_drift", "walkin_cooler", 20, "high_temperature sensor_fault"},                // it stops at a zone that it never cooled to
	{"sensor_drift", "reach_in_cooler display_case_open vaccine_refrigerator", 20, "high_temperature sensor_fault"},
	{"sensor_stuck", "", 20, "sensor_fault"},
	{"sensor_disconnected", "", 20, "sensor_fault"},
	{"power_failure", "", 20, "high_temperature power_loss"},
	{"disconnected:compressor_discharge_temp", "walkin_freezer", 24, "sensor_fault"},
	{"door", "walkin_cooler", 12, "excessive_run_time high_temperature high_temperature low_suction_temperature not_cooling"},
	{"defrost_failure", "walkin_freezer", 124, "excessive_run_time high_temperature high_temperature high_temperature high_temperature low_suction_temperature"},
	{"gasket", "walkin_freezer", 168, ""},
	{"bearing:21d", "walkin_freezer", 600, "high_vibration"},
	{"leak:21d", "walkin_freezer", 480, "high_discharge_temperature high_suction_temperature"},
	{"fouling:21d", "walkin_freezer", 480, "high_discharge_temperature"},
}

// TestFaults lets the simulator break units and expects for each fault one alert
// of each type that its limits call for and no other, when the trace itself,
// read with hindsight, says that the condition had held for its delay, or at the
// next reading.
func TestFaults(t *testing.T) {
	covered := make(map[string]int)
	for _, tc := range faultCases {
		types := strings.Fields(tc.types)
		if tc.types == "" {
			types = fiveTypes
		}
		f, err := simulate.ParseFault(tc.fault)
		if err != nil {
			t.Fatal(err)
		}
		covered[f.Name] += len(types)
		f.Onset = epoch + onset
		for _, typ := range types {
			t.Run(tc.fault+"/"+typ, func(t *testing.T) {
				sim := simulate.Config{Equipment: typ, Seed: 1, Start: epoch, Faults: []simulate.Fault{f}, Extras: f.Name == "contactor_fault"}
				end := f.Onset + rimewatch.Time(tc.hours)*hour
				u := scene{sim: sim, rules: DefaultRules}.playUntil(t, end)
				tr := newTrace(t, sim, end)
				var got []string
				for _, x := range u.log {
					if x.Kind != rimewatch.TransitionOpened {
						continue
					}
					got = append(got, string(x.Type))
					if x.Type == rimewatch.NotCooling {
						continue // its clocks are package capability's, and its time is TestDeadCompressor's of package engine
					}
					due := tr.due(x.Type)
					if due.to != never {
						// The baseline learns a little of what grows slowly.
						due.to += tr.interval + rimewatch.Time(f.Ramp.Milliseconds()/20)
					}
					if x.At < due.from || x.At > due.to {
						t.Errorf("%s opened %s after the fault, want %s to %s", x.Type, x.At.Sub(f.Onset), due.from.Sub(f.Onset), due.to.Sub(f.Onset))
					}
				}
				for i := range numRules {
					typ := ruleSpecs[i].typ
					if due := tr.due(typ); due.to < end-tr.interval && !slices.Contains(got, string(typ)) {
						t.Errorf("%s was due %s after the fault and did not open", typ, due.to.Sub(f.Onset))
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("alerts (-want +got):\n%s\n%s", diff, strings.Join(summary(u.log), "\n"))
				}
			})
		}
	}
	for _, name := range simulate.FaultNames() {
		if covered[name] < len(fiveTypes) {
			t.Errorf("%s is tried on %d types, want all", name, covered[name])
		}
	}
}
