package inlet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
)

// Result is what was found in a payload.
type Result struct {
	Template  string // the name of the one that was used
	Ignored   bool   // the payload is of a kind that holds no reading
	Malformed bool   // the body is no JSON document that can be read
	Problem   string // why nothing could be read, as Sentence.Stored returns it
	Items     []Item
}

// Item is what one sender measured at one moment.
type Item struct {
	ID       string // what the sender calls itself; "" when it does not say
	Label    string // its name for people
	At       rimewatch.Time
	Problem  string // why it cannot be stored, as Sentence.Stored returns it
	Readings []Reading
	Device   Device
	Values   []Value // everything that could be bound
}

// Device is what a sender says of its own state; nil and "" are absent.
type Device struct {
	BatteryPct, RSSI *float64
	Firmware         string
}

// Reading is a reading of one device.
type Reading struct {
	Serial  string // "" when the sender is not bound
	Reading rimewatch.Reading
	Fields  []Field
}

// Empty reports whether there is no measurement in the reading.
func (r *Reading) Empty() bool { return r.Reading.Present|r.Reading.Faults == 0 }

// Field is where the value of a measurement came from, or why there is none.
type Field struct {
	Name       string
	Expression string
	Found      any // what the expression returned
	Problem    string
	// Sent is true where there is a value, whether or not it can be used.
	Sent bool
}

// LeftOut reports whether something was sent that is not stored as a measurement.
func (f *Field) LeftOut() bool { return f.Sent && f.Problem != "" }

// FoundText is what the expression returned, shortened for people.
func (f *Field) FoundText() string {
	switch v := f.Found.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		return "…"
	default:
		return clip(fmt.Sprint(v), 40)
	}
}

// Value is a number in the payload that a binding can name.
type Value struct {
	Expression string
	Value      float64
}

// Binding ties a sender to a device. With rules only those are read; without,
// what the template reads.
type Binding struct {
	Serial string
	rules  []rule
}

// NewBinding checks a binding's rules: CodeValidationFailed with fields.NAME.
func NewBinding(serial string, rules map[string]Rule) (*Binding, error) {
	if !rimewatch.ValidSerial(serial) {
		return nil, rimewatch.Invalid("device_serial", "must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -")
	}
	m, err := Template{Version: TemplateVersion, Fields: rules}.Compile()
	if err != nil {
		return nil, err
	}
	return &Binding{serial, m.fields}, nil
}

// HasRules reports whether the binding says itself what is read.
func (b *Binding) HasRules() bool { return len(b.rules) > 0 }

// Bound returns the bindings of what a sender calls itself.
type Bound func(id string) []*Binding

// matches reports whether a payload is of the kind that the template is for.
func (m *Mapper) matches(env *environment) bool { return m.match == nil || m.match.holds(env) }

// Decode reads a payload by the template. It returns at most 10,000 items.
func (m *Mapper) Decode(p *Payload, bound Bound) *Result {
	body, err := parseJSON(p.Body)
	if err != nil {
		return &Result{Template: m.Template.Name, Malformed: true, Problem: within("The payload %s.", err)}
	}
	return m.decode(newEnvironment(p, body), bound)
}

func (m *Mapper) decode(env *environment, bound Bound) *Result {
	r := &Result{Template: m.Template.Name}
	if m.ignore.holds(env) {
		r.Ignored = true
		return r
	}
	if m.each == nil {
		r.Items = []Item{m.item(env, bound)}
		return r
	}
	each, err := m.each.run(env)
	list, ok := elements(each)
	switch {
	case err != nil:
		r.Problem = within("each %s", err)
	case !ok:
		r.Problem = reason(fail("each did not return a list"))
	case len(list) > maxItems:
		r.Problem = reason(errTooMany())
	}
	if r.Problem != "" {
		return r
	}
	for _, v := range list {
		env.scope.Item = v
		r.Items = append(r.Items, m.item(env, bound))
	}
	env.scope.Item = nil
	return r
}

// elements returns the elements of a list: of pairs by their keys, so that the
// same payload is always read in the same order.
func elements(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case [][2]any:
		slices.SortFunc(v, func(a, b [2]any) int { return strings.Compare(fmt.Sprint(a[0]), fmt.Sprint(b[0])) })
		list := make([]any, len(v))
		for i, pair := range v {
			list[i] = pair[:]
		}
		return list, true
	default:
		return nil, false
	}
}

