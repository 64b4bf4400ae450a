package inlet

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed templates/*.json
var templates embed.FS

// Auto is the name of the template that recognises the form of a payload.
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
	body, err := parse(p)
	if err != nil {
		return &Result{Template: Auto, Malformed: true, Problem: within("The payload %s.", err)}
	}
	env := newEnvironment(p, body)
	for _, m := range lib.mappers {
		if m.match != nil && m.matches(env) {
			return m.decode(env, bound)
		}
	}
	return decodeAnything(env, bound)
}

// decodeAnything reads a payload of an unknown sender. A list is many readings, and
// so is one of sensors that name themselves, or of samples with times of their own: what
// stands around it is their gateway's.
func decodeAnything(env *environment, bound Bound) *Result {
	r := &Result{Template: Auto}
	if about(env.payload.Topic, env.scope.Payload) {
		r.Ignored = reason(fail("says something of a sensor, such as its unit or its name, and measures nothing"))
		return r
	}
	m := &Mapper{}
	var around Item
	lists := elementsOf("payload", env.scope.Payload, 0)
	if len(lists) == 0 {
		found := env.leavesOf("payload", env.scope.Payload)
		r.Items = m.assemble(env, found, who(env, found, around), bound)
		return r
	}
	of := 0
	outside := env.leavesOf("payload", env.scope.Payload)
	for _, list := range lists {
		of += len(list.of)
		outside = slices.DeleteFunc(outside, func(l leaf) bool { return strings.HasPrefix(l.path, list.path+"[") })
	}
	if of > maxItems {
		r.Problem = reason(errTooMany())
		return r
	}
	if around = who(env, outside, around); around.ID == around.gateway { // sensors with names of their own are not called after it
		around.ID = ""
	}
	if s := recognise(outside, map[string]bool{}); len(s.sensors) > 0 || !s.board.Empty() {
		r.Items = m.assemble(env, outside, around, bound)
	}
	type element struct {
		value any
		found []leaf
		of    Item
	}
	elements := make([]element, 0, of)
	env.parts = make(parts)
	for _, list := range lists {
		its := around
		if list.name != "" {
			its.ID = joined(around.ID, list.name)
		}
		for _, v := range list.of {
			found := env.leavesOf("item", v)
			x := who(env, found, its)
			env.parts.add(x.ID, x.Part)
			elements = append(elements, element{v, found, x})
		}
	}
	for _, x := range elements {
		env.scope.Item = x.value
		r.Items = append(r.Items, m.assemble(env, x.found, x.of, bound)...)
	}
	env.scope.Item = nil
	return r
}

// leavesOf returns the leaves of a payload or an element of it. A value that has no name
// is named by the topic, and where there is no body, the URL holds the values.
func (env *environment) leavesOf(path string, v any) []leaf {
	if object, ok := v.(map[string]any); ok && len(object) == 0 && len(env.scope.Query) > 0 {
		return leaves("query", env.scope.Query)
	}
	found := leaves(path, v)
	topic := env.payload.Topic
	for i := range found {
		if l := &found[i]; topic != "" && (l.path == path || l.depth == 1 && l.squeezed == "value") {
			last := topic[strings.LastIndexByte(topic, '/')+1:]
			l.call(cmp.Or(senseCAP[last], last))
		}
	}
	return found
}

// call renames a leaf.
func (l *leaf) call(key string) {
	l.key, l.squeezed, l.name = key, squeeze(key), read(key)
	if own := l.ownUnit(); own != "" && (l.unit == "" || !l.measured) {
		l.unit, l.measured = own, own != l.name.unit
	}
}

// elementList is a list of which every element is a reading of its own.
type elementList struct {
	of   []any
	path string
	name string // the key by which it is told from others beside it, "" = there are none
}

// elementsOf returns the lists in a payload of which every element is a reading of its
// own, none when there are none: the whole payload, or those whose elements name
// the sensor that they are of or the time, and hold what it measured. Several beside each
// other are of several sensors, which their keys name.
func elementsOf(path string, v any, depth int) []elementList {
	const deepest = 3
	switch v := v.(type) {
	case map[string]any:
		var beside []elementList
		keys := slices.Sorted(maps.Keys(v))
		for _, k := range keys {
			if list, ok := v[k].([]any); ok && depth < deepest && areElements(list) {
				beside = append(beside, elementList{list, member(path, k), k})
			}
		}
		if len(beside) == 1 {
			beside[0].name = ""
		}
		if len(beside) > 0 {
			return beside
		}
		for _, k := range keys {
			if _, isList := v[k].([]any); isList {
				continue
			}
			if lists := elementsOf(member(path, k), v[k], depth+1); len(lists) > 0 {
				return lists
			}
		}
	case []any: // the whole payload
		return []elementList{{of: v, path: path}}
	}
	return nil
}

// areElements reports whether each element of a list is of a sensor or a moment that it names,
// and some of them have measured something: others may have a door's state, or a fault.
func areElements(list []any) bool {
	measured := false
	for _, x := range list {
		object, _ := x.(map[string]any)
		keys := slices.Sorted(maps.Keys(object))
		found := leaves("", object)
		name, _ := namedValue(object, keys)
		address, label := addressOf(object, keys, name, true)
		if !(name == "" && address+label != "") && !slices.ContainsFunc(found, namesSensor) {
			return false
		}
		measured = measured || slices.ContainsFunc(found, func(l leaf) bool { return (l.isTemperature() || l.isHumidity()) && l.not == noKind })
	}
	return measured
}

// namesSensor reports whether a member of an element says which sensor or which moment it is
// of; what an event holds names the device, too.
func namesSensor(l leaf) bool {
	switch {
	case l.value == "":
		return false
	case l.depth == 1:
		return wantSensor.has(l.squeezed) || wantTime.has(l.squeezed)
	default:
		return l.depth == 2 && !l.listed && wantDevice.has(l.squeezed)
	}
}

// who finds the sender and the time by the names of members, or else in what stands
// around. Over MQTT the topic names the sender, or who sent it.
func who(env *environment, found []leaf, around Item) (x Item) {
	topic := env.payload.Topic
	if l := wantID.find(found, near); l != nil {
		x.ID, x.Part = named(found, l)
	}
	if x.gateway = around.gateway; x.gateway == "" {
		if l := wantGateway.find(found, near); l != nil {
			x.gateway = shortText(l.value)
		}
	}
	if l := wantTime.find(found, near); l != nil {
		x.setTime(env, l.value)
	}
	if x.At == 0 && x.Problem == "" && x.Unset == "" {
		x.At, x.Problem, x.Unset, x.Stamp, x.Shown = around.At, around.Problem, around.Unset, around.Stamp, around.Shown
	}
	parts := strings.Split(topic, "/")
	switch {
	case len(parts) == 3 && parts[0] == "rimewatch" && parts[2] == "readings":
		x.ID, x.Part = parts[1], ""
	case len(parts) == 7 && parts[1] == "device_sensor_data": // of SenseCAP
		x.ID, x.Part = parts[3], parts[4]
	case around.ID != "" && x.ID != "" && x.ID != around.ID:
		x.ID = around.ID + "/" + x.ID
	case x.ID == "" && around.ID != "":
		x.ID, x.Part = around.ID, apartBy(found)
	case x.ID == "":
		if x.ID, x.Part = topic, apartBy(found); topic == "" {
			x.ID = x.gateway
		}
		if l := tagOf(found); l != nil && topic != "" {
			x.Part = shortText(l.value)
		}
	}
	return x
}

// named returns what a member calls the sender. A short number is no name: what model it
// is of belongs to it. A channel beside it is one of several sensors.
func named(found []leaf, l *leaf) (id, part string) {
	id, isText := l.value.(string)
	if !isText {
		id = shortText(l.value)
	}
	const few = 6 // digits
	beside := func(names string) string {
		if x := (wanted{[]string{names}}).find(found, func(x *leaf) bool { return near(x) && x.where == "" && !x.inList }); x != nil {
			return shortText(x.value)
		}
		return ""
	}
	whole := id
	if model := beside("model"); model != "" && len(id) < few && strings.Trim(id, "0123456789") == "" {
		id = model + "/" + id
	}
	for _, names := range besides {
		if part := beside(names); part != "" && part != whole {
			return id, part
		}
	}
	return id, ""
}

// apartBy returns the part of a list's element that distinguishes it from the others of its
// sender: a number or an address, or else its name for people.
func apartBy(found []leaf) string {
	label := ""
	for i := range found {
		l := &found[i]
		switch text := shortText(l.value); {
		case l.depth != 1 || text == "" || quantity(text):
		case isAddress(l.squeezed, l.value):
			return text
		case label == "" && slices.Contains(labels, l.squeezed):
			label = text
		}
	}
	return label
}

// besides are the members that distinguish the sensors of a sender that names itself, too.
var besides = [...]string{"channel slaveid", "sensorid probeid nodeid", "ch slave node slot input endpoint shelf", "probe point position", "sensorno sensornumber probeno probenumber nodeno nodenumber unitno unitnumber"}

// tagOf returns the tag that distinguishes the sensors of one topic.
func tagOf(found []leaf) *leaf {
	return wanted{[]string{"tag tagname", "point", "sensorname", "label", "location"}}.find(found, near)
}

// about reports whether a message says something of a sensor instead of what it
// measured: what brokers' conventions publish beside each value.
func about(topic string, v any) bool {
	if topic == "" {
		return false
	}
	last := topic[strings.LastIndexByte(topic, '/')+1:]
	_, isText := v.(string)
	return strings.HasPrefix(last, "$") || strings.Contains(topic, "/meta/") || isText && slices.Contains(strings.Fields(
		"unit_of_measurement friendly_name last_updated last_changed device_class state_class icon config availability status lwt LWT online name model firmware attribution"), last)
}
