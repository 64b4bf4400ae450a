package apply

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// mostRows is how many devices go into one import.
const mostRows = 2000

// devices finds out by an import that is not carried out which devices change. The site of one
// that is still to be made is left out of that: then the device changes.
func (p *Plan) devices(ctx context.Context, f *File, has *state) error {
	if len(f.Devices) == 0 {
		return nil
	}
	header := columns(f.Devices)
	at := slices.Index(header, "site")
	all, asked := [][]string{}, [][]string{}
	moves := make(map[string]bool)
	for _, t := range f.Devices {
		row := cells(header, t)
		all = append(all, row)
		if at >= 0 && row[at] != "" && has.ids["sites"][strings.ToLower(row[at])] == nil {
			row = slices.Clone(row)
			row[at] = ""
			moves[row[slices.Index(header, "serial")]] = true
		}
		asked = append(asked, row)
	}
	rows, err := p.send(ctx, header, asked, true)
	if err != nil {
		return err
	}
	if len(rows) != len(all) {
		return fmt.Errorf("the server reads %d devices of %d", len(rows), len(all))
	}
	p.rows = [][]string{header}
	for i, r := range rows {
		if r.Action == "error" {
			return fmt.Errorf("device %s: %s", r.Serial, strings.Join(r.Problems, "; "))
		}
		for _, text := range r.Warnings {
			p.Warnings = append(p.Warnings, "device "+r.Serial+": "+text)
		}
		if r.Action == "skip" && !moves[r.Serial] {
			continue
		}
		if r.Action == "skip" {
			r.Action = "update"
		}
		p.rows = append(p.rows, all[i])
		p.Steps = append(p.Steps, Step{Action: r.Action, Kind: devices.one, Name: r.Serial, of: &devices})
	}
	return nil
}

// columns are those of an import that the devices need, the serial first.
func columns(list []Thing) []string {
	set := make(map[string]bool)
	for _, t := range list {
		for column := range flat(t) {
			set[column] = true
		}
	}
	delete(set, "serial")
	return append([]string{"serial"}, slices.Sorted(maps.Keys(set))...)
}

// flat returns a device by the columns of an import: labels, limits and what is allowed a day
// are objects in a file.
func flat(t Thing) map[string]string {
	row := make(map[string]string)
	var put func(prefix string, v any)
	put = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				switch prefix {
				case "", "limits":
					put(k, x)
				case "labels":
					put("label:"+k, x)
				default:
					put(prefix+"_"+k, x)
				}
			}
		case nil:
		case float64:
			row[prefix] = strconv.FormatFloat(v, 'f', -1, 64)
		case given:
			row[prefix] = string(v)
		default:
			row[prefix] = fmt.Sprint(v)
		}
	}
	put("", t)
	return row
}

func cells(header []string, t Thing) []string {
	all := flat(t)
	row := make([]string, len(header))
	for i, column := range header {
		row[i] = all[column]
	}
	return row
}

func (p *Plan) send(ctx context.Context, header []string, rows [][]string, dryRun bool) (out []Row, err error) {
	for part := range slices.Chunk(rows, mostRows) {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append([][]string{header}, part...)); err != nil {
			return nil, err
		}
		some, err := p.server.Import(ctx, b.Bytes(), dryRun, p.options.Loosen)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (p *Plan) importRows(ctx context.Context) error {
	rows, err := p.send(ctx, p.rows[0], p.rows[1:], false)
	for _, r := range rows {
		if r.Action == "error" {
			return fmt.Errorf("device %s: %s", r.Serial, strings.Join(r.Problems, "; "))
		}
	}
	return err
}

// withoutDevices deletes those that the file does not have.
func (p *Plan) withoutDevices(ctx context.Context, f *File) (steps []Step, err error) {
	in := make(map[string]bool)
	for _, t := range f.Devices {
		in[strings.ToLower(devices.name(t))] = true
	}
	list, err := everyDevice(ctx, p.server)
	for _, t := range list {
		if serial := devices.name(t); !in[strings.ToLower(serial)] {
			steps = append(steps, Step{Action: "delete", Kind: devices.one, Name: serial, id: serial, of: &devices})
		}
	}
	return steps, err
}

func everyDevice(ctx context.Context, s Server) ([]map[string]any, error) {
	return all(ctx, s, devices.path, devices.section, url.Values{"per_page": {"100"}})
}

// exported are the devices of a workspace as a file has them, by serial: a limit that is the
// type's, as the workspace has it, stays out, and what a device says of itself.
func exported(ctx context.Context, s Server, workspace map[string]any) (list []Thing, err error) {
	types, err := all(ctx, s, "/equipment-types", "equipment_types", nil)
	if err != nil {
		return nil, err
	}
	limits := make(map[any]map[string]any, len(types))
	ofWorkspace, _ := workspace["limits"].(map[string]any)
	for _, t := range types {
		slug, _ := t["slug"].(string)
		standard, _ := t["limits"].(map[string]any)
		own, _ := ofWorkspace[slug].(map[string]any)
		limits[slug] = overridden(standard, own)
	}
	every, err := everyDevice(ctx, s)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(every, func(a, b map[string]any) int { return strings.Compare(devices.name(a), devices.name(b)) })
	for _, d := range every {
		data, err := s.Any(ctx, http.MethodGet, devices.path+"/"+url.PathEscape(devices.name(d)), nil, nil)
		if err != nil {
			return nil, err
		}
		var whole struct{ Device map[string]any }
		if err := json.Unmarshal(data, &whole); err != nil {
			return nil, err
		}
		ofType := limits[whole.Device["equipment_type"]]
		if ofType == nil {
			ofType = limits[rimewatch.OtherEquipment]
		}
		list = append(list, settings(whole.Device, ofType))
	}
	return list, nil
}

// overridden returns limits with those that own names in their place; in it an object names its members likewise.
func overridden(limits, own map[string]any) map[string]any {
	out := maps.Clone(limits)
	for member, v := range own {
		inner, ok := v.(map[string]any)
		if was, is := out[member].(map[string]any); ok && is {
			v = overridden(was, inner)
		}
		if v != nil {
			out[member] = v
		}
	}
	return out
}

// settings returns a device's settings by people.
func settings(d, ofType map[string]any) Thing {
	t := Thing{}
	members := []string{"serial", "labels"}
	for _, f := range rimewatch.DeviceFields() {
		switch f.Name {
		case "site_id", "offline_after_s", "heartbeat_interval_s": // below, as the answer has them
		case "firmware_version": // devices report it
		default:
			members = append(members, f.Name)
		}
	}
	for _, member := range members {
		if v := wanted(d[member]); v != nil && v != "" {
			t[member] = v
		}
	}
	if site, ok := d["site"].(map[string]any); ok {
		t["site"] = site["name"]
	}
	silence, _ := d["silence"].(map[string]any)
	switch silence["by"] {
	case "declared":
		t["offline_after_s"] = d["offline_after_s"]
	case "interval":
		t["heartbeat_interval_s"] = d["heartbeat_interval_s"]
	}
	own := make(map[string]any)
	in, _ := d["limits"].(map[string]any)
	for member, v := range in {
		if member != "source" && member != "offline_after_s" && v != nil && plain(v) != plain(ofType[member]) {
			own[member] = v
		}
	}
	if len(own) > 0 {
		t["limits"] = own
	}
	return t
}
