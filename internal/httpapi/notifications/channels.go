package notifications

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Notifier sends messages now.
type Notifier interface {
	// Test sends a test message to a channel and waits for the outcome, at most ten
	// seconds. A message that was refused is a delivery that failed, not an error.
	Test(ctx context.Context, workspaceID, channelID int64) (rimewatch.Delivery, error)
	// Try sends a test by a channel that is not stored. An error with CodeConflict
	// says why it did not arrive.
	Try(ctx context.Context, c *rimewatch.Channel) (remark string, err error)
	// Tested notes that a channel took a test before it was stored with the settings
	// that it has.
	Tested(ctx context.Context, workspaceID, channelID int64, at rimewatch.Time) error
	// Missing says why a kind of channel cannot be used here, "" = it can.
	Missing(k rimewatch.ChannelKind) string
	// Resend sends a delivery again and does not wait. One that was not sent keeps
	// its key; one that was becomes a new delivery.
	Resend(ctx context.Context, workspaceID, deliveryID int64) (rimewatch.Delivery, error)
	// SendReport sends the last report of a schedule and does not wait: CodeConflict
	// when it cannot be sent.
	SendReport(ctx context.Context, workspaceID, scheduleID int64) ([]rimewatch.Delivery, error)
	// Check reports whether a channel could be used: CodeValidationFailed. It
	// connects to nothing.
	Check(c *rimewatch.Channel) error
	// Changed is called when a workspace's channels, routes or silences have changed.
	Changed(workspaceID int64)
}

// How often a workspace may have something sent by hand: a test reaches out to
// wherever its channel points.
const (
	sendPerMinute = 10
	sendBurst     = 20
)

// ChannelList are the channels of a workspace.
type ChannelList struct {
	httpapi.Paged
	Channels    []wire.Channel    `json:"channels"`
	Warning     *string           `json:"warning" doc:"Set while no channel is known to work."`
	Unavailable []UnavailableKind `json:"unavailable" doc:"Kinds of channels that cannot be used on this server, with the reason."`
}

// UnavailableKind is a kind of channel that cannot be used here.
type UnavailableKind struct {
	Kind   rimewatch.ChannelKind `json:"kind" enum:"email,webhook,service,call"`
	Reason string                `json:"reason" example:"this server has no mail server (--smtp-host)"`
}

func (a *api) listChannels(ctx context.Context, list []rimewatch.Channel) (ChannelList, error) {
	words := httpapi.CallOf(ctx).Words()
	out := ChannelList{Channels: make([]wire.Channel, len(list)), Warning: wire.NewNotificationState(list).Warning, Unavailable: []UnavailableKind{}}
	for i := range list {
		out.Channels[i] = wire.NewChannel(&list[i], words.Say)
	}
	for _, k := range []rimewatch.ChannelKind{rimewatch.ChannelEmail, rimewatch.ChannelWebhook, rimewatch.ChannelService, rimewatch.ChannelCall} {
		if why := a.Notifier.Missing(k); why != "" {
			out.Unavailable = append(out.Unavailable, UnavailableKind{k, words.Say(why)})
		}
	}
	return out, nil
}

// ChannelData is the data of answers about one channel.
type ChannelData struct {
	Channel wire.Channel `json:"channel"`
}

// NewChannel is the answer with a channel and its new secret.
type NewChannel struct {
	Channel wire.Channel `json:"channel"`
	Secret  *string      `json:"secret,omitempty" doc:"Signs the messages of a webhook. Shown only when it is set or generated."`
}

func showChannel(ctx context.Context, ch *rimewatch.Channel) (ChannelData, error) {
	return ChannelData{wire.NewChannel(ch, httpapi.CallOf(ctx).Words().Say)}, nil
}

