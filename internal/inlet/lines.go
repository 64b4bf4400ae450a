package inlet

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"github.com/rimewatch/rimewatch"
)

// precisions are the units of time that the Influx write APIs know, by the names
// that their parameter precision has; "" is ns.
var precisions = map[string]string{
	"": "nanoseconds", "ns": "nanoseconds", "n": "nanoseconds", "us": "microseconds", "u": "microseconds", "µ": "microseconds", "ms": "milliseconds", "s": "seconds",
}

// maxSeries bounds the series that a LineReader remembers.
const maxSeries = 8192

// LineReader reads Influx line protocol. How the lines of a series (a
// measurement with its tags and the names of its fields) are read is found out
// once and remembered. It belongs to one goroutine at a time.
type LineReader struct {
	series map[string]*series
	key    []byte
	fields []lineField
	items  []Item
	senses senses

	known    map[string]*series // of lines that are plain, by plainKey
	plainKey []byte
	values   []lineValue
}

// series is how lines of one measurement, tags and names of fields are read.
type series struct {
	id, part, label string
	scaled          bool // integers in it count in small parts of one: of a later line they may not
	board           []step
	sensors         []lineSensor
	named           []Field // members that were not taken
}

// lineSensor is how the values of one of a series' sensors are read.
type lineSensor struct {
	sensor
	steps []step
}

// step describes one field of a line: number i of the line is a measurement,
// an observation, or something that the sender says of itself.
type step struct {
	i      int
	field  rimewatch.Field
	flag   rimewatch.Flag
	unit   string
	isFlag bool
	shut   bool // the flag is false while the value is true
	says   attribute
	bare   bool // of an attribute
}

type lineField struct {
	name  []byte
	value lineprotocol.Value
}

// Lines are the outcome of reading a body.
type Lines struct {
	Bad     int    // lines that were refused
	Problem string // of the first of them, with its number
}

// Read calls each for every line, with its items, which are valid until each returns.
// Bad lines are counted and the others are read. The precision is that of the write API:
// s, ms, us or ns. A line ends with its line feed, also within a text.
func (r *LineReader) Read(body []byte, precision string, bound Bound, each func(items []Item, line []byte)) (n Lines, err error) {
	unit, ok := precisions[precision]
	if !ok {
		return n, rimewatch.Invalid("precision", "must be s, ms, us or ns")
	}
	number := 0
	for line := range bytes.Lines(body) {
		number++
		some, err := r.line(line, unit, bound)
		switch {
		case !some: // empty, or a comment
		case err != nil:
			if n.Bad++; n.Problem == "" {
				n.Problem = rimewatch.Sentencef("line %d: %s", number, sentenceOf(err)).Stored()
			}
		default:
			each(r.items, line)
		}
	}
	return n, nil
}

// readLine reads a line by the rules of a binding: payload has the members measurement,
// tags and fields.
func readLine(line []byte, rules []rule) Reading {
	payload, err := lineObject(lineprotocol.NewDecoderWithBytes(line))
	if err != nil {
		return Reading{}
	}
	env := newEnvironment(&Payload{}, payload)
	return readRules(env, leaves("payload", payload), rules)
}

func lineObject(dec *lineprotocol.Decoder) (map[string]any, error) {
	dec.Next()
	measurement, err := dec.Measurement()
	if err != nil {
		return nil, err
	}
	tags, fields := map[string]any{}, map[string]any{}
	for {
		k, v, err := dec.NextTag()
		if err != nil {
			return nil, err
		}
		if k == nil {
			break
		}
		tags[string(k)] = string(v)
	}
	for {
		k, v, err := dec.NextField()
		if err != nil {
			return nil, err
		}
		if k == nil {
			break
		}
		fields[string(k)] = plainValue(v)
	}
	return map[string]any{"measurement": string(measurement), "tags": tags, "fields": fields}, nil
}

// plainValue returns a value as JSON would have it.
func plainValue(v lineprotocol.Value) any {
	switch v.Kind() {
	case lineprotocol.Int:
		return float64(v.IntV())
	case lineprotocol.Uint:
		return float64(v.UintV())
	default:
		return v.Interface()
	}
}

