package httpapi

import (
	"context"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// maxPerPage is the largest page of lists.
const maxPerPage = 1000

// PageInput are the parameters of a list that is given in pages.
type PageInput struct {
	Page    int64  `query:"page" minimum:"1" default:"1" doc:"Number of the page, from 1. Past the end the list is empty."`
	PerPage int64  `query:"per_page" minimum:"1" default:"15" doc:"Items per page. More than 1000 is taken as 1000; the number used is in the answer."`
	Cursor  string `query:"cursor" maxLength:"200" doc:"next_cursor of an earlier answer, for fleets too large to count pages. It goes before page. Keep the filters the same."`
}

// Size is the number of items of a page.
func (p *PageInput) Size() int { return int(min(p.PerPage, maxPerPage)) }

// Offset is the number of items before the page.
func (p *PageInput) Offset() int {
	const most = 1 << 40 // far past every list, and far from overflow
	return int(min((min(p.Page, most)-1)*int64(p.Size()), most))
}

// IDInput names something by its number in a path.
type IDInput struct {
	ID string `path:"id" doc:"Integer id."`
}

// Number returns the path's id, 0 where it cannot be one: nothing has that.
func (in *IDInput) Number() int64 { return pathID(in.ID) }

// SerialInput names a device in a path.
type SerialInput struct {
	Serial string `path:"serial" maxLength:"84" doc:"Compared without case."` // also SERIAL~ID
}

// Known returns the path's serial; CodeDeviceNotFound for a text that cannot be one.
func (in *SerialInput) Known() (string, error) {
	if !rimewatch.ValidSerial(in.Serial) {
		return "", ErrDeviceNotFound()
	}
	return in.Serial, nil
}

// Device finds the device of a path that reads its records: SERIAL, or
// SERIAL~ID for one that was deleted.
func (in *SerialInput) Device(ctx context.Context, fleet store.Fleet, workspaceID int64) (v rimewatch.DeviceView, err error) {
	serial, id := rimewatch.CutDeletedSerial(in.Serial)
	if serial, err = (&SerialInput{Serial: serial}).Known(); err != nil {
		return v, err
	}
	if id == 0 {
		return fleet.Device(ctx, workspaceID, serial)
	}
	if id < 0 {
		return v, ErrDeviceNotFound()
	}
	list, err := fleet.DeletedDevices(ctx, workspaceID, id)
	if err != nil {
		return v, err
	}
	if len(list) == 0 || rimewatch.SerialKey(list[0].Serial) != rimewatch.SerialKey(serial) {
		return v, ErrDeviceNotFound()
	}
	v.Device = list[0]
	return v, nil
}

// AlertIDInput names an alert in a path.
type AlertIDInput struct {
	ID string `path:"id" doc:"Integer id of the alert."`
}

// Number returns the path's id, 0 where it cannot be one: no alert has that.
func (in *AlertIDInput) Number() int64 { return pathID(in.ID) }

// BodyInput carries a body alone.
type BodyInput[B any] struct {
	Body B
}

// IDBody names something in the path and carries a body.
type IDBody[B any] struct {
	IDInput
	Body B
}

// SerialBody names a device and carries a body.
type SerialBody[B any] struct {
	SerialInput
	Body B
}

// AlertBody names an alert and carries a body.
type AlertBody[B any] struct {
	AlertIDInput
	Body B
}

// pathID reads an id from a path, in its one form.
func pathID(s string) int64 {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != s {
		return 0
	}
	return id
}

// ListOf names the list of a cursor: of its owner, a workspace or a channel.
type ListOf struct {
	Cursors *CursorCodec
	Kind    CursorKind
	Owner   int64
}

// Start is where a page begins: after so many items, or behind the one that a cursor
// names by two numbers.
type Start struct {
	A, B          int64
	Offset, Limit int
}

// Page returns a page of a list, by number or by cursor, and its description. at names
// an item for the cursor behind it.
func Page[T any](c *Call, l ListOf, in *PageInput, read func(Start) (list []T, total int, err error), at func(*T) (a, b int64)) ([]T, wire.Pagination, error) {
	from := Start{Offset: in.Offset(), Limit: in.Size()}
	if in.Cursor != "" {
		a, b, e := l.Cursors.Decode(l.Kind, l.Owner, in.Cursor)
		if e != nil {
			return nil, wire.Pagination{}, e
		}
		from = Start{A: a, B: b, Limit: in.Size() + 1}
	}
	list, total, err := read(from)
	if err != nil {
		return nil, wire.Pagination{}, err
	}
	more := len(list) > in.Size()
	if more {
		list = list[:in.Size()]
	}
	return list, c.pagination(in, len(list), total, more, func() string {
		a, b := at(&list[len(list)-1])
		return l.Cursors.Encode(l.Kind, l.Owner, a, b)
	}), nil
}

// Pagination describes the page of n items out of total of a list without cursors.
func (c *Call) Pagination(in *PageInput, n, total int) wire.Pagination {
	p := c.pagination(in, n, total, false, func() string { return "" })
	p.NextCursor = nil
	return p
}

// pagination describes the page of n items out of total, and sets Link when
// there is a next one. next is the cursor behind the page; more reports, in
// cursor mode, whether something follows.
func (c *Call) pagination(in *PageInput, n, total int, more bool, next func() string) wire.Pagination {
	p := wire.Pagination{PerPage: in.Size()}
	byCursor := in.Cursor != ""
	if !byCursor {
		more = n > 0 && in.Offset()+n < total
		last := max(1, (total+p.PerPage-1)/p.PerPage)
		p.CurrentPage, p.Total, p.LastPage = &in.Page, &total, &last
		if n > 0 {
			from, to := in.Offset()+1, in.Offset()+n
			p.From, p.To = &from, &to
		}
	}
	if !more {
		return p
	}
	cursor := next()
	p.NextCursor = &cursor
	if byCursor {
		c.LinkNext("cursor", cursor)
	} else {
		c.LinkNext("page", strconv.FormatInt(in.Page+1, 10))
	}
	return p
}

// LinkNext sets the Link header to this request with one parameter changed.
func (c *Call) LinkNext(name, value string) {
	query, err := url.ParseQuery(c.R.URL.RawQuery)
	if err != nil {
		return
	}
	query.Set(name, value)
	target := url.URL{Path: c.R.URL.Path, RawQuery: query.Encode()}
	h := c.W.Header()
	h["Link"] = append(h["Link"], "<"+target.String()+`>; rel="next"`)
}
