package rimewatch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"pgregory.net/rapid"
)

// dutyZones are eleven clocks: set by an hour at one, two, three or midnight, by half an hour, never, on both halves of the earth.
var dutyZones = []string{
	"Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "America/Santiago", "America/Havana", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham", "Africa/Cairo", "Asia/Tokyo",
}

// dutyNights are the moments in a year at which a clock is set, or its first day where it never is.
func dutyNights(t interface{ Fatal(...any) }, name string) (*time.Location, []rimewatch.Time) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	var nights []rimewatch.Time
	for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, set := at.ZoneBounds()
		if set.IsZero() || set.Year() > 2026 {
			break
		}
		nights = append(nights, rimewatch.TimeOf(set))
		at = set
	}
	if len(nights) == 0 {
		nights = append(nights, rimewatch.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, zone)))
	}
	return zone, nights
}

func drawRota(t *rapid.T, night rimewatch.Time) rimewatch.Rota {
	var r rimewatch.Rota
	// Boundaries stand close to the hours at which clocks are set.
	minute := func(label string) int {
		return rapid.OneOf(rapid.IntRange(0, 1439), rapid.SampledFrom([]int{0, 30, 60, 90, 119, 120, 121, 150, 165, 180, 225})).Draw(t, label)
	}
	for range rapid.IntRange(0, 4).Draw(t, "shifts") {
		r.Shifts = append(r.Shifts, rimewatch.Shift{Days: uint8(rapid.IntRange(1, 127).Draw(t, "days")), From: minute("from"), To: minute("to"), UserID: rapid.Int64Range(1, 4).Draw(t, "user")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "overrides") {
		o := rimewatch.Override{StartsAt: night + rimewatch.Time(rapid.IntRange(-2000, 2000).Draw(t, "starts"))*rimewatch.Minute, InsteadOf: rapid.Int64Range(0, 4).Draw(t, "instead"), UserID: rapid.Int64Range(0, 4).Draw(t, "who")}
		o.EndsAt = o.StartsAt + rimewatch.Time(rapid.IntRange(1, 2000).Draw(t, "for"))*rimewatch.Minute
		r.Overrides = append(r.Overrides, o)
	}
	return r
}

// wallDuty is who is on duty, told from what a clock on the wall shows and from nothing else.
func wallDuty(r *rimewatch.Rota, at rimewatch.Time, zone *time.Location, known func(int64) bool) []int64 {
	shown := at.Std().In(zone)
	// Of an hour that comes twice the first counts: a moment that the wall has shown is over.
	_, now := shown.Zone()
	_, before := (at - 3*rimewatch.Hour).Std().In(zone).Zone()
	for back := rimewatch.Minute; before != now && back <= 3*rimewatch.Hour; back += rimewatch.Minute {
		if x := (at - back).Std().In(zone); x.Format("2006-01-02 15:04") > shown.Format("2006-01-02 15:04") {
			shown = x
		}
	}
	day, clock, _ := strings.Cut(shown.Format("Mon 15:04"), " ")
	week := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	var users []int64
	for _, s := range r.Shifts {
		from, to := fmt.Sprintf("%02d:%02d", s.From/60, s.From%60), fmt.Sprintf("%02d:%02d", s.To/60, s.To%60)
		begins := func(name string) bool { return s.Days>>slices.Index(week, name)&1 == 1 }
		yesterday := week[(slices.Index(week, day)+6)%7]
		on := begins(day) && clock >= from && (clock < to || to <= from) || begins(yesterday) && to <= from && clock < to
		if on && known(s.UserID) && !slices.Contains(users, s.UserID) {
			users = append(users, s.UserID)
		}
	}
	for _, o := range r.Overrides {
		if at < o.StartsAt || at >= o.EndsAt || o.InsteadOf != 0 && known(o.InsteadOf) && !slices.Contains(users, o.InsteadOf) {
			continue
		}
		left := []int64{}
		for _, u := range users {
			if o.InsteadOf != 0 && u != o.InsteadOf {
				left = append(left, u)
			}
		}
		if o.UserID != 0 && known(o.UserID) && !slices.Contains(left, o.UserID) {
			left = append(left, o.UserID)
		}
		users = left
	}
	return users
}

// TestDutiesFollowTheWallClock: around both nights in which clocks are set, in eleven zones, every minute belongs to exactly
// those whose shifts the clock on the wall shows, or showed in the first of an hour that comes twice, and the spans have no hole and no overlap.
func TestDutiesFollowTheWallClock(t *testing.T) {
	known := func(user int64) bool { return user != 4 } // 4 is no member any more
	rapid.Check(t, func(t *rapid.T) {
		zone, nights := dutyNights(t, rapid.SampledFrom(dutyZones).Draw(t, "zone"))
		night := rapid.SampledFrom(nights).Draw(t, "night")
		r := drawRota(t, night)
		from, to := night-36*rimewatch.Hour, night+36*rimewatch.Hour
		duties := r.Duties(from, to, zone, known)
		end := from
		for i, d := range duties {
			if d.From != end || d.To <= d.From || i > 0 && slices.Equal(d.Users, duties[i-1].Users) {
				t.Fatalf("span %d is %+v after %s", i, d, end)
			}
			end = d.To
			for at := d.From; at < d.To; at += rimewatch.Minute {
				want := wallDuty(&r, at, zone, known)
				if !slices.Equal(d.Users, want) || !slices.Equal(r.OnDuty(at, zone, known), want) {
					t.Fatalf("at %s: %v, span %v, on the wall %v", at.Std().In(zone), r.OnDuty(at, zone, known), d.Users, want)
				}
			}
			if last := wallDuty(&r, d.To-1, zone, known); !slices.Equal(d.Users, last) {
				t.Fatalf("a moment before %s: %v, on the wall %v", d.To.Std().In(zone), d.Users, last)
			}
		}
		if end != to {
			t.Fatalf("the spans end at %s", end)
		}
	})
}

// TestOnDuty: swaps, holidays, gaps and members who are gone.
func TestOnDuty(t *testing.T) {
	zone, _ := dutyNights(t, "Europe/Berlin")
	at := func(s string) rimewatch.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return rimewatch.TimeOf(x)
	}
	const ben, mara, gone = 1, 2, 3
	const sunday, monday, weekdays = 1, 2, 0b0111110
	day, night := rimewatch.Shift{Days: weekdays, From: 8 * 60, To: 17 * 60, UserID: ben}, rimewatch.Shift{Days: 127, From: 22 * 60, To: 6 * 60, UserID: mara}
	swap := rimewatch.Override{StartsAt: at("2026-11-23 08:00"), EndsAt: at("2026-11-23 17:00"), InsteadOf: ben, UserID: mara}
	holiday := rimewatch.Override{StartsAt: at("2026-11-24 00:00"), EndsAt: at("2026-11-25 00:00"), InsteadOf: ben}
	for _, c := range []struct {
		name      string
		shifts    []rimewatch.Shift
		overrides []rimewatch.Override
		at        string
		want      string
	}{
		{"nothing is planned", nil, nil, "2026-11-23 09:00", "[]"},
		{"a Monday", []rimewatch.Shift{day, night}, nil, "2026-11-23 09:00", "[1]"},
		{"its end is no longer part of it", []rimewatch.Shift{day, night}, nil, "2026-11-23 17:00", "[]"},
		{"over midnight", []rimewatch.Shift{day, night}, nil, "2026-11-24 05:59", "[2]"},
		{"of the night of Sunday alone", []rimewatch.Shift{{Days: sunday, From: 1320, To: 360, UserID: mara}}, nil, "2026-11-23 05:59", "[2]"},
		{"not of the night before", []rimewatch.Shift{{Days: monday, From: 1320, To: 360, UserID: mara}}, nil, "2026-11-23 05:59", "[]"},
		{"a day and a night round", []rimewatch.Shift{{Days: 127, UserID: ben}}, nil, "2026-11-23 00:00", "[1]"},
		{"two at once", []rimewatch.Shift{day, {Days: monday, From: 0, To: 0, UserID: mara}}, nil, "2026-11-23 09:00", "[1 2]"},
		{"a swap", []rimewatch.Shift{day, night}, []rimewatch.Override{swap}, "2026-11-23 09:00", "[2]"},
		{"after it", []rimewatch.Shift{day, night}, []rimewatch.Override{swap}, "2026-11-24 09:00", "[1]"},
		{"a swap of whoever is not on duty then", []rimewatch.Shift{night}, []rimewatch.Override{swap}, "2026-11-23 09:00", "[]"},
		{"a holiday is a gap", []rimewatch.Shift{day, night}, []rimewatch.Override{holiday}, "2026-11-24 09:00", "[]"},
		{"somebody instead of everybody", []rimewatch.Shift{day, night}, []rimewatch.Override{holiday, {StartsAt: holiday.StartsAt, EndsAt: holiday.EndsAt, UserID: mara}}, "2026-11-24 09:00", "[2]"},
		{"a removed member is nobody", []rimewatch.Shift{{Days: 127, UserID: gone}}, nil, "2026-11-23 09:00", "[]"},
		{"whoever stands in for a removed member does", []rimewatch.Shift{{Days: 127, UserID: gone}}, []rimewatch.Override{{StartsAt: swap.StartsAt, EndsAt: swap.EndsAt, InsteadOf: gone, UserID: ben}}, "2026-11-23 09:00", "[1]"},
	} {
		r := rimewatch.Rota{Shifts: c.shifts, Overrides: c.overrides}
		if got := fmt.Sprint(r.OnDuty(at(c.at), zone, func(u int64) bool { return u != gone })); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

// TestRotasThatCannotBe: shifts without days, swaps with oneself, spans that end before they begin.
func TestRotasThatCannotBe(t *testing.T) {
	at := rimewatch.TimeOf(time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC))
	good := rimewatch.Rota{Name: "Nights", TellHandOver: rimewatch.TellOpen, Shifts: []rimewatch.Shift{{Days: 1, From: 0, To: 0, UserID: 1}}, Overrides: []rimewatch.Override{{StartsAt: at, EndsAt: at + 1, InsteadOf: 1, UserID: 2}}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(r *rimewatch.Rota){
		"name":           func(r *rimewatch.Rota) { r.Name = "" },
		"no day":         func(r *rimewatch.Rota) { r.Shifts[0].Days = 0 },
		"an eighth day":  func(r *rimewatch.Rota) { r.Shifts[0].Days = 128 },
		"a late minute":  func(r *rimewatch.Rota) { r.Shifts[0].To = 1440 },
		"nobody's shift": func(r *rimewatch.Rota) { r.Shifts[0].UserID = 0 },
		"many shifts":    func(r *rimewatch.Rota) { r.Shifts = make([]rimewatch.Shift, rimewatch.MaxShifts+1) },
		"with oneself":   func(r *rimewatch.Rota) { r.Overrides[0].UserID = 1 },
		"backwards":      func(r *rimewatch.Rota) { r.Overrides[0].EndsAt = at },
		"years":          func(r *rimewatch.Rota) { r.Overrides[0].EndsAt = at + rimewatch.MaxOverride + 1 },
		"many overrides": func(r *rimewatch.Rota) { r.Overrides = make([]rimewatch.Override, rimewatch.MaxOverrides+1) },
	} {
		r := good
		r.Shifts, r.Overrides = slices.Clone(good.Shifts), slices.Clone(good.Overrides)
		if spoil(&r); rimewatch.CodeOf(r.Check()) != rimewatch.CodeValidationFailed {
			t.Errorf("%s: %v", name, r.Check())
		}
	}
}

// cleaning is a plan of Monday to Friday, 05:30 to 07:00.
func cleaning() *rimewatch.MaintenancePlan {
	return &rimewatch.MaintenancePlan{ID: 3, WorkspaceID: 1, Reason: "Cleaning", Enabled: true, Window: rimewatch.CheckWindow{Days: 62, From: 330, To: 420}}
}

// clocks are those of three sites, and of devices 7 (at site 3) and 8 (at none).
func clocks(workspace, one, two, three *time.Location) *rimewatch.Clocks {
	return &rimewatch.Clocks{
		Workspace: workspace, Sites: map[int64]*time.Location{1: one, 2: two, 3: three},
		Devices: func(id int64) (int64, bool) { return map[int64]int64{7: 3}[id], id == 7 || id == 8 },
	}
}

// windowWords is what matters of windows: "16 05:30–16 07:00 sites [1] devices []", by UTC.
func windowWords(list []rimewatch.MaintenanceWindow) string {
	var words []string
	for _, w := range list {
		words = append(words, fmt.Sprintf("%s–%s %v %v", w.StartsAt.Std().Format("02 15:04"), w.EndsAt.Std().Format("02 15:04"), w.SiteIDs, w.DeviceIDs))
	}
	return strings.Join(words, "; ")
}

// TestPlansFollowTheClocks: each site has its own clock, a device that of its site, and what is at once is one window.
func TestPlansFollowTheClocks(t *testing.T) {
	tokyo, berlin, paris := rimewatch.ZoneOf("Asia/Tokyo"), rimewatch.ZoneOf("Europe/Berlin"), rimewatch.ZoneOf("Europe/Paris")
	// Friday, 20 November 2026.
	now := rimewatch.TimeOf(time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		name  string
		spoil func(*rimewatch.MaintenancePlan)
		now   rimewatch.Time
		want  string
	}{
		{"the whole workspace", func(*rimewatch.MaintenancePlan) {}, now, "20 05:30–20 07:00 [] []"},
		{"sites, of which two go alike", func(p *rimewatch.MaintenancePlan) { p.SiteIDs = []int64{1, 2, 3} }, now, "20 04:30–20 06:00 [1 2] []"},
		{"the third on the day before", func(p *rimewatch.MaintenancePlan) { p.SiteIDs = []int64{1, 2, 3} }, now - 6*rimewatch.Hour, "20 04:30–20 06:00 [1 2] []; 19 20:30–19 22:00 [3] []"},
		{"devices", func(p *rimewatch.MaintenancePlan) { p.DeviceIDs = []int64{7, 8} }, now - 6*rimewatch.Hour, "19 20:30–19 22:00 [] [7]; 20 05:30–20 07:00 [] [8]"},
		{"what is gone", func(p *rimewatch.MaintenancePlan) { p.SiteIDs, p.DeviceIDs = []int64{9}, []int64{10} }, now, ""},
		{"switched off", func(p *rimewatch.MaintenancePlan) { p.Enabled = false }, now, ""},
		{"while one runs", func(*rimewatch.MaintenancePlan) {}, now + 270*rimewatch.Minute, ""},
		{"over midnight", func(p *rimewatch.MaintenancePlan) { p.Window.From, p.Window.To = 1380, 60 }, now, "20 23:00–21 01:00 [] []"},
	} {
		p := cleaning()
		c.spoil(p)
		made, withdrawn := p.Settle(clocks(time.UTC, berlin, paris, tokyo), nil, c.now)
		if got := windowWords(made); got != c.want || len(withdrawn) != 0 {
			t.Errorf("%s: %s, and withdrawn %v", c.name, got, withdrawn)
		}
		for _, w := range made {
			if w.Check() != nil || w.PlanID != 3 || w.WorkspaceID != 1 || w.Reason != "Cleaning" || w.CreatedBy != "plan Cleaning" || w.CreatedAt != c.now {
				t.Errorf("%s: %+v, %v", c.name, w, w.Check())
			}
		}
	}
}

// TestPlansSettleOnce: what is there is not made again, also if a person has ended it; what is not wanted any more is withdrawn.
func TestPlansSettleOnce(t *testing.T) {
	now := rimewatch.TimeOf(time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC))
	c := clocks(time.UTC, time.UTC, time.UTC, time.UTC)
	made, _ := cleaning().Settle(c, nil, now)
	is := made[0]
	is.ID = 41
	ended := is
	ended.EndsAt = ended.StartsAt
	later := cleaning()
	later.Window.From = 345
	narrowed := cleaning()
	narrowed.SiteIDs = []int64{2}
	off := cleaning()
	off.Enabled = false
	for _, x := range []struct {
		name      string
		plan      *rimewatch.MaintenancePlan
		coming    rimewatch.MaintenanceWindow
		made      string
		withdrawn []int64
	}{
		{"as it is", cleaning(), is, "", nil},
		{"that a person has ended", cleaning(), ended, "", nil},
		{"at another time", later, is, "20 05:45–20 07:00 [] []", []int64{41}},
		{"of fewer sites", narrowed, is, "20 05:30–20 07:00 [2] []", []int64{41}},
		{"switched off", off, is, "", []int64{41}},
		{"switched off once a person has ended it", off, ended, "", nil},
		{"deleted", nil, is, "", []int64{41}},
	} {
		made, withdrawn := x.plan.Settle(c, []rimewatch.MaintenanceWindow{x.coming}, now)
		if got := windowWords(made); got != x.made || !slices.Equal(withdrawn, x.withdrawn) {
			t.Errorf("%s: made %q, withdrawn %v", x.name, got, withdrawn)
		}
	}
}

// TestPlansAroundTheNights: looked at every quarter of an hour through both nights in which clocks are set, in eleven
// zones, a plan has made one window for each of its days, before it began, which holds every minute at which the clock on
// the wall shows its times.
func TestPlansAroundTheNights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, nights := dutyNights(t, rapid.SampledFrom(dutyZones).Draw(t, "zone"))
		night := rapid.SampledFrom(nights).Draw(t, "night")
		minute := rapid.OneOf(rapid.IntRange(0, 1439), rapid.SampledFrom([]int{0, 30, 60, 90, 119, 120, 121, 150, 165, 180, 225}))
		p := cleaning()
		p.Window = rimewatch.CheckWindow{Days: 127, From: minute.Draw(t, "from")}
		p.Window.To = (p.Window.From + rapid.IntRange(rimewatch.MinCheckWindow, rimewatch.MaxPlannedMinutes).Draw(t, "minutes")) % 1440
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		c := clocks(zone, zone, zone, zone)
		var kept []rimewatch.MaintenanceWindow
		for now := night - 72*rimewatch.Hour; now < night+36*rimewatch.Hour; now += 15 * rimewatch.Minute {
			coming := slices.DeleteFunc(slices.Clone(kept), func(w rimewatch.MaintenanceWindow) bool { return w.StartsAt <= now })
			made, withdrawn := p.Settle(c, coming, now)
			if len(withdrawn) > 0 {
				t.Fatalf("%v is withdrawn", withdrawn)
			}
			kept = append(kept, made...)
		}
		for i := range kept[1:] {
			if kept[i+1].StartsAt <= kept[i].EndsAt-rimewatch.Hour || kept[i].StartsAt.Std().In(zone).Format(time.DateOnly) == kept[i+1].StartsAt.Std().In(zone).Format(time.DateOnly) {
				t.Fatalf("%s: two at once, or on a day", windowWords(kept[i:i+2]))
			}
		}
		from, to := rimewatch.TimeOfDay(p.Window.From), rimewatch.TimeOfDay(p.Window.To)
		for at := night - 24*rimewatch.Hour; at < night+24*rimewatch.Hour; at += rimewatch.Minute {
			clock := at.Std().In(zone).Format("15:04")
			if from < to && (clock < from || clock >= to) || from > to && clock < from && clock >= to {
				continue
			}
			if !slices.ContainsFunc(kept, func(w rimewatch.MaintenanceWindow) bool { return w.StartsAt <= at && at < w.EndsAt }) {
				t.Fatalf("at %s nothing holds: %s", at.Std().In(zone), windowWords(kept))
			}
		}
	})
}

