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
	item   Item

	known    map[string]*series // of lines that are plain, by plainKey
	plainKey []byte
	values   []lineValue
}

// series is how lines of one measurement, tags and names of fields are read.
type series struct {
	id, label string
	steps     []step
	unclear   []Field // measurements that several fields may be
}

// step describes one field of a line: number i of the line is a measurement,
// an observation or the battery.
type step struct {
	i       int
	field   rimewatch.Field
	flag    rimewatch.Flag
	unit    string
	isFlag  bool
	battery bool
}

type lineField struct {
	name  []byte
	value lineprotocol.Value
}

// Lines are the outcome of reading a body.
type Lines struct {
	Read    int    // lines with a value that is known
	Ignored int    // lines without one
	Bad     int    // lines that were refused
	Problem string // of the first of them, with its number
}

// Read calls each for every line that has a known value, with an item that is
// valid until each returns, and the line. Bad lines are counted and the others
// are read. The precision is that of the write API: s, ms, us or ns. A line ends
// with its line feed, also within a text.
func (r *LineReader) Read(body []byte, precision string, each func(x *Item, line []byte)) (n Lines, err error) {
	unit, ok := precisions[precision]
	if !ok {
		return n, rimewatch.Invalid("precision", "must be s, ms, us or ns")
	}
	number := 0
	for line := range bytes.Lines(body) {
		number++
		s, some, err := r.line(line, unit)
		switch {
		case !some: // empty, or a comment
		case err != nil:
			if n.Bad++; n.Problem == "" {
				n.Problem = rimewatch.Sentencef("line %d: %s", number, sentenceOf(err)).Stored()
			}
		case s == nil:
			n.Ignored++
		default:
			n.Read++
			each(&r.item, line)
		}
	}
	return n, nil
}

