package rimewatch

import "slices"

import (
	"net/url"
	"strings"
)

// ChannelKind is the way a channel reaches people.
type ChannelKind string

// The kinds of channels.
const (
	ChannelEmail   ChannelKind = "email"   // SMTP, To holds the addresses
	ChannelWebhook ChannelKind = "webhook" // POST to URL, signed as Standard Webhooks with Secret
	ChannelService ChannelKind = "service" // a shoutrrr service URL: Slack, Teams, ntfy, PagerDuty, …
	ChannelCall    ChannelKind = "call"    // a phone call through the Twilio account of URL
	ChannelPush    ChannelKind = "push"    // Web Push to a browser or phone of the person in To: URL is the endpoint, Secret its keys
)

// Channel is one way in which a workspace is notified of alerts. URL and Secret are
// credentials: they are written, never shown again in full.
type Channel struct {
	ID          int64
	WorkspaceID int64
	Name        string
	Kind        ChannelKind
	Enabled     bool
	To          []string // e-mail addresses; of a push channel the one of the person whose device it is
	URL         string
	Secret      string // whsec_… of a webhook; p256dh.auth of a push channel, in base64url
	FallbackID  int64  // the channel through which it is reported that this one keeps failing, 0 = any other that works
	CreatedAt   Time
	UpdatedAt   Time

	Locale // of those who read what it brings
	ChannelHealth
}

// MaskedURL is what of the URL may be shown: scheme and host of a webhook or a push service, the
// scheme alone of a service, where host and path are often the credential.
func (c *Channel) MaskedURL() string {
	scheme, _, ok := strings.Cut(c.URL, "://")
	if !ok {
		return ""
	}
	if c.Kind == ChannelWebhook || c.Kind == ChannelPush {
		if u, err := url.Parse(c.URL); err == nil {
			return scheme + "://" + u.Host + "/•••"
		}
	}
	return scheme + "://•••"
}

// Working reports whether the last attempt succeeded, once there was one.
func (h *ChannelHealth) Working() (works, tried bool) {
	works = h.Failures == 0 && h.LastSuccessAt != 0
	return works, works || h.Failures > 0
}

// ChannelHealth is what deliveries say of a channel.
type ChannelHealth struct {
	LastSuccessAt Time
	LastFailureAt Time
	LastError     string // as Sentence.Stored returns it
	Failures      int    // attempts in a row that failed
}

// Matchers narrow what a route or a silence is about. Empty lists match all; a
// filled one matches any of its members; all filled ones must match.
type Matchers struct {
	Severities     []Severity  `json:"severities,omitempty"`
	Types          []AlertType `json:"types,omitempty"`
	SiteIDs        []int64     `json:"site_ids,omitempty"`
	EquipmentTypes []string    `json:"equipment_types,omitempty"`
	DeviceIDs      []int64     `json:"device_ids,omitempty"`
}

// Route defines who is notified of which alerts, and when. Every route that matches an
// alert applies.
type Route struct {
	ID          int64       `json:"-"`
	WorkspaceID int64       `json:"-"`
	Name        string      `json:"-"`
	Enabled     bool        `json:"-"`
	Match       Matchers    `json:"match"`
	Steps       []RouteStep `json:"steps"`               // escalation levels, by rising delay
	RepeatS     int         `json:"repeat_s,omitempty"`  // s between reminders while active and not acknowledged, 0 = none
	Recovery    bool        `json:"recovery,omitempty"`  // notify those who were notified when the alert is over
	Quiet       *QuietHours `json:"quiet,omitempty"`     // warnings wait until they are over; critical alerts do not
	DigestAt    *int        `json:"digest_at,omitempty"` // minute of the local day at which warnings are sent together, nil = at once
	CreatedAt   Time        `json:"-"`
	UpdatedAt   Time        `json:"-"`
}

// RouteStep is one escalation level: channels that are notified AfterS seconds
// after the alert was triggered unless it is resolved or acknowledged by then.
type RouteStep struct {
	AfterS     int     `json:"after_s"`
	ChannelIDs []int64 `json:"channel_ids"`
}

