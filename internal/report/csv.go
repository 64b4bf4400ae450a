package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// columns of the CSV form. Every row is a record of one kind and fills the
// columns that the kind has.
var columns = [...]string{
	"record", "workspace", "site", "device_serial", "device_name", "equipment_type", "date", "from", "to", "timezone",
	"limit_min_c", "limit_max_c", "limit_source", "interval_s", "min_c", "mean_c", "max_c", "out_of_range_s", "in_defrosts_s", "coverage_pct", "readings", "clock_offset_s",
	"cause", "limit_c", "peak_c", "duration_s", "degree_minutes", "alert_id",
	"performed_at", "performed_by", "verified_by", "action", "preventive_action", "disposition", "product", "repair_reference",
	"field", "method", "reference", "as_found", "as_left", "offset", "pass_limit", "passed", "reference_id", "due_at", "note", "found_late_at",
	"warm_min_24h", "cold_min_24h", "short_times", "short_times_since",
	"performed_kind", "verified_kind", "recorded_at", "recorded_by", "disposition_detail",
	"check_status", "typed_c",
}

// CSV writes the report as a table: one header line, then a row for the report,
// each device, day, excursion, corrective action, maintenance window, calibration, unit of a check and later note. Text that a
// spreadsheet would take for a formula is led by an apostrophe.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	t := &table{csv: c, at: make(map[string]int, len(columns))}
	for i, name := range columns {
		t.at[name] = i
	}
	if err := c.Write(columns[:]); err != nil {
		return err
	}
	integrity := "audit log intact"
	if !r.Integrity.ChainOK {
		integrity = "AUDIT TRAIL BROKEN"
	}
	t.row("report", nil)
	t.text("workspace", r.Workspace)
	if r.Site != nil {
		t.text("site", r.Site.Name)
	}
	t.set("from", r.From.String())
	t.set("to", r.To.String())
	t.set("timezone", r.Zone.String())
	t.set("performed_at", r.GeneratedAt.String())
	t.text("performed_by", r.GeneratedBy)
	t.text("note", fmt.Sprintf("Rimewatch %s; %s; last hash %s", r.Version, integrity, r.Integrity.LastHash))
	if from := r.AddsUpFrom(); from != 0 {
		t.set("short_times_since", from.String())
	}
	for i := range r.Devices {
		t.device(r, &r.Devices[i])
	}
	for i := range r.Checks {
		t.check(&r.Checks[i])
	}
	t.end()
	c.Flush()
	return c.Error()
}

// table writes rows by the names of their columns.
type table struct {
	csv   *csv.Writer
	at    map[string]int
	cells [len(columns)]string
	open  bool
}

func (t *table) end() {
	if t.open {
		_ = t.csv.Write(t.cells[:]) // its error stays with the writer
	}
}

// row begins the next one.
func (t *table) row(kind string, d *Device) {
	t.end()
	t.open, t.cells = true, [len(columns)]string{}
	t.set("record", kind)
	if d == nil {
		return
	}
	t.text("device_serial", d.Serial)
	t.text("device_name", d.Name)
	t.text("site", d.SiteName)
}

func (t *table) set(column, v string) { t.cells[t.at[column]] = v }

// text keeps spreadsheets from running what people wrote.
func (t *table) text(column, v string) {
	const starts = "=+-@\t\r\n＝＋－＠" // the wide ones count in Chinese and Japanese versions
	if first := strings.TrimLeft(v, " "); strings.IndexAny(first, starts) == 0 {
		v = "'" + v
	}
	t.set(column, v)
}

func (t *table) number(column string, v float64) {
	t.set(column, strconv.FormatFloat(v, 'f', -1, 64))
}

func (t *table) maybe(column string, v *float64) {
	if v != nil {
		t.number(column, *v)
	}
}

func (t *table) integer(column string, v int64) { t.set(column, strconv.FormatInt(v, 10)) }

