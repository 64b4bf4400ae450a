package rimewatch

import (
	"crypto/sha256"
	"slices"
	"strings"
)

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

// ExcursionChange is a change of a recorded excursion by late readings.
type ExcursionChange struct {
	Was *Excursion // nil = it is a new one
	Is  *Excursion // nil = it never was; To is 0 while it lasts
}

// CaseStatus is how far the paperwork of a case is.
type CaseStatus string

// The states of a case.
const (
	CaseOpen       CaseStatus = "open"       // nothing that was done is on record
	CaseDocumented CaseStatus = "documented" // something is
	CaseSigned     CaseStatus = "signed"     // and the newest signature covers all of it
)

// CaseLineKind is the kind of a line.
type CaseLineKind string

// The kinds of lines.
const (
	CaseAlert     CaseLineKind = "alert"
	CaseExcursion CaseLineKind = "excursion"
	CaseSpan      CaseLineKind = "span" // that a person named
)

// Case is one device, or in an outage one site, and one stretch of time in which something
// was wrong, to be documented together.
type Case struct {
	ID          int64
	WorkspaceID int64
	DeviceID    int64 // 0 = of an outage of its site
	SiteID      int64 // where the device stood when it was opened, 0 = at none
	From, To    Time  // To is 0 while it lasts
	Critical    bool  // one of its alerts was
	Status      CaseStatus
	OpenedAt    Time
	OpenedBy    string     // who asked for it; "" = the service opened it
	Lines       []CaseLine // by From
	// Filed means that files or orders refer to the case; it is set where cases are composed.
	Filed bool
}

// CaseLine is an alert, an excursion or a span of a case, as far as it is kept for as long as
// the case.
type CaseLine struct {
	ID        int64
	CaseID    int64
	Kind      CaseLineKind
	Ref       int64 // id of the alert or excursion
	DeviceID  int64 // 0 = of the alert of a site
	From, To  Time  // To is 0 while it lasts
	Carries   bool  // the case lasts for as long as this; false for what only happened meanwhile
	Withdrawn bool  // late readings showed that it never was
	Facts     CaseFacts
}

// CaseFacts are the facts of a line's alert or excursion.
type CaseFacts struct {
	Type          AlertType      `json:"type,omitempty"`
	Severity      Severity       `json:"severity,omitempty"`
	Unit          string         `json:"unit,omitempty"` // of Limit and Peak
	Low           bool           `json:"low,omitempty"`
	Limit         *float64       `json:"limit,omitempty"`
	Peak          *float64       `json:"peak,omitempty"`
	DegreeMinutes float64        `json:"degree_minutes,omitempty"` // K·min beyond the limit
	Cause         ExcursionCause `json:"cause,omitempty"`
	Runs          int            `json:"runs,omitempty"`   // as of an Excursion
	Sum           Time           `json:"sum,omitempty"`    // likewise, ms
	Ending        Ending         `json:"ending,omitempty"` // of an alert that is over
}

// LineOfExcursion is the line of a recorded excursion.
func LineOfExcursion(e *Excursion) CaseLine {
	limit, peak := e.Limit, e.Peak
	return CaseLine{
		Kind: CaseExcursion, Ref: e.ID, DeviceID: e.DeviceID, From: e.From, To: e.To, Carries: true,
		Facts: CaseFacts{Unit: "°C", Low: e.Low, Limit: &limit, Peak: &peak, DegreeMinutes: e.DegreeMinutes, Cause: e.Cause, Runs: e.Runs, Sum: e.Sum},
	}
}

// LineOfAlert is the line of an alert. One that was never critical carries no case.
func LineOfAlert(a *Alert) CaseLine {
	from := a.TriggeredAt
	if a.ConditionStartedAt != 0 {
		from = min(from, a.ConditionStartedAt)
	}
	return CaseLine{
		Kind: CaseAlert, Ref: a.ID, DeviceID: a.DeviceID, From: from, To: a.ResolvedAt, Carries: a.Severity == Critical,
		Facts: CaseFacts{Type: a.Type, Severity: a.Severity, Unit: a.Unit, Limit: a.Threshold, Peak: a.PeakValue, Ending: a.EndedBecause()},
	}
}

// Withdrawn reports whether late readings have withdrawn everything that carried the case.
func (c *Case) Withdrawn() bool {
	carried := slices.ContainsFunc(c.Lines, func(l CaseLine) bool { return l.Carries })
	return carried && !slices.ContainsFunc(c.Lines, func(l CaseLine) bool { return l.Carries && !l.Withdrawn })
}

// Has reports whether an alert or excursion is one of the case's lines.
func (c *Case) Has(kind CaseLineKind, ref int64) bool {
	return ref != 0 && slices.ContainsFunc(c.Lines, func(l CaseLine) bool { return l.Kind == kind && l.Ref == ref })
}

