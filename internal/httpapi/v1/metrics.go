package v1

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// gauge is a metric of every device.
type gauge struct {
	name, help string
	value      func(a devices, v *rimewatch.DeviceView, now rimewatch.Time) (float64, bool)
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// minutes is a time of some ms, to a tenth.
func minutes(ms int64) float64 { return math.Round(float64(ms)/6000) / 10 }

// scraped are the metrics of a scrape, in this order.
func scraped() []gauge {
	return []gauge{
		{"rimewatch_device_temperature_celsius", "Newest temperature of the product zone.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return v.CurrentTemp, v.CurrentTempAt != 0
		}},
		{"rimewatch_device_online", "1 while the device reports.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return yes(v.Status == rimewatch.Online), true
		}},
		{"rimewatch_device_active_alerts", "Alerts that are active.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return float64(v.ActiveAlerts), true
		}},
		{"rimewatch_device_health_score", "Health from 0 to 100. Absent for a device that is not judged.", func(a devices, v *rimewatch.DeviceView, now rimewatch.Time) (float64, bool) {
			if !v.Judged(now) {
				return 0, false
			}
			score, _ := a.cfg.Health.DeviceHealth(v.ID)
			return score, true
		}},
		{"rimewatch_device_warm_minutes_24h", "Minutes of the last 24 h above the upper temperature limit. Absent without one.", func(a devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return minutes(a.cfg.Health.DeviceExposure(v.ID).Warm), v.LimitsInForce().TempMax != nil
		}},
		{"rimewatch_device_cold_minutes_24h", "Minutes of the last 24 h below the lower temperature limit. Absent without one.", func(a devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return minutes(a.cfg.Health.DeviceExposure(v.ID).Cold), v.LimitsInForce().TempMin != nil
		}},
		{"rimewatch_device_temperature_timestamp_seconds", "When that temperature was measured.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return float64(v.CurrentTempAt) / 1000, v.CurrentTempAt != 0
		}},
		{"rimewatch_device_battery_percent", "Level of the sensor's battery. Absent where none was sent.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			if v.BatteryPct == nil {
				return 0, false
			}
			return *v.BatteryPct, true
		}},
		{"rimewatch_device_battery_low", "1 while the sensor says that its battery is low, or its level is 20 % or less. Absent where neither was sent.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return yes(v.BatteryLow || v.BatteryPct != nil && *v.BatteryPct <= rimewatch.BatteryLowPct), v.BatteryLow || v.BatteryPct != nil
		}},
		{"rimewatch_device_rssi_dbm", "Strength of the sensor's signal. Absent where none was sent.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			if v.RSSI == nil {
				return 0, false
			}
			return *v.RSSI, true
		}},
		{"rimewatch_device_last_seen_timestamp_seconds", "When the device was last heard.", func(_ devices, v *rimewatch.DeviceView, _ rimewatch.Time) (float64, bool) {
			return float64(v.LastSeenAt) / 1000, v.LastSeenAt != 0
		}},
	}
}

// metrics answers a scrape: every device of the token's workspace.
func (a devices) metrics(c *httpapi.Call) error {
	c.Header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if strings.Contains(c.R.Header.Get("Accept"), "application/openmetrics-text") {
		c.Header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	}
	x := pieces{c: c}
	for _, g := range scraped() {
		x.b = append(x.b, "# TYPE "+g.name+" gauge\n# HELP "+g.name+" "+g.help+"\n"...)
		err := store.EachOf(c.R.Context(), a.cfg.Fleet, c.Workspace(), store.DeviceFilter{}, func(v *rimewatch.DeviceView) error {
			if value, ok := g.value(a, v, c.Now); ok {
				x.b = appendSample(x.b, g.name, v, value)
			}
			return x.sendFull()
		})
		if err != nil {
			return a.BrokenStream(c, err)
		}
	}
	_, _ = c.W.Write(append(x.b, "# EOF\n"...))
	return nil
}

func appendSample(b []byte, name string, v *rimewatch.DeviceView, value float64) []byte {
	site := ""
	if v.Site != nil {
		site = v.Site.Name
	}
	b = append(append(b, name...), '{')
	for i, label := range [...][2]string{{"serial", v.Serial}, {"name", v.Name}, {"site", site}, {"equipment_type", v.EquipmentType}} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, label[0]...), `="`...)
		b = append(append(b, escapeLabel(label[1])...), '"')
	}
	b = strconv.AppendFloat(append(b, "} "...), value, 'f', -1, 64)
	return append(b, '\n')
}

// escapeLabel writes a label's value as the exposition format asks for it.
func escapeLabel(s string) string {
	if !strings.ContainsAny(s, "\\\"\n") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

func (a devices) metricsRoute() httpapi.Route {
	return httpapi.Route{
		Method: http.MethodGet, Path: "/v1/metrics", ID: "get-metrics", Tag: "Devices", Summary: "Scrape the fleet", Access: httpapi.Scope(rimewatch.ScopeDevicesRead), Text: true,
		Description: "Temperature, presence, active alerts, health and minutes out of range of every device as Prometheus and OpenMetrics read it, with the labels serial, name, site and equipment_type. The token is the scraper's `authorization`.",
		Bind:        httpapi.Raw[httpapi.NoInput, httpapi.Done](a.metrics),
	}
}
