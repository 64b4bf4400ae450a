package v1

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// HistoriesInput are the parameters of the history of many devices.
type HistoriesInput struct {
	Serials       string `query:"serials" maxLength:"33000" doc:"Only these devices, at most 500, between commas." example:"WIF-0001,WIF-0002"`
	SiteID        int64  `query:"site_id" minimum:"0" doc:"Only devices of this site."`
	EquipmentType string `query:"equipment_type" maxLength:"200" doc:"Only devices of this type."`
	Label         string `query:"label.KEY" doc:"Only devices whose label KEY has this value, as in the list of devices."`
	From          string `query:"from" format:"date-time" doc:"Start, included. Default: 24 hours before to."`
	To            string `query:"to" format:"date-time" doc:"End, not included. Default: now."`
	Fields        string `query:"fields" maxLength:"300" doc:"Measurements, separated by commas. Default: all eight."`
	Step          string `query:"step" enum:"raw,1m,5m,15m,1h,1d" default:"raw" doc:"raw returns readings, a span returns aggregates of the steps that hold a reading. A span of which more than 50,000 lie between from and to is 422."`
	PerPage       int64  `query:"per_page" minimum:"1" default:"1000" doc:"Of a JSON answer, at most 10000; larger is taken as 10000. NDJSON and CSV have no pages: all rows come."`
	Cursor        string `query:"cursor" maxLength:"200" doc:"next_cursor of the answer before. Keep the other parameters the same."`
}

// HistoriesData is a page of the history of many devices.
type HistoriesData struct {
	From       rimewatch.Time     `json:"from" nullable:"false"`
	To         rimewatch.Time     `json:"to" nullable:"false"`
	Step       string             `json:"step" enum:"raw,1m,5m,15m,1h,1d"`
	Readings   []DeviceHistory    `json:"readings,omitempty" doc:"For step=raw, with the fields asked for."`
	Buckets    []DeviceBucket     `json:"buckets,omitempty" doc:"For the other steps."`
	Pagination *HistoryPagination `json:"pagination"`
}

// DeviceHistory is a reading of one of many devices.
type DeviceHistory struct {
	DeviceID     int64  `json:"device_id"`
	DeviceSerial string `json:"device_serial"`
	HistoryReading
}

// DeviceBucket is the aggregate of the readings of one of many devices in one step.
type DeviceBucket struct {
	DeviceID     int64  `json:"device_id"`
	DeviceSerial string `json:"device_serial"`
	HistoryBucket
}

// mostSerials bounds how many devices can be named.
const mostSerials = 500

// histories is a checked request for the history of many devices.
type histories struct {
	historyQuery
	filter  store.DeviceFilter
	serials []string
	after   int64          // the device that the cursor names, 0 = there is none
	at      rimewatch.Time // its row that was the last
}

func (a readings) histories(c *httpapi.Call) (histories, error) {
	q := histories{filter: store.DeviceFilter{SiteID: c.Number("site_id", 0, wire.MaxCount), EquipmentType: c.Query.Get("equipment_type"), Labels: c.Labels(), Reported: true}}
	var err error
	if q.historyQuery, err = parseHistory(c); err != nil {
		return q, err
	}
	if list := c.Query.Get("serials"); list != "" {
		for serial := range strings.SplitSeq(list, ",") {
			if serial = strings.TrimSpace(serial); !rimewatch.ValidSerial(serial) {
				return q, rimewatch.Invalid("serials", "%q is not a serial", wire.Shown([]byte(serial)))
			}
			q.serials = append(q.serials, serial)
		}
		if len(q.serials) > mostSerials {
			return q, rimewatch.Invalid("serials", "must name at most %d devices", mostSerials)
		}
	}
	q.settle(c.Now)
	if err := q.checkSteps(); err != nil {
		return q, err
	}
	if q.cursor != "" {
		id, at, e := a.cursors.Decode(httpapi.CursorHistories, c.Workspace(), q.cursor)
		if e != nil {
			return q, e
		}
		q.after, q.at = id, rimewatch.Time(at)
	}
	return q, nil
}

