package rimewatch

import (
	"crypto/ecdh"
	"encoding/base64"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
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
	Revision    int64  // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time

	OwnerID int64       // the member whose own way it is, 0 = nobody's, or by To the one whose address that is
	AfterS  int         // of an own way: s that it waits for the member to take the alert on that came by another of theirs
	Quiet   *QuietHours // of an own way: warnings wait until they are over, nil = at any time

	Locale // of its readers
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

// ChannelHealth is a channel's state by its deliveries.
type ChannelHealth struct {
	LastSuccessAt Time
	LastFailureAt Time
	LastError     string // as Sentence.Stored returns it
	Failures      int    // attempts in a row that failed
}

// Matchers select the alerts of a route or a silence. Empty lists match all; a
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
	Recovery    bool        `json:"recovery,omitempty"`  // notify the recipients again when the alert is over
	Quiet       *QuietHours `json:"quiet,omitempty"`     // warnings wait until they are over; critical alerts do not
	DigestAt    *int        `json:"digest_at,omitempty"` // minute of the local day at which warnings are sent together, nil = at once
	Revision    int64       `json:"-"`                   // of what people set: 1 at first, grows with every change
	CreatedAt   Time        `json:"-"`
	UpdatedAt   Time        `json:"-"`
}

// RouteStep is one escalation level: channels that are notified AfterS seconds
// after the alert was triggered unless it is resolved or acknowledged by then.
type RouteStep struct {
	AfterS     int      `json:"after_s"`
	ChannelIDs []int64  `json:"channel_ids"`
	Targets    []Target `json:"targets,omitempty"` // besides these, found at the moment of the step
}

// TargetKind is the kind of a target.
type TargetKind string

// The kinds of targets.
const (
	TargetMember  TargetKind = "member"  // the channels that bring messages to the user alone
	TargetRota    TargetKind = "rota"    // those of the users on duty
	TargetContact TargetKind = "contact" // those that bring messages to the contact alone
)

// Target stands for the channels of a person.
type Target struct {
	Kind TargetKind `json:"kind"`
	ID   int64      `json:"id"` // of a member the user's
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
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
}

// EndEarly ends the silence now, or before it begins. It returns false when it has
// ended already.
func (s *Silence) EndEarly(now Time) bool { return endEarly(s.StartsAt, &s.EndsAt, now) }

// DeliveryKind is the reason for a message.
type DeliveryKind string

// The kinds of deliveries.
const (
	DeliveryOpened    DeliveryKind = "opened"     // first message of a level, also of later escalation levels
	DeliveryEscalated DeliveryKind = "escalated"  // the severity rose to critical
	DeliveryRepeat    DeliveryKind = "repeat"     // reminder
	DeliveryRecovery  DeliveryKind = "recovery"   // the alert is over
	DeliveryDigest    DeliveryKind = "digest"     // several alerts together
	DeliveryTest      DeliveryKind = "test"       // a person tries a channel
	DeliveryFallback  DeliveryKind = "fallback"   // another channel keeps failing
	DeliveryReport    DeliveryKind = "report"     // a scheduled report
	DeliveryEvent     DeliveryKind = "event"      // to a webhook; Body is nil in the store, which has the event
	DeliveryHandOver  DeliveryKind = "hand_over"  // somebody comes on duty, or goes
	DeliveryOrder     DeliveryKind = "work_order" // a member is given a work order
	DeliveryCheck     DeliveryKind = "check"      // a round is due, or was missed
	DeliveryUnrouted  DeliveryKind = "unrouted"   // a critical alert that no route brings to anybody
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
	AlertID       int64  // 0 for tests and digests
	ChannelID     int64  // of a webhook its id, negative
	Subject       string // of an event: those of one go to a webhook in order
	RouteID       int64  // 0 = the default route
	Level         int    // escalation level, from 0
	Kind          DeliveryKind
	Status        DeliveryStatus
	Urgent        bool // of a critical alert: it is sent before others
	InDoubt       bool // it may have been received although it does not count as sent
	Attempts      int
	NextAttemptAt Time
	CreatedAt     Time
	SentAt        Time
	LastError     string // as Sentence.Stored returns it
	Body          []byte // the message, as JSON
}

