package records

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/photo"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// WorkOrder is work that a member or an outside firm is asked to do.
type WorkOrder struct {
	ID           int64                   `json:"id"`
	Status       rimewatch.OrderStatus   `json:"status" enum:"open,assigned,on_site,done,verified,cancelled" doc:"open: nobody has it. An open set."`
	DeviceID     *int64                  `json:"device_id" doc:"null when it is for the site."`
	DeviceSerial *string                 `json:"device_serial" doc:"null when it is for the site, and when the device was deleted."`
	Unit         string                  `json:"unit" doc:"The name of the device when it was ordered; empty when it is for the site."`
	SiteID       *int64                  `json:"site_id" doc:"Where the device stood when it was ordered."`
	AlertID      *int64                  `json:"alert_id" doc:"That it was ordered for."`
	AlertActive  bool                    `json:"alert_active" doc:"That alert still holds: an order that is done does not end it, unless it is a prediction."`
	CaseID       *int64                  `json:"case_id" doc:"That what is done belongs to."`
	Problem      string                  `json:"problem"`
	Access       string                  `json:"access"`
	Urgency      rimewatch.Urgency       `json:"urgency" enum:"emergency,soon,routine"`
	Assignee     wire.Maybe[Doer]        `json:"assignee" doc:"Who has it: a member (person) or a contact (external); null = nobody. The name stays when they go."`
	ContactID    *int64                  `json:"contact_id"`
	LinkUntil    rimewatch.Time          `json:"link_until" doc:"Until when its link works; null = there is none."`
	OnWayAt      rimewatch.Time          `json:"on_way_at"`
	OnSiteAt     rimewatch.Time          `json:"on_site_at"`
	DoneAt       rimewatch.Time          `json:"done_at"`
	Result       wire.Maybe[OrderResult] `json:"result" doc:"null until it is done."`
	ActionID     *int64                  `json:"corrective_action_id" doc:"The record of what was done."`
	Verified     wire.Maybe[Doer]        `json:"verified" doc:"null until it is verified."`
	VerifiedAt   rimewatch.Time          `json:"verified_at"`
	CreatedBy    string                  `json:"created_by"`
	CreatedAt    rimewatch.Time          `json:"created_at" nullable:"false"`
	UpdatedAt    rimewatch.Time          `json:"updated_at" nullable:"false"`
}

// OrderResult is the finding and the work of an order.
type OrderResult struct {
	Performed Doer                   `json:"performed"`
	Outcome   rimewatch.OrderOutcome `json:"outcome" enum:"repaired,nothing_wrong,not_repaired"`
	Cause     string                 `json:"cause"`
	Work      string                 `json:"work" doc:"What was done."`
	Parts     string                 `json:"parts"`
	Cost      string                 `json:"cost" doc:"As it was said, with its currency."`
	Remarks   string                 `json:"remarks"`
}

// WorkOrderList are orders, newest first.
type WorkOrderList struct {
	httpapi.Paged
	WorkOrders []WorkOrder `json:"work_orders"`
}

// WorkOrderData is the data of answers about one order.
type WorkOrderData struct {
	WorkOrder   WorkOrder    `json:"work_order"`
	Attachments []Attachment `json:"attachments"`
}

func resultJSON(r *rimewatch.OrderResult) *OrderResult {
	if r == nil {
		return nil
	}
	return &OrderResult{*doerJSON(&r.Performed), r.Outcome, r.Cause, r.Work, r.Parts, r.Cost, r.Remarks}
}

