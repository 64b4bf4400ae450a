package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Status is the content of a page for people who may know how the units are, and
// nothing else.
type Status struct {
	Workspace string         `json:"workspace" doc:"Its name."`
	At        rimewatch.Time `json:"at" nullable:"false" doc:"When the server answered."`
	Sites     []StatusSite   `json:"sites" doc:"By name; units without a site last, under an empty name."`
}

// StatusSite is how the units of one site are.
type StatusSite struct {
	Name     string         `json:"name"`
	TimeZone string         `json:"timezone"`
	Counts   StatusCounts   `json:"counts"`
	Devices  []StatusDevice `json:"devices" doc:"The worst first, then by name: at most 500 of a site."`
}

// StatusCounts are units by their condition.
type StatusCounts struct {
	Critical  int `json:"critical"`
	Warning   int `json:"warning"`
	Predicted int `json:"predicted"`
	Offline   int `json:"offline"`
	Unjudged  int `json:"unjudged"`
	OK        int `json:"ok"`
}

// add counts a unit.
func (n *StatusCounts) add(c rimewatch.Condition) {
	*[...]*int{&n.Critical, &n.Warning, &n.Predicted, &n.Offline, &n.Unjudged, &n.OK}[c]++
}

var conditionNames = [rimewatch.Conditions]string{"critical", "warning", "predicted", "offline", "unjudged", "ok"}

// StatusDevice is how one unit is.
type StatusDevice struct {
	Name          string         `json:"name"`
	EquipmentType string         `json:"equipment_type"`
	Condition     string         `json:"condition" enum:"critical,warning,predicted,offline,unjudged,ok"`
	Reason        string         `json:"reason" doc:"What is wrong: the headline of its worst alert, in the reader's language; empty without one."`
	Since         rimewatch.Time `json:"since" doc:"Since when it is so; null while it is fine or not known."`
	Temp          *float64       `json:"temp" doc:"The newest product-zone temperature, °C; null before the first."`
	TempMin       *float64       `json:"temp_min" doc:"Its limits, °C; null = none."`
	TempMax       *float64       `json:"temp_max"`
	SeenAt        rimewatch.Time `json:"seen_at" doc:"When it was last heard; null = never."`
}

// statusDevices bounds the units of a site that a status names.
const statusDevices = 500

// NewStatus returns how units are at now, each with its active alerts; zone is
// that of units without a site.
func NewStatus(workspace, zone string, units []rimewatch.DeviceView, alerts map[int64][]*rimewatch.Alert, w Words, now rimewatch.Time) Status {
	sites := make(map[int64]*StatusSite)
	for i := range units {
		v := &units[i]
		var id int64
		if v.Site != nil {
			id = v.Site.ID
		}
		if sites[id] == nil {
			sites[id] = &StatusSite{TimeZone: zone}
			if v.Site != nil {
				sites[id].Name, sites[id].TimeZone = v.Site.Name, v.Site.TimeZone
			}
		}
		d, c := newStatusDevice(v, alerts[v.ID], w, now)
		sites[id].Counts.add(c)
		sites[id].Devices = append(sites[id].Devices, d)
	}
	out := Status{Workspace: workspace, At: now, Sites: []StatusSite{}}
	for _, s := range sites {
		slices.SortFunc(s.Devices, func(x, y StatusDevice) int {
			return cmp.Or(slices.Index(conditionNames[:], x.Condition)-slices.Index(conditionNames[:], y.Condition), byName(x.Name, y.Name))
		})
		s.Devices = s.Devices[:min(len(s.Devices), statusDevices)]
		out.Sites = append(out.Sites, *s)
	}
	slices.SortFunc(out.Sites, func(x, y StatusSite) int {
		if (x.Name == "") != (y.Name == "") {
			return cmp.Compare(y.Name, x.Name)
		}
		return byName(x.Name, y.Name)
	})
	return out
}

func byName(x, y string) int {
	return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
}

func newStatusDevice(v *rimewatch.DeviceView, alerts []*rimewatch.Alert, w Words, now rimewatch.Time) (StatusDevice, rimewatch.Condition) {
	limits, c := v.LimitsInForce(), rimewatch.ConditionOf(v.Status == rimewatch.Online, v.Judged(now), alerts)
	d := StatusDevice{
		Name: cmp.Or(v.Name, v.Serial), EquipmentType: v.EquipmentType, Condition: conditionNames[c],
		TempMin: limits.TempMin, TempMax: limits.TempMax, SeenAt: v.LastSeenAt,
	}
	if v.CurrentTempAt != 0 {
		temp := v.CurrentTemp
		d.Temp = &temp
	}
	if c == rimewatch.ConditionOffline {
		d.Since = v.LastSeenAt
	}
	for _, a := range alerts {
		began := cmp.Or(a.ConditionStartedAt, a.TriggeredAt)
		if a.SuppressedBy == 0 && a.Condition() == c && (d.Since == 0 || began < d.Since) {
			d.Since, d.Reason = began, w.Title(a)
		}
	}
	return d, c
}
