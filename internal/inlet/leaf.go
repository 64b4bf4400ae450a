package inlet

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Bounds of the search for members by their names.
const (
	autoDepth  = 7
	autoLeaves = 500
	autoList   = 256 // elements of a list
)

// leaf is a number, text or truth somewhere in an object.
type leaf struct {
	path     string // an expression that returns it
	key      string // as the sender wrote it
	squeezed string // its key: lower case, letters and digits only
	name            // by the key
	depth    int
	value    any
	unit     string // that its text, its name or its neighbour says
	measured bool   // the unit is the value's own, or the neighbour's of this value alone
	scaled   bool   // an integer in unknown fractions of a unit
	inProbe  bool   // the object around it is called a probe
	listed   bool   // an element of a list
	inList   bool   // that, or of one
	// where are the names of the objects around it, without those that only wrap, and
	// address what the nearest of them calls itself: a number, a bus address.
	where, address string
	// place is its place in a list, and label what the object around it is called by people.
	place, label string
}

// leaves returns the leaves of v, in the order of the names, so that the same
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
		w.object(at, v)
	case []any:
		for i, x := range v[:min(len(v), autoList)] {
			in := leaf{path: at.path + "[" + strconv.Itoa(i) + "]", key: at.key, depth: at.depth + 1, unit: at.unit, where: at.where, address: at.address, label: at.label, place: at.place, inProbe: at.inProbe, listed: true, inList: true}
			if len(v) > 1 {
				in.place = fmt.Sprintf("%d of %d", i+1, len(v))
			}
			w.walk(in, x)
		}
	case nil:
	default:
		at.squeezed, at.name, at.value = squeeze(at.key), read(at.key), v
		if own := at.ownUnit(); own != "" {
			at.unit, at.measured = own, at.measured || own != at.name.unit
		}
		w.found = append(w.found, at)
	}
}

// ownUnit returns the unit that the value's text or its name says.
func (l *leaf) ownUnit() string {
	if text, ok := l.value.(string); ok {
		if _, unit, err := textNumber(text); err == nil && unit != "" {
			return unit
		}
	}
	if strings.ContainsAny(l.key, "°º℃℉") {
		if sign := headingUnit.FindString(l.key); sign != "" {
			return strings.Trim(sign, "()[] ")
		}
	}
	return l.name.unit
}

func (w *leafWalk) object(at leaf, v map[string]any) {
	keys := slices.Sorted(maps.Keys(v))
	unit := unitOf(v, keys)
	name, value := namedValue(v, keys)
	address, label := addressOf(v, keys, name, at.listed || tells(at.key))
	if at.depth == 0 {
		address, label = "", "" // the whole payload's
	}
	if address != "" {
		at.where = ""
	}
	numbers, named := 0, false
	for _, k := range keys {
		if _, ok := v[k].(float64); ok {
			numbers++
		}
		named = named || unit != "" && read(k).kind == temperature
	}
	for _, k := range keys {
		in := leaf{path: member(at.path, k), key: k, depth: at.depth + 1, unit: cmp.Or(unit, at.unit), where: at.where, place: at.place, inProbe: at.inProbe, inList: at.inList,
			address: cmp.Or(address, at.address), label: cmp.Or(label, at.label)}
		if its := pairedUnit(v, k); its != "" {
			in.unit = its
		}
		_, isNumber := v[k].(float64)
		in.measured = pairedUnit(v, k) != "" || unit != "" && (k == value || numbers == 1 && isNumber && !named && read(k).not == noKind)
		switch text := shortText(v[name]); {
		case k == "history", // readings of their own, with times of their own
			k == name && (quantity(text) || squeeze(k) == "code"):
			continue
		case k == value && name != "":
			in.key = cmp.Or(senseCAP[text], text)
			in.scaled = squeeze(name) == "code"
		case at.key != "" && k == value:
			in.key = at.key
		case slices.Contains(unitNames, k) && read(at.key).kind != noKind: // {"temp": {"c": 3.5, "f": 38.3}}
			in.key = at.key + "_" + k
		case at.key != "" && isNumbered(k): // a channel's
			in.key = at.key + k
		}
		switch v[k].(type) {
		case map[string]any, []any:
			if in.measured = false; tells(k) || isNumbered(k) && at.depth > 0 {
				in.where = strings.TrimPrefix(in.where+"/"+k, "/")
			}
			in.inProbe = in.inProbe || read(k).probe
		}
		w.walk(in, v[k])
	}
}

