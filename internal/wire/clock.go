package wire

import (
	"slices"
	"strconv"
	"time"
)

var dayNames = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// DayNames are weekdays as bodies have them.
func DayNames(days []time.Weekday) []string {
	list := make([]string, len(days))
	for i, d := range days {
		list[i] = dayNames[d]
	}
	return list
}

// DaySet reads such names: bit n = the weekday n, from Sunday.
func DaySet(names []string) (days uint8) {
	for _, d := range names {
		days |= 1 << slices.Index(dayNames[:], d)
	}
	return days
}

// MinuteOf reads a time of day such as 22:05, whose form was checked.
func MinuteOf(s string) int {
	h, _ := strconv.Atoi(s[:2])
	m, _ := strconv.Atoi(s[3:])
	return h*60 + m
}
