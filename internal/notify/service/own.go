package service

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/twilio"
)

// own is a service that shoutrrr does not have, or not as it is today.
type own struct {
	// check returns what is wrong with a URL: CodeValidationFailed, nil = nothing.
	check func(u *url.URL) error
	// request is the call that brings a message.
	request func(ctx context.Context, u *url.URL, m *message.Message) (*http.Request, error)
	// says finds in an answer what the service says of a refusal; nil = it says nothing.
	says func(body string) string
}

// texts are text messages to phones.
var texts = own{check: twilio.CheckSMS, request: text, says: twilio.Says}

func text(ctx context.Context, u *url.URL, m *message.Message) (*http.Request, error) {
	return twilio.SMS(ctx, u, m.Data.Headline()+"\n"+m.Data.Text, cmp.Or(m.Data.Acknowledge, m.Data.Link)) // whose page leads to the other
}

// ownNames are the services of ownOf that shoutrrr has no name for.
var ownNames = []string{"twilio"}

// ownOf returns the service of our own that a URL belongs to.
func ownOf(rawURL string) (own, *url.URL, bool) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
	case u.Scheme == "twilio":
		return texts, u, true
	case u.Scheme == "teams" && u.User == nil:
		return workflows, u, true
	}
	return own{}, nil, false
}

// send calls the service once, through the guard.
func (o own) send(ctx context.Context, through http.RoundTripper, u *url.URL, m *message.Message) error {
	r, err := o.request(ctx, u, m)
	if err != nil {
		return err
	}
	resp, err := through.RoundTrip(r) //nolint:bodyclose // Drain closes it
	if err != nil {
		if o.says != nil {
			err = outbound.Explain(err, o.says)
		}
		return err
	}
	return outbound.Drain(resp)
}

// names adds those of our own to the services that shoutrrr knows, by name.
func names(known []string) []string {
	all := slices.Concat(known, ownNames)
	slices.Sort(all)
	return all
}