// orderJSON writes an order; whether its alert holds is asked of the store.
func (a *orders) orderJSON(ctx context.Context, o *rimewatch.WorkOrder) (WorkOrder, error) {
	out := WorkOrder{
		ID: o.ID, Status: o.Status, DeviceID: wire.OrNull(o.DeviceID), Unit: o.Unit, SiteID: wire.OrNull(o.SiteID), AlertID: wire.OrNull(o.AlertID), CaseID: wire.OrNull(o.CaseID),
		Problem: o.Problem, Access: o.Access, Urgency: o.Urgency, Assignee: wire.Maybe[Doer]{Value: doerJSON(o.Assignee)}, ContactID: wire.OrNull(o.ContactID), LinkUntil: o.LinkUntil,
		OnWayAt: o.OnWayAt, OnSiteAt: o.OnSiteAt, DoneAt: o.DoneAt, Result: wire.Maybe[OrderResult]{Value: resultJSON(o.Result)}, ActionID: wire.OrNull(o.ActionID),
		Verified: wire.Maybe[Doer]{Value: doerJSON(o.Verified)}, VerifiedAt: o.VerifiedAt, CreatedBy: o.CreatedBy, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if v, ok := a.Store.DeviceByID(o.DeviceID); ok {
		out.DeviceSerial = &v.Serial
	}
	alert, found, err := a.alertOf(ctx, o)
	out.AlertActive = found && alert.Status == rimewatch.AlertActive
	return out, err
}

// alertOf finds the alert that an order was made for, while it is kept.
func (a *orders) alertOf(ctx context.Context, o *rimewatch.WorkOrder) (v rimewatch.AlertView, found bool, err error) {
	if o.AlertID == 0 {
		return v, false, nil
	}
	v, err = a.Store.Alert(store.WithSites(ctx, nil), o.WorkspaceID, o.AlertID)
	if rimewatch.CodeOf(err) == rimewatch.CodeAlertNotFound {
		return v, false, nil
	}
	return v, err == nil, err
}

func (a *orders) showOrders(ctx context.Context, list []rimewatch.WorkOrder) (out WorkOrderList, err error) {
	out.WorkOrders = make([]WorkOrder, len(list))
	for i := range list {
		if out.WorkOrders[i], err = a.orderJSON(ctx, &list[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (a *orders) showOrder(ctx context.Context, o *rimewatch.WorkOrder) (out WorkOrderData, err error) {
	out.Attachments = []Attachment{}
	if out.WorkOrder, err = a.orderJSON(ctx, o); err != nil {
		return out, err
	}
	files, err := a.Store.Records().OrderAttachments(ctx, o.WorkspaceID, o.ID)
	for i := range files {
		x := attachmentJSON(&files[i])
		x.URL = fmt.Sprintf("%s/v1/work-orders/%d/attachments/%d", httpapi.Prefix, o.ID, x.ID)
		out.Attachments = append(out.Attachments, x)
	}
	return out, err
}

// OrdersInput narrows the list of orders.
type OrdersInput struct {
	httpapi.PageInput
	Status  string `query:"status" enum:"open,assigned,on_site,done,verified,cancelled,unfinished" doc:"unfinished: open, assigned or on_site."`
	SiteID  int64  `query:"site_id" minimum:"1"`
	Device  string `query:"device" maxLength:"84" doc:"Serial. An unknown one returns an empty list."`
	CaseID  int64  `query:"case_id" minimum:"1"`
	AlertID int64  `query:"alert_id" minimum:"1"`
}

func (a *orders) selectOrders(c *httpapi.Call, in *OrdersInput) store.Selection {
	only := make(map[string][]any)
	switch in.Status {
	case "":
	case "unfinished":
		for _, s := range rimewatch.OrdersUnfinished() {
			only["status"] = append(only["status"], string(s))
		}
	default:
		only["status"] = []any{in.Status}
	}
	if in.Device != "" {
		only["device_id"] = []any{}
		if who := a.Store.Identify(c.Workspace(), []byte(in.Device)); who != nil {
			only["device_id"] = []any{who.ID}
		}
	}
	if in.CaseID != 0 {
		only["case_id"] = []any{in.CaseID}
	}
	if in.AlertID != 0 {
		only["alert_id"] = []any{in.AlertID}
	}
	return store.Selection{SiteID: in.SiteID, Only: only}
}

// OrderTarget is who an order is given to.
type OrderTarget struct {
	Kind string `json:"kind" enum:"member,contact,nobody"`
	ID   int64  `json:"id,omitempty" minimum:"1" doc:"The user_id of a member who may work at the site, or the id of a contact."`
}

// taker is an OrderTarget that was found.
type taker struct {
	doer      *rimewatch.Doer // nil = none
	contactID int64
	email     string          // of a contact
	sites     rimewatch.Sites // that a member is limited to, nil = none
}

// give assigns an order. A contact who has an e-mail address gets a link with it where mail can be sent.
func (a *orders) give(ctx context.Context, o *rimewatch.WorkOrder, t *taker, now rimewatch.Time) error {
	if !t.sites.Has(o.SiteID) {
		return rimewatch.Invalid("assign", "is no member who may work at the site")
	}
	if err := o.Assign(t.doer, t.contactID); err != nil {
		return err
	}
	if t.email == "" || !a.Mail.SendsMail(ctx) {
		return nil
	}
	_, err := o.NewLink(now)
	return err
}

// taker looks up who an order is to be given to.
func (a *orders) taker(ctx context.Context, t *OrderTarget) (taker, error) {
	workspaceID := httpapi.CallOf(ctx).Workspace()
	switch t.Kind {
	case "member":
		members, err := a.Store.People().Members(ctx, workspaceID)
		i := slices.IndexFunc(members, func(m store.MemberView) bool { return m.UserID == t.ID })
		if err == nil && (i < 0 || !members[i].Role.Scopes().Has(rimewatch.ScopeRecords)) {
			err = rimewatch.Invalid("assign", "is no member who may work at the site")
		}
		if err != nil {
			return taker{}, err
		}
		m := &members[i]
		return taker{doer: &rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: m.UserID, Name: cmp.Or(m.Name, m.Email)}, sites: m.Sites}, nil
	case "contact":
		k, err := a.Store.Contacts().Get(ctx, workspaceID, t.ID)
		if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			err = rimewatch.Invalid("assign", "is no contact")
		}
		return taker{doer: &rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: k.Name, Firm: k.Company}, contactID: k.ID, email: k.Email}, err
	}
	return taker{}, nil
}

// OrderCreate is the body that makes an order: for an alert, a case, a device or a site.
type OrderCreate struct {
	AlertID      int64             `json:"alert_id,omitempty" minimum:"1" doc:"For what this alert is about, such as a prediction; its case is opened where there is none."`
	CaseID       int64             `json:"case_id,omitempty" minimum:"1" doc:"For what this case is about."`
	DeviceSerial string            `json:"device_serial,omitempty" maxLength:"64" doc:"For this device; with the case of an outage, one of its devices."`
	SiteID       int64             `json:"site_id,omitempty" minimum:"1" doc:"For the site itself."`
	Problem      string            `json:"problem" minLength:"1" maxLength:"2000" doc:"What is wrong." example:"Ices up within two days; the fan is loud"`
	Access       string            `json:"access,omitempty" maxLength:"1000" doc:"How to get in, and whom to ask for."`
	Urgency      rimewatch.Urgency `json:"urgency" enum:"emergency,soon,routine"`
	Assign       *OrderTarget      `json:"assign,omitempty"`
}

// newOrder makes an order of a body.
func (a *orders) newOrder(ctx context.Context, b *OrderCreate) (o rimewatch.WorkOrder, t taker, err error) {
	c := httpapi.CallOf(ctx)
	o = rimewatch.WorkOrder{
		WorkspaceID: c.Workspace(), Status: rimewatch.OrderOpen, Problem: strings.TrimSpace(b.Problem), Access: strings.TrimSpace(b.Access), Urgency: b.Urgency, CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	if o.CreatedBy, err = a.Actor(ctx, c.Principal); err != nil {
		return o, t, err
	}
	if b.Assign != nil {
		if t, err = a.taker(ctx, b.Assign); err != nil {
			return o, t, err
		}
	}
	if err = a.aim(ctx, &o, b); err == nil {
		err = a.give(ctx, &o, &t, c.Now)
	}
	return o, t, err
}

// aim finds the device, site, alert and case of an order.
func (a *orders) aim(ctx context.Context, o *rimewatch.WorkOrder, b *OrderCreate) error {
	named := 0
	for _, given := range []bool{b.AlertID != 0, b.CaseID != 0, b.DeviceSerial != "" && b.CaseID == 0, b.SiteID != 0} {
		if given {
			named++
		}
	}
	if named != 1 {
		return rimewatch.Invalid("alert_id", "or case_id, device_serial or site_id must be given, and only one of them")
	}
	o.SiteID, o.CaseID, o.AlertID = b.SiteID, b.CaseID, b.AlertID
	switch {
	case o.AlertID != 0:
		return a.aimAlert(ctx, o)
	case o.CaseID != 0:
		c, err := a.Store.Records().Case(ctx, o.WorkspaceID, o.CaseID)
		if err != nil {
			return err
		}
		o.SiteID, o.DeviceID, o.AlertID = c.SiteID, c.DeviceID, alertOfCase(&c)
		a.unit(o)
	}
	if b.DeviceSerial == "" {
		return nil
	}
	v, err := a.Store.Device(ctx, o.WorkspaceID, b.DeviceSerial)
	if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
		return rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no such device.").With("device_serial", "is not known")
	}
	if err != nil {
		return err
	}
	o.DeviceID, o.Unit = v.ID, v.Name
	if o.CaseID == 0 {
		o.SiteID = v.SiteID
	}
	return nil
}

func (a *orders) aimAlert(ctx context.Context, o *rimewatch.WorkOrder) error {
	v, err := a.Store.Alert(ctx, o.WorkspaceID, o.AlertID)
	if err != nil {
		return err
	}
	c, err := a.Store.Records().DocumentCase(ctx, o.WorkspaceID, rimewatch.CaseLine{Kind: rimewatch.CaseAlert, Ref: o.AlertID}, o.CreatedBy, o.CreatedAt)
	if err != nil {
		return err
	}
	o.CaseID, o.DeviceID, o.SiteID = c.ID, v.DeviceID, v.SiteID
	if v.Site != nil {
		o.SiteID = v.Site.ID
	}
	a.unit(o)
	return nil
}

// unit sets the name of an order's device.
func (a *orders) unit(o *rimewatch.WorkOrder) {
	if v, ok := a.Store.DeviceByID(o.DeviceID); ok {
		o.Unit = v.Name
	}
}

// alertOfCase is the newest prediction of a case or, without one, its newest alert; 0 = it has none.
func alertOfCase(c *rimewatch.Case) (id int64) {
	predicted := false
	for i := range c.Lines {
		if l := &c.Lines[i]; l.Kind == rimewatch.CaseAlert && (l.Facts.Type.Predictive() || !predicted) {
			id, predicted = l.Ref, predicted || l.Facts.Type.Predictive()
		}
	}
	return id
}

func (a *orders) createOrder(ctx context.Context, in *httpapi.BodyInput[OrderCreate]) (WorkOrderData, error) {
	o, t, err := a.newOrder(ctx, &in.Body)
	if err == nil {
		err = a.Store.Records().WorkOrders().Create(ctx, &o)
	}
	if err != nil {
		return WorkOrderData{}, err
	}
	a.resource.Made(ctx, &o)
	if in.Body.Assign != nil {
		a.notifyAssignee(ctx, &o, &t)
	}
	return a.showOrder(ctx, &o)
}

// OrderUpdate is the body that changes an order. Absent fields stay as they are.
type OrderUpdate struct {
	Problem *string            `json:"problem,omitempty" minLength:"1" maxLength:"2000"`
	Access  *string            `json:"access,omitempty" maxLength:"1000"`
	Urgency *rimewatch.Urgency `json:"urgency,omitempty" enum:"emergency,soon,routine"`
	Assign  *OrderTarget       `json:"assign,omitempty" doc:"The link of whoever had it before works no longer."`
}

func (a *orders) updateOrder(ctx context.Context, in *httpapi.IDBody[OrderUpdate]) (WorkOrderData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	var t taker
	var err error
	if b.Assign != nil {
		if t, err = a.taker(ctx, b.Assign); err != nil {
			return WorkOrderData{}, err
		}
	}
	o, err := a.changeOrder(ctx, in.Number(), func(o *rimewatch.WorkOrder) error {
		if err := o.Finished(); err != nil {
			return err
		}
		httpapi.Sent(&o.Problem, b.Problem)
		httpapi.Sent(&o.Access, b.Access)
		httpapi.Sent(&o.Urgency, b.Urgency)
		if b.Assign == nil {
			return nil
		}
		return a.give(ctx, o, &t, c.Now)
	})
	if err != nil {
		return WorkOrderData{}, err
	}
	if b.Assign != nil {
		a.notifyAssignee(ctx, &o, &t)
	}
	return a.showOrder(ctx, &o)
}

func (a *orders) changeOrder(ctx context.Context, id int64, change func(*rimewatch.WorkOrder) error) (rimewatch.WorkOrder, error) {
	c := httpapi.CallOf(ctx)
	o, err := a.Store.Records().WorkOrders().Update(ctx, c.Workspace(), id, func(o *rimewatch.WorkOrder) error {
		o.UpdatedAt = c.Now
		return change(o)
	})
	if err == nil {
		a.resource.Edited(ctx, &o)
	}
	return o, err
}

// notifyAssignee notifies the member to whom an order was given. A failure is logged: the order stands.
func (a *orders) notifyAssignee(ctx context.Context, o *rimewatch.WorkOrder, t *taker) {
	var err error
	switch {
	case t.doer == nil:
	case t.contactID == 0:
		err = a.Notifier.TellOrder(ctx, o)
	case o.LinkUntil != 0:
		err = a.mailLink(ctx, o, t.email)
	}
	if err != nil {
		a.Log().Error("tell of a work order", "order", o.ID, "err", err)
	}
}

// OrderReport is the body that finishes an order.
type OrderReport struct {
	Outcome rimewatch.OrderOutcome `json:"outcome" enum:"repaired,nothing_wrong,not_repaired" doc:"Of an order for a prediction, it is the verdict on it: repaired ends it as fixed, nothing_wrong as a false alarm, not_repaired calls it useful. A verdict that somebody has given before stays."`
	Cause   string                 `json:"cause" minLength:"1" maxLength:"2000"`
	Work    string                 `json:"work" minLength:"1" maxLength:"2000" doc:"What was done."`
	Parts   string                 `json:"parts,omitempty" maxLength:"2000"`
	Cost    string                 `json:"cost,omitempty" maxLength:"200" example:"184.50 EUR"`
	Remarks string                 `json:"remarks,omitempty" maxLength:"2000"`
}

func (b *OrderReport) result(by rimewatch.Doer) rimewatch.OrderResult {
	s := strings.TrimSpace
	return rimewatch.OrderResult{Performed: by, Outcome: b.Outcome, Cause: s(b.Cause), Work: s(b.Work), Parts: s(b.Parts), Cost: s(b.Cost), Remarks: s(b.Remarks)}
}

// OrderDone is OrderReport by the person who is signed in.
type OrderDone struct {
	OrderReport

	PerformedBy string    `json:"performed_by,omitempty" maxLength:"200" doc:"Who did it. Default: the person who is signed in; a token has to name somebody."`
	External    *External `json:"external,omitempty" doc:"Somebody else who did it, with a firm, instead of performed_by."`
}

func (a *orders) finishOrder(ctx context.Context, in *httpapi.IDBody[OrderDone]) (WorkOrderData, error) {
	c := httpapi.CallOf(ctx)
	var f wire.FieldErrors
	by, _, err := a.doers(ctx, names{in.Body.PerformedBy, in.Body.External, nil}, &f)
	if err == nil && f.Err != nil {
		err = f.Err
	}
	if err != nil {
		return WorkOrderData{}, err
	}
	recordedBy, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return WorkOrderData{}, err
	}
	o, err := a.complete(ctx, c.Workspace(), in.Number(), in.Body.result(by), recordedBy)
	if err != nil {
		return WorkOrderData{}, err
	}
	a.resource.Edited(ctx, &o)
	return a.showOrder(ctx, &o)
}

// complete finishes an order, and gives the verdict of its result on the prediction that it was made for.
func (a *orders) complete(ctx context.Context, workspaceID, id int64, r rimewatch.OrderResult, recordedBy string) (rimewatch.WorkOrder, error) {
	o, err := a.Store.Records().CompleteOrder(ctx, workspaceID, id, r, recordedBy, a.Now())
	if err != nil {
		return o, err
	}
	v, found, err := a.alertOf(ctx, &o)
	if err != nil || !found || v.Prediction == nil || v.Feedback != nil {
		return o, err
	}
	_, err = a.Writer.Feedback(ctx, workspaceID, o.AlertID, r.Performed.Name, r.Outcome.Verdict(), r.Cause)
	return o, err
}

func (a *orders) verifyOrder(ctx context.Context, in *httpapi.IDInput) (WorkOrderData, error) {
	c := httpapi.CallOf(ctx)
	o, err := a.Store.Records().WorkOrders().Get(ctx, c.Workspace(), in.Number())
	if err != nil {
		return WorkOrderData{}, err
	}
	if o.ActionID == 0 {
		return WorkOrderData{}, rimewatch.Errorf(rimewatch.CodeConflict, "What was not done cannot be verified.")
	}
	self, _, err := a.self(ctx)
	if err == nil {
		_, err = a.Store.Records().VerifyCorrectiveAction(ctx, c.Workspace(), o.ActionID, self, c.Now)
	}
	if err == nil {
		o, err = a.Store.Records().WorkOrders().Get(ctx, c.Workspace(), o.ID)
	}
	if err != nil {
		return WorkOrderData{}, err
	}
	a.resource.Edited(ctx, &o)
	return a.showOrder(ctx, &o)
}

// OrderLinkBody asks for a link.
type OrderLinkBody struct {
	Send bool `json:"send,omitempty" doc:"By e-mail to the contact that has the order, too."`
}

// OrderLink is the link to one order for a person without an account.
type OrderLink struct {
	Link      string         `json:"link" doc:"Behind the address under which this server is reached."`
	ExpiresAt rimewatch.Time `json:"expires_at" nullable:"false"`
	SentTo    *string        `json:"sent_to" doc:"The address that it was sent to; null = it was not."`
}

// OrderLinkData is the data of the answer with a link.
type OrderLinkData struct {
	OrderLink OrderLink `json:"order_link"`
}

func (a *orders) linkOrder(ctx context.Context, in *httpapi.IDBody[OrderLinkBody]) (OrderLinkData, error) {
	c := httpapi.CallOf(ctx)
	o, err := a.changeOrder(ctx, in.Number(), func(o *rimewatch.WorkOrder) error {
		if err := o.Finished(); err != nil {
			return err
		}
		if o.Assignee == nil || o.Assignee.Kind != rimewatch.DoerExternal {
			return rimewatch.Errorf(rimewatch.CodeConflict, "A link is for a contact: give the order to one first. Members sign in.")
		}
		_, err := o.NewLink(c.Now)
		return err
	})
	if err != nil {
		return OrderLinkData{}, err
	}
	out := OrderLink{Link: a.orderLink(&o), ExpiresAt: o.LinkUntil}
	if in.Body.Send {
		k, err := a.Store.Contacts().Get(ctx, o.WorkspaceID, o.ContactID)
		if err == nil && (k.Email == "" || !a.Mail.SendsMail(ctx)) {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "The link cannot be sent: the contact has no e-mail address, or this server sends no mail.")
		}
		if err == nil {
			err = a.mailLink(ctx, &o, k.Email)
		}
		if err != nil {
			return OrderLinkData{}, err
		}
		out.SentTo = &k.Email
	}
	return OrderLinkData{out}, nil
}

