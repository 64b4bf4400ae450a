package rimewatch

import "cmp"

// Locale is how a person, or those behind a channel, read: the language of
// sentences, and the forms of temperatures, times and dates. Empty members stand
// for the defaults; times are always on the clock of the site they are about.
type Locale struct {
	Language string `json:"language,omitempty"` // of a catalogue, such as "es"; "" = English, for a person that of the browser
	Units    string `json:"units,omitempty"`    // "c" or "f"; "" = c
	Clock    string `json:"clock,omitempty"`    // "24h" or "12h"; "" = 24h
	Dates    string `json:"dates,omitempty"`    // order: "dmy", "mdy" or "ymd"; "" = dmy
}

// Full returns l with the defaults in place of empty members, but for the
// language.
func (l Locale) Full() Locale {
	return Locale{l.Language, cmp.Or(l.Units, "c"), cmp.Or(l.Clock, "24h"), cmp.Or(l.Dates, "dmy")}
}

// maxLanguageLen bounds a language's tag, in bytes.
const maxLanguageLen = 16

// check adds what is wrong with l under the fields language, units, clock and
// dates.
func (l *Locale) check(e *Error) *Error {
	if len(l.Language) > maxLanguageLen || !isTag(l.Language) {
		e = complain(e, "language", "must be the tag of a language, such as es")
	}
	if l.Units != "" && l.Units != "c" && l.Units != "f" {
		e = complain(e, "units", "must be c or f")
	}
	if l.Clock != "" && l.Clock != "24h" && l.Clock != "12h" {
		e = complain(e, "clock", "must be 24h or 12h")
	}
	if l.Dates != "" && l.Dates != "dmy" && l.Dates != "mdy" && l.Dates != "ymd" {
		e = complain(e, "dates", "must be dmy, mdy or ymd")
	}
	return e
}

// isTag reports whether s has only what tags of languages are made of (RFC 5646).
func isTag(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
