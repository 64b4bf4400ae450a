package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/report"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// TestDaysAreThoseOfAnyReport: a day has the same figures in the log of that day as in
// that of the weeks around it, over silences, changes of the interval and of the
// clock; and the period's time out of range is that of its days.
func TestDaysAreThoseOfAnyReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SampledFrom([]struct {
			zone  string
			month time.Month
			day   int
		}{{"Europe/Berlin", 10, 23}, {"Europe/Berlin", 3, 27}, {"Australia/Lord_Howe", 10, 2}, {"America/Havana", 3, 6}, {"UTC", 5, 1}}).Draw(t, "place")
		z := rimewatch.ZoneOf(place.zone)
		from := local(z, 2026, place.month, place.day, 0)
		const days = 4
		to := from.DayTime(days, 0, z)
		low, high := 0.0, 5.0
		limits := rimewatch.Limits{TempMin: &low, TempMax: &high}
		var readings []*rimewatch.Reading
		every, v := rimewatch.Minute, 3.0
		for at := from - report.WarmUp; at < to; {
			readings = append(readings, zone(at, v))
			switch rapid.IntRange(0, 30).Draw(t, "happens") {
			case 0:
				at += rimewatch.Time(rapid.IntRange(1, 40*60).Draw(t, "silent")) * rimewatch.Minute
			case 1, 2:
				every = rimewatch.Time(rapid.IntRange(5, 120).Draw(t, "every")) * rimewatch.Minute
			case 3, 4, 5, 6:
				v = rapid.SampledFrom([]float64{-2, 1.5, 4, 7}).Draw(t, "temperature")
			}
			at += every
		}
		figures := func(from, to rimewatch.Time) ([]report.Day, report.Totals) {
			log := report.NewLog(z, from, to, to+rimewatch.Day, limits)
			for _, r := range readings {
				if r.At >= from-report.WarmUp && r.At < to {
					log.Add(r)
				}
			}
			list, totals := log.Finish(from)
			for i := range list {
				list[i].InDefrostsS = 0 // a run may go on after the day
			}
			return list, totals
		}
		whole, totals := figures(from, to)
		sum := int64(0)
		for i := range whole {
			one, _ := figures(whole[i].From, whole[i].To)
			if d := cmp.Diff(whole[i:i+1], one); d != "" {
				t.Fatalf("%s (-in the log of %d days +in that of the day):\n%s", whole[i].Date, days, d)
			}
			if s := whole[i].OutOfRangeS; s != nil {
				sum += *s
			}
		}
		if sum < totals.OutOfRangeS-days || sum > totals.OutOfRangeS+days {
			t.Fatalf("%d s out of range in the days, %d in all", sum, totals.OutOfRangeS)
		}
	})
}
