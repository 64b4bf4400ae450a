package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

const dash = "–"

// number writes a value to decimals, with a true minus.
func number(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if neg, ok := strings.CutPrefix(s, "-"); ok {
		if strings.Trim(neg, "0.") == "" {
			return neg
		}
		return "−" + neg
	}
	return s
}

// say is an English text in the reader's language.
func (r *Report) say(english string) string { return r.Words.Say(english) }

func (r *Report) sayf(english string, args ...any) string { return r.Words.Sayf(english, args...) }

// number is number with the reader's decimal sign.
func (r *Report) number(v float64, decimals int) string {
	return r.Words.Number(number(v, decimals))
}

// degrees writes a temperature without its unit, in the reader's.
func (r *Report) degrees(celsius float64, decimals int) string {
	v := r.Words.Temperature(celsius)
	if decimals < 0 { // as it was set: 5 °C is 41 °F, 2.2 °C 36 °F
		v = math.Round(v*100) / 100
	}
	return r.number(v, decimals)
}

// measured is degrees of what may be missing.
func (r *Report) measured(v *float64) string {
	if v == nil {
		return dash
	}
	return r.degrees(*v, 2)
}

// probed writes what a probe or its reference showed.
func (r *Report) probed(f rimewatch.Field, v float64) string {
	if f.IsTemperature() {
		v = r.Words.Temperature(v)
	}
	return r.entered(f, v)
}

// offBy writes a difference between two of a probe's values.
func (r *Report) offBy(f rimewatch.Field, v float64) string {
	if f.IsTemperature() && r.unit() == "°F" {
		v *= 9.0 / 5
	}
	return r.entered(f, v)
}

// entered writes a value to the decimals that a person gave it, with its unit.
func (r *Report) entered(f rimewatch.Field, v float64) string {
	unit := f.Info().Unit
	if f.IsTemperature() {
		unit = r.unit()
	}
	return r.number(math.Round(v*1000)/1000, -1) + " " + unit
}

func (r *Report) unit() string { return r.Words.Degree() }

// span writes s as hours and minutes, shorter ones to the second.
func span(s int64) string {
	switch {
	case s <= 0:
		return "0"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", (s+30)/60)
	default:
		m := (s + 30) / 60
		return fmt.Sprintf("%d h %02d min", m/60, m%60)
	}
}

// clock is a sentence about a clock that is ahead by so many seconds, below 0 behind.
func (r *Report) clock(ahead int64) string {
	if ahead < 0 {
		return r.sayf("Its clock is about %s behind. This log keeps the times that the device sent.", span(-ahead))
	}
	return r.sayf("Its clock is %s ahead. This log keeps the times that the device sent.", span(ahead))
}

func (r *Report) percent(v float64) string { return r.number(rimewatch.Share(v/100, 1), 1) + " %" }

// degreeMinutes writes how far and how long it was beyond a limit.
func (r *Report) degreeMinutes(kelvin float64) string {
	if r.Words.Degree() == "°F" {
		return r.number(kelvin*9/5, 0) + " °F·min"
	}
	return r.number(kelvin, 0) + " K·min"
}

// moment writes a time as the site's clock shows it, and in the hour that clocks which
// are set back show twice, with the name of the clock.
func (r *Report) moment(t rimewatch.Time) string {
	if t == 0 {
		return dash
	}
	at := t.Std().In(r.Zone)
	text := r.Words.Date(at, true) + ", " + r.Words.Clock(at)
	if twice(at) {
		text += " (" + phrase.ZoneName(at) + ")"
	}
	return text
}

// twice reports whether the clock of t's place shows t a second time, before or after.
func twice(t time.Time) bool {
	_, offset := t.Zone()
	for _, away := range []time.Duration{-3 * time.Hour, 3 * time.Hour} { // no clock is set back further
		if _, other := t.Add(away).Zone(); other != offset {
			again := t.Add(time.Duration(offset-other) * time.Second)
			if _, then := again.Zone(); then == other {
				return true
			}
		}
	}
	return false
}

func (r *Report) day(t rimewatch.Time) string {
	if t == 0 {
		return dash
	}
	return r.Words.Date(t.Std().In(r.Zone), true)
}

// limits writes the limits in one line.
func (r *Report) limits(l *rimewatch.Limits) string {
	switch {
	case l.TempMin != nil && l.TempMax != nil:
		return r.sayf("%s to %s", r.degrees(*l.TempMin, -1), r.degrees(*l.TempMax, -1)) + " " + r.unit()
	case l.TempMax != nil:
		return r.sayf("at most %s", r.degrees(*l.TempMax, -1)+" "+r.unit())
	case l.TempMin != nil:
		return r.sayf("at least %s", r.degrees(*l.TempMin, -1)+" "+r.unit())
	default:
		return r.say("none set")
	}
}

