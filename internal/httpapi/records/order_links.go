package records

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// OrderTicketPath is where the links of orders are looked at and used: OrderTicketPath and a ticket.
const OrderTicketPath = httpapi.Prefix + orderLinks

const orderLinks = "/v1/work-order-links/"

// TicketInput is the ticket of a link.
type TicketInput struct {
	Ticket string `path:"ticket" doc:"As in the link of an order."`
}

// TicketBody is a ticket with a body.
type TicketBody[B any] struct {
	TicketInput
	Body B
}

// TicketFileInput is a ticket with the name of a file.
type TicketFileInput struct {
	TicketInput
	Name string `query:"name" maxLength:"200" doc:"Of the file."`
}

// TicketAttachmentInput names a photo of the order of a link.
type TicketAttachmentInput struct {
	TicketInput
	AttachmentID string `path:"attachment_id" doc:"Integer id."`
}

// LinkedOrder is one order for the holder of its link, who sees nothing else of its workspace.
type LinkedOrder struct {
	ID           int64                   `json:"id"`
	Open         bool                    `json:"open" doc:"It can be reported on."`
	State        string                  `json:"state" doc:"A sentence that says why it cannot; empty while it can."`
	Status       rimewatch.OrderStatus   `json:"status" enum:"open,assigned,on_site,done,verified,cancelled"`
	Workspace    string                  `json:"workspace" doc:"Its name."`
	Person       string                  `json:"person" doc:"As whom the link reports."`
	Firm         string                  `json:"firm"`
	Unit         string                  `json:"unit"`
	Serial       string                  `json:"serial" doc:"Of the unit's sensor."`
	Equipment    string                  `json:"equipment" doc:"What the unit is, in words."`
	Manufacturer string                  `json:"manufacturer"`
	Model        string                  `json:"model"`
	Site         string                  `json:"site"`
	Address      string                  `json:"address"`
	Timezone     string                  `json:"timezone" doc:"Of the site."`
	Problem      string                  `json:"problem"`
	Access       string                  `json:"access"`
	Urgency      rimewatch.Urgency       `json:"urgency" enum:"emergency,soon,routine"`
	Alert        wire.Maybe[wire.Card]   `json:"alert" doc:"What was noticed, with its evidence; null when the order is about no alert, or it is kept no longer."`
	Temperatures []LinkedTemperature     `json:"temperatures" doc:"Of the goods, the last 24 hours until now or until it was done; empty without any."`
	Contacts     []LinkedContact         `json:"contacts" doc:"Of the site."`
	OnWayAt      rimewatch.Time          `json:"on_way_at"`
	OnSiteAt     rimewatch.Time          `json:"on_site_at"`
	DoneAt       rimewatch.Time          `json:"done_at"`
	Result       wire.Maybe[OrderResult] `json:"result" doc:"null until it is done."`
	Photos       []Attachment            `json:"photos"`
	CreatedAt    rimewatch.Time          `json:"created_at" nullable:"false"`
	Until        rimewatch.Time          `json:"link_until" nullable:"false" doc:"Until when the link works."`
}

// LinkedTemperature are the measurements of a stretch of time.
type LinkedTemperature struct {
	At  rimewatch.Time `json:"at" nullable:"false" doc:"Its beginning."`
	Min float64        `json:"min" doc:"°C."`
	Max float64        `json:"max" doc:"°C."`
}

// LinkedContact is a person to call about the site.
type LinkedContact struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Company string `json:"company"`
	Phone   string `json:"phone"`
}

// LinkedOrderData is the data of answers about the order of a link.
type LinkedOrderData struct {
	WorkOrder LinkedOrder `json:"work_order"`
}

// linkedDay is how much of the temperature an outside firm is shown.
const linkedDay = rimewatch.Day

