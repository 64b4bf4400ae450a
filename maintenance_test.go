package rimewatch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

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
