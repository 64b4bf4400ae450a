package records

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Standing is how a site is now, and how it has been.
type Standing struct {
	SiteID     *int64   `json:"site_id" doc:"null: the devices without a site."`
	Name       string   `json:"name"`
	Devices    int      `json:"devices"`
	Online     int      `json:"online"`
	Attention  int      `json:"attention" doc:"Devices whose condition is not ok."`
	Active     int      `json:"active_alerts"`
	Critical   int      `json:"critical_alerts"`
	Health     *float64 `json:"health_score" doc:"0–100; null while no device is judged."`
	Compliance *float64 `json:"temperature_compliance" doc:"0–100, of the last 24 h, as in the summary of the fleet; null where nothing was measured in them."`
	Coverage   float64  `json:"data_coverage" doc:"0–100, of the last 24 h."`

	Excursions       int      `json:"excursions" doc:"Excursions that lie in the days asked for with a part."`
	ExcursionMinutes float64  `json:"excursion_minutes" doc:"min that they lasted within these days, of all devices together."`
	CriticalRaised   int      `json:"critical_raised" doc:"Critical alerts that were raised in these days."`
	Answered         int      `json:"answered" doc:"Those of them that somebody acknowledged."`
	ResponseS        *float64 `json:"response_s" doc:"s from the alert to its acknowledgement, the median of those answered; null without one."`
}

// StandingsInput is how far back to look.
type StandingsInput struct {
	Days int `query:"days" minimum:"1" maximum:"90" default:"30" doc:"Days back from now that excursions and alerts are counted of."`
}

// StandingsData is the data of the answer about sites.
type StandingsData struct {
	Days  int        `json:"days"`
	Sites []Standing `json:"sites" doc:"Every site that you may see, by id, and last the devices without a site."`
}

func (a *api) standings(ctx context.Context, in *StandingsInput) (StandingsData, error) {
	c := httpapi.CallOf(ctx)
	days := cmp.Or(in.Days, 30)
	from := c.Now - rimewatch.Time(days)*rimewatch.Day
	sites, err := a.Sites.Sites(c.Principal).List(ctx, c.Workspace())
	if err != nil {
		return StandingsData{}, err
	}
	totals, err := a.Reports.ExcursionTotals(ctx, c.Workspace(), from, c.Now)
	if err != nil {
		return StandingsData{}, err
	}
	responses, err := a.Store.Records().Responses(ctx, c.Workspace(), from, c.Now+1)
	if err != nil {
		return StandingsData{}, err
	}
	now := a.Health.SummariesOf(c.Workspace(), c.Principal.Sites())
	siteOf := make(map[int64]int64)
	a.Store.EachIdentity(ctx, c.Workspace(), func(d *store.Identity) bool {
		siteOf[d.ID] = d.SiteID
		return true
	})
	if _, unplaced := now[0]; unplaced {
		sites = append(sites, rimewatch.Site{})
	}
	return StandingsData{Days: days, Sites: standingsOf(sites, now, siteOf, totals, responses)}, nil
}

// standingsOf adds up the values of devices by their present sites. Deleted devices and sites
// that are not in the list are left out.
func standingsOf(
	sites []rimewatch.Site, now map[int64]wire.HealthSummary, siteOf map[int64]int64, totals map[int64]store.ExcursionTotal, responses []store.Response,
) []Standing {
	out := make([]Standing, len(sites))
	bySite := make(map[int64]*Standing, len(sites))
	for i := range sites {
		s, h := &out[i], now[sites[i].ID]
		*s = Standing{
			SiteID: wire.OrNull(sites[i].ID), Name: sites[i].Name, Devices: h.TotalDevices, Online: h.OnlineDevices, Attention: h.TotalDevices - h.Conditions.OK,
			Active: h.ActiveAlerts, Critical: h.CriticalAlerts, Coverage: h.DataCoverage,
		}
		if h.TotalDevices > h.UnjudgedDevices {
			s.Health = &h.HealthScore
		}
		if h.DataCoverage > 0 {
			s.Compliance = &h.TemperatureCompliance
		}
		bySite[sites[i].ID] = s
	}
	for device, sum := range totals {
		site, known := siteOf[device]
		if s := bySite[site]; known && s != nil {
			s.Excursions += sum.Count
			s.ExcursionMinutes += float64(sum.Sum) / float64(rimewatch.Minute)
		}
	}
	waited := make(map[*Standing][]float64)
	for _, r := range responses {
		site, known := siteOf[r.DeviceID]
		if r.DeviceID == 0 {
			site, known = r.SiteID, true
		}
		s := bySite[site]
		if !known || s == nil {
			continue
		}
		s.CriticalRaised++
		if r.AcknowledgedAt != 0 {
			s.Answered++
			waited[s] = append(waited[s], float64(r.AcknowledgedAt-r.TriggeredAt)/float64(rimewatch.Second))
		}
	}
	for s, list := range waited {
		slices.Sort(list)
		median := (list[(len(list)-1)/2] + list[len(list)/2]) / 2
		s.ResponseS = &median
	}
	return out
}

func (a *api) standingRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/reports/sites", Sited: true, ID: "compare-sites", Tag: "Records", Summary: "Compare sites",
		Description: "How each site that you may see is now, and how many excursions and critical alerts it had, and how soon somebody acknowledged these. " +
			"Devices are counted where they stand now.",
		Access: httpapi.Scope(rimewatch.ScopeDevicesRead | rimewatch.ScopeAlertsRead), Bind: httpapi.Handle(a.standings),
	}}
}
