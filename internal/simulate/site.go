package simulate

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Site has the common conditions of the units at one place: weather, mains voltage
// and gateway outages follow from its Seed alone, at any moment, so that units
// simulated apart agree about them.
type Site struct {
	Seed    uint64
	Offset  time.Duration // local time minus UTC, for days, doors and seasons
	Climate *Climate      // nil draws one from Seed
}

// Climate is the air around the condensers of a site.
type Climate struct {
	MeanC    float64 // °C, mean of the year
	SeasonK  float64 // K, amplitude over the year, warmest on 24 July
	DailyK   float64 // K, amplitude over the day, warmest at 15:00
	WeatherK float64 // K, standard deviation of the weather, 30 h correlation
	Humidity float64 // %RH at 24 °C
}

func (s Site) climate() Climate {
	if s.Climate != nil {
		return *s.Climate
	}
	n := noise(s.Seed).stream(streamSite)
	return Climate{
		MeanC:    n.between(0, 21.5, 25),
		SeasonK:  n.between(1, 1, 3),
		DailyK:   n.between(2, 1, 3.5),
		WeatherK: n.between(3, 1, 2),
		Humidity: n.between(4, 42, 60),
	}
}

// surroundings plays a site forward in time.
type surroundings struct {
	climate                  Climate
	swing                    float64
	offset                   rimewatch.Time
	weather, moisture, mains wander

	ambient  float64 // °C
	humidity float64 // %RH
	volts    float64 // fraction of nominal at the site's feed
	hour     int     // local, 0–23
}

// newSurroundings starts a site at a moment for a unit that gets a share swing
// of its swings of temperature.
func newSurroundings(s Site, swing float64, at rimewatch.Time) surroundings {
	n := noise(s.Seed)
	c := s.climate()
	return surroundings{
		climate:  c,
		swing:    swing,
		offset:   rimewatch.Time(s.Offset.Milliseconds()),
		weather:  newWander(n.stream(streamWeather), c.WeatherK, 30*rimewatch.Hour, rimewatch.Hour, at),
		moisture: newWander(n.stream(streamMoisture), 4, 12*rimewatch.Hour, rimewatch.Hour, at),
		mains:    newWander(n.stream(streamMains), 0.006, 30*rimewatch.Minute, rimewatch.Minute, at),
	}
}

// move brings the surroundings to t, which must not go back.
func (s *surroundings) move(t rimewatch.Time) {
	local := t + s.offset
	day := float64(local) / float64(rimewatch.Day)
	hour := (day - math.Floor(day)) * 24
	s.hour = int(hour)
	// 1 January 1970 is day 0; the warmest day is the 205th of the year.
	season := math.Cos(2 * math.Pi * (day - 204) / 365.2425)
	daily := math.Cos(2 * math.Pi * (hour - 15) / 24)
	c := &s.climate
	s.ambient = c.MeanC + s.swing*(c.SeasonK*season+c.DailyK*daily+s.weather.at(t))
	s.humidity = min(98, max(8, c.Humidity-1.1*(s.ambient-24)+s.moisture.at(t)))
	// The feed sags when the neighbourhood cooks, most at 19:00.
	evening := (hour - 19) / 2.2
	s.volts = 1.008 - 0.012*math.Exp(-evening*evening/2) + s.mains.at(t)
}

// doorRate is how often doors are opened at an hour, as a multiple of the base
// rate: little at night, more around the two meals.
func doorRate(hour int) float64 {
	switch {
	case hour < 6:
		return 0.06
	case hour >= 11 && hour < 14, hour >= 17 && hour < 20:
		return 1.7
	default:
		return 1
	}
}