// critical writes the critical limits, "" without any.
func (r *Report) critical(l *rimewatch.Limits) string {
	var parts []string
	if l.CriticalMin != nil {
		parts = append(parts, r.sayf("below %s", r.degrees(*l.CriticalMin, -1)+" "+r.unit()))
	}
	if l.CriticalMax != nil {
		parts = append(parts, r.sayf("above %s", r.degrees(*l.CriticalMax, -1)+" "+r.unit()))
	}
	return strings.Join(parts, ", ")
}

// source returns the source of the limits.
func (d *Device) source() string {
	if d.Limits.Source == "equipment_type" {
		return d.Equipment.Basis
	}
	return cmp.Or(sources[d.Limits.Source], d.Limits.Source)
}

var sources = map[string]string{"device": "set for this device", "workspace": "set by the workspace for this type of equipment"}

// interval writes how often the device was read.
func (r *Report) interval(s float64, readings int64) string {
	switch {
	case readings == 0 || s <= 0:
		return r.say("no readings")
	case s < 90:
		return r.sayf("every %.0f s, %d readings", s, readings)
	default:
		return r.sayf("every %.0f min, %d readings", s/60, readings)
	}
}

var causes = map[rimewatch.ExcursionCause]string{
	rimewatch.CauseDefrost: "Defrost", rimewatch.CauseDoor: "Door open", rimewatch.CauseLoading: "Loading", rimewatch.CauseFault: "Equipment fault",
	rimewatch.CausePower: "Power supply", rimewatch.CauseSensor: "Doubtful sensor", rimewatch.CauseUnknown: "Unknown",
}

var dispositions = map[rimewatch.Disposition]string{
	rimewatch.DispositionRelease: "product released", rimewatch.DispositionHold: "product on hold",
	rimewatch.DispositionDiscard: "product discarded", rimewatch.DispositionNone: "no product affected",
	"": "not said",
}

var methods = map[string]string{
	"ice_point": "Ice point", "reference_probe": "Reference probe", "certificate": "Certificate", "other": "Other",
}

// doer returns the doer of an action, and the source of the name where nobody was signed in.
func (r *Report) doer(d *rimewatch.Doer, recordedBy string) string {
	name := d.Name
	if d.Firm != "" {
		name = fmt.Sprintf("%s (%s)", d.Name, d.Firm)
	}
	switch d.Kind {
	case rimewatch.DoerExternal:
		return r.sayf("%s, as entered by %s", name, recordedBy)
	case rimewatch.DoerToken:
		return r.sayf("%s, as said by the token %s", name, d.Token)
	case rimewatch.DoerPerson, rimewatch.DoerUnverified:
	}
	return name
}

// lateEntry is how much later than it was done something is recorded that is said to be entered later.
const lateEntry = rimewatch.Hour

// action writes a corrective action as sentences.
func (r *Report) action(a *rimewatch.CorrectiveAction) string {
	var b strings.Builder
	performed := a.PerformedDoer()
	fmt.Fprintf(&b, "%s, %s: %s", r.moment(a.PerformedAt), r.doer(&performed, a.RecordedBy), sentence(a.Action))
	if a.At-a.PerformedAt > lateEntry {
		b.WriteString(" " + r.sayf("Entered %s.", r.moment(a.At)))
	}
	if a.AlertID == 0 {
		r.repair(&b, a)
		return b.String()
	}
	b.WriteString(" " + r.sayf("Cause: %s", sentence(a.Cause)))
	b.WriteString(" " + r.sayf("Disposition: %s", r.say(dispositions[a.Disposition])))
	if a.DispositionDetail != "" {
		b.WriteString(", " + strings.TrimRight(a.DispositionDetail, ". "))
	}
	if a.Product != "" {
		fmt.Fprintf(&b, " (%s)", strings.TrimRight(a.Product, ". "))
	}
	b.WriteByte('.')
	if a.PreventiveAction != "" {
		b.WriteString(" " + r.sayf("Prevention: %s", sentence(a.PreventiveAction)))
	}
	r.repair(&b, a)
	if v := a.VerifiedDoer(); v != nil {
		b.WriteString(" " + r.sayf("Verified by %s.", r.doer(v, a.RecordedBy)))
	} else {
		b.WriteString(" " + r.say("Not verified."))
	}
	return b.String()
}

func (r *Report) repair(b *strings.Builder, a *rimewatch.CorrectiveAction) {
	if a.RepairReference != "" {
		b.WriteString(" " + r.sayf("Repair: %s", sentence(a.RepairReference)))
	}
}

func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// title names what the report is about.
func (r *Report) title() string {
	switch {
	case r.Site != nil:
		return r.Site.Name
	case len(r.Devices) == 1:
		return r.Devices[0].Name
	default:
		return r.say("All sites")
	}
}
