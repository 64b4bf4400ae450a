package inlet

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// beside are the words that may stand in a name beside that of a quantity without
// making another quantity of it: what measures, where it is, what unit it is in.
// A name with any other word, such as "temp_quality" or "wetBulbTemp", is not taken
// for what a sensor is there to measure; somebody can still say that it is.
var beside = strings.Fields(`
	sensor probe external ext outer ds sht dht bme aht hdc htu ntc rtd pt thermocouple tc input to voltage channel chn ch
	c f k celsius fahrenheit kelvin deg degc degf degree degrees value val data reading measured measurement current actual now
	air ambient room indoor inside inner inlet in soil water surface product food core
	zone cold cool cooler cooling chill chiller chilled fridge refrigerator refrigerated refrigeration freezer frozen ice walk walkin reach display
	cabinet case box chamber container tank vat shelf rack store storage warehouse truck kitchen bar shop cellar pantry
	fish meat dairy milk beer wine salad deli produce vegetable fruit flower floral vaccine pharmacy
	back front left right top bottom upper lower middle main side
	relative rel r rh percent pct`)

// words finds the words of a name: they begin at capitals and end at digits and signs.
var words = regexp.MustCompile(`[A-Z]+(?:[^A-Za-z]|$)|[A-Z]?[a-z]+|[A-Z]+`)

// channels are words that name a quantity only with a number: channel1 is one of
// several, channel says which one it was.
var channels = []string{"channel", "chn", "ch", "input"}

// plainly reports whether a name says one of the stems, which are squeezed, and
// nothing that makes another quantity of it.
func plainly(key string, stems []string) bool {
	numbered := strings.ContainsAny(key, "0123456789")
	found := false
	for _, w := range words.FindAllString(key, -1) {
		w = squeeze(strings.Trim(w, "0123456789"))
		for _, s := range stems {
			if before, after, ok := strings.Cut(w, s); ok {
				found = true
				w = before + after
				break
			}
		}
		if w != "" && (!slices.Contains(beside, w) || !numbered && slices.Contains(channels, w)) {
			return false
		}
	}
	return found
}

// headingUnit finds the unit in a heading, which loggers write behind the name: with its
// sign, or in brackets.
var headingUnit = regexp.MustCompile(`[°º] ?[CFK]\b|℃|℉|%|[(\[] ?(?:[CFK]|deg ?[CF]|[Cc]elsius|[Ff]ahrenheit) ?[)\]]`)

// Heading returns what a column of a logger's file holds, as its heading says: the
// measurement, when it names one that is the product's or has a field of its own, and the
// unit of its values as Convert takes it, "" when it says none. A heading that says a unit alone, such as
// "Channel 1 [°C]", has a unit and no name.
func Heading(heading string) (f rimewatch.Field, unit string, named bool) {
	name := heading
	if at := headingUnit.FindStringIndex(heading); at != nil {
		unit = strings.Trim(unitKey(heading[at[0]:at[1]]), "()[]")
		if name = strings.TrimRight(heading[:at[0]], " ([,"); name == "" {
			name = heading[at[1]:]
		}
	} else if unit = strings.ToLower(unitInName(heading)); unit != "" {
		name = withoutUnit(heading)
	}
	name, _, _ = strings.Cut(name, "(")
	if own, ok := rimewatch.FieldByName(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")); ok {
		return own, unit, true
	}
	for _, q := range quantities {
		if q.want.has(squeeze(name)) || q.want.stems != "" && plainly(name, strings.Fields(q.want.stems)) {
			return q.field, unit, true
		}
	}
	return 0, unit, false
}

// Convert returns a value in the unit of a field, and an error when the unit, as Heading
// returns it, is not one of that field's. "" is the field's own.
func Convert(f rimewatch.Field, v float64, unit string) (float64, error) { return convert(f, v, unit) }
