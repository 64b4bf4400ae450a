package phrase

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
)

// Words write for one reader: in their language, with their units, on the clock
// of a place.
type Words struct {
	*catalogue.Texts
	locale rimewatch.Locale
	zone   *time.Location // nil: UTC, and it is said
	zones  map[string]*time.Location
}

// In returns the words for a reader, for use by one goroutine at a time. The
// empty locale reads English, °C and 24 hours.
func In(l rimewatch.Locale) Words {
	return Words{Texts: catalogue.Of(l.Language), locale: l, zones: make(map[string]*time.Location)}
}

// At returns the words with times on the clock of a place.
func (w Words) At(zone *time.Location) Words {
	w.zone = zone
	return w
}

// entry are the texts of one condition. In them %v is the
// value, %p the worst value, %l the limit, %V %P %L the same without a sign, %n
// the value without its unit, %o the number that %v is a part of, %m the
// measurement, %M the same with a capital, and %t how long the condition lasts
// or lasted.
type entry struct {
	title, ending string // headlines while it lasts and when it is over
	what, over    string // sentences while it lasts and when it is over
	begun         string // what, before there is a span to name: limits may be set without a delay
	urgent, do    string // what to do: first while it is critical, and in any case
	soon          string // what it may be as well while it is young
}

// key finds an entry. metric is "" where the type has only one.
type key struct {
	typ    rimewatch.AlertType
	metric string
}

// anyField is the metric of an entry for every measurement that has none of its own.
const anyField = "*"

// entryOf returns the entry for an alert: the one of its metric, filled up from
// the one of its type.
func entryOf(a *rimewatch.Alert) entry {
	e, known := conditions[key{a.Type, ""}]
	if !known {
		e = unknown
	}
	own, has := conditions[key{a.Type, a.Metric}]
	if a.Unmet != "" {
		own, has = conditions[key{a.Type, string(a.Unmet)}]
	}
	if _, measured := rimewatch.FieldByName(a.Metric); measured && !has {
		own, has = conditions[key{a.Type, anyField}]
	}
	if !has || a.Metric == "" {
		return e
	}
	return entry{
		title: cmp.Or(own.title, e.title), ending: cmp.Or(own.ending, e.ending), what: cmp.Or(own.what, e.what), over: cmp.Or(own.over, e.over), begun: cmp.Or(own.begun, e.begun),
		urgent: cmp.Or(own.urgent, e.urgent), do: cmp.Or(own.do, e.do), soon: cmp.Or(own.soon, e.soon),
	}
}

// On is At of a zone of the IANA database; one that is not known changes nothing.
func (w Words) On(name string) Words {
	zone, known := w.zones[name]
	if !known && name != "" {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = nil
		}
		w.zones[name] = zone
	}
	if zone != nil {
		w.zone = zone
	}
	return w
}

// For is At of the site of an alert.
func (w Words) For(v *rimewatch.AlertView) Words {
	if v.Site == nil {
		return w
	}
	return w.On(v.Site.TimeZone)
}

// TypeName names a type of alert, by which people choose it where they route and
// silence alerts: "Too warm".
func (w Words) TypeName(t rimewatch.AlertType) string {
	return w.Say(cmp.Or(typeNames[t], conditions[key{t, ""}].title))
}

// Title is the headline of an alert: "Too warm", "Dirty condenser: about 6 days
// left to act". It stands alone and stays the same when the alert is over.
func (w Words) Title(a *rimewatch.Alert) string {
	if a.Prediction != nil {
		return w.predictionTitle(a.Prediction)
	}
	return w.fill(entryOf(a).title, a)
}

// Headline is the title with how long the condition has lasted at a moment:
// "Voltage too low for 2 min".
func (w Words) Headline(a *rimewatch.Alert, now rimewatch.Time) string {
	t := w.Title(a)
	if lasting := now.Sub(began(a)); lasting >= time.Minute && a.Prediction == nil {
		t = w.Sayf("%s for %s", t, w.Span(lasting))
	}
	return t
}

// Ending is the headline of an alert that is over: "Voltage back to normal".
func (w Words) Ending(a *rimewatch.Alert) string {
	if a.Relearning != "" {
		return w.Say(relearningEnding)
	}
	if a.Superseded != "" {
		return w.Say(supersededEnding[a.Superseded])
	}
	if a.Prediction != nil {
		return w.Say(predictionEnding(a.EndedBecause()).title)
	}
	if a.EndedBecause() == rimewatch.EndedByPerson {
		return w.Say(byHand)
	}
	return w.fill(entryOf(a).ending, a)
}

