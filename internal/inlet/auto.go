package inlet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Bounds of the search for members by their names.
const (
	autoDepth  = 6
	autoLeaves = 500
)

// leaf is a number, text or truth somewhere in an object.
type leaf struct {
	path  string // an expression that returns it
	key   string // as the sender wrote it
	name  string // squeezed: lower case, letters and digits only
	depth int
	value any
	unit  string // that its name or its neighbour says
}

// leaves returns what is in v, in the order of the names, so that the same
// payload is always read the same way.
func leaves(path string, v any) []leaf {
	w := leafWalk{}
	w.walk(leaf{path: path}, v)
	return w.found
}

type leafWalk struct{ found []leaf }

// walk visits v, which is where at says.
func (w *leafWalk) walk(at leaf, v any) {
	if at.depth > autoDepth || len(w.found) >= autoLeaves {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		unit := cmp.Or(unitOf(v), at.unit)
		name, value := namedValue(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key := k
			switch text, _ := v[name].(string); {
			case k == "history", // readings of their own, with times of their own
				k == name && quantity(text):
				continue
			case k == value && name != "":
				key = text
			case at.key != "" && k == value:
				key = at.key
			case at.key != "" && strings.Trim(k, "0123456789") == "": // a channel's number
				key = at.key + k
			}
			w.walk(leaf{path: member(at.path, k), key: key, depth: at.depth + 1, unit: unit}, v[k])
		}
	case []any:
		for i, x := range v[:min(len(v), 16)] {
			w.walk(leaf{path: fmt.Sprintf("%s[%d]", at.path, i), key: at.key, depth: at.depth + 1, unit: at.unit}, x)
		}
	case nil:
	default:
		at.name, at.value = squeeze(at.key), v
		at.unit = cmp.Or(unitInName(at.key), at.unit)
		w.found = append(w.found, at)
	}
}

// namedValue returns which members of an object hold a value and the name of what was
// measured: {"name": "temperature", "value": 3.5} is a temperature. value alone is named
// by the object that it stands in: {"temperature": {"value": 3.5}}. "" = there is none.
func namedValue(object map[string]any) (name, value string) {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		switch squeeze(k) {
		case "value", "v", "val", "aval", "datavalue":
			if value != "" {
				return "", "" // which of them?
			}
			value = k
		case "name", "n", "type", "variable", "attribute", "quantity", "parameter", "property", "measurement", "datatype", "kind":
			if text, _ := object[k].(string); name == "" && (quantity(text) || plainly(text, measured)) {
				name = k
			}
		}
	}
	if value == "" {
		return "", ""
	}
	return name, value
}

// quantity reports whether a text is the name of something that sensors measure, and
// nothing else.
func quantity(text string) bool {
	name := squeeze(text)
	_, own := rimewatch.FieldByName(text)
	return own || slices.ContainsFunc(quantities, func(q wantedField) bool { return q.want.has(name) })
}

// member returns the expression of a member: with a dot where its name allows.
func member(path, key string) string {
	plain := key != "" && !slices.Contains([]string{"in", "not", "or", "and", "let", "if", "else", "true", "false", "nil", "matches", "contains", "startsWith", "endsWith"}, key)
	for i, c := range key {
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return path + "." + key
	}
	return fmt.Sprintf("%s[%q]", path, key)
}

func squeeze(key string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		default:
			return -1
		}
	}, key)
}

// unitInName returns the unit of temperature that a name ends with: temp_f,
// tempF, temperatureFahrenheit.
func unitInName(key string) string {
	for _, u := range []struct{ end, unit string }{{"fahrenheit", "F"}, {"celsius", "C"}, {"kelvin", "K"}} {
		if strings.HasSuffix(strings.ToLower(key), u.end) {
			return u.unit
		}
	}
	n := len(key)
	if n < 2 || !strings.Contains(strings.ToLower(key), "t") {
		return ""
	}
	if c := key[n-1]; (c == 'F' || c == 'C') && (key[n-2] == '_' || key[n-2] >= 'a' && key[n-2] <= 'z') ||
		(c == 'f' || c == 'c') && (key[n-2] == '_' || strings.HasSuffix(strings.ToLower(key[:n-1]), "temp")) {
		return strings.ToUpper(string(c))
	}
	return ""
}

