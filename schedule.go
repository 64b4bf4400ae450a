package rimewatch

import (
	"slices"
	"time"
)

// MaxReportSchedules is how many a workspace may have.
const MaxReportSchedules = 100

// ReportPeriod is how often a report is sent, and what it covers.
type ReportPeriod string

// The periods, by the calendar of the site.
const (
	ReportWeekly  ReportPeriod = "weekly"  // Monday to Sunday
	ReportMonthly ReportPeriod = "monthly" // a month
)

// reportMinute is the minute of the local day at which a report is sent, on the day
// after its period: readings that were held back have arrived by then, and people
// find it when they begin to work.
const reportMinute = 6 * 60

// ReportSchedule is a temperature log that is mailed when its period is over.
type ReportSchedule struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64 // 0 = all sites
	Period      ReportPeriod
	ChannelIDs  []int64 // of the kind email
	Enabled     bool
	Through     Time  // end of the last period whose report is among the deliveries, or was not to be sent
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Check reports why s cannot be stored: CodeValidationFailed with the fields period,
// site_id, channel_ids.
func (s *ReportSchedule) Check() error {
	var e *Error
	if s.Period != ReportWeekly && s.Period != ReportMonthly {
		e = complain(e, "period", "must be weekly or monthly")
	}
	if s.SiteID < 0 {
		e = complain(e, "site_id", "is not known")
	}
	switch unique := slices.Compact(slices.Sorted(slices.Values(s.ChannelIDs))); {
	case len(s.ChannelIDs) == 0:
		e = complain(e, "channel_ids", "must name at least one channel")
	case len(s.ChannelIDs) > MaxStepTargets:
		e = complain(e, "channel_ids", "must not name more than %d channels", MaxStepTargets)
	case len(unique) < len(s.ChannelIDs):
		e = complain(e, "channel_ids", "must not name a channel twice")
	}
	return result(e)
}

// Span returns the period that holds t, [from, to), by the calendar of zone.
func (p ReportPeriod) Span(t Time, zone *time.Location) (from, to Time) {
	local := t.Std().In(zone)
	if p == ReportMonthly {
		first := 1 - local.Day()
		days := time.Date(local.Year(), local.Month()+1, 0, 12, 0, 0, 0, time.UTC).Day()
		return t.DayTime(first, 0, zone), t.DayTime(first+days, 0, zone)
	}
	monday := -(int(local.Weekday()) + 6) % 7
	return t.DayTime(monday, 0, zone), t.DayTime(monday+7, 0, zone)
}

// Over returns the last period that is over at t.
func (p ReportPeriod) Over(t Time, zone *time.Location) (from, to Time) {
	now, _ := p.Span(t, zone)
	return p.Span(now-1, zone)
}

// Last returns the last period whose report is to be sent by t: at six in the morning
// of the day after it.
func (p ReportPeriod) Last(t Time, zone *time.Location) (from, to Time) {
	now, _ := p.Span(t, zone)
	if t < now.DayTime(0, reportMinute, zone) {
		t = now - 1
	}
	return p.Over(t, zone)
}

// Next returns when the first report after t is sent, where those of the periods that
// ended by through are not to be.
func (p ReportPeriod) Next(t, through Time, zone *time.Location) Time {
	from, to := p.Span(t, zone)
	if at := from.DayTime(0, reportMinute, zone); t < at && through < from {
		return at
	}
	return to.DayTime(0, reportMinute, zone)
}