// orderLink is the path of the page that shows an order to the holder of its link.
func (a *orders) orderLink(o *rimewatch.WorkOrder) string {
	l := ticket.Link{Purpose: ticket.Order, WorkspaceID: o.WorkspaceID, Expires: o.LinkUntil, ID: o.ID}
	return ticket.OrderPath + l.Encode(a.LinkKey[:])
}

// mailLink sends the link of an order to a contact.
func (a *orders) mailLink(ctx context.Context, o *rimewatch.WorkOrder, to string) error {
	w, err := a.Store.Workspace(ctx, o.WorkspaceID)
	if err != nil {
		return err
	}
	if _, wait := a.mails.Take(o.WorkspaceID, a.Now()); wait > 0 {
		return httpapi.ErrRateLimited(wait)
	}
	return a.Mail.MailOrder(ctx, to, httpapi.CallOf(ctx).Locale().Language, w.Name, o, a.orderLink(o))
}

func (a *orders) cancelOrder(ctx context.Context, o *rimewatch.WorkOrder) error {
	o.UpdatedAt = httpapi.CallOf(ctx).Now
	return o.Cancel()
}

func (a *orders) arriveAtOrder(ctx context.Context, o *rimewatch.WorkOrder) error {
	o.UpdatedAt = httpapi.CallOf(ctx).Now
	return o.Arrive(o.UpdatedAt)
}

