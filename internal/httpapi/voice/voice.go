// Package voice receives from Twilio the key that was pressed in a phone call about
// alerts. It is not part of the described API: Twilio posts forms and is answered in
// its own language, TwiML.
//
// A request is believed by two things: the ticket in its path, which the service has
// made for this call, and Twilio's signature over the address and the form, by the
// token of the channel's account.
package voice

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/twilio"
)

// Store is what calls ask of a store.
type Store interface {
	Routing() store.Routing
	AnswerTo(ctx context.Context, caller int64, key string, now rimewatch.Time) (store.Answer, error)
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
}

// Writer acknowledges alerts: CodeAlertNotFound, CodeAlertNotActive.
type Writer interface {
	Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error)
}

// Config of the path.
type Config struct {
	Store     Store
	Writer    Writer
	PublicURL string   // as it was given to Twilio, without a slash at the end
	Key       [32]byte // which tickets are signed with
}

type api struct {
	*httpapi.API
	Config
}

// Routes adds the path that Twilio posts to. Without a public URL nobody is called, and
// there is none.
func Routes(cfg Config) func(*httpapi.API) []httpapi.Route {
	return func(frame *httpapi.API) []httpapi.Route {
		if cfg.PublicURL != "" {
			a := &api{frame, cfg}
			a.Plain(http.MethodPost, twilio.Path+"{ticket}", a.pressed)
		}
		return nil
	}
}

const (
	maxForm  = 16 << 10 // bytes; Twilio sends less than 1 kB
	maxTries = 3        // keys that may be pressed in a call
)

// pressed takes the key that was pressed in a call.
func (a *api) pressed(c *httpapi.Call) error {
	t, ch, err := a.believe(c)
	if err != nil {
		return err
	}
	w := phrase.In(ch.Locale)
	if c.Now >= t.Expires {
		return answer(c, twilio.Answer(w, w.Say("This call is too old to acknowledge an alert. Please open Rimewatch. Goodbye.")))
	}
	if c.R.PostForm.Get("Digits") != "1" {
		return answer(c, a.again(c, w, w.Say("That was not the key 1. Press 1 to acknowledge.")))
	}
	did, over, err := a.acknowledge(c, &t, &ch, w)
	switch {
	case err != nil:
		a.Log().Error("acknowledgement by phone", "channel", ch.ID, "request_id", c.ID, "err", err)
		return answer(c, a.again(c, w, w.Say("That did not work. Press 1 to try again.")))
	case did > 1:
		return answer(c, twilio.Answer(w, w.Sayf("Thank you. %d alerts are acknowledged. Goodbye.", did)))
	case did > 0:
		return answer(c, twilio.Answer(w, w.Say("Thank you. The alert is acknowledged. Goodbye.")))
	case over:
		return answer(c, twilio.Answer(w, w.Say("There is nothing left to acknowledge: the alert is over. Goodbye.")))
	default:
		return answer(c, twilio.Answer(w, w.Say("This call has acknowledged its alert already. Goodbye.")))
	}
}

// believe returns what a request is about: CodeForbidden when it is not of Twilio, or
// not about a call of a channel that is in use.
func (a *api) believe(c *httpapi.Call) (t twilio.Ticket, ch rimewatch.Channel, err error) {
	c.Header("Cache-Control", "no-store")
	text := c.R.PathValue("ticket")
	t, ok := twilio.ParseTicket(a.Key[:], text)
	if !ok {
		return t, ch, a.refused(c)
	}
	body, err := a.Take(c, t.WorkspaceID, httpapi.Door{Most: maxForm})
	if err != nil {
		return t, ch, err
	}
	if c.R.PostForm, err = url.ParseQuery(string(body)); err != nil {
		return t, ch, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The form cannot be read.")
	}
	ch, err = a.Store.Routing().Channels().Get(c.R.Context(), t.WorkspaceID, t.ChannelID)
	switch {
	case rimewatch.CodeOf(err) == rimewatch.CodeNotFound:
		return t, ch, a.refused(c)
	case err != nil:
		return t, ch, err
	}
	address := a.PublicURL + twilio.Path + text
	if c.R.URL.RawQuery != "" {
		address += "?" + c.R.URL.RawQuery
	}
	account, token := twilio.Credentials(ch.URL)
	if !ch.Enabled || ch.Kind != rimewatch.ChannelCall || !twilio.Signed(c.R, address, token) || c.R.PostForm.Get("AccountSid") != account {
		return t, ch, a.refused(c)
	}
	return t, ch, nil
}

// refused counts a request that is not Twilio's against its address.
func (a *api) refused(c *httpapi.Call) error {
	if wait := a.AuthFailures.Fail(a.ClientAddr(c.R), c.Now); wait > 0 {
		return httpapi.ErrTooManyFailures(wait)
	}
	return rimewatch.Errorf(rimewatch.CodeForbidden, "This is not a request from Twilio about a call made by this service.")
}

// acknowledge acknowledges the alerts of a ticket, each of them once: a ticket that
// is used again changes nothing, and neither does the key where somebody was first. over: one of them was over by then.
func (a *api) acknowledge(c *httpapi.Call, t *twilio.Ticket, ch *rimewatch.Channel, w phrase.Words) (did int, over bool, err error) {
	by := w.Sayf("%s, by phone", ch.Name)
	for _, id := range t.Alerts {
		used := store.Answer{WorkspaceID: t.WorkspaceID, Key: fmt.Sprintf("voice/%d/%d", t.Nonce, id), At: c.Now, Status: http.StatusOK}
		ctx := store.WithActor(c.R.Context(), fmt.Sprintf("channel %d", ch.ID))
		switch _, err := a.Store.AnswerTo(ctx, used.Caller, used.Key, c.Now); rimewatch.CodeOf(err) {
		case rimewatch.CodeNotFound:
		case "":
			continue
		default:
			return did, over, err
		}
		if v, err := a.Store.Alert(ctx, t.WorkspaceID, id); err == nil && v.Status == rimewatch.AlertActive && v.AcknowledgedBy != "" {
			did++ // by somebody else, whose name and time stay
			continue
		}
		_, err := a.Writer.Acknowledge(store.WithAnswer(ctx, &used), t.WorkspaceID, id, by, "", 0)
		switch rimewatch.CodeOf(err) {
		case "":
			did++
		case rimewatch.CodeAlertNotActive, rimewatch.CodeAlertNotFound:
			over = true
		default:
			return did, over, err
		}
	}
	return did, over, nil
}

// again asks for the key once more, if it was not asked for too often.
func (a *api) again(c *httpapi.Call, w phrase.Words, text string) string {
	tried, _ := strconv.Atoi(c.R.URL.Query().Get("tried"))
	if tried++; tried < 1 || tried >= maxTries {
		return twilio.Answer(w, w.Say("The alert is not acknowledged. Goodbye."))
	}
	address := fmt.Sprintf("%s%s%s?tried=%d", a.PublicURL, twilio.Path, c.R.PathValue("ticket"), tried)
	return twilio.Ask(w, address, text, w.Say("The alert is not acknowledged. Goodbye."))
}

func answer(c *httpapi.Call, twiml string) error {
	c.Header("Content-Type", "text/xml; charset=utf-8")
	_, _ = io.WriteString(c.W, twiml)
	return nil
}