// Bounds of notifications, in bytes and in numbers.
const (
	MaxChannels           = 100 // of a workspace
	MaxRoutes             = 100 // of a workspace
	MaxURLLen             = 2000
	MaxWays               = 10   // of a member, besides devices
	MaxWayAfterS          = 3600 // of an own way
	MaxCommentLen         = 500
	MaxDeliveryKeyLen     = 200
	MaxDeliveryErrorLen   = 1000
	MaxDeliveryBodyLen    = 64 << 10
	MaxRecipients         = 20
	MaxRouteSteps         = 10
	MaxStepTargets        = 20
	MaxMatchers           = 1000 // of one kind
	MaxTypeLen            = 64   // of alert types and equipment types
	MaxSilences           = 500  // of a workspace, see SpansKept
	MaxMaintenanceWindows = 500  // of a workspace that no plan has made, see SpansKept
	MaxSilence            = 30 * Day
	MaxMaintenance        = 30 * Day

	// SpansKept is how long silences and maintenance windows that are over count
	// against the most that a workspace may have: notifications look back at them.
	SpansKept = 7 * Day

	minRepeatS  = 60
	maxDelayS   = 7 * 24 * 3600
	minutesADay = 24 * 60
)

// Check reports why c cannot be stored: CodeValidationFailed with the
// fields name, kind, to, url, secret, owner_id, after_s, quiet_from, fallback_channel_id, language, units, clock, dates.
func (c *Channel) Check() error {
	e := checkName(c.Name)
	e = CheckText(e, "url", c.URL, MaxURLLen)
	switch c.Kind {
	case ChannelEmail:
		e = checkRecipients(e, c.To)
		e = unused(e, "url", c.URL != "", c.Kind)
	case ChannelWebhook:
		e = checkWebhookURL(e, c.URL)
		e = unused(e, "to", len(c.To) > 0, c.Kind)
	case ChannelService:
		if scheme, rest, ok := strings.Cut(c.URL, "://"); !ok || scheme == "" || rest == "" {
			e = complain(e, "url", "must be the URL of a service, such as slack://… or ntfy://…")
		}
		e = unused(e, "to", len(c.To) > 0, c.Kind)
	case ChannelCall:
		if !strings.HasPrefix(c.URL, "twilio://") {
			e = complain(e, "url", "must be twilio://ACCOUNT_SID:AUTH_TOKEN@call?from=…&to=…")
		}
		e = unused(e, "to", len(c.To) > 0, c.Kind)
	case ChannelPush:
		e = checkSubscription(e, c)
	default:
		e = complain(e, "kind", "must be email, webhook, service, call or push")
	}
	switch c.Kind {
	case ChannelWebhook:
		e = checkSecret(e, c.Secret)
	case ChannelPush:
	default:
		e = unused(e, "secret", c.Secret != "", c.Kind)
	}
	switch {
	case c.OwnerID < 0 || c.OwnerID != 0 && c.Kind == ChannelWebhook:
		e = complain(e, "owner_id", "must be a member; a webhook is nobody's own")
	case c.OwnerID != 0 && c.Kind == ChannelEmail && len(c.To) > 1:
		e = complain(e, "to", "must be one address of a member's own")
	case c.OwnerID == 0 && (c.AfterS != 0 || c.Quiet != nil):
		e = complain(e, "owner_id", "is needed for what one member alone decides")
	}
	if c.AfterS < 0 || c.AfterS > MaxWayAfterS {
		e = complain(e, "after_s", "must be between 0 and %d", MaxWayAfterS)
	}
	if q := c.Quiet; q != nil && (!minuteOfDay(q.From) || !minuteOfDay(q.To) || q.From == q.To) {
		e = complain(e, "quiet_from", "must be two different times of day")
	}
	e = c.Locale.check(e)
	if c.FallbackID < 0 || (c.FallbackID != 0 && c.FallbackID == c.ID) {
		e = complain(e, "fallback_channel_id", "must be another channel")
	}
	return result(e)
}

// checkSubscription checks the subscription of a browser (Push API).
func checkSubscription(e *Error, c *Channel) *Error {
	if len(c.To) != 1 {
		e = complain(e, "to", "must name the person whose device it is")
	} else {
		e = checkRecipients(e, c.To)
	}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || (u.Port() != "" && !validPort(u.Port())) {
		e = complain(e, "endpoint", "must be an https URL")
	}
	key, auth, _ := strings.Cut(c.Secret, ".")
	if b, err := base64.RawURLEncoding.DecodeString(key); err != nil || !onCurve(b) {
		e = complain(e, "keys.p256dh", "must be a point of P-256 in base64url")
	}
	const authSize = 16 // bytes, RFC 8291
	if b, err := base64.RawURLEncoding.DecodeString(auth); err != nil || len(b) != authSize {
		e = complain(e, "keys.auth", "must be %d bytes in base64url", authSize)
	}
	return e
}