func (a *orders) attachToOrder(c *httpapi.Call) error {
	ctx := c.R.Context()
	id := (&httpapi.IDInput{ID: c.R.PathValue("id")}).Number()
	o, err := a.Store.Records().WorkOrders().Get(ctx, c.Workspace(), id)
	if err != nil {
		return err
	}
	by, err := a.attachedBy(ctx, c.Principal)
	if err != nil {
		return err
	}
	x, err := a.attachFile(ctx, c, &o, by)
	if err != nil {
		return err
	}
	out := attachmentJSON(x)
	out.URL = fmt.Sprintf("%s/v1/work-orders/%d/attachments/%d", httpapi.Prefix, o.ID, x.ID)
	return c.Data(http.StatusCreated, AttachmentData{out})
}

// attachFile keeps the file of a request with an order.
func (a *orders) attachFile(ctx context.Context, c *httpapi.Call, o *rimewatch.WorkOrder, by rimewatch.Doer) (*rimewatch.Attachment, error) {
	body, _, _ := c.Body()
	file, err := decoded(ctx, a.api, func() (photo.File, error) { return photo.Keep(body) })
	if err != nil {
		return nil, err
	}
	x := &rimewatch.Attachment{
		WorkspaceID: o.WorkspaceID, OrderID: o.ID, Name: fileName(c.Query.Get("name"), file.Type), Type: file.Type, Width: file.Width, Height: file.Height,
		Original: sha256.Sum256(body), At: c.Now, By: by,
	}
	return x, a.Store.Records().Attach(ctx, x, file.Data)
}