// unitOf returns the unit of temperature that an object names for its members.
func unitOf(object map[string]any) string {
	for _, names := range []string{"temperatureunit temperatureunits tempunit tempunits temperaturescale tempscale", "unitofmeasurement unit units uom unitcode u scale"} {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			text, _ := object[key].(string)
			if text == "" || !slices.Contains(strings.Fields(names), squeeze(key)) {
				continue
			}
			if u, ok := units[unitKey(text)]; ok && u.to == "°C" {
				return text
			}
		}
	}
	return ""
}

// withoutUnit returns a name without the unit of temperature at its end.
func withoutUnit(key string) string {
	unit := unitInName(key)
	if unit == "" {
		return key
	}
	for _, end := range []string{"fahrenheit", "celsius", "kelvin", strings.ToLower(unit)} {
		if strings.HasSuffix(strings.ToLower(key), end) {
			return strings.TrimRight(key[:len(key)-len(end)], "_- ")
		}
	}
	return key
}

// wanted lists the names by which a value is recognized: the first tier of which one
// is present decides; last come names that plainly say one of the stems.
type wanted struct {
	tiers []string // exact squeezed names, separated by blanks
	stems string   // separated by blanks, the longer before those that they begin with
}

var (
	wantTemperature = wanted{[]string{"temperature temp tem tempc temperaturec tempf temperaturef tempcelsius temperaturecelsius tempfahrenheit temperaturefahrenheit", "airtemperature airtemp", "probetemperature probetemp externaltemperature exttemp tempext temppt1000 temperaturept1000"}, "temperature temperatura temperatur temprature temp"}
	wantHumidity    = wanted{[]string{"humidity hum rh relativehumidity relhumidity humidityrh relhum", "airhumidity ambienthumidity sensorhumidity"}, "humidity humid"}
	wantCO2         = wanted{[]string{"co2 co2ppm co2concentration carbondioxide"}, ""}
	wantBattery     = wanted{[]string{"batterypct batterypercent batterypercentage batterylevel batterysoc", "battery batt bat rembattcapacity"}, ""}
	wantRSSI        = wanted{[]string{"rssi rssidbm loracrssi lorarssi"}, ""}
	wantFirmware    = wanted{[]string{"firmwareversion firmware fwversion swversion fwver"}, ""}
	wantID          = wanted{[]string{"deviceserial serial serialnumber hardwareserial", "deveui deviceeui eui deviceid devid sensorid imei coreid", "ieeeaddr mac macaddress devicemac address", "device sn id sensor", "name devicename"}, ""}
	wantTime        = wanted{[]string{"recordedat", "timestamp ts", "time datetime measuredat reportedat observedat dateobserved timeofsample"}, ""}
)

// wantedField is a measurement that others' names are recognised of.
type wantedField struct {
	field rimewatch.Field
	want  *wanted
}

var quantities = []wantedField{{rimewatch.ProductZoneTemp, &wantTemperature}, {rimewatch.Humidity, &wantHumidity}, {rimewatch.CO2, &wantCO2}}

// measured are the stems of what a sensor is there to measure.
var measured = strings.Fields(wantTemperature.stems + " " + wantHumidity.stems)

// wantSensor are the names of what tells a sensor from all others: those of wantID that
// cannot as well be a message's.
var wantSensor = wanted{tiers: wantID.tiers[:3]}

// otherWords mark names of a temperature or a humidity that is not what the
// sensor is there to measure.
var otherWords = []string{
	"target", "setpoint", "setting", "threshold", "alarm", "alert", "warning", "min", "max", "limit", "offset", "calib", "unit", "mode", "control", "ctl",
	"abnormal", "status", "state", "error", "fault", "raw", "internal", "electronics", "device", "cpu", "chip", "board", "core", "soc", "mcu", "battery", "baro",
	"co2sensor", "head", "dew", "feel", "heatindex", "delta", "diff", "average", "avg", "trend", "count", "attempt", "template", "tempo", "contempt", "resistance", "soilmoisture",
	"interval", "enable", "change", "mutation", "setup",
}