// ChannelFields are the settings of a channel. Absent fields stay as they
// are; null goes back to the default.
type ChannelFields struct {
	Enabled    httpapi.Optional[bool]     `json:"enabled,omitempty" doc:"Default: true."`
	To         httpapi.Optional[[]string] `json:"to,omitempty" maxItems:"20" doc:"Addresses of an e-mail channel."`
	URL        httpapi.Optional[string]   `json:"url,omitempty" maxLength:"2000" doc:"Where a webhook is sent: http or https, without user and password. For a service, its URL in the form of shoutrrr. For a phone call, twilio://ACCOUNT_SID:AUTH_TOKEN@call?from=NUMBER&to=NUMBER."`
	Secret     httpapi.Optional[string]   `json:"secret,omitempty" maxLength:"200" doc:"Signs the messages of a webhook, as in Standard Webhooks: whsec_ and 24 to 64 bytes as base64. Generated if absent on creation; null generates a new one."`
	FallbackID httpapi.Optional[int64]    `json:"fallback_channel_id,omitempty" minimum:"1" doc:"The channel that is notified when this one keeps failing. Default: any other that works."`
	OwnerID    httpapi.Optional[int64]    `json:"owner_id,omitempty" minimum:"1" doc:"The user id of the member whose own way it is: steps that name the member, or a rota, tell by it. Default: nobody's."`
	AfterS     httpapi.Optional[int]      `json:"after_s,omitempty" minimum:"0" maximum:"3600" doc:"Of an own way: seconds that it waits for the member to take on an alert that came by another of theirs. Default: 0."`
	QuietFrom  httpapi.Optional[string]   `json:"quiet_from,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 22:00" doc:"Of an own way, with quiet_to: warnings wait; critical alerts do not. Default: none."`
	QuietTo    httpapi.Optional[string]   `json:"quiet_to,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 06:00"`
	Language   httpapi.Optional[string]   `json:"language,omitempty" maxLength:"16" doc:"Of its messages, such as es. Default: English."`
	Units      httpapi.Optional[string]   `json:"units,omitempty" enum:"c,f" doc:"Default: c."`
	Clock      httpapi.Optional[string]   `json:"clock,omitempty" enum:"24h,12h" doc:"Default: 24h."`
	Dates      httpapi.Optional[string]   `json:"dates,omitempty" enum:"dmy,mdy,ymd" doc:"Default: dmy."`
}

// apply changes c and returns the secret that is to be shown, if any.
func (f *ChannelFields) apply(c *rimewatch.Channel) (shown string) {
	f.Enabled.Set(&c.Enabled, true)
	f.To.Set(&c.To, nil)
	f.URL.Set(&c.URL, "")
	f.FallbackID.Set(&c.FallbackID, 0)
	f.OwnerID.Set(&c.OwnerID, 0)
	f.AfterS.Set(&c.AfterS, 0)
	f.applyQuiet(c)
	f.Language.Set(&c.Language, "")
	f.Units.Set(&c.Units, "")
	f.Clock.Set(&c.Clock, "")
	f.Dates.Set(&c.Dates, "")
	if !f.Secret.Sent {
		return ""
	}
	f.Secret.Set(&c.Secret, "")
	if c.Kind == rimewatch.ChannelWebhook && f.Secret.Value == nil {
		c.Secret = httpapi.NewWebhookSecret()
	}
	return c.Secret
}

// applyQuiet sets the quiet hours of c: of one time alone the other is midnight, none of both is none.
func (f *ChannelFields) applyQuiet(c *rimewatch.Channel) {
	if !f.QuietFrom.Sent && !f.QuietTo.Sent {
		return
	}
	if f.QuietFrom.Value == nil && f.QuietTo.Value == nil {
		c.Quiet = nil
		return
	}
	q := rimewatch.QuietHours{}
	if c.Quiet != nil {
		q = *c.Quiet
	}
	if v := f.QuietFrom.Value; v != nil {
		q.From = wire.MinuteOf(*v)
	}
	if v := f.QuietTo.Value; v != nil {
		q.To = wire.MinuteOf(*v)
	}
	c.Quiet = &q
}

// checkChannel reports whether a channel can be stored and used.
func (a *api) checkChannel(c *rimewatch.Channel) error {
	if err := c.Check(); err != nil {
		return err
	}
	return a.Notifier.Check(c)
}

// ChannelCreate is the body that makes a channel.
type ChannelCreate struct {
	Name string                `json:"name" minLength:"1" maxLength:"200" doc:"Unique in the workspace, without case."`
	Kind rimewatch.ChannelKind `json:"kind" enum:"email,webhook,service,call"`
	ChannelFields
	ChannelReceipt
}

