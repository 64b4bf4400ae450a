package inlet

import (
	"regexp"
	"slices"
	"strings"
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
	said := false
	for _, w := range words.FindAllString(key, -1) {
		w = squeeze(strings.Trim(w, "0123456789"))
		for _, s := range stems {
			if before, after, ok := strings.Cut(w, s); ok {
				said = true
				w = before + after
				break
			}
		}
		if w != "" && (!slices.Contains(beside, w) || !numbered && slices.Contains(channels, w)) {
			return false
		}
	}
	return said
}
