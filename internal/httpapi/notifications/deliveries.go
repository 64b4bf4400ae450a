package notifications

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Delivery is one message to one channel.
type Delivery struct {
	ID            int64                     `json:"id"`
	Key           string                    `json:"key" doc:"Stable across retries, and the webhook-id of a webhook: receivers can deduplicate by it."`
	AlertID       *int64                    `json:"alert_id" doc:"null for tests, digests and reports."`
	Kind          rimewatch.DeliveryKind    `json:"kind" enum:"opened,escalated,repeat,recovery,digest,test,fallback,report,unrouted,hand_over,check"`
	Level         int                       `json:"level" doc:"Escalation level, from 0."`
	Status        rimewatch.DeliveryStatus  `json:"status" enum:"pending,sent,failed,dropped" doc:"failed: not retried any more; dropped: pointless by then."`
	Attempts      int                       `json:"attempts"`
	Channel       DeliveryChannel           `json:"channel"`
	Route         wire.Maybe[DeliveryRoute] `json:"route" doc:"null for the default route, tests and fallbacks."`
	CreatedAt     rimewatch.Time            `json:"created_at" nullable:"false"`
	NextAttemptAt rimewatch.Time            `json:"next_attempt_at" doc:"null unless it is pending."`
	SentAt        rimewatch.Time            `json:"sent_at"`
	LastError     *string                   `json:"last_error"`
}

// DeliveryChannel names a channel, which may be deleted by now.
type DeliveryChannel struct {
	ID   int64                 `json:"id"`
	Name string                `json:"name"`
	Kind rimewatch.ChannelKind `json:"kind" enum:"email,webhook,service,call,push"`
}

// DeliveryRoute names a route, which may be deleted by now.
type DeliveryRoute struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func deliveryJSON(d *rimewatch.Delivery, names *store.DeliveryNames, say func(english string) string) Delivery {
	ch := names.Channels[d.ChannelID]
	out := Delivery{
		ID: d.ID, Key: d.Key, AlertID: wire.OrNull(d.AlertID), Kind: d.Kind, Level: d.Level, Status: d.Status, Attempts: d.Attempts,
		Channel: DeliveryChannel{d.ChannelID, ch.Name, ch.Kind}, CreatedAt: d.CreatedAt, SentAt: d.SentAt, LastError: wire.OrNull(rimewatch.SentenceOf(d.LastError).In(say)),
	}
	if d.RouteID != 0 {
		out.Route.Value = &DeliveryRoute{d.RouteID, names.Routes[d.RouteID]}
	}
	if d.Status == rimewatch.DeliveryPending {
		out.NextAttemptAt = d.NextAttemptAt
	}
	return out
}

func (a *api) deliveriesJSON(ctx context.Context, list []rimewatch.Delivery) ([]Delivery, error) {
	names, err := a.Store.Outbox().DeliveryNames(ctx, httpapi.CallOf(ctx).Workspace())
	if err != nil {
		return nil, err
	}
	words := httpapi.CallOf(ctx).Words()
	out := make([]Delivery, len(list))
	for i := range list {
		out[i] = deliveryJSON(&list[i], &names, words.Say)
	}
	return out, nil
}

// DeliveryData is the data of answers about one delivery.
type DeliveryData struct {
	Delivery Delivery `json:"delivery"`
}

func (a *api) deliveryData(ctx context.Context, send func() (rimewatch.Delivery, error)) (DeliveryData, error) {
	d, err := send()
	if err != nil {
		return DeliveryData{}, err
	}
	out, err := a.deliveriesJSON(ctx, []rimewatch.Delivery{d})
	if err != nil {
		return DeliveryData{}, err
	}
	return DeliveryData{out[0]}, nil
}

// AlertDeliveryList is who was notified of an alert.
type AlertDeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
}

func (a *api) listAlertDeliveries(ctx context.Context, in *httpapi.AlertIDInput) (AlertDeliveryList, error) {
	id := in.Number()
	workspace := httpapi.CallOf(ctx).Workspace()
	if _, err := a.Store.Alert(ctx, workspace, id); err != nil {
		return AlertDeliveryList{}, err
	}
	list, err := a.Store.Outbox().AlertDeliveries(ctx, workspace, id)
	if err != nil {
		return AlertDeliveryList{}, err
	}
	out, err := a.deliveriesJSON(ctx, list)
	return AlertDeliveryList{out}, err
}

// DeliveryListInput selects a part of a channel's log.
type DeliveryListInput struct {
	httpapi.IDInput
	httpapi.PageInput
}

// DeliveryList is a page of a channel's log.
type DeliveryList struct {
	Deliveries []Delivery      `json:"deliveries"`
	Pagination wire.Pagination `json:"pagination"`
}

func (a *api) listChannelDeliveries(ctx context.Context, in *DeliveryListInput) (DeliveryList, error) {
	id := in.Number()
	c := httpapi.CallOf(ctx)
	if _, err := a.Store.Routing().Channels().Get(ctx, c.Workspace(), id); err != nil {
		return DeliveryList{}, err
	}
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorDeliveries, Owner: id}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.Delivery, int, error) {
		return a.Store.Outbox().Deliveries(ctx, c.Workspace(), id, store.Page{After: from.A, Offset: from.Offset, Limit: from.Limit})
	}, func(d *rimewatch.Delivery) (int64, int64) { return d.ID, 0 })
	if err != nil {
		return DeliveryList{}, err
	}
	out, err := a.deliveriesJSON(ctx, list)
	return DeliveryList{out, page}, err
}

func (a *api) resendDelivery(ctx context.Context, in *httpapi.IDInput) (DeliveryData, error) {
	id := in.Number()
	c := httpapi.CallOf(ctx)
	d, err := a.Store.Outbox().Delivery(ctx, c.Workspace(), id)
	if err != nil {
		return DeliveryData{}, err
	}
	if _, err := a.Store.Routing().Channels().Get(ctx, c.Workspace(), d.ChannelID); rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return DeliveryData{}, rimewatch.Errorf(rimewatch.CodeConflict, "The channel was deleted.")
	} else if err != nil {
		return DeliveryData{}, err
	}
	if err := a.maySend(c); err != nil {
		return DeliveryData{}, err
	}
	return a.deliveryData(ctx, func() (rimewatch.Delivery, error) { return a.Notifier.Resend(ctx, c.Workspace(), id) })
}

func (a *api) deliveryRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/alerts/{id}/deliveries", Sited: true, ID: "list-alert-deliveries", Tag: "Notifications", Summary: "List the deliveries of an alert",
			Access: httpapi.Scope(rimewatch.ScopeAlertsRead), Description: "Oldest first.", Bind: httpapi.Handle(a.listAlertDeliveries),
		},
		{
			Method: http.MethodPost, Path: "/v1/deliveries/{id}/resend", ID: "resend-delivery", Tag: "Notifications", Summary: "Send a message again",
			Access: httpapi.Scope(rimewatch.ScopeNotifications), Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "A delivery that was never sent is retried under its key; one that was sent becomes a new delivery. Does not wait for the outcome. 409 when the channel was deleted.", Bind: httpapi.Handle(a.resendDelivery),
		},
	}
}
