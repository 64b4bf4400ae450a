package v1

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

// SensorItem is the battery and the signal of a device.
type SensorItem struct {
	Serial     string                   `json:"serial"`
	Name       string                   `json:"name"`
	Site       wire.Maybe[wire.SiteRef] `json:"site"`
	Status     rimewatch.Status         `json:"status" enum:"online,offline"`
	BatteryPct *float64                 `json:"battery_pct" doc:"0–100; a voltage is a level. null where none was sent."`
	BatteryLow bool                     `json:"battery_low" doc:"Whether the device says that its battery is low."`
	RSSIdBm    *float64                 `json:"rssi_dbm" doc:"dBm; null where none was sent."`
	LastSeenAt rimewatch.Time           `json:"last_seen_at"`
}

// SensorList is the data of the answer with batteries and signals.
type SensorList struct {
	Sensors []SensorItem `json:"sensors"`
}

// SensorsInput narrows the sensors that are listed.
type SensorsInput struct {
	SiteID int64 `query:"site_id" minimum:"0" doc:"Only devices of this site."`
}

// maxSensors bounds the answer: those that need somebody are its first.
const maxSensors = 10_000

func (a devices) sensors(ctx context.Context, in *SensorsInput) (SensorList, error) {
	out := SensorList{Sensors: []SensorItem{}}
	err := store.EachOf(ctx, a.cfg.Fleet, httpapi.CallOf(ctx).Workspace(), store.DeviceFilter{SiteID: in.SiteID}, func(v *rimewatch.DeviceView) error {
		if v.BatteryPct != nil || v.BatteryLow || v.RSSI != nil {
			out.Sensors = append(out.Sensors, SensorItem{v.Serial, v.Name, wire.NewSiteRef(v.Site), v.Status, v.BatteryPct, v.BatteryLow, v.RSSI, v.LastSeenAt})
		}
		return nil
	})
	slices.SortStableFunc(out.Sensors, worstSensor)
	out.Sensors = out.Sensors[:min(len(out.Sensors), maxSensors)]
	return out, err
}

// worstSensor orders by the battery, the lowest first, then by the signal, the weakest first.
func worstSensor(x, y SensorItem) int {
	return cmp.Or(cmp.Compare(x.charge(), y.charge()), cmp.Compare(orGood(x.RSSIdBm), orGood(y.RSSIdBm)))
}

// charge is the level of a battery. One that says itself that it is low is so, whatever its level.
func (x *SensorItem) charge() float64 {
	if x.BatteryLow {
		return min(orGood(x.BatteryPct), rimewatch.BatteryLowPct)
	}
	return orGood(x.BatteryPct)
}

// orGood is a level or a signal, better than any where none is known.
func orGood(v *float64) float64 {
	const good = 101
	if v == nil {
		return good
	}
	return *v
}

func (a devices) sensorsRoute() httpapi.Route {
	return httpapi.Route{
		Method: http.MethodGet, Path: "/v1/sensors", Sited: true, ID: "list-sensors", Tag: "Devices", Summary: "List sensors by battery and signal",
		Description: "Devices that have sent a battery level or the strength of their signal, the lowest battery first, then the weakest signal: at most 10,000.",
		Access:      httpapi.Scope(rimewatch.ScopeDevicesRead), Bind: httpapi.Handle(a.sensors),
	}
}