// line reads one line into r.items; false = there is nothing in it at all.
func (r *LineReader) line(line []byte, unit string, bound Bound) (some bool, err error) {
	s, moment := r.plain(line)
	var at rimewatch.Time
	if s != nil {
		at, err = epoch(moment, unit)
	} else {
		dec := lineprotocol.NewDecoderWithBytes(line)
		if !dec.Next() {
			return false, nil
		}
		if s, err = r.find(dec); err == nil {
			at, err = lineTime(dec, unit)
		}
	}
	if err == nil {
		r.fill(s, at, line, bound)
	}
	return true, err
}

// fill makes r.items of the values of a line.
func (r *LineReader) fill(s *series, at rimewatch.Time, line []byte, bound Bound) {
	x := Item{ID: s.id, Part: s.part, Label: s.label, At: at}
	if cap(r.items) > 0 {
		x.Readings = r.items[:1][0].Readings[:0]
	}
	r.senses = senses{sensors: r.senses.sensors[:0], board: Reading{Fields: slices.Clone(s.named)}}
	r.follow(s.board, &r.senses.board, &x.Device)
	for i := range s.sensors {
		sensor := s.sensors[i].sensor
		r.follow(s.sensors[i].steps, &sensor.reading, &x.Device)
		r.senses.sensors = append(r.senses.sensors, sensor)
	}
	r.items = r.senses.items(r.items[:0], &x, bound, func(b *Binding) Reading { return readLine(line, b.rules) }, nil)
}

// follow takes the steps of a series.
func (r *LineReader) follow(steps []step, to *Reading, d *Device) {
	into := &to.Reading
	for i := range steps {
		x := &steps[i]
		v := &r.values[x.i]
		switch {
		case x.isFlag && v.truth:
			into.Flags = into.Flags.WithBool(x.flag, v.yes != x.shut)
		case x.says != noAttribute:
			d.note(x.says, v.any(), x.unit, x.bare)
		case x.isFlag:
			to.leftOut(v, x.flag.String(), neither())
		case !v.isNumber:
			to.leftOut(v, x.field.String(), reason(fail("is not a number")))
		default:
			if problem := store(x.field, v.number, x.unit, into); problem != "" {
				to.leftOut(v, x.field.String(), problem)
			}
		}
	}
}

// any returns the value as JSON would have it.
func (v *lineValue) any() any {
	switch {
	case v.text != "":
		return v.text
	case v.isNumber:
		return v.number
	default:
		return v.yes
	}
}

// leftOut notes that a value of a line is no measurement.
func (r *Reading) leftOut(v *lineValue, name, problem string) {
	r.Fields = append(r.Fields, Field{Name: name, Found: v.any(), Problem: problem, Sent: true})
}

// find returns the series of the line and leaves the values in r.values.
func (r *LineReader) find(dec *lineprotocol.Decoder) (*series, error) {
	measurement, err := dec.Measurement()
	if err != nil {
		return nil, fail("its measurement cannot be read: %s", theirs(err))
	}
	r.key = append(append(r.key[:0], measurement...), 0)
	for {
		k, v, err := dec.NextTag()
		if err != nil {
			return nil, fail("a tag cannot be read: %s", theirs(err))
		}
		if k == nil {
			break
		}
		r.key = append(append(append(append(r.key, k...), 1), v...), 1)
	}
	r.key = append(r.key, 0)
	r.fields, r.values = r.fields[:0], r.values[:0]
	for {
		k, v, err := dec.NextField()
		if err != nil {
			return nil, fail("a field cannot be read: %s", theirs(err))
		}
		if k == nil {
			break
		}
		if len(r.fields) == maxLineFields {
			return nil, fail("more than %d fields", maxLineFields)
		}
		r.fields, r.values = append(r.fields, lineField{k, v}), append(r.values, valueOf(v))
		r.key = append(append(r.key, k...), 1)
	}
	if s := r.series[string(r.key)]; s != nil {
		r.know(s)
		return s, nil
	}
	if len(r.series) >= maxSeries || r.series == nil {
		r.series = make(map[string]*series)
	}
	s := newSeries(string(r.key), r.fields)
	if !unfinished(r.fields) && !s.scaled { // a later line may hold what this one does not
		r.series[string(r.key)] = s
		r.know(s)
	}
	return s, nil
}

