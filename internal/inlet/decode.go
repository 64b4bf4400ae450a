package inlet

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
)

// Result are the items and problems of a payload.
type Result struct {
	Template  string // the name of the one that was used
	Created   bool   // as the template has it
	Ignored   string // why the payload is of a kind that holds no reading, as Sentence.Stored returns it
	Malformed bool   // the body is no JSON document that can be read
	Problem   string // why nothing could be read, as Sentence.Stored returns it
	Items     []Item
}

// Item are the measurements of one sender at one moment.
type Item struct {
	ID    string // the sender's own name; "" without one
	Part  string // the name of a sensor within the sender; "" = the sender itself
	Label string // its name for people
	At    rimewatch.Time
	// Unset is why a time that came with it can be none, as Sentence.Stored returns it,
	// Stamp that time as it was sent, and Shown what it says; 0 = nobody knows.
	Unset, Stamp string
	Shown        rimewatch.Time
	Problem      string // why it cannot be stored, as Sentence.Stored returns it
	Split        bool   // sensors of the sender follow as items of their own
	gateway      string // that brought it, of which nothing else is known
	beside       bool   // other parts of the sender are in the same message
	Readings     []Reading
	Device       Device
	Habit        rimewatch.Habit // how senders of the template report
	// BatteryLowPct is the level at which batteries of the template's senders are low, 0 = not known.
	BatteryLowPct int
	Values        []Value // everything that could be bound
}

// Name returns the name of the sender, or of its sensor.
func (x *Item) Name() string { return NameOf(x.ID, x.Part) }

// NameOf returns the name of a sender's sensor.
func NameOf(id, part string) string {
	if part == "" {
		return id
	}
	return id + "/" + part
}

// Device is a sender's report of its own state; nil and "" are absent.
type Device struct {
	BatteryPct, RSSI *float64
	BatteryLow       *bool // by its own word
	Firmware         string
}

// Reading is a reading of one device.
type Reading struct {
	Serial  string // "" when the sender is not bound
	Reading rimewatch.Reading
	Fields  []Field
	// Probe is which sensor of the sender its temperature is of, where it Senses one: "" is
	// one that nothing tells from others. Probes are the same of fields of rules.
	Probe  string
	Senses bool
	Probes map[string]string
}

// Empty reports whether there is neither a measurement nor a state in the reading.
func (r *Reading) Empty() bool { return r.Reading.Empty() }

// Field is where the value of a measurement came from, or why there is none.
type Field struct {
	Name       string
	Expression string
	Found      any // the result of the expression
	Problem    string
	// Sent is true where there is a value, whether or not it can be used.
	Sent bool
}

// LeftOut reports whether something was sent that is not stored as a measurement.
func (f *Field) LeftOut() bool { return f.Sent && f.Problem != "" }

// FoundText is the result of the expression, shortened for people.
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
	// Probe is which sensor of the sender the device's temperature is of, as Reading.Probe
	// has it, where that is Settled.
	Probe   string
	Settled bool
	rules   []rule
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
	return &Binding{Serial: serial, rules: m.fields}, nil
}

// HasRules reports whether the binding has rules of its own.
func (b *Binding) HasRules() bool { return len(b.rules) > 0 }

// Bound returns the bindings of a sender's name, or of its sensor's.
type Bound func(id, part string) []*Binding

// matches reports whether a payload is of the kind that the template is for.
func (m *Mapper) matches(env *environment) bool { return m.match == nil || m.match.holds(env) }

// Decode reads a payload by the template. It returns at most 10,000 items.
func (m *Mapper) Decode(p *Payload, bound Bound) *Result {
	body, err := parse(p)
	if err != nil {
		return &Result{Template: m.Template.Name, Malformed: true, Problem: within("The payload %s.", err)}
	}
	return m.decode(newEnvironment(p, body), bound)
}