// TestPlansThatCannotBe: without a day or a reason, at no time of day, too short, and so long that nobody would be told.
func TestPlansThatCannotBe(t *testing.T) {
	if err := cleaning().Check(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*rimewatch.MaintenancePlan){
		"site_ids":       func(p *rimewatch.MaintenancePlan) { p.SiteIDs = []int64{1, 1} },
		"device_serials": func(p *rimewatch.MaintenancePlan) { p.DeviceIDs = []int64{0} },
		"days":           func(p *rimewatch.MaintenancePlan) { p.Window.Days = 0 },
		"from":           func(p *rimewatch.MaintenancePlan) { p.Window.From = 1440 },
		"to":             func(p *rimewatch.MaintenancePlan) { p.Window.To = p.Window.From },
		"to ":            func(p *rimewatch.MaintenancePlan) { p.Window.To = p.Window.From + 14 },
		"to  ":           func(p *rimewatch.MaintenancePlan) { p.Window.To = -1 },
		"reason":         func(p *rimewatch.MaintenancePlan) { p.Reason = "" },
		"created_by":     func(p *rimewatch.MaintenancePlan) { p.CreatedBy = strings.Repeat("x", 1000) },
	} {
		p := cleaning()
		spoil(p)
		var err *rimewatch.Error
		if !errors.As(p.Check(), &err) || len(err.Fields) != 1 || err.Fields[strings.TrimSpace(field)] == nil {
			t.Errorf("%q: %v", field, err)
		}
	}
}

