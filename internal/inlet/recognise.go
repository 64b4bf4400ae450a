package inlet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// sensor is one temperature of a board, with the other measurements of the same place.
type sensor struct {
	local      string // its name within the board; "" = it is the only one
	path       string // of the temperature
	key, label string // of it, and its name for people
	reading    Reading

	temp, humidity *leaf
}

// senses are the recognised leaves of a payload, or of a part of it.
type senses struct {
	sensors []sensor // one or several, none of which goes before the others
	lower   []sensor // those that others go before
	board   Reading  // everything else: of the board as a whole
	scaled  bool     // integers without a unit count in small parts of one
	whole   string   // the part of the sender that this is, where the sender is bound as a whole
}

// recognise finds the measurements of leaves: their units decide the quantity, their names
// which. done are the measurements and observations that rules have read.
func recognise(found []leaf, done map[string]bool) (s senses) {
	r := &s.board
	for i := range found {
		r.own(&found[i], done)
	}
	for i := range found {
		r.state(&found[i], done)
	}
	s.scaled = scaledIntegers(found)
	if !done[rimewatch.ProductZoneTemp.String()] {
		s.temperatures(found, hasOwnTemperature(done))
	}
	if !done[rimewatch.Humidity.String()] {
		s.humidities(found)
	}
	if l := wantCO2.find(found, numeric); l != nil && !done[rimewatch.CO2.String()] {
		r.take(rimewatch.CO2, l)
	}
	for i := range s.lower {
		s.lower[i].reading.take(rimewatch.ProductZoneTemp, s.lower[i].temp)
	}
	for i := range s.sensors {
		x := &s.sensors[i]
		x.reading.take(rimewatch.ProductZoneTemp, x.temp)
		if x.humidity != nil {
			x.reading.take(rimewatch.Humidity, x.humidity)
		}
	}
	return s
}

// own takes what has this service's own name, or says that it is of the evaporator.
func (r *Reading) own(l *leaf, done map[string]bool) {
	f, ok := rimewatch.FieldByName(withoutUnit(l.key))
	if ok = ok && ownName(f); !ok && l.coil && l.not == noKind && l.kind == temperature && numeric(l) {
		f, ok = rimewatch.FieldByName("evaporator_" + stems[1])
	}
	if ok && !done[f.String()] {
		r.take(f, l)
		done[f.String()] = true // whatever it holds: another value is not what it was to be
	}
}

// state takes a yes or no of a door, a compressor or a defrost.
func (r *Reading) state(l *leaf, done map[string]bool) {
	x, ok := rimewatch.FlagByName(l.key)
	yes, is := truth(l.value)
	if !ok {
		if !is || l.not > doubtful || !stateful(l) {
			return
		}
		switch l.kind {
		case door:
			x = rimewatch.DoorOpen
			yes = yes != l.closes() // "doorClosed": true
		case contact:
			x = rimewatch.DoorOpen
			if text, _ := l.value.(string); !strings.HasPrefix(strings.ToLower(text), "open") && !strings.HasPrefix(strings.ToLower(text), "clos") {
				yes = !yes
			}
		case compressor:
			x = rimewatch.CompressorOn
		case defrost:
			x = rimewatch.DefrostActive
		default:
			return
		}
	}
	if done[x.String()] {
		return
	}
	done[x.String()] = true
	f := Field{Name: x.String(), Expression: l.path, Found: l.value, Sent: true}
	if is {
		r.Reading.Flags = r.Reading.Flags.WithBool(x, yes)
	} else {
		f.Problem = neither()
	}
	r.Fields = append(r.Fields, f)
}

// closes reports whether a name says that a door is closed while its value is true. A value
// that is open or closed itself is the state of the door.
func (l *leaf) closes() bool {
	if text := wordOf(l.value); strings.HasPrefix(text, "open") || strings.HasPrefix(text, "clos") {
		return false
	}
	return slices.ContainsFunc(strings.Split(l.rest, "_"), func(w string) bool { return w == "closed" || w == "shut" })
}

// stateful reports whether a name that says a door, a compressor or a defrost says its
// state, and not a count or a fault of it: a bare number needs a word for that.
func stateful(l *leaf) bool {
	says := false
	for w := range strings.SplitSeq(l.rest, "_") {
		switch w {
		case "open", "opened", "state", "status", "on", "active", "running", "closed", "shut", "is", "sensor", "magnet":
			says = true
		case "", "contact":
		default:
			if vocabulary[w] == doubtful {
				return false
			}
		}
	}
	_, bare := l.value.(float64)
	return says || !bare
}

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

