package storetest

import (
	"bytes"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// orders: what a work order says was done is a corrective action of its alert and case, once;
// whoever verifies that verifies the order, and programs hear of each step.
func (f *fixture) orders() {
	site := f.site(f.workspace)
	d := f.addDevice("OR")
	changeDevice(f, "OR", nil, func(d *rimewatch.Device) { d.SiteID = site })
	alert := f.alert(d, rimewatch.HighTemperature, rimewatch.Critical, t0+20)
	f.put(d, nil, alert)
	caseID := f.caseOf(rimewatch.CaseAlert, alert.ID).ID
	kim := rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim", Firm: "Polar"}
	result := rimewatch.OrderResult{Performed: kim, Outcome: rimewatch.OutcomeRepaired, Cause: "Fan", Work: "Replaced", Parts: "Fan"}
	order := func(change func(*rimewatch.WorkOrder)) rimewatch.WorkOrder {
		x := rimewatch.WorkOrder{WorkspaceID: f.workspace, SiteID: site, DeviceID: d, Unit: "OR", Status: rimewatch.OrderOpen, Problem: "Warm", Urgency: rimewatch.UrgencySoon, CreatedBy: "Ada", CreatedAt: t0, UpdatedAt: t0}
		change(&x)
		f.must(f.s.Records().WorkOrders().Create(f.ctx, &x))
		return x
	}
	x := order(func(x *rimewatch.WorkOrder) { x.AlertID, x.CaseID = alert.ID, caseID })
	gone := order(func(x *rimewatch.WorkOrder) { x.AlertID, x.CaseID, x.DeviceID = 999, 999, 999 })

	photo := &rimewatch.Attachment{WorkspaceID: f.workspace, OrderID: x.ID, Name: "fan.jpg", Type: "image/jpeg", Width: 3, Height: 2, At: t0, By: kim}
	f.must(f.s.Records().Attach(f.ctx, photo, []byte("fan")))
	f.equal("case of a photo", photo.CaseID, caseID)
	alone := &rimewatch.Attachment{WorkspaceID: f.workspace, OrderID: gone.ID, Name: "fan.jpg", Type: "image/jpeg", Width: 3, Height: 2, At: t0, By: kim}
	f.must(f.s.Records().Attach(f.ctx, alone, []byte("fan")))
	again := *alone
	f.must(f.s.Records().Attach(f.ctx, &again, []byte("fan")))
	f.equal("a photo without a case, twice", []int64{alone.CaseID, again.ID}, []int64{0, alone.ID})

	_, err := f.s.Records().CompleteOrder(f.ctx, f.workspace, x.ID, rimewatch.OrderResult{Performed: kim, Outcome: rimewatch.OutcomeRepaired}, "Kim", t0+50)
	f.code(err, rimewatch.CodeValidationFailed)
	x, err = f.s.Records().CompleteOrder(f.ctx, f.workspace, x.ID, result, "Kim, by the link", t0+50)
	f.must(err)
	f.equal("done", []any{x.Status, x.DoneAt, *x.Result}, []any{rimewatch.OrderDone, t0 + 50, result})
	_, err = f.s.Records().CompleteOrder(f.ctx, f.workspace, x.ID, result, "Kim", t0+51)
	f.code(err, rimewatch.CodeConflict)
	gone, err = f.s.Records().CompleteOrder(f.ctx, f.workspace, gone.ID, result, "Kim", t0+52)
	f.must(err)

	a, err := f.s.Records().CorrectiveAction(f.ctx, f.workspace, x.ActionID)
	f.must(err)
	f.equal("on record", []any{a.AlertID, a.CaseID, a.DeviceID, a.OrderID, a.Cause, a.Action, *a.Performed, a.RecordedBy}, []any{alert.ID, caseID, d, x.ID, "Fan", "Replaced", kim, "Kim, by the link"})
	f.equal("of what is gone", f.actionOf(gone.ActionID).AlertID+f.actionOf(gone.ActionID).CaseID, int64(0))
	c, err := f.s.Records().Case(f.ctx, f.workspace, caseID)
	f.must(err)
	f.equal("status of the case", c.Status, rimewatch.CaseDocumented)

	_, err = f.s.Records().VerifyCorrectiveAction(f.ctx, f.workspace, x.ActionID, rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 5, Name: "Bo"}, t0+80)
	f.must(err)
	f.everywhere(func(where string) {
		got, err := f.s.Records().WorkOrders().Get(f.ctx, f.workspace, x.ID)
		f.must(err)
		f.equal(where+": verified", []any{got.Status, got.Verified.Name, got.VerifiedAt}, []any{rimewatch.OrderVerified, "Bo", t0 + 80})
		for _, q := range []struct {
			name string
			only map[string][]any
			want []int64
		}{
			{"status", map[string][]any{"status": {"done", "open"}}, []int64{gone.ID}},
			{"device_id", map[string][]any{"device_id": {d}}, []int64{x.ID}},
			{"case_id", map[string][]any{"case_id": {caseID}, "alert_id": {alert.ID}}, []int64{x.ID}},
		} {
			list, _, err := f.s.Records().WorkOrders().Select(f.ctx, f.workspace, store.Selection{Only: q.only})
			f.must(err)
			var ids []int64
			for i := range list {
				ids = append(ids, list[i].ID)
			}
			f.equal(where+": by "+q.name, ids, q.want)
		}
		files, err := f.s.Records().OrderAttachments(f.ctx, f.workspace, x.ID)
		f.must(err)
		f.equal(where+": photos", files, []rimewatch.Attachment{*photo})
		_, data, err := f.s.Records().OrderAttachment(f.ctx, f.workspace, x.ID, photo.ID)
		f.must(err)
		f.equal(where+": bytes of a photo", bytes.Equal(data, []byte("fan")), true)
		_, _, err = f.s.Records().OrderAttachment(f.ctx, f.workspace, gone.ID, photo.ID)
		f.code(err, rimewatch.CodeNotFound)
		_, _, err = f.s.Records().OrderAttachment(store.WithSites(f.ctx, rimewatch.Sites{site + 1}), f.workspace, x.ID, photo.ID)
		f.code(err, rimewatch.CodeNotFound)
		broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": chain", broken, int64(0))
	})
	f.equal("events", f.orderEvents(x.ID), []rimewatch.EventType{rimewatch.EventOrderCreated, rimewatch.EventOrderDone, rimewatch.EventOrderVerified})
}

func (f *fixture) actionOf(id int64) rimewatch.CorrectiveAction {
	f.Helper()
	a, err := f.s.Records().CorrectiveAction(f.ctx, f.workspace, id)
	f.must(err)
	return a
}

// orderEvents are the types of the events of an order.
func (f *fixture) orderEvents(id int64) (list []rimewatch.EventType) {
	f.Helper()
	events, err := f.s.Outbox().Events(f.ctx, f.workspace, 0, 1000)
	f.must(err)
	for i := range events {
		if events[i].Subject == rimewatch.EventSubject("work_order", id) && events[i].SiteID != 0 && bytes.Contains(events[i].Data, []byte(`"problem":"Warm"`)) {
			list = append(list, events[i].Type)
		}
	}
	return list
}