func onCurve(point []byte) bool {
	_, err := ecdh.P256().NewPublicKey(point)
	return err == nil
}

func unused(e *Error, field string, set bool, kind ChannelKind) *Error {
	if set {
		return complain(e, field, "does not belong to a channel of the kind %s", kind)
	}
	return e
}

func checkRecipients(e *Error, to []string) *Error {
	switch {
	case len(to) == 0:
		return complain(e, "to", "must name at least one e-mail address")
	case len(to) > MaxRecipients:
		return complain(e, "to", "must not name more than %d addresses", MaxRecipients)
	}
	for _, s := range to {
		a, err := mail.ParseAddress(s)
		if err != nil || a.Address != s || len(s) > MaxEmailLen || CheckText(nil, "to", s, MaxEmailLen) != nil {
			return complain(e, "to", "must be e-mail addresses such as kitchen@example.com")
		}
	}
	return e
}

// checkWebhookURL never repeats the URL: it may contain a secret.
func checkWebhookURL(e *Error, s string) *Error {
	u, err := url.Parse(s)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		return complain(e, "url", "must be an http or https URL")
	case u.User != nil:
		return complain(e, "url", "must not hold a user or password: the signature says who sends")
	case u.Port() != "" && !validPort(u.Port()):
		return complain(e, "url", "must have a port between 1 and 65535")
	case u.Fragment != "":
		return complain(e, "url", "must not have a fragment")
	}
	return e
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

func checkSecret(e *Error, s string) *Error {
	if _, ok := WebhookKey(s); !ok {
		return complain(e, "secret", "must be %s and 24 to 64 bytes as base64", WebhookSecretPrefix)
	}
	return e
}

// Check reports why r cannot be stored: CodeValidationFailed with the fields
// name, match.…, steps, repeat_s, quiet_hours, digest_at. That its channels exist
// is for the store to know.
func (r *Route) Check() error {
	e := checkName(r.Name)
	e = checkMatchers(e, &r.Match)
	e = checkSteps(e, r.Steps)
	if r.RepeatS != 0 && (r.RepeatS < minRepeatS || r.RepeatS > maxDelayS) {
		e = complain(e, "repeat_s", "must be 0 or between %d and %d", minRepeatS, maxDelayS)
	}
	if q := r.Quiet; q != nil && (!minuteOfDay(q.From) || !minuteOfDay(q.To) || q.From == q.To) {
		e = complain(e, "quiet_hours", "must be two different times of day")
	}
	if r.DigestAt != nil && !minuteOfDay(*r.DigestAt) {
		e = complain(e, "digest_at", "must be a time of day")
	}
	return result(e)
}

func checkSteps(e *Error, steps []RouteStep) *Error {
	if len(steps) == 0 || len(steps) > MaxRouteSteps {
		return complain(e, "steps", "must be between 1 and %d", MaxRouteSteps)
	}
	for i, s := range steps {
		if s.AfterS < 0 || s.AfterS > maxDelayS {
			return complain(e, "steps", "after_s must be between 0 and %d", maxDelayS)
		}
		if i > 0 && s.AfterS <= steps[i-1].AfterS {
			return complain(e, "steps", "after_s must rise from step to step")
		}
		if n := len(s.ChannelIDs) + len(s.Targets); n == 0 || n > MaxStepTargets {
			return complain(e, "steps", "must name between 1 and %d channels and targets each", MaxStepTargets)
		}
		for j, t := range s.Targets {
			if t.ID <= 0 || t.Kind != TargetMember && t.Kind != TargetRota && t.Kind != TargetContact || slices.Contains(s.Targets[:j], t) {
				return complain(e, "steps", "targets must be members, rotas and contacts, each once")
			}
		}
		if repeated(s.ChannelIDs) {
			return complain(e, "steps", "channel_ids must not name a channel twice")
		}
	}
	return e
}

func repeated[T ~string | ~int64](list []T) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

func checkMatchers(e *Error, m *Matchers) *Error {
	for _, s := range m.Severities {
		if s != Warning && s != Critical {
			e = complain(e, "match.severities", "must be warning or critical")
		}
	}
	e = checkMembers(e, "match.severities", m.Severities)
	e = checkMembers(e, "match.types", m.Types)
	e = checkMembers(e, "match.equipment_types", m.EquipmentTypes)
	e = checkIDs(e, "match.site_ids", m.SiteIDs)
	return checkIDs(e, "match.device_serials", m.DeviceIDs)
}