// isTemperature reports whether a leaf is a temperature: its unit says so, or its name
// does and no unit says otherwise.
func (l *leaf) isTemperature() bool {
	u, ok := units[unitKey(l.unit)]
	switch {
	case ok && l.measured:
		return u.to == "°C"
	case l.measured && l.unit != "":
		return false
	default:
		return l.kind == temperature
	}
}

func (l *leaf) isHumidity() bool {
	u, ok := units[unitKey(l.unit)]
	if ok && l.measured && u.to != "%RH" {
		return false
	}
	return l.kind == humidity || l.measured && unitKey(l.unit) == "%rh" && l.kind == noKind
}

// rank is how near a leaf is to what its sensor is there to measure: a probe goes before
// what its housing measures, a name that only says its quantity before one with a place.
func (l *leaf) rank() int {
	switch {
	case (l.probe || l.inProbe) && l.not == noKind:
		return 0
	case l.plain:
		return 1
	case l.rest == "air":
		return 2
	case l.known && l.not == noKind:
		return 3
	case l.not == noKind:
		return 4
	default:
		return 5
	}
}

const leastKnown = 3 // rank of a name of which every word is known

// doubt returns why a temperature or humidity is not taken without being asked for, "" =
// it is.
func (l *leaf) doubt(scaled bool) string {
	switch {
	case l.not == another, l.not == doubtful && !l.measured:
		return reason(fail("comes as %s, and nothing says what that measures; say so by a binding", clip(l.key, 60)))
	case (scaled || l.scaled) && !l.measured && l.unit == "" && integer(l):
		return reason(fail("comes as %s without a unit, and may be in tenths, hundredths or thousandths; say so by a binding", clip(l.key, 60)))
	}
	return ""
}

func integer(l *leaf) bool {
	n, unit, err := number(l.value)
	return err == nil && unit == "" && n == math.Trunc(n)
}

// tooHumid is more %RH than a sensor that counts in whole percent reports, however wrong.
const tooHumid = 300

// scaledIntegers reports whether an integer without a unit is too large to be what its
// name says: then those beside it count in the same small parts. Two bytes with every bit
// set say that nothing is connected.
func scaledIntegers(found []leaf) bool {
	return slices.ContainsFunc(found, func(l leaf) bool {
		if l.measured || l.unit != "" || l.not != noKind || !integer(&l) {
			return false
		}
		n, _, _ := number(l.value)
		switch l.kind {
		case temperature:
			info := rimewatch.ProductZoneTemp.Info()
			return (n < info.Min || n > info.Max) && !rimewatch.Sentinel(rimewatch.ProductZoneTemp, n)
		case humidity:
			return n > tooHumid && !rimewatch.Sentinel(rimewatch.Humidity, n) || n == math.MaxUint16
		default: // what else there is, is not scaled
		}
		return false
	})
}

// temperatures finds the sensors: of the temperatures that are not doubtful those of the
// best rank, each of which is one.
func (s *senses) temperatures(found []leaf, own bool) {
	var sure, odd []*leaf
	best := math.MaxInt
	for i := range found {
		l := &found[i]
		if !l.isTemperature() || s.board.has(l.path) {
			continue
		}
		switch l.value.(type) {
		case bool:
			continue
		case string:
			if !numeric(l) && l.rank() > leastKnown {
				continue
			}
		}
		switch {
		case l.doubt(s.scaled) != "", own && l.rank() > 2:
			odd = append(odd, l)
			continue
		}
		sure = append(sure, l)
		best = min(best, l.rank())
	}
	sure = withoutTwins(sure)
	for _, l := range sure {
		if l.rank() > best {
			odd = append(odd, l)
			continue
		}
		s.sensors = append(s.sensors, sensor{temp: l, local: l.local(), path: l.path, key: l.key, label: l.label})
	}
	s.tellApart()
	for _, l := range odd {
		if len(s.sensors) > 0 && l.doubt(s.scaled) == "" && l.rank() > best {
			s.lower = append(s.lower, sensor{temp: l, local: l.local(), path: l.path, key: l.key, label: l.label})
			s.board.leave(rimewatch.ProductZoneTemp, l, reason(fail("comes as %s, and %s goes before it; say so by a binding if this is the one", clip(l.key, 60), clip(s.sensors[0].key, 60))))
			continue
		}
		if !numeric(l) {
			continue
		}
		problem := l.doubt(s.scaled)
		if problem == "" {
			problem = reason(fail("comes as %s, and nothing says what that measures; say so by a binding", clip(l.key, 60)))
		}
		s.board.leave(rimewatch.ProductZoneTemp, l, problem)
	}
}

