package v1

import (
	"net/http"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// LatestReading is the newest reading of a device with what people want to know
// of the device.
type LatestReading struct {
	Reading
	DeviceName    string           `json:"device_name"`
	EquipmentType string           `json:"equipment_type"`
	DeviceStatus  rimewatch.Status `json:"device_status" enum:"online,offline"`
}

// LatestReadings is the data of the answer with the newest readings.
type LatestReadings struct {
	Readings   []LatestReading  `json:"readings"`
	Pagination *wire.Pagination `json:"pagination,omitempty" doc:"Only when a paging parameter was given."`
}

// LatestInput are the parameters of the newest readings.
type LatestInput struct {
	httpapi.PageInput
	Status        string `query:"status" enum:"online,offline" doc:"Only of devices in this state."`
	EquipmentType string `query:"equipment_type" maxLength:"200" doc:"Only of devices of this type."`
	SiteID        int64  `query:"site_id" minimum:"0" doc:"Only of devices of this site."`
	Label         string `query:"label.KEY" doc:"Only for devices whose label KEY has this value, as in the list of devices."`
	Q             string `query:"q" maxLength:"200" doc:"Only of devices whose name or serial contains this, without case."`
}

func appendLatest(b []byte, v *rimewatch.DeviceView) []byte {
	b = wire.AppendReading(b, v.ID, v.Serial, &v.Latest)
	b = append(b[:len(b)-1], `,"device_name":`...)
	b = wire.AppendString(b, v.Name)
	b = append(b, `,"equipment_type":`...)
	b = wire.AppendString(b, v.EquipmentType)
	if v.Status == rimewatch.Online {
		return append(b, `,"device_status":"online"}`...)
	}
	return append(b, `,"device_status":"offline"}`...)
}

var streamBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, httpapi.StreamChunk+4096)
	return &b
}}

// latestReadings returns the newest reading of every device. Without paging
// parameters the answer is streamed, so its size does not matter.
func (a readings) latestReadings(c *httpapi.Call) error {
	for _, name := range []string{"page", "per_page", "cursor"} {
		if c.Query.Has(name) {
			return a.latestPage(c)
		}
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	pooled := streamBuffers.Get().(*[]byte)
	defer streamBuffers.Put(pooled)
	x := pieces{c, append((*pooled)[:0], `{"success":true,"data":{"readings":[`...)}
	n := 0
	err := a.eachLatest(c, func(v *rimewatch.DeviceView) error {
		if n > 0 {
			x.b = append(x.b, ',')
		}
		n++
		x.b = appendLatest(x.b, v)
		return x.sendFull()
	})
	if err != nil {
		return a.BrokenStream(c, err)
	}
	_, _ = c.W.Write(append(x.b, "]}}\n"...))
	*pooled = x.b
	return nil
}

// latestFilter returns the filter of the parameters: devices that have a reading.
func latestFilter(c *httpapi.Call) store.DeviceFilter {
	return store.DeviceFilter{Reported: true, Status: rimewatch.Status(c.Query.Get("status")), EquipmentType: c.Query.Get("equipment_type"),
		SiteID: c.Number("site_id", 0, wire.MaxCount), Labels: c.Labels(), Query: c.Query.Get("q")}
}

// eachLatest yields every device that the parameters ask for, by id.
func (a readings) eachLatest(c *httpapi.Call, yield func(v *rimewatch.DeviceView) error) error {
	f := latestFilter(c)
	if (f == store.DeviceFilter{Reported: true}) {
		return a.cfg.Fleet.EachDevice(c.R.Context(), c.Workspace(), yield)
	}
	return store.EachOf(c.R.Context(), a.cfg.Fleet, c.Workspace(), f, yield)
}

// latestPage answers one page of the devices that have a reading.
func (a readings) latestPage(c *httpapi.Call) error {
	in := c.PageInput()
	list, page, err := a.devicePage(c.R.Context(), c, latestFilter(c), &in)
	if err != nil {
		return err
	}
	b := append([]byte(nil), `{"success":true,"data":{"readings":[`...)
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendLatest(b, &list[i])
	}
	b = append(b, `],"pagination":`...)
	if b, err = wire.AppendJSON(b, page); err != nil {
		return err
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	_, _ = c.W.Write(append(b, "}}\n"...))
	return nil
}

func (a readings) readingRoutes() []httpapi.Route {
	read := httpapi.Scope(rimewatch.ScopeReadingsRead)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/readings/latest", Sited: true, ID: "latest-readings", Tag: "Readings", Summary: "Get the latest readings of all devices", Access: read, Paged: true,
			Description: "The newest reading by recorded_at of each device, ordered by device id; devices without readings are left out. All devices, streamed, unless a paging parameter is given.",
			Bind:        httpapi.Raw[LatestInput, LatestReadings](a.latestReadings),
		},
		{
			Method: http.MethodGet, Path: "/v1/readings", Sited: true, ID: "list-readings", Tag: "Readings", Summary: "Get the history of many devices", Access: read, Paged: true, CSV: true, NDJSON: true,
			Description: "Readings of many devices in [from, to), or aggregates of them in steps aligned to UTC, by device id, then time. With `Accept: application/x-ndjson` or `text/csv` all rows, streamed; a row as in the JSON answer.",
			Bind:        httpapi.Raw[HistoriesInput, HistoriesData](a.manyReadings),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}/readings", Sited: true, ID: "device-readings", Tag: "Readings", Summary: "Get the history of a device", Access: read, Paged: true, CSV: true,
			Description: "Readings in [from, to), or aggregates of them in steps aligned to UTC. Gaps are gaps: nothing is interpolated. With `Accept: text/csv` all rows of the span as CSV. SERIAL~ID in the place of the serial is a deleted device, with its id as `device_id` has it everywhere.",
			Bind:        httpapi.Raw[HistoryInput, HistoryData](a.deviceReadings),
		},
	}
}
