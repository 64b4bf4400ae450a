package report_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/report"
)

// dossier is a case of a vaccine refrigerator with everything that a dossier shows, in the night
// in which clocks are set back.
func dossier() *report.Dossier {
	z := berlin()
	from := rimewatch.TimeOf(time.Date(2026, 10, 25, 0, 20, 0, 0, time.UTC)) // 02:20, for the first time
	to := from + 3*rimewatch.Hour
	low, high, limit, peak := 2.0, 8.0, 8.0, 13.4
	d := &report.Dossier{Case: rimewatch.Case{
		ID: 41, DeviceID: 2, SiteID: 3, From: from, To: to, Critical: true, Status: rimewatch.CaseSigned, OpenedAt: from + rimewatch.Hour,
		Lines: []rimewatch.CaseLine{
			{Kind: rimewatch.CaseExcursion, Ref: 9, DeviceID: 2, From: from, To: to, Carries: true, Facts: rimewatch.CaseFacts{Unit: "°C", Limit: &limit, Peak: &peak, DegreeMinutes: 612, Cause: rimewatch.CauseDoor}},
			{Kind: rimewatch.CaseAlert, Ref: 31, DeviceID: 2, From: from, To: to, Carries: true, Facts: rimewatch.CaseFacts{Type: rimewatch.HighTemperature, Severity: rimewatch.Critical, Unit: "°C", Limit: &limit, Peak: &peak}},
		},
	}}
	d.Workspace, d.Zone, d.From, d.To, d.GeneratedAt, d.GeneratedBy, d.Version = "Apotheke am Markt", z, from-3*rimewatch.Hour, to+3*rimewatch.Hour, to+30*rimewatch.Hour, "Olga Berg", "1.2.0"
	d.Site = &rimewatch.Site{ID: 3, Name: "Filiale Ottensen", TimeZone: "Europe/Berlin", Address: "Große Bergstraße 160, 22767 Hamburg"}
	d.Integrity = report.Integrity{ChainOK: true, LastHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
	fridge := report.CaseDevice{ID: 2, Serial: "VAC-17", Name: "Vaccine refrigerator", EquipmentType: "vaccine_refrigerator", Manufacturer: "Liebherr", Model: "HMFvh 4001",
		Limits: rimewatch.Limits{TempMin: &low, TempMax: &high, DelayS: 900, LowDelayS: 900},
		Calibrations: []rimewatch.Calibration{{
			Field: rimewatch.ProductZoneTemp, Method: "reference_probe", Reference: 5, AsFound: 5.1, PassLimit: 0.5, Passed: true, PerformedAt: from - 165*rimewatch.Day, PerformedBy: "Ana Silva",
			ReferenceID: "Fluke 1524, DAkkS D-K-15073-01-00", DueAt: from + 200*rimewatch.Day, Performed: &rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 7, Name: "Ana Silva"},
		}}}
	for at := d.From; at < d.To; at += 5 * rimewatch.Minute {
		v := 4.8 + 0.7*math.Sin(float64(at/rimewatch.Minute)/9)
		if at > from-20*rimewatch.Minute && at < to {
			v += 8.6 * math.Sin(math.Pi*float64(at-from+20*rimewatch.Minute)/float64(to-from+20*rimewatch.Minute))
		}
		fridge.Curve = append(fridge.Curve, report.CurvePoint{At: at, Min: v - 0.3, Mean: v, Max: v + 0.3})
	}
	d.Devices = []report.CaseDevice{fridge}
	d.Told = []report.Told{
		{At: from + 15*rimewatch.Minute, AlertID: 31, Kind: rimewatch.TransitionOpened},
		{At: from + 15*rimewatch.Minute + 2000, AlertID: 31, Channel: "Night pharmacist", ChannelKind: rimewatch.ChannelCall, Status: rimewatch.DeliverySent},
		{At: from + 30*rimewatch.Minute, AlertID: 31, Kind: rimewatch.TransitionEscalated},
		{At: from + 31*rimewatch.Minute, AlertID: 31, Channel: "Manager", ChannelKind: rimewatch.ChannelPush, Status: rimewatch.DeliveryFailed, Level: 1},
		{At: from + 52*rimewatch.Minute, AlertID: 31, Kind: rimewatch.TransitionAcknowledged, Actor: "Ana Silva", Note: "On my way"},
		{At: to, AlertID: 31, Kind: rimewatch.TransitionResolved},
	}
	d.SortTold()
	ana, bo := rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 7, Name: "Ana Silva"}, rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 8, Name: "Dr. Bo Lind"}
	d.Actions = []rimewatch.CorrectiveAction{
		{ID: 1, CaseID: 41, DeviceID: 2, PerformedAt: from + 80*rimewatch.Minute, At: to + 3*rimewatch.Hour, PerformedBy: "Ana Silva", Performed: &ana, VerifiedBy: "Dr. Bo Lind", Verified: &bo, VerifiedAt: to + 8*rimewatch.Hour,
			Cause: "The door was not closed after the evening delivery", Action: "Closed the door, moved all vials to refrigerator 2 in their trays, marked them \"do not use\"", PreventiveAction: "Door alarm set to one minute",
			Disposition: rimewatch.DispositionHold, DispositionDetail: "Quarantined", Product: "Lots C4471 and C4480, 62 doses", RecordedBy: "Ana Silva <ana@example.com>"},
		{ID: 2, CaseID: 41, DeviceID: 2, PerformedAt: to + 7*rimewatch.Hour, At: to + 7*rimewatch.Hour, PerformedBy: "Ana Silva", Performed: &ana, Cause: "The same", Action: "Called the manufacturer with the curve: stable for 12 h up to 15 °C, reference 26-1193",
			Disposition: rimewatch.DispositionRelease, DispositionDetail: "Released by the manufacturer", Product: "All 62 doses", RecordedBy: "Ana Silva <ana@example.com>"},
	}
	kim := rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim Frost", Firm: "Polar Service"}
	d.Actions = append(d.Actions, rimewatch.CorrectiveAction{ID: 3, CaseID: 41, DeviceID: 2, OrderID: 7, PerformedAt: to + 6*rimewatch.Hour, At: to + 6*rimewatch.Hour, PerformedBy: kim.Name, Performed: &kim, Cause: "The door closer had lost its spring", Action: "Spring replaced", RecordedBy: "Kim Frost (Polar Service), by the link of a work order"})
	d.Orders = []rimewatch.WorkOrder{
		{ID: 7, CaseID: 41, DeviceID: 2, Status: rimewatch.OrderDone, Problem: "The door does not close by itself", Assignee: &kim, OnSiteAt: to + 5*rimewatch.Hour, DoneAt: to + 6*rimewatch.Hour, CreatedBy: "Ana Silva", CreatedAt: to + rimewatch.Hour,
			Result: &rimewatch.OrderResult{Performed: kim, Outcome: rimewatch.OutcomeRepaired, Cause: "The door closer had lost its spring", Work: "Spring replaced", Parts: "Spring 440-2", Cost: "96.00 EUR", Remarks: "The seal will do another year"}},
		{ID: 8, CaseID: 41, DeviceID: 2, Status: rimewatch.OrderAssigned, Problem: "The second hinge is worn", Assignee: &kim, CreatedBy: "Ana Silva", CreatedAt: to + 7*rimewatch.Hour},
	}
	img := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			img.Set(x, y, color.RGBA{uint8(120 + x/8), uint8(150 + y/8), 190, 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err)
	}
	for i, name := range []string{"door.jpg", "display.jpg"} {
		d.Attachments = append(d.Attachments, report.CaseFile{Data: b.Bytes(), Attachment: rimewatch.Attachment{
			ID: int64(i + 1), Name: name, Type: "image/jpeg", Size: int64(b.Len()), Width: 640, Height: 480, SHA256: sha256.Sum256(b.Bytes()), At: from + 81*rimewatch.Minute, By: ana,
		}})
	}
	d.Attachments = append(d.Attachments, report.CaseFile{Attachment: rimewatch.Attachment{ID: 3, Name: "manufacturer.pdf", Type: "application/pdf", Size: 214_233, SHA256: sha256.Sum256(nil), At: to + 7*rimewatch.Hour, By: ana}})
	for i, s := range []rimewatch.Signature{{Name: "Ana Silva", Meaning: rimewatch.MeaningPerformed}, {Name: "Dr. Bo Lind", Meaning: rimewatch.MeaningApproved}} {
		s.At, s.Content = to+rimewatch.Time(8+i)*rimewatch.Hour, fmt.Sprint("signed ", i)
		s.Seal()
		d.Signatures = append(d.Signatures, s)
	}
	return d
}

