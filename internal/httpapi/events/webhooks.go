package events

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Notifier sends to webhooks.
type Notifier interface {
	Ping(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error)
	Replay(ctx context.Context, workspaceID, id, after int64) (rimewatch.Webhook, error)
	// WebhooksChanged hears of every change.
	WebhooksChanged(workspaceID int64)
}

// Webhook sends events to a program.
type Webhook struct {
	ID             int64                 `json:"id"`
	Description    string                `json:"description"`
	URL            string                `json:"url" doc:"Scheme and host alone: the rest may be a credential." example:"https://erp.example.com/•••"`
	Types          []rimewatch.EventType `json:"types" doc:"Empty = all." example:"[\"alert.opened\",\"alert.resolved\"]"`
	SiteIDs        rimewatch.Sites       `json:"site_ids,omitempty" doc:"Events at these sites alone. Absent = all, and what belongs to no site."`
	Headers        []string              `json:"headers" doc:"Names of the headers that are sent along; their values may be credentials."`
	Enabled        bool                  `json:"enabled"`
	OffReason      *string               `json:"off_reason" doc:"Why the service switched it off; null if it did not."`
	Working        *bool                 `json:"working" doc:"Whether the last attempt succeeded; null before the first."`
	LastSuccessAt  rimewatch.Time        `json:"last_success_at"`
	LastFailureAt  rimewatch.Time        `json:"last_failure_at"`
	LastError      *string               `json:"last_error"`
	FailingSince   rimewatch.Time        `json:"failing_since" doc:"null while it works. After five days it is switched off."`
	Waiting        int64                 `json:"waiting" doc:"Events of the workspace that were not looked at for it yet, because too many deliveries wait."`
	OldSecretUntil rimewatch.Time        `json:"old_secret_until" doc:"Until then the secret before also signs; null when there is none."`
	CreatedAt      rimewatch.Time        `json:"created_at" nullable:"false"`
	UpdatedAt      rimewatch.Time        `json:"updated_at" nullable:"false"`
}

// WebhookList are webhooks of a workspace.
type WebhookList struct {
	httpapi.Paged
	Webhooks []Webhook `json:"webhooks"`
}

// WebhookData is the data of answers about one webhook.
type WebhookData struct {
	Webhook Webhook `json:"webhook"`
}

