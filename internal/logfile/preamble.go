package logfile

import (
	"regexp"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch/internal/inlet"
)

// preamble is what a file states above its table.
type preamble struct {
	serial string // of the logger; "" = it states none
	unit   string // of temperatures, C, F or K
	zone   *time.Location
	said   string // how it states the zone
}

var (
	aSerial = regexp.MustCompile(`(?i)\bserial|\bs/?n\b|seriennummer|n[úu]mero de serie|num[ée]ro de s[ée]rie|\blogger[ _]?id\b|シリアル`)
	aUnit   = regexp.MustCompile(`(?i)\bunits?\b|einheit|unidad|unit[ée]|単位`)
	aZone   = regexp.MustCompile(`(?i)time ?zone|zeitzone|zona horaria|fuseau|\b(?:utc|gmt)\b.*offset|タイムゾーン`)
	// aName is a serial as loggers write theirs.
	aName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{2,63}$`)
	// inHeading finds a serial in a heading: "Temp, °C (LGR S/N: 20112233, SEN S/N: 20112233)".
	inHeading = regexp.MustCompile(`(?i)\bS/N:? ?([A-Za-z0-9._-]{3,64})`)
	// offset finds how far a text says that times are ahead of UTC.
	offset = regexp.MustCompile(`(?:GMT|UTC) ?([+−-]) ?(\d{1,2})(?::?(\d\d))?`)
	// bare is an offset and nothing else.
	bare = regexp.MustCompile(`^([+−-]) ?(\d{1,2})(?::?(\d\d))?(?: ?h)?$`)
)

// read takes what the lines above a table state, of which the first of each kind counts.
func (p *preamble) read(lines []string, comma byte) {
	for _, line := range lines {
		key, value := pairOf(line, comma)
		if value == "" {
			continue
		}
		switch {
		case aSerial.MatchString(key):
			if p.serial == "" && aName.MatchString(value) {
				p.serial = value
			}
		case aZone.MatchString(key):
			if zone := zoneOf(value); zone != nil && p.zone == nil {
				p.zone, p.said = zone, value
			}
		case aUnit.MatchString(key):
			if u := degree(value); u != "" && p.unit == "" {
				p.unit = u
			}
		}
	}
}

// pairOf returns a line as what it states something of, and what.
func pairOf(line string, comma byte) (key, value string) {
	cells := split(line, comma, nil)
	if len(cells) > 1 && cells[0] != "" {
		return strings.TrimRight(cells[0], " :"), cells[1]
	}
	key, value, _ = strings.Cut(strings.Trim(line, "\"\r "+string(comma)), ":")
	return strings.TrimSpace(key), strings.TrimSpace(value)
}

// degree returns which unit of temperature a text is, C, F or K, "" = none.
func degree(text string) string {
	for _, as := range [...]string{text, "[" + text + "]", "[°" + text + "]"} {
		if _, unit, _ := inlet.Heading(as); unit != "" {
			return letter(unit)
		}
	}
	return ""
}

// letter returns the letter of a unit of temperature as inlet.Heading returns it, "" of any
// other.
func letter(unit string) string {
	switch u := strings.TrimPrefix(unit, "deg"); {
	case strings.HasPrefix(u, "c"):
		return "C"
	case strings.HasPrefix(u, "f"):
		return "F"
	case strings.HasPrefix(u, "k"):
		return "K"
	}
	return ""
}

// zoneOf returns the time zone that a text names, nil = none.
func zoneOf(text string) *time.Location {
	if m := offset.FindStringSubmatch(text); m != nil {
		return fixed(m)
	}
	if m := bare.FindStringSubmatch(text); m != nil {
		return fixed(m)
	}
	if text == "UTC" || text == "GMT" || text == "Z" {
		return time.UTC
	}
	if !strings.Contains(text, "/") {
		return nil
	}
	zone, err := time.LoadLocation(text)
	if err != nil {
		return nil
	}
	return zone
}

// fixed returns the zone of a matched offset.
func fixed(m []string) *time.Location {
	number := func(s string) (n int) {
		for _, c := range s {
			n = 10*n + int(c-'0')
		}
		return n
	}
	s := number(m[2])*3600 + number(m[3])*60
	if s > 15*3600 {
		return nil
	}
	sign := "+"
	if m[1] != "+" {
		s, sign = -s, "-"
	}
	minutes := m[3]
	if minutes == "" {
		minutes = "00"
	}
	return time.FixedZone("UTC"+sign+strings.Repeat("0", 2-len(m[2]))+m[2]+":"+minutes, s)
}
