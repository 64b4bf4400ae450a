package rimewatch

import (
	"crypto/sha256"
	"slices"
)

// CaseStatus is how far the paperwork of a case is.
type CaseStatus string

// The states of a case.
const (
	CaseOpen       CaseStatus = "open"       // nothing that was done is on record
	CaseDocumented CaseStatus = "documented" // something is
	CaseSigned     CaseStatus = "signed"     // and the newest signature covers all of it
)

// CaseLineKind is what a line of a case stands for.
type CaseLineKind string

// The kinds of lines.
const (
	CaseAlert     CaseLineKind = "alert"
	CaseExcursion CaseLineKind = "excursion"
	CaseSpan      CaseLineKind = "span" // that a person named
)

// Case is one device, or in an outage one site, and one stretch of time in which something
// was wrong: what has to be answered for together.
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
	// Filed is set where it is decided what belongs together: files or orders are about the case.
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

// CaseFacts is what a line says of its alert or excursion.
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

// Withdrawn reports whether nothing is left of what a case was opened for.
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

// RequireAction is which cases of a workspace stand as paperwork until something is recorded.
type RequireAction string

// The rules for paperwork.
const (
	RequireNone     RequireAction = "none"
	RequireCritical RequireAction = "critical" // those with a critical alert
	RequireAll      RequireAction = "all"
)

// Paperwork is what waits for documentation.
type Paperwork struct {
	Cases  int
	Oldest Time // when the oldest of them began, 0 without one
}

// SignatureMeaning is what somebody signs for.
type SignatureMeaning string

// The meanings of signatures (21 CFR 11.50(a)(3)).
const (
	MeaningPerformed SignatureMeaning = "performed"
	MeaningReviewed  SignatureMeaning = "reviewed"
	MeaningApproved  SignatureMeaning = "approved"
)

// Signature is that of a person on a case, bound to what was signed by its hash.
type Signature struct {
	ID          int64
	WorkspaceID int64
	CaseID      int64
	At          Time
	UserID      int64
	SessionID   int64
	Name        string // as it is printed, also when the account is gone
	Meaning     SignatureMeaning
	Proof       string // how the person showed who signs: password, code or provider; two components with the address before it
	Content     string // what was signed: JSON
	Digest      [32]byte
}

// Seal computes the digest of what is signed.
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