// byHand is the headline of what a person resolved: nothing need have recovered.
const byHand = "Resolved by hand"

// Message says in a few sentences what is wrong and what to do, or, when the
// alert is over, how it ended, how bad it was and how long it lasted.
func (w Words) Message(a *rimewatch.Alert) string {
	what, advice := w.Parts(a)
	return join(what, advice)
}

// Parts is Message in two: what is wrong, and what to do about it, "" when there
// is nothing to do.
func (w Words) Parts(a *rimewatch.Alert) (what, advice string) {
	if a.Prediction != nil {
		return w.predictionParts(a)
	}
	e := entryOf(a)
	switch {
	case a.Status != rimewatch.AlertResolved && returned(a):
		_, departs := rimewatch.CutDeviation(a.Metric)
		switch e.what = backInside; {
		case departs:
			e.what = usualNow
		case a.Severity == rimewatch.Critical: // the limit may be the critical one: the alert need not end there
			e.what = noLongerBeyond
		}
	case e.begun != "" && (noSpan(a) || lasted(a) < time.Second && strings.Contains(e.what, "%t")):
		e.what = e.begun
	}
	switch {
	case a.Status != rimewatch.AlertResolved:
	case a.Relearning != "":
		return w.relearning(a.Relearning), ""
	case a.Superseded != "":
		return join(w.fill(supersededBy[a.Superseded], a), w.Say("Nothing has recovered.")), ""
	case a.Resolution != rimewatch.ResolvedAuto: // by a person, or its device is gone: the condition may still hold
		return w.fill(e.what, a), ""
	case a.Ending == rimewatch.EndedElsewhere:
		return w.fill(elsewhere, a), ""
	case a.Type == rimewatch.SiteOffline && value(a.Value) > 0:
		return w.fill(sitePartly, a), ""
	default:
		return join(w.fill(e.over, a), w.back(a), w.cameBack(a.Occurrences)), ""
	}
	flapping, urgent, more, soon := "", "", "", ""
	if lasted(a) < young {
		soon = w.Say(e.soon)
	}
	if a.Usual != nil {
		more = w.Sayf("The unit usually runs at %s: is the limit of %s right?", w.quantity(a.Usual, a.Unit), w.quantity(a.Threshold, a.Unit))
	}
	if a.Type == rimewatch.NotCooling && lasted(a) >= old {
		more = w.Say("Open for two weeks, in which nothing new was learned of this unit. Press “This is normal now” if it was set otherwise on purpose.")
	}
	if a.Alike > 0 {
		more = w.Sayf("%d units of this site are warming up at the same time, so look for one cause: the plant they share, the weather, an open gate.", a.Alike)
	}
	if a.Flapping {
		flapping = w.Say(flappingNote)
	}
	if a.Severity == rimewatch.Critical {
		urgent = w.Say(e.urgent)
	}
	return join(w.fill(e.what, a), more, flapping, w.hold(a.HoldH)), join(urgent, w.Say(e.do), soon)
}

// The sentences of an alert that is active although the value is within its limit: it has not
// stayed there for long enough.
const (
	backInside     = "%M: %v, back inside the limit of %l. The alert ends once it has stayed there."
	noLongerBeyond = "%M: %v, no longer beyond %l. The alert changes once it has stayed there."
	usualNow       = "At present the unit is not that far from what is usual for it. The alert changes once it has stayed there."
)

// returned reports whether the value of an alert is not beyond its limit at present, nor as far from the usual as counts.
func returned(a *rimewatch.Alert) bool {
	_, departs := rimewatch.CutDeviation(a.Metric)
	if a.Value == nil || a.Threshold == nil && !departs {
		return false
	}
	limit := 0.0
	if a.Threshold != nil {
		limit = *a.Threshold
	}
	switch {
	case a.Metric == rimewatch.RunLength, strings.HasPrefix(string(a.Type), "low_"):
		return *a.Value >= limit
	case departs, a.Metric == rimewatch.StartsPerHour, a.Metric == rimewatch.RunTimeShare, strings.HasPrefix(string(a.Type), "high_"):
		return *a.Value <= limit
	}
	return false
}

// noSpan reports whether the value of an alert is a time that is too short to be said.
func noSpan(a *rimewatch.Alert) bool {
	return a.Value != nil && (a.Unit == "s" && *a.Value < 1 || a.Unit == "min" && *a.Value < 1)
}

// old is how long nothing is learnt of a unit that an alert stands of: then a person has to say what is so.
const old = 14 * 24 * time.Hour

