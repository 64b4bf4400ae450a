package store

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// CheckFilter narrows a list of checks. Empty fields do not filter.
type CheckFilter struct {
	Status     rimewatch.CheckStatus
	TemplateID int64
	SiteID     int64
	From, To   rimewatch.Time // those whose window begins in [From, To); To 0 = no end

	// Before narrows to those whose window began before a moment, or then and have a smaller id; 0 = all.
	Before   rimewatch.Time
	BeforeID int64
}

// Rounds keeps the rounds that are to be made, and the checks that were or were not. Checks are kept for as
// long as their workspace. A completed or missed check is not changed any more, except by a completion that is
// entered within its day; later entries are notes.
//
// All of them heed WithSites. A missing one is CodeNotFound.
type Rounds interface {
	// CheckTemplates need their site and the devices that they list (CodeValidationFailed). One is
	// deleted with its site; its checks stay.
	CheckTemplates() Resource[rimewatch.CheckTemplate]

	// OpenChecks stores checks of a template that are due or were missed, and sets their ids, and that it
	// was looked at up to a moment. A check that is there already is left alone, and its ID 0. A template
	// that was deleted or changed meanwhile (its Revision) opens none.
	OpenChecks(ctx context.Context, t *rimewatch.CheckTemplate, through rimewatch.Time, list []*rimewatch.Check) error
	// ChangeCheck changes one, as change says it inside the transaction, which has an event and an entry in the audit trail
	// if its status is another one then. The note that change returns (late) is kept instead.
	ChangeCheck(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Check) (note rimewatch.CheckNote, late bool, err error)) (rimewatch.Check, error)
	// Checks lists by the beginning of their windows, newest first.
	Checks(ctx context.Context, workspaceID int64, f CheckFilter, p Page) (list []rimewatch.Check, total int, err error)
	// SiteCheck finds one.
	SiteCheck(ctx context.Context, workspaceID, id int64) (rimewatch.Check, error)
	// LastCheck is when a round was last completed at a site before a moment, 0 = never.
	LastCheck(ctx context.Context, workspaceID, templateID, siteID int64, before rimewatch.Time) (rimewatch.Time, error)
	// AddCheckNote keeps a note, and sets its ID: CodeQuotaExceeded beyond rimewatch.MaxCheckNotes.
	AddCheckNote(ctx context.Context, n *rimewatch.CheckNote) error
	// CheckNotes of checks, oldest first, by check.
	CheckNotes(ctx context.Context, workspaceID int64, checks []int64) (map[int64][]rimewatch.CheckNote, error)
}
