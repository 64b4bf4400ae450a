package tables

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// orderSQL makes the table of work orders.
const orderSQL = `CREATE TABLE work_order (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_id INTEGER NOT NULL, -- 0 = none
	device_id INTEGER NOT NULL, -- 0 = for the site
	unit TEXT NOT NULL,
	alert_id INTEGER NOT NULL,
	case_id INTEGER NOT NULL,
	status TEXT NOT NULL,
	problem TEXT NOT NULL,
	access TEXT NOT NULL,
	urgency TEXT NOT NULL,
	assignee TEXT NOT NULL, -- JSON
	contact_id INTEGER NOT NULL,
	link_until INTEGER NOT NULL,
	on_way_at INTEGER NOT NULL,
	on_site_at INTEGER NOT NULL,
	done_at INTEGER NOT NULL,
	result TEXT NOT NULL, -- JSON
	action_id INTEGER NOT NULL,
	verified TEXT NOT NULL, -- JSON
	verified_at INTEGER NOT NULL,
	created_by TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX work_order_by_workspace ON work_order(workspace_id, id);
CREATE INDEX work_order_by_device ON work_order(device_id);
CREATE INDEX work_order_by_case ON work_order(case_id) WHERE case_id <> 0;
CREATE INDEX work_order_by_action ON work_order(action_id) WHERE action_id <> 0;
CREATE INDEX work_order_unfinished ON work_order(workspace_id) WHERE ` + unfinished

// unfinished is the condition for orders that still need a visit.
const unfinished = "status IN ('open', 'assigned', 'on_site')"

func errOrder() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such work order.")
}

var orderTable = resource[rimewatch.WorkOrder]{
	shape: resourceOf("work_order", errOrder, nil, orderKey, func(o *rimewatch.WorkOrder) []column {
		return []column{
			col("site_id", number(&o.SiteID)), fixed("device_id", number(&o.DeviceID)), fixed("unit", text(&o.Unit)), fixed("alert_id", number(&o.AlertID)), fixed("case_id", number(&o.CaseID)),
			col("status", text(&o.Status)), col("problem", text(&o.Problem)), col("access", text(&o.Access)), col("urgency", text(&o.Urgency)),
			col("assignee", document(&o.Assignee)), col("contact_id", number(&o.ContactID)), col("link_until", number(&o.LinkUntil)),
			col("on_way_at", number(&o.OnWayAt)), col("on_site_at", number(&o.OnSiteAt)), col("done_at", number(&o.DoneAt)), col("result", document(&o.Result)),
			col("action_id", number(&o.ActionID)), col("verified", document(&o.Verified)), col("verified_at", number(&o.VerifiedAt)),
			fixed("created_by", text(&o.CreatedBy)), col("updated_at", number(&o.UpdatedAt)),
		}
	}),
	created: "work_order.created", updated: "work_order.updated",
	key: orderKey, newest: true, filters: []string{"status", "device_id", "case_id", "alert_id"},
	check: (*rimewatch.WorkOrder).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxOrders }, kind: rimewatch.Sentencef("work orders that are not finished"), counted: unfinished,
	refers: func(conn Conn, o *rimewatch.WorkOrder) error {
		if o.ID != 0 || o.SiteID == 0 { // it outlives its site
			return nil
		}
		return mustBeSite(conn, o.WorkspaceID, o.SiteID)
	},
	fields: orderFields,
	event: func(old, o *rimewatch.WorkOrder) (what rimewatch.EventType, data map[string]any) {
		switch {
		case old == nil:
			what = rimewatch.EventOrderCreated
		case old.Status != o.Status && o.Status == rimewatch.OrderDone:
			what = rimewatch.EventOrderDone
		case old.Status != o.Status && o.Status == rimewatch.OrderVerified:
			what = rimewatch.EventOrderVerified
		default:
			what = rimewatch.EventOrderUpdated
		}
		return what, map[string]any{"work_order": orderEvent(o)}
	},
}

func orderKey(o *rimewatch.WorkOrder) key {
	return key{&o.ID, &o.WorkspaceID, &o.Revision, &o.CreatedAt, &o.SiteID}
}

// orderFields are an order's fields in the audit trail. The end of a link identifies it without giving access.
func orderFields(o *rimewatch.WorkOrder) store.Fields {
	f := store.Fields{
		"site_id": o.SiteID, "device_id": o.DeviceID, "alert_id": o.AlertID, "case_id": o.CaseID, "status": o.Status, "problem": o.Problem, "access": o.Access, "urgency": o.Urgency,
		"assignee": "", "contact_id": o.ContactID, "link_until": o.LinkUntil, "on_way_at": o.OnWayAt, "on_site_at": o.OnSiteAt, "result": written(o.Result), "verified_by": "",
	}
	if o.Assignee != nil {
		f["assignee"] = o.Assignee.Name
	}
	if o.Verified != nil {
		f["verified_by"] = o.Verified.Name
	}
	return f
}

