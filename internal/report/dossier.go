package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Dossier is all that is known of a case: what was wrong, who was told and who answered, what
// was done, with which instrument it was measured, and who signed for it.
type Dossier struct {
	Report // workspace, site, words and integrity; its period is that of the curve

	Case        rimewatch.Case
	Devices     []CaseDevice // that of the case, or those of the lines of an outage
	Told        []Told       // by time
	Actions     []rimewatch.CorrectiveAction
	Orders      []rimewatch.WorkOrder // by which work was asked for, oldest first
	Attachments []CaseFile
	Signatures  []rimewatch.Signature
	Required    bool // the workspace wants an action for it
}

// CaseDevice is a device of a case.
type CaseDevice struct {
	ID            int64
	Serial, Name  string
	EquipmentType string
	Manufacturer  string
	Model         string
	Deleted       bool
	Limits        rimewatch.Limits // in force when the case began
	Calibrations  []rimewatch.Calibration
	Curve         []CurvePoint // of the product temperature; a PDF's alone
}

// CurvePoint are the measurements of a stretch of the curve.
type CurvePoint struct {
	At             rimewatch.Time // its beginning
	Min, Mean, Max float64        // °C
}

// Told is one line of what happened to the alerts of a case: that somebody was notified, or
// what somebody answered.
type Told struct {
	At      rimewatch.Time
	AlertID int64
	Kind    rimewatch.TransitionKind // "" of a message
	Actor   string                   // who did it, "" = the service
	Note    string
	// Of a message: the channel, and whether it arrived.
	Channel     string
	ChannelKind rimewatch.ChannelKind
	Status      rimewatch.DeliveryStatus
	Level       int
}

// CaseFile is an attachment, with the bytes of an image where a PDF shows it.
type CaseFile struct {
	rimewatch.Attachment
	Data    []byte
	Damaged bool // what is kept is not what was attached
}

// SortTold puts the lines in order: of one moment, what happened goes before who was told.
func (d *Dossier) SortTold() {
	slices.SortStableFunc(d.Told, func(a, b Told) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(len(a.Channel), len(b.Channel)))
	})
}

// Peak returns the worst excursion of the case, nil = none was recorded.
func (d *Dossier) Peak() (worst *rimewatch.CaseLine, degreeMinutes float64) {
	beyond := func(l *rimewatch.CaseLine) float64 {
		return max(*l.Facts.Peak-*l.Facts.Limit, *l.Facts.Limit-*l.Facts.Peak)
	}
	for i := range d.Case.Lines {
		l := &d.Case.Lines[i]
		if l.Kind != rimewatch.CaseExcursion || l.Withdrawn || l.Facts.Peak == nil || l.Facts.Limit == nil {
			continue
		}
		degreeMinutes += l.Facts.DegreeMinutes
		if worst == nil || beyond(l) > beyond(worst) {
			worst = l
		}
	}
	return worst, degreeMinutes
}

// Probe returns the calibration of the product probe that was in force at a moment, or the next
// one after it, nil = there is none.
func (x *CaseDevice) Probe(at rimewatch.Time) (found *rimewatch.Calibration) {
	for i := range x.Calibrations { // newest first
		if k := &x.Calibrations[i]; k.Field == rimewatch.ProductZoneTemp && (found == nil || found.PerformedAt > at) {
			found = k
		}
	}
	return found
}

// Device returns one of the case's devices, nil = it is none of them.
func (d *Dossier) Device(id int64) *CaseDevice {
	for i := range d.Devices {
		if d.Devices[i].ID == id {
			return &d.Devices[i]
		}
	}
	return nil
}

// Subject names what the case is about.
func (d *Dossier) Subject() string {
	switch {
	case d.Case.DeviceID != 0 && len(d.Devices) == 1:
		return d.Devices[0].Name
	case d.Site != nil:
		return d.Site.Name
	default:
		return d.sayf("Case %d", d.Case.ID)
	}
}

// FileName is the name of the dossier's file, without its kind.
func (d *Dossier) FileName() string {
	return fmt.Sprintf("case-%d-%s", d.Case.ID, d.Case.From.Std().In(d.Zone).Format(time.DateOnly))
}

// Order returns the work order that an action was done by, nil = by none of the case's.
func (d *Dossier) Order(a *rimewatch.CorrectiveAction) *rimewatch.WorkOrder {
	i := slices.IndexFunc(d.Orders, func(o rimewatch.WorkOrder) bool { return a.OrderID != 0 && o.ID == a.OrderID })
	if i < 0 {
		return nil
	}
	return &d.Orders[i]
}

// Disposition returns the disposition of the product by the newest action with one, "" = none.
func (d *Dossier) Disposition() (text string, of *rimewatch.CorrectiveAction) {
	for i := range slices.Backward(d.Actions) {
		a := &d.Actions[i]
		if a.Disposition == "" {
			continue
		}
		text = cmp.Or(d.say(a.DispositionDetail), d.say(dispositions[a.Disposition]))
		return strings.TrimRight(text, ". "), a
	}
	return "", nil
}