// young is how long an alert is so: no defrost and no delivery lasts longer.
const young = 2 * time.Hour

// Then is the message of an alert at the moment of a line of its timeline.
func (w Words) Then(t *rimewatch.AlertTransition) string {
	if t.Facts == nil {
		return ""
	}
	lead := ""
	if t.Kind == rimewatch.TransitionDeescalated {
		lead = w.Say(noLongerCritical)
	}
	return join(lead, w.Message(t.Facts))
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

// lasted is how long the condition had lasted when it ended or was last evaluated.
func lasted(a *rimewatch.Alert) time.Duration {
	end := a.LastEvaluatedAt
	switch {
	case a.BackSince != 0:
		end = a.BackSince
	case a.ResolvedAt != 0:
		end = a.ResolvedAt
	}
	return max(0, end.Sub(began(a)))
}

// back is, of an alert that is over, since when the value was back, and when it had stayed there
// for long enough: "Back inside since 08:31, all clear at 08:41."
func (w Words) back(a *rimewatch.Alert) string {
	since, over := w.local(a.BackSince), w.local(a.ResolvedAt)
	if a.BackSince == 0 || a.ResolvedAt.Sub(a.BackSince) < time.Minute {
		return ""
	}
	from := w.Clock(since)
	if since.YearDay() != over.YearDay() || since.Year() != over.Year() {
		from = w.Date(since, false) + ", " + from
	}
	to := w.Clock(over)
	if w.zone == nil {
		to += " UTC"
	}
	return w.Sayf("Back inside since %s, all clear at %s.", from, to)
}

// fill puts an alert's facts into a text.
func (w Words) fill(text string, a *rimewatch.Alert) string {
	if text = w.Say(text); !strings.Contains(text, "%") {
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
		if fact, ok := w.factOf(text[i+1], a); ok {
			b.WriteString(fact)
			text = text[i+2:]
		} else {
			b.WriteByte('%')
			text = text[i+1:]
		}
	}
}

// factOf returns the fact that a letter stands for in a text.
func (w Words) factOf(letter byte, a *rimewatch.Alert) (string, bool) {
	switch letter {
	case 'v':
		return w.beside(a.Value, a.Threshold, a.Unit), true
	case 'p':
		return w.quantity(a.PeakValue, a.Unit), true
	case 'l':
		return w.beside(a.Threshold, a.Value, a.Unit), true
	case 'V':
		return w.beside(magnitude(a.Value), magnitude(a.Threshold), a.Unit), true
	case 'P':
		return w.quantity(magnitude(a.PeakValue), a.Unit), true
	case 'L':
		return w.beside(magnitude(a.Threshold), magnitude(a.Value), a.Unit), true
	case 'n':
		return w.quantity(a.Value, ""), true
	case 'o':
		of := float64(a.OutOf)
		return w.quantity(&of, ""), true
	case 'm':
		return w.Measure(a.Metric), true
	case 'M':
		return capital(w.Measure(a.Metric)), true
	case 't':
		return w.Span(lasted(a)), true
	default:
		return "", false
	}
}

// beside is quantity of one of two values that stand in a sentence: two that differ read otherwise.
func (w Words) beside(v, other *float64, unit string) string {
	s := w.quantity(v, unit)
	if v != nil && other != nil && *v != *other && s == w.quantity(other, unit) {
		return w.finer(*v, *other, unit)
	}
	return s
}

// finer writes a value with the decimals by which it differs from a limit.
func (w Words) finer(v, limit float64, unit string) string {
	if unit == "°C" && w.fahrenheit() {
		v, limit, unit = w.Temperature(v), w.Temperature(limit), "°F"
	}
	for decimals := 2; decimals < 7; decimals++ {
		if s := rimewatch.Decimal(round(v, decimals)); s != rimewatch.Decimal(round(limit, decimals)) {
			return w.Number(strings.TrimSuffix(s+"\u00a0"+unit, "\u00a0"))
		}
	}
	return w.Quantity(v, unit)
}

func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale)/scale + 0 // no −0
}

func magnitude(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := math.Abs(*v)
	return &m
}

// quantity is Quantity as people say it: seconds and minutes are spans, and
// counts have no unit.
func (w Words) quantity(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	switch unit {
	case "s":
		return w.Span(time.Duration(*v * float64(time.Second)))
	case "min":
		if *v >= 10 {
			return w.Span(time.Duration(*v * float64(time.Minute)))
		}
	case "1/h", "1/d":
		unit = ""
	}
	return w.Quantity(*v, unit)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
