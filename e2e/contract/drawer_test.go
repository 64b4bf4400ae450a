package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// drawer draws values from the schemas of a description.
type drawer struct {
	*rand.Rand
	root    map[string]any   // the description
	now     func() time.Time // of the service
	pool    map[string][]any // what answers named, by its name
	schemas map[string]*jsonschema.Schema
	reader  *jsonschema.Compiler
}

func newDrawer(seed uint64, root map[string]any, now func() time.Time) *drawer {
	d := &drawer{
		Rand: rand.New(rand.NewPCG(seed, 1)), root: root, now: now,
		pool: make(map[string][]any), schemas: make(map[string]*jsonschema.Schema), reader: jsonschema.NewCompiler(),
	}
	if err := d.reader.AddResource("openapi.json", root); err != nil {
		panic(err) // it was read by another library before
	}
	return d
}

// chance is true once in n times.
func (d *drawer) chance(n int) bool { return d.IntN(n) == 0 }

func (d *drawer) oneOf(list ...any) any { return list[d.IntN(len(list))] }

// kept is how many values of a name are remembered.
const kept = 48

func (d *drawer) keep(name string, v any) {
	list := d.pool[name]
	if slices.Contains(list, v) {
		return
	}
	if len(list) < kept {
		d.pool[name] = append(list, v)
		return
	}
	list[d.IntN(kept)] = v
}

// known draws a value that an answer named; nil = there is none.
func (d *drawer) known(name string) any {
	list := d.pool[name]
	if len(list) == 0 {
		return nil
	}
	return list[d.IntN(len(list))]
}

// object is an object whose members keep their order, and may be there twice.
type object []member

type member struct {
	name  string
	value any
}

// verbatim is JSON as it stands.
type verbatim string

// deref follows references.
func (d *drawer) deref(schema any) map[string]any {
	s := schema.(map[string]any)
	for s["$ref"] != nil {
		v := any(d.root)
		for step := range strings.SplitSeq(strings.TrimPrefix(s["$ref"].(string), "#/"), "/") {
			v = v.(map[string]any)[step]
		}
		s = v.(map[string]any)
	}
	return s
}

// refused returns how a body is not as its schema has it; "" = it is.
func (d *drawer) refused(schema any, body []byte) string {
	ref, ok := schema.(map[string]any)["$ref"].(string)
	if !ok {
		return ""
	}
	s := d.schemas[ref]
	if s == nil {
		var err error
		if s, err = d.reader.Compile("openapi.json" + ref); err != nil {
			panic(err) // a test of the description
		}
		d.schemas[ref] = s
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return ""
	}
	if err = s.Validate(v); err == nil {
		return ""
	}
	_, text, _ := strings.Cut(err.Error(), "\n")
	return text
}

// value draws what a schema allows.
func (d *drawer) value(schema map[string]any, name string, depth int) any {
	s := d.deref(schema)
	if list, ok := s["oneOf"].([]any); ok {
		return d.value(list[d.IntN(len(list))].(map[string]any), name, depth)
	}
	kind, nullable := s["type"].(string)
	nullable = !nullable
	if kinds, ok := s["type"].([]any); ok {
		kind = kinds[0].(string)
	}
	if kind == "null" || kind != "" && nullable && d.chance(10) {
		return nil
	}
	if list, ok := s["enum"].([]any); ok {
		return d.oneOf(list...)
	}
	if list, ok := s["examples"].([]any); ok && d.chance(3) {
		return d.oneOf(list...)
	}
	switch kind {
	case "object":
		return d.object(s, depth)
	case "array":
		return d.array(s, name, depth)
	case "string":
		return d.text(s, name)
	case "integer", "number":
		return d.number(s, name, kind == "integer")
	case "boolean":
		return d.chance(2)
	}
	return d.anything(2)
}

func (d *drawer) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	some := 1 + d.IntN(4)
	var o object
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || depth < 6 && d.chance(some) {
			o = append(o, member{name, d.value(properties[name].(map[string]any), name, depth+1)})
		}
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok && depth < 6 {
		for range d.IntN(3) {
			key := d.oneOf("region", "walkin_freezer", "display_case", "X-Key", "line", d.word())
			if !slices.ContainsFunc(o, func(m member) bool { return m.name == key }) {
				o = append(o, member{text(key), d.value(extra, text(key), depth+1)})
			}
		}
	}
	d.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
	return o
}

func (d *drawer) array(s map[string]any, name string, depth int) any {
	least, _ := bound(s, "minItems")
	most, ok := bound(s, "maxItems")
	if !ok {
		most = least + 3
	}
	n := int(least) + d.IntN(min(3, int(most-least))+1)
	list := []any{}
	for range n {
		list = append(list, d.value(s["items"].(map[string]any), strings.TrimSuffix(name, "s"), depth+1))
	}
	return list
}

