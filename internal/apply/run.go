package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Server is the API of a server, as client.Client.Any calls it.
type Server interface {
	Any(ctx context.Context, method, path string, query url.Values, body any) (json.RawMessage, error)
	// Import is POST /devices/import.
	Import(ctx context.Context, csv []byte, dryRun, loosen bool) ([]Row, error)
}

// Row is the outcome for a device, or would be.
type Row struct {
	Serial, Action string // create, update, skip or error
	Problems       []string
	Warnings       []string
}

// Options of a plan.
type Options struct {
	Prune  bool // delete what the file does not have
	Loosen bool // let safety limits be looser than they are
}

// Plan are the steps for a workspace to become as a file says.
type Plan struct {
	Steps []Step
	Extra []string // what only the server has, and stays
	// Warnings are probable mistakes in devices, such as a type that does not exist.
	Warnings []string

	server  Server
	options Options
	ids     map[string]map[string]any // by section and lower-case name
	rows    [][]string                // of devices that change, below their header
}

// Make compares a file with a server.
func Make(ctx context.Context, s Server, f *File, o Options) (*Plan, error) {
	has, err := load(ctx, s, namesMembers(f.Rotas, f.Routes, f.Channels))
	if err != nil {
		return nil, err
	}
	p := &Plan{server: s, options: o, ids: has.ids}
	if err := has.known(f); err != nil {
		return nil, err
	}
	var deletions []Step
	for i := range kinds {
		k := &kinds[i]
		steps, extra := plan(k, *k.things(f), has.of[k.section], o.Prune)
		at := slices.IndexFunc(steps, func(s Step) bool { return s.Action == "delete" })
		if at < 0 {
			at = len(steps)
		}
		p.Steps, deletions = append(p.Steps, steps[:at]...), append(steps[at:], deletions...) // what is named goes last
		p.Extra = append(p.Extra, extra...)
	}
	if changed, changes := difference(f.Workspace, has.workspace); len(changed) > 0 {
		p.Steps = append(p.Steps, Step{Action: "update", Kind: "workspace", Changes: changes, thing: changed})
	}
	if err := p.devices(ctx, f, has); err != nil {
		return nil, err
	}
	if o.Prune {
		gone, err := p.withoutDevices(ctx, f)
		if err != nil {
			return nil, err
		}
		deletions = append(gone, deletions...)
	}
	p.Steps = append(p.Steps, deletions...)
	return p, nil
}

// state is a server's state, its members named as those of a file.
type state struct {
	of        map[string]there // by section
	workspace map[string]any
	ids       map[string]map[string]any
}

// load reads a server's state; its members only where the file, or something there, names one.
func load(ctx context.Context, s Server, people bool) (*state, error) {
	x := &state{of: make(map[string]there), ids: make(map[string]map[string]any)}
	names := make(map[string]map[string]string) // by section and number
	lists := make(map[string][]map[string]any)
	for i := range kinds {
		list, err := all(ctx, s, kinds[i].path, kinds[i].section, nil)
		if err != nil {
			return nil, err
		}
		lists[kinds[i].section] = list
	}
	x.ids[members.section], names[members.section] = make(map[string]any), make(map[string]string)
	if people || namesMembers(lists["rotas"], lists["routes"], lists["channels"]) {
		list, err := all(ctx, s, members.path, members.section, nil)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			name := members.name(t)
			x.ids[members.section][strings.ToLower(name)], names[members.section][number(t["user_id"])] = t["user_id"], name
		}
	}
	for i := range kinds {
		k := &kinds[i]
		x.ids[k.section], names[k.section] = make(map[string]any), make(map[string]string)
		h := there{byName: make(map[string]map[string]any)}
		for _, t := range lists[k.section] {
			if t["kind"] == "api" { // the source that stands for the API itself
				continue
			}
			called(t, names)
			name := k.name(t)
			x.ids[k.section][strings.ToLower(name)], names[k.section][number(t["id"])] = t["id"], name
			h.list, h.byName[strings.ToLower(name)] = append(h.list, t), t
		}
		for _, t := range h.list { // channels name channels
			called(t, names)
		}
		x.of[k.section] = h
	}
	data, err := s.Any(ctx, http.MethodGet, "/workspace", nil, nil)
	if err != nil {
		return nil, err
	}
	var w struct{ Workspace map[string]any }
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	x.workspace = w.Workspace
	return x, nil
}

