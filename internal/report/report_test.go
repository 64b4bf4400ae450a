package report_test

import (
	"bytes"
	"compress/zlib"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/report"
)

// zone is a reading of a product zone.
func zone(at rimewatch.Time, v float64) *rimewatch.Reading {
	r := &rimewatch.Reading{At: at}
	r.Set(rimewatch.ProductZoneTemp, v)
	return r
}

// brief writes a day in one line.
func brief(d *report.Day) string {
	value := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	out := "-"
	if d.OutOfRangeS != nil {
		out = fmt.Sprint(*d.OutOfRangeS)
	}
	return fmt.Sprintf("%s %vh min %s mean %s max %s out %s cover %v n %d",
		d.Date, float64(d.To-d.From)/float64(rimewatch.Hour), value(d.Min), value(d.Mean), value(d.Max), out, d.Coverage, d.Readings)
}

func TestDays(t *testing.T) {
	z := berlin()
	cooler := (&rimewatch.Device{EquipmentType: "walkin_cooler"}).LimitsInForce() // 0 to 5 °C
	every := func(step rimewatch.Time, v float64) func(l *report.Log, from, to rimewatch.Time) {
		return func(l *report.Log, from, to rimewatch.Time) {
			for at := from; at < to; at += step {
				l.Add(zone(at, v))
			}
		}
	}
	for _, tc := range []struct {
		name     string
		from, to rimewatch.Time
		limits   rimewatch.Limits
		feed     func(l *report.Log, from, to rimewatch.Time)
		want     []string
	}{
		{"clocks go back", local(z, 2026, 10, 24, 0), local(z, 2026, 10, 27, 0), cooler, every(rimewatch.Minute, 3), []string{
			"2026-10-24 24h min 3 mean 3 max 3 out 0 cover 100 n 1440", "2026-10-25 25h min 3 mean 3 max 3 out 0 cover 100 n 1500", "2026-10-26 24h min 3 mean 3 max 3 out 0 cover 100 n 1440",
		}},
		{"clocks go forward", local(z, 2026, 3, 29, 0), local(z, 2026, 3, 30, 0), cooler, every(rimewatch.Minute, 6), []string{"2026-03-29 23h min 6 mean 6 max 6 out 82800 cover 100 n 1380"}},
		{"hourly logger", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 2, 0), cooler, func(l *report.Log, from, to rimewatch.Time) {
			every(rimewatch.Hour, 3)(l, from-report.WarmUp, to)
		}, []string{"2026-06-01 24h min 3 mean 3 max 3 out 0 cover 100 n 24"}},
		{"what came before holds into the period", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 1, 12), cooler, func(l *report.Log, from, _ rimewatch.Time) {
			l.Add(zone(from-45*rimewatch.Minute, 3))
			l.Add(zone(from-15*rimewatch.Minute, 3))
			l.Add(zone(from+15*rimewatch.Minute, 7))
			l.Add(zone(from+45*rimewatch.Minute, 3))
		}, []string{"2026-06-01 12h min 3 mean 4.14 max 7 out 1800 cover 14.6 n 2"}},
		{"a silence", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 2, 0), cooler, func(l *report.Log, from, to rimewatch.Time) {
			every(rimewatch.Minute, 3)(l, from, from+6*rimewatch.Hour)
			every(rimewatch.Minute, 5.5)(l, from+18*rimewatch.Hour, to)
		}, []string{"2026-06-01 24h min 3 mean 4.25 max 5.5 out 21600 cover 50.1 n 720"}},
		{"nothing", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 2, 0), cooler, every(rimewatch.Day, math.NaN()), []string{"2026-06-01 24h min - mean - max - out - cover 0 n 0"}},
		{"no limits", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 2, 0), rimewatch.Limits{}, every(rimewatch.Minute, 40), []string{"2026-06-01 24h min 40 mean 40 max 40 out - cover 100 n 1440"}},
		{"a broken sensor is no temperature", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 1, 1), cooler, func(l *report.Log, from, to rimewatch.Time) {
			for at := from; at < to; at += rimewatch.Minute {
				v := 3.0
				if at == from+30*rimewatch.Minute {
					v = 85
				}
				l.Add(zone(at, v))
			}
		}, []string{"2026-06-01 1h min 3 mean 3 max 3 out 0 cover 100 n 59"}},
		{"hours of expired readings", local(z, 2026, 6, 1, 0), local(z, 2026, 6, 3, 0), cooler, func(l *report.Log, from, _ rimewatch.Time) {
			for h := range rimewatch.Time(24) {
				l.AddHour(from+h*rimewatch.Hour, 60, 2, 3, 4)
			}
			l.AddHour(from+24*rimewatch.Hour, 60, 6, 7, 8)
			l.AddHour(from+25*rimewatch.Hour, 60, 4, 5.5, 8)
		}, []string{"2026-06-01 24h min 2 mean 3 max 4 out 0 cover 100 n 1440", "2026-06-02 24h min 4 mean 6.25 max 8 out - cover 8.3 n 120"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := report.NewLog(z, tc.from, tc.to, tc.to+rimewatch.Day, tc.limits)
			tc.feed(l, tc.from, tc.to)
			days, _ := l.Finish(tc.from)
			var got []string
			for i := range days {
				got = append(got, brief(&days[i]))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Where clocks are set forward at midnight the day begins at one.
func TestDayWithoutMidnight(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana")
	if err != nil {
		t.Fatal(err)
	}
	from, to := rimewatch.DateTime(2026, 3, 7, 0, havana), rimewatch.DateTime(2026, 3, 10, 0, havana)
	l := report.NewLog(havana, from, to, to, rimewatch.Limits{})
	for at := from; at < to; at += rimewatch.Minute {
		l.Add(zone(at, 3))
	}
	days, _ := l.Finish(from)
	var got []string
	for i := range days {
		got = append(got, fmt.Sprint(days[i].Date, " ", days[i].Readings))
	}
	if d := cmp.Diff([]string{"2026-03-07 1440", "2026-03-08 1380", "2026-03-09 1440"}, got); d != "" {
		t.Error(d)
	}
}

// TestDefrosts: time out of limits for which the device reports a defrost is told
// apart, by day, and a warm night that begins with one is not.
func TestDefrosts(t *testing.T) {
	from := local(time.UTC, 2026, 6, 1, 0)
	feed := func(script string) ([]report.Day, report.Totals) {
		l := report.NewLog(time.UTC, from, from+2*rimewatch.Day, from+2*rimewatch.Day, (&rimewatch.Device{EquipmentType: "walkin_freezer"}).LimitsInForce())
		for i, at := 0, from; at < from+2*rimewatch.Day; i, at = i+1, at+10*rimewatch.Minute {
			r := zone(at, -20)
			if i < len(script) {
				switch script[i] {
				case 'w': // warm
					r = zone(at, -10)
				case 'D': // warm in a defrost
					r = zone(at, -10)
					r.Flags = r.Flags.WithBool(rimewatch.DefrostActive, true)
				case 'd': // still cold in one
					r.Flags = r.Flags.WithBool(rimewatch.DefrostActive, true)
				}
			}
			l.Add(r)
		}
		days, totals := l.Finish(from)
		return days, totals
	}
	const night = 143 // readings until ten to midnight
	for _, tc := range []struct {
		name, script  string
		out, defrosts int64 // min
		days          []int64
	}{
		{"a short rise", "..ww...", 20, 0, []int64{0, 0}},
		{"a defrost and its recovery", "..dDDww..", 40, 40, []int64{40, 0}},
		{"the rise begins before the flag", "..wD.", 20, 20, []int64{20, 0}},
		{"the rise follows the flag", "..dww.", 20, 20, []int64{20, 0}},
		{"long after it", "..d..ww.", 20, 0, []int64{0, 0}},
		{"one of each", "..D...w..", 20, 10, []int64{10, 0}},
		{"over midnight", strings.Repeat(".", night) + "DDD", 30, 30, []int64{10, 20}},
		{"a defrost that never ended", "..D" + strings.Repeat("w", 30), 310, 0, []int64{0, 0}},
	} {
		days, totals := feed(tc.script)
		if totals.OutOfRangeS != 60*tc.out || totals.InDefrostsS != 60*tc.defrosts {
			t.Errorf("%s: %d s out, %d s in defrosts", tc.name, totals.OutOfRangeS, totals.InDefrostsS)
		}
		for i, want := range tc.days {
			if days[i].InDefrostsS != 60*want {
				t.Errorf("%s: %d s in defrosts on day %d, want %d", tc.name, days[i].InDefrostsS, i, 60*want)
			}
		}
	}
}

// TestPeriod: what is yet to come is no gap, nor is what was before the device.
func TestPeriod(t *testing.T) {
	from := local(time.UTC, 2026, 6, 1, 0)
	now, to := from+3*rimewatch.Day+12*rimewatch.Hour, from+30*rimewatch.Day
	since := from + rimewatch.Day + 6*rimewatch.Hour
	l := report.NewLog(time.UTC, from, to, now, (&rimewatch.Device{EquipmentType: "walkin_cooler"}).LimitsInForce())
	for at := since; at < now; at += rimewatch.Minute {
		l.Add(zone(at, 3))
	}
	days, total := l.Finish(since)
	var got []string
	for i := range days {
		got = append(got, brief(&days[i]))
	}
	want := []string{
		"2026-06-02 24h min 3 mean 3 max 3 out 0 cover 100 n 1080", "2026-06-03 24h min 3 mean 3 max 3 out 0 cover 100 n 1440", "2026-06-04 12h min 3 mean 3 max 3 out 0 cover 100 n 720",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if total.Coverage != 100 || total.IntervalS != 60 || total.Readings != 3240 || *total.InRange != 100 || math.Abs(*total.Kinetic-3) > 0.01 {
		t.Errorf("totals %+v", total)
	}
}

func TestAttach(t *testing.T) {
	view := func(id int64, kind rimewatch.AlertType, began, ended rimewatch.Time) rimewatch.AlertView {
		return rimewatch.AlertView{Alert: rimewatch.Alert{ID: id, Type: kind, ConditionStartedAt: began, TriggeredAt: began + 10, ResolvedAt: ended}}
	}
	var d report.Device
	d.Attach([]rimewatch.Excursion{{ID: 7, From: 100, To: 200}, {ID: 8, From: 300, To: 400, Low: true}, {From: 500}},
		[]rimewatch.AlertView{view(1, rimewatch.HighTemperature, 100, 210), view(2, rimewatch.HighTemperature, 310, 390), view(3, rimewatch.LowTemperature, 0, 299), view(4, rimewatch.HighTemperature, 500, 0)},
		[]rimewatch.CorrectiveAction{{ID: 1, AlertID: 1}, {ID: 2, AlertID: 2}, {ID: 3, AlertID: 4}, {ID: 4, AlertID: 1}, {ID: 5, CaseID: 3}, {ID: 6, ExcursionID: 7}, {ID: 7, CaseID: 4}}, map[int64]int64{8: 3})
	got := ""
	for _, e := range d.Excursions {
		got += fmt.Sprintf("alert %d:", e.AlertID)
		for _, a := range e.Actions {
			got += fmt.Sprint(" ", a.ID)
		}
		got += "; "
	}
	if want := "alert 1: 1 4 6; alert 0: 5; alert 4: 3; "; got != want || len(d.Actions) != 2 || d.Actions[0].ID != 2 || d.Actions[1].ID != 7 {
		t.Errorf("got %q, others %v, want %q", got, d.Actions, want)
	}
}

func TestCSV(t *testing.T) {
	r := sample()
	r.Devices[0].Excursions[0].Actions[0].Action = "-2+3+cmd|' /C calc'!A0"
	r.Devices[0].Excursions[0].Actions[0].Product = "  @SUM(1)"
	r.Devices[0].ClockOffset = -2*rimewatch.Hour - 500
	r.Devices[0].Excursions[0].Actions[0].PreventiveAction = "＝1+1"
	r.Devices[1].Name = "a \"quoted\"\r\nname, with commas"
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	head := rows[0]
	for _, row := range rows[1:] {
		count[row[0]]++
		for i, cell := range row {
			if !strings.ContainsAny(string([]rune(cell + " ")[0]), "=+-@＝＋－＠\t\r") {
				continue
			}
			if strings.Trim(cell, "-0123456789.") != "" {
				t.Errorf("column %s: a spreadsheet would run %q", head[i], cell)
			}
		}
	}
	if d := cmp.Diff(map[string]int{"report": 1, "device": 6, "day": 5*31 + 0, "excursion": 2, "corrective_action": 3, "maintenance": 1, "calibration": 3}, count); d != "" {
		t.Error(d)
	}
	column := func(name string) int { return slices.Index(head, name) }
	for _, row := range rows[1:] {
		if row[0] == "excursion" && row[column("cause")] == "door" {
			if got := row[column("peak_c")] + " " + row[column("duration_s")] + " " + row[column("alert_id")]; got != "-10.6 10800 31" {
				t.Errorf("excursion: %s", got)
			}
		}
		if off := row[column("clock_offset_s")]; (off == "-7200.5") != (row[0] == "device" && row[column("device_serial")] == r.Devices[0].Serial) || (off != "" && off != "-7200.5") {
			t.Errorf("%s %s: clock_offset_s %q", row[0], row[column("device_serial")], off)
		}
		if row[0] == "device" && row[column("device_serial")] == "VAC-17" && row[column("device_name")] != "a \"quoted\"\nname, with commas" {
			t.Errorf("name: %q", row[column("device_name")])
		}
	}
}

func TestPDF(t *testing.T) {
	render := func(r *report.Report) string {
		t.Helper()
		var b bytes.Buffer
		if err := r.PDF(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), "%PDF-1.") || !strings.HasSuffix(strings.TrimSpace(b.String()), "%%EOF") {
			t.Fatalf("not a PDF: %.20q … %q", b.String(), b.String()[b.Len()-20:])
		}
		return b.String()
	}
	pages := func(s string) int { return strings.Count(s, "/Type /Page\n") }
	first := render(sample())
	if first != render(sample()) {
		t.Error("the same report gives other bytes")
	}
	if n := pages(first); n < 7 || n > 9 {
		t.Errorf("%d pages for six devices", n)
	}
	spanish := sample()
	spanish.Words = phrase.In(rimewatch.Locale{Language: "es", Units: "f"})
	if s := render(spanish); !strings.Contains(s, "/Lang (es)") || strings.Contains(first, "/Lang (es)") || pages(s) != pages(first) {
		t.Errorf("%d pages in Spanish, %d in English", pages(s), pages(first))
	}
	empty := sample()
	empty.Devices, empty.Site, empty.Integrity = nil, nil, report.Integrity{}
	if n := pages(render(empty)); n != 1 {
		t.Errorf("%d pages for no device", n)
	}
	// 400 days and texts that need many lines still come to an end.
	z := berlin()
	from, to := local(z, 2025, 1, 1, 0), local(z, 2026, 2, 5, 0)
	long := sample()
	long.From, long.To = from, to
	long.Devices = []report.Device{logged(rimewatch.Device{Serial: "L", Name: strings.Repeat("long ", 40), EquipmentType: "walkin_freezer"}, z, from, to, to, rimewatch.Hour, -20)}
	d := &long.Devices[0]
	for i := range 60 {
		at := from + rimewatch.Time(i)*rimewatch.Day
		d.Excursions = append(d.Excursions, report.Excursion{Excursion: rimewatch.Excursion{From: at, To: at + rimewatch.Hour, Limit: -15, Peak: -3, Cause: rimewatch.CausePower},
			Actions: []rimewatch.CorrectiveAction{{PerformedAt: at, PerformedBy: "A", Cause: strings.Repeat("x", 2000), Action: strings.Repeat("word ", 400), Disposition: rimewatch.DispositionHold}}})
		d.Calibrations = append(d.Calibrations, rimewatch.Calibration{Method: "other", PerformedBy: "B"})
	}
	if n := pages(render(long)); n < 20 || n > 60 {
		t.Errorf("%d pages for the long one", n)
	}
}

// BenchmarkPDF renders a month of a hundred devices.
func BenchmarkPDF(b *testing.B) {
	r := sample()
	for i := len(r.Devices); i < 100; i++ {
		r.Devices = append(r.Devices, r.Devices[i%3])
	}
	for b.Loop() {
		var out bytes.Buffer
		if err := r.PDF(&out); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len()), "bytes")
	}
}

// TestFileName: reports of two sites over the same days are two files, whatever the sites are called.
func TestFileName(t *testing.T) {
	r := report.Report{From: rimewatch.Day, To: 8 * rimewatch.Day, Zone: time.UTC}
	name := func(id int64, site string) string {
		r.Site = &rimewatch.Site{ID: id, Name: site}
		return r.FileName()
	}
	if got := r.FileName(); got != "temperature-log-1970-01-02-to-1970-01-08" {
		t.Error(got)
	}
	if got := name(3, "Main Street / Käse & Co."); got != "temperature-log-site-3-main-street-k-se-co-1970-01-02-to-1970-01-08" {
		t.Error(got)
	}
	if a, b := name(4, "冷凍庫"), name(5, "冷凍庫"); a == b || a != "temperature-log-site-4-1970-01-02-to-1970-01-08" {
		t.Errorf("%s, %s", a, b)
	}
	if got := name(6, strings.Repeat("long ", 100)); len(got) > 100 {
		t.Error(got)
	}
}

// written returns the texts of a PDF's pages, a line each.
func written(t *testing.T, r interface{ PDF(w io.Writer) error }) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.PDF(&b); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, part := range strings.Split(b.String(), "stream\n") {
		z, err := zlib.NewReader(strings.NewReader(part))
		if err != nil {
			continue // no stream
		}
		page, err := io.ReadAll(z)
		if err != nil || !bytes.Contains(page, []byte("BT ")) {
			continue // a font
		}
		for _, m := range regexp.MustCompile(`(?s)\(((?:\\.|[^\\)])*)\)\s*Tj`).FindAllSubmatch(page, -1) {
			raw := regexp.MustCompile(`(?s)\\(.)`).ReplaceAllFunc(m[1], func(e []byte) []byte {
				if e[1] == 'r' {
					return []byte("\r")
				}
				return e[1:]
			})
			for i := 0; i+1 < len(raw); i += 2 { // UTF-16
				out.WriteRune(rune(raw[i])<<8 | rune(raw[i+1]))
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// TestPDFChart: its marks are round in the reader's unit, its dates do not lie over one another where the days fill a part of it only, and
// the coverage is said to be of that part.
func TestPDFChart(t *testing.T) {
	r := sample()
	r.Words = phrase.In(rimewatch.Locale{Units: "f", Dates: "mdy"})
	r.Devices = r.Devices[:1]
	r.From -= 300 * 24 * rimewatch.Hour
	text := written(t, r)
	if n := len(regexp.MustCompile(`(?m)^[A-Z][a-z]{2} \d+$`).FindAllString(text, -1)); n < 1 || n > 2 {
		t.Errorf("%d dates below days that take 16 mm", n)
	}
	if since := regexp.MustCompile(`\d % since [A-Z][a-z]{2} \d+, \d{4}\n`); !since.MatchString(text) || since.MatchString(written(t, sample())) {
		t.Error("the coverage is not of the days that it has, or says so of a whole period")
	}
	if !strings.Contains(text, "−30\n−20\n−10\n0\n10\n20\n") {
		t.Error("the marks are not round in °F")
	}
}

// TestPDFTexts: no label or figure is cut in any language, and what a calibration says is
// in its reader's unit.
func TestPDFTexts(t *testing.T) {
	for _, locale := range []rimewatch.Locale{{}, {Language: "es"}, {Language: "es", Units: "f", Clock: "12h", Dates: "mdy"}} {
		r := sample()
		r.Words = phrase.In(locale)
		r.Devices = r.Devices[:3] // the others have names that no page has room for
		r.Devices[0].ClockOffset, r.Devices[1].ClockOffset = 5*rimewatch.Minute, -2*rimewatch.Hour
		r.Devices[0].Calibrations = append(r.Devices[0].Calibrations, rimewatch.Calibration{
			Field: rimewatch.Humidity, Method: "reference_probe", Reference: 75.3, AsFound: 76.5, PassLimit: 2, Passed: true, PerformedAt: r.From, DueAt: r.To,
		})
		text := written(t, r)
		for line := range strings.Lines(text) {
			if strings.Contains(line, "…") {
				t.Errorf("%+v: cut: %s", locale, line)
			}
		}
		if !strings.Contains(text, "Condenser cleaned") || strings.Contains(text, "lert 0.") {
			t.Errorf("%+v: maintenance is missing, or work has the number of no alert", locale)
		}
		for _, off := range []string{
			r.Words.Sayf("Its clock is about %s behind. This log keeps the times that the device sent.", "2 h 00 min"),
			r.Words.Sayf("Its clock is %s ahead. This log keeps the times that the device sent.", "5 min"),
		} {
			if strings.Count(text, off) != 1 {
				t.Errorf("%+v: not once %q", locale, off)
			}
		}
		want := []string{"−20.2 °C", "± 1 °C", "−1.3 °C", "75.3 %RH", "± 2 %RH"}
		switch {
		case locale.Units == "f":
			want = []string{"−4.36 °F", "± 1.8 °F", "−2.34 °F", "75.3 %RH"}
		case locale.Language == "es":
			want = []string{"−20,2 °C", "± 1 °C", "−1,3 °C", "75,3 %RH"}
		}
		for _, s := range want {
			if !strings.Contains(text, s+"\n") {
				t.Errorf("%+v: no %q", locale, s)
			}
		}
	}
}

// TestLastDay: the minutes out of range of the last 24 h of the period, by sides, maintenance
// or not; of whole hours they are known when these are wholly in or out.
func TestLastDay(t *testing.T) {
	low, high := 0.0, 5.0
	limits := rimewatch.Limits{TempMin: &low, TempMax: &high}
	from := local(time.UTC, 2026, 5, 1, 0)
	to := from + 3*rimewatch.Day
	log := report.NewLog(time.UTC, from, to, to, limits)
	for at := from; at < to; at += 10 * rimewatch.Minute {
		v := 3.0
		switch hour := (at - from) / rimewatch.Hour; {
		case hour < 50: // two of these hours are of the last day
			v = 9
		case hour < 51:
			v = -1
		}
		log.Add(zone(at, v))
	}
	if _, totals := log.Finish(from); totals.Warm == nil || *totals.Warm != int64(2*rimewatch.Hour) || totals.Cold != int64(rimewatch.Hour) {
		t.Errorf("warm %v, cold %v ms", totals.Warm, totals.Cold)
	}
	for name, known := range map[string]bool{"wholly out": true, "in part": false} {
		log = report.NewLog(time.UTC, from, from+rimewatch.Day, to, limits)
		lowest := 6.0
		if !known {
			lowest = 4
		}
		log.AddHour(from+rimewatch.Hour, 6, lowest, 7, 8)
		if _, totals := log.Finish(from); (totals.Warm != nil) != known || known && *totals.Warm != int64(rimewatch.Hour) {
			t.Errorf("%s: warm %v ms", name, totals.Warm)
		}
	}
}

// TestAddsUpFrom: the log says from which of its days on short times add up.
func TestAddsUpFrom(t *testing.T) {
	z := berlin()
	r := sample()
	for since, want := range map[rimewatch.Time]rimewatch.Time{
		0: 0, r.From - 1: 0, local(z, 2026, 10, 24, 15): local(z, 2026, 10, 25, 0), local(z, 2026, 10, 25, 0): local(z, 2026, 10, 25, 0),
	} {
		if r.ExposureSince = since; r.AddsUpFrom() != want {
			t.Errorf("since %v: from %v, want %v", since, r.AddsUpFrom(), want)
		}
	}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil || !strings.Contains(b.String(), "2026-10-24T22:00:00.000Z") {
		t.Error("the table does not have it", err)
	}
}
