package report_test

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/report"
)

func berlin() *time.Location {
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return z
}

func local(z *time.Location, y int, m time.Month, d, h int) rimewatch.Time {
	return rimewatch.TimeOf(time.Date(y, m, d, h, 0, 0, 0, z))
}

// logged is a device with readings every few minutes that are warm from time to
// time.
func logged(d rimewatch.Device, z *time.Location, from, to, now rimewatch.Time, every rimewatch.Time, base float64) report.Device {
	e, _ := rimewatch.EquipmentBySlug(d.EquipmentType)
	out := report.Device{Device: d, SiteName: "Market hall", Equipment: e, Limits: d.LimitsInForce()}
	l := report.NewLog(z, from, to, now, out.Limits)
	for at := from - report.WarmUp; at < to; at += every {
		r := rimewatch.Reading{At: at}
		phase := float64(at%rimewatch.Day) / float64(rimewatch.Day) * 2 * math.Pi
		v := base + math.Sin(phase*4) + 0.6*math.Sin(float64(at/rimewatch.Hour))
		if day := (at - from) / rimewatch.Day; day == 11 && at%rimewatch.Day > 8*rimewatch.Hour && at%rimewatch.Day < 11*rimewatch.Hour {
			v += 9
		}
		if day := (at - from) / rimewatch.Day; day == 20 && at%rimewatch.Day > 12*rimewatch.Hour {
			continue
		}
		r.Set(rimewatch.ProductZoneTemp, math.Round(v*10)/10)
		l.Add(&r)
	}
	out.Days, out.Totals = l.Finish(from)
	return out
}

// sample is a month with a change of clocks and everything that a report shows.
func sample() *report.Report {
	z := berlin()
	from, to := local(z, 2026, 10, 1, 0), local(z, 2026, 11, 1, 0)
	now := local(z, 2026, 11, 2, 9)
	r := &report.Report{
		Workspace: "Nordlicht Märkte GmbH", From: from, To: to, Zone: z, GeneratedAt: now, GeneratedBy: "Olga <olga@example.com>", Version: "1.2.0",
		Site:      &rimewatch.Site{Name: "Market hall Hamburg-Ottensen", TimeZone: "Europe/Berlin", Address: "Große Bergstraße 160, 22767 Hamburg"},
		Integrity: report.Integrity{ChainOK: true, LastHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	}
	freezer := logged(rimewatch.Device{ID: 1, Serial: "WIF-0001", Name: "Walk-in freezer, back of house", EquipmentType: "walkin_freezer", Manufacturer: "Viessmann", Model: "TectoCell"}, z, from, to, now, 5*rimewatch.Minute, -21)
	e := rimewatch.Excursion{ID: 7, From: from + 11*rimewatch.Day + 8*rimewatch.Hour, To: from + 11*rimewatch.Day + 11*rimewatch.Hour, Limit: -15, Peak: -10.6, DegreeMinutes: 540.4, Cause: rimewatch.CauseDoor}
	actions := []rimewatch.CorrectiveAction{
		{ID: 1, AlertID: 31, PerformedAt: e.From + 40*rimewatch.Minute, PerformedBy: "Ana Silva", VerifiedBy: "Bo Lind", Cause: "Door propped open during delivery", Action: "Moved 12 kg of ice cream to F-2; closed the door",
			PreventiveAction: "New door closer ordered", Disposition: rimewatch.DispositionDiscard, Product: "Lot 7, 3 kg prawns", RepairReference: "WO-1193", RecordedBy: "Ana"},
		{ID: 3, PerformedAt: e.From + 60*rimewatch.Hour, PerformedBy: "Bo Lind", Action: "Cleaned the condenser", Disposition: rimewatch.DispositionNone},
		{ID: 2, AlertID: 40, PerformedAt: e.From + 50*rimewatch.Hour, PerformedBy: "Bo Lind", Cause: "Router lost power", Action: "Plugged it in", Disposition: rimewatch.DispositionNone},
	}
	freezer.Attach([]rimewatch.Excursion{e, {From: to - 90*rimewatch.Minute, Limit: -15, Peak: -12.1, DegreeMinutes: 80, Cause: rimewatch.CauseUnknown}},
		[]rimewatch.AlertView{{Alert: rimewatch.Alert{ID: 31, Type: rimewatch.HighTemperature, ConditionStartedAt: e.From, ResolvedAt: e.To}}}, actions, nil)
	freezer.Maintenance = []rimewatch.MaintenanceWindow{{ID: 1, StartsAt: from + 15*rimewatch.Day, EndsAt: from + 15*rimewatch.Day + 2*rimewatch.Hour, Reason: "Condenser cleaned", CreatedBy: "Olga <olga@example.com>"}}
	freezer.CalibrationDue = []rimewatch.CalibrationDue{{At: now - 3*rimewatch.Day}}
	freezer.Calibrations = []rimewatch.Calibration{
		{ID: 2, Method: "ice_point", Reference: 0, AsFound: 1.3, Offset: -1.3, PassLimit: 1, PerformedAt: from - 368*rimewatch.Day, PerformedBy: "Ana Silva", DueAt: now - 3*rimewatch.Day},
		{ID: 1, Method: "certificate", Reference: -20, AsFound: -20.2, PassLimit: 1, Passed: true, PerformedAt: from - 700*rimewatch.Day, PerformedBy: "Kalibrierdienst Nord", ReferenceID: "DAkkS D-K-15073-01-00", DueAt: from - 335*rimewatch.Day},
	}
	vaccine := logged(rimewatch.Device{ID: 2, Serial: "VAC-17", Name: "Vaccine refrigerator", EquipmentType: "vaccine_refrigerator"}, z, from, to, now, 30*rimewatch.Minute, 4.8)
	vaccine.CalibrationDue = []rimewatch.CalibrationDue{{At: now + 200*rimewatch.Day}}
	vaccine.Calibrations = []rimewatch.Calibration{{ID: 3, Method: "reference_probe", Reference: 5, AsFound: 5.1, PassLimit: 0.5, Passed: true, PerformedAt: from - 165*rimewatch.Day, PerformedBy: "Ana Silva", ReferenceID: "Fluke 1524", DueAt: now + 200*rimewatch.Day}}
	other := logged(rimewatch.Device{ID: 3, Serial: "COND-2", Name: "Condensing unit on the roof", EquipmentType: "condensing_unit"}, z, from, to, now, 10*rimewatch.Minute, 12)
	silent := logged(rimewatch.Device{ID: 4, Serial: "WIC-9", Name: "Cooler that never reported", EquipmentType: "walkin_cooler"}, z, from, from, now, rimewatch.Minute, 3)
	hostile := logged(rimewatch.Device{ID: 5, Serial: "X", Name: "=HYPERLINK(\"http://x\") 冷凍庫 🧊 \u202eabc Ελληνικά Кухня", EquipmentType: "walkin_cooler"}, z, from, to, now, rimewatch.Hour, 3)
	long := logged(rimewatch.Device{ID: 6, Serial: "ABCDEFGHIJKLMNOPQRSTUVWXYZ.ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789", Name: "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww of the back kitchen on the second floor by the lift", EquipmentType: "reach_in_cooler"}, z, from, to, now, 15*rimewatch.Minute, 2.4)
	r.Devices = []report.Device{freezer, vaccine, other, silent, hostile, long}
	return r
}
