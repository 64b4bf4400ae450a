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
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// Guard makes every HTTP client of this process that names no transport go
// through g. A server calls it once, before anything runs.
func Guard(g *outbound.Guard) { http.DefaultTransport = g.Transport() }

// maxRunning bounds the calls under way. Shoutrrr takes no context: a call that
// takes too long is given up, but runs on.
const maxRunning = 32

// Sender sends to services.
type Sender struct {
	transport http.RoundTripper
	guarded   func() bool
	running   chan struct{}
}

// New makes a sender whose connections g guards.
func New(g *outbound.Guard) *Sender {
	return &Sender{transport: g.Transport(), guarded: guarded, running: make(chan struct{}, maxRunning)}
}

func guarded() bool {
	_, ok := http.DefaultTransport.(*outbound.Transport)
	return ok
}

// refused are the services that cannot be guarded or are none.
var refused = []string{"smtp", "logger", "xmpp"}

// connecting are the services that connect when they are set up.
var connecting = []string{"matrix"}

// Check tells what is wrong with a service URL, nil = nothing. It connects to
// nobody.
func Check(rawURL string) error {
	r := &router.ServiceRouter{}
	name, u, err := r.ExtractServiceName(rawURL)
	if err != nil {
		return rimewatch.Invalid("url", "is not a URL")
	}
	if slices.Contains(refused, name) || !slices.Contains(r.ListServices(), name) {
		return rimewatch.Invalid("url", "names no service that is known; use one of %s", strings.Join(Names(), ", "))
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
	all := (&router.ServiceRouter{}).ListServices()
	all = slices.DeleteFunc(all, func(s string) bool { return slices.Contains(refused, s) })
	slices.Sort(all)
	return all
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
	if !s.guarded() {
		return "", rimewatch.Errorf(rimewatch.CodeForbidden, "Services are not enabled in this process.")
	}
	if name, _, _ := strings.Cut(c.URL, ":"); slices.Contains(refused, strings.ToLower(name)) {
		return "", Check(c.URL)
	}
	select {
	case s.running <- struct{}{}:
	default:
		return "", rimewatch.Errorf(rimewatch.CodeUnavailable, "Too many messages to services are under way.")
	}
	ctx, cancel := context.WithTimeout(ctx, outbound.Timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() { <-s.running }()
		done <- s.send(c.URL, m)
	}()
	select {
	case err := <-done:
		return "", failure(err)
	case <-ctx.Done():
		return "", rimewatch.Errorf(rimewatch.CodeUnavailable, "The service did not answer in time.")
	}
}

// send calls the service. Some panic when their request fails.
func (s *Sender) send(rawURL string, m *message.Message) (err error) {
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
	text := m.Plain()
	if !takesTitle(service) {
		text = m.Data.Subject + "\n" + text
	}
	return service.Send(clip(text), &types.Params{types.TitleKey: m.Data.Subject})
}

// takesTitle tells whether a service shows the title that it is given.
func takesTitle(s types.Service) bool {
	return slices.Contains([]string{"bark", "discord", "gotify", "join", "lark", "ntfy", "notifiarr", "opsgenie", "pushbullet", "pushover", "slack", "teams", "telegram"}, s.GetID())
}

// maxText is what the shortest-spoken service takes, in bytes.
const maxText = 1900

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// answered is how a StatusError reads: some services keep only the words of the
// errors they wrap.
var answered = regexp.MustCompile(`the receiver answered (\d{3})\b`)

func failure(err error) error {
	if err == nil {
		return nil
	}
	var status *outbound.StatusError
	var inURL *url.Error
	if !errors.As(err, &status) && !errors.As(err, &inURL) {
		if found := answered.FindStringSubmatch(err.Error()); found != nil {
			code, _ := strconv.Atoi(found[1])
			err = &outbound.StatusError{Status: code}
		}
	}
	return outbound.Failure(err)
}