func (m *Mapper) decode(env *environment, bound Bound) *Result {
	r := &Result{Template: m.Template.Name, Created: m.Template.Created}
	if m.ignore.holds(env) {
		r.Ignored = reason(fail("is of a kind that holds no measurement, such as a join or a state of the connection"))
		return r
	}
	if m.each == nil {
		r.Items = m.items(env, bound)
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
	env.parts = m.parts(env, list)
	for _, v := range list {
		env.scope.Item = v
		r.Items = append(r.Items, m.items(env, bound)...)
	}
	env.scope.Item = nil
	return r
}

// parts finds which parts of senders the elements of a list are of.
func (m *Mapper) parts(env *environment, list []any) parts {
	if m.part == nil {
		return nil
	}
	p := make(parts)
	for _, v := range list {
		env.scope.Item = v
		id, _ := m.id.text(env)
		part, _ := m.part.text(env)
		p.add(id, part)
	}
	return p
}

// parts are those of senders in a message, by the sender: one of them, or "" for several.
type parts map[string]string

func (p parts) add(id, part string) {
	if was, ok := p[id]; ok && was != part {
		part = ""
	}
	p[id] = part
}

// beside reports whether a sensor of a sender is one of several.
func (p parts) beside(id, part string) bool { return part != "" && p != nil && p[id] == "" }

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

// items reads one element of the payload.
func (m *Mapper) items(env *environment, bound Bound) []Item {
	x := Item{Habit: m.Template.Habit, BatteryLowPct: m.Template.BatteryLowPct}
	var found []leaf
	if v, err := m.auto.run(env); err == nil && v != nil {
		found = leaves(m.autoPath, v)
	}
	var err error
	if x.ID, err = m.id.text(env); err != nil {
		x.Problem = within("id %s", err)
	}
	x.Part, _ = m.part.text(env)
	x.Label, _ = m.label.text(env)
	if v, err := m.time.run(env); err != nil {
		x.Unset = within("time %s", err)
	} else if v != nil && v != "" {
		x.setTime(env, v)
	}
	return m.assemble(env, found, x, bound)
}

// setTime reads when it was measured. A time without a zone keeps the item from being
// stored until the source has one; any other that cannot be is no time.
func (x *Item) setTime(env *environment, v any) {
	at, err := env.moment(v)
	switch {
	case errors.Is(err, rimewatch.ErrNoZone):
		x.Problem = within("time %s", fail("has no time zone: set the one that is meant in the source's settings"))
	case err != nil || at < rimewatch.ClockSet:
		if err == nil {
			err = fail("is before 2015: the clock was never set")
		}
		x.Unset, x.Stamp, x.Shown = within("time %s", err), clip(fmt.Sprint(v), 40), at
	default:
		x.At = at
	}
}

// assemble makes the items of a sender whose name and time are known: of itself, and of
// those of its sensors that are devices of their own.
func (m *Mapper) assemble(env *environment, found []leaf, x Item, bound Bound) []Item {
	x.beside = env.parts.beside(x.ID, x.Part)
	x.ID, x.Part = plainID(rimewatch.PlainEUI(x.ID)), partName(x.Part)
	x.Label = rimewatch.NameFrom(x.Label)
	if len(x.ID) > maxID {
		x.Problem = reason(fail("id is longer than %d bytes", maxID))
		x.ID = clip(x.ID, 40)
	}
	if bound == nil {
		bound = func(string, string) []*Binding { return nil }
	}
	m.attributes(env, found, &x.Device)
	all := found
	if all == nil {
		all = leaves("payload", env.scope.Payload)
	}
	if env.explain {
		x.explain(all)
	}
	s := m.recognise(env, found)
	return s.items(nil, &x, bound, func(b *Binding) Reading { return readRules(env, all, b.rules) }, env.repeated)
}

// items appends the items of a sender: its own, and those of its sensors that are devices
// of their own. ruled reads what the rules of a binding choose.
func (s *senses) items(items []Item, x *Item, bound Bound, ruled func(*Binding) Reading, repeated map[string]bool) []Item {
	bindings := bound(x.ID, x.Part)
	if x.Part != "" && len(bindings) == 0 {
		if whole := whichAccept(bound(x.ID, ""), x.Part, !x.beside); len(whole) > 0 { // bound before its parts were told apart
			bindings, s.whole, x.Part = whole, x.Part, ""
		}
	}
	s.keep(bindings)
	alone := len(s.sensors) < 2
	rules := s.chosen(x, bindings, alone, ruled)
	first := len(items)
	items = append(items, *x)
	items, own := s.apart(items, x, bindings, alone && !rules, bound, ruled)
	sender := &items[first]
	sender.Split = len(items) > first+1
	for i := 0; i < len(bindings) || i == 0; i++ {
		b := &Binding{}
		if i < len(bindings) {
			if b = bindings[i]; b.HasRules() {
				continue
			}
		}
		r := s.board.clone()
		r.Serial = b.Serial
		if own != nil && (len(bindings) == 0 || b.accepts(s.called(own), alone)) {
			r.sense(own)
			r.Senses, r.Probe = true, s.called(own)
		}
		sender.Readings = append(sender.Readings, r)
	}
	for i := first; i < len(items); i++ {
		for j := range items[i].Readings {
			r := &items[i].Readings[j]
			r.nameRepeated(repeated)
			r.dying()
			r.Reading.At = x.At
		}
	}
	return items
}

// keep takes for a sensor one that others go before, where it is the one that the
// sender's device has had.
func (s *senses) keep(bindings []*Binding) {
	for _, b := range bindings {
		is := func(x sensor) bool { return s.called(&x) == b.Probe }
		if b.HasRules() || !b.Settled || slices.ContainsFunc(s.sensors, is) {
			continue
		}
		if i := slices.IndexFunc(s.lower, is); i >= 0 {
			s.sensors = append(s.sensors, s.lower[i])
			s.board.Fields = slices.DeleteFunc(slices.Clone(s.board.Fields), func(f Field) bool { return f.Expression == s.lower[i].path })
		}
	}
}

// called returns a sensor's name among those of its sender.
func (s *senses) called(own *sensor) string { return joined(s.whole, own.local) }

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

// chosen reads what rules of bindings choose, takes that from the sensors, and reports
// whether there are rules. What is beside the value that one device has been given is its
// too.
func (s *senses) chosen(x *Item, bindings []*Binding, alone bool, ruled func(*Binding) Reading) bool {
	var taken []string
	for _, b := range bindings {
		if !b.HasRules() {
			continue
		}
		r := ruled(b)
		r.Serial = b.Serial
		for i := range r.Fields {
			taken = append(taken, r.Fields[i].Expression)
		}
		x.Readings = append(x.Readings, r)
	}
	if len(x.Readings) == 0 {
		return false
	}
	s.sensors = slices.DeleteFunc(s.sensors, func(x sensor) bool { return slices.Contains(taken, x.path) })
	if len(bindings) == 1 {
		x.Readings[0].beside(s, alone)
	}
	if alone {
		s.sensors = nil
	}
	return true
}

// apart returns the sensor that is the sender's own, nil = none is, and adds the others as
// items: those that are bound by themselves, those of a board with several, and one that
// is not the one that the sender's device has had.
func (s *senses) apart(items []Item, x *Item, bindings []*Binding, alone bool, bound Bound, ruled func(*Binding) Reading) (_ []Item, own *sensor) {
	for i := range s.sensors {
		at := &s.sensors[i]
		part := partName(joined(x.Part, at.local))
		var its []*Binding
		if at.local != "" {
			its = bound(x.ID, part)
		}
		accept := whichAccept(bindings, s.called(at), alone)
		others := slices.ContainsFunc(its, func(b *Binding) bool { // than those that the sender is anyway
			return !slices.ContainsFunc(accept, func(a *Binding) bool { return strings.EqualFold(a.Serial, b.Serial) })
		})
		if !others && (alone && len(bindings) == 0 || len(accept) > 0) {
			own = at
			continue
		}
		if at.local == "" {
			part = partName(joined(x.Part, at.key))
			its = bound(x.ID, part)
		}
		item := Item{ID: x.ID, Part: part, Label: labelOf(x, at), At: x.At, Unset: x.Unset, Stamp: x.Stamp, Shown: x.Shown, Problem: x.Problem, Device: x.Device, Values: x.Values}
		if len(its) == 0 {
			its = []*Binding{{}}
		}
		for _, b := range its {
			r := Reading{}
			if b.HasRules() {
				r = ruled(b)
			}
			if !r.has(at.path) && !r.chose(rimewatch.ProductZoneTemp.String()) {
				r.sense(at)
			}
			r.Serial = b.Serial
			item.Readings = append(item.Readings, r)
		}
		items = append(items, item)
	}
	return items, own
}

// partName bounds the name of a sensor within its sender, so that two never become one.
func partName(part string) string {
	if len(part) > mostPart {
		part = fmt.Sprintf("%s~%08x", clip(part[:mostPart/2], mostPart/2), crc32.ChecksumIEEE([]byte(part)))
	}
	return plainID(part)
}

const mostPart = 60 // bytes

func labelOf(x *Item, s *sensor) string {
	place := rimewatch.NameFrom(cmp.Or(s.label, s.local))
	if x.Label == "" || place == "" {
		return place
	}
	return rimewatch.NameFrom(x.Label + " " + place)
}

// accepts reports whether a temperature of a sensor is one of the binding's device.
// alone is true for the only one in its payload.
func (b *Binding) accepts(local string, alone bool) bool {
	switch {
	case b.HasRules():
		return false
	case b.Settled:
		return b.Probe == local
	default:
		return alone
	}
}

func whichAccept(list []*Binding, local string, alone bool) (those []*Binding) {
	for _, b := range list {
		if b.accepts(local, alone) {
			those = append(those, b)
		}
	}
	return those
}

// recognise reads values by the template's rules and the names of members.
func (m *Mapper) recognise(env *environment, found []leaf) senses {
	r := readRules(env, nil, m.fields)
	done := map[string]bool{}
	for i := range r.Fields {
		done[r.Fields[i].Name] = r.Fields[i].Sent
	}
	s := recognise(found, done)
	s.board.Fields = append(r.Fields, s.board.Fields...)
	for f, v := range r.Reading.All() {
		s.board.Reading.Set(f, v)
	}
	s.board.Reading.Faults |= r.Reading.Faults
	s.board.Reading.Flags |= r.Reading.Flags
	return s
}

// beside adds recognised values to those that rules have chosen.
func (r *Reading) beside(s *senses, alone bool) {
	rules := Reading{Fields: r.Fields}
	chosen := rules.chose
	for f, v := range s.board.Reading.All() {
		if !chosen(f.String()) {
			r.Reading.Set(f, v)
		}
	}
	for f := range s.board.Reading.Faults.All() {
		if !chosen(f.String()) {
			r.Reading.Faults = r.Reading.Faults.With(f)
		}
	}
	for x := range rimewatch.NumFlags {
		if yes, ok := s.board.Reading.Flags.Bool(x); ok && !chosen(x.String()) {
			r.Reading.Flags = r.Reading.Flags.WithBool(x, yes)
		}
	}
	for _, f := range s.board.Fields {
		if !chosen(f.Name) || f.LeftOut() && !r.has(f.Expression) {
			r.Fields = append(r.Fields, f)
		}
	}
	if len(s.sensors) == 1 && alone && !chosen(rimewatch.ProductZoneTemp.String()) {
		r.sense(&s.sensors[0])
	}
}

// chose reports whether a rule says where a measurement comes from.
func (r *Reading) chose(name string) bool {
	return slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == name })
}

