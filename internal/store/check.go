package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
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

// TextKey is the form in which names and e-mail addresses are compared. Every
// engine uses this one function, because the engines' own ideas of case differ.
func TextKey(s string) string { return strings.ToLower(s) }

// CheckText adds to e what is wrong with a text: no engine keeps invalid UTF-8
// and NUL alike, so none is given any. It returns e, or a new error when e was
// nil and something is wrong.
func CheckText(e *rimewatch.Error, field, s string, maxLen int) *rimewatch.Error {
	switch {
	case len(s) > maxLen:
		return with(e, field, "must be at most %d bytes long", maxLen)
	case !utf8.ValidString(s):
		return with(e, field, "must be valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return with(e, field, "must not contain NUL")
	}
	return e
}

func with(e *rimewatch.Error, field, format string, args ...any) *rimewatch.Error {
	if e == nil {
		return rimewatch.Invalid(field, format, args...)
	}
	return e.With(field, format, args...)
}

// OneLine tells whether a text stays on its line wherever it is shown: a name
// with a line break could write lines of its own into what people are told.
func OneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) })
}

func checkName(e *rimewatch.Error, field, s string) *rimewatch.Error {
	if strings.TrimSpace(s) == "" {
		return with(e, field, "must not be empty")
	}
	return checkLine(e, field, s)
}

func checkLine(e *rimewatch.Error, field, s string) *rimewatch.Error {
	if bad := CheckText(nil, field, s, MaxNameLen); bad != nil {
		return with(e, field, "%s", bad.Fields[field][0])
	}
	if !OneLine(s) {
		return with(e, field, "must not contain control characters")
	}
	return e
}

// result avoids the nil *Error in a non-nil error.
func result(e *rimewatch.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// CheckWorkspace tells whether w can be stored: CodeValidationFailed with the
// fields name, timezone, raw_days, rollup_days, limits.<type>.….
func CheckWorkspace(w *rimewatch.Workspace) error {
	e := checkName(nil, "name", w.Name)
	e = checkTimeZone(e, w.TimeZone)
	if w.RawDays < 1 {
		e = with(e, "raw_days", "must be at least 1")
	}
	if w.RollupDays < w.RawDays {
		e = with(e, "rollup_days", "must not be below raw_days")
	}
	for slug := range w.Limits {
		if _, known := rimewatch.EquipmentBySlug(slug); !known {
			e = with(e, "limits."+slug, "is no known equipment type")
			continue
		}
		d := rimewatch.Device{EquipmentType: slug, WorkspaceLimits: w.LimitsOf(slug)}
		limits := d.LimitsInForce()
		if wrong := limits.Check(); wrong != nil {
			for field, what := range wrong.Fields {
				e = with(e, strings.Replace(field, "limits.", "limits."+slug+".", 1), "%s", what[0])
			}
		}
	}
	return result(e)
}

func checkTimeZone(e *rimewatch.Error, s string) *rimewatch.Error {
	if s == "" {
		return with(e, "timezone", "must not be empty")
	}
	return CheckText(e, "timezone", s, MaxTimeZoneLen)
}

// CheckSite tells whether s can be stored: CodeValidationFailed with the fields
// name, timezone, address.
func CheckSite(s *rimewatch.Site) error {
	e := checkName(nil, "name", s.Name)
	e = checkTimeZone(e, s.TimeZone)
	return result(CheckText(e, "address", s.Address, MaxAddressLen))
}

// CheckUser tells whether u can be stored: CodeValidationFailed with the fields
// email, name, units, theme, password.
func CheckUser(u *rimewatch.User) error {
	e := CheckText(nil, "email", u.Email, MaxEmailLen)
	if at := strings.LastIndexByte(u.Email, '@'); at < 1 || at == len(u.Email)-1 || strings.ContainsAny(u.Email, " \t\r\n<>") {
		e = with(e, "email", "must be an e-mail address")
	}
	e = checkLine(e, "name", u.Name)
	e = CheckText(e, "password", u.PasswordHash, MaxPasswordHashLen)
	if u.Units != "c" && u.Units != "f" {
		e = with(e, "units", "must be c or f")
	}
	if u.Theme != "system" && u.Theme != "light" && u.Theme != "dark" {
		e = with(e, "theme", "must be system, light or dark")
	}
	return result(e)
}

// CheckMember tells whether m can be stored: CodeValidationFailed with the
// field role.
func CheckMember(m *rimewatch.Member) error {
	if !m.Role.Valid() {
		return rimewatch.Invalid("role", "must be owner, admin, technician or viewer")
	}
	return nil
}

// CheckSession tells whether s can be stored: CodeValidationFailed with the
// fields user_agent, address.
func CheckSession(s *Session) error {
	e := CheckText(nil, "user_agent", s.UserAgent, MaxUserAgentLen)
	return result(CheckText(e, "address", s.Address, MaxAddressLen))
}

// CheckToken tells whether t can be stored: CodeValidationFailed with the
// fields name, scopes.
func CheckToken(t *rimewatch.Token) error {
	e := checkName(nil, "name", t.Name)
	e = CheckText(e, "prefix", t.Prefix, rimewatch.TokenLen)
	if t.Scopes == 0 || !rimewatch.ScopesFull.Has(t.Scopes) {
		e = with(e, "scopes", "must name at least one scope, and only known ones")
	}
	return result(e)
}