// item reads one item of the payload.
func (m *Mapper) item(env *environment, bound Bound) Item {
	x := Item{}
	var found []leaf
	if v, err := m.auto.run(env); err == nil && v != nil {
		found = leaves(m.autoPath, v)
	}
	var err error
	if x.ID, err = m.id.text(env); err != nil {
		x.Problem = within("id %s", err)
	}
	x.Label, _ = m.label.text(env)
	x.Label = rimewatch.NameFrom(x.Label)
	if v, err := m.time.run(env); err != nil {
		x.Problem = within("time %s", err)
	} else if v != nil && v != "" {
		if x.At, err = env.moment(v); err != nil {
			x.Problem = within("time %s", err)
		}
	}
	return m.assemble(env, found, x, bound)
}

// assemble makes the readings of an item whose sender and time are known.
func (m *Mapper) assemble(env *environment, found []leaf, x Item, bound Bound) Item {
	x.ID = plainID(x.ID)
	if len(x.ID) > maxID {
		x.Problem = reason(fail("id is longer than %d bytes", maxID))
		x.ID = clip(x.ID, 40)
	}
	m.attributes(env, found, &x.Device)
	bindings := []*Binding{}
	if bound != nil {
		bindings = bound(x.ID)
	}
	for _, b := range bindings {
		x.Readings = append(x.Readings, m.reading(env, found, b, x.At))
	}
	if len(bindings) == 0 {
		x.Readings = append(x.Readings, m.reading(env, found, &Binding{}, x.At))
	}
	if !env.explain {
		return x
	}
	if found == nil {
		found = leaves("payload", env.scope.Payload)
	}
	for i := range found {
		if v, _, err := number(found[i].value); err == nil && len(x.Values) < maxValues {
			x.Values = append(x.Values, Value{found[i].path, v})
		}
	}
	return x
}

