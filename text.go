package rimewatch

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The longest texts of control data, in bytes.
const (
	MaxNameLen         = 200 // of workspaces, sites, people and tokens
	MaxEmailLen        = 254 // RFC 5321, 4.5.3.1.3
	MaxAddressLen      = 500
	MaxTimeZoneLen     = 64
	MaxUserAgentLen    = 300
	MaxPasswordHashLen = 300
)

// CheckText adds complaints about a text to e: database engines treat invalid
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

// OneLine reports whether a text stays on its line wherever it is shown: a name
// with a line break could write lines of its own into what people read.
func OneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) })
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

// NameFrom turns a device's own name of itself into one that a device may have: on
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

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Quantity writes a value with at most one decimal (two for vibration), a true
// minus sign and its unit: "−8.3 °C". Without a unit it is the number alone.
func Quantity(v float64, unit string) string {
	scale := 10.0
	if unit == "mm/s" {
		scale = 100
	}
	s := strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
	if s == "-0" {
		s = "0"
	}
	s = strings.Replace(s, "-", "−", 1)
	if unit == "" {
		return s
	}
	return s + nbsp + unit
}

// Decimal writes a value with all its decimals and a true minus sign, never with an exponent.
func Decimal(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), "-", "−", 1)
}

// Span writes a time as people say it, all of it on one line: 40 s, 34 min, 2 h 5 min, 3 d 4 h.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d"+nbsp+"s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d"+nbsp+"min", int(d.Minutes()))
	case d < 48*time.Hour:
		return twoUnits(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		return twoUnits(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

func twoUnits(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d"+nbsp+"%s", a, unitA)
	}
	return fmt.Sprintf("%d"+nbsp+"%s"+nbsp+"%d"+nbsp+"%s", a, unitA, b, unitB)
}

// Share is a share of 0–1 in percent, rounded to some decimals, but never up to 100 nor down to 0:
// all and nothing are said only where they are so.
func Share(share float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	percent := math.Round(100*share*scale) / scale
	switch {
	case share < 1 && percent >= 100:
		return (100*scale - 1) / scale
	case share > 0 && percent <= 0:
		return 1 / scale
	}
	return percent
}

// MaxAddressURLLen bounds the address of an installation, in bytes.
const MaxAddressURLLen = 200

// NormalAddress returns the address of an installation, http://HOST or https://HOST with a port or a path,
// as it is stored: without a slash at its end. CodeValidationFailed with the field address where it is none.
// A user in it may be a password and is not repeated.
func NormalAddress(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || len(text) > MaxAddressURLLen:
		return "", Invalid("address", "must be http://HOST or https://HOST")
	case u.User != nil:
		return "", Invalid("address", "must be http://HOST or https://HOST, without a user")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", Invalid("address", "must have a port of 1 to 65535")
		}
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// OnlyHere reports whether a host, without a port, is this computer as seen from itself: no phone reaches it.
func OnlyHere(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// AddressOnlyHere reports whether an address leads to this computer alone.
func AddressOnlyHere(address string) bool {
	u, err := url.Parse(address)
	return err == nil && OnlyHere(u.Hostname())
}
