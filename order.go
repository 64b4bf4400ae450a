package rimewatch

import (
	"slices"
	"strings"
)

// Bounds of work orders.
const (
	MaxOrders    = 500 // of a workspace that are not finished
	MaxOrderText = 2000
)

// OrderLinkLife is how long the link of an order works.
const OrderLinkLife = 30 * Day

// OrderStatus is how far a work order is.
type OrderStatus string

// The states of a work order.
const (
	OrderOpen      OrderStatus = "open"     // not assigned
	OrderAssigned  OrderStatus = "assigned" // somebody has, and is not there yet
	OrderOnSite    OrderStatus = "on_site"
	OrderDone      OrderStatus = "done"     // and on record as a corrective action
	OrderVerified  OrderStatus = "verified" // by another person than the one who did it
	OrderCancelled OrderStatus = "cancelled"
)

// OrdersUnfinished lists the states in which somebody still has to come.
func OrdersUnfinished() []OrderStatus { return []OrderStatus{OrderOpen, OrderAssigned, OrderOnSite} }

// Unfinished reports whether somebody still has to come.
func (s OrderStatus) Unfinished() bool { return slices.Contains(OrdersUnfinished(), s) }

// Urgency is how soon somebody has to come.
type Urgency string

// The urgencies.
const (
	UrgencyEmergency Urgency = "emergency" // at once, at any hour
	UrgencySoon      Urgency = "soon"      // on this working day, or the next
	UrgencyRoutine   Urgency = "routine"   // with the next visit
)

// OrderOutcome is the outcome of a work order.
type OrderOutcome string

// The outcomes.
const (
	OutcomeRepaired     OrderOutcome = "repaired"
	OutcomeNothingWrong OrderOutcome = "nothing_wrong"
	OutcomeNotRepaired  OrderOutcome = "not_repaired" // something is wrong, and remains so for now
)

// WorkOrder is work on a unit, or at a site, that a member or an outside firm is asked to do.
type WorkOrder struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64  // where the unit stood when it was ordered, 0 = at none
	DeviceID    int64  // 0 = for the site
	Unit        string // the name of the unit then: the device may be gone
	AlertID     int64  // that it was ordered for, such as a prediction; 0 = none
	CaseID      int64  // to which the work belongs, 0 = none
	Status      OrderStatus
	Problem     string
	Access      string // how to get in, and whom to ask for
	Urgency     Urgency
	Assignee    *Doer // a member or, external, a contact; nil = nobody. It stays when they go
	ContactID   int64 // of an external one
	LinkUntil   Time  // end of the valid link, which also identifies it; 0 = there is none
	OnWayAt     Time
	OnSiteAt    Time
	DoneAt      Time
	Result      *OrderResult // of one that is done
	ActionID    int64        // the corrective action that records the work
	Verified    *Doer
	VerifiedAt  Time
	CreatedBy   string
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// OrderResult is the finding and the work of an order.
type OrderResult struct {
	Performed Doer         `json:"performed"`
	Outcome   OrderOutcome `json:"outcome"`
	Cause     string       `json:"cause"`
	Work      string       `json:"work"` // what was done
	Parts     string       `json:"parts,omitempty"`
	Cost      string       `json:"cost,omitempty"` // as it is said, with its currency
	Remarks   string       `json:"remarks,omitempty"`
}

// Check reports why o cannot be stored: CodeValidationFailed with the fields problem, access,
// urgency, status, assignee, outcome, cause, work, parts, cost, remarks.
func (o *WorkOrder) Check() error {
	e := CheckText(nil, "problem", o.Problem, MaxOrderText)
	if strings.TrimSpace(o.Problem) == "" {
		e = complain(e, "problem", "must not be empty")
	}
	e = CheckText(e, "access", o.Access, MaxNoteLen)
	if !slices.Contains([]Urgency{UrgencyEmergency, UrgencySoon, UrgencyRoutine}, o.Urgency) {
		e = complain(e, "urgency", "is not known")
	}
	switch o.Status {
	case OrderOpen, OrderAssigned:
		if (o.Assignee == nil) != (o.Status == OrderOpen) {
			e = complain(e, "assignee", "does not fit the status")
		}
	case OrderDone, OrderVerified:
		if o.Result == nil {
			e = complain(e, "status", "needs what was done")
		}
	case OrderOnSite, OrderCancelled:
	default:
		e = complain(e, "status", "is not known")
	}
	if o.Result != nil {
		e = o.Result.check(e)
	}
	return result(e)
}

