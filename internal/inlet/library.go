package inlet

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

//go:embed templates/*.json
var templates embed.FS

// Auto is the name of the template that finds out what a payload is.
const Auto = "auto"

// Library holds the built-in templates.
type Library struct{ mappers []*Mapper }

// NewLibrary compiles the built-in templates. They are part of the program, so
// one that does not compile is an error of the program.
func NewLibrary() (*Library, error) {
	files, err := templates.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("built-in templates: %w", err)
	}
	lib := &Library{}
	for _, f := range files {
		document, err := templates.ReadFile(path.Join("templates", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("built-in template: %w", err)
		}
		m, err := ParseTemplate(document)
		if err != nil {
			return nil, fmt.Errorf("built-in template %s: %w", f.Name(), err)
		}
		if m.Template.Name != strings.TrimSuffix(f.Name(), ".json") {
			return nil, fmt.Errorf("built-in template %s calls itself %q", f.Name(), m.Template.Name)
		}
		lib.mappers = append(lib.mappers, m)
	}
	return lib, nil
}

// Templates returns the built-in templates by their names; Auto is one of them.
func (lib *Library) Templates() []Template {
	list := make([]Template, 1, 1+len(lib.mappers))
	list[0] = Template{Version: TemplateVersion, Name: Auto, Title: "Automatic"}
	for _, m := range lib.mappers {
		list = append(list, m.Template)
	}
	return list
}

// Find returns a built-in template: false when there is none of that name, or for
// Auto, which Decode handles.
func (lib *Library) Find(name string) (*Mapper, bool) {
	i := slices.IndexFunc(lib.mappers, func(m *Mapper) bool { return m.Template.Name == name })
	if i < 0 {
		return nil, false
	}
	return lib.mappers[i], true
}

// Decode reads a payload by the built-in template that it is of; when it is of
// none, by the names of its members alone.
func (lib *Library) Decode(p *Payload, bound Bound) *Result {
	body, err := parseJSON(p.Body)
	if err != nil {
		return &Result{Template: Auto, Malformed: true, Problem: within("The payload %s.", err)}
	}
	env := newEnvironment(p, body)
	for _, m := range lib.mappers {
		if m.match != nil && m.matches(env) {
			return m.decode(env, bound)
		}
	}
	return decodeAnything(env, p, bound)
}

// decodeAnything reads a payload of an unknown sender. A list is many readings, and
// so is one of sensors that name themselves: what stands around it is their gateway's.
func decodeAnything(env *environment, p *Payload, bound Bound) *Result {
	r := &Result{Template: Auto}
	var around Item
	list, isList := env.scope.Payload.([]any)
	if !isList {
		if list = sensors(env.scope.Payload, 0); list == nil {
			r.Items = []Item{anyItem(env, "payload", env.scope.Payload, p, around, bound)}
			return r
		}
		outside := slices.DeleteFunc(leaves("payload", env.scope.Payload), func(l leaf) bool { return element(l.path) != "" })
		around.ID, around.At, around.Problem = whoAndWhen(env, outside)
	}
	if len(list) > maxItems {
		r.Problem = reason(errTooMany())
		return r
	}
	for _, v := range list {
		env.scope.Item = v
		r.Items = append(r.Items, anyItem(env, "item", v, p, around, bound))
	}
	return r
}

// sensors returns the list in a payload of which every element names the sensor that
// it is of and holds what it measured; nil = there is none.
func sensors(v any, depth int) []any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if list := sensors(v[k], depth+1); list != nil {
				return list
			}
		}
	case []any:
		every := len(v) > 0
		for _, x := range v {
			object, _ := x.(map[string]any)
			found := leaves("", object)
			every = every && depth <= 3 &&
				slices.ContainsFunc(found, func(l leaf) bool { return l.depth == 1 && wantSensor.has(l.name) && l.value != "" }) &&
				slices.ContainsFunc(found, func(l leaf) bool { return numeric(&l) && plainly(l.key, measured) })
		}
		if every {
			return v
		}
	}
	return nil
}

// anyItem finds the sender and the time by the names of members, or else in what
// stands around. Over MQTT the topic names the sender, and the URL may hold what the
// body does not.
func anyItem(env *environment, path string, v any, p *Payload, around Item, bound Bound) Item {
	m := &Mapper{}
	found := leaves(path, v)
	for i := range found {
		if l := &found[i]; p.Topic != "" && (l.path == path || l.depth == 1 && l.name == "value") { // named by its topic
			l.key = p.Topic[strings.LastIndexByte(p.Topic, '/')+1:]
			l.name, l.unit = squeeze(l.key), cmp.Or(l.unit, unitInName(l.key))
		}
	}
	if object, ok := v.(map[string]any); ok && len(object) == 0 && len(p.Query) > 0 {
		found = leaves("query", env.scope.Query)
	}
	var x Item
	x.ID, x.At, x.Problem = whoAndWhen(env, found)
	if x.At == 0 && x.Problem == "" {
		x.At, x.Problem = around.At, around.Problem
	}
	switch {
	case around.ID != "" && x.ID != "" && x.ID != around.ID:
		x.ID = around.ID + "/" + x.ID
	case p.Topic != "" && x.ID == "":
		x.ID = p.Topic
	}
	return m.assemble(env, found, x, bound)
}

// whoAndWhen returns the sender and the time that names of members say.
func whoAndWhen(env *environment, found []leaf) (id string, at rimewatch.Time, problem string) {
	if l, _ := wantID.find(found, near); l != nil {
		id, _ = l.value.(string)
		if n, ok := l.value.(float64); ok {
			id = strconv.FormatFloat(n, 'f', -1, 64)
		}
		id = behindGateway(found, l, id)
	}
	if l, _ := wantTime.find(found, near); l != nil {
		var err error
		if at, err = env.moment(l.value); err != nil {
			problem = within("time %s", err)
		}
	}
	return id, at, problem
}

// behindGateway returns what the sensor is called whose measurement stands in an
// element of a list, where only the gateway is named outside of it: id is the
// gateway's, to which the element's own name is added. It is empty when several
// elements have a name.
func behindGateway(found []leaf, gateway *leaf, id string) string {
	if element(gateway.path) != "" {
		return id
	}
	sensor := ""
	for i := range found {
		in := element(found[i].path)
		if in == "" || !numeric(&found[i]) || !plainly(found[i].key, measured) {
			continue
		}
		own := pick(found, func(l *leaf) bool {
			text, ok := l.value.(string)
			return ok && text != "" && element(l.path) == in && wantID.has(l.name)
		})
		if len(own) == 0 {
			continue
		}
		name, _ := own[0].value.(string)
		if sensor != "" && sensor != name {
			return ""
		}
		sensor = name
	}
	if sensor == "" || sensor == id {
		return id
	}
	return id + "/" + sensor
}

// element returns the part of an expression that leads to an element of a list,
// "" when it does not.
func element(path string) string {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], ']') {
		open := strings.LastIndexByte(path[:end], '[')
		if end < len(path) && open >= 0 {
			if _, err := strconv.Atoi(path[open+1 : end]); err == nil {
				return path[:end+1]
			}
		}
	}
	return ""
}
