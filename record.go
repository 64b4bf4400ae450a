package rimewatch

import "strings"

// TransitionKind is what happened to an alert.
type TransitionKind string

// The kinds of transitions.
const (
	TransitionOpened       TransitionKind = "opened"
	TransitionEscalated    TransitionKind = "escalated"   // warning to critical
	TransitionDeescalated  TransitionKind = "deescalated" // critical to warning
	TransitionAcknowledged TransitionKind = "acknowledged"
	TransitionAckExpired   TransitionKind = "acknowledgement_expired"
	TransitionNoted        TransitionKind = "noted"      // a person wrote a note
	TransitionSuppressed   TransitionKind = "suppressed" // another alert explains it
	TransitionReleased     TransitionKind = "released"   // that one is over, this one is not
	TransitionFeedback     TransitionKind = "feedback"
	TransitionCorrective   TransitionKind = "corrective_action"
	TransitionResolved     TransitionKind = "resolved"
	TransitionUpdated      TransitionKind = "updated" // a prediction's evidence changed
	TransitionMoved        TransitionKind = "moved"   // its device stands at another site, or is of another type
)

// AlertTransition is one line of an alert's timeline. It is written in the
// transaction that changes the alert, and never changed: notifications are
// planned from it.
type AlertTransition struct {
	ID          int64
	WorkspaceID int64
	AlertID     int64
	Kind        TransitionKind
	At          Time
	Severity    Severity // after it
	Actor       string   // a person or token; "" = the service
	Note        string
	Facts       *Alert // the alert at that moment, whose sentences are made from it
	From        *Place // of TransitionMoved: the device's place before it
}

// Place is where a device stands and what it is: silences, maintenance windows and
// routes match by it.
type Place struct {
	SiteID        int64  `json:"site_id,omitempty"`        // 0 = none
	EquipmentType string `json:"equipment_type,omitempty"` // "" = as after the change
}

// AuditEntry records who did what. Entries are only ever added; Hash chains each to
// the one before it within its workspace, so that a missing or changed one shows.
type AuditEntry struct {
	ID          int64
	WorkspaceID int64
	At          Time
	Actor       string // person, token or "command line"
	Action      string // subject.verb, such as channel.created
	Subject     string // what it was done to, such as "channel 3"
	Detail      string // JSON object: what changed; never a secret
	Hash        [32]byte
}

// ExcursionCause is why the product zone left its limits.
type ExcursionCause string

// The causes, as far as readings can tell.
const (
	CauseDefrost ExcursionCause = "defrost"
	CauseDoor    ExcursionCause = "door"
	CauseLoading ExcursionCause = "loading"
	CauseFault   ExcursionCause = "fault"
	CausePower   ExcursionCause = "power"
	CauseSensor  ExcursionCause = "sensor"
	CauseUnknown ExcursionCause = "unknown"
)

// Excursion is a time for which a product zone was out of limits for longer
// than the alarm delay, or the shorter times of one local day that were together more
// than is graced.
type Excursion struct {
	ID            int64
	WorkspaceID   int64
	DeviceID      int64
	From, To      Time    // To is when it was back
	Low           bool    // below the lower limit rather than above the upper
	Limit         float64 // °C
	Peak          float64 // °C, the worst
	DegreeMinutes float64 // K·min beyond the limit
	Cause         ExcursionCause
	FoundLateAt   Time // when late readings showed it, or showed that it was another; 0 = it was found as it happened
	Runs          int  // short times that it consists of; 0 = it is one that lasted
	Sum           Time // ms that the short times took together
}

// Lasted is how long the zone was out of limits in an excursion, until now where it lasts, ms.
func (e *Excursion) Lasted(now Time) Time {
	switch {
	case e.Runs > 0:
		return e.Sum
	case e.To == 0:
		return max(now-e.From, 0)
	}
	return e.To - e.From
}

// ExcursionChange is what readings that came late change of a recorded excursion.
type ExcursionChange struct {
	Was *Excursion // nil = it is a new one
	Is  *Excursion // nil = it never was; To is 0 while it lasts
}

// FormerLimits are what a device was judged by until others came.
type FormerLimits struct {
	WorkspaceID int64
	DeviceID    int64
	Until       Time
	Limits      Limits
}

// Disposition is what became of the product after an excursion.
type Disposition string

// The dispositions.
const (
	DispositionRelease Disposition = "release"
	DispositionHold    Disposition = "hold"
	DispositionDiscard Disposition = "discard"
	DispositionNone    Disposition = "none" // no product was concerned
)

// DoerKind is how it is known who did something that is on record.
type DoerKind string

// The kinds of doers.
const (
	DoerPerson     DoerKind = "person"          // who was signed in
	DoerExternal   DoerKind = "external"        // somebody whom the person who recorded it named
	DoerToken      DoerKind = "token"           // somebody whom a program named
	DoerUnverified DoerKind = "unverified_text" // a name of before the others were told apart
)

// Doer is who did or verified something that is on record.
type Doer struct {
	Kind  DoerKind `json:"kind"`
	ID    int64    `json:"id,omitempty"` // of the person
	Name  string   `json:"name"`
	Firm  string   `json:"firm,omitempty"`  // of somebody external
	Token string   `json:"token,omitempty"` // the name of the API token that said so
}

