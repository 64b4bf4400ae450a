// Package service sends messages to messaging services (Slack, Teams, ntfy,
// PagerDuty, …) by the URLs of shoutrrr.
//
// # Guarding what others connect
//
// Shoutrrr's services make their own HTTP clients. Most use http.DefaultClient or
// a client without a transport, that is http.DefaultTransport: Guard puts the
// guarded transport there, for the whole process. ntfy, Gotify and Mattermost
// bring a transport of their own, which is replaced one by one; their options to
// skip the verification of certificates have no effect therefore. smtp connects
// by itself (there is the email channel for that) and logger is no receiver:
// both are refused. As long as Guard has not been called, nothing is sent.
package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// Guard makes every HTTP client of this process that names no transport go
// through g. A server calls it once, before anything runs.
func Guard(g *outbound.Guard) { http.DefaultTransport = &watched{RoundTripper: g.Transport()} }

// watched remembers what went wrong with Telegram: its service takes an answer
// that is not JSON, and no answer at all, for a success.
type watched struct {
	http.RoundTripper
	failed sync.Map // error by path
}

const telegram = "api.telegram.org"

// RoundTrip implements http.RoundTripper.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(r)
	if err != nil && r.URL.Host == telegram {
		w.failed.Store(r.URL.Path, err)
	}
	return resp, err
}

// telegramFailed returns what has gone wrong with a bot's messages since it was
// last asked, nil = nothing.
func (w *watched) telegramFailed(u *url.URL) error {
	token, _ := u.User.Password()
	if err, ok := w.failed.LoadAndDelete("/bot" + u.User.Username() + ":" + token + "/sendMessage"); ok {
		return err.(error)
	}
	return nil
}

// maxRunning bounds the calls under way. Shoutrrr takes no context: a call that
// takes too long is given up, but runs on.
const maxRunning = 32

// Sender sends to services.
type Sender struct {
	transport http.RoundTripper
	running   chan struct{}
}

// New makes a sender whose connections g guards.
func New(g *outbound.Guard) *Sender {
	return &Sender{transport: g.Transport(), running: make(chan struct{}, maxRunning)}
}

// refused are the services that cannot be guarded or are none.
var refused = []string{"smtp", "logger", "xmpp"}

// connecting are the services that connect when they are set up.
var connecting = []string{"matrix"}

// Check returns what is wrong with a service URL, nil = nothing. It connects to
// nobody.
func Check(rawURL string) error {
	if o, u, ours := ownOf(rawURL); ours {
		return o.check(u)
	}
	r := &router.ServiceRouter{}
	name, u, err := r.ExtractServiceName(rawURL)
	if err != nil {
		return rimewatch.Invalid("url", "is not a URL")
	}
	if slices.Contains(refused, name) || !slices.Contains(r.ListServices(), name) {
		return rimewatch.Invalid("url", "is not a known service; use one of %s", strings.Join(Names(), ", "))
	}
	if slices.Contains(connecting, name) {
		if u.Hostname() == "" {
			return rimewatch.Invalid("url", "names no host")
		}
		return nil
	}
	if _, err := locate(rawURL); err != nil {
		return rimewatch.Invalid("url", "is not a URL of %s as https://shoutrrr.nickfedor.com describes it", name)
	}
	return nil
}

// Names lists the services that can be used.
func Names() []string {
	all := names((&router.ServiceRouter{}).ListServices())
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(refused, s) })
}

// Check implements notify.Sender with the function of that name.
func (s *Sender) Check(c *rimewatch.Channel) error { return Check(c.URL) }

// incidents are the services that keep an incident for each alert.
var incidents = []string{"pagerduty", "opsgenie"}

// Bundles implements notify.Sender: people read one message about several alerts,
// incidents are kept for each.
func (s *Sender) Bundles(c *rimewatch.Channel) bool {
	name, _, _ := strings.Cut(c.URL, ":")
	return !slices.Contains(incidents, strings.ToLower(name))
}

// locate sets a service up. Those of connecting connect.
func locate(rawURL string) (s types.Service, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("service: %v", p)
		}
	}()
	return (&router.ServiceRouter{}).Locate(rawURL)
}

