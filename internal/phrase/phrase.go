package phrase

import (
	"math"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// entry is what the catalogue says about one condition. In its texts %v is the
// value, %p the worst value, %l the limit, %V %P %L the same without a sign, %n
// the value without its unit, %o the number that %v is a part of, %m the
// measurement, %M the same with a capital, and %t how long the condition lasts
// or lasted.
type entry struct {
	title, ending string // headlines while it lasts and when it is over
	what, over    string // sentences while it lasts and when it is over
	urgent, do    string // what to do: first while it is critical, and in any case
}

// key finds an entry. metric is "" where the type has only one.
type key struct {
	typ    rimewatch.AlertType
	metric string
}

// entryOf returns the entry for an alert: the one of its metric, filled up from
// the one of its type.
func entryOf(a *rimewatch.Alert) entry {
	e, known := conditions[key{a.Type, ""}]
	if !known {
		e = unknown
	}
	own, has := conditions[key{a.Type, a.Metric}]
	if !has || a.Metric == "" {
		return e
	}
	return entry{
		title: or(own.title, e.title), ending: or(own.ending, e.ending), what: or(own.what, e.what), over: or(own.over, e.over),
		urgent: or(own.urgent, e.urgent), do: or(own.do, e.do),
	}
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// TypeName names a type of alert, by which people choose it where they route and
// silence alerts: "Too warm".
func TypeName(t rimewatch.AlertType) string {
	return or(typeNames[t], conditions[key{t, ""}].title)
}

// Title is the headline of an alert: "Too warm", "Dirty condenser: about 6 days
// until it fails". It stands alone and stays the same when the alert is over.
func Title(a *rimewatch.Alert) string {
	if a.Prediction != nil {
		return predictionTitle(a.Prediction)
	}
	return fill(entryOf(a).title, a)
}

// Headline is the title with how long the condition has lasted at a moment:
// "Voltage too low for 2 min".
func Headline(a *rimewatch.Alert, now rimewatch.Time) string {
	t := Title(a)
	if lasting := now.Sub(began(a)); lasting >= time.Minute && a.Prediction == nil {
		t += " for " + rimewatch.Span(lasting)
	}
	return t
}

// Ending is the headline of an alert that is over: "Voltage back to normal".
func Ending(a *rimewatch.Alert) string {
	if a.Relearning != "" {
		return relearningEnding
	}
	if a.Prediction != nil {
		return predictionEnding
	}
	return fill(entryOf(a).ending, a)
}

// Message says in a few sentences what is wrong and what to do, or, when the
// alert is over, how it ended, how bad it was and how long it lasted.
func Message(a *rimewatch.Alert) string {
	if a.Prediction != nil {
		return predictionMessage(a)
	}
	e := entryOf(a)
	switch {
	case a.Status != rimewatch.AlertResolved:
	case a.Relearning != "":
		return relearning(a.Relearning)
	case a.Resolution != rimewatch.ResolvedAuto: // by a person, or its device is gone: the condition may still hold
		return fill(e.what, a)
	case a.Type == rimewatch.SiteOffline && value(a.Value) > 0:
		return fill(sitePartly, a)
	default:
		return join(fill(e.over, a), cameBack(a.Occurrences))
	}
	flapping, urgent := "", ""
	if a.Flapping {
		flapping = flappingNote
	}
	if a.Severity == rimewatch.Critical {
		urgent = e.urgent
	}
	return join(fill(e.what, a), flapping, hold(a.HoldH), urgent, e.do)
}

// Then is the message of an alert at the moment of a line of its timeline.
func Then(t *rimewatch.AlertTransition) string {
	if t.Facts == nil {
		return ""
	}
	lead := ""
	if t.Kind == rimewatch.TransitionDeescalated {
		lead = noLongerCritical
	}
	return join(lead, Message(t.Facts))
}

// join puts sentences behind each other, without the empty ones.
func join(sentences ...string) string {
	var b strings.Builder
	for _, s := range sentences {
		if s != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

// began is when the condition began, or else when the alert opened.
func began(a *rimewatch.Alert) rimewatch.Time {
	if a.ConditionStartedAt != 0 {
		return a.ConditionStartedAt
	}
	return a.TriggeredAt
}

// lasted is how long the condition had lasted when the alert ended or was last
// evaluated.
func lasted(a *rimewatch.Alert) time.Duration {
	end := a.LastEvaluatedAt
	if a.ResolvedAt != 0 {
		end = a.ResolvedAt
	}
	return max(0, end.Sub(began(a)))
}

// fill puts an alert's facts into a text.
func fill(text string, a *rimewatch.Alert) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		if fact, ok := factOf(text[i+1], a); ok {
			b.WriteString(fact)
			text = text[i+2:]
		} else {
			b.WriteByte('%')
			text = text[i+1:]
		}
	}
}

// factOf returns what a letter stands for in a text.
func factOf(letter byte, a *rimewatch.Alert) (string, bool) {
	switch letter {
	case 'v':
		return quantity(a.Value, a.Unit), true
	case 'p':
		return quantity(a.PeakValue, a.Unit), true
	case 'l':
		return quantity(a.Threshold, a.Unit), true
	case 'V':
		return quantity(magnitude(a.Value), a.Unit), true
	case 'P':
		return quantity(magnitude(a.PeakValue), a.Unit), true
	case 'L':
		return quantity(magnitude(a.Threshold), a.Unit), true
	case 'n':
		return quantity(a.Value, ""), true
	case 'o':
		of := float64(a.OutOf)
		return quantity(&of, ""), true
	case 'm':
		return Measure(a.Metric), true
	case 'M':
		return capital(Measure(a.Metric)), true
	case 't':
		return rimewatch.Span(lasted(a)), true
	default:
		return "", false
	}
}

func magnitude(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := math.Abs(*v)
	return &m
}

// quantity is rimewatch.Quantity as people say it: seconds and minutes are
// spans, a difference is in °C, and counts have no unit.
func quantity(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	switch unit {
	case "s":
		return rimewatch.Span(time.Duration(*v * float64(time.Second)))
	case "min":
		if *v >= 10 {
			return rimewatch.Span(time.Duration(*v * float64(time.Minute)))
		}
	case "K":
		unit = "°C"
	case "%RH":
		unit = "% RH"
	case "1/h", "1/d":
		unit = ""
	}
	return rimewatch.Quantity(*v, unit)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
