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

// What notifications may hold, in bytes and in numbers.
const (
	MaxChannels           = 100 // of a workspace
	MaxRoutes             = 100 // of a workspace
	MaxURLLen             = 2000
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
	MaxMaintenanceWindows = 500  // of a workspace, see SpansKept
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
// fields name, kind, to, url, secret, fallback_channel_id, language, units, clock, dates.
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
	e = c.Locale.check(e)
	if c.FallbackID < 0 || (c.FallbackID != 0 && c.FallbackID == c.ID) {
		e = complain(e, "fallback_channel_id", "must be another channel")
	}
	return result(e)
}

// checkSubscription reports what is wrong with the subscription of a browser (Push API).
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

// checkWebhookURL never says the URL: it may hold a secret.
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

func minuteOfDay(m int) bool { return m >= 0 && m < minutesADay }

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
		if len(s.ChannelIDs) == 0 || len(s.ChannelIDs) > MaxStepTargets {
			return complain(e, "steps", "channel_ids must name between 1 and %d channels", MaxStepTargets)
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

// Check reports why w cannot be stored: CodeValidationFailed with the
// fields site_ids, device_serials, starts_at, ends_at, reason, created_by.
func (w *MaintenanceWindow) Check() error {
	e := checkIDs(nil, "site_ids", w.SiteIDs)
	e = checkIDs(e, "device_serials", w.DeviceIDs)
	e = CheckText(e, "reason", w.Reason, MaxCommentLen)
	e = CheckText(e, "created_by", w.CreatedBy, MaxNameLen+MaxEmailLen+3)
	return result(checkSpan(e, w.StartsAt, w.EndsAt, MaxMaintenance))
}

func checkSpan(e *Error, from, to, most Time) *Error {
	if from < MinTime || from > MaxTime {
		e = complain(e, "starts_at", "must be a time")
	}
	switch {
	case to < from:
		e = complain(e, "ends_at", "must not be before starts_at")
	case to-from > most:
		e = complain(e, "ends_at", "must be at most %d days after starts_at", most/Day)
	}
	return e
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
