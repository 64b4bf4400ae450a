package simulate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
)

func TestFleet(t *testing.T) {
	fleet, err := NewFleet(FleetConfig{Seed: 1, Units: 12, Sites: 2, Start: testStart})
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	sites := map[string]Site{}
	for _, m := range fleet {
		serials = append(serials, m.Serial)
		if s, ok := sites[m.Site]; ok && s != m.Config.Site {
			t.Errorf("%s is two sites", m.Site)
		}
		sites[m.Site] = m.Config.Site
		if m.Config.Start < testStart || m.Config.Start >= testStart+rimewatch.Minute {
			t.Errorf("%s starts at %v", m.Serial, m.Config.Start)
		}
	}
	want := []string{
		"WIF-0001", "WIC-0001", "RIC-0001", "DCO-0001", "VAC-0001", "WIF-0002", "WIC-0002", "RIC-0002", "DCO-0002", "VAC-0002", "WIF-0003", "WIC-0003",
	}
	if d := cmp.Diff(want, serials); d != "" {
		t.Error(d)
	}
	if len(sites) != 2 || fleet[0].Name != "Walk-in freezer 1" || fleet[6].Name != "Walk-in cooler 2" {
		t.Errorf("%d sites, %q, %q", len(sites), fleet[0].Name, fleet[6].Name)
	}
	if _, err := NewFleet(FleetConfig{Units: 1, Equipment: []string{"ult_freezer"}}); err == nil {
		t.Error("a fleet of cascades is accepted")
	}
	if none, err := NewFleet(FleetConfig{}); err != nil || len(none) != 0 {
		t.Errorf("empty fleet: %v %v", none, err)
	}
}

func TestSerialsAreUniqueAndValid(t *testing.T) {
	seen := map[string]string{}
	for _, e := range Simulable() {
		p := SerialPrefix(e)
		if other := seen[p]; other != "" || len(p) != 3 || !rimewatch.ValidSerial(p+"-0001") {
			t.Errorf("%s: prefix %q, also of %q", e, p, other)
		}
		seen[p] = e
	}
}

// Simulated in parallel, a fleet has the readings that each unit has alone, and
// its units go on from there.
func TestGenerate(t *testing.T) {
	fleet, err := NewFleet(FleetConfig{Seed: 2, Units: 7, Start: testStart, Step: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	configs := make([]Config, len(fleet))
	for i, m := range fleet {
		configs[i] = m.Config
	}
	to := testStart + 3*rimewatch.Hour
	histories := make([][]rimewatch.Reading, len(fleet))
	err = Generate(configs, to, 3, func(i int, u *Unit, h []rimewatch.Reading) {
		histories[i] = append(h, u.Next())
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, cfg := range configs {
		if d := cmp.Diff(mustNew(t, cfg).History(to+rimewatch.Minute), histories[i]); d != "" {
			t.Errorf("%s: %s", fleet[i].Serial, d)
		}
	}
	configs[3].Equipment = "toaster"
	if err := Generate(configs, to, 2, func(int, *Unit, []rimewatch.Reading) {}); err == nil {
		t.Error("no error for an unknown type")
	}
}

// The demonstration: 12 devices for two days and one for three weeks.
func BenchmarkDemoHistory(b *testing.B) {
	fleet, err := NewFleet(FleetConfig{Seed: 1, Units: 12, Start: testStart})
	if err != nil {
		b.Fatal(err)
	}
	configs := make([]Config, len(fleet))
	for i, m := range fleet {
		configs[i] = m.Config
		if i == 0 {
			configs[i].Start -= 19 * rimewatch.Day
		}
	}
	for b.Loop() {
		readings := 0
		if err := Generate(configs, testStart+2*rimewatch.Day, 2, func(_ int, _ *Unit, h []rimewatch.Reading) { readings += len(h) }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(readings), "readings/op")
	}
}