// QuietHours are a daily span [From, To) in minutes of the local day of the
// alert's site (of the workspace, without a site); From > To runs over midnight.
type QuietHours struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Silence keeps matching alerts from being notified for a time. They are
// recorded all the same, and looked at again when it ends.
type Silence struct {
	ID          int64
	WorkspaceID int64
	Match       Matchers
	StartsAt    Time
	EndsAt      Time // mandatory; moved up when a person ends it early
	Comment     string
	CreatedBy   string
	CreatedAt   Time
}

// MaintenanceWindow is planned work on devices: alerts are recorded but not
// notified, and the time counts neither for nor against compliance.
type MaintenanceWindow struct {
	ID          int64
	WorkspaceID int64
	SiteIDs     []int64 // with DeviceIDs: any of them; both empty = the whole workspace
	DeviceIDs   []int64
	StartsAt    Time
	EndsAt      Time // mandatory; moved up when a person ends it early
	Reason      string
	CreatedBy   string
	CreatedAt   Time
}

// EndEarly ends the silence now, or before it begins. It returns false when it has
// ended already.
func (s *Silence) EndEarly(now Time) bool { return endEarly(s.StartsAt, &s.EndsAt, now) }

// EndEarly ends the window now, or before it begins. It returns false when it has
// ended already.
func (w *MaintenanceWindow) EndEarly(now Time) bool { return endEarly(w.StartsAt, &w.EndsAt, now) }

func endEarly(starts Time, ends *Time, now Time) bool {
	if *ends <= now || *ends == starts {
		return false
	}
	*ends = max(starts, now)
	return true
}

// Covers reports whether the window is about a device at a site; of the alert of a
// site deviceID is 0.
func (w *MaintenanceWindow) Covers(siteID, deviceID int64) bool {
	if len(w.SiteIDs) == 0 && len(w.DeviceIDs) == 0 {
		return true
	}
	return slices.Contains(w.SiteIDs, siteID) || slices.Contains(w.DeviceIDs, deviceID)
}

// DeliveryKind is the reason for a message.
type DeliveryKind string

// The kinds of deliveries.
const (
	DeliveryOpened    DeliveryKind = "opened"    // first message of a level, also of later escalation levels
	DeliveryEscalated DeliveryKind = "escalated" // the severity rose to critical
	DeliveryRepeat    DeliveryKind = "repeat"    // reminder
	DeliveryRecovery  DeliveryKind = "recovery"  // the alert is over
	DeliveryDigest    DeliveryKind = "digest"    // several alerts together
	DeliveryTest      DeliveryKind = "test"      // a person tries a channel
	DeliveryFallback  DeliveryKind = "fallback"  // another channel keeps failing
	DeliveryReport    DeliveryKind = "report"    // a scheduled report
	DeliveryUnrouted  DeliveryKind = "unrouted"  // a critical alert that no route brings to anybody
)

// DeliveryStatus is where a message is.
type DeliveryStatus string

// The states of a delivery.
const (
	DeliveryPending DeliveryStatus = "pending" // to be sent at NextAttemptAt
	DeliverySent    DeliveryStatus = "sent"
	DeliveryFailed  DeliveryStatus = "failed"  // not retried any more
	DeliveryDropped DeliveryStatus = "dropped" // pointless by then: the alert ended, the channel was removed
)

// Delivery is one message to one channel. Key is stable over retries and
// restarts, and the Webhook-Id of what is sent: receivers may deduplicate by it.
type Delivery struct {
	ID            int64
	WorkspaceID   int64
	Key           string
	AlertID       int64 // 0 for tests and digests
	ChannelID     int64
	RouteID       int64 // 0 = the default route
	Level         int   // escalation level, from 0
	Kind          DeliveryKind
	Status        DeliveryStatus
	Urgent        bool // of a critical alert: it goes before what is not
	InDoubt       bool // it may have been received although it does not count as sent
	Attempts      int
	NextAttemptAt Time
	CreatedAt     Time
	SentAt        Time
	LastError     string // as Sentence.Stored returns it
	Body          []byte // the message, as JSON
}