const maxLineFields = 200

// unfinished reports whether a line holds a text where others of its series may
// hold a number, or another unit.
func unfinished(fields []lineField) bool {
	for i := range fields {
		name := string(fields[i].name)
		if fields[i].value.Kind() == lineprotocol.String && (!strings.HasSuffix(name, "_str") || strings.HasPrefix(name, "unit_of")) {
			return true
		}
	}
	return false
}

// newSeries finds out how lines of a series are read. Home Assistant writes an
// entity a line, with its unit as the measurement or beside the number in value; others
// name their fields after what they are.
func newSeries(key string, fields []lineField) *series {
	parts := strings.SplitN(key, "\x00", 3)
	measurement, tags := parts[0], map[string]string{}
	for pairs := strings.Split(parts[1], "\x01"); len(pairs) >= 2; pairs = pairs[2:] {
		tags[pairs[0]] = pairs[1]
	}
	s := &series{}
	entity := tags["entity_id"]
	for _, name := range []string{"device_serial", "serial", "device", "device_id", "sensor", "sensorName", "sensor_name", "entity_id", "name", "slave", "id", "mac", "topic", "host"} {
		if tags[name] != "" {
			s.id = tags[name]
			break
		}
	}
	own := cmp.Or(tags["device_serial"], tags["serial"], tags["sensor"]) != "" // a name that somebody has given to the sensor itself
	for _, name := range []string{"rom", "address", "addr", "probe", "probe_id", "sensor_id", "sensorid", "slave_id", "slave", "channel", "ch", "port", "number", "endpoint", "location", "position", "point", "label", "tag", "id"} {
		if tag := tags[name]; tag != "" && tag != s.id && !own {
			s.part = joined(s.part, tag)
		}
	}
	class, unit := tags["device_class"], tags["unit_of_measurement"]
	for i := range fields {
		text, _ := fields[i].value.Interface().(string)
		switch strings.TrimSuffix(string(fields[i].name), "_str") {
		case "device_class":
			class = text
		case "unit_of_measurement", "unit":
			unit = text
		}
	}
	if entity != "" && tags["domain"] != "" {
		s.id, s.part = tags["domain"]+"."+entity, ""
		if u := units[unitKey(measurement)]; u.to != "" {
			unit = cmp.Or(unit, measurement)
		}
	}
	s.id, s.part, s.label = plainID(s.id), partName(s.part), rimewatch.NameFrom(tags["friendly_name"])
	found := make([]leaf, 0, len(fields))
	for i := range fields {
		key := string(fields[i].name)
		l := leaf{path: member("payload.fields", key), depth: 1, value: plainValue(fields[i].value)}
		if key == "value" || key == "state" {
			topic := tags["topic"] // of a message that Telegraf read from a broker
			key = cmp.Or(entity, topic[strings.LastIndexByte(topic, '/')+1:], measurement)
			l.unit, l.measured = unit, unit != ""
			if battery := batteryEntity(key, class, unit, tags["domain"]); battery != "" && !slices.ContainsFunc(found, func(l leaf) bool { return l.key == battery }) {
				key = battery // once: state and value say the same
			} else if tags["domain"] == "binary_sensor" {
				key += "_" + class + "_state"
			} else if read(key).kind == noKind {
				key += "_" + class
			}
		}
		l.call(key)
		found = append(found, l)
	}
	s.read(found, entity != "")
	return s
}

// read recognises the fields of a series, by their units and names.
func (s *series) read(found []leaf, entity bool) {
	done := map[string]bool{}
	sensed := recognise(found, done)
	s.scaled = sensed.scaled
	s.board = s.steps(found, sensed.board.Fields)
	for _, f := range sensed.board.Fields {
		if f.Problem != "" && at(found, f.Expression) < 0 {
			s.named = append(s.named, f)
		}
	}
	for _, x := range sensed.sensors {
		s.sensors = append(s.sensors, lineSensor{sensor{local: x.local, path: x.path, key: x.key, label: x.label}, s.steps(found, x.reading.Fields)})
	}
	for i := range found {
		if l := &found[i]; entity && l.measured {
			if x := (step{i: i, unit: l.unit}); l.electric(&x.field) && !done[x.field.String()] {
				s.board = append(s.board, x)
			}
		}
	}
	for _, x := range attributesOf(found) {
		s.board = append(s.board, step{i: at(found, x.path), says: x.what, unit: x.saidUnit(), bare: x.bare()})
	}
}