func (d *drawer) text(s map[string]any, name string) any {
	switch s["format"] {
	case "date-time":
		return d.time()
	case "date":
		return d.now().AddDate(0, 0, d.IntN(60)-50).Format(time.DateOnly)
	}
	pattern, ok := s["pattern"].(string)
	if v := d.known(name); v != nil && !strings.Contains(name, "password") && d.IntN(3) > 0 && regexp.MustCompile(pattern).MatchString(text(v)) {
		return text(v)
	}
	if ok {
		return rapid.StringMatching(pattern).Example(d.IntN(1000))
	}
	least, _ := bound(s, "minLength")
	most, limited := bound(s, "maxLength")
	switch {
	case limited && d.chance(30):
		return strings.Repeat(text(d.oneOf("x", "é", "𝄞")), int(most))
	case d.chance(10):
		return strings.Repeat("x", int(least))
	}
	switch {
	case strings.Contains(name, "timezone") || name == "zone":
		return d.oneOf("Europe/Berlin", "UTC", "America/New_York", "Nowhere/Else", "Pacific/Apia")
	case strings.Contains(name, "email") || name == "recipients":
		return fmt.Sprintf("a%d@example.com", d.IntN(50))
	case strings.Contains(name, "url"), name == "endpoint", name == "address":
		return d.oneOf("https://example.com/hook", "https://hooks.example.org/x?y=1", "http://10.0.0.1/", "https://[::1]/", "mqtt://broker.example.com", "x")
	case strings.Contains(name, "password"):
		return password
	case name == "name" && d.chance(10):
		return "Drawn 1"
	case name == "p256dh":
		return "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU" // the generator of P-256
	case name == "auth":
		return "tBHItJI5svbpez7KI4CCXg"
	case strings.Contains(name, "secret"):
		return d.oneOf("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_", d.word())
	case name == "types" || name == "type":
		return d.oneOf("alert.opened", "device.created", "high_temperature", "x")
	case strings.Contains(name, "equipment_type"):
		return d.oneOf("walkin_freezer", "display_case", "other", "medical_refrigerator", "condensing_unit", "x")
	case name == "fields":
		return d.oneOf("product_zone_temp", "humidity,amp_draw", "door_open", "x", ",")
	}
	v := d.word()
	if n := float64(len([]rune(v))); limited && n > most || n < least {
		return strings.Repeat("y", int(least))
	}
	return v
}

// word draws a text, most of them harmless.
func (d *drawer) word() string {
	return text(d.oneOf("Walk-in 1", "A-1", "F-"+strconv.Itoa(d.IntN(20)), "F-"+strconv.Itoa(d.IntN(20)), "F-"+strconv.Itoa(d.IntN(20)), "", " ", "é𝄞", "a\tb", "\u202ex", "=1+1", "<b>", "'; --", "%00", "..", ".", "null", "0", "-1", "true", "{{x}}", "a,b\"c", "\u00a0"))
}

func (d *drawer) number(s map[string]any, name string, whole bool) any {
	if resource, ok := strings.CutSuffix(name, "_id"); ok && d.IntN(6) > 0 {
		v, ok := d.known("/" + strings.ReplaceAll(resource, "_", "-") + "s").(json.Number)
		if !ok {
			v, ok = d.known(name).(json.Number)
		}
		if ok {
			return verbatim(v)
		}
	}
	least, lower := bound(s, "minimum")
	most, upper := bound(s, "maximum")
	if above, ok := bound(s, "exclusiveMinimum"); ok {
		least, lower = above+1, true
	}
	if !lower {
		least = -40
	}
	if !upper {
		most = max(least, 0) + 5000
	}
	switch d.IntN(8) {
	case 0:
		if lower {
			return verbatim(strconv.FormatFloat(least, 'f', -1, 64))
		}
	case 1:
		if upper {
			return verbatim(strconv.FormatFloat(most, 'f', -1, 64))
		}
	case 2:
		most = min(most, least+10)
	}
	v := least + d.Float64()*(most-least)
	if whole {
		return verbatim(strconv.FormatInt(int64(v), 10))
	}
	return verbatim(strconv.FormatFloat(v, 'f', d.IntN(4), 64))
}

