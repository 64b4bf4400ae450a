package inlet

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is a quantity or a state that a name can say.
type kind uint8

const (
	noKind kind = iota
	temperature
	humidity
	door
	contact // of a door: closed while it is true
	compressor
	defrost
	evaporator // in a name with a temperature
	// The words beside them.
	general  // beside: where and by what, or nothing at all
	sensing  // beside: a probe, which goes before what its housing measures
	doubtful // a name that says no unit may mean something else
	another  // something else, whatever the unit: a setting, a statistic, the electronics
	unitC
	unitF
	unitK
	tenth // a value counts tenths of its unit, or smaller parts
	hundredth
	thousandth
)

// vocabulary are the words of names with their meanings. Any other word says where a
// sensor is: it is the name of a place.
var vocabulary = func() map[string]kind {
	list := map[kind]string{
		temperature: "temperature temp tem temps temperatures temperatura temperatur temperatuur temprature température температура 温度", //nolint:misspell // Dutch
		humidity:    "humidity humid hum rh humidité humedad feuchte luftfeuchtigkeit влажность 湿度",
		door:        "door doors opening lid",
		contact:     "contact",
		compressor:  "compressor",
		defrost:     "defrost defrosting",
		evaporator:  "evaporator evap",
		sensing:     "probe probes external ext remote ds product food current actual measured body",
		general: `sensor ch chn channel input to pt thermocouple tc ntc rtd sht dht bme aht hdc htu val value data reading deg degc degf degree degrees
			air ambient room indoor inside inner outer soil water surface relative rel percent pct now si us
			zone cold cool cooler cooling chill chiller chilled fridge fridges refrigerator refrigerated refrigeration freezer freezers frozen ice walk walkin reach display
			cabinet case box chamber container tank vat shelf rack store storage warehouse truck kitchen bar shop cellar pantry drawer chest mini deep
			fish meat dairy milk beer wine salad deli produce vegetable fruit flower floral vaccine pharmacy
			back front left right top bottom upper lower middle main side inlet`,
		doubtful: `set sp high low hi lo head core state status mode index rate change raw unit units report interval resolution accuracy uncertainty quality valid ok
			id idx type version seq flag flags bit bits count counter timestamp time mean median sd std stdev dev trend slope gradient delta diff difference previous prev last forecast
			weather module gateway radio modem lora node device internal electronics battery batt batts board motor fan inverter outside outdoor supply return flow oil gas ir ph ec
			wet windchill compensation baro barometer barometric control ctl report absolute abs deadband error err fault failure
			sensorfailure attempt attempts setup enable enabled mutation abnormal line heat co resistance moisture day hours hour seconds`,
		another: `setpoint target desired setting settings threshold limit limits alarm alarms alert alerts warning hysteresis offset calib calibration
			min max minimum maximum avg average cpu mcu chip soc psu pcb gpu heatsink dew dewpoint feels feel apparent heatindex wetbulb
			condenser condensing discharge suction liquid coil`,
		unitC: "c celsius celcius centigrade", //nolint:misspell // as some spell it
		unitF: "f fahrenheit",
		unitK: "k kelvin",
		tenth: "tenth tenths deci decidegrees decicelsius", hundredth: "hundredth hundredths centi centidegrees centicelsius",
		thousandth: "thousandth thousandths milli millidegrees millicelsius",
	}
	out := make(map[string]kind)
	for k, names := range list {
		for w := range strings.FieldsSeq(names) {
			out[w] = k
		}
	}
	return out
}()

// stems are the words that stand in a name without a sign between them and the next:
// tempc, exttemp.
var stems = []string{"temperature", "temp", "humidity", "humid"}

// name is the meaning of a name.
type name struct {
	kind kind
	unit string // C, F or K, "" = it says none
	// rest are its words that tell it from others of its kind, such as "2" of temp_2.
	rest string
	// plain is true when nothing but a number stands beside its kind; known, when every
	// word beside it is of the vocabulary; probe, when it says that it is one; coil, when
	// it is the evaporator's.
	plain, known, probe, coil bool
	not                       kind // doubtful or another: what makes another quantity of it
	last                      kind // of its last word
	letter                    bool // which is a unit's letter where no unit was expected
	channel                   bool // a word that names a sensor only with a number
	set                       bool // the last word is "set"
	parts                     kind // of its unit that it counts: tenth and smaller
}