// IsPerson reports whether d is the person with that id.
func (d *Doer) IsPerson(id int64) bool { return d != nil && d.Kind == DoerPerson && d.ID == id }

// CorrectiveAction is what people did about an alert, or to a device without one
// ("condenser cleaned"), for inspectors. Records are only ever added.
type CorrectiveAction struct {
	ID               int64       `json:"-"`
	WorkspaceID      int64       `json:"-"`
	AlertID          int64       `json:"-"`                      // 0 = about none
	ExcursionID      int64       `json:"excursion_id,omitempty"` // of an excursion of the device that no alert is about, 0 = about none
	CaseID           int64       `json:"-"`                      // 0 = of none when it was recorded
	DeviceID         int64       `json:"-"`
	At               Time        `json:"at"` // when it was recorded
	PerformedAt      Time        `json:"-"`
	PerformedBy      string      `json:"performed_by"`          // the name
	VerifiedBy       string      `json:"verified_by,omitempty"` // another person, "" = not verified yet
	Cause            string      `json:"cause"`
	Action           string      `json:"action"` // immediate action
	PreventiveAction string      `json:"preventive_action,omitempty"`
	Disposition      Disposition `json:"disposition"`       // "" = nobody has said it
	Product          string      `json:"product,omitempty"` // what was concerned, lots and amounts
	RepairReference  string      `json:"repair_reference,omitempty"`
	RecordedBy       string      `json:"recorded_by"`

	Performed         *Doer  `json:"performed,omitempty"` // nil in records of before; PerformedBy is its name
	Verified          *Doer  `json:"verified,omitempty"`
	VerifiedAt        Time   `json:"verified_at,omitempty"`        // when it was verified after it was recorded
	DispositionDetail string `json:"disposition_detail,omitempty"` // such as "moved to walk-in 2"
	OrderID           int64  `json:"order_id,omitempty"`           // the work order that it was done by, 0 = none
}

// PerformedDoer is who did it, also in a record of before doers were told apart.
func (a *CorrectiveAction) PerformedDoer() Doer { return doerOf(a.Performed, a.PerformedBy) }

// VerifiedDoer is who verified it, nil = nobody.
func (a *CorrectiveAction) VerifiedDoer() *Doer {
	if a.VerifiedBy == "" {
		return nil
	}
	d := doerOf(a.Verified, a.VerifiedBy)
	return &d
}

func doerOf(d *Doer, name string) Doer {
	if d == nil {
		return Doer{Kind: DoerUnverified, Name: name}
	}
	return *d
}

// Verify adds who verified the action. CodeConflict where somebody else has, CodeValidationFailed
// where the same person performed it.
func (a *CorrectiveAction) Verify(d Doer, now Time) error {
	switch {
	case a.Verified.IsPerson(d.ID):
		return nil
	case a.VerifiedBy != "":
		return Errorf(CodeConflict, "%s has verified this already.", a.VerifiedBy)
	case a.Performed.IsPerson(d.ID) || strings.EqualFold(a.PerformedBy, d.Name):
		return Invalid("verified_by", "must be another person than performed_by")
	}
	a.VerifiedBy, a.Verified, a.VerifiedAt = d.Name, &d, now
	return nil
}

// Calibration is one check of a probe against a reference. Its offset holds for
// readings from AppliedFrom on; older ones are never rewritten.
type Calibration struct {
	ID             int64    `json:"-"`
	WorkspaceID    int64    `json:"-"`
	DeviceID       int64    `json:"-"`
	Field          Field    `json:"-"`
	Method         string   `json:"method"` // ice_point, reference_probe, certificate or other
	Reference      float64  `json:"reference"`
	AsFound        float64  `json:"as_found"`          // what the probe showed
	AsLeft         *float64 `json:"as_left,omitempty"` // after adjustment
	Offset         float64  `json:"offset"`            // added to readings
	Uncertainty    *float64 `json:"uncertainty,omitempty"`
	PassLimit      float64  `json:"pass_limit"` // the largest |as found − reference| that passes
	Passed         bool     `json:"passed"`
	ReferenceID    string   `json:"reference_id,omitempty"` // instrument or certificate number
	ReferenceDueAt Time     `json:"reference_due_at,omitempty"`
	PerformedAt    Time     `json:"-"`
	PerformedBy    string   `json:"performed_by"`
	AppliedFrom    Time     `json:"applied_from"`
	DueAt          Time     `json:"due_at"` // next calibration
	Note           string   `json:"note,omitempty"`
	RecordedBy     string   `json:"recorded_by"`
	RecordedAt     Time     `json:"recorded_at"`
	Performed      *Doer    `json:"performed,omitempty"` // nil in records of before
}

// PerformedDoer is who did it, also in a record of before doers were told apart.
func (c *Calibration) PerformedDoer() Doer { return doerOf(c.Performed, c.PerformedBy) }

// Offset corrects one measurement from a moment on, until the next Offset of
// the same field.
type Offset struct {
	Field Field   `json:"field"`
	From  Time    `json:"from"`
	Add   float64 `json:"add"`
}