// believe finds the order of a link: CodeNotFound when nobody has made it, CodeForbidden when its time is over, or
// another one has taken its place. What it changes, its holder has done.
func (a *orders) believe(ctx context.Context, text string) (acting context.Context, o rimewatch.WorkOrder, err error) {
	c := httpapi.CallOf(ctx)
	c.Header("Referrer-Policy", "no-referrer")
	l, ok := ticket.ParseLink(a.LinkKey[:], text, ticket.Order)
	if !ok {
		if wait := a.AuthFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
			return ctx, o, httpapi.ErrTooManyFailures(wait)
		}
		return ctx, o, rimewatch.Errorf(rimewatch.CodeNotFound, "This link does not work: it is incomplete, or somebody has changed it.")
	}
	if o, err = a.Store.Records().WorkOrders().Get(ctx, l.WorkspaceID, l.ID); err != nil {
		return ctx, o, err
	}
	switch {
	case o.Status == rimewatch.OrderCancelled:
		err = rimewatch.Errorf(rimewatch.CodeForbidden, "This order was cancelled. There is nothing left to do.")
	case c.Now >= l.Expires:
		err = rimewatch.Errorf(rimewatch.CodeForbidden, "This link has expired: it works for 30 days. Ask whoever sent it for a new one.")
	case l.Expires != o.LinkUntil:
		err = rimewatch.Errorf(rimewatch.CodeForbidden, "This link works no longer: there is a newer one, or the order was given to somebody else.")
	case o.Assignee == nil:
		err = rimewatch.Errorf(rimewatch.CodeForbidden, "This link works no longer: there is a newer one, or the order was given to somebody else.")
	}
	if err != nil {
		return ctx, o, err
	}
	return store.WithActor(ctx, a.byLink(&o)), o, nil
}

// byLink names who acts by the link of an order.
func (a *orders) byLink(o *rimewatch.WorkOrder) string {
	name := o.Assignee.Name
	if o.Assignee.Firm != "" {
		name += " (" + o.Assignee.Firm + ")"
	}
	return name + ", by the link of a work order"
}

// linkedOrder returns the order as the holder of a link sees it.
func (a *orders) linkedOrder(ctx context.Context, o *rimewatch.WorkOrder, text string) (LinkedOrderData, error) {
	c := httpapi.CallOf(ctx)
	out := LinkedOrder{
		ID: o.ID, Open: o.Status.Unfinished(), Status: o.Status, Person: o.Assignee.Name, Firm: o.Assignee.Firm, Unit: o.Unit, Problem: o.Problem, Access: o.Access, Urgency: o.Urgency,
		Temperatures: []LinkedTemperature{}, Contacts: []LinkedContact{}, OnWayAt: o.OnWayAt, OnSiteAt: o.OnSiteAt, DoneAt: o.DoneAt,
		Result: wire.Maybe[OrderResult]{Value: resultJSON(o.Result)}, Photos: []Attachment{}, CreatedAt: o.CreatedAt, Until: o.LinkUntil,
	}
	w, err := a.Store.Workspace(ctx, o.WorkspaceID)
	if err != nil {
		return LinkedOrderData{}, err
	}
	out.Workspace, out.Timezone = w.Name, w.TimeZone
	for _, fill := range []func(context.Context, *rimewatch.WorkOrder, *LinkedOrder) error{a.linkedPlace, a.linkedUnit, a.linkedAlert} {
		if err := fill(ctx, o, &out); err != nil {
			return LinkedOrderData{}, err
		}
	}
	if !out.Open {
		words := phrase.In(c.Locale()).At(rimewatch.ZoneOf(out.Timezone))
		out.State = words.Sayf("This order was reported as done %s. Thank you.", words.Moment(o.DoneAt))
	}
	files, err := a.Store.Records().OrderAttachments(ctx, o.WorkspaceID, o.ID)
	for i := range files {
		x := attachmentJSON(&files[i])
		x.URL = fmt.Sprintf("%s%s/attachments/%d", OrderTicketPath, text, x.ID)
		out.Photos = append(out.Photos, x)
	}
	return LinkedOrderData{out}, err
}

