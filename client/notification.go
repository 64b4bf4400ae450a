package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Delivery is one message to one channel. Null texts and times are empty.
type Delivery struct {
	ID            int64                    `json:"id"`
	Key           string                   `json:"key"`      // stable over retries
	AlertID       int64                    `json:"alert_id"` // 0 for tests and digests
	Kind          rimewatch.DeliveryKind   `json:"kind"`
	Level         int                      `json:"level"` // escalation level, from 0
	Status        rimewatch.DeliveryStatus `json:"status"`
	Attempts      int                      `json:"attempts"`
	Channel       DeliveryChannel          `json:"channel"`
	Route         *DeliveryRoute           `json:"route"` // nil for the default route, tests and fallbacks
	CreatedAt     rimewatch.Time           `json:"created_at"`
	NextAttemptAt rimewatch.Time           `json:"next_attempt_at"` // only of a pending one
	SentAt        rimewatch.Time           `json:"sent_at"`
	LastError     string                   `json:"last_error"`
}

// DeliveryChannel names the channel of a delivery, which may be deleted by now.
type DeliveryChannel struct {
	ID   int64                 `json:"id"`
	Name string                `json:"name"`
	Kind rimewatch.ChannelKind `json:"kind"`
}

// DeliveryRoute names the route of a delivery, which may be deleted by now.
type DeliveryRoute struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// AlertDeliveries lists who was notified of an alert, oldest first:
// rimewatch.CodeAlertNotFound.
func (c *Client) AlertDeliveries(ctx context.Context, id int64) ([]Delivery, error) {
	return one[[]Delivery](ctx, c, get(alertPath(id)+"/deliveries", nil), "deliveries")
}

// AlertMatch selects the alerts of a silence. Empty lists match everything; all
// filled ones must match.
type AlertMatch struct {
	Severities     []rimewatch.Severity  `json:"severities,omitempty"`
	Types          []rimewatch.AlertType `json:"types,omitempty"`
	SiteIDs        []int64               `json:"site_ids,omitempty"`
	EquipmentTypes []string              `json:"equipment_types,omitempty"`
	DeviceSerials  []string              `json:"device_serials,omitempty"`
}

// Silence keeps matching alerts from being notified for a time.
type Silence struct {
	ID        int64          `json:"id"`
	Match     AlertMatch     `json:"match"`
	StartsAt  rimewatch.Time `json:"starts_at"`
	EndsAt    rimewatch.Time `json:"ends_at"`
	Comment   string         `json:"comment"`
	CreatedBy string         `json:"created_by"`
	CreatedAt rimewatch.Time `json:"created_at"`
	Active    bool           `json:"active"`
}

// NewSilence are the settings of a silence. An empty Match silences everything,
// an absent StartsAt is now, EndsAt is needed: at most 30 days later.
type NewSilence struct {
	Match    AlertMatch     `json:"match"`
	StartsAt rimewatch.Time `json:"starts_at,omitempty"`
	EndsAt   rimewatch.Time `json:"ends_at"`
	Comment  string         `json:"comment,omitempty"`
}

// Silences are the calls about silences.
type Silences struct{ c *Client }

// Silences returns the calls about silences.
func (c *Client) Silences() Silences { return Silences{c} }

// List returns those that are not over, by id; with ended those that are, too.
func (x Silences) List(ctx context.Context, ended bool) ([]Silence, error) {
	return one[[]Silence](ctx, x.c, get("/silences", orEnded(ended)), "silences")
}

// Create makes a silence. Devices that are not known are
// rimewatch.CodeUnknownDevice.
func (x Silences) Create(ctx context.Context, s NewSilence) (Silence, error) {
	return one[Silence](ctx, x.c, send(http.MethodPost, "/silences", s, false), "silence")
}

func silencePath(id int64) string { return "/silences/" + strconv.FormatInt(id, 10) }

// Get finds a silence.
func (x Silences) Get(ctx context.Context, id int64) (Silence, error) {
	return one[Silence](ctx, x.c, get(silencePath(id), nil), "silence")
}

// End ends a silence now: rimewatch.CodeConflict when it is over already.
func (x Silences) End(ctx context.Context, id int64) (Silence, error) {
	return one[Silence](ctx, x.c, post(silencePath(id)+"/end"), "silence")
}