func (r *OrderResult) check(e *Error) *Error {
	if !slices.Contains([]OrderOutcome{OutcomeRepaired, OutcomeNothingWrong, OutcomeNotRepaired}, r.Outcome) {
		e = complain(e, "outcome", "is not known")
	}
	for _, f := range []struct {
		name, text string
		needed     bool
	}{{"cause", r.Cause, true}, {"work", r.Work, true}, {"parts", r.Parts, false}, {"remarks", r.Remarks, false}} {
		e = CheckText(e, f.name, f.text, MaxOrderText)
		if f.needed && strings.TrimSpace(f.text) == "" {
			e = complain(e, f.name, "must not be empty")
		}
	}
	return checkLine(e, "cost", r.Cost)
}

// Finished returns CodeConflict, with a sentence that says how, for an order that is done or cancelled.
func (o *WorkOrder) Finished() error {
	switch o.Status {
	case OrderDone, OrderVerified:
		return Errorf(CodeConflict, "This order is done.")
	case OrderCancelled:
		return Errorf(CodeConflict, "This order was cancelled.")
	case OrderOpen, OrderAssigned, OrderOnSite:
	}
	return nil
}

// Assign gives the order to a member, a contact (contactID), or nobody. A link that was made
// before no longer works. CodeConflict once it is finished.
func (o *WorkOrder) Assign(to *Doer, contactID int64) error {
	if err := o.Finished(); err != nil {
		return err
	}
	o.Assignee, o.ContactID, o.LinkUntil, o.OnWayAt, o.OnSiteAt, o.Status = to, contactID, 0, 0, 0, OrderAssigned
	if to == nil {
		o.Status = OrderOpen
	}
	return nil
}

// SetOut notes that somebody is on the way, the first time that it is said. CodeConflict once it is finished.
func (o *WorkOrder) SetOut(now Time) error {
	if o.OnWayAt == 0 && o.Status != OrderOnSite && o.Finished() == nil {
		o.OnWayAt = now
	}
	return o.Finished()
}

// Arrive notes that somebody is there, the first time that it is said. CodeConflict once it is finished.
func (o *WorkOrder) Arrive(now Time) error {
	if err := o.Finished(); err != nil || o.Status == OrderOnSite {
		return err
	}
	o.Status, o.OnSiteAt = OrderOnSite, now
	return nil
}

// Finish records the work. CodeConflict once it is finished.
func (o *WorkOrder) Finish(r OrderResult, now Time) error {
	if err := o.Finished(); err != nil {
		return err
	}
	o.Status, o.Result, o.DoneAt = OrderDone, &r, now
	return nil
}

// Cancel ends an order and its link. CodeConflict once it is finished
// otherwise.
func (o *WorkOrder) Cancel() error {
	if o.Status == OrderCancelled {
		return nil
	}
	if err := o.Finished(); err != nil {
		return err
	}
	o.Status, o.LinkUntil = OrderCancelled, 0
	return nil
}

// Confirm records the verification of the work; CorrectiveAction.Verify checks who may verify.
func (o *WorkOrder) Confirm(d Doer, now Time) {
	if o.Status == OrderDone {
		o.Status, o.Verified, o.VerifiedAt = OrderVerified, &d, now
	}
}

// NewLink ends the links of before, and returns when the new one ends.
func (o *WorkOrder) NewLink(now Time) (until Time, err error) {
	if err := o.Finished(); err != nil {
		return 0, err
	}
	o.LinkUntil = max(now+OrderLinkLife, o.LinkUntil+1)
	return o.LinkUntil, nil
}

// Action returns the corrective action that records the work, entered by recordedBy.
func (o *WorkOrder) Action(recordedBy string, now Time) CorrectiveAction {
	r := o.Result
	return CorrectiveAction{
		WorkspaceID: o.WorkspaceID, AlertID: o.AlertID, CaseID: o.CaseID, DeviceID: o.DeviceID, OrderID: o.ID, At: now, PerformedAt: now,
		PerformedBy: r.Performed.Name, Performed: &r.Performed, Cause: r.Cause, Action: r.Work, RecordedBy: recordedBy,
	}
}

// Verdict returns the verdict on the prediction that the order was made for.
func (o OrderOutcome) Verdict() Verdict {
	switch o {
	case OutcomeRepaired:
		return Fixed
	case OutcomeNothingWrong:
		return FalseAlarm
	case OutcomeNotRepaired:
	}
	return Useful
}