// unitNames are members that are named after the unit of the object around them.
var unitNames = []string{"c", "f", "k", "C", "F", "K", "celsius", "fahrenheit", "kelvin"}

// senseCAP are SenseCAP's numbers of measurements.
var senseCAP = map[string]string{"4097": "air temperature", "4098": "air humidity", "4102": "soil temperature"}

// wrappers are names of objects that only wrap others.
var wrappers = strings.Fields(`data value values val payload object decoded reading readings measurement measurements sensor sensors state reported result results status attributes fields
	params body uplink uplinkmessage decodedpayload normalizedpayload payloadfields message messages telemetry context event properties air list items params environment env metrics desired shadow current`)

// tells reports whether the name of an object tells what is in it from others: not what
// wraps or says what is measured, and not what changes from one message to the next.
func tells(key string) bool {
	n := read(key)
	if n.plain || n.kind != noKind && n.rest == "" || slices.Contains(wrappers, squeeze(key)) {
		return false
	}
	digits := 0
	for _, c := range key {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits > 3 {
			return false
		}
	}
	return true
}

// isNumbered reports whether a member is called by a number.
func isNumbered(key string) bool {
	return key != "" && len(key) < 3 && strings.Trim(key, "0123456789") == ""
}

// addresses are the names of what tells sensors of one board or bus from one another, and
// so are numbers and ids of numbered things; labels are what people call them.
var (
	numbered  = strings.Fields("node unit sensor probe module board rack shelf tank cabinet slot box input bus pin asset transmitter logger point position terminal station device tag meter cooler freezer fridge zone compartment circuit")
	numbers   = strings.Fields("id no nr num number addr address code")
	bare      = strings.Fields("node slot shelf rack board module compartment circuit input")
	addresses = strings.Fields("id address addr rom romid mac serial sensorid probeid channel ch port number slave slaveid endpoint")
	labels    = strings.Fields("name label tag sensorname probe location position point sensor zone room cabinet cooler freezer fridge section place")
)

// isAddress reports whether a member with that squeezed name tells sensors apart by a number
// or an id.
func isAddress(name string, value any) bool {
	if slices.Contains(addresses, name) {
		return true
	}
	n, isNumber := value.(float64)
	if _, is := truth(value); is && !isNumber || isNumber && n != math.Trunc(n) {
		return false
	}
	for _, end := range numbers {
		if of, ok := strings.CutSuffix(name, end); ok && slices.Contains(numbered, of) {
			return true
		}
	}
	return slices.Contains(bare, name)
}

// addressOf returns an object's own address, besides its measurements. owns is
// false for one that only wraps, whose id may be the message's.
func addressOf(v map[string]any, keys []string, named string, owns bool) (address, label string) {
	for _, k := range keys {
		if k == named {
			continue
		}
		text := shortText(v[k])
		if text == "" {
			continue
		}
		s := squeeze(k)
		if address == "" && isAddress(s, v[k]) && (owns || s != "id") {
			address = text
		} else if slices.Contains(labels, s) && label == "" && !quantity(text) {
			label = text
		}
	}
	return address, label
}

