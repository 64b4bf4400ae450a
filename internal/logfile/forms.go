package logfile

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// timeLayouts are the forms of times in files, as people and machines write them. Fractions
// of a second may follow wherever there are seconds. Those that begin with the day stand
// before those that begin with the month: where a file does not show it, the day comes first.
var timeLayouts = []string{
	time.RFC3339,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02 15:04:05 Z0700",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006/1/2 15:04:05",
	"2006/1/2 15:04",
	"2006.01.02.15.04.05",
	"2006.1.2 15:04:05", "2006.1.2 15:04",
	"2.1.2006 15:04:05", "2.1.2006 15:04",
	"2.1.06 15:04:05", "2.1.06 15:04",
	"2-1-2006 15:04:05", "2-1-2006 15:04",
	"2/1/2006 15:04:05", "2/1/2006 15:04",
	"2/1/06 15:04:05", "2/1/06 15:04",
	"1/2/2006 15:04:05", "1/2/2006 15:04",
	"1/2/06 15:04:05", "1/2/06 15:04",
	"2/1/2006 3:04:05 PM", "2/1/2006 3:04 PM",
	"2/1/06 3:04:05 PM", "2/1/06 3:04 PM",
	"1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM",
	"1/2/06 3:04:05 PM", "1/2/06 3:04 PM",
	"2006-01-02 3:04:05 PM", "2006-01-02 3:04 PM",
	"2006/1/2 3:04:05 PM", "2006/1/2 3:04 PM",
	"2-Jan-2006 15:04:05", "2-Jan-2006 15:04", "2-Jan-06 15:04:05", "2-Jan-06 15:04",
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006, 15:04:05", "2 Jan 2006, 15:04",
	"Jan 2, 2006 15:04:05", "Jan 2, 2006 3:04:05 PM", "Jan 2, 2006 3:04 PM",
	"2006-01-02", "2.1.2006", "2/1/2006", "1/2/2006",
}

// shown returns a layout as people write it.
func shown(layout string) string {
	return strings.NewReplacer("2006", "yyyy", "Jan", "mmm", "15", "HH", "04", "MM", "05", "SS", "PM", "AM/PM", "Z07:00", "+HH:MM", "Z0700", "+HHMM",
		"01", "mm", "02", "dd", "06", "yy", "1", "m", "2", "d", "3", "H").Replace(layout)
}

// form is a form of times.
type form struct {
	name string
	// absolute is true where the text says the moment, and not what a clock in some zone shows.
	absolute bool
	// parse returns the moment, or of a clock the moment at which one in UTC shows the same.
	parse func(string) (rimewatch.Time, bool)
}

var forms = func() []form {
	all := make([]form, 0, 2+len(timeLayouts))
	all = append(all, form{"Unix seconds", true, unixTime(1000, 1e8, 1e11)}, form{"Unix milliseconds", true, unixTime(1, 1e11, 1e14)})
	for _, layout := range timeLayouts {
		all = append(all, form{shown(layout), strings.Contains(layout, "Z07"), func(s string) (rimewatch.Time, bool) {
			t, err := time.Parse(layout, s)
			at := rimewatch.Time(t.UnixMilli())
			return at, err == nil && at >= rimewatch.MinTime && at <= rimewatch.MaxTime
		}})
	}
	return all
}()

// unixTime reads numbers from low to high as times in units of ms milliseconds.
func unixTime(ms, low, high float64) func(string) (rimewatch.Time, bool) {
	return func(s string) (rimewatch.Time, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return rimewatch.Time(math.Round(v * ms)), err == nil && v >= low && v < high
	}
}

// plainTime returns the text of a time with plain spaces and the signs that layouts know.
func plainTime(s string) string {
	if s = strings.TrimSpace(s); len(s) > 2*longTime {
		return s[:longTime] // it is none
	}
	plain := true
	for i := range len(s) {
		plain = plain && s[i] < 0x80 && s[i]|0x20 != 'm' && s[i]|0x20 != 'u'
	}
	if plain {
		return s
	}
	s = strings.TrimSuffix(dialect.Replace(s), ":")
	if strings.HasSuffix(s, "m.") || strings.HasSuffix(s, "M.") { // 1:05 p. m.
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), " m", "m")
	}
	for _, end := range []string{" UTC", " GMT"} {
		if before, ok := strings.CutSuffix(s, end); ok {
			return before + "Z"
		}
	}
	switch n := len(s); {
	case n > 2 && strings.EqualFold(s[n-2:], "am"), n > 2 && strings.EqualFold(s[n-2:], "pm"):
		s = strings.TrimSpace(s[:n-2]) + " " + strings.ToUpper(s[n-2:])
	}
	return strings.TrimSpace(s)
}

var dialect = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u3000", " ", "年", "/", "月", "/", "日", "", "時", ":", "分", ":", "秒", "", " Uhr", "")

// sniffTime finds the form of the times in a column: the one that all of the first rows have,
// or, where several fit (is 3/4 in March or in April?), the one by which time runs back least
// and most evenly forth. It returns nil when there is none.
func sniffTime(texts []string) (best *form) {
	leastBack, leastUneven := 0, 0.0
	for i := range forms {
		back, uneven, ok := flow(texts, forms[i].parse)
		if ok && (best == nil || back < leastBack || (back == leastBack && uneven < leastUneven)) {
			best, leastBack, leastUneven = &forms[i], back, uneven
		}
	}
	return best
}

const (
	// sure is how many rows must have a form before it is believed.
	sure = 100
	// mostOdd is how many times as many rows have a form as have not: a report has lines
	// below its table, of which there may be maxFooter in any case.
	mostOdd   = 3
	maxFooter = 8
)

// flow reads a column in one form and returns how often time runs against the direction that
// it mostly has, and how unevenly it goes: the longest step as a multiple of the mean. It is
// not ok when the first rows do not have the form.
func flow(texts []string, parse func(string) (rimewatch.Time, bool)) (against int, uneven float64, ok bool) {
	var first, last, longest rimewatch.Time
	seen, odd, back, forth := 0, 0, 0, 0
	for _, s := range texts {
		if s == "" {
			continue
		}
		t, ok := parse(s)
		if !ok { // a row that is wrong, or a form that fits only the first days of the month
			if odd++; seen < sure && odd > maxFooter+seen/mostOdd {
				return 0, 0, false
			}
			continue
		}
		switch seen++; {
		case seen == 1:
			first = t
		case t < last:
			back++
			longest = max(longest, last-t)
		case t > last:
			forth++
			longest = max(longest, t-last)
		}
		last = t
	}
	if last != first {
		uneven = math.Abs(float64(longest) * float64(seen-1) / float64(last-first))
	}
	return min(back, forth) + odd, uneven, seen > 0 && odd <= max(seen/mostOdd, min(seen, maxFooter))
}
