package v1

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// maxImportRows is how many devices one import may hold.
const maxImportRows = 10_000

// ImportInput are the parameters of an import.
type ImportInput struct {
	DryRun           string `query:"dry_run" enum:"true,false" default:"false" doc:"Only report what would happen."`
	ConfirmLoosening string `query:"confirm_loosening" enum:"true,false" default:"false" doc:"Let rows loosen safety limits."`
}

// ImportResult is the result of an import, or of its rehearsal.
type ImportResult struct {
	Rows    []ImportRow `json:"rows"`
	Created int         `json:"created"`
	Updated int         `json:"updated"`
	Skipped int         `json:"skipped" doc:"Rows that say what is stored already."`
	Errors  int         `json:"errors"`
}

// ImportRow is the outcome of one row.
type ImportRow struct {
	Row    int      `json:"row" doc:"Line of the file; the header is line 1."`
	Serial string   `json:"serial"`
	Action string   `json:"action" enum:"create,update,skip,error"`
	Errors []string `json:"errors"`
	// Warnings do not keep a row from being imported.
	Warnings      []string `json:"warnings" doc:"What is imported but probably not intended, such as an unknown equipment type."`
	SuggestedType string   `json:"suggested_type" doc:"The known equipment type that is nearest to one that is not known; empty otherwise."`
}

// importColumns are the columns beside label:… ones. A column changes a device
// through the same body as PATCH does.
var importColumns = append(deviceColumns(), "temp_min", "temp_max", "delay_s", "low_delay_s",
	"critical_min", "critical_max", "critical_delay_s", "clear_delta", "clear_s", exposureColumn+"warm", exposureColumn+"cold")

// deviceColumns are the serial and what people set on a device. A site goes by its name, too.
func deviceColumns() []string {
	columns := []string{"serial"}
	for _, f := range rimewatch.DeviceFields() {
		if f.Name == "site_id" {
			columns = append(columns, "site")
		}
		columns = append(columns, f.Name)
	}
	return columns
}

const (
	labelColumn    = "label:"
	exposureColumn = "exposure_min_per_day_"
)

// importPlan is one row on its way in.
type importPlan struct {
	row       ImportRow
	fields    DeviceFields
	workspace *rimewatch.Workspace
}

// importer knows what the rows of an import need.
type importer struct {
	cells     map[string]rimewatch.CellKind // by the column
	call      *httpapi.Call
	api       *core
	workspace int64
	sites     map[string]int64 // lower-case name → id
	siteIDs   map[int64]bool
	header    []string
	sheet     *wire.Sheet
	seen      map[string]int // serial key → line
}

func (a devices) importDevices(c *httpapi.Call) error {
	file, mediaType, params := c.Body()
	if mediaType == httpapi.TypeMultipart {
		var e *rimewatch.Error
		if file, e = formFile(file, params["boundary"]); e != nil {
			return e
		}
	}
	plans, err := a.planImport(c, file)
	if err != nil {
		return err
	}
	dry := c.Query.Get("dry_run") == "true"
	settings, err := a.workspaceOf(c.R.Context())
	if err != nil {
		return err
	}
	for i := range plans {
		plans[i].workspace = &settings
		plans[i].fields.ConfirmLoosening = c.Query.Get("confirm_loosening") == "true"
	}
	a.runImport(c.R.Context(), c.Workspace(), plans, dry)
	out := ImportResult{Rows: make([]ImportRow, len(plans))}
	for i := range plans {
		row := &plans[i].row
		switch row.Action {
		case "create":
			out.Created++
		case "update":
			out.Updated++
		case "skip":
			out.Skipped++
		default:
			out.Errors++
		}
		row.Errors = notNil(row.Errors)
		row.Warnings = notNil(row.Warnings)
		out.Rows[i] = *row
	}
	return c.Data(http.StatusOK, out)
}

func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// maxParts is how many parts of a form are looked at for its file.
const maxParts = 20

// formFile returns the first file of a form.
func formFile(body []byte, boundary string) ([]byte, *rimewatch.Error) {
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for range maxParts {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // a form that is cut off wraps io.EOF, the end of a whole one is io.EOF itself
			return nil, rimewatch.Invalid("file", "is required")
		}
		if err != nil {
			return nil, rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The form is malformed.")
		}
		if part.FileName() == "" && part.FormName() != "file" {
			continue
		}
		text := bytes.NewBuffer(make([]byte, 0, len(body))) // it is no larger
		if _, err := text.ReadFrom(part); err != nil {
			return nil, rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The form is malformed.")
		}
		return text.Bytes(), nil
	}
	return nil, rimewatch.Invalid("file", "is required")
}