func (a *api) createChannel(ctx context.Context, in *httpapi.BodyInput[ChannelCreate]) (NewChannel, error) {
	c := httpapi.CallOf(ctx)
	ch := rimewatch.Channel{WorkspaceID: c.Workspace(), Name: in.Body.Name, Kind: in.Body.Kind, Enabled: true, CreatedAt: c.Now, UpdatedAt: c.Now}
	if ch.Kind == rimewatch.ChannelWebhook {
		in.Body.Secret.Sent = true
	}
	secret := in.Body.apply(&ch)
	if err := a.checkChannel(&ch); err != nil {
		return NewChannel{}, err
	}
	if err := a.Store.Routing().Channels().Create(ctx, &ch); err != nil {
		return NewChannel{}, err
	}
	a.takeReceipt(ctx, in.Body.Receipt, &ch)
	a.channels.Made(ctx, &ch)
	return NewChannel{wire.NewChannel(&ch, c.Words().Say), wire.OrNull(secret)}, nil
}

// ChannelUpdate is the body that changes a channel. Its kind is for ever.
type ChannelUpdate struct {
	Name *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
	ChannelFields
	ChannelReceipt
}

func (a *api) updateChannel(ctx context.Context, in *httpapi.IDBody[ChannelUpdate]) (NewChannel, error) {
	c := httpapi.CallOf(ctx)
	var secret string
	ch, err := a.Store.Routing().Channels().Update(ctx, c.Workspace(), in.Number(), func(ch *rimewatch.Channel) error {
		if in.Body.Name != nil {
			ch.Name = *in.Body.Name
		}
		secret = in.Body.apply(ch)
		ch.UpdatedAt = c.Now
		return a.checkChannel(ch)
	})
	if err != nil {
		return NewChannel{}, err
	}
	a.takeReceipt(ctx, in.Body.Receipt, &ch)
	a.channels.Edited(ctx, &ch)
	return NewChannel{wire.NewChannel(&ch, c.Words().Say), wire.OrNull(secret)}, nil
}

func (a *api) testChannel(ctx context.Context, in *httpapi.IDInput) (DeliveryData, error) {
	id := in.Number()
	c := httpapi.CallOf(ctx)
	if _, err := a.Store.Routing().Channels().Get(ctx, c.Workspace(), id); err != nil {
		return DeliveryData{}, err
	}
	if err := a.maySend(c); err != nil {
		return DeliveryData{}, err
	}
	return a.deliveryData(ctx, func() (rimewatch.Delivery, error) { return a.Notifier.Test(ctx, c.Workspace(), id) })
}

// ChannelTry is the body that tries settings before they are stored.
type ChannelTry struct {
	ID   int64                 `json:"channel_id,omitempty" minimum:"1" doc:"A stored channel, whose settings hold where the body has none."`
	Name string                `json:"name,omitempty" maxLength:"200" doc:"Named in the message."`
	Kind rimewatch.ChannelKind `json:"kind,omitempty" enum:"email,webhook,service,call" doc:"Needed without channel_id."`
	ChannelFields
}

// ChannelTried is the result of a try.
type ChannelTried struct {
	Sent    bool    `json:"sent" doc:"The receiver took the message."`
	Error   *string `json:"error" doc:"Why not; or what did not work although it was taken."`
	Receipt *string `json:"receipt" doc:"Of a message that was taken: a channel that is stored with these settings and this receipt counts as tested."`
}

