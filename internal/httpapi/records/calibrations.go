package records

import (
	"context"
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Calibration is one check of a probe against a reference.
type Calibration struct {
	ID             int64          `json:"id"`
	Field          string         `json:"field" doc:"The measurement whose probe was checked."`
	Method         string         `json:"method" enum:"ice_point,reference_probe,certificate,other"`
	Reference      float64        `json:"reference" doc:"What the reference showed, in the unit of the field."`
	AsFound        float64        `json:"as_found" doc:"What the device showed, with the offset that was in force."`
	AsLeft         *float64       `json:"as_left" doc:"What it showed after adjustment."`
	Offset         float64        `json:"offset" doc:"In force from applied_from on: added to what the probe measures."`
	Uncertainty    *float64       `json:"uncertainty"`
	PassLimit      float64        `json:"pass_limit" doc:"The largest |as_found − reference| that passes."`
	Passed         bool           `json:"passed"`
	ReferenceID    string         `json:"reference_id" doc:"Number of the reference instrument or of the certificate."`
	ReferenceDueAt rimewatch.Time `json:"reference_due_at" doc:"When the reference itself is due."`
	PerformedAt    rimewatch.Time `json:"performed_at" nullable:"false"`
	PerformedBy    string         `json:"performed_by"`
	Performed      Doer           `json:"performed" doc:"How it is known who did it."`
	AppliedFrom    rimewatch.Time `json:"applied_from" nullable:"false"`
	DueAt          rimewatch.Time `json:"due_at" nullable:"false" doc:"When the probe is due again."`
	Note           string         `json:"note"`
	RecordedBy     string         `json:"recorded_by"`
	RecordedAt     rimewatch.Time `json:"recorded_at" nullable:"false"`
}

func calibrationJSON(c *rimewatch.Calibration) Calibration {
	performed := c.PerformedDoer()
	return Calibration{
		c.ID, c.Field.String(), c.Method, c.Reference, c.AsFound, c.AsLeft, c.Offset, c.Uncertainty, c.PassLimit, c.Passed, c.ReferenceID, c.ReferenceDueAt,
		c.PerformedAt, c.PerformedBy, *doerJSON(&performed), c.AppliedFrom, c.DueAt, c.Note, c.RecordedBy, c.RecordedAt,
	}
}

// CalibrationBody records a calibration.
type CalibrationBody struct {
	Field          string          `json:"field,omitempty" doc:"Default: product_zone_temp."`
	Method         string          `json:"method" enum:"ice_point,reference_probe,certificate,other"`
	Reference      float64         `json:"reference" doc:"What the reference showed, in the unit of the field; 0 for an ice point."`
	AsFound        float64         `json:"as_found" doc:"What the device showed."`
	AsLeft         *float64        `json:"as_left,omitempty" nullable:"true"`
	Offset         *float64        `json:"offset,omitempty" nullable:"true" minimum:"-100000" maximum:"100000" doc:"To be added to what the probe measures, to four decimals; at most 10 K for a temperature and a tenth of the range for others. Default: the offset in force stays."`
	Uncertainty    *float64        `json:"uncertainty,omitempty" nullable:"true" minimum:"0" maximum:"100000"`
	PassLimit      *float64        `json:"pass_limit,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Default for temperatures: 0.5 K for medical equipment, 1 K for others. Needed for other fields."`
	ReferenceID    string          `json:"reference_id,omitempty" maxLength:"200"`
	ReferenceDueAt *rimewatch.Time `json:"reference_due_at,omitempty"`
	PerformedAt    *rimewatch.Time `json:"performed_at,omitempty" doc:"Default: now."`
	PerformedBy    string          `json:"performed_by,omitempty" maxLength:"200" doc:"Who did it. Default: the person who is signed in; a token has to name somebody."`
	External       *External       `json:"external,omitempty" doc:"Somebody else who did it, with a firm, instead of performed_by."`
	AppliedFrom    *rimewatch.Time `json:"applied_from,omitempty" doc:"Not before performed_at and not in the future. Default: performed_at."`
	DueAt          *rimewatch.Time `json:"due_at,omitempty" doc:"After performed_at. Default: 12 months after it."`
	Note           string          `json:"note,omitempty" maxLength:"2000"`
}

// CalibrationData is the data of the answer with one.
type CalibrationData struct {
	Calibration Calibration `json:"calibration"`
}

// CalibrationList are those of a device.
type CalibrationList struct {
	Calibrations []Calibration `json:"calibrations"`
}

// The pass limits of temperature probes: CDC asks for ±0.5 °C at vaccines, the
// FDA Food Code for ±1 °C at food.
const (
	passMedical = 0.5
	passFood    = 1.0
)

// calibration checks a body by itself.
func (b *CalibrationBody) calibration(by rimewatch.Doer, now rimewatch.Time, f *wire.FieldErrors) rimewatch.Calibration {
	c := rimewatch.Calibration{
		Field: rimewatch.ProductZoneTemp, Method: b.Method, Reference: b.Reference, AsFound: b.AsFound, AsLeft: b.AsLeft, Uncertainty: b.Uncertainty,
		ReferenceID: b.ReferenceID, PerformedAt: now, PerformedBy: by.Name, Performed: &by, Note: b.Note, RecordedAt: now,
	}
	if b.Field != "" {
		c.Field, _ = rimewatch.FieldByName(b.Field)
	}
	info := c.Field.Info()
	inRange := func(name string, v float64) {
		if v < info.Min || v > info.Max {
			f.Add(name, "must be between %s and %s", rimewatch.Decimal(info.Min), rimewatch.Decimal(info.Max))
		}
	}
	inRange("reference", b.Reference)
	inRange("as_found", b.AsFound)
	if b.AsLeft != nil {
		inRange("as_left", *b.AsLeft)
	}
	if most := mostOffset(c.Field); b.Offset != nil && math.Abs(*b.Offset) > most {
		f.Add("offset", "must be between %s and %s", rimewatch.Decimal(-most), rimewatch.Decimal(most))
	}
	if b.PassLimit == nil && !c.Field.IsTemperature() {
		f.Add("pass_limit", "is required for %s", c.Field)
	}
	set := func(dst *rimewatch.Time, v *rimewatch.Time, byDefault rimewatch.Time) {
		if *dst = byDefault; v != nil {
			*dst = *v
		}
	}
	set(&c.PerformedAt, b.PerformedAt, now)
	set(&c.AppliedFrom, b.AppliedFrom, c.PerformedAt)
	set(&c.DueAt, b.DueAt, rimewatch.TimeOf(c.PerformedAt.Std().AddDate(1, 0, 0)))
	set(&c.ReferenceDueAt, b.ReferenceDueAt, 0)
	f.NotLater("performed_at", c.PerformedAt, now)
	f.NotLater("applied_from", c.AppliedFrom, now)
	if c.AppliedFrom < c.PerformedAt {
		f.Add("applied_from", "must not be before performed_at: readings from before stay as they are")
	}
	if c.DueAt <= c.PerformedAt {
		f.Add("due_at", "must be after performed_at")
	}
	return c
}

// mostOffset is the largest correction: more is a broken probe.
func mostOffset(f rimewatch.Field) float64 {
	if f.IsTemperature() {
		return 10
	}
	return f.Info().Max / 10
}

// judge fills in the members that depend on the device.
func (b *CalibrationBody) judge(c *rimewatch.Calibration, d *rimewatch.Device) {
	c.Offset = rimewatch.OffsetAt(d.Offsets, c.Field, c.AppliedFrom)
	if b.Offset != nil {
		c.Offset = rimewatch.Corrected(0, *b.Offset)
	}
	c.PassLimit = passFood
	if e, _ := rimewatch.EquipmentBySlug(d.EquipmentType); e.Category == rimewatch.CategoryMedical {
		c.PassLimit = passMedical
	}
	if b.PassLimit != nil {
		c.PassLimit = *b.PassLimit
	}
	const rounding = 1e-9 // 4.6 − 4.1 is a little more than 0.5
	c.Passed = math.Abs(c.AsFound-c.Reference) <= c.PassLimit+rounding
}

func (a *api) recordCalibration(ctx context.Context, in *httpapi.SerialBody[CalibrationBody]) (CalibrationData, error) {
	c := httpapi.CallOf(ctx)
	var f wire.FieldErrors
	by, _, err := a.doers(ctx, names{performedBy: in.Body.PerformedBy, external: in.Body.External}, &f)
	if err != nil {
		return CalibrationData{}, err
	}
	record := in.Body.calibration(by, c.Now, &f)
	if f.Err != nil {
		return CalibrationData{}, f.Err
	}
	serial, err := in.Known()
	if err != nil {
		return CalibrationData{}, err
	}
	if record.RecordedBy, err = a.AuditActor(ctx, c.Principal); err != nil {
		return CalibrationData{}, err
	}
	if _, err = a.Store.Device(ctx, c.Workspace(), serial); err != nil { // or it is of a site that the caller must not see
		return CalibrationData{}, err
	}
	_, err = a.Writer.Calibrate(ctx, c.Workspace(), serial, &record, func(d *rimewatch.Device) error {
		in.Body.judge(&record, d)
		return nil
	})
	if err != nil {
		return CalibrationData{}, err
	}
	return CalibrationData{calibrationJSON(&record)}, nil
}

func (a *api) listCalibrations(ctx context.Context, in *httpapi.SerialInput) (CalibrationList, error) {
	c := httpapi.CallOf(ctx)
	v, err := in.Device(ctx, a.Store, c.Workspace())
	if err != nil {
		return CalibrationList{}, err
	}
	list, err := a.Store.Records().Calibrations(ctx, c.Workspace(), v.ID)
	if err != nil {
		return CalibrationList{}, err
	}
	out := CalibrationList{make([]Calibration, len(list))}
	for i := range list {
		out.Calibrations[i] = calibrationJSON(&list[i])
	}
	return out, nil
}
