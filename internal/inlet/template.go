package inlet

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// TemplateVersion is the version of the documents that this package reads.
const TemplateVersion = 1

// Bounds of one template.
const (
	MaxTemplate = 32 << 10 // bytes of its document
	maxRules    = 64
)

// Template defines how a sender's payload becomes readings. All members but Version,
// Name and Title are expressions over payload, topic and query, and over item
// where Each gives one.
type Template struct {
	Version int    `json:"version"`
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	// Match is true for payloads of this kind.
	Match string `json:"match,omitempty"`
	// Ignore is true for payloads that hold no reading, such as joins.
	Ignore string `json:"ignore,omitempty"`
	// Each returns a list of which each element is a reading of its own; its
	// element is item in the other expressions.
	Each string `json:"each,omitempty"`
	// ID returns the sender's name of the device.
	ID string `json:"id,omitempty"`
	// Part returns what tells the sensor from the others of that device, such as a channel.
	Part string `json:"part,omitempty"`
	// Name of the device, for people.
	Label string `json:"label,omitempty"`
	// Time returns when it was measured: RFC 3339, or a number since 1970.
	Time string `json:"time,omitempty"`
	// Auto returns an object whose members are recognised by their names.
	Auto string `json:"auto,omitempty"`
	// Fields are measurements and observations by their names; they go before
	// the values that Auto recognises.
	Fields map[string]Rule `json:"fields,omitempty"`
	// Habit is how such senders report, which silence is judged by: sleeps (until something
	// changes) or lorawan; "" = by what each of them does.
	Habit rimewatch.Habit `json:"habit,omitempty"`
	// Created is true for senders that send again until they are told "created" (HTTP 201).
	Created bool `json:"created,omitempty"`
	// BatteryLowPct is the level at which the battery of such a sender is low, in percent; 0 = 20.
	BatteryLowPct int `json:"battery_low_pct,omitempty"`
	// Device are battery_pct, battery_v, battery_low, rssi_dbm and firmware_version.
	Device map[string]Rule `json:"device,omitempty"`
}

// Rule defines where one value comes from.
type Rule struct {
	From     string  `json:"from" minLength:"1" maxLength:"500" doc:"An expression, such as payload.object.temperature."`
	Unit     string  `json:"unit,omitempty" maxLength:"20" doc:"Of the value, such as °F, when it is not the measurement's own."`
	UnitFrom string  `json:"unit_from,omitempty" maxLength:"500" doc:"An expression that returns the unit."`
	Scale    float64 `json:"scale,omitempty" doc:"0 = 1."`
	Offset   float64 `json:"offset,omitempty" doc:"Added after scale, before the unit is converted."`
	OnlyIf   string  `json:"only_if,omitempty" maxLength:"500" doc:"A condition."`
	Probe    string  `json:"probe,omitempty" maxLength:"64" doc:"Of a value in an object that says which probe it is of, such as the Id of a DS18B20: that Id. The value is then the probe's, wherever it stands. Filled in when the first value is read."`
}

// UnmarshalJSON reads a rule, which may be its expression alone.
func (r *Rule) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, &r.From)
	}
	type plain Rule
	return strictJSON(b, (*plain)(r))
}

func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fail("is more than one JSON document")
	}
	return nil
}

// ParseTemplate reads a template's document: CodeValidationFailed with the field
// template or template.MEMBER.
func ParseTemplate(document []byte) (*Mapper, error) {
	if len(document) > MaxTemplate {
		return nil, rimewatch.Invalid("template", "must not be larger than %d bytes", MaxTemplate)
	}
	var t Template
	if err := strictJSON(document, &t); err != nil {
		return nil, rimewatch.Invalid("template", "is not understood: %s", clip(err.Error(), 120))
	}
	return t.Compile()
}

// device attributes that a template may fill.
const (
	batteryPct      = "battery_pct"
	batteryVolts    = "battery_v"
	batteryLow      = "battery_low"
	rssiDBm         = "rssi_dbm"
	firmwareVersion = "firmware_version"
)