// time draws a moment around now, mostly before.
func (d *drawer) time() string {
	at := d.now().Add(-time.Duration(d.Float64() * float64(40*24*time.Hour)))
	switch d.IntN(10) {
	case 0:
		at = d.now().Add(time.Duration(d.Float64() * float64(40*24*time.Hour)))
	case 1, 2, 3:
		at = d.now().Add(-time.Duration(d.IntN(3600)) * time.Second)
	case 4:
		at = d.now()
	}
	switch d.IntN(10) {
	case 0:
		return at.In(time.FixedZone("", 3600*(d.IntN(25)-11))).Format(time.RFC3339)
	case 1:
		return text(d.oneOf("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z", "2016-12-31T23:59:59Z"))
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// anything draws a value of any kind. From level 2 on it may be one that is not text.
func (d *drawer) anything(level int) any {
	v := d.oneOf(
		d.word(), d.word(), "x", strings.Repeat("x", 10_000), "\x00", "ÿ\ufffd", "2026-13-01T00:00:00Z", "NaN", "-1", "1e400", "99999999999999999999",
		d.time(), "a,b", ",", "null", "1,2", "[]", "evt_1_1", "evt_0_0", "evt_9_99999999999999999999",
	)
	if level < 2 || d.chance(2) {
		return v
	}
	return d.oneOf(nil, true, verbatim("0"), verbatim("-1"), verbatim("1.5"), verbatim("1e3"), verbatim("1e400"), verbatim("-0"), verbatim("9007199254740993"), verbatim("9223372036854775808"), verbatim("123456789012345678901234567890"),
		[]any{}, []any{nil}, []any{verbatim("1"), verbatim("1")}, object{}, object{{"x", nil}}, object{{"", "x"}}, verbatim(strings.Repeat("[", 20)+strings.Repeat("]", 20)), verbatim(`"`+strings.Repeat("y", 300_000)+`"`))
}

// spoil changes a place or two of a body.
func (d *drawer) spoil(v any) any {
	for range 1 + d.IntN(2) {
		v = d.spoilOne(v)
	}
	return v
}

func (d *drawer) spoilOne(v any) any {
	switch v := v.(type) {
	case object:
		switch n := d.IntN(10); {
		case n < 6 && len(v) > 0:
			i := d.IntN(len(v))
			v[i].value = d.spoilOne(v[i].value)
		case n == 6 && len(v) > 0:
			return append(v, v[d.IntN(len(v))]) // twice
		case n == 7 && len(v) > 0:
			i := d.IntN(len(v))
			return slices.Delete(v, i, i+1)
		case n == 8 && len(v) > 0:
			i := d.IntN(len(v))
			v[i].name = text(d.oneOf(strings.ToUpper(v[i].name), v[i].name+"s", strings.ReplaceAll(v[i].name, "_", "")))
		default:
			return append(v, member{text(d.oneOf("x", "id", "workspace_id", "__proto__", "", d.word())), d.anything(2)})
		}
		return v
	case []any:
		switch n := d.IntN(4); {
		case n < 2 && len(v) > 0:
			i := d.IntN(len(v))
			v[i] = d.spoilOne(v[i])
		case n == 2 && len(v) > 0:
			for len(v) < 200 {
				v = append(v, v[0])
			}
		default:
			return append(v, d.anything(2))
		}
		return v
	}
	switch d.IntN(30) {
	case 0:
		return verbatim(strings.Repeat("[", 200) + strings.Repeat("]", 200))
	case 1:
		return verbatim(`"\ud800"`)
	}
	return d.anything(2)
}

// garble changes bytes of a text.
func (d *drawer) garble(b []byte) []byte {
	switch i := d.IntN(len(b) + 1); d.IntN(6) {
	case 0:
		return b[:i]
	case 1:
		return slices.Insert(slices.Clone(b), i, byte(d.IntN(256)))
	case 2:
		return append(slices.Clone(b), []byte("{}")...)
	case 3:
		return append([]byte("\xef\xbb\xbf"), b...)
	case 4:
		return []byte(text(d.oneOf("", "null", "[]", `"x"`, "1", "{", "\x00", "{}{}")))
	default:
		return slices.Concat(b[:i], []byte("\xff\xfe"), b[i:])
	}
}

// bound returns a number of a schema.
func bound(s map[string]any, name string) (float64, bool) {
	n, ok := s[name].(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// text writes a value as a parameter has it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case verbatim:
		return string(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return string(encode(v))
}

// encode writes a value as JSON.
func encode(v any) []byte {
	switch v := v.(type) {
	case verbatim:
		return []byte(v)
	case object:
		b := []byte{'{'}
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, encode(m.name)...), ':'), encode(m.value)...)
		}
		return append(b, '}')
	case []any:
		b := []byte{'['}
		for i, one := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, encode(one)...)
		}
		return append(b, ']')
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only what is drawn here is written
	}
	return b
}

// lastUsed is what changes by itself, or by any request.
var lastUsed = regexp.MustCompile(`"(last_used_at|last_seen_at|last_failure_at|last_success_at|last_error|failing_since|working|waiting)":("[^"]*"|[a-z0-9]+)`)
