package rimewatch

import (
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The longest texts that control data may hold, in bytes.
const (
	MaxNameLen         = 200 // of workspaces, sites, people and tokens
	MaxEmailLen        = 254 // RFC 5321, 4.5.3.1.3
	MaxAddressLen      = 500
	MaxTimeZoneLen     = 64
	MaxUserAgentLen    = 300
	MaxPasswordHashLen = 300
)

// TextKey returns the form in which names are compared. Stores use it because the
// ideas of case of their engines differ.
func TextKey(s string) string { return strings.ToLower(s) }

// EmailKey returns the form in which e-mail addresses are stored and compared: only
// ASCII letters lose their case. The lower case of other characters can be an
// ASCII letter (U+212A becomes k), and so another person's address.
func EmailKey(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// CheckText adds to e what is wrong with a text: database engines treat invalid
// UTF-8 and NUL differently, so none is given any. It returns e, or a new error
// if e is nil and something is wrong.
func CheckText(e *Error, field, s string, maxLen int) *Error {
	switch {
	case len(s) > maxLen:
		return complain(e, field, "must be at most %d bytes long", maxLen)
	case !utf8.ValidString(s):
		return complain(e, field, "must be valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return complain(e, field, "must not contain NUL")
	}
	return e
}

// complain is e.With, and Invalid if there is no error yet.
func complain(e *Error, field, format string, args ...any) *Error {
	if e == nil {
		return Invalid(field, format, args...)
	}
	return e.With(field, format, args...)
}

// OneLine reports whether a text stays on its line wherever it is shown: a name
// with a line break could write lines of its own into what people read.
func OneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) })
}

// NameFrom returns what a device calls itself as a name that a device may have: on
// one line, trimmed, at most MaxNameLen characters. "" = nothing of it can be shown.
func NameFrom(s string) string {
	name := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !OneLine(string(r)) {
			return ' '
		}
		return r
	}, s)))
	return strings.TrimSpace(string(name[:min(len(name), MaxNameLen)]))
}

// Shorten cuts a text that is longer than so many bytes, and ends it with an ellipsis.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(most, 0)], "") + "…"
}

func checkName(s string) *Error {
	if strings.TrimSpace(s) == "" {
		return Invalid("name", "must not be empty")
	}
	return checkLine(nil, "name", s)
}

func checkLine(e *Error, field, s string) *Error {
	if bad := CheckText(nil, field, s, MaxNameLen); bad != nil {
		return Merge(e, bad)
	}
	if !OneLine(s) {
		return complain(e, field, "must not contain control characters")
	}
	return e
}

// result avoids the nil *Error in a non-nil error.
func result(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

// Check reports why w cannot be stored: CodeValidationFailed with the
// fields name, timezone, raw_days, rollup_days, limits.<type>.….
func (w *Workspace) Check() error {
	e := checkName(w.Name)
	e = checkTimeZone(e, w.TimeZone)
	if w.Slug != "" {
		if wrong := CheckSlug(w.Slug); wrong != nil {
			e = Merge(e, wrong)
		}
	}
	if w.RawDays < 1 {
		e = complain(e, "raw_days", "must be at least 1")
	}
	if w.RollupDays < w.RawDays {
		e = complain(e, "rollup_days", "must not be below raw_days")
	}
	if w.OnUnknown != "" && !w.OnUnknown.Valid() {
		e = complain(e, "on_unknown", "must be hold, register or refuse")
	}
	for slug := range w.Limits {
		if _, known := EquipmentBySlug(slug); !known {
			e = complain(e, "limits."+slug, "is not a known equipment type")
			continue
		}
		d := Device{EquipmentType: slug, WorkspaceLimits: w.LimitsOf(slug)}
		limits := d.LimitsInForce()
		if wrong := limits.Check(); wrong != nil {
			for field := range wrong.Fields {
				own := strings.Replace(field, "limits.", "limits."+slug+".", 1)
				e = Merge(e, invalid().Take(own, wrong, field))
			}
		}
	}
	return result(e)
}

func checkTimeZone(e *Error, s string) *Error {
	if s == "" {
		return complain(e, "timezone", "must not be empty")
	}
	return CheckText(e, "timezone", s, MaxTimeZoneLen)
}

// CheckZone checks an IANA name: CodeValidationFailed on timezone. "Local" is
// the machine's zone and means nothing to anyone else.
func CheckZone(name string) error { return result(checkZone(name)) }

func checkZone(name string) *Error {
	// Beside places the data have zones that count leap seconds, or mean none.
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "", "Local", "Factory", "posixrules", "posix", "right":
		return Invalid("timezone", "must be an IANA time zone such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return Invalid("timezone", "%q is not an IANA time zone such as Europe/Berlin", name)
	}
	return nil
}

// Check reports why s cannot be stored: CodeValidationFailed with the fields
// name, timezone, address.
func (s *Site) Check() error {
	e := checkName(s.Name)
	e = checkTimeZone(e, s.TimeZone)
	return result(CheckText(e, "address", s.Address, MaxAddressLen))
}

// CheckEmail adds to e why s cannot be stored as an e-mail address, on the
// field email.
func CheckEmail(e *Error, s string) *Error {
	e = CheckText(e, "email", s, MaxEmailLen)
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		e = complain(e, "email", "must be an e-mail address")
	}
	return e
}

// Check reports why u cannot be stored: CodeValidationFailed with the fields
// email, name, units, theme, password.
func (u *User) Check() error {
	e := CheckEmail(nil, u.Email)
	e = checkLine(e, "name", u.Name)
	e = CheckText(e, "password", u.PasswordHash, MaxPasswordHashLen)
	e = u.Locale.check(e)
	if u.Units == "" {
		e = complain(e, "units", "must be c or f")
	}
	if u.Theme != "system" && u.Theme != "light" && u.Theme != "dark" {
		e = complain(e, "theme", "must be system, light or dark")
	}
	return result(e)
}

// Check reports why m cannot be stored: CodeValidationFailed with the
// field role.
func (m *Member) Check() error {
	if !m.Role.Valid() {
		return Invalid("role", "must be owner, admin, technician or viewer")
	}
	if m.Sites != nil && m.Role.AtLeast(RoleAdmin) {
		return Invalid("site_ids", "limit technicians and viewers only")
	}
	if e := m.Sites.Check(); e != nil {
		return e
	}
	return nil
}

// Check reports why t cannot be stored: CodeValidationFailed with the
// fields name, scopes.
func (t *Token) Check() error {
	e := checkName(t.Name)
	e = CheckText(e, "prefix", t.Prefix, TokenLen)
	if x := t.Sites.Check(); x != nil {
		e = x
	}
	if t.Scopes == 0 || !scopesKnown.Has(t.Scopes) {
		e = complain(e, "scopes", "must name at least one scope, and only known ones")
	}
	return result(e)
}