// clone returns a reading that can be changed without the other.
func (r *Reading) clone() Reading {
	c := *r
	c.Fields = slices.Clone(r.Fields)
	return c
}

// sense adds a sensor's measurements.
func (r *Reading) sense(s *sensor) {
	for f, v := range s.reading.Reading.All() {
		r.Reading.Set(f, v)
	}
	r.Reading.Faults |= s.reading.Reading.Faults
	r.Fields = append(slices.Clone(s.reading.Fields), r.Fields...)
}

// dying makes a fault of what sensors report whose battery cannot carry a measurement any
// more: the lowest of both ranges at once.
func (r *Reading) dying() {
	temp, ok := r.Reading.Value(rimewatch.ProductZoneTemp)
	humid, both := r.Reading.Value(rimewatch.Humidity)
	if !ok || !both || temp != rimewatch.ProductZoneTemp.Info().Min || humid != 0 {
		return
	}
	for _, f := range [...]rimewatch.Field{rimewatch.ProductZoneTemp, rimewatch.Humidity} {
		r.Reading.Values[f] = 0
		r.Reading.Present &^= 1 << f
		r.Reading.Faults = r.Reading.Faults.With(f)
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == rimewatch.ProductZoneTemp.String() && f.Problem == "" {
			f.Problem = reason(fail("is what a broken or disconnected sensor reports"))
		}
	}
}

