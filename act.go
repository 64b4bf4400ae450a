package rimewatch

import "time"

// UndoTime is how long an act that ends, forgets or silences something can be taken back
// before it is carried out.
const UndoTime = 10 * time.Second

// Bounds of acts, those of texts in bytes.
const (
	MaxActs     = 2000 // of a workspace within ActLife
	ActLife     = Day  // for which an act is kept that was carried out or taken back
	MaxActBody  = 16 << 10
	maxActText  = 4096
	maxActAbout = 1000
)

// ActState is what became of an act.
type ActState string

// The states of an act. One that waits becomes one of the others, for good.
const (
	ActPending ActState = "pending"
	ActDone    ActState = "done"
	ActUndone  ActState = "undone"
	ActFailed  ActState = "failed"
)

// Act is a request of a person that is carried out at EffectiveAt unless somebody takes it
// back: see UndoTime.
type Act struct {
	ID          int64
	WorkspaceID int64
	UserID      int64  // with whose rights it is carried out
	By          string // that person, as in the audit trail
	Does        string // the operation, by its id in the description of the API
	About       string // the name of the thing, in the words of the workspace
	Method      string
	Target      string // path and query
	IfMatch     string // the revisions that the person knew, "" = any
	Body        string // JSON, "" = none
	EffectiveAt Time
	State       ActState
	SettledAt   Time   // 0 = it waits
	SettledBy   string // who took it back; "" = nobody did
	Failure     string // why it could not be carried out
	Revision    int64
	CreatedAt   Time
}

// Check reports why a cannot be stored: CodeValidationFailed with the fields act, body.
func (a *Act) Check() error {
	e := CheckText(nil, "act", a.Target, maxActText)
	e = CheckText(e, "act", a.About, maxActAbout)
	if len(a.Body) > MaxActBody {
		e = complain(e, "body", "is too large")
	}
	return result(e)
}

// Same reports whether two acts ask for the same.
func (a *Act) Same(b *Act) bool {
	return a.WorkspaceID == b.WorkspaceID && a.Method == b.Method && a.Target == b.Target && a.Body == b.Body
}
