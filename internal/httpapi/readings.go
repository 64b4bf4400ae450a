package httpapi

import (
	"errors"
	"net/http"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// NoInput is the input of routes that take none.
type NoInput struct{}

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
	PageInput
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
func (a *API) latestReadings(c *call) error {
	if len(c.query) > 0 {
		return a.latestPage(c)
	}
	c.header("Content-Type", typeJSON)
	pooled := streamBuffers.Get().(*[]byte)
	defer streamBuffers.Put(pooled)
	b := append((*pooled)[:0], `{"success":true,"data":{"readings":[`...)
	n := 0
	err := a.cfg.Fleet.EachDevice(c.r.Context(), c.workspace(), func(v *rimewatch.DeviceView) error {
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
		err := c.stream(b)
		b = b[:0]
		return err
	})
	if err != nil {
		return a.brokenStream(c, err)
	}
	_, _ = c.w.Write(append(b, "]}}\n"...))
	*pooled = b
	return nil
}

// errGone means that the client went away.
var errGone = errors.New("client is gone")

// brokenStream ends an answer that failed on its way. When a part of it is out,
// only breaking the connection tells the client that the rest is missing.
func (a *API) brokenStream(c *call, err error) error {
	rec, ok := c.w.(*recorder)
	if !ok || rec.status == 0 {
		return err
	}
	if !errors.Is(err, errGone) && c.r.Context().Err() == nil {
		a.cfg.Log.Error("answer broke off", "path", c.r.URL.Path, "request_id", c.id, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// latestPage gives one page of devices; those without a reading are left out of
// it, so a page may hold fewer than per_page.
func (a *API) latestPage(c *call) error {
	in := c.pageInput()
	list, page, err := a.devicePage(c.r.Context(), c, store.DeviceFilter{}, &in)
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
	c.header("Content-Type", typeJSON)
	_, _ = c.w.Write(append(b, "}}\n"...))
	return nil
}

// describedOnly stands in for handlers of routes that are served past the
// router.
func describedOnly(*call) error { return errors.New("this route is served elsewhere") }

func (a *API) readingRoutes() []route {
	read, write := scope(rimewatch.ScopeReadingsRead), scope(rimewatch.ScopeReadingsWrite)
	return []route{
		{
			method: http.MethodPost, path: singlePath, id: "store-reading", tag: "Readings", summary: "Store a reading", access: write, body: jsonBody,
			description: "Answers 201 only after the reading is on stable storage. Sending the same device and recorded_at again returns 200 with `duplicate: true`, and the first value is kept: a retry is always safe.\n\n" +
				"At least one of the eight measurements is needed; the others may be absent or null. The numbers by which broken sensors report themselves (−127, ±999, 998, 1998–1999.9), where they lie outside the field's range, are stored as null and named in `sensor_faults`.",
			status: http.StatusCreated, orOK: true, also: []rimewatch.Code{rimewatch.CodeUnknownDevice}, bind: raw[ReadingInput, StoredReading](describedOnly),
		},
		{
			method: http.MethodPost, path: batchPath, id: "store-readings", tag: "Readings", summary: "Store many readings", access: write,
			body: bodyRule{types: []string{typeJSON, typeNDJSON}, stream: true},
			description: "Up to 10,000 readings as `{\"readings\":[…]}` or as NDJSON, one a line; gzip and zstd are understood. Good items are stored even when others are bad. " +
				"A bad NDJSON line rejects that item, a malformed JSON document is refused whole.",
			bind: raw[ReadingBatchInput, BatchResult](describedOnly),
		},
		{
			method: http.MethodGet, path: "/v1/readings/latest", id: "latest-readings", tag: "Readings", summary: "Get the latest readings of all devices", access: read, paged: true,
			description: "The newest reading by recorded_at of each device, ordered by device id; devices without readings are left out. All devices, streamed, unless a paging parameter is given.",
			bind:        raw[LatestInput, LatestReadings](a.latestReadings),
		},
		{
			method: http.MethodGet, path: "/v1/devices/{serial}/readings", id: "device-readings", tag: "Readings", summary: "Get the history of a device", access: read, paged: true, csv: true,
			description: "Readings in [from, to), or aggregates of them in steps aligned to UTC. Gaps are gaps: nothing is interpolated. With `Accept: text/csv` all rows of the span as CSV.",
			bind:        raw[HistoryInput, HistoryData](a.deviceReadings),
		},
	}
}