// batteryEntity returns what an entity of Home Assistant says of a battery, by its class, or its
// name and unit, as a name that is recognised; "" = it is none.
func batteryEntity(entity, class, unit, domain string) string {
	switch of := strings.Contains(squeeze(entity), "batter") || class == "battery"; {
	case !of:
	case domain == "binary_sensor":
		return "battery_low"
	case unitKey(unit) == "%":
		return "battery_level"
	case unitKey(unit) == "v", unitKey(unit) == "mv":
		return "battery_voltage"
	}
	return ""
}

// electric reports whether the unit of an entity of Home Assistant says that it measures
// electricity, or the air of a room.
func (l *leaf) electric(f *rimewatch.Field) bool {
	switch u := units[unitKey(l.unit)]; {
	case l.not != noKind || !numeric(l):
		return false
	case u.to == "W":
		*f = rimewatch.Power
	case u.to == "A":
		*f = rimewatch.AmpDraw
	case unitKey(l.unit) == "v":
		*f = rimewatch.Voltage
	case u.to == "kWh":
		*f = rimewatch.Energy
	case u.to == "ppm" && (strings.Contains(l.squeezed, "co2") || strings.Contains(l.squeezed, "carbondioxide")):
		*f = rimewatch.CO2
	default:
		return false
	}
	return true
}

// steps returns how the fields that were recognised are read of later lines.
func (s *series) steps(found []leaf, fields []Field) (steps []step) {
	for _, f := range fields {
		i := at(found, f.Expression)
		if i < 0 {
			continue
		}
		if left := f.Problem != "" && numeric(&found[i]) && found[i].doubt(s.scaled) != ""; left {
			s.named = append(s.named, f)
			continue
		}
		x := step{i: i}
		var ok bool
		if x.field, ok = rimewatch.FieldByName(f.Name); !ok {
			x.flag, x.isFlag = rimewatch.FlagByName(f.Name)
			x.shut = found[i].kind == contact || found[i].kind == door && found[i].closes()
		} else if u, ok := units[unitKey(found[i].unit)]; ok && u.to == x.field.Info().Unit {
			x.unit = found[i].unit
		}
		steps = append(steps, x)
	}
	return steps
}

// at returns the index of the field with the path, -1 when no single one has it.
func at(found []leaf, path string) int {
	return slices.IndexFunc(found, func(l leaf) bool { return l.path == path })
}

func valueOf(v lineprotocol.Value) (x lineValue) {
	switch plain := plainValue(v).(type) {
	case float64:
		return numberValue(plain)
	case string:
		n, _, err := textNumber(plain)
		x.text, x.number, x.isNumber = clip(plain, 40), n, err == nil
	}
	x.yes, x.truth = truth(plainValue(v))
	return x
}

// theirs is the library's message about a line, without the place: the line is decoded alone.
func theirs(err error) string {
	var e *lineprotocol.DecodeError
	if errors.As(err, &e) {
		err = e.Err
	}
	return clip(err.Error(), mostOfLibrary)
}

func lineTime(dec *lineprotocol.Decoder, unit string) (rimewatch.Time, error) {
	b, err := dec.TimeBytes()
	if err != nil {
		return 0, fail("its time cannot be read: %s", theirs(err))
	}
	return epoch(b, unit)
}

// epoch reads the time of a line, 0 when it has none.
func epoch(b []byte, unit string) (rimewatch.Time, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0, fail("the time is not an integer")
	}
	at, err := rimewatch.ParseEpochTime(float64(n), unit)
	if err != nil {
		return 0, fail("the time %s", rimewatch.SentenceOf(reason(err)))
	}
	return at, nil
}