// shortText returns a name: a short text, or a number as it is written.
func shortText(v any) string {
	switch v := v.(type) {
	case string:
		if v = strings.TrimSpace(v); len(v) <= 64 {
			return v
		}
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// namedValue returns which members of an object hold a value and the name of what was
// measured: {"name": "temperature", "value": 3.5} is a temperature. value alone is named
// by the object that it stands in: {"temperature": {"value": 3.5}}. "" = there is none.
func namedValue(object map[string]any, keys []string) (name, value string) {
	for _, k := range keys {
		switch squeeze(k) {
		case "data": // of an event, where it is a value
			if _, _, err := number(object[k]); err == nil && value == "" {
				value = k
			}
		case "value", "v", "val", "aval", "datavalue", "measurementvalue", "state":
			if value != "" && squeeze(k) != "state" {
				return "", "" // which of them?
			}
			if value == "" {
				value = k
			}
		case "name", "n", "type", "field", "key", "metric", "param", "sensortype", "variable", "attribute", "quantity", "parameter", "property", "measurement", "datatype", "kind", "code", "measurementid", "deviceclass", "event":
			text := shortText(object[k])
			if n := read(text); name == "" && (quantity(text) || n.kind == temperature && n.not == noKind || n.kind == humidity || n.known && n.not == another || senseCAP[text] != "") {
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
	_, own := rimewatch.FieldByName(text)
	n := read(text)
	return own || n.plain && (n.kind == temperature || n.kind == humidity) || wantCO2.has(squeeze(text))
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
	return path + "[" + strconv.Quote(key) + "]"
}

// pairedUnit returns the unit that stands beside a value under the same name: si_unit of
// si_value.
func pairedUnit(object map[string]any, key string) string {
	before, ok := strings.CutSuffix(squeeze(key), "value")
	if !ok || before == "" {
		return ""
	}
	for k, v := range object {
		if s := squeeze(k); s == before+"unit" || s == before+"units" {
			text, _ := v.(string)
			if _, known := units[unitKey(text)]; known {
				return text
			}
		}
	}
	return ""
}

// unitOf returns the unit of temperature or humidity that an object names for its
// members.
func unitOf(object map[string]any, keys []string) string {
	for _, names := range [...]string{" temperatureunit temperatureunits tempunit tempunits temperaturescale tempscale ", " unitofmeasurement unitofmeasurementstr unitofmeas unit units physicalunit uom unitcode u scale "} {
		for _, key := range keys {
			text, _ := object[key].(string)
			if text == "" || !strings.Contains(names, " "+squeeze(key)+" ") {
				continue
			}
			if u, ok := units[unitKey(text)]; ok && (u.to == "°C" || u.to == "%RH") {
				return text
			}
		}
	}
	return ""
}

// withoutUnit returns a name without the unit of temperature at its end.
func withoutUnit(key string) string {
	for _, end := range []string{"_fahrenheit", "_celsius", "_kelvin", "_f", "_c", "_k"} {
		if before, ok := strings.CutSuffix(key, end); ok {
			return before
		}
	}
	return key
}

// wanted lists the names by which a value is recognised: the first tier of which one is
// present decides.
type wanted struct{ tiers []string } // exact squeezed names, separated by blanks

var (
	wantCO2 = wanted{[]string{"co2 co2ppm co2concentration carbondioxide"}}
	wantID  = wanted{[]string{"deviceserial serial serialnumber serialno sensorsn hardwareserial", "deveui deviceeui eui deviceid devid imei coreid", "sensorid", "ieeeaddr mac macaddress devicemac address", "device", "channelid", "sn", "id uid", "sensor", "name devicename"}}
	// wantGateway are the names of what brings the messages of sensors that have none of their own.
	wantGateway = wanted{[]string{"gatewayid gwid gatewaymac gwmac", "gateway hub hubid controller basestation"}}
	wantTime    = wanted{[]string{"recordedat", "timestamp ts", "time datetime eventtime measuredat reportedat observedat dateobserved timeofsample publishedat when", "observed", "lastupdated lastseen"}}
	// wantSensor are the names of what tells a sensor from all others: those of wantID
	// that cannot as well be a message's.
	wantSensor = wanted{wantID.tiers[:4]}
	// wantDevice are those that a gateway beside it does not have.
	wantDevice = wanted{wantID.tiers[:3]}
)

// find returns the leaf that is meant: the one nearest to the top; nil when there is
// none or several could be.
func (want wanted) find(all []leaf, fits func(*leaf) bool) *leaf {
	for _, tier := range want.tiers {
		var found *leaf
		several := false
		for i := range all {
			l := &all[i]
			if !oneOf(tier, l.squeezed) || !fits(l) {
				continue
			}
			if found == nil || l.depth < found.depth {
				found, several = l, false
			} else if l.depth == found.depth {
				several = true
			}
		}
		if several {
			return nil
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// has reports whether a squeezed name is one of those.
func (want wanted) has(name string) bool {
	return slices.ContainsFunc(want.tiers, func(tier string) bool { return oneOf(tier, name) })
}

// oneOf reports whether a word is in a list of words between blanks.
func oneOf(list, word string) bool {
	for at := 0; word != ""; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || list[from-1] == ' ') && (to == len(list) || list[to] == ' ') {
			return true
		}
		at = to
	}
	return false
}

func numeric(l *leaf) bool {
	_, _, err := number(l.value)
	return err == nil
}

// near reports whether a leaf may name the subject of a whole payload.
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