// orderEvent is an order as events have it.
func orderEvent(o *rimewatch.WorkOrder) map[string]any {
	name := func(d *rimewatch.Doer) any {
		if d == nil {
			return nil
		}
		return map[string]any{"kind": d.Kind, "name": d.Name, "firm": d.Firm}
	}
	or := func(n int64) any {
		if n == 0 {
			return nil
		}
		return n
	}
	out := map[string]any{
		"id": o.ID, "status": o.Status, "site_id": or(o.SiteID), "device_id": or(o.DeviceID), "unit": o.Unit, "alert_id": or(o.AlertID), "case_id": or(o.CaseID),
		"problem": o.Problem, "urgency": o.Urgency, "assignee": name(o.Assignee), "on_way_at": o.OnWayAt, "on_site_at": o.OnSiteAt, "done_at": o.DoneAt,
		"result": nil, "verified": name(o.Verified), "verified_at": o.VerifiedAt,
	}
	if r := o.Result; r != nil {
		out["result"] = map[string]any{"outcome": r.Outcome, "cause": r.Cause, "work": r.Work, "parts": r.Parts, "cost": r.Cost, "remarks": r.Remarks, "performed": name(&r.Performed)}
	}
	return out
}

// WorkOrders implements store.Orders.
func (t Records) WorkOrders() store.Resource[rimewatch.WorkOrder] {
	return handle[rimewatch.WorkOrder]{t: t.base, r: &orderTable}
}

// CompleteOrder implements store.Orders.
func (t Records) CompleteOrder(ctx context.Context, workspaceID, id int64, r rimewatch.OrderResult, recordedBy string, now rimewatch.Time) (o rimewatch.WorkOrder, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := orderTable.of(ctx, conn, workspaceID, id)
		if err != nil {
			return err
		}
		o, err = orderTable.changeIn(ctx, t.base, conn, old, func(o *rimewatch.WorkOrder) error {
			if err := o.Finish(r, now); err != nil {
				return err
			}
			if err := o.Check(); err != nil {
				return err
			}
			a := o.Action(recordedBy, now)
			line, err := orderSubject(ctx, conn, &a)
			if err == nil {
				err = t.recordAction(ctx, conn, &a, line)
			}
			o.ActionID, o.UpdatedAt = a.ID, now
			return err
		})
		return err
	})
	return o, err
}

// orderSubject is actionOwner for the work of an order, whose alert, case and device may be gone.
func orderSubject(ctx context.Context, conn Conn, a *rimewatch.CorrectiveAction) (line *rimewatch.AlertTransition, err error) {
	deviceID := a.DeviceID
	if a.AlertID != 0 {
		line, err = actionSubject(conn, a)
		if rimewatch.CodeOf(err) == rimewatch.CodeAlertNotFound {
			a.AlertID, line, err = 0, nil, nil
		}
		a.DeviceID = deviceID
		if err != nil {
			return nil, err
		}
	}
	everywhere := store.WithSites(ctx, nil)
	c, found, err := caseOfAction(everywhere, conn, a)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound { // taken into the case of an outage, which its alert leads to
		a.CaseID = 0
		c, found, err = caseOfAction(everywhere, conn, a)
	}
	if err == nil && found {
		err = documented(conn, &c)
	}
	return line, err
}

// confirmOrder notes that an order's corrective action was verified.
func (t *base) confirmOrder(ctx context.Context, conn Conn, a *rimewatch.CorrectiveAction) error {
	list, err := orderTable.list(conn, "workspace_id = ? AND action_id = ?", a.WorkspaceID, a.ID)
	for i := range list {
		if err == nil {
			_, err = orderTable.changeIn(store.WithSites(ctx, nil), t, conn, list[i], func(o *rimewatch.WorkOrder) error {
				o.Confirm(*a.Verified, a.VerifiedAt)
				o.UpdatedAt = a.VerifiedAt
				return nil
			})
		}
	}
	return err
}

// recordAction stores a corrective action; line is the one in the timeline of its alert, nil = it is about none.
func (t *base) recordAction(ctx context.Context, conn Conn, a *rimewatch.CorrectiveAction, line *rimewatch.AlertTransition) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	a.ID, err = insert(conn, nil, "INSERT INTO corrective_action (workspace_id, alert_id, device_id, performed_at, body, case_id) VALUES (?, ?, ?, ?, ?, ?)",
		a.WorkspaceID, a.AlertID, a.DeviceID, int64(a.PerformedAt), string(body), a.CaseID)
	if err != nil {
		return err
	}
	about := subject("alert", a.AlertID)
	switch {
	case line != nil:
		if err := insertTransition(conn, line); err != nil {
			return err
		}
	case a.DeviceID != 0:
		about = subject("device", a.DeviceID)
	default:
		about = subject("case", a.CaseID)
	}
	return t.sealed(ctx, conn, sealedActions, a.WorkspaceID, a.ID, "corrective_action.recorded", about,
		store.Fields{"performed_by": a.PerformedBy, "verified_by": a.VerifiedBy, "disposition": a.Disposition})
}