// ReadLine reads a line, which Read has taken, by the rules of a binding: payload
// has the members measurement, tags and fields.
func ReadLine(line []byte, precision string, b *Binding) Reading {
	dec := lineprotocol.NewDecoderWithBytes(line)
	payload, err := lineObject(dec)
	if err != nil {
		return Reading{Serial: b.Serial}
	}
	at, err := lineTime(dec, precisions[precision])
	if err != nil {
		return Reading{Serial: b.Serial}
	}
	return (&Mapper{}).reading(newEnvironment(&Payload{}, payload), nil, b, at)
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

// line reads one line into r.item: nil when there is nothing in it that is known or may be,
// and false when there is nothing in it at all.
func (r *LineReader) line(line []byte, unit string) (_ *series, some bool, err error) {
	s, moment := r.plain(line)
	var at rimewatch.Time
	if s != nil {
		at, err = epoch(moment, unit)
	} else {
		dec := lineprotocol.NewDecoderWithBytes(line)
		if !dec.Next() {
			return nil, false, nil
		}
		if s, err = r.find(dec); err == nil {
			at, err = lineTime(dec, unit)
		}
	}
	if err != nil || len(s.steps)+len(s.unclear) == 0 {
		return nil, true, err
	}
	r.fill(s, at)
	return s, true, nil
}

// fill makes r.item of the values of a line.
func (r *LineReader) fill(s *series, at rimewatch.Time) {
	r.item.ID, r.item.Label, r.item.At, r.item.Problem = s.id, s.label, at, ""
	r.item.Device = Device{}
	r.item.Readings = append(r.item.Readings[:0], Reading{})
	r.item.Readings[0].Fields = slices.Clone(s.unclear)
	into := &r.item.Readings[0].Reading
	into.At = at
	for i := range s.steps {
		x := &s.steps[i]
		v := &r.values[x.i]
		switch {
		case x.isFlag && v.truth:
			into.Flags = into.Flags.WithBool(x.flag, v.yes)
		case x.battery:
			if n := v.number; v.isNumber && n >= 0 && n <= 100 {
				r.item.Device.BatteryPct = &n
			}
		case x.isFlag:
			r.leftOut(x, x.flag.String(), neither())
		case !v.isNumber:
			r.leftOut(x, x.field.String(), "is not a number")
		default:
			if problem := store(x.field, v.number, x.unit, into); problem != "" {
				r.leftOut(x, x.field.String(), problem)
			}
		}
	}
}

// leftOut notes that the line's value for a step is no measurement.
func (r *LineReader) leftOut(x *step, name, problem string) {
	f := Field{Name: name, Problem: problem, Sent: true}
	switch v := &r.values[x.i]; {
	case v.text != "":
		f.Found = v.text
	case v.isNumber:
		f.Found = v.number
	default:
		f.Found = v.yes
	}
	into := &r.item.Readings[0]
	into.Fields = append(into.Fields, f)
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
	if !unfinished(r.fields) { // a later line may hold what this one does not
		r.series[string(r.key)] = s
		r.know(s)
	}
	return s, nil
}

const maxLineFields = 200

// unfinished reports whether a line holds a text where others of its series may
// hold a number.
func unfinished(fields []lineField) bool {
	for i := range fields {
		if fields[i].value.Kind() == lineprotocol.String && !strings.HasSuffix(string(fields[i].name), "_str") {
			return true
		}
	}
	return false
}

// newSeries finds out how lines of a series are read. Home Assistant writes an
// entity a line, with its unit as the measurement and the number in value; others
// name their fields after what they are.
func newSeries(key string, fields []lineField) *series {
	parts := strings.SplitN(key, "\x00", 3)
	measurement, tags := parts[0], map[string]string{}
	for pairs := strings.Split(parts[1], "\x01"); len(pairs) >= 2; pairs = pairs[2:] {
		tags[pairs[0]] = pairs[1]
	}
	s := &series{}
	entity := tags["entity_id"]
	for _, name := range []string{"device_serial", "serial", "device", "device_id", "sensor", "entity_id", "name", "slave", "id", "mac", "topic", "host"} {
		if tags[name] != "" {
			s.id = tags[name]
			break
		}
	}
	if entity != "" && tags["domain"] != "" {
		s.id = tags["domain"] + "." + entity
	}
	s.id, s.label = plainID(s.id), rimewatch.NameFrom(tags["friendly_name"])
	found := make([]leaf, 0, len(fields))
	for i := range fields {
		key := string(fields[i].name)
		l := leaf{path: member("payload.fields", key), key: key, depth: 1, value: plainValue(fields[i].value)}
		if key == "value" {
			topic := tags["topic"] // of a message that Telegraf read from a broker
			l.key = cmp.Or(entity, topic[strings.LastIndexByte(topic, '/')+1:], measurement)
		}
		if l.unit = unitInName(l.key); key == "value" && entity != "" {
			l.unit = measurement
		}
		l.name = squeeze(l.key)
		found = append(found, l)
	}
	if entity != "" && tags["domain"] != "" {
		s.entity(found, measurement)
	} else {
		s.named(found)
	}
	return s
}

// entity reads the value of an entity of Home Assistant by its unit.
func (s *series) entity(found []leaf, measurement string) {
	for i := range found {
		l := &found[i]
		if l.unit != measurement || !numeric(l) {
			continue
		}
		other := false
		for _, w := range slices.Concat(otherWords, circuitWords) {
			other = other || strings.Contains(l.name, w)
		}
		x := step{i: i, unit: measurement}
		u := units[unitKey(measurement)]
		switch {
		case u.to == "°C" && !other:
			x.field = rimewatch.ProductZoneTemp
		case u.to == "%RH" && strings.Contains(l.name, "batter"):
			x.battery = true
		case u.to == "%RH" && strings.Contains(l.name, "humid") && !other:
			x.field = rimewatch.Humidity
		case u.to == "ppm" && strings.Contains(l.name, "co2") || strings.Contains(l.name, "carbondioxide"):
			x.field, x.unit = rimewatch.CO2, ""
		case u.to == "W" && !other:
			x.field = rimewatch.Power
		case u.to == "A" && !other:
			x.field = rimewatch.AmpDraw
		case u.to == "V" && unitKey(measurement) == "v" && !other:
			x.field = rimewatch.Voltage
		case u.to == "kWh" && !other:
			x.field = rimewatch.Energy
		default:
			continue
		}
		s.steps = append(s.steps, x)
	}
}

// named reads fields by their names, as recognise does.
func (s *series) named(found []leaf) {
	var r Reading
	recognise(found, map[string]bool{}, &r)
	for _, f := range r.Fields {
		i := at(found, f.Expression)
		if i < 0 {
			s.unclear = append(s.unclear, f)
			continue
		}
		x := step{i: i, unit: found[i].unit}
		var ok bool
		if x.field, ok = rimewatch.FieldByName(f.Name); !ok {
			x.flag, x.isFlag = rimewatch.FlagByName(f.Name)
		} else if !x.field.IsTemperature() {
			x.unit = ""
		}
		s.steps = append(s.steps, x)
	}
	if l, _ := wantBattery.find(found, percent); l != nil {
		s.steps = append(s.steps, step{i: at(found, l.path), battery: true})
	}
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

// theirs is what the library says of a line, without where in it: it is decoded alone.
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