// Send sends a message once; for errors see outbound.Failure.
func (s *Sender) Send(ctx context.Context, c *rimewatch.Channel, _ string, m *message.Message) (string, error) {
	watch, ok := http.DefaultTransport.(*watched)
	if !ok {
		return "", rimewatch.Errorf(rimewatch.CodeForbidden, "Services are not enabled in this process.")
	}
	if name, _, _ := strings.Cut(c.URL, ":"); slices.Contains(refused, strings.ToLower(name)) {
		return "", Check(c.URL)
	}
	select {
	case s.running <- struct{}{}:
	default:
		return "", rimewatch.Errorf(rimewatch.CodeUnavailable, "Too many messages to services are in progress.")
	}
	ctx, cancel := context.WithTimeout(ctx, outbound.Timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.running }()
		if o, u, ours := ownOf(c.URL); ours {
			done <- o.send(ctx, s.transport, u, m)
			return
		}
		done <- s.send(watch, c.URL, m.Safe(true))
	}()
	select {
	case err := <-done:
		return "", failure(err)
	case <-ctx.Done():
		return "", rimewatch.Errorf(rimewatch.CodeOutcomeUnknown, "The service did not answer in time.")
	}
}

// send calls the service. Some panic when their request fails.
func (s *Sender) send(watch *watched, rawURL string, m *message.Message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the service broke off")
		}
	}()
	service, err := locate(rawURL)
	if err != nil {
		return err
	}
	switch own := service.(type) {
	case interface{ SetHTTPClient(*http.Client) }:
		own.SetHTTPClient(&http.Client{Transport: s.transport})
	case interface{ GetHTTPClient() *http.Client }:
		own.GetHTTPClient().Transport = s.transport
	}
	text, params := m.Plain(maxText-len(m.Data.Headline())), paramsOf(service.GetID(), m)
	if _, titled := params.Title(); !titled {
		text = m.Data.Headline() + "\n" + text
	}
	err = service.Send(rimewatch.Shorten(text, maxText), &params)
	if u, bad := url.Parse(rawURL); err == nil && bad == nil && u.Scheme == "telegram" {
		err = watch.telegramFailed(u)
	}
	return err
}

// titled are the services that show a title; the others refuse or lose one.
var titled = []string{"bark", "discord", "gotify", "join", "lark", "ntfy", "notifiarr", "opsgenie", "pushbullet", "pushover", "slack", "teams", "telegram"}

// paramsOf returns, in a service's own terms, what text alone does not convey: a title, and
// to PagerDuty which messages belong together and when it is over.
func paramsOf(id string, m *message.Message) types.Params {
	if id == "pagerduty" {
		p := types.Params{"severity": "warning", "action": "trigger"}
		if parts := strings.SplitN(m.Data.DeliveryID, "/", 3); len(parts) == 3 && parts[0] == "alert" {
			p["dedup_key"] = "rimewatch/alert/" + parts[1]
		}
		if m.Data.Urgent {
			p["severity"] = "critical"
		}
		if m.Data.Kind == rimewatch.DeliveryRecovery {
			p["action"] = "resolve"
		}
		return p
	}
	if slices.Contains(titled, id) {
		return types.Params{types.TitleKey: m.Data.Headline()}
	}
	return types.Params{}
}

// maxText is what the shortest-spoken service takes, in bytes.
const maxText = 1900

// Some services keep only the words of the errors they wrap.
var (
	answered   = regexp.MustCompile(`the receiver answered (\d{3})\b`)
	notAllowed = regexp.MustCompile(`the address (\S+) is not allowed for receivers`)
)

func failure(err error) error {
	if err == nil {
		return nil
	}
	if found := answered.FindStringSubmatch(err.Error()); found != nil {
		var status *outbound.StatusError
		if !errors.As(err, &status) {
			code, _ := strconv.Atoi(found[1])
			err = &outbound.StatusError{Status: code}
		}
	} else if found := notAllowed.FindStringSubmatch(err.Error()); found != nil {
		if a, bad := netip.ParseAddr(found[1]); bad == nil {
			err = &outbound.Refused{Address: a}
		}
	}
	return outbound.Failure(err)
}
