package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
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

func celsius(v *float64) string {
	if v == nil {
		return dash
	}
	return number(*v, 2)
}

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

func percent(v float64) string { return number(v, 1) + " %" }

// moment writes a time as the site's clock shows it.
func (r *Report) moment(t rimewatch.Time) string {
	if t == 0 {
		return dash
	}
	return t.Std().In(r.Zone).Format("2006-01-02 15:04")
}

func (r *Report) day(t rimewatch.Time) string {
	if t == 0 {
		return dash
	}
	return t.Std().In(r.Zone).Format(time.DateOnly)
}

// limits writes the limits in one line.
func limits(l *rimewatch.Limits) string {
	switch {
	case l.TempMin != nil && l.TempMax != nil:
		return number(*l.TempMin, -1) + " to " + number(*l.TempMax, -1) + " °C"
	case l.TempMax != nil:
		return "at most " + number(*l.TempMax, -1) + " °C"
	case l.TempMin != nil:
		return "at least " + number(*l.TempMin, -1) + " °C"
	default:
		return "none set"
	}
}

// critical writes the critical limits, "" without any.
func critical(l *rimewatch.Limits) string {
	var parts []string
	if l.CriticalMin != nil {
		parts = append(parts, "below "+number(*l.CriticalMin, -1)+" °C")
	}
	if l.CriticalMax != nil {
		parts = append(parts, "above "+number(*l.CriticalMax, -1)+" °C")
	}
	return strings.Join(parts, ", ")
}

// source says who set the limits.
func (d *Device) source() string {
	switch d.Limits.Source {
	case "device":
		return "set for this device"
	case "workspace":
		return "set by the workspace for this type of equipment"
	case "equipment_type":
		return d.Equipment.Basis
	default:
		return d.Limits.Source
	}
}

// interval writes how often the device was read.
func interval(s float64, readings int64) string {
	switch {
	case readings == 0 || s <= 0:
		return "no readings"
	case s < 90:
		return fmt.Sprintf("every %.0f s, %d readings", s, readings)
	default:
		return fmt.Sprintf("every %.0f min, %d readings", s/60, readings)
	}
}

var causes = map[rimewatch.ExcursionCause]string{
	rimewatch.CauseDefrost: "Defrost", rimewatch.CauseDoor: "Door open", rimewatch.CauseLoading: "Loading", rimewatch.CauseFault: "Equipment fault",
	rimewatch.CausePower: "Power supply", rimewatch.CauseSensor: "Doubtful sensor", rimewatch.CauseUnknown: "Unknown",
}

var dispositions = map[rimewatch.Disposition]string{
	rimewatch.DispositionRelease: "product released", rimewatch.DispositionHold: "product on hold",
	rimewatch.DispositionDiscard: "product discarded", rimewatch.DispositionNone: "no product affected",
}

var methods = map[string]string{
	"ice_point": "Ice point", "reference_probe": "Reference probe", "certificate": "Certificate", "other": "Other",
}

// action writes a corrective action as sentences.
func (r *Report) action(a *rimewatch.CorrectiveAction) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: %s", r.moment(a.PerformedAt), a.PerformedBy, sentence(a.Action))
	fmt.Fprintf(&b, " Cause: %s", sentence(a.Cause))
	fmt.Fprintf(&b, " Disposition: %s", dispositions[a.Disposition])
	if a.Product != "" {
		fmt.Fprintf(&b, " (%s)", strings.TrimRight(a.Product, ". "))
	}
	b.WriteByte('.')
	if a.PreventiveAction != "" {
		fmt.Fprintf(&b, " Prevention: %s", sentence(a.PreventiveAction))
	}
	if a.RepairReference != "" {
		fmt.Fprintf(&b, " Repair: %s", sentence(a.RepairReference))
	}
	if a.VerifiedBy != "" {
		fmt.Fprintf(&b, " Verified by %s.", a.VerifiedBy)
	} else {
		b.WriteString(" Not verified.")
	}
	return b.String()
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
		return "All sites"
	}
}
