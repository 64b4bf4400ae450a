package notifications

import (
	"context"
	"net/http"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// ownKinds are the kinds of channels that a member makes for themselves, besides devices, which are made on them.
var ownKinds = []rimewatch.ChannelKind{rimewatch.ChannelEmail, rimewatch.ChannelService, rimewatch.ChannelCall}

// mine are the caller's own ways.
func (a *api) mine(ctx context.Context) (list []rimewatch.Channel, err error) {
	c := httpapi.CallOf(ctx)
	all, err := a.Store.Routing().Channels().List(ctx, c.Workspace())
	return slices.DeleteFunc(all, func(ch rimewatch.Channel) bool { return ch.OwnerID != c.Principal.UserID }), err
}

// mustBeMine is CodeNotFound unless a channel is the caller's own.
func (a *api) mustBeMine(ctx context.Context, id int64) error {
	list, err := a.mine(ctx)
	if err == nil && !slices.ContainsFunc(list, func(ch rimewatch.Channel) bool { return ch.ID == id }) {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "You have no such channel.")
	}
	return err
}

// own makes the fields those of a way of the caller: its mails go to the caller's address.
func (a *api) own(ctx context.Context, kind rimewatch.ChannelKind, f *ChannelFields) error {
	c := httpapi.CallOf(ctx)
	if kind != "" && !slices.Contains(ownKinds, kind) {
		return rimewatch.Invalid("kind", "must be email, service or call")
	}
	f.OwnerID = httpapi.Optional[int64]{Sent: true, Value: &c.Principal.UserID}
	if kind != rimewatch.ChannelEmail {
		return nil
	}
	me, err := a.Auth().Person(ctx, c.Principal)
	f.To = httpapi.Optional[[]string]{Sent: true, Value: &[]string{me.Email}}
	return err
}

func (a *api) listWays(ctx context.Context, _ *httpapi.NoInput) (ChannelList, error) {
	list, err := a.mine(ctx)
	if err != nil {
		return ChannelList{}, err
	}
	out, err := a.listChannels(ctx, list)
	out.Warning = nil // it is about all channels
	return out, err
}

func (a *api) createWay(ctx context.Context, in *httpapi.BodyInput[ChannelCreate]) (NewChannel, error) {
	list, err := a.mine(ctx)
	if err != nil {
		return NewChannel{}, err
	}
	if len(list) >= rimewatch.MaxWays {
		return NewChannel{}, rimewatch.Errorf(rimewatch.CodeQuotaExceeded, "You have %d channels of your own; more are not possible.", len(list))
	}
	if err := a.own(ctx, in.Body.Kind, &in.Body.ChannelFields); err != nil {
		return NewChannel{}, err
	}
	return a.createChannel(ctx, in)
}

func (a *api) updateWay(ctx context.Context, in *httpapi.IDBody[ChannelUpdate]) (NewChannel, error) {
	if err := a.mustBeMine(ctx, in.Number()); err != nil {
		return NewChannel{}, err
	}
	in.Body.To.Sent = false
	if err := a.own(ctx, "", &in.Body.ChannelFields); err != nil {
		return NewChannel{}, err
	}
	return a.updateChannel(ctx, in)
}

func (a *api) tryWay(ctx context.Context, in *httpapi.BodyInput[ChannelTry]) (ChannelTried, error) {
	kind := in.Body.Kind
	if in.Body.ID != 0 {
		if err := a.mustBeMine(ctx, in.Body.ID); err != nil {
			return ChannelTried{}, err
		}
		in.Body.To.Sent = false
	}
	if err := a.own(ctx, kind, &in.Body.ChannelFields); err != nil {
		return ChannelTried{}, err
	}
	return a.tryChannel(ctx, in)
}

// removeWay deletes an own way, or disables one that a route uses.
func (a *api) removeWay(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	c, id := httpapi.CallOf(ctx), in.Number()
	if err := a.mustBeMine(ctx, id); err != nil {
		return httpapi.Done{}, err
	}
	err := a.Store.Routing().Channels().Delete(ctx, c.Workspace(), id)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		_, err = a.Store.Routing().Channels().Update(ctx, c.Workspace(), id, func(ch *rimewatch.Channel) error {
			ch.Enabled, ch.UpdatedAt = false, c.Now
			return nil
		})
	}
	if err == nil {
		a.changed(ctx)
	}
	return httpapi.Done{}, err
}

func (a *api) wayRoutes() []httpapi.Route {
	const path, tag = "/v1/me/channels", "Account"
	refusals := []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeQuotaExceeded}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: path, Sited: true, ID: "list-my-channels", Tag: tag, Summary: "List my own ways of being notified", Access: httpapi.Myself,
			Description: "Beside devices (`/v1/me/push`). A step of a route that names the member, or a rota by which the member is on duty, tells by all of them, in their order.", Bind: httpapi.Handle(a.listWays),
		},
		{
			Method: http.MethodPost, Path: path, Sited: true, ID: "add-my-channel", Tag: tag, Summary: "Add a way of being notified", Access: httpapi.Myself, Body: httpapi.JSONBody, Status: http.StatusCreated, Also: refusals,
			Description: "A channel of the kind email (to the member's address), service or call that is the member's own. Somebody who is limited to sites is told of these alone.", Bind: httpapi.Handle(a.createWay),
		},
		{
			Method: http.MethodPost, Path: path + "/test", Sited: true, ID: "try-my-channel", Tag: tag, Summary: "Try a way before it is stored", Access: httpapi.Myself, Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeNotFound},
			Bind: httpapi.Handle(a.tryWay),
		},
		{
			Method: http.MethodPatch, Path: path + "/{id}", Sited: true, ID: "update-my-channel", Tag: tag, Summary: "Change a way of being notified", Access: httpapi.Myself, Body: httpapi.JSONBody, Also: []rimewatch.Code{rimewatch.CodeConflict},
			Bind: httpapi.Handle(a.updateWay),
		},
		{
			Method: http.MethodDelete, Path: path + "/{id}", Sited: true, ID: "remove-my-channel", Tag: tag, Summary: "Remove a way of being notified", Access: httpapi.Myself,
			Description: "The channel is deleted; one that routes name is disabled.", Bind: httpapi.Handle(a.removeWay),
		},
	}
}
