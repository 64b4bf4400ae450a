// Package push is the part of the REST API by which a person is notified on the
// browser or phone that they hold. Each is a channel of the kind push, so that routes,
// tests and the log of deliveries know it like any other.
package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Store keeps channels.
type Store interface {
	Routing() store.Routing
}

// Notifier sends messages now.
type Notifier interface {
	// Try sends a test by a channel that is not stored. An error with CodeConflict
	// says why it did not arrive.
	Try(ctx context.Context, c *rimewatch.Channel) (remark string, err error)
	// Tested notes that a channel took a test before it was stored.
	Tested(ctx context.Context, workspaceID, channelID int64, at rimewatch.Time) error
	// Changed is called when a workspace's channels have changed.
	Changed(workspaceID int64)
}

// Config of the routes.
type Config struct {
	Store     Store
	Notifier  Notifier
	PublicKey string // of the server, in base64url
}

type api struct {
	*httpapi.API
	Config
	tries *httpapi.Limiter // tests sent, by person
}

// How often a person may have a test sent: it reaches out to wherever the browser says.
const (
	triesPerMinute = 5
	triesBurst     = 10
)

// Routes returns the routes.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		a := &api{frame, cfg, httpapi.NewLimiter(triesPerMinute, triesBurst, "person")}
		person := httpapi.Myself
		return []httpapi.Route{
			{
				Method: http.MethodGet, Path: "/v1/me/push", Sited: true, ID: "list-push-devices", Tag: "Account", Summary: "List my devices that take notifications", Access: person,
				Description: "The key is what a browser needs to subscribe (`applicationServerKey`).", Bind: httpapi.Handle(a.list),
			},
			{
				Method: http.MethodPost, Path: "/v1/me/push", Sited: true, ID: "add-push-device", Tag: "Account", Summary: "Notify me on this device", Access: person, Body: httpapi.JSONBody,
				Also: []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeQuotaExceeded},
				Description: "Sends a test to the subscription of a browser (Push API) and makes a channel of the kind `push` of it once the push service has taken the test; " +
					"409 says why it has not. A device that is known already keeps its channel and its routes; if it was another person's, it no longer is. Somebody who is limited to sites is notified of these alone.",
				Bind: httpapi.Handle(a.add),
			},
			{
				Method: http.MethodDelete, Path: "/v1/me/push/{id}", Sited: true, ID: "remove-push-device", Tag: "Account", Summary: "Do not notify me on a device any more", Access: person,
				Description: "The channel is deleted; one that routes use is disabled.", Bind: httpapi.Handle(a.remove),
			},
		}
	}
}

// PushDevice is a browser or phone that takes notifications.
type PushDevice struct {
	ID       int64          `json:"id" doc:"Of its channel."`
	Name     string         `json:"name"`
	Endpoint string         `json:"endpoint_sha256" doc:"SHA-256 of the subscription's endpoint, in hex, by which a browser finds itself."`
	Enabled  bool           `json:"enabled"`
	Error    *string        `json:"last_error" doc:"Why the last notification did not arrive; null after one that did."`
	Since    rimewatch.Time `json:"created_at" nullable:"false"`
}

func deviceOf(c *rimewatch.Channel, say func(english string) string) PushDevice {
	sum := sha256.Sum256([]byte(c.URL))
	return PushDevice{c.ID, c.Name, hex.EncodeToString(sum[:]), c.Enabled, wire.OrNull(rimewatch.SentenceOf(c.LastError).In(say)), c.CreatedAt}
}

// PushState is what a page needs to know.
type PushState struct {
	Key     string       `json:"key" doc:"The server's public key, in base64url."`
	Devices []PushDevice `json:"devices"`
}

// devices are those of whoever asks, those of others in the workspace, and who that is.
func (a *api) devices(ctx context.Context) (me rimewatch.User, mine, others []rimewatch.Channel, err error) {
	c := httpapi.CallOf(ctx)
	if me, err = a.Auth().Person(ctx, c.Principal); err != nil {
		return me, nil, nil, err
	}
	all, err := a.Store.Routing().Channels().List(ctx, c.Workspace())
	for i := range all {
		switch {
		case all[i].Kind != rimewatch.ChannelPush:
		case slices.Equal(all[i].To, []string{me.Email}):
			mine = append(mine, all[i])
		default:
			others = append(others, all[i])
		}
	}
	return me, mine, others, err
}

func (a *api) list(ctx context.Context, _ *httpapi.NoInput) (PushState, error) {
	_, list, _, err := a.devices(ctx)
	s := PushState{Key: a.PublicKey, Devices: []PushDevice{}}
	for i := range list {
		s.Devices = append(s.Devices, deviceOf(&list[i], httpapi.CallOf(ctx).Words().Say))
	}
	return s, err
}