func (a *orders) orderAttachment(c *httpapi.Call) error {
	id := (&httpapi.IDInput{ID: c.R.PathValue("id")}).Number()
	file := (&httpapi.IDInput{ID: c.R.PathValue("attachment_id")}).Number()
	x, data, err := a.Store.Records().OrderAttachment(c.R.Context(), c.Workspace(), id, file)
	if err != nil {
		return err
	}
	return a.sendAttachment(c, &x, data)
}

func (a *orders) routes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.WorkOrder]{
		Path: "/v1/work-orders", ID: "work-order", Tag: "Records", One: "a work order", Many: "work orders",
		Read: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeRecords), Write: httpapi.Either(rimewatch.RoleTechnician, rimewatch.ScopeRecords), Sited: true,
		Things:  func(context.Context) store.Resource[rimewatch.WorkOrder] { return a.Store.Records().WorkOrders() },
		Key:     func(o *rimewatch.WorkOrder) (id, revision int64) { return o.ID, o.Revision },
		Cursors: &a.cursors,

		ListText:   "Newest first. Orders are never deleted, only cancelled.",
		CreateText: "Asks a member or a contact for work. A contact who has an e-mail address is sent a link, where the server can send mail. At most 500 that are not finished; 409 beyond that.",
		UpdateText: "While it is not finished: 409 afterwards.",
		Also:       []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeAlertNotFound, rimewatch.CodeConflict},
	}
	a.resource = r
	write, conflict := r.Write, []rimewatch.Code{rimewatch.CodeConflict}
	return []httpapi.Route{
		httpapi.List(r, a.selectOrders, a.showOrders), r.CreateRow(httpapi.Handle(a.createOrder)), httpapi.Get(r, a.showOrder), r.UpdateRow(httpapi.Handle(a.updateOrder)),
		httpapi.Act(r, "on-site", "Note that somebody is there for a work order", a.arriveAtOrder, a.showOrder),
		httpapi.Act(r, "cancel", "Cancel a work order", a.cancelOrder, a.showOrder),
		{
			Method: http.MethodPost, Path: r.Path + "/{id}/done", Sited: true, ID: "finish-work-order", Tag: r.Tag, Summary: "Finish a work order", Access: write, Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodePersonRequired},
			Description: "What was done is recorded as a corrective action of the order's alert, case and device, and judges the prediction that it was ordered for. An alert about what is measured does not end by it.",
			Bind:        httpapi.Handle(a.finishOrder),
		},
		{
			Method: http.MethodPost, Path: r.Path + "/{id}/verify", Sited: true, ID: "verify-work-order", Tag: r.Tag, Summary: "Verify what was done by a work order", Also: conflict,
			Access:      httpapi.Person(rimewatch.RoleTechnician, "a record is verified by a person, who is another than the one who did it"),
			Description: "The same as to verify its corrective action.", Bind: httpapi.Handle(a.verifyOrder),
		},
		{
			Method: http.MethodPost, Path: r.Path + "/{id}/link", Sited: true, ID: "link-work-order", Tag: r.Tag, Summary: "Make the link of a work order", Access: write, Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeRateLimited},
			Description: "Whoever has it sees this order alone, without an account, and reports on it, for 30 days. Links of the order that were made before work no longer.", Bind: httpapi.Handle(a.linkOrder),
		},
		{
			Method: http.MethodPost, Path: r.Path + "/{id}/attachments", Sited: true, ID: "attach-to-work-order", Tag: r.Tag, Summary: "Attach a photo or document to a work order", Access: write,
			Body: httpapi.BodyRule{Types: attachmentTypes, Bulk: true}, Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Description: "As to a case, whose attachments it is among.", Bind: httpapi.Raw[AttachInput, AttachmentData](a.attachToOrder),
		},
		{
			Method: http.MethodGet, Path: r.Path + "/{id}/attachments/{attachment_id}", Sited: true, ID: "get-work-order-attachment", Tag: r.Tag, Summary: "Get an attachment of a work order", Access: r.Read, File: attachmentTypes,
			Description: "Its bytes.", Bind: httpapi.Raw[AttachmentInput, httpapi.Done](a.orderAttachment),
		},
	}
}
