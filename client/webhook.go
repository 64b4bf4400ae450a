package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Webhook is a receiver of events. VerifyWebhook checks its requests against the secret.
type Webhook struct {
	ID             int64          `json:"id"`
	Description    string         `json:"description"`
	URL            string         `json:"url"` // without its parts that may be secret
	Types          []string       `json:"types"`
	SiteIDs        []int64        `json:"site_ids"` // nil = all
	Headers        []string       `json:"headers"`  // their names
	Enabled        bool           `json:"enabled"`
	OffReason      *string        `json:"off_reason"` // why the service switched it off
	Working        *bool          `json:"working"`    // nil: nothing was sent yet
	LastSuccessAt  rimewatch.Time `json:"last_success_at"`
	LastFailureAt  rimewatch.Time `json:"last_failure_at"`
	LastError      *string        `json:"last_error"`
	FailingSince   rimewatch.Time `json:"failing_since"`
	Waiting        int64          `json:"waiting"`          // events that it has not been sent yet
	OldSecretUntil rimewatch.Time `json:"old_secret_until"` // 0: only one secret signs
	CreatedAt      rimewatch.Time `json:"created_at"`
	UpdatedAt      rimewatch.Time `json:"updated_at"`
}

// WebhookFields are the settings of a webhook. Nil leaves a field as it is, or at its default.
type WebhookFields struct {
	URL         *string           `json:"url,omitempty"`
	Secret      *string           `json:"secret,omitempty"` // for Create alone; nil = a new one
	Description *string           `json:"description,omitempty"`
	Types       []string          `json:"types,omitempty"` // nil = unchanged, at first all
	SiteIDs     []int64           `json:"site_ids,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"` // they replace those before
	Enabled     *bool             `json:"enabled,omitempty"`
}

// EventDelivery is an event, or a ping, on its way to a webhook.
type EventDelivery struct {
	ID            int64          `json:"id"`
	EventID       string         `json:"event_id"` // the Webhook-Id of every attempt
	Subject       string         `json:"subject"`
	Status        string         `json:"status"` // pending, sent, failed, dropped
	Attempts      int            `json:"attempts"`
	CreatedAt     rimewatch.Time `json:"created_at"`
	NextAttemptAt rimewatch.Time `json:"next_attempt_at"` // 0 unless it is pending
	SentAt        rimewatch.Time `json:"sent_at"`
	LastError     *string        `json:"last_error"`
}

// Webhooks are the calls about webhooks.
type Webhooks struct{ c *Client }

// Webhooks returns the calls about webhooks.
func (c *Client) Webhooks() Webhooks { return Webhooks{c} }

func webhookPath(id int64) string { return "/webhooks/" + strconv.FormatInt(id, 10) }

// secretWebhook is a webhook with the secret that was just made for it.
type secretWebhook struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret"`
}

// All yields the workspace's webhooks, by id.
func (x Webhooks) All(ctx context.Context) iter.Seq2[Webhook, error] {
	return all(ctx, largestPage, func(ctx context.Context, p Page) ([]Webhook, Pagination, error) {
		q := url.Values{}
		p.set(q)
		data, err := fetch[struct {
			Webhooks   []Webhook  `json:"webhooks"`
			Pagination Pagination `json:"pagination"`
		}](ctx, x.c, get("/webhooks", q))
		return data.Webhooks, data.Pagination, err
	})
}

// Get returns a webhook.
func (x Webhooks) Get(ctx context.Context, id int64) (Webhook, error) {
	return one[Webhook](ctx, x.c, get(webhookPath(id), nil), "webhook")
}

// Create makes a webhook, which is sent the events from now on, and returns its secret, which is given out
// this once.
func (x Webhooks) Create(ctx context.Context, f WebhookFields) (w Webhook, secret string, err error) {
	made, err := fetch[secretWebhook](ctx, x.c, send(http.MethodPost, "/webhooks", f, false))
	return made.Webhook, made.Secret, err
}

// Update changes a webhook.
func (x Webhooks) Update(ctx context.Context, id int64, f WebhookFields) (Webhook, error) {
	return one[Webhook](ctx, x.c, send(http.MethodPatch, webhookPath(id), f, true), "webhook")
}

// Delete deletes a webhook: nothing more is sent to it.
func (x Webhooks) Delete(ctx context.Context, id int64) error {
	return remove(ctx, x.c, webhookPath(id))
}

// Ping sends a webhook an event of the type ping, and returns its delivery as it is then.
func (x Webhooks) Ping(ctx context.Context, id int64) (EventDelivery, error) {
	return one[EventDelivery](ctx, x.c, post(webhookPath(id)+"/ping"), "delivery")
}

// Deliveries yields the deliveries to a webhook, the newest first.
func (x Webhooks) Deliveries(ctx context.Context, id int64) iter.Seq2[EventDelivery, error] {
	return all(ctx, largestPage, func(ctx context.Context, p Page) ([]EventDelivery, Pagination, error) {
		q := url.Values{}
		p.set(q)
		data, err := fetch[struct {
			Deliveries []EventDelivery `json:"deliveries"`
			Pagination Pagination      `json:"pagination"`
		}](ctx, x.c, get(webhookPath(id)+"/deliveries", q))
		return data.Deliveries, data.Pagination, err
	})
}

// Replay sends a webhook the events from one on again: its id, a cursor of the feed, or an RFC 3339 time.
func (x Webhooks) Replay(ctx context.Context, id int64, from string) (Webhook, error) {
	return one[Webhook](ctx, x.c, send(http.MethodPost, webhookPath(id)+"/replay", map[string]any{"from": from}, false), "webhook")
}

// RotateSecret makes a new secret, and returns it; the one before also signs for another day.
func (x Webhooks) RotateSecret(ctx context.Context, id int64) (secret string, err error) {
	made, err := fetch[secretWebhook](ctx, x.c, send(http.MethodPost, webhookPath(id)+"/rotate", struct{}{}, false))
	return made.Secret, err
}