// namesMembers reports whether a rota, a step of a route or a channel may name a member.
func namesMembers(rotas, routes, channels []map[string]any) bool {
	owned := func(c map[string]any) bool { return c["owner"] != nil || c["owner_id"] != nil }
	return len(rotas) > 0 || slices.ContainsFunc(channels, owned) || slices.ContainsFunc(routes, func(r map[string]any) bool {
		steps, _ := r["steps"].([]any)
		return slices.ContainsFunc(steps, func(s any) bool {
			step, _ := s.(map[string]any)
			return len(targetsOf(step)) > 0
		})
	})
}

// targetsOf returns the targets of a step besides channels.
func targetsOf(step map[string]any) (list []map[string]any) {
	all, _ := step["targets"].([]any)
	for _, t := range all {
		if m, is := t.(map[string]any); is {
			list = append(list, m)
		}
	}
	return list
}

// targets are the kinds of what a step tells beside channels, and their sections.
var targets = map[string]string{"rota": "rotas", "member": "members", "contact": "contacts"}

// all returns a whole list.
func all(ctx context.Context, s Server, path, section string, query url.Values) (list []map[string]any, err error) {
	for {
		data, err := s.Any(ctx, http.MethodGet, path, query, nil)
		if err != nil {
			return nil, err
		}
		var members map[string]json.RawMessage
		var page []map[string]any
		var at struct {
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(data, &members); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(members[section], &page); err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		if raw := members["pagination"]; raw != nil {
			if err := json.Unmarshal(raw, &at); err != nil {
				return nil, fmt.Errorf("GET %s: %w", path, err)
			}
		}
		if list = append(list, page...); at.Next == nil || *at.Next == "" || len(page) == 0 {
			return list, nil
		}
		query = url.Values{"cursor": {*at.Next}, "per_page": {"100"}}
	}
}

// called names what an answer numbers.
func called(v any, names map[string]map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, r := range references {
			ids, ok := v[r.id]
			known := names[r.section]
			if !ok || known == nil {
				continue
			}
			if list, is := ids.([]any); is {
				them := make([]any, 0, len(list))
				for _, id := range list {
					them = append(them, known[number(id)])
				}
				v[r.member] = them
			} else if name := known[number(ids)]; ids != nil && name == "" && (r.section == "channels" || r.section == "members") {
				continue // of one that is not read yet; of a former member
			} else if v[r.member] = nil; ids != nil {
				v[r.member] = name
			}
			if r.member != r.id {
				delete(v, r.id)
			}
		}
		for _, t := range targetsOf(v) {
			kind, _ := t["kind"].(string)
			if name := names[targets[kind]][number(t["id"])]; name != "" {
				clear(t)
				t[kind] = name
			}
		}
		for _, x := range v {
			called(x, names)
		}
	case []any:
		for _, x := range v {
			called(x, names)
		}
	}
}

// known refuses a file that names what neither it nor the server has.
func (x *state) known(f *File) error {
	have := map[string]map[string]bool{"members": {}}
	for name := range x.ids["members"] {
		have["members"][name] = true
	}
	for i := range kinds {
		k := &kinds[i]
		have[k.section] = make(map[string]bool)
		for name := range x.ids[k.section] {
			have[k.section][name] = true
		}
		for _, t := range *k.things(f) {
			have[k.section][strings.ToLower(k.name(t))] = true
		}
	}
	var look func(v any) error
	look = func(v any) error {
		switch v := v.(type) {
		case map[string]any:
			for _, r := range references {
				for _, name := range texts(v[r.member]) {
					if !have[r.section][strings.ToLower(name)] {
						return fmt.Errorf("%s: %q is neither in the file nor on the server", r.member, name)
					}
				}
			}
			for _, t := range targetsOf(v) {
				for kind, section := range targets {
					if name, is := t[kind].(string); is && !have[section][strings.ToLower(name)] {
						return fmt.Errorf("%s: %q is neither in the file nor on the server", kind, name)
					}
				}
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := look(v[k]); err != nil {
					return err
				}
			}
		case []any:
			for _, x := range v {
				if err := look(x); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, t := range f.sections() {
		if err := look(t); err != nil {
			return err
		}
	}
	return nil
}

func texts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			list = append(list, fmt.Sprint(x))
		}
	}
	return list
}

// numbered returns a value with numbers in the place of names, as the API takes it.
func (p *Plan) numbered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = p.numbered(x)
		}
		if list := targetsOf(v); len(list) > 0 {
			out["targets"] = p.targets(list)
		}
		for _, r := range references {
			names, ok := v[r.member]
			if !ok {
				continue
			}
			delete(out, r.member)
			ids := make([]any, 0, 1)
			for _, name := range texts(names) {
				ids = append(ids, p.ids[r.section][strings.ToLower(name)])
			}
			switch {
			case r.list:
				out[r.id] = ids
			case len(ids) > 0:
				out[r.id] = ids[0]
			default:
				out[r.id] = nil
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = p.numbered(x)
		}
		return out
	case given:
		return string(v)
	default:
		return v
	}
}

