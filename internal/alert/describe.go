package alert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Describe says what a transition means in the words of a technician. device
// is the name people gave it, equipmentLabel its type's label or "".
func Describe(t Transition, device, equipmentLabel string) (title, message string) {
	who := device
	if label, _, _ := strings.Cut(equipmentLabel, " ("); label != "" && label != "Unclassified" {
		who = fmt.Sprintf("%s (%s)", device, strings.ToLower(label[:1])+label[1:])
	}
	lasted := duration(t.At.Sub(t.ConditionStartedAt))
	switch t.Type {
	case rimewatch.HighTemperature:
		return who + " is too warm", temperature(t, device, "too warm", lasted)
	case rimewatch.LowTemperature:
		return who + " is too cold", temperature(t, device, "too cold", lasted)
	case rimewatch.DeviceOffline:
		silence := duration(time.Duration(t.Value * float64(time.Second)))
		if t.Kind == Resolved {
			return who + " is offline", fmt.Sprintf("%s is sending again after %s of silence.", device, silence)
		}
		return who + " is offline", fmt.Sprintf("%s has sent nothing for %s. Check its power and its network.", device, silence)
	default:
		return who + ": " + strings.ReplaceAll(string(t.Type), "_", " "), device + " needs a look."
	}
}

func temperature(t Transition, device, how, lasted string) string {
	if t.Kind == Resolved {
		return fmt.Sprintf("%s is back in its range at %s. It was %s for %s, at worst %s.",
			device, quantity(t.Value, t.Unit), how, lasted, quantity(t.Peak, t.Unit))
	}
	s := fmt.Sprintf("%s is %s, %s for %s. Limit %s.",
		device, quantity(t.Value, t.Unit), how, lasted, quantity(t.Threshold, t.Unit))
	if t.Severity == rimewatch.Critical {
		s += " Check the food before it is used."
	}
	return s
}

// quantity writes a value with at most one decimal and a true minus sign.
func quantity(v float64, unit string) string {
	s := strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	if s == "-0" {
		s = "0"
	}
	return strings.Replace(s, "-", "−", 1) + " " + unit
}

// duration writes a span as people say it: 40 s, 34 min, 2 h 5 min, 3 d 4 h.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return units(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		return units(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

func units(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}