func TestReportPeriods(t *testing.T) {
	const day = "Mon 2006-01-02 15:04 -0700"
	for _, c := range []struct {
		says, zone, now string
		period          rimewatch.ReportPeriod
		from, to        string
	}{
		{"a week", "UTC", "2026-11-25 12:00", rimewatch.ReportWeekly, "Mon 2026-11-16 00:00 +0000", "Mon 2026-11-23 00:00 +0000"},
		{"on a Sunday the week is not over", "UTC", "2026-11-22 23:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 +0000", "Mon 2026-11-16 00:00 +0000"},
		{"nor is it told of at night", "UTC", "2026-11-23 05:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 +0000", "Mon 2026-11-16 00:00 +0000"},
		{"but in the morning", "UTC", "2026-11-23 06:00", rimewatch.ReportWeekly, "Mon 2026-11-16 00:00 +0000", "Mon 2026-11-23 00:00 +0000"},
		{"the morning is that of the site", "America/Los_Angeles", "2026-11-23 05:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 -0800", "Mon 2026-11-16 00:00 -0800"},
		{"the week in which clocks are set back", "Europe/Berlin", "2026-10-26 06:00", rimewatch.ReportWeekly, "Mon 2026-10-19 00:00 +0200", "Mon 2026-10-26 00:00 +0100"},
		{"the week in which they are set forward", "Europe/Berlin", "2026-03-30 06:00", rimewatch.ReportWeekly, "Mon 2026-03-23 00:00 +0100", "Mon 2026-03-30 00:00 +0200"},
		{"a week over New Year", "UTC", "2027-01-04 06:00", rimewatch.ReportWeekly, "Mon 2026-12-28 00:00 +0000", "Mon 2027-01-04 00:00 +0000"},
		{"a month", "UTC", "2026-11-25 12:00", rimewatch.ReportMonthly, "Thu 2026-10-01 00:00 +0000", "Sun 2026-11-01 00:00 +0000"},
		{"on the last of 31 days", "UTC", "2026-10-31 12:00", rimewatch.ReportMonthly, "Tue 2026-09-01 00:00 +0000", "Thu 2026-10-01 00:00 +0000"},
		{"February of a leap year", "UTC", "2028-03-01 06:00", rimewatch.ReportMonthly, "Tue 2028-02-01 00:00 +0000", "Wed 2028-03-01 00:00 +0000"},
		{"at night on the first", "UTC", "2028-03-01 05:59", rimewatch.ReportMonthly, "Sat 2028-01-01 00:00 +0000", "Tue 2028-02-01 00:00 +0000"},
		{"December", "Pacific/Kiritimati", "2027-01-01 06:00", rimewatch.ReportMonthly, "Tue 2026-12-01 00:00 +1400", "Fri 2027-01-01 00:00 +1400"},
		{"the month in which clocks are set forward", "America/New_York", "2026-04-01 06:00", rimewatch.ReportMonthly, "Sun 2026-03-01 00:00 -0500", "Wed 2026-04-01 00:00 -0400"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.ParseInLocation("2006-01-02 15:04", c.now, zone)
		if err != nil {
			t.Fatal(err)
		}
		from, to := c.period.Last(rimewatch.TimeOf(now), zone)
		if got := from.Std().In(zone).Format(day); got != c.from {
			t.Errorf("%s: from %s, want %s", c.says, got, c.from)
		}
		if got := to.Std().In(zone).Format(day); got != c.to {
			t.Errorf("%s: to %s, want %s", c.says, got, c.to)
		}
	}
}

// Periods follow each other without a gap, whatever clocks do.
func TestReportPeriodsFollow(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []rimewatch.ReportPeriod{rimewatch.ReportWeekly, rimewatch.ReportMonthly} {
			from, to := p.Span(rimewatch.TimeOf(time.Date(2010, 1, 1, 12, 0, 0, 0, zone)), zone)
			for to < rimewatch.TimeOf(time.Date(2027, 1, 1, 0, 0, 0, 0, zone)) {
				again, end := p.Span(to-1, zone)
				next, after := p.Span(to, zone)
				if again != from || end != to || next != to || after <= to {
					t.Fatalf("%s %s: [%s %s) is followed by [%s %s), its last moment is of [%s %s)", name, p, from, to, next, after, again, end)
				}
				if last, until := p.Last(to.DayTime(0, 6*60, zone), zone); last != from || until != to {
					t.Fatalf("%s %s: at six after [%s %s) the last is [%s %s)", name, p, from, to, last, until)
				}
				from, to = next, after
			}
		}
	}
}