func (a *api) tryChannel(ctx context.Context, in *httpapi.BodyInput[ChannelTry]) (ChannelTried, error) {
	c := httpapi.CallOf(ctx)
	ch := rimewatch.Channel{WorkspaceID: c.Workspace(), Kind: in.Body.Kind}
	if in.Body.ID != 0 {
		stored, err := a.Store.Routing().Channels().Get(ctx, c.Workspace(), in.Body.ID)
		switch {
		case err != nil:
			return ChannelTried{}, err
		case ch.Kind != "" && ch.Kind != stored.Kind:
			return ChannelTried{}, rimewatch.Invalid("kind", "is set by the channel and cannot be changed")
		}
		ch = stored
	} else if ch.Kind == rimewatch.ChannelWebhook && in.Body.Secret.Value == nil {
		in.Body.Secret.Sent = true
	}
	if ch.Kind == "" {
		return ChannelTried{}, rimewatch.Invalid("kind", "is needed without channel_id")
	}
	ch.Name = cmp.Or(in.Body.Name, ch.Name, string(ch.Kind))
	in.Body.apply(&ch)
	ch.Enabled = true
	if err := a.checkChannel(&ch); err != nil {
		return ChannelTried{}, err
	}
	if err := a.maySend(c); err != nil {
		return ChannelTried{}, err
	}
	// Before it is sent: every message from this server leaves a trace.
	detail := store.Fields{"kind": ch.Kind, "name": ch.Name, "to": ch.To, "url": ch.MaskedURL()}
	if err := a.Store.Audit().AuditWorkspace(ctx, c.Workspace(), "channel.tried", fmt.Sprintf("channel %d", ch.ID), detail); err != nil {
		return ChannelTried{}, err
	}
	remark, err := a.Notifier.Try(ctx, &ch)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return ChannelTried{Error: wire.OrNull(c.Shown(err).Message)}, nil
	}
	if err != nil {
		return ChannelTried{}, err
	}
	return ChannelTried{true, wire.OrNull(rimewatch.SentenceOf(remark).In(c.Words().Say)), wire.OrNull(a.receipt(&ch, c.Now))}, nil
}

// maySend counts the messages that people send by hand.
func (a *api) maySend(c *httpapi.Call) error {
	if _, wait := a.sendLimit.Take(c.Workspace(), c.Now); wait > 0 {
		return httpapi.ErrRateLimited(wait)
	}
	return nil
}

func (a *api) channelRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeNotifications)
	conflict := []rimewatch.Code{rimewatch.CodeConflict}
	r := &httpapi.Resource[rimewatch.Channel]{
		Path: "/v1/channels", ID: "channel", Tag: "Notifications", One: "a channel", Many: "channels", Read: admin, Write: admin,
		Things:  func(context.Context) store.Resource[rimewatch.Channel] { return a.Store.Routing().Channels() },
		Key:     func(c *rimewatch.Channel) (id, revision int64) { return c.ID, c.Revision },
		Named:   func(c *rimewatch.Channel) string { return c.Name },
		Changed: func(ctx context.Context, _ *rimewatch.Channel) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText:   "How people are notified of alerts.",
		CreateText: "Without any route, every enabled channel is notified of everything immediately. URLs and secrets are credentials: they are never shown again.",
		DeleteText: "409 while a route uses it. Messages still waiting for it are dropped; its log is kept.",
		Also:       conflict, DeleteAlso: conflict,
	}
	a.channels = r
	return []httpapi.Route{
		httpapi.List(r, httpapi.All, a.listChannels), r.CreateRow(httpapi.Handle(a.createChannel)), httpapi.Get(r, showChannel),
		r.UpdateRow(httpapi.Handle(a.updateChannel)), httpapi.Delete(r),
		{
			Method: http.MethodPost, Path: "/v1/channels/{id}/test", ID: "test-channel", Tag: "Notifications", Summary: "Send a test", Access: admin,
			Description: fmt.Sprintf("Sends now and waits up to ten seconds for the outcome, which is in the delivery's status and last_error. A workspace may send %d a minute by hand.", sendPerMinute),
			Bind:        httpapi.Handle(a.testChannel),
		},
		{
			Method: http.MethodPost, Path: "/v1/channels/test", ID: "try-channel", Tag: "Notifications", Summary: "Try settings before they are stored", Access: admin, Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeNotFound},
			Description: "Sends a test by a channel as it would be, and stores nothing but an entry in the audit trail. Counts like a test of a stored channel.",
			Bind:        httpapi.Handle(a.tryChannel),
		},
		{
			Method: http.MethodGet, Path: "/v1/channels/{id}/deliveries", ID: "list-channel-deliveries", Tag: "Notifications", Summary: "List the deliveries of a channel", Access: admin, Paged: true,
			Description: "Newest first.", Bind: httpapi.Handle(a.listChannelDeliveries),
		},
	}
}