// TestDossier: one document answers who looked and when, what was wrong, who was told, who
// answered, who did what, who verified it, and with which instrument it was measured.
func TestDossier(t *testing.T) {
	text := written(t, dossier())
	for _, want := range []string{
		"Vaccine refrigerator", "Apotheke am Markt", "Signed", "3 h 00 min above 8 °C, up to 13.4 °C", "612 K·min", "2 to 8 °C", "alarm after 15 min",
		"by Ana Silva after 37 min", "Told", "Night pharmacist", "Message failed", "On my way", "Alert ended",
		"Closed the door", "Lots C4471 and C4480", "Quarantined", "Released by the manufacturer", "Dr. Bo Lind", "4 h 40 min later",
		"Kim Frost (Polar Service), as entered by", "Spring 440-2", "96.00 EUR", "another year", "Work order 8 is not done yet", "The second hinge is worn",
		"Reference probe", "Fluke 1524", "door.jpg", fmt.Sprintf("%x", sha256.Sum256(nil)), "PERFORMED", "APPROVED", "(CET)", "9f86d081884c7d65",
		// The hour that comes twice is named.
		"(CEST)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the dossier", want)
		}
	}
	if strings.Contains(text, "BROKEN") || strings.Contains(text, "□") {
		t.Errorf("it says that something is broken:\n%s", text)
	}
}

// TestDossierSaysWhatIsMissing: what nobody has done, signed or checked stands in it.
func TestDossierSaysWhatIsMissing(t *testing.T) {
	d := dossier()
	d.Actions, d.Signatures, d.Told, d.Devices[0].Calibrations = nil, nil, nil, nil
	d.Case.Status, d.Case.To, d.Integrity.ChainOK, d.Attachments[0].Damaged = rimewatch.CaseOpen, 0, false, true
	text := written(t, d)
	for _, want := range []string{"Not documented", "ongoing", "Nothing that was done is on record.", "Nobody has signed this record.", "by nobody", "nobody was told", "No calibration of its product probe", "BROKEN", "DAMAGED"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the dossier", want)
		}
	}
	d = dossier()
	d.Signatures[0].Content += " "
	if text := written(t, d); !strings.Contains(text, "what was signed has been changed") {
		t.Error("a signature whose content was changed passes")
	}
}

// TestDossierInSpanish: all of it is in the reader's language.
func TestDossierInSpanish(t *testing.T) {
	d := dossier()
	d.Words = phrase.In(rimewatch.Locale{Language: "es"})
	text := written(t, d)
	for _, english := range []string{"Case", "What was", "Signatures", "Attachments", "Told", "above", "Lasted", "Released by", "Quarantined"} {
		if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ' ' }), english) || strings.Contains(text, english+" ") {
			t.Errorf("%q is English", english)
		}
	}
}