func checkMembers[T ~string](e *Error, field string, list []T) *Error {
	if len(list) > MaxMatchers {
		return complain(e, field, "must not have more than %d members", MaxMatchers)
	}
	for _, s := range list {
		if s == "" {
			return complain(e, field, "must not be empty")
		}
		if bad := CheckText(nil, field, string(s), MaxTypeLen); bad != nil {
			return Merge(e, bad)
		}
	}
	if repeated(list) {
		return complain(e, field, "must not name one twice")
	}
	return e
}

func checkIDs(e *Error, field string, list []int64) *Error {
	switch {
	case len(list) > MaxMatchers:
		return complain(e, field, "must not have more than %d members", MaxMatchers)
	case len(list) > 0 && slices.Min(list) <= 0:
		return complain(e, field, "must be known")
	case repeated(list):
		return complain(e, field, "must not name one twice")
	}
	return e
}

// Check reports why s cannot be stored: CodeValidationFailed with the
// fields match.…, starts_at, ends_at, comment, created_by.
func (s *Silence) Check() error {
	e := checkMatchers(nil, &s.Match)
	e = CheckText(e, "comment", s.Comment, MaxCommentLen)
	e = CheckText(e, "created_by", s.CreatedBy, MaxNameLen+MaxEmailLen+3)
	return result(checkSpan(e, s.StartsAt, s.EndsAt, MaxSilence))
}

// Check reports why d cannot be stored: CodeValidationFailed with the
// fields key, last_error, body.
func (d *Delivery) Check() error {
	e := CheckText(nil, "key", d.Key, MaxDeliveryKeyLen)
	if d.Key == "" {
		e = complain(e, "key", "must not be empty")
	}
	e = CheckText(e, "last_error", d.LastError, MaxDeliveryErrorLen)
	if len(d.Body) > MaxDeliveryBodyLen {
		e = complain(e, "body", "must be at most %d bytes long", MaxDeliveryBodyLen)
	}
	return result(e)
}

// Check reports why h cannot be stored: CodeValidationFailed with the
// field last_error.
func (h *ChannelHealth) Check() error {
	return result(CheckText(nil, "last_error", h.LastError, MaxDeliveryErrorLen))
}

// Coverage is whether somebody would be notified of a critical alert that began now, site
// by site.
type Coverage struct {
	Gaps     []CoverageGap // sites without anyone to notify, by id
	Anywhere bool          // somebody would be somewhere, or there is no device
	Held     []Hold        // silences and maintenance windows in force, the last to end first
}

// CoverageGap is a site without anyone to notify: of one device at least, or of all
// where they are silenced. SiteID 0 are the devices without a site.
type CoverageGap struct {
	SiteID int64
	Reason CoverageReason
}

// CoverageReason is the reason for a gap. "" = there is none.
type CoverageReason string

// The reasons, the first thing to do first.
const (
	CoverageNoChannel CoverageReason = "no_channel" // there is none
	CoverageOff       CoverageReason = "off"        // the channels are disabled
	CoverageFailing   CoverageReason = "failing"    // their last messages did not arrive
	CoverageUntested  CoverageReason = "untested"   // no message was sent through them yet
	CoverageNoRoute   CoverageReason = "no_route"   // no route matches, and no channel is known to work
	CoverageSilenced  CoverageReason = "silenced"   // by a silence or a maintenance window
)

// CoverageReasons lists the reasons in their order.
func CoverageReasons() []CoverageReason {
	return []CoverageReason{CoverageNoChannel, CoverageOff, CoverageFailing, CoverageUntested, CoverageNoRoute, CoverageSilenced}
}

// HoldKind is the kind of a hold.
type HoldKind string

// The kinds of holds.
const (
	HoldSilence     HoldKind = "silence"
	HoldMaintenance HoldKind = "maintenance"
)

// Hold is a silence or a maintenance window that holds messages back now.
type Hold struct {
	Kind      HoldKind
	ID        int64
	Match     Matchers // of a window sites and devices: any of them
	EndsAt    Time
	Comment   string
	CreatedBy string
}

// Reason returns the reason of the most urgent gap, "" without one.
func (c *Coverage) Reason() CoverageReason {
	for _, r := range CoverageReasons() {
		for i := range c.Gaps {
			if c.Gaps[i].Reason == r {
				return r
			}
		}
	}
	return ""
}