// read finds the meaning of a name. Its words end at signs, digits and capitals.
func read(key string) (n name) {
	n.plain, n.known = true, true
	eachWord(key, func(w string) {
		k, ok := vocabulary[w]
		if !ok {
			if parts := glued(w); parts[0] != "" {
				n.word(parts[0], vocabulary[parts[0]])
				n.word(parts[1], vocabulary[parts[1]])
				return
			}
			k = noKind
		}
		n.word(w, k)
	})
	if n.channel && !strings.ContainsAny(key, "0123456789") { // it says which one, and is none
		n.not = max(n.not, doubtful)
	}
	if n.letter && n.kind == temperature { // walk_in_temperature_f
		n.unit = strings.ToUpper(n.rest[len(n.rest)-1:])
		n.rest = strings.TrimSuffix(n.rest[:len(n.rest)-1], "_")
	}
	if n.parts != noKind && defaultUnit[n.kind] != "" {
		n.unit = partsOf[n.parts] + cmp.Or(n.unit, defaultUnit[n.kind])
	}
	return n
}

// partsOf are what stands before a unit for parts of it, and defaultUnit in what a kind is that
// names no unit.
var (
	partsOf     = map[kind]string{tenth: "deci", hundredth: "centi", thousandth: "milli"}
	defaultUnit = map[kind]string{temperature: "C", humidity: "%"}
)

func (n *name) word(w string, k kind) {
	after := n.last
	n.last, n.letter = k, false
	if w == "point" && n.set { // two words for one
		k = another
	}
	n.set = w == "set"
	switch k {
	case temperature, humidity:
		switch n.kind { // the last word is what it is, of what the others say
		case evaporator:
			n.coil = true
		case compressor, defrost:
			n.not = another
		case noKind, temperature:
		default:
			n.plain = false
		}
		n.kind = k
		return
	case door, contact, compressor, defrost, evaporator:
		n.plain = false
		switch {
		case n.kind == noKind || n.kind == door:
			n.kind = k
			return
		case n.kind == temperature && k == evaporator:
			n.coil = true
		case n.kind == temperature && k != door:
			n.not = another
		}
	case unitC, unitF, unitK:
		if len(w) > 1 || after == temperature {
			n.unit = string("CFK"[k-unitC])
			return
		}
		n.letter = true
	case tenth, hundredth, thousandth:
		n.parts = k
		return
	case doubtful, another:
		n.not = max(n.not, k)
	case sensing:
		n.probe = true
	case general:
		n.plain = n.plain && slices.Contains(silent[1:], w)
		n.channel = n.channel || slices.Contains(channels, w)
	case noKind:
		number := w[0] >= '0' && w[0] <= '9'
		n.known, n.plain = n.known && number, n.plain && number
	}
	if !(k == general && slices.Contains(silent, w)) {
		n.plain = n.plain && k == noKind
		if n.rest != "" {
			n.rest += "_"
		}
		n.rest += w
	}
}

// channels are words that name a sensor only with a number: channel1 is one of several,
// channel returns which one it was.
var channels = []string{"channel", "chn", "ch", "input"}

// silent are the general words that tell no sensor from another.
var silent = []string{"sensor", "val", "value", "data", "reading", "deg", "degc", "degf", "degree", "degrees", "relative", "rel", "percent", "pct", "now", "si", "us"}

// glued takes a word apart that begins or ends with a stem, where the other part is a
// word of the vocabulary, too: "template" is not a temperature.
func glued(w string) (parts [2]string) {
	for _, s := range stems {
		if before, ok := strings.CutSuffix(w, s); ok && vocabulary[before] != noKind {
			return [2]string{before, s}
		}
		if after, ok := strings.CutPrefix(w, s); ok && vocabulary[after] != noKind {
			return [2]string{s, after}
		}
	}
	return parts
}

// eachWord calls f with the words of a name in lower case.
func eachWord(key string, f func(word string)) {
	const (
		sign = iota
		digit
		lower
		upper
	)
	class := func(c rune) int {
		switch {
		case c >= '0' && c <= '9':
			return digit
		case unicode.IsUpper(c):
			return upper
		case unicode.IsLetter(c):
			return lower
		default:
			return sign
		}
	}
	begin, was := 0, sign
	end := func(at int) {
		if at > begin && was != sign {
			f(strings.ToLower(key[begin:at]))
		}
		begin = at
	}
	for i, c := range key {
		is := class(c)
		switch {
		case is == was:
		case was == upper && is == lower: // the capital is the word's, unless it is its first letter alone
			_, size := utf8.DecodeLastRuneInString(key[:i])
			if i-size > begin {
				at := i - size
				was = upper
				end(at)
			}
		default:
			end(i)
		}
		was = is
	}
	end(len(key))
}

// squeeze returns a name in lower case, letters and digits alone.
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