// linkedPlace fills in the site and its contacts.
func (a *orders) linkedPlace(ctx context.Context, o *rimewatch.WorkOrder, out *LinkedOrder) error {
	if o.SiteID == 0 {
		return nil
	}
	site, err := a.Store.Sites().Get(ctx, o.WorkspaceID, o.SiteID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	out.Site, out.Address, out.Timezone = site.Name, site.Address, site.TimeZone
	list, _, err := a.Store.Contacts().Select(ctx, o.WorkspaceID, store.Selection{SiteID: o.SiteID})
	for i := range list {
		if k := &list[i]; k.ID != o.ContactID {
			out.Contacts = append(out.Contacts, LinkedContact{k.Name, k.Role, k.Company, k.Phone})
		}
	}
	return err
}

// linkedUnit fills in the unit, and how warm it was.
func (a *orders) linkedUnit(ctx context.Context, o *rimewatch.WorkOrder, out *LinkedOrder) error {
	c := httpapi.CallOf(ctx)
	v, ok := a.Store.DeviceByID(o.DeviceID)
	if !ok {
		return nil
	}
	out.Serial, out.Manufacturer, out.Model = v.Serial, v.Manufacturer, v.Model
	if e, ok := rimewatch.EquipmentBySlug(v.EquipmentType); ok {
		out.Equipment = phrase.In(c.Locale()).Say(e.Label)
	}
	to := c.Now
	if o.DoneAt != 0 {
		to = o.DoneAt
	}
	list, err := a.Reports.Temperatures(ctx, o.DeviceID, to-linkedDay, to)
	for i := range list {
		out.Temperatures = append(out.Temperatures, LinkedTemperature{list[i].At, list[i].Min, list[i].Max})
	}
	return err
}

func (a *orders) linkedAlert(ctx context.Context, o *rimewatch.WorkOrder, out *LinkedOrder) error {
	v, found, err := a.alertOf(ctx, o)
	if err != nil || !found {
		return err
	}
	card, err := a.Card(ctx, &v, httpapi.CallOf(ctx).Locale())
	out.Alert = wire.Maybe[wire.Card]{Value: &card}
	return err
}

func (a *orders) lookAtOrder(ctx context.Context, in *TicketInput) (LinkedOrderData, error) {
	_, o, err := a.believe(ctx, in.Ticket)
	if err != nil {
		return LinkedOrderData{}, err
	}
	return a.linkedOrder(ctx, &o, in.Ticket)
}

// moveLinked changes the order of a link.
func (a *orders) moveLinked(move func(*rimewatch.WorkOrder, rimewatch.Time) error) func(context.Context, *TicketInput) (LinkedOrderData, error) {
	return func(ctx context.Context, in *TicketInput) (LinkedOrderData, error) {
		acting, o, err := a.believe(ctx, in.Ticket)
		if err != nil {
			return LinkedOrderData{}, err
		}
		now := httpapi.CallOf(ctx).Now
		o, err = a.Store.Records().WorkOrders().Update(acting, o.WorkspaceID, o.ID, func(o *rimewatch.WorkOrder) error {
			o.UpdatedAt = now
			return move(o, now)
		})
		if err != nil {
			return LinkedOrderData{}, err
		}
		return a.linkedOrder(ctx, &o, in.Ticket)
	}
}

func (a *orders) finishLinked(ctx context.Context, in *TicketBody[OrderReport]) (LinkedOrderData, error) {
	acting, o, err := a.believe(ctx, in.Ticket)
	if err != nil {
		return LinkedOrderData{}, err
	}
	if o, err = a.complete(acting, o.WorkspaceID, o.ID, in.Body.result(*o.Assignee), a.byLink(&o)); err != nil {
		return LinkedOrderData{}, err
	}
	return a.linkedOrder(ctx, &o, in.Ticket)
}

func (a *orders) attachLinked(c *httpapi.Call) error {
	acting, o, err := a.believe(c.R.Context(), c.R.PathValue("ticket"))
	if err == nil {
		err = o.Finished()
	}
	if err != nil {
		return err
	}
	x, err := a.attachFile(acting, c, &o, *o.Assignee)
	if err != nil {
		return err
	}
	out := attachmentJSON(x)
	out.URL = fmt.Sprintf("%s%s/attachments/%d", OrderTicketPath, c.R.PathValue("ticket"), x.ID)
	return c.Data(http.StatusCreated, AttachmentData{out})
}

func (a *orders) linkedAttachment(c *httpapi.Call) error {
	ctx, o, err := a.believe(c.R.Context(), c.R.PathValue("ticket"))
	if err != nil {
		return err
	}
	file := (&httpapi.IDInput{ID: c.R.PathValue("attachment_id")}).Number()
	x, data, err := a.Store.Records().OrderAttachment(ctx, o.WorkspaceID, o.ID, file)
	if err != nil {
		return err
	}
	return a.sendAttachment(c, &x, data)
}

func (a *orders) linkRoutes() []httpapi.Route {
	look := []rimewatch.Code{rimewatch.CodeNotFound, rimewatch.CodeForbidden, rimewatch.CodeRateLimited}
	use := append([]rimewatch.Code{rimewatch.CodeConflict}, look...)
	const path, tag = orderLinks + "{ticket}", "Records"
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: path, ID: "look-at-work-order", Tag: tag, Summary: "See the order of a link", Access: httpapi.Public, Also: look,
			Description: "The link of an order works for 30 days, for whoever has it, and shows that order alone. Looking changes nothing. 403 says that it has expired, was replaced, or that the order was cancelled.",
			Bind:        httpapi.Handle(a.lookAtOrder),
		},
		{
			Method: http.MethodPost, Path: path + "/on-way", ID: "set-out-for-work-order", Tag: tag, Summary: "Say by a link that one is on the way", Access: httpapi.Public, Also: use,
			Bind: httpapi.Handle(a.moveLinked((*rimewatch.WorkOrder).SetOut)),
		},
		{
			Method: http.MethodPost, Path: path + "/on-site", ID: "arrive-for-work-order", Tag: tag, Summary: "Say by a link that one is there", Access: httpapi.Public, Also: use,
			Bind: httpapi.Handle(a.moveLinked((*rimewatch.WorkOrder).Arrive)),
		},
		{
			Method: http.MethodPost, Path: path + "/done", ID: "report-work-order", Tag: tag, Summary: "Report by a link what was done", Access: httpapi.Public, Body: httpapi.JSONBody, Also: use,
			Description: "Once. The record says that it was reported by the link, in the name of the contact that has the order.", Bind: httpapi.Handle(a.finishLinked),
		},
		{
			Method: http.MethodPost, Path: path + "/attachments", ID: "attach-by-work-order-link", Tag: tag, Summary: "Attach a photo by a link", Access: httpapi.Public,
			Body: httpapi.BodyRule{Types: attachmentTypes, Bulk: true}, Status: http.StatusCreated, Also: append([]rimewatch.Code{rimewatch.CodeQuotaExceeded}, use...),
			Description: "As to a work order, while it is not finished.", Bind: httpapi.Raw[TicketFileInput, AttachmentData](a.attachLinked),
		},
		{
			Method: http.MethodGet, Path: path + "/attachments/{attachment_id}", ID: "get-attachment-by-work-order-link", Tag: tag, Summary: "Get a photo by a link", Access: httpapi.Public, Also: look, File: attachmentTypes,
			Description: "Its bytes.", Bind: httpapi.Raw[TicketAttachmentInput, httpapi.Done](a.linkedAttachment),
		},
	}
}
