package v1

import (
	"errors"
	"net/http"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// ReadingBody is a reading as devices send it. The ingest routes decode it by
// hand; this is its description, and a test holds the two together.
type ReadingBody struct {
	DeviceSerial string          `json:"device_serial" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9._:-]{1,64}$" patternDescription:"1 to 64 of the characters A-Z a-z 0-9 . _ : -" example:"WIF-0001"`
	RecordedAt   *rimewatch.Time `json:"recorded_at,omitempty" nullable:"true" doc:"When it was measured; at most 5 minutes ahead and within the retention. Kept to the millisecond. Default: arrival, moved to the device's next free millisecond."`
}

// ReadingInput carries one reading.
type ReadingInput struct {
	Body ReadingBody
}

// StoredReading is the data of the answer to one reading.
type StoredReading struct {
	Reading   wire.DeviceReading `json:"reading"`
	Duplicate bool               `json:"duplicate" doc:"A reading of this device and moment was stored before; reading shows that one."`
}

// ReadingBatch is the body of a batch.
type ReadingBatch struct {
	Readings []ReadingBody `json:"readings" minItems:"1" maxItems:"10000"`
}

// ReadingBatchInput carries a batch.
type ReadingBatchInput struct {
	Body ReadingBatch
}

// BatchResult says how a batch went.
type BatchResult struct {
	Accepted   int             `json:"accepted"`
	Duplicates int             `json:"duplicates"`
	Rejected   int             `json:"rejected"`
	Results    []BatchRejected `json:"results" doc:"Only the rejected items."`
}

// BatchRejected is one item that was not stored.
type BatchRejected struct {
	Index  int                 `json:"index" doc:"Place in the batch, from 0; blank lines do not count."`
	Status int                 `json:"status" doc:"The HTTP status that the item would have got alone."`
	Code   rimewatch.Code      `json:"code"`
	Fields map[string][]string `json:"fields"`
}

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

// latestPage gives one page of devices; those without a reading are left out of
// it, so a page may hold fewer than per_page.
func (a readings) latestPage(c *httpapi.Call) error {
	in := c.PageInput()
	list, page, err := a.devicePage(c.R.Context(), c, store.DeviceFilter{}, &in)
	if err != nil {
		return err
	}
	b := append([]byte(nil), `{"success":true,"data":{"readings":[`...)
	n := 0
	for i := range list {
		if list[i].Latest.At == 0 {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
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

// describedOnly stands in for handlers of routes that are served past the
// router.
func describedOnly(*httpapi.Call) error { return errors.New("this route is served elsewhere") }

func (a readings) readingRoutes(g *ingestRoutes) []httpapi.Route {
	read, write := httpapi.Scope(rimewatch.ScopeReadingsRead), httpapi.Scope(rimewatch.ScopeReadingsWrite)
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: singlePath, ID: "store-reading", Tag: "Readings", Summary: "Store a reading", Access: write, Body: httpapi.JSONBody,
			Description: "Answers 201 only after the reading is on stable storage. Sending the same device and recorded_at again returns 200 with `duplicate: true`, and the first value is kept: a retry is always safe.\n\n" +
				"At least one of the eight measurements is needed; the others may be absent or null. The numbers by which broken sensors report themselves (−127, ±999, 998, 1998–1999.9), where they lie outside the field's range, are stored as null and named in `sensor_faults`.",
			Status: http.StatusCreated, OrOK: true, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice}, Bind: httpapi.Raw[ReadingInput, StoredReading](describedOnly), Direct: g.serveSingle,
		},
		{
			Method: http.MethodPost, Path: batchPath, ID: "store-readings", Tag: "Readings", Summary: "Store many readings", Access: write,
			Body: httpapi.BodyRule{Types: []string{httpapi.TypeJSON, httpapi.TypeNDJSON}, Stream: true},
			Description: "Up to 10,000 readings as `{\"readings\":[…]}` or as NDJSON, one a line; gzip and zstd are understood. Good items are stored even when others are bad. " +
				"A bad NDJSON line rejects that item, a malformed JSON document is refused whole.",
			Bind: httpapi.Raw[ReadingBatchInput, BatchResult](describedOnly), Direct: g.serveBatch,
		},
		{
			Method: http.MethodGet, Path: "/v1/readings/latest", ID: "latest-readings", Tag: "Readings", Summary: "Get the latest readings of all devices", Access: read, Paged: true,
			Description: "The newest reading by recorded_at of each device, ordered by device id; devices without readings are left out. All devices, streamed, unless a paging parameter is given.",
			Bind:        httpapi.Raw[LatestInput, LatestReadings](a.latestReadings),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}/readings", ID: "device-readings", Tag: "Readings", Summary: "Get the history of a device", Access: read, Paged: true, CSV: true,
			Description: "Readings in [from, to), or aggregates of them in steps aligned to UTC. Gaps are gaps: nothing is interpolated. With `Accept: text/csv` all rows of the span as CSV.",
			Bind:        httpapi.Raw[HistoryInput, HistoryData](a.deviceReadings),
		},
	}
}