// targets returns the targets of a step besides channels, as the API takes them.
func (p *Plan) targets(list []map[string]any) []any {
	out := make([]any, len(list))
	for i, t := range list {
		out[i] = t
		for kind, section := range targets {
			if name, is := t[kind].(string); is {
				out[i] = map[string]any{"kind": kind, "id": p.ids[section][strings.ToLower(name)]}
			}
		}
	}
	return out
}

// Run makes the changes and calls done after each, with what the server gives out only this
// once, such as the key of a source. Where it fails, what is done stays: a plan that is made
// anew goes on from there.
func (p *Plan) Run(ctx context.Context, done func(s *Step, once map[string]string)) error {
	imported := false
	for i := range p.Steps {
		s := &p.Steps[i]
		var once map[string]string
		var err error
		switch {
		case s.Kind == devices.one && s.Action != "delete":
			if !imported {
				imported, err = true, p.importRows(ctx)
			}
		case s.Kind == "workspace":
			if p.options.Loosen {
				s.thing["confirm_loosening"] = true
			}
			_, err = p.server.Any(ctx, http.MethodPatch, "/workspace", nil, p.numbered(s.thing))
		case s.Action == "create":
			once, err = p.create(ctx, s)
		case s.Action == "update":
			_, err = p.server.Any(ctx, http.MethodPatch, s.of.path+"/"+url.PathEscape(s.id), nil, p.numbered(s.thing))
		default:
			_, err = p.server.Any(ctx, http.MethodDelete, s.of.path+"/"+url.PathEscape(s.id), nil, nil)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		done(s, once)
	}
	return nil
}

func (p *Plan) create(ctx context.Context, s *Step) (once map[string]string, err error) {
	data, err := p.server.Any(ctx, http.MethodPost, s.of.path, nil, p.numbered(s.thing))
	if err != nil {
		return nil, err
	}
	var made map[string]json.RawMessage
	var thing struct{ ID any }
	if err := json.Unmarshal(data, &made); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(made[s.of.one], &thing); err != nil {
		return nil, err
	}
	p.ids[s.of.section][strings.ToLower(s.Name)] = thing.ID
	for _, member := range []string{"key", "url", "mqtt_url", "secret"} {
		var text string
		if json.Unmarshal(made[member], &text) == nil && text != "" {
			if once == nil {
				once = make(map[string]string)
			}
			once[member] = text
		}
	}
	return once, nil
}

// volatile are members of answers that say how something is, and not what somebody wants.
var volatile = []string{"id", "created_at", "updated_at", "failures", "last_error", "last_failure_at", "last_success_at", "working", "received", "key_prefix", "delete_at", "auto_register",
	"on_duty", "gaps", "calendar_since", "status", "problem", "status_since", "last_message_at", "messages", "has_password", "client_id", "ended", "active"}

// identity are members of a workspace that are its own, and which a file for several leaves out, and
// second factors, which only a person demands.
var identity = []string{"name", "slug", "test", "require_second_factor"}

var notWord = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Export writes the file that says what a workspace is. Secrets are not in it: an address that
// holds one is a variable there, named after its channel.
func Export(ctx context.Context, s Server) ([]byte, error) {
	has, err := load(ctx, s, false)
	if err != nil {
		return nil, err
	}
	f := &File{Rimewatch: Version, Workspace: wanted(has.workspace).(map[string]any)}
	for _, member := range identity {
		delete(f.Workspace, member)
	}
	for i := range kinds {
		for _, t := range has.of[kinds[i].section].list {
			w := wanted(t).(map[string]any)
			for member, v := range w {
				if text, _ := v.(string); strings.HasSuffix(text, mask) {
					w[member] = "$" + strings.ToUpper(notWord.ReplaceAllString(kinds[i].name(t)+"_"+member, "_"))
				}
			}
			*kinds[i].things(f) = append(*kinds[i].things(f), w)
		}
	}
	if f.Devices, err = exported(ctx, s, has.workspace); err != nil {
		return nil, err
	}
	return yaml.Marshal(f)
}

// wanted returns a value without what is volatile or empty.
func wanted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for k, x := range v {
			if x = wanted(x); x != nil && x != "" && !slices.Contains(volatile, k) {
				out[k] = x
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = wanted(x)
		}
		return out
	default:
		return v
	}
}