// planImport checks the file's form and every row by itself.
func (a devices) planImport(c *httpapi.Call, file []byte) ([]importPlan, error) {
	r, e := wire.NewSheet(file)
	if e != nil {
		return nil, e
	}
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, rimewatch.Invalid("header", "cannot be read")
	}
	im, err := a.newImporter(c, header)
	if err != nil {
		return nil, err
	}
	im.sheet = r
	var plans []importPlan
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if len(plans) == maxImportRows {
			return nil, rimewatch.Errorf(rimewatch.CodePayloadTooLarge, "An import must not hold more than %d rows.", maxImportRows)
		}
		var line int
		if err == nil {
			line, _ = r.FieldPos(0)
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			plans = append(plans, importPlan{row: ImportRow{Row: bad.StartLine, Action: "error", Errors: []string{"is malformed: " + bad.Err.Error()}}})
			continue
		}
		if err != nil {
			return nil, err
		}
		plans = append(plans, im.plan(line, cells))
	}
	if len(plans) == 0 {
		return nil, rimewatch.Invalid("rows", "must hold at least one row")
	}
	return plans, nil
}

func (a devices) newImporter(c *httpapi.Call, header []string) (*importer, error) {
	im := &importer{call: c, api: a.core, workspace: c.Workspace(), header: header, sites: make(map[string]int64), siteIDs: make(map[int64]bool), seen: make(map[string]int), cells: make(map[string]rimewatch.CellKind)}
	for _, f := range rimewatch.DeviceFields() {
		im.cells[f.Name] = f.Cell
	}
	var f wire.FieldErrors
	there := make(map[string]bool, len(header))
	for i, name := range header {
		name = wire.ColumnName(name)
		if key, ok := strings.CutPrefix(strings.TrimSpace(header[i]), labelColumn); ok {
			name = labelColumn + key
		} else if !slices.Contains(importColumns, name) {
			f.Add(wire.Shown([]byte(header[i])), "is not a known column")
		}
		if there[name] {
			f.Add(wire.Shown([]byte(name)), "is there twice")
		}
		there[name] = true
		header[i] = name
	}
	if !slices.Contains(header, "serial") {
		f.Add("serial", "is required")
	}
	if f.Err != nil {
		return nil, f.Err
	}
	sites, err := a.cfg.Accounts.Sites(account.Operator(c.Workspace())).List(c.R.Context(), c.Workspace())
	if err != nil {
		return nil, err
	}
	for _, s := range sites {
		im.sites[strings.ToLower(s.Name)] = s.ID
		im.siteIDs[s.ID] = true
	}
	return im, nil
}

// plan turns a row into the body that would change the device, and checks it by
// the schema of that body. An empty cell leaves things as they are.
func (im *importer) plan(line int, cells []string) importPlan {
	p := importPlan{row: ImportRow{Row: line}}
	fail := func(format string, args ...any) {
		p.row.Errors = append(p.row.Errors, rimewatch.Sentencef(format, args...).In(im.call.Words().Say))
	}
	if len(cells) > len(im.header) {
		fail("has more cells than the header")
		cells = cells[:len(im.header)]
	}
	body, inner, minutes, tags := newObject(), newObject(), newObject(), newObject()
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		name := im.header[i]
		if cell == "" {
			continue
		}
		key, isLabel := strings.CutPrefix(name, labelColumn)
		switch {
		case name == "serial":
			p.row.Serial = cell
		case isLabel:
			tags.text(key, cell)
		case name == "site":
			id, ok := im.sites[strings.ToLower(cell)]
			if !ok {
				fail("%s: %s", "site", rimewatch.Sentencef("is not known"))
				continue
			}
			body.number("site_id", wire.AppendInt(nil, id))
		case strings.HasPrefix(name, "temp_") || strings.HasPrefix(name, "critical_") || strings.HasSuffix(name, "delay_s") || strings.HasPrefix(name, "clear_"):
			inner.cell(name, im.sheet.Number(cell), true)
		case strings.HasPrefix(name, exposureColumn):
			minutes.cell(strings.TrimPrefix(name, exposureColumn), cell, true)
		default:
			if kind := im.cells[name]; kind == rimewatch.TimeCell {
				body.text(name, wire.SheetTime(cell))
			} else {
				body.cell(name, cell, kind == rimewatch.NumberCell)
			}
		}
	}
	inner.object("exposure_min_per_day", minutes)
	body.object("limits", inner)
	body.object("labels", tags)
	im.check(&p, body.done(), fail)
	if len(p.row.Errors) > 0 {
		p.row.Action = "error"
	}
	return p
}