// TestReportIsSentOnce: whatever the zone, its changes of clocks and the moments at
// which the server runs, every period's report becomes due once, at the time that
// Next names, and a restart in that minute neither skips nor repeats it.
func TestReportIsSentOnce(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "Europe/Madrid", "America/Sao_Paulo", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut", "Asia/Kathmandu", "Pacific/Apia", "Pacific/Chatham"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom([]rimewatch.ReportPeriod{rimewatch.ReportWeekly, rimewatch.ReportMonthly}).Draw(t, "period")
		now := rimewatch.TimeOf(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)) + rimewatch.Time(rapid.Int64Range(0, 17*365*24*60).Draw(t, "minute"))*rimewatch.Minute
		_, through := p.Last(now, zone)
		for range 30 {
			due := p.Next(now, through, zone)
			if due <= now {
				t.Fatalf("at %s the next report was due at %s", now, due)
			}
			if local := due.Std().In(zone); local.Hour() != 6 || local.Minute() != 0 {
				t.Fatalf("due at %s", local)
			}
			if from, to := p.Last(due-1, zone); to != through {
				t.Fatalf("before %s the last report is of %s to %s, and that through %s was sent", due, from, to, through)
			}
			// The server stops and starts within the minute, or sleeps past it.
			now = due + rimewatch.Time(rapid.Int64Range(0, 2*60_000).Draw(t, "restart after ms"))
			from, to := p.Last(due, zone)
			if again, end := p.Last(now, zone); again != from || end != to {
				t.Fatalf("at %s %s to %s is sent, at %s %s to %s", due, from, to, now, again, end)
			}
			if from != through {
				t.Fatalf("the report from %s follows that through %s", from, through)
			}
			through = to
		}
	})
}