// Mapper is a template that is ready to use. It may be used by several
// goroutines at once.
type Mapper struct {
	Template Template

	match, ignore, each, id, part, label, time, auto *expression

	autoPath string // auto in a form that members may be named of

	fields []rule // by name
	device []rule
}

// rule is a Rule that is ready to use, of a measurement, an observation or a
// device's attribute.
type rule struct {
	Rule
	name                   string
	field                  rimewatch.Field
	flag                   rimewatch.Flag
	isFlag                 bool
	from, unitFrom, onlyIf *expression
}

// Compile checks the template: CodeValidationFailed that names the member.
func (t Template) Compile() (*Mapper, error) {
	m := &Mapper{Template: t}
	if t.Version != TemplateVersion {
		return nil, rimewatch.Invalid("template.version", "must be %d", TemplateVersion)
	}
	for _, x := range []struct {
		name, source string
		into         **expression
	}{
		{"match", t.Match, &m.match}, {"ignore", t.Ignore, &m.ignore}, {"each", t.Each, &m.each}, {"id", t.ID, &m.id}, {"part", t.Part, &m.part},
		{"label", t.Label, &m.label}, {"time", t.Time, &m.time}, {"auto", t.Auto, &m.auto},
	} {
		var err error
		if *x.into, err = compile(x.source); err != nil {
			return nil, invalid("template."+x.name, err)
		}
	}
	if t.Habit != "" && t.Habit != rimewatch.HabitSleeps && t.Habit != rimewatch.HabitLoRaWAN {
		return nil, rimewatch.Invalid("template.habit", "must be sleeps or lorawan")
	}
	if t.BatteryLowPct < 0 || t.BatteryLowPct > 100 {
		return nil, rimewatch.Invalid("template.battery_low_pct", "must be between 0 and 100")
	}
	m.autoPath = t.Auto
	if strings.ContainsAny(t.Auto, " ({") {
		m.autoPath = "(" + t.Auto + ")"
	}
	if len(t.Fields)+len(t.Device) > maxRules {
		return nil, rimewatch.Invalid("template.fields", "must not be more than %d", maxRules)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		r, err := compileRule("template.fields."+name, name, t.Fields[name])
		if err != nil {
			return nil, err
		}
		m.fields = append(m.fields, r)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Device)) {
		if name != batteryPct && name != batteryVolts && name != batteryLow && name != rssiDBm && name != firmwareVersion {
			return nil, rimewatch.Invalid("template.device."+clip(name, 40), "is not battery_pct, battery_v, battery_low, rssi_dbm or firmware_version")
		}
		r := rule{name: name, Rule: t.Device[name]}
		if err := r.compile("template.device." + name); err != nil {
			return nil, err
		}
		m.device = append(m.device, r)
	}
	return m, nil
}

// compileRule checks a rule of a measurement or an observation.
func compileRule(path, name string, from Rule) (rule, error) {
	r := rule{name: name, Rule: from}
	field, ok := rimewatch.FieldByName(name)
	if r.field = field; !ok {
		if r.flag, ok = rimewatch.FlagByName(name); !ok {
			return r, rimewatch.Invalid(clip(path, 80), "is not the name of a measurement")
		}
		r.isFlag = true
	}
	if err := r.compile(path); err != nil {
		return r, err
	}
	if r.Unit != "" && !r.isFlag {
		if _, err := convert(r.field, 0, r.Unit); err != nil {
			return r, invalid(path+".unit", err)
		}
	}
	return r, nil
}

func (r *rule) compile(path string) (err error) {
	if r.from, err = compile(r.From); err == nil && r.from == nil {
		err = fail("is required")
	}
	if err != nil {
		return invalid(path+".from", err)
	}
	if r.unitFrom, err = compile(r.UnitFrom); err != nil {
		return invalid(path+".unit_from", err)
	}
	if r.onlyIf, err = compile(r.OnlyIf); err != nil {
		return invalid(path+".only_if", err)
	}
	return nil
}
