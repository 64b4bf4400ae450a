package notifications

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// TicketPath is where links in messages are looked at and used: TicketPath and a ticket.
const TicketPath = httpapi.Prefix + acknowledgements

const acknowledgements = "/v1/acknowledgements/"

// TicketInput is the ticket of a link.
type TicketInput struct {
	Ticket string `path:"ticket" doc:"As in the link of a message."`
}

// Acknowledgement is the alert that a link in a message acknowledges.
type Acknowledgement struct {
	Open   bool      `json:"open" doc:"The link can be used: the alert waits to be acknowledged."`
	State  string    `json:"state" doc:"A sentence that says why it cannot; empty while it can."`
	Person string    `json:"person" doc:"As whom it acknowledges."`
	Alert  wire.Card `json:"alert"`
}

// AcknowledgementData is the data of answers about a link.
type AcknowledgementData struct {
	Acknowledgement Acknowledgement `json:"acknowledgement"`
}

// linkUse is a link that was opened, with the present state of its alert.
type linkUse struct {
	ticket.Link
	text  string
	by    account.Principal
	who   rimewatch.User
	alert rimewatch.AlertView
	used  bool
}

// believe finds what a link is about: CodeNotFound when nobody has made it, or there is nothing
// left to see, CodeForbidden when its time is over or the person may not acknowledge any more.
func (a *api) believe(ctx context.Context, text string) (u linkUse, err error) {
	c := httpapi.CallOf(ctx)
	c.Header("Referrer-Policy", "no-referrer")
	u.text = text
	var ok bool
	if u.Link, ok = ticket.ParseLink(a.LinkKey[:], text, ticket.Acknowledge); !ok {
		if wait := a.AuthFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
			return u, httpapi.ErrTooManyFailures(wait)
		}
		return u, rimewatch.Errorf(rimewatch.CodeNotFound, "This link does not work: it is incomplete, or somebody has changed it.")
	}
	if c.Now >= u.Expires {
		return u, rimewatch.Errorf(rimewatch.CodeForbidden, "This link has expired: it works for 24 hours. Sign in to acknowledge.")
	}
	if u.by, err = a.Auth().Member(ctx, u.WorkspaceID, u.UserID); err == nil {
		u.who, err = a.Auth().Person(ctx, u.by)
	}
	if err == nil {
		err = u.by.Require(rimewatch.ScopeAlertsWrite)
	}
	if err != nil {
		return u, notAnyMore(err)
	}
	u.alert, err = a.Store.Alert(store.WithSites(ctx, u.by.Sites()), u.WorkspaceID, u.ID)
	if rimewatch.CodeOf(err) == rimewatch.CodeAlertNotFound {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "This alert is no longer kept, or is at a site that this person may not see any more.")
	}
	if err != nil {
		return u, err
	}
	_, err = a.Auth().AnswerTo(ctx, 0, u.useKey(), c.Now)
	u.used = err == nil
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		err = nil
	}
	return u, err
}

// notAnyMore is the answer to a person who has lost the right to acknowledge.
func notAnyMore(err error) error {
	if code := rimewatch.CodeOf(err); code != rimewatch.CodeForbidden && code != rimewatch.CodeNotFound {
		return err
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden, "The person that this message went to may not acknowledge alerts here any more.")
}

// useKey names the use of the link where it is kept that it was used, for longer than it works. It
// is no way to the ticket.
func (u *linkUse) useKey() string {
	sum := sha256.Sum256([]byte(u.text))
	return "acknowledged/" + hex.EncodeToString(sum[:16])
}

// acknowledgement returns the alert of the link, in the caller's language.
func (a *api) acknowledgement(ctx context.Context, u *linkUse) (AcknowledgementData, error) {
	c := httpapi.CallOf(ctx)
	l := u.by.Locale
	if l.Language == "" {
		l.Language = c.Locale().Language
	}
	card, err := a.Card(ctx, &u.alert, l)
	state := card.State
	if state == "" && u.used {
		state = phrase.In(l).Say("This link was used already, and that acknowledgement has ended. Sign in to acknowledge again.")
	}
	return AcknowledgementData{Acknowledgement{Open: state == "", State: state, Person: cmp.Or(u.who.Name, u.who.Email), Alert: card}}, err
}

func (a *api) lookAtLink(ctx context.Context, in *TicketInput) (AcknowledgementData, error) {
	u, err := a.believe(ctx, in.Ticket)
	if err != nil {
		return AcknowledgementData{}, err
	}
	return a.acknowledgement(ctx, &u)
}

// useLink acknowledges, once: that the link was used is stored with the acknowledgement.
func (a *api) useLink(ctx context.Context, in *TicketInput) (AcknowledgementData, error) {
	u, err := a.believe(ctx, in.Ticket)
	if err != nil {
		return AcknowledgementData{}, err
	}
	data, err := a.acknowledgement(ctx, &u)
	switch {
	case err != nil:
		return AcknowledgementData{}, err
	case !data.Acknowledgement.Open:
		return AcknowledgementData{}, rimewatch.Errorf(rimewatch.CodeConflict, "%s", data.Acknowledgement.State)
	}
	c := httpapi.CallOf(ctx)
	used := store.Answer{WorkspaceID: u.WorkspaceID, Key: u.useKey(), At: c.Now, Status: http.StatusOK}
	act := store.WithAnswer(store.WithActor(ctx, u.who.Label()+", by the link in a message"), &used)
	by := phrase.In(u.by.Locale).Sayf("%s, by the link in a message", data.Acknowledgement.Person)
	if u.alert, err = a.Writer.Acknowledge(act, u.WorkspaceID, u.ID, by, "", 0); err != nil {
		return AcknowledgementData{}, err
	}
	return a.acknowledgement(ctx, &u)
}

func (a *api) acknowledgementRoutes() []httpapi.Route {
	look := []rimewatch.Code{rimewatch.CodeNotFound, rimewatch.CodeForbidden, rimewatch.CodeRateLimited}
	use := []rimewatch.Code{rimewatch.CodeNotFound, rimewatch.CodeForbidden, rimewatch.CodeRateLimited, rimewatch.CodeConflict, rimewatch.CodeAlertNotActive}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: acknowledgements + "{ticket}", ID: "look-at-acknowledgement", Tag: "Alerts", Summary: "See what the link of a message acknowledges", Access: httpapi.Public, Also: look,
			Description: "A message about an alert that goes to one member alone has a link that works for 24 hours. Looking changes nothing.",
			Bind:        httpapi.Handle(a.lookAtLink),
		},
		{
			Method: http.MethodPost, Path: acknowledgements + "{ticket}", ID: "use-acknowledgement", Tag: "Alerts", Summary: "Acknowledge by the link of a message", Access: httpapi.Public, Also: use,
			Description: "Acts as the member that the message went to, once. 409 says what is so where there is nothing to acknowledge, 403 that the link has expired or the person may not any more.",
			Bind:        httpapi.Handle(a.useLink),
		},
	}
}