func (t *table) device(r *Report, d *Device) {
	t.row("device", d)
	t.text("equipment_type", d.EquipmentType)
	t.maybe("limit_min_c", d.Limits.TempMin)
	t.maybe("limit_max_c", d.Limits.TempMax)
	t.text("limit_source", d.source())
	t.number("interval_s", d.IntervalS)
	t.maybe("min_c", d.Min)
	t.maybe("mean_c", d.Mean)
	t.maybe("max_c", d.Max)
	t.integer("out_of_range_s", d.OutOfRangeS)
	t.integer("in_defrosts_s", d.InDefrostsS)
	t.number("coverage_pct", d.Coverage)
	t.integer("readings", d.Readings)
	if d.ClockOffset != 0 {
		t.number("clock_offset_s", float64(d.ClockOffset)/1000)
	}
	t.set("due_at", d.CalibrationDueAt().String())
	if d.Warm != nil && (d.Limits.TempMin != nil || d.Limits.TempMax != nil) {
		t.number("warm_min_24h", math.Round(float64(*d.Warm)/6000)/10)
		t.number("cold_min_24h", math.Round(float64(d.Cold)/6000)/10)
	}
	for i := range d.Days {
		day := &d.Days[i]
		t.row("day", d)
		t.set("date", day.Date)
		t.set("from", day.From.String())
		t.set("to", day.To.String())
		t.maybe("min_c", day.Min)
		t.maybe("mean_c", day.Mean)
		t.maybe("max_c", day.Max)
		if day.OutOfRangeS != nil {
			t.integer("out_of_range_s", *day.OutOfRangeS)
			t.integer("in_defrosts_s", day.InDefrostsS)
		}
		t.number("coverage_pct", day.Coverage)
		t.integer("readings", day.Readings)
	}
	for i := range d.Excursions {
		e := &d.Excursions[i]
		t.row("excursion", d)
		t.set("from", e.From.String())
		t.set("to", e.To.String())
		t.number("limit_c", e.Limit)
		t.number("peak_c", e.Peak)
		t.integer("duration_s", e.DurationS(r.GeneratedAt))
		t.number("degree_minutes", math.Round(e.DegreeMinutes*10)/10)
		t.set("cause", string(e.Cause))
		if e.Runs > 0 {
			t.integer("short_times", int64(e.Runs))
		}
		if e.FoundLateAt != 0 {
			t.set("found_late_at", e.FoundLateAt.String())
		}
		if e.AlertID != 0 {
			t.integer("alert_id", e.AlertID)
		}
		for k := range e.Actions {
			t.action(d, &e.Actions[k])
		}
	}
	for i := range d.Actions {
		t.action(d, &d.Actions[i])
	}
	for i := range d.Maintenance {
		w := &d.Maintenance[i]
		t.row("maintenance", d)
		t.set("from", w.StartsAt.String())
		t.set("to", w.EndsAt.String())
		t.text("performed_by", w.CreatedBy)
		t.text("note", w.Reason)
	}
	for i := range d.Calibrations {
		t.calibration(d, &d.Calibrations[i])
	}
}

func (t *table) action(d *Device, a *rimewatch.CorrectiveAction) {
	t.row("corrective_action", d)
	if a.AlertID != 0 {
		t.integer("alert_id", a.AlertID)
	}
	t.set("performed_at", a.PerformedAt.String())
	t.text("performed_by", a.PerformedBy)
	t.text("verified_by", a.VerifiedBy)
	t.text("cause", a.Cause)
	t.text("action", a.Action)
	t.text("preventive_action", a.PreventiveAction)
	t.set("disposition", string(a.Disposition))
	t.text("product", a.Product)
	t.text("repair_reference", a.RepairReference)
	t.set("performed_kind", string(a.PerformedDoer().Kind))
	if v := a.VerifiedDoer(); v != nil {
		t.set("verified_kind", string(v.Kind))
	}
	t.recorded(a.At, a.RecordedBy)
	t.text("disposition_detail", a.DispositionDetail)
}

// recorded writes when something was entered, and by whom.
func (t *table) recorded(at rimewatch.Time, by string) {
	t.set("recorded_at", at.String())
	t.text("recorded_by", by)
}

func (t *table) calibration(d *Device, c *rimewatch.Calibration) {
	t.row("calibration", d)
	t.set("performed_kind", string(c.PerformedDoer().Kind))
	t.recorded(c.RecordedAt, c.RecordedBy)
	t.set("performed_at", c.PerformedAt.String())
	t.text("performed_by", c.PerformedBy)
	t.set("field", c.Field.String())
	t.set("method", c.Method)
	t.number("reference", c.Reference)
	t.number("as_found", c.AsFound)
	t.maybe("as_left", c.AsLeft)
	t.number("offset", c.Offset)
	t.number("pass_limit", c.PassLimit)
	t.set("passed", strconv.FormatBool(c.Passed))
	t.text("reference_id", c.ReferenceID)
	t.set("from", c.AppliedFrom.String())
	t.set("due_at", c.DueAt.String())
	t.text("note", c.Note)
}