// Owns reports whether a corrective action is about the case: recorded for it, or for an
// alert or an excursion of it.
func (c *Case) Owns(a *CorrectiveAction) bool {
	if a.CaseID != 0 {
		return a.CaseID == c.ID
	}
	return c.Has(CaseAlert, a.AlertID) || c.Has(CaseExcursion, a.ExcursionID)
}

// RequireAction selects the cases of a workspace that wait for documentation.
type RequireAction string

// The rules for paperwork.
const (
	RequireNone     RequireAction = "none"
	RequireCritical RequireAction = "critical" // those with a critical alert
	RequireAll      RequireAction = "all"
)

// Paperwork counts the cases that wait for documentation.
type Paperwork struct {
	Cases  int
	Oldest Time // when the oldest of them began, 0 without one
}

// SignatureMeaning is the meaning of a signature.
type SignatureMeaning string

// The meanings of signatures (21 CFR 11.50(a)(3)).
const (
	MeaningPerformed SignatureMeaning = "performed"
	MeaningReviewed  SignatureMeaning = "reviewed"
	MeaningApproved  SignatureMeaning = "approved"
)

// Signature is a person's signature on a case, bound to the signed content by its hash.
type Signature struct {
	ID          int64
	WorkspaceID int64
	CaseID      int64
	At          Time
	UserID      int64
	SessionID   int64
	Name        string // as it is printed, also when the account is gone
	Meaning     SignatureMeaning
	Proof       string // of identity: password, code or provider; two components with the address before it
	Content     string // signed, as JSON
	Digest      [32]byte
}

// Seal computes the digest of the content.
func (s *Signature) Seal() { s.Digest = sha256.Sum256([]byte(s.Content)) }

// Whole reports whether the content is the one that was signed.
func (s *Signature) Whole() bool { return s.Digest == sha256.Sum256([]byte(s.Content)) }

// The bounds of attachments.
const (
	MaxAttachment     = 10 << 20   // bytes of a file as it is sent
	MaxAttachmentSide = 2560       // px of an image as it is kept
	MaxPixels         = 24_000_000 // of an image as it is sent
	MaxAttachments    = 50         // of a case, or of an order without one
	AttachmentQuota   = 2 << 30    // bytes of a workspace
	AttachmentPiece   = 1 << 20    // bytes of a row
)

// Attachment is a photo or document of a case or a work order.
type Attachment struct {
	ID          int64
	WorkspaceID int64
	CaseID      int64  // 0 = of an order that has none
	Name        string // of the file
	Type        string // image/jpeg, image/png or application/pdf
	Size        int64  // bytes as kept
	Width       int    // px; 0 for a document
	Height      int
	SHA256      [32]byte // of the bytes as kept
	Original    [32]byte // of the bytes as they were sent
	At          Time
	By          Doer
	OrderID     int64 // the work order that it was attached to, 0 = to the case itself
}

// Disposition is the decision about the product after an excursion.
type Disposition string

// The dispositions.
const (
	DispositionRelease Disposition = "release"
	DispositionHold    Disposition = "hold"
	DispositionDiscard Disposition = "discard"
	DispositionNone    Disposition = "none" // no product was concerned
)

// DoerKind is the way in which the name of a doer became known.
type DoerKind string

// The kinds of doers.
const (
	DoerPerson     DoerKind = "person"          // signed in
	DoerExternal   DoerKind = "external"        // named by the person who recorded it
	DoerToken      DoerKind = "token"           // named by a program
	DoerUnverified DoerKind = "unverified_text" // a name from before kinds were recorded
)

// Doer is the person who did or verified something on record.
type Doer struct {
	Kind  DoerKind `json:"kind"`
	ID    int64    `json:"id,omitempty"` // of the person
	Name  string   `json:"name"`
	Firm  string   `json:"firm,omitempty"`  // of somebody external
	Token string   `json:"token,omitempty"` // the name of the API token that said so
}

// IsPerson reports whether d is the person with that id.
func (d *Doer) IsPerson(id int64) bool { return d != nil && d.Kind == DoerPerson && d.ID == id }

// CorrectiveAction is a record of work because of an alert, or on a device without one
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

// PerformedDoer returns the doer, also of records from before kinds of doers were recorded.
func (a *CorrectiveAction) PerformedDoer() Doer { return doerOf(a.Performed, a.PerformedBy) }

// VerifiedDoer returns the verifier, nil without one.
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

// Verify records the verifier of the action. CodeConflict where somebody else has verified it, CodeValidationFailed
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

// AuditEntry is a line of the audit trail. Entries are only added; Hash chains each to
// the one before it within its workspace, so that a missing or changed one shows.
type AuditEntry struct {
	ID          int64
	WorkspaceID int64
	At          Time
	Actor       string // person, token or "command line"
	Action      string // subject.verb, such as channel.created
	Subject     string // such as "channel 3"
	Detail      string // JSON object with the changes; never a secret
	Hash        [32]byte
}
