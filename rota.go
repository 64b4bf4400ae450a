package rimewatch

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Bounds of rotas.
const (
	MaxRotas     = 100 // of a workspace
	MaxShifts    = 100 // of a rota
	MaxOverrides = 200 // of a rota
	MaxOverride  = 366 * Day
)

// Rota is who is on duty, week by week. It is a target of the steps of routes.
type Rota struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64 // whose clock it goes by, 0 = the workspace's
	Name        string
	Shifts      []Shift
	Overrides   []Override // in the order in which they apply
	// TellHandOver is when those who come on duty and those who go are told of it.
	TellHandOver TellHandOver
	CalendarAt   Time  // when the link to its calendar was made, 0 = there is none; an older link does not work
	Revision     int64 // of what people set: 1 at first, grows with every change
	CreatedAt    Time
	UpdatedAt    Time
}

// TellHandOver is when a hand-over is told.
type TellHandOver string

// The choices. Nobody is to be woken at the end of a quiet night, so that it is told while something is open
// unless people choose otherwise.
const (
	TellOpen   TellHandOver = "open" // while an alert is that a route tells the rota of
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

// showing is what the clock of a zone shows at a moment. While an hour comes for the second time it
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

// OnDuty are the users who are on duty at a moment by the clock of a zone. Whoever is not
// known, as a member who was removed, is not on duty.
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

// Duty is a span during which the same users are on duty, or nobody is.
type Duty struct {
	From, To Time
	Users    []int64
}

// Duties are who is on duty from a moment to another, without a hole; what is alike is one span.
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

// Gaps are the spans from a moment to another during which nobody is on duty.
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

// TimeOfDay writes a minute of the day: "22:05".
func TimeOfDay(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

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
