package rimewatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
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