// explain lists the members that a binding can name.
func (x *Item) explain(all []leaf) {
	for i := range all {
		if v, _, err := number(all[i].value); err == nil && len(x.Values) < maxValues {
			x.Values = append(x.Values, Value{all[i].path, v})
		}
	}
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

// Bounds of the kept parts of an item.
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
		return rimewatch.ParseMomentIn(strings.TrimSpace(v), e.payload.Zone, e.payload.Received)
	default:
		return 0, fail("is neither a text nor a number")
	}
}

// readRules reads the measurements for which there are rules. A value that is one of all
// is in the unit that it says itself, and of the probe that it was when it was chosen.
func readRules(env *environment, all []leaf, rules []rule) (r Reading) {
	for i := range rules {
		rule := &rules[i]
		f := Field{Name: rule.name, Expression: rule.From}
		l := leafAt(all, rule.From)
		if rule.Probe != "" && (l == nil || l.address != rule.Probe) {
			if l = probeAt(all, rule); l == nil {
				f.Problem = reason(fail("is of the probe %s, which is not in the payload", clip(rule.Probe, 40)))
				r.Fields = append(r.Fields, f)
				continue
			}
			f.Expression, f.Found = l.path, l.value
		} else {
			f.Found, f.Problem = rule.value(env)
		}
		if f.Problem == "" {
			f.Sent, f.Problem = true, rule.store(env, f.Found, l, &r.Reading)
		}
		if l != nil && l.address != "" && rule.Probe == "" {
			if r.Probes == nil {
				r.Probes = map[string]string{}
			}
			r.Probes[rule.name] = l.address
		}
		r.Fields = append(r.Fields, f)
	}
	return r
}

func leafAt(all []leaf, path string) *leaf {
	if i := slices.IndexFunc(all, func(l leaf) bool { return l.path == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

// probeAt finds the value of a rule's probe, wherever that stands now.
func probeAt(all []leaf, r *rule) *leaf {
	for i := range all {
		if l := &all[i]; l.address == r.Probe && (strings.HasSuffix(r.From, member("", l.key))) {
			return l
		}
	}
	return nil
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
func (r *rule) store(env *environment, v any, l *leaf, into *rimewatch.Reading) string {
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
	if l != nil {
		if u, ok := units[unitKey(l.unit)]; ok && u.to == r.field.Info().Unit {
			unit = l.unit // the payload's own unit counts more than the chosen one
		}
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
