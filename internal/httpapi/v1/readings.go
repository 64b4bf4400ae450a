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

// streamChunk is how much of a streamed answer is gathered before it is sent.
const streamChunk = 32 << 10

var streamBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, streamChunk+4096)
	return &b
}}

// latestReadings gives the newest reading of every device. Without paging
// parameters the answer is streamed, so its size does not matter.
func (a readings) latestReadings(c *httpapi.Call) error {
	if len(c.Query) > 0 {
		return a.latestPage(c)
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	pooled := streamBuffers.Get().(*[]byte)
	defer streamBuffers.Put(pooled)
	b := append((*pooled)[:0], `{"success":true,"data":{"readings":[`...)
	n := 0
	err := a.cfg.Fleet.EachDevice(c.R.Context(), c.Workspace(), func(v *rimewatch.DeviceView) error {
		if v.Latest.At == 0 {
			return nil
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		b = appendLatest(b, v)
		if len(b) < streamChunk {
			return nil
		}
		err := c.Stream(b)
		b = b[:0]
		return err
	})
	if err != nil {
		return a.BrokenStream(c, err)
	}
	_, _ = c.W.Write(append(b, "]}}\n"...))
	*pooled = b
	return nil
}

// latestPage answers one page of the devices that have a reading.
func (a readings) latestPage(c *httpapi.Call) error {
	in := c.PageInput()
	list, page, err := a.devicePage(c.R.Context(), c, store.DeviceFilter{Reported: true}, &in)
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
			Method: http.MethodGet, Path: "/v1/devices/{serial}/readings", Sited: true, ID: "device-readings", Tag: "Readings", Summary: "Get the history of a device", Access: read, Paged: true, CSV: true,
			Description: "Readings in [from, to), or aggregates of them in steps aligned to UTC. Gaps are gaps: nothing is interpolated. With `Accept: text/csv` all rows of the span as CSV.",
			Bind:        httpapi.Raw[HistoryInput, HistoryData](a.deviceReadings),
		},
	}
}