// TestReportAskedForAtNight: between midnight and six the period that has just ended is
// over, so it is what is sent by hand, and no new schedule begins with it.
func TestReportAskedForAtNight(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) rimewatch.Time {
		t.Helper()
		moment, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return rimewatch.TimeOf(moment)
	}
	for _, c := range []struct {
		period         rimewatch.ReportPeriod
		now            string
		from, to       string // that is over
		asked, running string // when the first report is sent of a schedule that begins now, and the next of one that ran
	}{
		{rimewatch.ReportWeekly, "2026-11-23 01:38", "2026-11-16 00:00", "2026-11-23 00:00", "2026-11-30 06:00", "2026-11-23 06:00"},
		{rimewatch.ReportWeekly, "2026-11-23 06:00", "2026-11-16 00:00", "2026-11-23 00:00", "2026-11-30 06:00", "2026-11-30 06:00"},
		{rimewatch.ReportWeekly, "2026-11-22 23:59", "2026-11-09 00:00", "2026-11-16 00:00", "2026-11-23 06:00", "2026-11-23 06:00"},
		{rimewatch.ReportMonthly, "2026-12-01 00:00", "2026-11-01 00:00", "2026-12-01 00:00", "2027-01-01 06:00", "2026-12-01 06:00"},
	} {
		now := at(c.now)
		from, to := c.period.Over(now, zone)
		if from != at(c.from) || to != at(c.to) {
			t.Errorf("%s at %s: %s to %s is over", c.period, c.now, from, to)
		}
		if next := c.period.Next(now, to, zone); next != at(c.asked) {
			t.Errorf("%s at %s: the first is sent at %s", c.period, c.now, next)
		}
		if next := c.period.Next(now, from-1, zone); next != at(c.running) {
			t.Errorf("%s at %s: the next is sent at %s", c.period, c.now, next)
		}
	}
}