// circuitWords mark names of what is measured elsewhere in the unit.
var circuitWords = []string{"discharge", "suction", "condenser", "evap", "coil", "defrost", "liquid", "ambientair"}

// ownName reports whether a field's name is this service's own and means nothing else elsewhere.
// Voltage, power and energy do: a sensor's voltage is mostly that of its battery.
func ownName(f rimewatch.Field) bool {
	switch f {
	case rimewatch.Voltage, rimewatch.Power, rimewatch.Energy, rimewatch.Humidity, rimewatch.CO2:
		return false
	default:
		return true
	}
}

// find returns the leaf that is meant. When several could be, it returns why none
// is taken; when there is none, nil and no reason.
func (want wanted) find(all []leaf, fits func(*leaf) bool) (*leaf, string) {
	for _, tier := range want.tiers {
		names := strings.Fields(tier)
		found := pick(all, func(l *leaf) bool { return slices.Contains(names, l.name) && fits(l) })
		if len(found) > 0 {
			return only(found)
		}
	}
	stems := strings.Fields(want.stems)
	return only(pick(all, func(l *leaf) bool { return fits(l) && plainly(l.key, stems) }))
}

// named returns a leaf that is called exactly as what is meant, whatever it holds;
// nil = there is none.
func (want wanted) named(all []leaf) *leaf {
	for _, tier := range want.tiers {
		names := strings.Fields(tier)
		for i := range all {
			if slices.Contains(names, all[i].name) {
				return &all[i]
			}
		}
	}
	return nil
}

// has reports whether a squeezed name is one of those.
func (want wanted) has(name string) bool {
	return slices.ContainsFunc(want.tiers, func(tier string) bool { return slices.Contains(strings.Fields(tier), name) })
}

func pick(all []leaf, fits func(*leaf) bool) (found []*leaf) {
	for i := range all {
		if fits(&all[i]) {
			found = append(found, &all[i])
		}
	}
	return found
}

// only returns the single leaf, the one nearest to the top, or of twins in two
// units the one in °C.
func only(found []*leaf) (*leaf, string) {
	if len(found) == 0 {
		return nil, ""
	}
	top := slices.MinFunc(found, func(a, b *leaf) int { return a.depth - b.depth }).depth
	found = slices.DeleteFunc(found, func(l *leaf) bool { return l.depth > top })
	if len(found) == 2 {
		switch a, b := unitKey(found[0].unit), unitKey(found[1].unit); {
		case a == "c" && b == "f", a == "" && b == "f":
			return found[0], ""
		case a == "f" && b == "c", a == "f" && b == "":
			return found[1], ""
		}
	}
	if len(found) > 1 {
		return nil, reason(fail("is ambiguous: %s and %s; say which by a binding", clip(found[0].path, 60), clip(found[1].path, 60)))
	}
	return found[0], ""
}

func numeric(l *leaf) bool {
	_, _, err := number(l.value)
	return err == nil
}

// near reports whether a leaf may say what a whole payload is about.
func near(l *leaf) bool {
	if l.depth > 3 {
		return false
	}
	switch v := l.value.(type) {
	case string:
		return v != "" && len(v) <= 128
	case float64:
		return true
	default:
		return false
	}
}

func percent(l *leaf) bool {
	v, unit, err := number(l.value)
	return err == nil && v == float64(int(v)) && v >= 0 && v <= 100 && (unit == "" || unit == "%")
}

// level reports whether a leaf is a share of a battery's charge. A bare "battery" of 5 and
// less is as likely one of a few levels or its voltage, and 4 % would wake somebody.
func level(l *leaf) bool {
	v, unit, _ := number(l.value)
	bare := l.name == "battery" || l.name == "batt" || l.name == "bat"
	return percent(l) && (v > 5 || unit != "" || !bare)
}

func signal(l *leaf) bool {
	v, _, err := number(l.value)
	return err == nil && v < 0 && v > -200
}
