package rimewatch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

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
