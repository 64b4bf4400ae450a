package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Happening is an event of the feed, the same that webhooks send.
type Happening struct {
	ID      string          `json:"id"` // the same wherever and however often it is read
	At      rimewatch.Time  `json:"at"` // when it was stored
	Type    string          `json:"type"`
	Subject string          `json:"subject"` // such as alert/12; those of one subject come in order
	SiteID  *int64          `json:"site_id"` // where it stood then
	Data    json.RawMessage `json:"data"`
}

// EventQuery selects events of the feed. Empty filters do not filter.
type EventQuery struct {
	After  string         // the ID of the last event that was dealt with; "" = since Since
	Since  rimewatch.Time // 0 = the oldest that is kept
	Types  []string
	SiteID int64
	Every  time.Duration // between questions when nothing happens; default 1 s
}

// Events yields events, and waits for those to come until ctx ends or the loop is left. A program
// that stores the ID of the last event that it dealt with, and gives it as After, misses none over a restart of
// either side within 30 days, and sees none twice; after that the error is CodeCursorExpired. A service that is
// away is asked again until it is back.
func (c *Client) Events(ctx context.Context, q EventQuery) iter.Seq2[Happening, error] {
	if q.Every <= 0 {
		q.Every = time.Second
	}
	return func(yield func(Happening, error) bool) {
		for failures := 0; ; {
			page, err := c.eventPage(ctx, &q)
			switch {
			case err == nil:
				failures = 0
			case ctx.Err() != nil, StatusOf(err) >= 400 && StatusOf(err) < 500 && StatusOf(err) != http.StatusTooManyRequests:
				yield(Happening{}, err)
				return
			default:
				failures++
			}
			for _, e := range page.Events {
				if !yield(e, nil) {
					return
				}
			}
			if page.NextCursor != "" {
				q.After = page.NextCursor
			}
			wait := q.Every
			if failures > 0 {
				wait = c.o.backoff(failures - 1)
			}
			if !page.HasMore && c.o.sleep(ctx, wait) != nil {
				yield(Happening{}, ctx.Err())
				return
			}
		}
	}
}

type eventPage struct {
	Events     []Happening `json:"events"`
	NextCursor string      `json:"next_cursor"`
	HasMore    bool        `json:"has_more"`
}

func (c *Client) eventPage(ctx context.Context, q *EventQuery) (eventPage, error) {
	v := url.Values{"per_page": {"1000"}}
	setText(v, "after", q.After)
	setText(v, "since", q.Since.String())
	setText(v, "types", strings.Join(q.Types, ","))
	if q.SiteID != 0 {
		v.Set("site_id", strconv.FormatInt(q.SiteID, 10))
	}
	return fetch[eventPage](ctx, c, get("/events", v))
}

// webhookTolerance is by how much the clock of a sender may differ, as Standard Webhooks has it.
const webhookTolerance = 5 * time.Minute

// VerifyWebhook reports whether one of the signatures of a webhook was made with secret, at most five minutes ago. body is
// the text as it came. Drop a Webhook-Id that you have seen: webhooks come at least once.
func VerifyWebhook(secret string, h http.Header, body []byte, now time.Time) bool {
	key, ok := rimewatch.WebhookKey(secret)
	at, err := strconv.ParseInt(h.Get("Webhook-Timestamp"), 10, 64)
	if !ok || err != nil || h.Get("Webhook-Id") == "" || now.Sub(time.Unix(at, 0)).Abs() > webhookTolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(slices.Concat([]byte(h.Get("Webhook-Id")+"."+h.Get("Webhook-Timestamp")+"."), body)) // never fails
	good := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for one := range strings.SplitSeq(h.Get("Webhook-Signature"), " ") {
		if hmac.Equal([]byte(one), []byte(good)) {
			return true
		}
	}
	return false
}
