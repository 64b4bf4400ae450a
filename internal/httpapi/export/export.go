// Package export gives out all of a workspace as one ZIP: what the API answers to
// its owner, list by list, and every reading. It asks the API's own routes, so that
// nothing is described twice and nothing secret can be in it; of the store it asks for
// the devices that were deleted alone, which the API does not list.
package export

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// list is a file made of a list of the API.
type list struct {
	file, path, key string
	query           url.Values
}

// lists are files of lists that belong to no Resource. TestEverythingIsExported holds
// them against the route table.
func lists() []list {
	return []list{
		{"sites.json", "/v1/sites", "sites", nil},
		{"members.json", "/v1/members", "members", nil},
		{"invitations.json", "/v1/members", "invitations", nil},
		{"tokens.json", "/v1/tokens", "tokens", nil},
		{"devices.json", "/v1/devices", "devices", nil},
		{"excursions.json", "/v1/excursions", "excursions", url.Values{"from": {"1970-01-02T00:00:00Z"}}},
		{"audit.json", "/v1/audit", "entries", nil},
	}
}

// resources are the lists of every httpapi.Resource, with what has ended.
func (x *exporter) resources() (all []list) {
	for _, rt := range x.api.Routes() {
		if rt.Listed != "" {
			all = append(all, list{path.Base(rt.Path) + ".json", rt.Path, rt.Listed, url.Values{"ended": {"true"}}})
		}
	}
	return all
}

// ofAlert are made for each alert.
func ofAlert() []list {
	return []list{
		{"alert-timelines.json", "/v1/alerts/{id}/timeline", "", nil},
		{"alert-deliveries.json", "/v1/alerts/{id}/deliveries", "", nil},
		{"corrective-actions.json", "/v1/alerts/{id}/corrective-actions", "", nil},
	}
}

// exporter writes one export.
type exporter struct {
	api  *httpapi.API
	gone Deleted
	call *httpapi.Call
	zip  *zip.Writer
	kept rimewatch.Time // for how long hourly values are kept
}

// out is where the ZIP goes: a piece at a time, as long as its reader keeps up.
type out struct{ c *httpapi.Call }

// Write implements io.Writer.
func (o out) Write(b []byte) (int, error) {
	if err := o.c.Stream(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Deleted lists the devices of a workspace that were deleted.
type Deleted interface {
	DeletedDevices(ctx context.Context, workspaceID, id int64) ([]rimewatch.Device, error)
}

// routes has the exports that are being made.
type routes struct {
	*httpapi.API
	deleted Deleted
	running sync.Map // by workspace
}

// Routes is the part of the API that exports.
func Routes(deleted Deleted) func(*httpapi.API) []httpapi.Route {
	return func(frame *httpapi.API) []httpapi.Route { return (&routes{API: frame, deleted: deleted}).routes() }
}

func (a *routes) routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/workspace/export", ID: "export-workspace", Tag: "Workspace", Summary: "Export the workspace", Access: httpapi.Scope(rimewatch.ScopeExportRead),
		Also: []rimewatch.Code{rimewatch.CodeRateLimited}, ZIP: true,
		Description: "All of it as a ZIP, streamed: every list of the API as JSON, and each device's readings and hourly values as CSV, those of deleted devices (deleted-devices.json) too, as SERIAL~ID.csv. " +
			"What waits for devices to be accepted is not in it. " +
			"Secrets are not in it. One at a time for a workspace.",
		Bind: httpapi.Raw[httpapi.NoInput, httpapi.Done](a.export),
	}}
}

func (a *routes) export(c *httpapi.Call) error {
	if _, already := a.running.LoadOrStore(c.Workspace(), true); already {
		e := httpapi.ErrRateLimited(time.Minute)
		e.Message = "This workspace is already being exported."
		return e
	}
	defer a.running.Delete(c.Workspace())
	c.Header("Content-Type", httpapi.TypeZIP)
	c.Header("Content-Disposition", fmt.Sprintf(`attachment; filename="rimewatch-%s.zip"`, c.Now.Std().Format("2006-01-02")))
	c.Principal.Scopes = rimewatch.RoleOwner.Scopes() // who may export reads all that is in it
	x := &exporter{api: a.API, gone: a.deleted, call: c, zip: zip.NewWriter(out{c})}
	err := x.all()
	if err == nil {
		err = x.zip.Close()
	}
	if err != nil {
		return a.BrokenStream(c, err)
	}
	return nil
}

