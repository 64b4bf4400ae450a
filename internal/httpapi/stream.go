package httpapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// Streams serves WebSockets.
type Streams interface {
	// Serve makes the request a WebSocket of the principal and returns at once.
	// addr is the client's address. An error means that nothing was written:
	// CodeRateLimited when there are too many sockets, CodeUnavailable when the
	// service is stopping.
	Serve(w http.ResponseWriter, r *http.Request, p account.Principal, addr netip.Addr) error
}

// StreamInput are the parameters of the stream.
type StreamInput struct {
	Ticket    string `query:"ticket" maxLength:"100" doc:"From POST /v1/stream/tickets, for clients that can neither send a header nor a cookie. An API token is never taken from a URL."`
	Workspace string `query:"workspace" maxLength:"40" doc:"Of a session: the slug of the workspace, as the header Rimewatch-Workspace has it, which browsers cannot send here."`
}

// StreamTicket is the data of a new ticket.
type StreamTicket struct {
	Ticket    string         `json:"ticket" doc:"For the parameter ticket of the stream, once."`
	ExpiresAt rimewatch.Time `json:"expires_at" nullable:"false"`
}

// authenticateSocket finds the principal by the Authorization header, by a
// ticket, or by the session cookie. Browsers send cookies with WebSockets of
// any page and no other check stops them, so there the page must be ours.
func (a *API) authenticateSocket(r *http.Request, now rimewatch.Time) (account.Principal, *rimewatch.Error) {
	if len(r.Header["Authorization"]) > 0 {
		return a.Authenticate(r, now)
	}
	if text := r.URL.Query().Get("ticket"); text != "" {
		p, ok := a.tickets.take(text, now)
		if !ok {
			if wait := a.AuthFailures.Fail(a.ClientAddr(r), now); wait > 0 {
				return p, ErrTooManyFailures(wait)
			}
			return p, errUnauthenticated()
		}
		if err := a.cfg.Auth.Valid(r.Context(), p, now); err != nil {
			if e := AsError(err); e.Code != rimewatch.CodeForbidden {
				return account.Principal{}, e
			}
			return account.Principal{}, errUnauthenticated()
		}
		return p, nil
	}
	p, e := a.authenticate(r, cmp.Or(r.URL.Query().Get("workspace"), r.Header.Get(WorkspaceHeader)), now)
	if e == nil && isUpgrade(r.Header) && !a.ownOrigin(r) {
		if e := errOtherHost(r); e != nil {
			return account.Principal{}, e
		}
		return account.Principal{}, rimewatch.Errorf(rimewatch.CodeForbidden, "Cross-origin streams are not allowed.")
	}
	return p, e
}

// ownOrigin reports whether the page that makes the request is ours.
func (a *API) ownOrigin(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || u.Host == "" || unsealed(r, a.sealed) {
		return false
	}
	if strings.EqualFold(u.Host, r.Host) {
		return true
	}
	ours, err := url.Parse(a.cfg.PublicURL)
	return err == nil && strings.EqualFold(u.Host, ours.Host) && u.Scheme == ours.Scheme
}

func isUpgrade(h http.Header) bool {
	return hasWord(h, "Connection", "upgrade") && hasWord(h, "Upgrade", "websocket")
}

// hasWord reports whether a header's list has a word, without case.
func hasWord(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}

func (a *API) stream(c *Call) error {
	h := c.R.Header
	if !isUpgrade(h) || h.Get("Sec-WebSocket-Version") != "13" {
		return rimewatch.Errorf(rimewatch.CodeUpgradeRequired, "This path accepts WebSockets of version 13.")
	}
	if key, err := base64.StdEncoding.DecodeString(h.Get("Sec-WebSocket-Key")); err != nil || len(key) != 16 || len(h.Values("Sec-WebSocket-Key")) > 1 {
		return rimewatch.Invalid("Sec-WebSocket-Key", "must be 16 bytes in base64")
	}
	if a.cfg.Streams == nil {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "There is no stream.")
	}
	c.Principal.Locale = c.Locale()
	return a.cfg.Streams.Serve(c.W, c.R, c.Principal, a.ClientAddr(c.R))
}

func (a *API) createTicket(ctx context.Context, _ *NoInput) (StreamTicket, error) {
	c := CallOf(ctx)
	prefix := ""
	if a.cfg.TicketPrefix != nil {
		prefix = a.cfg.TicketPrefix()
	}
	return a.tickets.put(c.Principal, prefix, c.Now)
}

func (a *API) streamRoutes() []Route {
	return []Route{
		{
			Method: http.MethodGet, Path: "/v1/stream", ID: "stream", Tag: "Real time", Summary: "Open the stream", socket: true, Sited: true,
			Status: http.StatusSwitchingProtocols, Also: []rimewatch.Code{rimewatch.CodeUpgradeRequired},
			Description: "A WebSocket with the subprotocol `rimewatch.v1`. What goes over it is described by AsyncAPI in `/api/asyncapi.json`. " +
				"Authentication: the Authorization header, a ticket, or the session cookie of one of our own pages. Each channel needs its scope.",
			Bind: Raw[StreamInput, StreamTicket](a.stream),
		},
		{
			Method: http.MethodPost, Path: "/v1/stream/tickets", ID: "create-stream-ticket", Tag: "Real time", Summary: "Get a ticket for the stream", Sited: true,
			Status:      http.StatusCreated,
			Description: "For clients that can send neither a header nor a cookie when they open a WebSocket. Good for 30 s and for one connection, with the rights of the one who asks. Tickets that are not used yet are counted: too many of a workspace or of an address are 429.",
			Bind:        Handle(a.createTicket),
		},
	}
}
