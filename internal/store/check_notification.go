package store

import (
	"crypto/rand"
	"encoding/base64"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// What notifications may hold, in bytes and in numbers.
const (
	MaxChannels    = 100 // of a workspace
	MaxRoutes      = 100 // of a workspace
	MaxURLLen      = 2000
	MaxCommentLen  = 500
	MaxKeyLen      = 200
	MaxErrorLen    = 1000
	MaxBodyLen     = 64 << 10
	MaxRecipients  = 20
	MaxRouteSteps  = 10
	MaxStepTargets = 20
	MaxMatchers    = 1000 // of one kind
	MaxTypeLen     = 64   // of alert types and equipment types
	MaxSilences    = 500  // of a workspace, see SpansKept
	MaxWindows     = 500  // of a workspace, see SpansKept
	MaxSilence     = 30 * rimewatch.Day
	MaxMaintenance = 30 * rimewatch.Day

	// SpansKept is how long silences and maintenance windows that are over count
	// against the most that a workspace may have: notifications look back at them.
	SpansKept = 7 * rimewatch.Day

	minRepeatS  = 60
	maxDelayS   = 7 * 24 * 3600
	minutesADay = 24 * 60
)

// WebhookSecretPrefix starts the secrets of webhooks, as Standard Webhooks asks.
const WebhookSecretPrefix = "whsec_"

// CheckChannel tells whether c can be stored: CodeValidationFailed with the
// fields name, kind, to, url, secret, fallback_channel_id.
func CheckChannel(c *rimewatch.Channel) error {
	e := checkName(nil, "name", c.Name)
	e = CheckText(e, "url", c.URL, MaxURLLen)
	switch c.Kind {
	case rimewatch.ChannelEmail:
		e = checkRecipients(e, c.To)
		e = unused(e, "url", c.URL != "", c.Kind)
	case rimewatch.ChannelWebhook:
		e = checkWebhookURL(e, c.URL)
		e = unused(e, "to", len(c.To) > 0, c.Kind)
	case rimewatch.ChannelService:
		if scheme, rest, ok := strings.Cut(c.URL, "://"); !ok || scheme == "" || rest == "" {
			e = with(e, "url", "must be the URL of a service, such as slack://… or ntfy://…")
		}
		e = unused(e, "to", len(c.To) > 0, c.Kind)
	default:
		e = with(e, "kind", "must be email, webhook or service")
	}
	if c.Kind == rimewatch.ChannelWebhook {
		e = checkSecret(e, c.Secret)
	} else {
		e = unused(e, "secret", c.Secret != "", c.Kind)
	}
	if c.FallbackID < 0 || (c.FallbackID != 0 && c.FallbackID == c.ID) {
		e = with(e, "fallback_channel_id", "must be another channel")
	}
	return result(e)
}

func unused(e *rimewatch.Error, field string, set bool, kind rimewatch.ChannelKind) *rimewatch.Error {
	if set {
		return with(e, field, "does not belong to a channel of the kind %s", kind)
	}
	return e
}

func checkRecipients(e *rimewatch.Error, to []string) *rimewatch.Error {
	switch {
	case len(to) == 0:
		return with(e, "to", "must name at least one e-mail address")
	case len(to) > MaxRecipients:
		return with(e, "to", "must not name more than %d addresses", MaxRecipients)
	}
	for _, s := range to {
		a, err := mail.ParseAddress(s)
		if err != nil || a.Address != s || len(s) > MaxEmailLen || CheckText(nil, "to", s, MaxEmailLen) != nil {
			return with(e, "to", "must be e-mail addresses such as kitchen@example.com")
		}
	}
	return e
}

// checkWebhookURL never says the URL: it may hold a secret.
func checkWebhookURL(e *rimewatch.Error, s string) *rimewatch.Error {
	u, err := url.Parse(s)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		return with(e, "url", "must be an http or https URL")
	case u.User != nil:
		return with(e, "url", "must not hold a user or password: the signature says who sends")
	case u.Port() != "" && !validPort(u.Port()):
		return with(e, "url", "must have a port between 1 and 65535")
	case u.Fragment != "":
		return with(e, "url", "must not have a fragment")
	}
	return e
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// NewWebhookSecret makes 32 random bytes in the form of Standard Webhooks.
func NewWebhookSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return WebhookSecretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// WebhookKey gives the bytes of a secret that sign: 24 to 64 of them, the range
// of Standard Webhooks; false when it is not such a secret.
func WebhookKey(secret string) ([]byte, bool) {
	encoded, ok := strings.CutPrefix(secret, WebhookSecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, ok && err == nil && len(key) >= 24 && len(key) <= 64 && !strings.ContainsAny(secret, "\r\n")
}

func checkSecret(e *rimewatch.Error, s string) *rimewatch.Error {
	if _, ok := WebhookKey(s); !ok {
		return with(e, "secret", "must be %s and 24 to 64 bytes as base64", WebhookSecretPrefix)
	}
	return e
}

// CheckRoute tells whether r can be stored: CodeValidationFailed with the fields
// name, match.…, steps, repeat_s, quiet_hours, digest_at. That its channels exist
// is for the store to know.
func CheckRoute(r *rimewatch.Route) error {
	e := checkName(nil, "name", r.Name)
	e = checkMatchers(e, &r.Match)
	e = checkSteps(e, r.Steps)
	if r.RepeatS != 0 && (r.RepeatS < minRepeatS || r.RepeatS > maxDelayS) {
		e = with(e, "repeat_s", "must be 0 or between %d and %d", minRepeatS, maxDelayS)
	}
	if q := r.Quiet; q != nil && (!minuteOfDay(q.From) || !minuteOfDay(q.To) || q.From == q.To) {
		e = with(e, "quiet_hours", "must be two different times of day")
	}
	if r.DigestAt != nil && !minuteOfDay(*r.DigestAt) {
		e = with(e, "digest_at", "must be a time of day")
	}
	return result(e)
}

func minuteOfDay(m int) bool { return m >= 0 && m < minutesADay }

func checkSteps(e *rimewatch.Error, steps []rimewatch.RouteStep) *rimewatch.Error {
	if len(steps) == 0 || len(steps) > MaxRouteSteps {
		return with(e, "steps", "must be between 1 and %d", MaxRouteSteps)
	}
	for i, s := range steps {
		if s.AfterS < 0 || s.AfterS > maxDelayS {
			return with(e, "steps", "after_s must be between 0 and %d", maxDelayS)
		}
		if i > 0 && s.AfterS <= steps[i-1].AfterS {
			return with(e, "steps", "after_s must rise from step to step")
		}
		if len(s.ChannelIDs) == 0 || len(s.ChannelIDs) > MaxStepTargets {
			return with(e, "steps", "channel_ids must name between 1 and %d channels", MaxStepTargets)
		}
		if repeated(s.ChannelIDs) {
			return with(e, "steps", "channel_ids must not name a channel twice")
		}
	}
	return e
}

func repeated[T ~string | ~int64](list []T) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

func checkMatchers(e *rimewatch.Error, m *rimewatch.Matchers) *rimewatch.Error {
	for _, s := range m.Severities {
		if s != rimewatch.Warning && s != rimewatch.Critical {
			e = with(e, "match.severities", "must be warning or critical")
		}
	}
	e = checkMembers(e, "match.severities", m.Severities)
	e = checkMembers(e, "match.types", m.Types)
	e = checkMembers(e, "match.equipment_types", m.EquipmentTypes)
	e = checkIDs(e, "match.site_ids", m.SiteIDs)
	return checkIDs(e, "match.device_serials", m.DeviceIDs)
}

func checkMembers[T ~string](e *rimewatch.Error, field string, list []T) *rimewatch.Error {
	if len(list) > MaxMatchers {
		return with(e, field, "must not have more than %d members", MaxMatchers)
	}
	for _, s := range list {
		if s == "" {
			return with(e, field, "must not be empty")
		}
		if bad := CheckText(nil, field, string(s), MaxTypeLen); bad != nil {
			return with(e, field, "%s", bad.Fields[field][0])
		}
	}
	if repeated(list) {
		return with(e, field, "must not name one twice")
	}
	return e
}

func checkIDs(e *rimewatch.Error, field string, list []int64) *rimewatch.Error {
	switch {
	case len(list) > MaxMatchers:
		return with(e, field, "must not have more than %d members", MaxMatchers)
	case len(list) > 0 && slices.Min(list) <= 0:
		return with(e, field, "must be known")
	case repeated(list):
		return with(e, field, "must not name one twice")
	}
	return e
}

// CheckSilence tells whether s can be stored: CodeValidationFailed with the
// fields match.…, starts_at, ends_at, comment, created_by.
func CheckSilence(s *rimewatch.Silence) error {
	e := checkMatchers(nil, &s.Match)
	e = CheckText(e, "comment", s.Comment, MaxCommentLen)
	e = CheckText(e, "created_by", s.CreatedBy, MaxNameLen+MaxEmailLen+3)
	return result(checkSpan(e, s.StartsAt, s.EndsAt, MaxSilence))
}

// CheckMaintenance tells whether w can be stored: CodeValidationFailed with the
// fields site_ids, device_serials, starts_at, ends_at, reason, created_by.
func CheckMaintenance(w *rimewatch.MaintenanceWindow) error {
	e := checkIDs(nil, "site_ids", w.SiteIDs)
	e = checkIDs(e, "device_serials", w.DeviceIDs)
	e = CheckText(e, "reason", w.Reason, MaxCommentLen)
	e = CheckText(e, "created_by", w.CreatedBy, MaxNameLen+MaxEmailLen+3)
	return result(checkSpan(e, w.StartsAt, w.EndsAt, MaxMaintenance))
}

func checkSpan(e *rimewatch.Error, from, to, most rimewatch.Time) *rimewatch.Error {
	if from < rimewatch.MinTime || from > rimewatch.MaxTime {
		e = with(e, "starts_at", "must be a time")
	}
	switch {
	case to < from:
		e = with(e, "ends_at", "must not be before starts_at")
	case to-from > most:
		e = with(e, "ends_at", "must be at most %d days after starts_at", most/rimewatch.Day)
	}
	return e
}

// CheckDelivery tells whether d can be stored: CodeValidationFailed with the
// fields key, last_error, body.
func CheckDelivery(d *rimewatch.Delivery) error {
	e := CheckText(nil, "key", d.Key, MaxKeyLen)
	if d.Key == "" {
		e = with(e, "key", "must not be empty")
	}
	e = CheckText(e, "last_error", d.LastError, MaxErrorLen)
	if len(d.Body) > MaxBodyLen {
		e = with(e, "body", "must be at most %d bytes long", MaxBodyLen)
	}
	return result(e)
}

// CheckHealth tells whether h can be stored: CodeValidationFailed with the
// field last_error.
func CheckHealth(h *rimewatch.ChannelHealth) error {
	return result(CheckText(nil, "last_error", h.LastError, MaxErrorLen))
}
