package alert

import (
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

// play lets the unit report for some days and gives what the rules made of it.
func (sc scene) play(t testing.TB) *unit {
	t.Helper()
	return sc.playUntil(t, epoch+rimewatch.Time(sc.days)*rimewatch.Day)
}

func (sc scene) playUntil(t testing.TB, end rimewatch.Time) *unit {
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
	u := newUnit(t, c)
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

// TestHealthyFleet is the promise that people can sleep: healthy units with
// doors, defrosts, deliveries and noise.
func TestHealthyFleet(t *testing.T) {
	const days, seeds = 30, 2
	warnings := 0
	for _, typ := range fiveTypes {
		for seed := range uint64(seeds) {
			sc := scene{
				sim: simulate.Config{Equipment: typ, Seed: seed + 1, Extras: seed%2 == 1}, rules: DefaultRules, goods: true, days: days,
				net: simulate.Network{Latency: 800 * time.Millisecond, Missing: 0.002, Duplicate: 0.001},
			}
			for _, tr := range sc.play(t).log {
				if tr.Severity == rimewatch.Critical {
					t.Errorf("%s, seed %d: %s", typ, seed+1, summary([]Transition{tr})[0])
				}
				if tr.Kind == Opened {
					warnings++
					t.Logf("%s, seed %d: %s", typ, seed+1, summary([]Transition{tr})[0])
				}
			}
		}
	}
	if months := len(fiveTypes) * seeds; warnings >= months {
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

var faultCases = []struct {
	fault  string
	types  string // equipment, "" = all five
	hours  int    // after onset
	want   string // the alerts, and no others, once each
	within rimewatch.Time
}{
	{"power", "", 12, "high_temperature power_loss", 0},
	{"thermostat_stuck_off", "", 12, "high_temperature", 0},
	{"defrost_stuck_on", "", 12, "high_temperature", 0},
	{"single_phasing", "", 12, "compressor_start_failure high_temperature", 0},
	{"door", "reach_in_cooler", 8, "high_temperature", 0},
	{"thermostat_stuck_on", "vaccine_refrigerator reach_in_cooler", 8, "low_temperature", 0},
	{"evaporator_fan", "reach_in_cooler walkin_cooler", 8, "high_temperature short_cycling", 0},
	{"voltage_sag", "", 24, "low_voltage", 2 * minute},
	{"overvoltage", "", 24, "high_voltage", 2 * minute},
	{"disconnected", "", 24, "sensor_fault", 6 * minute},
	{"disconnected:compressor_discharge_temp", "walkin_freezer", 24, "sensor_fault", 6 * minute},
	{"stuck", "", 24, "sensor_fault", 3 * hour},
	{"capacitor", "", 5, "compressor_start_failure", 0},
	{"contactor", "", 6, "short_cycling", 2 * hour},
	{"overcharge", "walkin_freezer walkin_cooler", 24, "high_discharge_temperature", 0},
	{"floodback", "walkin_freezer walkin_cooler reach_in_cooler", 24, "low_suction_temperature", 0},
	{"restriction", "walkin_freezer walkin_cooler reach_in_cooler", 24, "high_discharge_temperature high_suction_temperature", 0},
	{"bearing:21d", "walkin_freezer", 600, "high_vibration", 0},
	{"leak:21d", "walkin_freezer", 480, "high_discharge_temperature high_suction_temperature", 0},
	{"fouling:21d", "walkin_freezer", 480, "high_discharge_temperature", 0},
}

// TestFaults lets the simulator break units and expects for each fault one alert
// of each type that its limits call for and no other.
func TestFaults(t *testing.T) {
	for _, tc := range faultCases {
		types := strings.Fields(tc.types)
		if tc.types == "" {
			types = fiveTypes
		}
		for _, typ := range types {
			t.Run(tc.fault+"/"+typ, func(t *testing.T) {
				f, err := simulate.ParseFault(tc.fault)
				if err != nil {
					t.Fatal(err)
				}
				f.Onset = epoch + onset
				u := scene{
					sim:   simulate.Config{Equipment: typ, Seed: 1, Faults: []simulate.Fault{f}, Extras: tc.fault == "contactor"},
					rules: DefaultRules,
				}.playUntil(t, f.Onset+rimewatch.Time(tc.hours)*hour)
				var got []string
				for _, tr := range u.log {
					if tr.Kind != Opened {
						continue
					}
					got = append(got, string(tr.Type))
					if late := tr.At - f.Onset; tc.within != 0 && late > tc.within {
						t.Errorf("%s only %s after the fault", tr.Type, duration(late.Sub(0)))
					}
					u.checkDelay(tr)
				}
				slices.Sort(got)
				if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("alerts (-want +got):\n%s\n%s", diff, strings.Join(summary(u.log), "\n"))
				}
			})
		}
	}
}

// checkDelay holds a temperature alert against what was really measured: it
// opened when its delay was over, a reading later at most.
func (u *unit) checkDelay(tr Transition) {
	l := &u.c.Limits
	delay := seconds(l.DelayS)
	switch {
	case tr.Type == rimewatch.LowTemperature:
		delay = seconds(l.LowDelayS)
	case tr.Type != rimewatch.HighTemperature:
		return
	}
	grace := max(delay, minutes(u.c.Equipment.Defrost.MaxMin+u.c.Equipment.Defrost.RecoverMin))
	if tr.Severity == rimewatch.Critical {
		delay = min(delay, seconds(l.CriticalDelayS), freezeCritical)
	}
	if lasted := tr.At - tr.ConditionStartedAt; lasted < delay || lasted > grace+rimewatch.Minute {
		u.t.Fatalf("%s opened after %s, want %s to %s and a minute", tr.Type, duration(lasted.Sub(0)), duration(delay.Sub(0)), duration(grace.Sub(0)))
	}
}