// plainID returns what a sender calls itself with U+FFFD for control characters,
// which neither every store nor a binding takes.
func plainID(s string) string {
	if rimewatch.OneLine(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if !rimewatch.OneLine(string(r)) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Bounds of what is kept of an item.
const (
	maxID     = 128 // bytes
	maxValues = 100
)

func (e *environment) moment(v any) (rimewatch.Time, error) {
	switch v := v.(type) {
	case float64:
		return rimewatch.EpochTime(v)
	case int:
		return rimewatch.EpochTime(float64(v))
	case string:
		at, err := rimewatch.ParseMomentIn(strings.TrimSpace(v), e.payload.Zone, e.payload.Received)
		if errors.Is(err, rimewatch.ErrNoZone) {
			err = fail("has no time zone: set the one that is meant in the source's settings")
		}
		return at, err
	default:
		return 0, fail("is neither a text nor a number")
	}
}

// attributes fills in what is known of the device itself.
func (m *Mapper) attributes(env *environment, found []leaf, d *Device) {
	if l, _ := wantBattery.find(found, level); l != nil {
		v, _, _ := number(l.value)
		d.BatteryPct = &v
	}
	if l, _ := wantRSSI.find(found, signal); l != nil {
		v, _, _ := number(l.value)
		d.RSSI = &v
	}
	if l, _ := wantFirmware.find(found, near); l != nil {
		d.Firmware, _ = l.value.(string)
	}
	for i := range m.device {
		r := &m.device[i]
		v, problem := r.value(env)
		if problem != "" {
			continue
		}
		n, _, err := number(v)
		switch {
		case r.name == firmwareVersion:
			d.Firmware, _ = r.from.text(env)
		case err != nil:
		case r.name == batteryPct && n >= 0 && n <= 100:
			d.BatteryPct = &n
		case r.name == rssiDBm && n > -200 && n < 100:
			d.RSSI = &n
		}
	}
	d.Firmware = rimewatch.NameFrom(d.Firmware)
}

// reading reads the measurements for one device.
func (m *Mapper) reading(env *environment, found []leaf, b *Binding, at rimewatch.Time) Reading {
	r := Reading{Serial: b.Serial}
	r.Reading.At = at
	rules := m.fields
	if len(b.rules) > 0 {
		rules, found = b.rules, nil
	}
	done := map[string]bool{}
	for i := range rules {
		rule := &rules[i]
		f := Field{Name: rule.name, Expression: rule.From}
		if f.Found, f.Problem = rule.value(env); f.Problem == "" {
			f.Sent, f.Problem = true, rule.store(env, f.Found, &r.Reading)
		}
		done[rule.name] = f.Sent
		r.Fields = append(r.Fields, f)
	}
	if found != nil {
		recognise(found, done, &r)
		if !r.Empty() {
			r.nameOthers(found)
		}
	}
	r.nameRepeated(env.repeated)
	return r
}

// value runs a rule's expression.
func (r *rule) value(env *environment) (v any, problem string) {
	if r.onlyIf != nil && !r.onlyIf.holds(env) {
		return nil, reason(fail("is left out: only_if is not true"))
	}
	v, err := r.from.run(env)
	if err != nil {
		return nil, reason(err)
	}
	if v == nil {
		return nil, reason(fail("is not in the payload"))
	}
	return v, ""
}

// store takes a value into the reading, or says why it cannot be.
func (r *rule) store(env *environment, v any, into *rimewatch.Reading) string {
	if r.isFlag {
		yes, ok := truth(v)
		if !ok {
			return neither()
		}
		into.Flags = into.Flags.WithBool(r.flag, yes)
		return ""
	}
	n, unit, err := number(v)
	if err != nil {
		return reason(err)
	}
	if r.Scale != 0 {
		n *= r.Scale
	}
	n += r.Offset
	if r.Unit != "" {
		unit = r.Unit
	}
	if named, _ := r.unitFrom.text(env); named != "" {
		unit = named
	}
	return store(r.field, n, unit, into)
}

// store takes a measurement into the reading, or says why it cannot be. What broken
// sensors report instead of a measurement is stored as a fault and said.
func store(f rimewatch.Field, n float64, unit string, into *rimewatch.Reading) string {
	n, err := convert(f, n, unit)
	switch {
	case err != nil:
		return reason(err)
	case rimewatch.PowerOn(f, n):
		into.Faults = into.Faults.With(f)
		return reason(fail("is what a DS18B20 reports after its power came back, before it measures"))
	case f.Accepts(n):
		into.Set(f, n+0) // −0 becomes 0
	case rimewatch.Sentinel(f, n):
		into.Faults = into.Faults.With(f)
		return reason(fail("is what a broken or disconnected sensor reports"))
	default:
		info := f.Info()
		return reason(fail("is %v, not between %v and %v %s", strings.Replace(fmt.Sprint(n), "-", "−", 1), rimewatch.Decimal(info.Min), rimewatch.Decimal(info.Max), info.Unit))
	}
	return ""
}

// neither is said of a flag.
func neither() string { return reason(fail("is neither true nor false")) }

func truth(v any) (yes, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case float64:
		return v != 0, v == 0 || v == 1
	case int:
		return v != 0, v == 0 || v == 1
	case string:
		switch strings.ToLower(v) {
		case "on", "true", "open", "opened", "yes", "1", "active":
			return true, true
		case "off", "false", "closed", "close", "no", "0", "inactive":
			return false, true
		}
	}
	return false, false
}

// recognise fills in, by the names of members, what no rule has read.
func recognise(found []leaf, done map[string]bool, r *Reading) {
	for i := range found {
		l := &found[i]
		if f, ok := rimewatch.FieldByName(withoutUnit(l.key)); ok && ownName(f) && !done[f.String()] {
			r.take(f, l)
			done[f.String()] = true // whatever it holds: another value is not what it was to be
		} else if x, ok := rimewatch.FlagByName(l.key); ok && !done[l.key] {
			field := Field{Name: l.key, Expression: l.path, Found: l.value, Sent: true}
			if yes, ok := truth(l.value); ok {
				r.Reading.Flags = r.Reading.Flags.WithBool(x, yes)
			} else {
				field.Problem = neither()
			}
			done[l.key] = true
			r.Fields = append(r.Fields, field)
		}
	}
	for _, w := range quantities {
		name := w.field.String()
		if done[name] {
			continue
		}
		want := *w.want
		if w.field.IsTemperature() && hasOwnTemperature(done) {
			want.stems = ""
		}
		l, why := want.find(found, func(l *leaf) bool { return numeric(l) && !done[l.key] })
		if l == nil && why == "" {
			l = want.named(found) // such as "unavailable"
		}
		switch {
		case l != nil:
			r.take(w.field, l)
		case why != "":
			r.Fields = append(r.Fields, Field{Name: name, Problem: why, Sent: true})
		}
	}
}

// hasOwnTemperature reports whether temperatures came under this service's own
// names: then one whose name only contains the word is not taken for the
// product's.
func hasOwnTemperature(done map[string]bool) bool {
	for f := range rimewatch.AllFields.All() {
		if f.IsTemperature() && done[f.String()] {
			return true
		}
	}
	return false
}

// take takes a leaf as a measurement.
func (r *Reading) take(f rimewatch.Field, l *leaf) {
	field := Field{Name: f.String(), Expression: l.path, Found: l.value, Sent: true}
	n, unit, err := number(l.value)
	if err != nil {
		field.Problem = reason(err)
	} else {
		if unit == "" && f.IsTemperature() {
			unit = l.unit
		}
		field.Problem = store(f, n, unit, &r.Reading)
	}
	r.Fields = append(r.Fields, field)
}