// PushSubscription is what a browser says of itself (PushSubscription.toJSON of the Push
// API), and its name.
type PushSubscription struct {
	Endpoint string               `json:"endpoint" minLength:"1" maxLength:"2000" doc:"https."`
	Keys     PushSubscriptionKeys `json:"keys"`
	Name     string               `json:"name" minLength:"1" maxLength:"100" doc:"Of the device; people see it with the person's name." example:"Android phone"`
	Old      string               `json:"old_endpoint,omitempty" maxLength:"2000" doc:"The endpoint that the browser had before, whose channel this becomes."`
}

// PushSubscriptionKeys are the keys that a browser decrypts with.
type PushSubscriptionKeys struct {
	P256dh string `json:"p256dh" minLength:"1" maxLength:"200" doc:"A point of P-256 in base64url."`
	Auth   string `json:"auth" minLength:"1" maxLength:"100" doc:"16 bytes in base64url."`
}

// PushDeviceData is the data of the answer about a device.
type PushDeviceData struct {
	PushDevice PushDevice `json:"device"`
}

func (a *api) add(ctx context.Context, in *httpapi.BodyInput[PushSubscription]) (PushDeviceData, error) {
	c := httpapi.CallOf(ctx)
	me, list, others, err := a.devices(ctx)
	if err != nil {
		return PushDeviceData{}, err
	}
	who := me.Name
	if who == "" {
		who = me.Email
	}
	trim := func(s string) string { return strings.TrimRight(s, "=") }
	ch := rimewatch.Channel{
		WorkspaceID: c.Workspace(), Kind: rimewatch.ChannelPush, Enabled: true, To: []string{me.Email}, Name: clip(who + " – " + in.Body.Name),
		URL: in.Body.Endpoint, Secret: trim(in.Body.Keys.P256dh) + "." + trim(in.Body.Keys.Auth), Locale: c.Locale(), CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	if err := ch.Check(); err != nil {
		return PushDeviceData{}, err
	}
	if _, wait := a.tries.Take(c.Principal.UserID, c.Now); wait > 0 {
		return PushDeviceData{}, httpapi.ErrRateLimited(wait)
	}
	if _, err := a.Notifier.Try(ctx, &ch); err != nil {
		return PushDeviceData{}, err
	}
	if i := slices.IndexFunc(list, func(x rimewatch.Channel) bool { return x.URL == ch.URL || x.URL == in.Body.Old }); i >= 0 {
		ch, err = a.Store.Routing().Channels().Update(ctx, c.Workspace(), list[i].ID, func(x *rimewatch.Channel) error {
			x.URL, x.Secret, x.Enabled, x.Locale, x.UpdatedAt = ch.URL, ch.Secret, true, ch.Locale, c.Now
			return nil
		})
	} else {
		err = a.create(ctx, &ch)
	}
	if err == nil {
		err = a.Notifier.Tested(ctx, c.Workspace(), ch.ID, c.Now)
	}
	// The browser is of whoever uses it now: who had it before is not told there any more.
	for i := range others {
		if err == nil && others[i].URL == ch.URL {
			err = a.drop(ctx, others[i].ID)
		}
	}
	if err != nil {
		return PushDeviceData{}, err
	}
	a.Notifier.Changed(c.Workspace())
	return PushDeviceData{deviceOf(&ch, c.Words().Say)}, nil
}

// sameName bounds the devices of a person with one name.
const sameName = 20

// create stores a channel under a name that is free.
func (a *api) create(ctx context.Context, ch *rimewatch.Channel) error {
	name := ch.Name
	for n := 2; ; n++ {
		err := a.Store.Routing().Channels().Create(ctx, ch)
		if e := httpapi.AsError(err); err == nil || e.Code != rimewatch.CodeConflict || n > sameName {
			return err
		}
		ch.Name = fmt.Sprintf("%s %d", name, n)
	}
}

// clip leaves room in a name for a number.
func clip(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), rimewatch.MaxNameLen-4)], "")
}

func (a *api) remove(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	id := in.Number()
	_, list, _, err := a.devices(ctx)
	if err != nil {
		return httpapi.Done{}, err
	}
	if !slices.ContainsFunc(list, func(x rimewatch.Channel) bool { return x.ID == id }) {
		return httpapi.Done{}, rimewatch.Errorf(rimewatch.CodeNotFound, "You have no such device.")
	}
	if err = a.drop(ctx, id); err == nil {
		a.Notifier.Changed(httpapi.CallOf(ctx).Workspace())
	}
	return httpapi.Done{}, err
}

// drop deletes a channel, or disables one that a route uses.
func (a *api) drop(ctx context.Context, id int64) error {
	c := httpapi.CallOf(ctx)
	err := a.Store.Routing().Channels().Delete(ctx, c.Workspace(), id)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		_, err = a.Store.Routing().Channels().Update(ctx, c.Workspace(), id, func(x *rimewatch.Channel) error {
			x.Enabled, x.UpdatedAt = false, c.Now
			return nil
		})
	}
	return err
}
