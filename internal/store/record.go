package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// CaseFilter narrows a list of cases. Empty fields do not filter.
type CaseFilter struct {
	Status   rimewatch.CaseStatus
	ID       int64
	SiteID   int64
	DeviceID int64                   // of the case, or of one of its lines
	Waiting  rimewatch.RequireAction // only those that wait for documentation by this rule

	// Before narrows to those that began before a moment, or then and have a smaller id; 0 = all.
	Before   rimewatch.Time
	BeforeID int64
}

// Cases keeps cases with their signatures and attachments. They are opened by Commit, with the alert or the
// excursion that makes them necessary (package record), and kept for as long as their
// workspace, with their attachments.
//
// All of them heed WithSites: a case belongs to the site where its device stood. What is not
// found is CodeNotFound.
type Cases interface {
	// Cases lists newest first.
	Cases(ctx context.Context, workspaceID int64, f CaseFilter, p Page) (list []rimewatch.Case, total int, err error)
	// Case finds one, with its lines.
	Case(ctx context.Context, workspaceID, id int64) (rimewatch.Case, error)
	// CasesOf returns, for alerts or excursions, the id of the case of each that has one.
	CasesOf(ctx context.Context, workspaceID int64, kind rimewatch.CaseLineKind, refs []int64) (map[int64]int64, error)
	// DocumentCase returns the case of an alert, an excursion or a span, which is opened where
	// there is none. Of alerts and excursions only the Ref of about is read; a span names its
	// device. by is who asks.
	DocumentCase(ctx context.Context, workspaceID int64, about rimewatch.CaseLine, by string, now rimewatch.Time) (rimewatch.Case, error)
	// CaseActions are the corrective actions that a case owns, by when they were performed.
	CaseActions(ctx context.Context, c *rimewatch.Case) ([]rimewatch.CorrectiveAction, error)
	// Paperwork counts the cases that are over and wait for documentation by a rule.
	Paperwork(ctx context.Context, workspaceID int64, rule rimewatch.RequireAction) (rimewatch.Paperwork, error)

	// SignCase keeps a signature, and sets its ID: the case is signed from then on. CodeConflict
	// where something was recorded since its content was made: seen is how many corrective
	// actions and attachments the signer saw.
	SignCase(ctx context.Context, s *rimewatch.Signature, seen int) error
	// Signatures of a case, oldest first.
	Signatures(ctx context.Context, workspaceID, caseID int64) ([]rimewatch.Signature, error)
	// SignedIn reports whether a session has signed something.
	SignedIn(ctx context.Context, sessionID int64) (bool, error)

	// Attach keeps an attachment of a case, or of a work order (OrderID) and then of its case, and
	// sets its ID. A file that is there already is that one. CodeQuotaExceeded beyond
	// rimewatch.MaxAttachments or rimewatch.AttachmentQuota.
	Attach(ctx context.Context, a *rimewatch.Attachment, data []byte) error
	// Attachments of a case, oldest first, without their bytes.
	Attachments(ctx context.Context, workspaceID, caseID int64) ([]rimewatch.Attachment, error)
	// Attachment finds one of a case, with its bytes.
	Attachment(ctx context.Context, workspaceID, caseID, id int64) (rimewatch.Attachment, []byte, error)
}

// Orders keeps work orders. They are kept for as long as their workspace.
type Orders interface {
	// WorkOrders are listed newest first, by status, device_id, case_id and alert_id. None is deleted.
	WorkOrders() Resource[rimewatch.WorkOrder]
	// CompleteOrder finishes an order, and records the work as a corrective action of its alert, case and
	// device, as far as they still exist, in one step. Verifying that action verifies the order.
	CompleteOrder(ctx context.Context, workspaceID, id int64, r rimewatch.OrderResult, recordedBy string, now rimewatch.Time) (rimewatch.WorkOrder, error)
	// OrderAttachments lists those of an order, oldest first, without their bytes.
	OrderAttachments(ctx context.Context, workspaceID, orderID int64) ([]rimewatch.Attachment, error)
	// OrderAttachment finds one of an order, with its bytes.
	OrderAttachment(ctx context.Context, workspaceID, orderID, id int64) (rimewatch.Attachment, []byte, error)
}

// ErrNoCase is CodeNotFound for a case.
func ErrNoCase() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such case.")
}