// devices calls yield for the devices that are asked for, by id, from the cursor's on.
func (a readings) devices(ctx context.Context, workspaceID int64, q *histories, yield func(*rimewatch.DeviceView) error) error {
	if q.serials == nil {
		const slice = 1000
		for after := max(q.after-1, 0); ; {
			list, _, err := a.cfg.Fleet.Devices(ctx, workspaceID, q.filter, store.Page{After: after, Limit: slice})
			if err != nil || len(list) == 0 {
				return err
			}
			for i := range list {
				if err := yield(&list[i]); err != nil {
					return err
				}
			}
			if after = list[len(list)-1].ID; len(list) < slice {
				return nil
			}
		}
	}
	var list []rimewatch.DeviceView
	for _, serial := range q.serials {
		v, err := a.cfg.Fleet.Device(ctx, workspaceID, serial)
		if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
			return rimewatch.Invalid("serials", "there is no device %s", serial)
		}
		if err != nil {
			return err
		}
		if v.ID >= q.after && q.matches(&v) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(x, y rimewatch.DeviceView) int { return int(x.ID - y.ID) })
	list = slices.CompactFunc(list, func(x, y rimewatch.DeviceView) bool { return x.ID == y.ID })
	for i := range list {
		if err := yield(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// matches reports whether a device that is named passes the other filters.
func (q *histories) matches(v *rimewatch.DeviceView) bool {
	if q.filter.SiteID != 0 && v.SiteID != q.filter.SiteID || q.filter.EquipmentType != "" && v.EquipmentType != q.filter.EquipmentType {
		return false
	}
	if q.filter.Labels != nil {
		for key, value := range *q.filter.Labels {
			if v.Labels[key] != value {
				return false
			}
		}
	}
	return true
}

// row is one of an answer: a reading or a bucket of a device.
type row struct {
	device  *rimewatch.DeviceView
	at      rimewatch.Time
	reading *rimewatch.Reading
	bucket  *store.Bucket
}

// each yields all rows from the cursor on, by device, then time.
func (a readings) each(ctx context.Context, workspaceID int64, q *histories, most int, yield func(row) error) error {
	return a.devices(ctx, workspaceID, q, func(v *rimewatch.DeviceView) error {
		from := q.from
		if v.ID == q.after {
			from = max(from, q.at+max(q.span, 1))
		}
		if q.span == 0 {
			return a.historyOf(&v.Device).Readings(ctx, store.HistoryQuery{DeviceID: v.ID, From: from, To: q.to, Limit: most}, func(r *rimewatch.Reading) error {
				return yield(row{v, r.At, r, nil})
			})
		}
		list, err := a.historyOf(&v.Device).Buckets(ctx, store.BucketQuery{DeviceID: v.ID, From: from, To: q.to, Step: q.span, Fields: q.fields})
		for i := range list {
			if err == nil {
				err = yield(row{v, list[i].At, nil, &list[i]})
			}
		}
		return err
	})
}

func (q *histories) append(b []byte, x row) []byte {
	b = append(b, `{"device_id":`...)
	b = wire.AppendInt(b, x.device.ID)
	b = append(b, `,"device_serial":"`...)
	b = append(append(b, x.device.Serial...), `",`...)
	at := len(b)
	if x.bucket != nil {
		b = appendBucket(b, x.bucket, q.fields)
	} else {
		b = appendHistoryReading(b, x.reading, q.fields)
	}
	return append(b[:at], b[at+1:]...) // without its brace
}

func (a readings) manyReadings(c *httpapi.Call) error {
	q, err := a.histories(c)
	if err != nil {
		return err
	}
	c.W.Header().Add("Vary", "Accept")
	switch httpapi.Preferred(c.R.Header.Get("Accept"), httpapi.TypeJSON, httpapi.TypeCSV, httpapi.TypeNDJSON) {
	case httpapi.TypeCSV:
		return a.manyCSV(c, &q)
	case httpapi.TypeNDJSON:
		return a.manyLines(c, &q)
	default:
		return a.manyPage(c, &q)
	}
}

// manyLines streams all rows as lines of JSON.
func (a readings) manyLines(c *httpapi.Call, q *histories) error {
	c.Header("Content-Type", httpapi.TypeNDJSON)
	x := pieces{c, make([]byte, 0, httpapi.StreamChunk+4096)}
	err := a.each(c.R.Context(), c.Workspace(), q, 0, func(r row) error {
		x.b = append(q.append(x.b, r), '\n')
		return x.sendFull()
	})
	if err == nil {
		err = x.flush()
	}
	if err != nil {
		return a.BrokenStream(c, err)
	}
	return nil
}

// manyCSV streams all rows as CSV.
func (a readings) manyCSV(c *httpapi.Call, q *histories) error {
	c.Header("Content-Type", httpapi.TypeCSV)
	c.Header("Content-Disposition", `attachment; filename="readings.csv"`)
	w := &csvWriter{pieces{c, make([]byte, 0, httpapi.StreamChunk+4096)}}
	w.b = append(w.b, "device_id,device_serial,"...)
	if q.span > 0 {
		w.bucketHead(q.fields)
	} else {
		w.readingHead(q.fields)
	}
	err := w.row()
	if err == nil {
		err = a.each(c.R.Context(), c.Workspace(), q, 0, func(x row) error {
			w.b = wire.AppendInt(w.b, x.device.ID)
			w.b = append(append(append(w.b, ','), x.device.Serial...), ',')
			if x.bucket != nil {
				w.bucket(x.bucket, q.fields)
			} else {
				w.reading(x.reading, q.fields)
			}
			return w.row()
		})
	}
	return w.finish(a.core, err)
}

// errPageFull ends a page.
var errPageFull = errors.New("the page is full")

// manyPage writes one page.
func (a readings) manyPage(c *httpapi.Call, q *histories) error {
	b := append(make([]byte, 0, httpapi.StreamChunk), `{"success":true,"data":{"from":`...)
	b = wire.AppendTime(b, q.from)
	b = append(b, `,"to":`...)
	b = wire.AppendTime(b, q.to)
	b = append(append(append(b, `,"step":"`...), q.step...), `","`...)
	if b = append(b, "readings"...); q.span > 0 {
		b = append(b[:len(b)-len("readings")], "buckets"...)
	}
	b = append(b, `":[`...)
	n, cursor := 0, ""
	var id int64
	var last rimewatch.Time
	err := a.each(c.R.Context(), c.Workspace(), q, q.perPage+1, func(x row) error {
		if n == q.perPage {
			cursor = a.cursors.Encode(httpapi.CursorHistories, c.Workspace(), id, int64(last))
			return errPageFull
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		id, last = x.device.ID, x.at
		b = q.append(b, x)
		return nil
	})
	if err != nil && cursor == "" {
		return err
	}
	b = append(b, `],"pagination":{"per_page":`...)
	b = wire.AppendInt(b, int64(q.perPage))
	b = append(b, `,"next_cursor":`...)
	if cursor != "" {
		b = wire.AppendString(b, cursor)
		c.LinkNext("cursor", cursor)
	} else {
		b = append(b, "null"...)
	}
	c.Header("Content-Type", httpapi.TypeJSON)
	_, _ = c.W.Write(append(b, "}}}\n"...))
	return nil
}