// NewWebhook is the data of answers that show a secret.
type NewWebhook struct {
	Webhook Webhook `json:"webhook"`
	Secret  *string `json:"secret" doc:"What signs, shown once: whsec_… of Standard Webhooks." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
}

func (a *api) webhookJSON(ctx context.Context, w *rimewatch.Webhook, newest int64) Webhook {
	c := httpapi.CallOf(ctx)
	out := Webhook{
		ID: w.ID, Description: w.Description, URL: w.MaskedURL(), Types: w.Types, SiteIDs: w.SiteIDs, Headers: w.HeaderNames(), Enabled: w.Enabled,
		OffReason:     wire.OrNull(rimewatch.SentenceOf(w.OffReason).In(c.Words().Say)),
		LastSuccessAt: w.LastSuccessAt, LastFailureAt: w.LastFailureAt, LastError: wire.OrNull(rimewatch.SentenceOf(w.LastError).In(c.Words().Say)),
		FailingSince: w.FailingSince, Waiting: max(newest-w.Through, 0), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
	if out.Types == nil {
		out.Types = []rimewatch.EventType{}
	}
	if works, tried := w.Working(); tried {
		out.Working = &works
	}
	if len(w.Secrets(c.Now)) > 1 {
		out.OldSecretUntil = w.OldSecretUntil
	}
	return out
}

func (a *api) newest(ctx context.Context) (int64, error) {
	_, newest, err := a.Store.Outbox().EventRange(ctx, httpapi.CallOf(ctx).Workspace())
	return newest, err
}

func (a *api) listWebhooks(ctx context.Context, list []rimewatch.Webhook) (WebhookList, error) {
	newest, err := a.newest(ctx)
	out := WebhookList{Webhooks: make([]Webhook, len(list))}
	for i := range list {
		out.Webhooks[i] = a.webhookJSON(ctx, &list[i], newest)
	}
	return out, err
}

func (a *api) showWebhook(ctx context.Context, w *rimewatch.Webhook) (WebhookData, error) {
	newest, err := a.newest(ctx)
	return WebhookData{a.webhookJSON(ctx, w, newest)}, err
}

// WebhookFields are what is set on a webhook.
type WebhookFields struct {
	Description *string                   `json:"description,omitempty" maxLength:"200"`
	Types       *[]rimewatch.EventType    `json:"types,omitempty" maxItems:"100" doc:"Types of events; empty = all, also those to come. Each needs the scope of what it is about. reading.batch, which is none of them and has to be named, sends the newest reading of each device that has reported since, every ten seconds at most."`
	SiteIDs     httpapi.Optional[[]int64] `json:"site_ids,omitempty" doc:"null = all."`
	Headers     *map[string]string        `json:"headers,omitempty" doc:"Sent along with every event. They replace those before, and are never shown again."`
	Enabled     *bool                     `json:"enabled,omitempty" doc:"Default: true. When it is switched on again, what was not delivered meanwhile is sent."`
}

func (f *WebhookFields) apply(w *rimewatch.Webhook) {
	httpapi.Sent(&w.Description, f.Description)
	httpapi.Sent(&w.Types, f.Types)
	httpapi.Sent(&w.Headers, f.Headers)
	if f.SiteIDs.Sent {
		w.SiteIDs = nil
		if f.SiteIDs.Value != nil {
			w.SiteIDs = rimewatch.Sites(*f.SiteIDs.Value)
		}
	}
	if f.Enabled != nil && *f.Enabled != w.Enabled {
		w.Enabled = *f.Enabled
		w.OffReason = ""
	}
}

// WebhookCreate is the body that makes a webhook.
type WebhookCreate struct {
	URL    string  `json:"url" minLength:"1" maxLength:"2000" example:"https://erp.example.com/rimewatch"`
	Secret *string `json:"secret,omitempty" maxLength:"200" doc:"whsec_ and 24 to 64 bytes in base64. Default: a new one."`
	WebhookFields
}

// mayHear refuses a webhook that sends what the caller may not read.
func mayHear(ctx context.Context, w *rimewatch.Webhook) error {
	return httpapi.CallOf(ctx).Principal.Require(w.Needs())
}

func (a *api) createWebhook(ctx context.Context, in *httpapi.BodyInput[WebhookCreate]) (NewWebhook, error) {
	c := httpapi.CallOf(ctx)
	newest, err := a.newest(ctx)
	if err != nil {
		return NewWebhook{}, err
	}
	w := rimewatch.Webhook{WorkspaceID: c.Workspace(), URL: in.Body.URL, Enabled: true, Secret: httpapi.NewWebhookSecret(), Through: newest, CreatedAt: c.Now, UpdatedAt: c.Now}
	httpapi.Sent(&w.Secret, in.Body.Secret)
	in.Body.apply(&w)
	if err := w.Check(); err != nil {
		return NewWebhook{}, err
	}
	if err := mayHear(ctx, &w); err != nil {
		return NewWebhook{}, err
	}
	if err := a.Store.Outbox().Webhooks().Create(ctx, &w); err != nil {
		return NewWebhook{}, err
	}
	a.webhooks.Made(ctx, &w)
	return NewWebhook{a.webhookJSON(ctx, &w, newest), &w.Secret}, nil
}

// WebhookUpdate is the body that changes a webhook. Absent fields stay as they are.
type WebhookUpdate struct {
	URL *string `json:"url,omitempty" minLength:"1" maxLength:"2000"`
	WebhookFields
}

func (a *api) editWebhook(ctx context.Context, b *WebhookUpdate) (func(*rimewatch.Webhook) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(w *rimewatch.Webhook) error {
		httpapi.Sent(&w.URL, b.URL)
		b.apply(w)
		w.UpdatedAt = now
		if err := w.Check(); err != nil {
			return err
		}
		return mayHear(ctx, w)
	}, nil
}

// Rotation is the body that replaces a webhook's secret.
type Rotation struct {
	Secret  *string `json:"secret,omitempty" maxLength:"200" doc:"Default: a new one."`
	Overlap *int64  `json:"overlap_s,omitempty" minimum:"0" maximum:"2592000" doc:"For how long the secret before also signs, s. Default: a day."`
}

func (a *api) rotateWebhook(ctx context.Context, in *httpapi.IDBody[Rotation]) (NewWebhook, error) {
	c := httpapi.CallOf(ctx)
	overlap, secret := rimewatch.Day, httpapi.NewWebhookSecret()
	if in.Body.Overlap != nil {
		overlap = rimewatch.Time(*in.Body.Overlap) * rimewatch.Second
	}
	httpapi.Sent(&secret, in.Body.Secret)
	w, err := a.Store.Outbox().Webhooks().Update(ctx, c.Workspace(), in.Number(), func(w *rimewatch.Webhook) error {
		w.OldSecret, w.OldSecretUntil, w.Secret, w.UpdatedAt = w.Secret, c.Now+overlap, secret, c.Now
		return w.Check()
	})
	if err != nil {
		return NewWebhook{}, err
	}
	a.webhooks.Edited(ctx, &w)
	newest, err := a.newest(ctx)
	return NewWebhook{a.webhookJSON(ctx, &w, newest), &secret}, err
}

// EventDelivery is one event, or a ping, on its way to a webhook.
type EventDelivery struct {
	ID            int64                    `json:"id"`
	EventID       string                   `json:"event_id" doc:"The id of the event, which is the Webhook-Id of every attempt; of a ping its own." example:"evt_1_42"`
	Subject       string                   `json:"subject"`
	Status        rimewatch.DeliveryStatus `json:"status" enum:"pending,sent,failed,dropped" doc:"failed: given up after three days; dropped: sent again from an earlier event, or the webhook was switched off."`
	Attempts      int                      `json:"attempts"`
	CreatedAt     rimewatch.Time           `json:"created_at" nullable:"false"`
	NextAttemptAt rimewatch.Time           `json:"next_attempt_at" doc:"null unless it is pending."`
	SentAt        rimewatch.Time           `json:"sent_at"`
	LastError     *string                  `json:"last_error"`
}

// EventDeliveryList is a page of a webhook's log.
type EventDeliveryList struct {
	Deliveries []EventDelivery `json:"deliveries"`
	Pagination wire.Pagination `json:"pagination"`
}

// EventDeliveryData is the data of the answer about one delivery.
type EventDeliveryData struct {
	Delivery EventDelivery `json:"delivery"`
}

func deliveryJSON(c *httpapi.Call, d *rimewatch.Delivery) EventDelivery {
	out := EventDelivery{
		ID: d.ID, EventID: d.Key, Subject: d.Subject, Status: d.Status, Attempts: d.Attempts, CreatedAt: d.CreatedAt, SentAt: d.SentAt,
		LastError: wire.OrNull(rimewatch.SentenceOf(d.LastError).In(c.Words().Say)),
	}
	if n, ok := rimewatch.EventOfKey(d.Key); ok {
		out.EventID = rimewatch.EventID(d.WorkspaceID, n)
	}
	if d.Status == rimewatch.DeliveryPending {
		out.NextAttemptAt = d.NextAttemptAt
	}
	return out
}

func (a *api) pingWebhook(ctx context.Context, in *httpapi.IDInput) (EventDeliveryData, error) {
	c := httpapi.CallOf(ctx)
	if _, err := a.Store.Outbox().Webhooks().Get(ctx, c.Workspace(), in.Number()); err != nil {
		return EventDeliveryData{}, err
	}
	if _, wait := a.pings.Take(c.Workspace(), c.Now); wait > 0 {
		return EventDeliveryData{}, httpapi.ErrRateLimited(wait)
	}
	d, err := a.Notifier.Ping(ctx, c.Workspace(), in.Number())
	return EventDeliveryData{deliveryJSON(c, &d)}, err
}

// DeliveriesInput selects a part of a webhook's log.
type DeliveriesInput struct {
	httpapi.IDInput
	httpapi.PageInput
}

func (a *api) listDeliveries(ctx context.Context, in *DeliveriesInput) (EventDeliveryList, error) {
	c, id := httpapi.CallOf(ctx), in.Number()
	if _, err := a.Store.Outbox().Webhooks().Get(ctx, c.Workspace(), id); err != nil {
		return EventDeliveryList{}, err
	}
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorDeliveries, Owner: -id}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.Delivery, int, error) {
		return a.Store.Outbox().Deliveries(ctx, c.Workspace(), -id, store.Page{After: from.A, Offset: from.Offset, Limit: from.Limit})
	}, func(d *rimewatch.Delivery) (int64, int64) { return d.ID, 0 })
	out := EventDeliveryList{make([]EventDelivery, len(list)), page}
	for i := range list {
		out.Deliveries[i] = deliveryJSON(c, &list[i])
	}
	return out, err
}

// Replay is the body that has events sent again.
type Replay struct {
	From string `json:"from" minLength:"1" maxLength:"200" doc:"The id of the first event to be sent again, a cursor of GET /v1/events, behind which it begins, or an RFC 3339 time." example:"evt_1_42"`
}

func (a *api) replayWebhook(ctx context.Context, in *httpapi.IDBody[Replay]) (WebhookData, error) {
	w := httpapi.CallOf(ctx).Workspace()
	after, err := a.replayFrom(ctx, w, in.Body.From)
	if err != nil {
		return WebhookData{}, err
	}
	hook, err := a.Notifier.Replay(ctx, w, in.Number(), after)
	if err != nil {
		return WebhookData{}, err
	}
	return a.showWebhook(ctx, &hook)
}

// replayFrom is the number after which events are sent again.
func (a *api) replayFrom(ctx context.Context, workspaceID int64, from string) (after int64, err error) {
	first, newest, err := a.Store.Outbox().EventRange(ctx, workspaceID)
	if err != nil {
		return 0, err
	}
	if at, bad := rimewatch.ParseTime(from); bad == nil {
		return a.Store.Outbox().EventsSince(ctx, workspaceID, at)
	}
	if after, err = a.position(workspaceID, from); err != nil {
		return 0, rimewatch.Invalid("from", "must be an event of this workspace, a cursor, or a time")
	}
	if _, _, isEvent := rimewatch.ParseEventID(from); isEvent {
		after--
	}
	if after > newest {
		return 0, rimewatch.Invalid("from", "must be an event of this workspace, a cursor, or a time")
	}
	return after, checkKept(workspaceID, after, first)
}

// pingsPerMinute and pingBurst bound what a workspace may send by hand.
const (
	pingsPerMinute = 10
	pingBurst      = 10
)

func (a *api) webhookRoutes() []httpapi.Route {
	scope := httpapi.Scope(rimewatch.ScopeWebhooks)
	r := &httpapi.Resource[rimewatch.Webhook]{
		Path: "/v1/webhooks", ID: "webhook", Tag: "Events", One: "a webhook", Many: "webhooks", Read: scope, Write: scope,
		Things: func(context.Context) store.Resource[rimewatch.Webhook] { return a.Store.Outbox().Webhooks() },
		Key:    func(w *rimewatch.Webhook) (id, revision int64) { return w.ID, w.Revision },
		Changed: func(ctx context.Context, _ *rimewatch.Webhook) {
			a.Notifier.WebhooksChanged(httpapi.CallOf(ctx).Workspace())
		},
		Cursors: &a.cursors,

		ListText: "Where events are sent, by id.",
		CreateText: fmt.Sprintf("Sends what happens from now on to a program: each event at least once, those of one subject in order, signed as [Standard Webhooks](https://www.standardwebhooks.com) asks. "+
			"Any 2xx within ten seconds is an answer; everything else is tried again for three days. 410 switches the webhook off at once, five days of failure do, too. At most %d; 409 beyond that.", rimewatch.MaxWebhooks),
		UpdateText: "The secret is replaced by `rotate`.",
		DeleteText: "What waits is not sent any more.",
	}
	a.webhooks = r
	of := func(method, verb, id, summary, text string) httpapi.Route {
		return httpapi.Route{Method: method, Path: "/v1/webhooks/{id}/" + verb, ID: id, Tag: "Events", Summary: summary, Description: text, Access: scope}
	}
	ping := of(http.MethodPost, "ping", "ping-webhook", "Send a ping", fmt.Sprintf("Sends an event of the type `ping` now, and waits up to ten seconds for the outcome, which is in status and last_error. A workspace may send %d a minute.", pingsPerMinute))
	ping.Bind = httpapi.Handle(a.pingWebhook)
	log := of(http.MethodGet, "deliveries", "list-webhook-deliveries", "List the deliveries of a webhook", fmt.Sprintf("Newest first. The last %d are kept, for 30 days.", rimewatch.WebhookLog))
	log.Paged, log.Bind = true, httpapi.Handle(a.listDeliveries)
	replay := of(http.MethodPost, "replay", "replay-webhook", "Send events again", "From an event on, all that the webhook asks for is sent again in the same order, with the same ids. What waits is dropped for it. 409 while it is switched off; 410 `cursor_expired` names the oldest event that is kept.")
	replay.Body, replay.Also, replay.Bind = httpapi.JSONBody, []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeCursorExpired}, httpapi.Handle(a.replayWebhook)
	rotate := of(http.MethodPost, "rotate", "rotate-webhook", "Replace the secret", "Both secrets sign until the overlap is over, so that the receiver can change without a gap: Webhook-Signature then holds two signatures.")
	rotate.Body, rotate.Bind = httpapi.JSONBody, httpapi.Handle(a.rotateWebhook)
	return []httpapi.Route{
		httpapi.List(r, all, a.listWebhooks), r.CreateRow(httpapi.Handle(a.createWebhook)), httpapi.Get(r, a.showWebhook),
		httpapi.Update(r, a.editWebhook, a.showWebhook), httpapi.Delete(r), ping, log, replay, rotate,
	}
}

func all(*httpapi.Call, *httpapi.PageInput) store.Selection { return store.Selection{} }