func (im *importer) check(p *importPlan, body []byte, fail func(format string, args ...any)) {
	serial := p.row.Serial
	if !rimewatch.ValidSerial(serial) {
		p.row.Serial = wire.Shown([]byte(serial))
		fail("%s: %s", "serial", rimewatch.Sentencef("must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -"))
		return
	}
	if first, ok := im.seen[rimewatch.SerialKey(serial)]; ok {
		fail("%s: %s", "serial", rimewatch.Sentencef("is already in row %d", first))
		return
	}
	im.seen[rimewatch.SerialKey(serial)] = p.row.Row
	if e := httpapi.CheckBody[DeviceFields](im.api.API, body); e != nil {
		p.row.Errors = append(p.row.Errors, rowErrors(im.call, e)...)
		return
	}
	if err := json.Unmarshal(body, &p.fields); err != nil {
		fail("cannot be read")
		return
	}
	if id := p.fields.SiteID.Value; id != nil && !im.siteIDs[*id] {
		fail("%s: %s", "site_id", rimewatch.Sentencef("is not known"))
	}
	if kind := p.fields.EquipmentType.Value; kind != nil {
		im.warnOfType(p, *kind)
	}
}

// warnOfType warns of an equipment type that is not known: the set is open, but
// such a device has no limits, and is not judged until somebody sets them.
func (im *importer) warnOfType(p *importPlan, slug string) {
	if _, known := rimewatch.EquipmentBySlug(slug); known {
		return
	}
	p.row.Warnings = append(p.row.Warnings,
		im.call.Words().Sayf("equipment_type: %s is not a known type, so no limits apply and nobody is alerted", slug))
	if e := rimewatch.NearestEquipment(slug); e != nil {
		p.row.SuggestedType = e.Slug
	}
}

// runImport settles what every row does and, unless it is a rehearsal, does it.
// Rows run side by side: they are of different devices and share commits.
func (a devices) runImport(ctx context.Context, workspaceID int64, plans []importPlan, dry bool) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, httpapi.RegisterAtOnce)
	for i := range plans {
		p := &plans[i]
		if p.row.Action == "error" {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := a.importRow(ctx, workspaceID, p, dry); err != nil {
				p.row.Action = "error"
				p.row.Errors = append(p.row.Errors, rowErrors(httpapi.CallOf(ctx), err)...)
			}
		})
	}
	wg.Wait()
}

func (a devices) importRow(ctx context.Context, workspaceID int64, p *importPlan, dry bool) error {
	v, err := a.cfg.Fleet.Device(ctx, workspaceID, p.row.Serial)
	if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
		d := rimewatch.Device{WorkspaceID: workspaceID, Serial: p.row.Serial, Name: p.row.Serial, EquipmentType: rimewatch.OtherEquipment}
		if err := p.fields.apply(&d, p.workspace); err != nil {
			return err
		}
		p.row.Action = "create"
		if dry {
			return nil
		}
		_, err = a.cfg.Writer.CreateDevice(ctx, &d)
		return err
	}
	if err != nil {
		return err
	}
	changed := v.Device
	changed.Labels = maps.Clone(v.Labels)
	if err := p.apply(&changed); err != nil {
		return err
	}
	if sameSettings(&changed, &v.Device) {
		p.row.Action = "skip"
		return nil
	}
	p.row.Action = "update"
	if dry {
		return nil
	}
	_, err = a.cfg.Writer.UpdateDevice(ctx, workspaceID, p.row.Serial, p.apply)
	return err
}

// apply changes a device that exists: unlike PATCH, a row names only some
// labels, and the others stay.
func (p *importPlan) apply(d *rimewatch.Device) error {
	fields := p.fields
	fields.merge = true
	return fields.apply(d, p.workspace)
}

func sameSettings(x, y *rimewatch.Device) bool {
	if !maps.Equal(x.Labels, y.Labels) {
		return false
	}
	a, b := *x, *y
	a.Labels, b.Labels = nil, nil
	return reflect.DeepEqual(a, b)
}

func rowErrors(c *httpapi.Call, err error) []string {
	e := c.Shown(err)
	if len(e.Fields) == 0 {
		return []string{e.Message}
	}
	var all []string
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		all = append(all, field+": "+strings.Join(e.Fields[field], ", "))
	}
	return all
}

func (a devices) importRoutes() []httpapi.Route {
	return []httpapi.Route{a.readingsImportRoute(), {
		Method: http.MethodPost, Path: "/v1/devices/import", ID: "import-devices", Tag: "Devices", Summary: "Register or change many devices by CSV",
		Access: httpapi.Scope(rimewatch.ScopeDevicesWrite), Body: httpapi.BodyRule{Types: []string{httpapi.TypeCSV, httpapi.TypeMultipart}, Bulk: true}, Repeats: true,
		Description: "A CSV file (separated by comma, semicolon or tab; in UTF-8 or UTF-16) with a header line, as `text/csv` or as the file of a form. Devices are matched by serial: new ones are created, changed ones are updated, " +
			"and sending the same file again changes nothing. An empty cell leaves things as they are. At most 10,000 rows.\n\nColumns: `" + strings.Join(importColumns, "`, `") + "`, and `label:KEY` for labels. `site` is a site's name; `installed_at` may be a date (2024-02-01). A column may be written `Equipment Type`, and a number `-15,5` where the separator is not the comma.",
		Bind: httpapi.Raw[ImportInput, ImportResult](a.importDevices),
	}}
}
