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

// Count is what a counter did over readings that follow one another. The zero Count
// is that of no value at all.
type Count struct {
	First, Last float64
	Increase    float64 // what was counted from First to Last
	Known       bool    // there is a value
	Restarted   bool    // it began again from 0 between First and Last
}

// CountOf is the Count of one value.
func CountOf(v float64) Count { return Count{First: v, Last: v, Known: true} }

// Then returns the Count of c and of next, which follows it. A counter that is lower
// than before has restarted from 0.
func (c Count) Then(next Count) Count {
	switch {
	case !next.Known:
		return c
	case !c.Known:
		return next
	}
	both := Count{First: c.First, Last: next.Last, Known: true, Restarted: c.Restarted || next.Restarted}
	switch {
	case next.First < c.Last:
		both.Restarted = true
		both.Increase = c.Increase + next.First + next.Increase
	case both.Restarted:
		both.Increase = c.Increase + (next.First - c.Last) + next.Increase
	default:
		both.Increase = both.Last - both.First // which leaves no errors of adding up
	}
	return both
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
