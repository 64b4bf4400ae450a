package rimewatch

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// CheckWindow is a time of day at which a round is to be made, by the clock on the wall.
type CheckWindow struct {
	Days uint8 `json:"days"` // bit n = the weekday n, from Sunday; the day on which it begins
	From int   `json:"from"` // minute of the day
	To   int   `json:"to"`   // minute of the day; up to From: of the next day
}

// Weekdays are the days on which the window begins, from Monday.
func (w *CheckWindow) Weekdays() []time.Weekday { return (&Shift{Days: w.Days}).Weekdays() }

// minutes is how long a window lasts on a day on which no clock is set.
func (w *CheckWindow) minutes() int {
	if w.To > w.From {
		return w.To - w.From
	}
	return w.To - w.From + minutesADay
}

// CheckSpan is a window on one day. Day and Minute identify it, also in a night in which clocks are set.
type CheckSpan struct {
	Day      string // on which it begins by the clock of the site, as 2026-11-29
	Minute   int    // of the day, as the window has it
	From, To Time
}

// weekly are the spans of windows that begin after a moment, up to another one, by the clock of a zone, by From.
//
// A window goes from the first to the last moment at which the clock shows its times: in the hour that
// comes twice both are part of it. Of a window in an hour that is skipped, an hour is left after it, or as
// long as the window is.
func weekly(windows []CheckWindow, after, to Time, zone *time.Location) (list []CheckSpan) {
	if to <= after {
		return nil
	}
	y, m, d := after.Std().In(zone).Date()
	for day := d - 1; ; day++ {
		noon := time.Date(y, m, day, 12, 0, 0, 0, time.UTC)
		if TimeOf(noon) > to+2*Day {
			break
		}
		for i := range windows {
			w := &windows[i]
			if w.Days&(1<<noon.Weekday()) == 0 {
				continue
			}
			s := CheckSpan{Day: noon.Format(time.DateOnly), Minute: w.From}
			s.From = DateTime(y, m, day, w.From, zone)
			_, s.To = showings(y, m, day, w.From+w.minutes(), zone)
			if w.From+w.minutes() >= minutesADay {
				_, s.To = showings(y, m, day+1, w.To, zone)
			}
			s.To = max(s.To, s.From+min(Time(w.minutes())*Minute, checkAtLeast))
			if s.From > after && s.From <= to {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b CheckSpan) int { return int(min(max(a.From-b.From, -1), 1)) })
	return list
}

// TimeOfDay writes a minute of the day: "22:05".
func TimeOfDay(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

func minuteOfDay(m int) bool { return m >= 0 && m < minutesADay }

// Bounds of rotas.
const (
	MaxRotas     = 100 // of a workspace
	MaxShifts    = 100 // of a rota
	MaxOverrides = 200 // of a rota
	MaxOverride  = 366 * Day
)

// Rota assigns members to duty, week by week. It is a target of the steps of routes.
type Rota struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64 // whose clock it goes by, 0 = the workspace's
	Name        string
	Shifts      []Shift
	Overrides   []Override // in the order in which they apply
	// TellHandOver says when incoming and outgoing members are notified of a hand-over.
	TellHandOver TellHandOver
	CalendarAt   Time  // when the link to its calendar was made, 0 = there is none; an older link does not work
	Revision     int64 // of what people set: 1 at first, grows with every change
	CreatedAt    Time
	UpdatedAt    Time
}

// TellHandOver says when a hand-over is notified.
type TellHandOver string

// The choices. The default is TellOpen: a quiet night must not end with a message.
const (
	TellOpen   TellHandOver = "open" // while an alert is open that a route sends to the rota
	TellAlways TellHandOver = "always"
	TellNever  TellHandOver = "never"
)

// Shift is the duty of a member on some days of the week, by the clock on the wall.
type Shift struct {
	Days   uint8 `json:"days"` // bit n = the weekday n, from Sunday; the day on which it begins
	From   int   `json:"from"` // minute of the day
	To     int   `json:"to"`   // minute of the day; up to From: of the next day
	UserID int64 `json:"user_id"`
}

// Override changes who is on duty for a time: a swap, a holiday, somebody in addition to a gap.
type Override struct {
	StartsAt  Time   `json:"starts_at"`
	EndsAt    Time   `json:"ends_at"`
	InsteadOf int64  `json:"instead_of,omitempty"` // user whose duty it is otherwise, 0 = everybody's
	UserID    int64  `json:"user_id,omitempty"`    // who is on duty, 0 = nobody
	Note      string `json:"note,omitempty"`
}

// Check reports why r cannot be stored: CodeValidationFailed with the fields name, shifts,
// overrides, tell_hand_over. That its members exist is for the store to know.
func (r *Rota) Check() error {
	e := checkName(r.Name)
	if r.TellHandOver != TellOpen && r.TellHandOver != TellAlways && r.TellHandOver != TellNever {
		e = complain(e, "tell_hand_over", "must be open, always or never")
	}
	if len(r.Shifts) > MaxShifts {
		e = complain(e, "shifts", "must not be more than %d", MaxShifts)
	}
	for _, s := range r.Shifts {
		if s.Days == 0 || s.Days > 127 || !minuteOfDay(s.From) || !minuteOfDay(s.To) || s.UserID <= 0 {
			e = complain(e, "shifts", "must name days, two times of day and a member")
			break
		}
	}
	if len(r.Overrides) > MaxOverrides {
		e = complain(e, "overrides", "must not be more than %d", MaxOverrides)
	}
	for _, o := range r.Overrides {
		switch {
		case o.StartsAt <= 0 || o.EndsAt <= o.StartsAt || o.EndsAt-o.StartsAt > MaxOverride:
			e = complain(e, "overrides", "must end after they start, within a year")
		case o.UserID != 0 && o.UserID == o.InsteadOf:
			e = complain(e, "overrides", "must not swap a member with himself")
		case o.UserID < 0 || o.InsteadOf < 0:
			e = complain(e, "overrides", "must name members")
		}
		e = CheckText(e, "overrides", o.Note, MaxCommentLen)
	}
	return result(e)
}

// on reports whether the clock on the wall shows the shift.
func (s *Shift) on(weekday time.Weekday, minute int) bool {
	today, before := s.Days&(1<<weekday) != 0, s.Days&(1<<((weekday+6)%7)) != 0
	if s.From < s.To {
		return today && s.From <= minute && minute < s.To
	}
	return today && s.From <= minute || before && minute < s.To
}

// showing returns the wall-clock time of a zone. While an hour comes for the second time it
// stands at the end of the first: a shift that began in it has begun, and does not begin twice.
func showing(at Time, zone *time.Location) time.Time {
	l := at.Std().In(zone)
	set, _ := l.ZoneBounds()
	if set.IsZero() {
		return l
	}
	before := set.Add(-time.Millisecond).In(zone)
	_, was := before.Zone()
	_, is := l.Zone()
	if l.Sub(set) < time.Duration(was-is)*time.Second {
		return before
	}
	return l
}

// OnDuty returns the users who are on duty at a moment by the clock of a zone. Users who are
// not known, as removed members, are left out.
func (r *Rota) OnDuty(at Time, zone *time.Location, known func(user int64) bool) (users []int64) {
	l := showing(at, zone)
	add := func(user int64) {
		if user != 0 && known(user) && !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	for i := range r.Shifts {
		if r.Shifts[i].on(l.Weekday(), l.Hour()*60+l.Minute()) {
			add(r.Shifts[i].UserID)
		}
	}
	for _, o := range r.Overrides {
		switch {
		case at < o.StartsAt || o.EndsAt <= at:
		case o.InsteadOf == 0:
			users = nil
			add(o.UserID)
		case slices.Contains(users, o.InsteadOf) || !known(o.InsteadOf):
			users = slices.DeleteFunc(users, func(u int64) bool { return u == o.InsteadOf })
			add(o.UserID)
		}
	}
	return users
}

// Next is the first moment after at at which somebody else may be on duty, 0 = it never changes.
func (r *Rota) Next(at Time, zone *time.Location) (next Time) {
	consider := func(t Time) {
		if t > at && (next == 0 || t < next) {
			next = t
		}
	}
	for _, o := range r.Overrides {
		consider(o.StartsAt)
		consider(o.EndsAt)
	}
	if len(r.Shifts) == 0 {
		return next
	}
	l := at.Std().In(zone)
	// Up to the moment at which the clock is set it runs evenly, and a boundary comes when it is due.
	if _, set := l.ZoneBounds(); !set.IsZero() {
		consider(TimeOf(set))
	}
	into := Time(l.Hour()*60+l.Minute())*Minute + at%Minute
	for i := range r.Shifts {
		for _, m := range [...]int{r.Shifts[i].From, r.Shifts[i].To} {
			wait := (Time(m)*Minute - into + Day) % Day
			if wait == 0 {
				wait = Day
			}
			consider(at + wait)
		}
	}
	return next
}

// Duty is a span during which the same users, or none, are on duty.
type Duty struct {
	From, To Time
	Users    []int64
}

// Duties returns the duties from a moment to another, without a hole; equal neighbours are one span.
func (r *Rota) Duties(from, to Time, zone *time.Location, known func(user int64) bool) (list []Duty) {
	for at := from; at < to; {
		end := r.Next(at, zone)
		if end == 0 || end > to {
			end = to
		}
		users := r.OnDuty(at, zone, known)
		if n := len(list); n > 0 && slices.Equal(list[n-1].Users, users) {
			list[n-1].To = end
		} else {
			list = append(list, Duty{at, end, users})
		}
		at = end
	}
	return list
}

// Gaps returns the spans from a moment to another without anyone on duty.
func (r *Rota) Gaps(from, to Time, zone *time.Location, known func(user int64) bool) []Duty {
	return slices.DeleteFunc(r.Duties(from, to, zone, known), func(d Duty) bool { return len(d.Users) > 0 })
}

// Members are the users that the rota names, each once, by id.
func (r *Rota) Members() (users []int64) {
	for _, s := range r.Shifts {
		users = append(users, s.UserID)
	}
	for _, o := range r.Overrides {
		users = append(users, o.UserID, o.InsteadOf)
	}
	slices.Sort(users)
	return slices.DeleteFunc(slices.Compact(users), func(u int64) bool { return u == 0 })
}

// Weekdays are the days of a shift, from Monday.
func (s *Shift) Weekdays() []time.Weekday {
	list := make([]time.Weekday, 0, bits.OnesCount8(s.Days))
	for i := range 7 {
		if d := time.Weekday((i + 1) % 7); s.Days&(1<<d) != 0 {
			list = append(list, d)
		}
	}
	return list
}

// MaintenanceWindow is planned work on devices: alerts are recorded but not
// notified, and the time counts neither for nor against compliance.
type MaintenanceWindow struct {
	ID          int64
	WorkspaceID int64
	SiteIDs     []int64 // with DeviceIDs: any of them; both empty = the whole workspace
	DeviceIDs   []int64
	StartsAt    Time
	EndsAt      Time // mandatory; moved up when a person ends it early
	Reason      string
	CreatedBy   string
	PlanID      int64 // of the MaintenancePlan that it was made of, 0 = of none
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
}

// EndEarly ends the window now, or before it begins. It returns false when it has
// ended already.
func (w *MaintenanceWindow) EndEarly(now Time) bool { return endEarly(w.StartsAt, &w.EndsAt, now) }

// Covers reports whether the window is about a device at a site; of the alert of a
// site deviceID is 0.
func (w *MaintenanceWindow) Covers(siteID, deviceID int64) bool {
	if len(w.SiteIDs) == 0 && len(w.DeviceIDs) == 0 {
		return true
	}
	return slices.Contains(w.SiteIDs, siteID) || slices.Contains(w.DeviceIDs, deviceID)
}

// Check reports why w cannot be stored: CodeValidationFailed with the
// fields site_ids, device_serials, starts_at, ends_at, reason, created_by.
func (w *MaintenanceWindow) Check() error {
	e := checkIDs(nil, "site_ids", w.SiteIDs)
	e = checkIDs(e, "device_serials", w.DeviceIDs)
	e = CheckText(e, "reason", w.Reason, MaxCommentLen)
	e = CheckText(e, "created_by", w.CreatedBy, MaxNameLen+MaxEmailLen+3)
	return result(checkSpan(e, w.StartsAt, w.EndsAt, MaxMaintenance))
}

func checkSpan(e *Error, from, to, most Time) *Error {
	if from < MinTime || from > MaxTime {
		e = complain(e, "starts_at", "must be a time")
	}
	switch {
	case to < from:
		e = complain(e, "ends_at", "must not be before starts_at")
	case to-from > most:
		e = complain(e, "ends_at", "must be at most %d days after starts_at", most/Day)
	}
	return e
}

func endEarly(starts Time, ends *Time, now Time) bool {
	if *ends <= now || *ends == starts {
		return false
	}
	*ends = max(starts, now)
	return true
}

// Bounds of maintenance plans.
const (
	MaxMaintenancePlans = 100     // of a workspace
	MaxPlannedMinutes   = 12 * 60 // of a window of a plan; longer work is planned by itself
	PlannedAhead        = Day     // for so long ahead the windows of plans are made
)

// MaintenancePlan is work that comes back every week, such as cleaning in the early morning. Ordinary
// maintenance windows are made of it, a day ahead; only these hold messages back.
type MaintenancePlan struct {
	ID          int64
	WorkspaceID int64
	SiteIDs     []int64 // with DeviceIDs: any of them; both empty = the whole workspace
	DeviceIDs   []int64
	Window      CheckWindow
	Reason      string // of each of its windows, and the name of the plan
	Enabled     bool
	CreatedBy   string
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Check reports why p cannot be stored: CodeValidationFailed with the fields site_ids, device_serials, days,
// from, to, reason, created_by.
func (p *MaintenancePlan) Check() error {
	e := checkIDs(nil, "site_ids", p.SiteIDs)
	e = checkIDs(e, "device_serials", p.DeviceIDs)
	e = CheckText(e, "reason", p.Reason, MaxNameLen)
	if p.Reason == "" {
		e = complain(e, "reason", "must not be empty")
	}
	e = CheckText(e, "created_by", p.CreatedBy, MaxNameLen+MaxEmailLen+3)
	if p.Window.Days == 0 || p.Window.Days > 127 {
		e = complain(e, "days", "must name a day")
	}
	switch {
	case !minuteOfDay(p.Window.From):
		e = complain(e, "from", "must be a time of day")
	case !minuteOfDay(p.Window.To):
		e = complain(e, "to", "must be a time of day")
	case p.Window.minutes() < MinCheckWindow:
		e = complain(e, "to", "must be %d minutes after from at least", MinCheckWindow)
	case p.Window.minutes() > MaxPlannedMinutes:
		e = complain(e, "to", "must be %d hours after from at most", MaxPlannedMinutes/60)
	}
	return result(e)
}

// Clocks are those that the windows of plans go by.
type Clocks struct {
	Workspace *time.Location
	Sites     map[int64]*time.Location
	Devices   func(id int64) (siteID int64, known bool)
}

// Settle compares the windows of a plan that have not begun (coming) with those that it should have, and
// returns the windows to make and the ids of those to withdraw. A plan that is switched off, and one that was
// deleted (nil), has none. One that a person has ended before it began stays, and is not made again.
//
// Each site goes by its own clock, and a device by that of its site. Windows of the same moments are
// one. The whole workspace goes by the workspace's clock.
func (p *MaintenancePlan) Settle(c *Clocks, coming []MaintenanceWindow, now Time) (made []MaintenanceWindow, withdrawn []int64) {
	wanted := p.windows(c, now)
	for i := range coming {
		is := &coming[i]
		at := slices.IndexFunc(wanted, func(w MaintenanceWindow) bool {
			return w.StartsAt == is.StartsAt && (w.EndsAt == is.EndsAt || is.EndsAt == is.StartsAt) && w.Reason == is.Reason &&
				slices.Equal(w.SiteIDs, is.SiteIDs) && slices.Equal(w.DeviceIDs, is.DeviceIDs)
		})
		switch {
		case at >= 0:
			wanted = slices.Delete(wanted, at, at+1)
		case is.EndsAt > is.StartsAt:
			withdrawn = append(withdrawn, is.ID)
		}
	}
	return wanted, withdrawn
}

// windows are those of a plan that begin after now, within PlannedAhead of it.
func (p *MaintenancePlan) windows(c *Clocks, now Time) (list []MaintenanceWindow) {
	if p == nil || !p.Enabled {
		return nil
	}
	spans := make(map[string][]CheckSpan)
	each := func(zone *time.Location, add func(w *MaintenanceWindow)) {
		if _, known := spans[zone.String()]; !known {
			spans[zone.String()] = weekly([]CheckWindow{p.Window}, now, now+PlannedAhead, zone)
		}
		for _, s := range spans[zone.String()] {
			at := slices.IndexFunc(list, func(w MaintenanceWindow) bool { return w.StartsAt == s.From && w.EndsAt == s.To })
			if at < 0 {
				at = len(list)
				list = append(list, MaintenanceWindow{
					WorkspaceID: p.WorkspaceID, PlanID: p.ID, StartsAt: s.From, EndsAt: s.To, Reason: p.Reason, CreatedBy: p.Actor(), CreatedAt: now,
				})
			}
			add(&list[at])
		}
	}
	if len(p.SiteIDs)+len(p.DeviceIDs) == 0 {
		each(c.Workspace, func(*MaintenanceWindow) {})
	}
	for _, id := range p.SiteIDs {
		if zone, known := c.Sites[id]; known {
			each(zone, func(w *MaintenanceWindow) { w.SiteIDs = append(w.SiteIDs, id) })
		}
	}
	for _, id := range p.DeviceIDs {
		site, known := c.Devices(id)
		if !known {
			continue
		}
		zone, sited := c.Sites[site]
		if !sited {
			zone = c.Workspace
		}
		each(zone, func(w *MaintenanceWindow) { w.DeviceIDs = append(w.DeviceIDs, id) })
	}
	return list
}

// Actor names the plan in the audit trail as the maker of its windows.
func (p *MaintenancePlan) Actor() string { return "plan " + p.Reason }

// MaxReportSchedules is how many a workspace may have.
const MaxReportSchedules = 100

// ReportPeriod is the span that a report covers, and the interval at which it is sent.
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