// has reports whether a value was read.
func (r *Reading) has(path string) bool {
	return slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Expression == path })
}

// leave names a value that is not taken, unless it is another's in another unit.
func (r *Reading) leave(f rimewatch.Field, l *leaf, problem string) {
	r.Fields = append(r.Fields, Field{Name: f.String(), Expression: l.path, Found: l.value, Sent: true, Problem: problem})
}

// local returns the name that distinguishes a leaf from others of its kind on its board.
func (l *leaf) local() string {
	local := ""
	for _, part := range [...]string{l.address, l.where, l.rest} {
		if part != "" {
			local = strings.TrimPrefix(local+"/"+part, "/")
		}
	}
	return local
}

// withoutTwins keeps of one temperature in two units the one in °C, and of one that
// stands in two places the first.
func withoutTwins(all []*leaf) []*leaf {
	fahrenheit := func(l *leaf) bool { return unitKey(l.unit) == "f" }
	slices.SortStableFunc(all, func(a, b *leaf) int { return cmp.Compare(a.depth, b.depth) })
	kept := all[:0]
	for _, l := range all {
		i := slices.IndexFunc(kept, func(k *leaf) bool {
			return k.local() == l.local() && k.place == l.place && (k.value == l.value || fahrenheit(k) != fahrenheit(l))
		})
		switch {
		case i < 0:
			kept = append(kept, l)
		case fahrenheit(kept[i]) && !fahrenheit(l):
			kept[i] = l
		}
	}
	return kept
}

// tellApart names sensors apart that are called alike: what people call
// them, their places in a list, or where they stand in the payload.
func (s *senses) tellApart() {
	for _, more := range [...]func(*leaf) string{
		func(l *leaf) string { return l.label },
		func(l *leaf) string { return l.place },
		func(l *leaf) string { return l.key },
		func(l *leaf) string { return l.path },
	} {
		count := map[string]int{}
		for i := range s.sensors {
			count[s.sensors[i].local]++
		}
		for i := range s.sensors {
			x := &s.sensors[i]
			if count[x.local] < 2 {
				continue
			}
			if text := more(x.temp); text != "" && !strings.HasSuffix(x.local, text) {
				x.local = strings.TrimPrefix(x.local+"/"+text, "/")
			}
		}
	}
}

// humidities takes the one of the board, or those of the places of its sensors.
func (s *senses) humidities(found []leaf) {
	var sure []*leaf
	best := math.MaxInt
	for i := range found {
		l := &found[i]
		if !l.isHumidity() || s.board.has(l.path) {
			continue
		}
		if _, ok := l.value.(string); ok && !numeric(l) && l.rank() > leastKnown || l.not == another {
			continue
		}
		if _, is := l.value.(bool); is {
			continue
		}
		if problem := l.doubt(s.scaled); problem != "" {
			s.board.leave(rimewatch.Humidity, l, problem)
			continue
		}
		sure = append(sure, l)
		best = min(best, l.rank())
	}
	var board []*leaf
	for _, l := range sure {
		i := slices.IndexFunc(s.sensors, func(x sensor) bool {
			return len(s.sensors) > 1 && x.humidity == nil && x.temp.local() == l.local() && (x.temp.place == l.place || x.temp.label == l.label && l.label != "")
		})
		switch {
		case i >= 0:
			s.sensors[i].humidity = l
		case l.rank() > best:
			s.board.leave(rimewatch.Humidity, l, reason(fail("comes as %s, and nothing says what that measures; say so by a binding", clip(l.key, 60))))
		default:
			board = append(board, l)
		}
	}
	board = withoutTwins(board)
	for _, l := range board {
		switch {
		case len(board) == 1:
			s.board.take(rimewatch.Humidity, l)
		default:
			s.board.leave(rimewatch.Humidity, l, reason(fail("is ambiguous: %s and %s; say which by a binding", clip(board[0].path, 60), clip(board[1].path, 60))))
		}
	}
}

// take takes a leaf as a measurement.
func (r *Reading) take(f rimewatch.Field, l *leaf) {
	field := Field{Name: f.String(), Expression: l.path, Found: l.value, Sent: true}
	n, unit, err := number(l.value)
	if err != nil {
		field.Problem = reason(err)
	} else {
		if u, ok := units[unitKey(l.unit)]; unit == "" && ok && u.to == f.Info().Unit {
			unit = l.unit
		}
		field.Problem = store(f, n, unit, &r.Reading)
	}
	r.Fields = append(r.Fields, field)
}
