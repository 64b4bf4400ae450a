package simulate

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

func TestFaultMatrix(t *testing.T) {
	p, _ := baseParams("walkin_freezer")
	run := func(faults ...Fault) summary {
		u := mustNew(t, Config{Equipment: "walkin_freezer", Seed: 1, Site: Site{Seed: 1, Climate: testClimate}, Params: &p, Faults: faults})
		return summarise(u, testStart+2*rimewatch.Day, testStart+2*rimewatch.Day+84*rimewatch.Hour)
	}
	h := run()
	t.Logf("%-28s %5s %6s %6s %5s %5s %4s %5s %5s %5s %5s %5s %5s %6s %5s", "fault", "sev", "zone", "p99.5", "dis", "suc", "RH", "V%", "A%", "vib", "vib95", "duty", "st/h", "trips", "frost")
	row := func(name string, sev float64, s summary) {
		t.Logf("%-28s %5.2f %+6.1f %6.1f %+5.0f %+5.1f %+4.0f %+5.1f %+5.0f %5.2f %5.2f %5.2f %5.1f %6.1f %5.1f", name, sev, s.zoneMean-h.zoneMean, s.zoneP995, s.discharge-h.discharge, s.suction-h.suction, s.humidity-h.humidity,
			100*(s.volts/h.volts-1), 100*(s.amps/h.amps-1), s.vib/h.vib, s.vibP95/h.vibP95, s.duty, s.startsAnHr, s.tripsADay, s.frost)
	}
	row("healthy", 0, h)
	for _, f := range []Fault{
		{Name: "leak", Severity: .5}, {Name: "leak", Severity: .7}, {Name: "leak", Severity: .85}, {Name: "restriction", Severity: .5},
		{Name: "fouling", Severity: .5}, {Name: "fouling", Severity: .8}, {Name: "fouling", Severity: .9}, {Name: "condenser_fan", Severity: 1},
		{Name: "icing", Severity: .3}, {Name: "icing", Severity: 1}, {Name: "defrost_failure", Severity: 1}, {Name: "defrost_failure", Severity: .5}, {Name: "evaporator_fan", Severity: 1},
		{Name: "valve", Severity: .5}, {Name: "valve", Severity: 1}, {Name: "bearing", Severity: .5}, {Name: "bearing", Severity: 1}, {Name: "floodback", Severity: .7},
		{Name: "capacitor", Severity: .7}, {Name: "contactor", Severity: .7}, {Name: "sag", Severity: .7}, {Name: "overvoltage", Severity: .8}, {Name: "single_phasing", Severity: 1}, {Name: "stuck_on", Severity: 1}, {Name: "stuck_off", Severity: 1}, {Name: "defrost_stuck", Severity: 1},
		{Name: "door", Severity: 1}, {Name: "gasket", Severity: 1}, {Name: "noncondensables", Severity: 1}, {Name: "power", Severity: 1},
	} {
		f.Onset = testStart + 2*rimewatch.Day
		row(f.Name, f.Severity, run(f))
	}
}