func (x *exporter) all() error {
	if err := x.workspace(); err != nil {
		return err
	}
	for _, l := range append(lists(), x.resources()...) {
		if err := x.list(l, nil); err != nil {
			return err
		}
	}
	if err := x.sources(); err != nil {
		return err
	}
	if err := x.alerts(); err != nil {
		return err
	}
	if err := x.cases(); err != nil {
		return err
	}
	if err := x.orders(); err != nil {
		return err
	}
	return x.devices()
}

// cases writes all that is on record of each case, and its attachments as files.
func (x *exporter) cases() error {
	var ids []string
	err := x.pages(list{path: "/v1/cases", key: "cases"}, func(page []json.RawMessage) error {
		for _, one := range page {
			if err := idsInto(&ids)(one); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.ofEach([]list{{"case-records.json", "/v1/cases/{id}", "", nil}}, "case_id", ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := x.attachments("case", "/v1/cases/{id}", "/v1/cases/{id}/attachments/{attachment_id}", id); err != nil {
			return err
		}
	}
	return nil
}

// orders writes the attachments of work orders; those of one that has a case are with the case.
func (x *exporter) orders() error {
	var ids []string
	err := x.pages(list{path: "/v1/work-orders", key: "work_orders"}, func(page []json.RawMessage) error {
		for _, one := range page {
			var o struct {
				ID     json.Number  `json:"id"`
				CaseID *json.Number `json:"case_id"`
			}
			if err := json.Unmarshal(one, &o); err != nil {
				return err
			}
			if o.CaseID == nil {
				ids = append(ids, o.ID.String())
			}
		}
		return nil
	})
	for _, id := range ids {
		if err == nil {
			err = x.attachments("work-order", "/v1/work-orders/{id}", "/v1/work-orders/{id}/attachments/{attachment_id}", id)
		}
	}
	return err
}

// attachments writes those of a thing, which one route answers with and another one has as files.
func (x *exporter) attachments(kind, of, files, id string) error {
	data, err := x.ask(of, map[string]string{"id": id}, nil)
	if err != nil {
		return err
	}
	var has struct {
		Attachments []struct {
			ID   json.Number `json:"id"`
			Name string      `json:"name"`
			Type string      `json:"type"`
		} `json:"attachments"`
	}
	if err := json.Unmarshal(data, &has); err != nil {
		return err
	}
	for _, f := range has.Attachments {
		name := "attachments/" + kind + "-" + id + "-" + f.ID.String() + path.Ext(f.Name)
		if err := x.file(name, files, map[string]string{"id": id, "attachment_id": f.ID.String()}, f.Type); err != nil {
			return err
		}
	}
	return nil
}

// file writes what a path answers with, of a type, as it is.
func (x *exporter) file(name, path string, values map[string]string, kind string) error {
	file := &answer{header: make(http.Header), status: http.StatusOK}
	if e := x.api.Inner(x.call, path, values, nil, kind, file); e != nil {
		return e
	}
	if file.status != http.StatusOK {
		return fmt.Errorf("export %s: status %d", name, file.status)
	}
	w, err := x.create(name)
	if err == nil {
		_, err = w.Write(file.body.Bytes())
	}
	return err
}

// workspace writes the workspace itself.
func (x *exporter) workspace() error {
	data, err := x.ask("/v1/workspace", nil, nil)
	if err != nil {
		return err
	}
	var settings struct {
		Workspace struct {
			RollUp int     `json:"rollup_days"`
			LogoAt *string `json:"logo_at"`
		} `json:"workspace"`
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return err
	}
	x.kept = min(rimewatch.Time(settings.Workspace.RollUp)*rimewatch.Day, x.call.Now-rimewatch.Day)
	w, err := x.create("workspace.json")
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil && settings.Workspace.LogoAt != nil {
		err = x.file("logo", "/v1/workspace/logo", nil, "image/*")
	}
	return err
}

func (x *exporter) create(file string) (io.Writer, error) {
	return x.zip.CreateHeader(&zip.FileHeader{Name: file, Method: zip.Deflate, Modified: x.call.Now.Std()})
}

// answer is an inner answer that is held in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// ask returns the data of one answer of the API.
func (x *exporter) ask(path string, values map[string]string, query url.Values) (json.RawMessage, error) {
	w := &answer{header: make(http.Header), status: http.StatusOK}
	if e := x.api.Inner(x.call, path, values, query, httpapi.TypeJSON, w); e != nil {
		return nil, e
	}
	if w.status != http.StatusOK {
		return nil, fmt.Errorf("export %s: status %d: %s", path, w.status, w.body.Bytes())
	}
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	err := json.Unmarshal(w.body.Bytes(), &envelope)
	return envelope.Data, err
}

// pageSize is how much of a list is held at a time.
const pageSize = 1000

// pages hands out the elements of a list, page by page.
func (x *exporter) pages(l list, yield func([]json.RawMessage) error) error {
	query := url.Values{"per_page": {strconv.Itoa(pageSize)}}
	for name, v := range l.query {
		query[name] = v
	}
	for {
		data, err := x.ask(l.path, nil, query)
		if err != nil {
			return err
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			return err
		}
		var page []json.RawMessage
		if err := json.Unmarshal(members[l.key], &page); err != nil {
			return fmt.Errorf("export %s: %s: %w", l.path, l.key, err)
		}
		if err := yield(page); err != nil {
			return err
		}
		var paging struct {
			Next *string `json:"next_cursor"`
		}
		if members["pagination"] != nil {
			if err := json.Unmarshal(members["pagination"], &paging); err != nil {
				return err
			}
		}
		if paging.Next == nil {
			return nil
		}
		query.Set("cursor", *paging.Next)
	}
}

// list writes a list as one JSON array, and hands out its elements.
func (x *exporter) list(l list, each func(json.RawMessage) error) error {
	w, err := x.create(l.file)
	if err != nil {
		return err
	}
	return x.array(w, func(add func(json.RawMessage) error) error {
		return x.pages(l, func(page []json.RawMessage) error {
			for _, one := range page {
				if err := add(one); err != nil {
					return err
				}
				if each != nil {
					if err := each(one); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// array writes what fill adds as a JSON array, an element a line.
func (x *exporter) array(w io.Writer, fill func(add func(json.RawMessage) error) error) error {
	sep := "[\n"
	err := fill(func(one json.RawMessage) error {
		if _, err := io.WriteString(w, sep); err != nil {
			return err
		}
		sep = ",\n"
		_, err := w.Write(one)
		return err
	})
	if err != nil {
		return err
	}
	if sep == "[\n" {
		_, err = io.WriteString(w, "[]\n")
		return err
	}
	_, err = io.WriteString(w, "\n]\n")
	return err
}

// sources writes where readings come from, and who is bound to what.
func (x *exporter) sources() error {
	var ids []string
	if err := x.list(list{"sources.json", "/v1/sources", "sources", nil}, idsInto(&ids)); err != nil {
		return err
	}
	return x.ofEach([]list{{"source-bindings.json", "/v1/sources/{id}/bindings", "", nil}}, "source_id", ids)
}

// alerts writes the alerts, active and resolved, and what belongs to each.
func (x *exporter) alerts() error {
	var ids []string
	for _, status := range []string{"active", "resolved"} {
		l := list{"alerts-" + status + ".json", "/v1/alerts", "alerts", url.Values{"status": {status}}}
		if err := x.list(l, idsInto(&ids)); err != nil {
			return err
		}
	}
	return x.ofEach(ofAlert(), "alert_id", ids)
}

// idsInto collects the ids of a list's elements.
func idsInto(ids *[]string) func(json.RawMessage) error {
	return func(one json.RawMessage) error {
		var element struct {
			ID json.RawMessage `json:"id"`
		}
		err := json.Unmarshal(one, &element)
		*ids = append(*ids, string(element.ID))
		return err
	}
}

// ofEach writes what belongs to each of the things with these ids.
func (x *exporter) ofEach(lists []list, name string, ids []string) error {
	for _, l := range lists {
		w, err := x.create(l.file)
		if err != nil {
			return err
		}
		err = x.array(w, func(add func(json.RawMessage) error) error {
			for _, id := range ids {
				data, err := x.ask(l.path, map[string]string{"id": id}, nil)
				if err != nil {
					return err
				}
				if err := add(fmt.Appendf(nil, `{"%s":%s,"data":%s}`, name, id, data)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// devices writes each device's calibrations, what was done to it, readings and
// hourly values.
func (x *exporter) devices() error {
	var serials []string
	err := x.pages(list{path: "/v1/devices", key: "devices"}, func(page []json.RawMessage) error {
		for _, one := range page {
			var d struct {
				Serial string `json:"serial"`
			}
			if err := json.Unmarshal(one, &d); err != nil {
				return err
			}
			serials = append(serials, d.Serial)
		}
		return nil
	})
	if err != nil {
		return err
	}
	deleted, err := x.deleted()
	if err != nil {
		return err
	}
	serials = append(serials, deleted...)
	if err := x.ofDevices(serials, "calibrations.json", "/v1/devices/{serial}/calibrations", nil); err != nil {
		return err
	}
	if err := x.ofDevices(serials, "work.json", "/v1/devices/{serial}/corrective-actions", url.Values{"from": {"1970-01-02T00:00:00Z"}}); err != nil {
		return err
	}
	for _, serial := range serials {
		if err := x.csv("readings/"+serial+".csv", serial, "raw", 0, x.call.Now); err != nil {
			return err
		}
		if err := x.hourly(serial); err != nil {
			return err
		}
	}
	return nil
}

// gone is a device that was deleted.
type gone struct {
	ID           int64             `json:"id"`
	Serial       string            `json:"serial"`
	Name         string            `json:"name"`
	Equipment    string            `json:"equipment_type"`
	SiteID       int64             `json:"site_id,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Manufacturer string            `json:"manufacturer,omitempty"`
	Model        string            `json:"model,omitempty"`
	Notes        string            `json:"notes,omitempty"`
	CreatedAt    rimewatch.Time    `json:"created_at"`
	DeletedAt    rimewatch.Time    `json:"deleted_at"`
}

// deleted writes the devices that were deleted, and returns by what the API calls
// their history: one serial may have had several lives.
func (x *exporter) deleted() ([]string, error) {
	list, err := x.gone.DeletedDevices(x.call.R.Context(), x.call.Workspace(), 0)
	if err != nil {
		return nil, err
	}
	w, err := x.create("deleted-devices.json")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	err = x.array(w, func(add func(json.RawMessage) error) error {
		for i := range list {
			d := &list[i]
			names[i] = rimewatch.DeletedSerial(d.Serial, d.ID)
			one, err := json.Marshal(gone{d.ID, d.Serial, d.Name, d.EquipmentType, d.SiteID, d.Labels, d.Manufacturer, d.Model, d.Notes, d.CreatedAt, d.DeletedAt})
			if err != nil {
				return err
			}
			if err := add(one); err != nil {
				return err
			}
		}
		return nil
	})
	return names, err
}

// ofDevices writes what a path answers of each device.
func (x *exporter) ofDevices(serials []string, file, path string, q url.Values) error {
	w, err := x.create(file)
	if err != nil {
		return err
	}
	return x.array(w, func(add func(json.RawMessage) error) error {
		for _, serial := range serials {
			data, err := x.ask(path, map[string]string{"serial": serial}, q)
			if err != nil {
				return err
			}
			name, err := json.Marshal(serial)
			if err != nil {
				return err
			}
			if err := add(fmt.Appendf(nil, `{"device_serial":%s,"data":%s}`, name, data)); err != nil {
				return err
			}
		}
		return nil
	})
}

// hourlySpan is less than the most hours that the API answers at once.
const hourlySpan = 5 * 365 * rimewatch.Day

// hourly writes the hourly values of a device, in as many files as it takes.
func (x *exporter) hourly(serial string) error {
	oldest := x.call.Now - x.kept
	for n, to := 0, x.call.Now; to > oldest; n, to = n+1, to-hourlySpan {
		file := "hourly/" + serial + ".csv"
		if n > 0 {
			file = fmt.Sprintf("hourly/%s.before-%s.csv", serial, to.Std().Format("2006-01-02"))
		}
		if err := x.csv(file, serial, "1h", max(oldest, to-hourlySpan), to); err != nil {
			return err
		}
	}
	return nil
}

// sheet streams an inner answer into a file.
type sheet struct {
	io.Writer
	header http.Header
	status int
}

func (s *sheet) Header() http.Header    { return s.header }
func (s *sheet) WriteHeader(status int) { s.status = status }

func (x *exporter) csv(file, serial, step string, from, to rimewatch.Time) error {
	w, err := x.create(file)
	if err != nil {
		return err
	}
	s := &sheet{Writer: w, header: make(http.Header), status: http.StatusOK}
	query := url.Values{"from": {max(from, rimewatch.Day).String()}, "to": {(to + rimewatch.Hour).String()}, "step": {step}}
	if e := x.api.Inner(x.call, "/v1/devices/{serial}/readings", map[string]string{"serial": serial}, query, httpapi.TypeCSV, s); e != nil {
		return e
	}
	if s.status != http.StatusOK {
		return fmt.Errorf("export readings of %s: status %d", serial, s.status)
	}
	return nil
}
