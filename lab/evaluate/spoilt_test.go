package evaluate

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestSilliness: sentences that no machine may say, and such as it says.
func TestSilliness(t *testing.T) {
	for text, want := range map[string]string{
		"The product zone is at −18.5\u00a0°C (limit −15\u00a0°C) and has been too warm for 34\u00a0min.": "",
		"La zona de producto está a −8,2\u00a0°C.":                                                        "",
		"Body: expected , or } at byte 49.":                                                               "",
		"67\u00a0% risk of failure within 8 days, since 5 Aug, 15:21 UTC.":                                "",
		"The supply voltage is down to 0\u00a0V.":                                                         "",
		"": "an empty slot",
		"The product zone is at – (limit 5\u00a0°C).": "an empty slot",
		"Most likely .":               "an empty slot",
		"The sensor () is faulty.":    "an empty slot",
		"It is at NaN\u00a0°C.":       "no words",
		"It is at %!f(string=x).":     "no words",
		"It is at %v.":                "no words",
		"It is at 4.8125\u00a0°C.":    "absurd precision",
		"It is at −0\u00a0°C.":        "absurd precision",
		"Too warm in about 0\u00a0s.": "an impossible number",
		"Share of time running −2.4\u00a0% (usually 40\u00a0%).": "an impossible number",
		"It is at 9999\u00a0°C.":                                 "an impossible number",
		"It lasted 3\u00a0K.":                                    "an odd unit",
	} {
		if got := silliness(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestGarbled: no text is taken for a number, alone or in a batch, and the same reading
// with a number is.
func TestGarbled(t *testing.T) {
	a := arrival{Reading: rimewatch.Reading{At: startOf(1)}}
	a.Set(rimewatch.ProductZoneTemp, -18.5)
	a.Set(rimewatch.AmpDraw, 4.25)
	for i, text := range garbles {
		s := newSpeech()
		if garbledTaken(&a, i, s) {
			t.Errorf("%s is taken", text)
		}
		if len(s.silly) > 0 || s.said == 0 {
			t.Errorf("%s is refused with %d texts, %q", text, s.said, s.silly)
		}
	}
	was := garbles
	garbles = []string{`-18.5`}
	defer func() { garbles = was }()
	if !garbledTaken(&a, 0, newSpeech()) {
		t.Error("a number is not taken")
	}
}

// TestAdmitted: what the frame of the API refuses is not judged, and what says that its
// sensor is broken is.
func TestAdmitted(t *testing.T) {
	now := startOf(1)
	for _, tc := range []struct {
		zone  float64
		ahead rimewatch.Time
		want  bool
		fault bool
	}{
		{-18.5, 0, true, false},
		{-18.5, rimewatch.FutureTolerance, true, false},
		{-18.5, rimewatch.FutureTolerance + 1, false, false},
		{201, 0, false, false},
		{-127, 0, true, true},
	} {
		r := rimewatch.Reading{At: now + tc.ahead}
		r.Set(rimewatch.ProductZoneTemp, tc.zone)
		if got := admitted(&r, now); got != tc.want || r.Faults.Has(rimewatch.ProductZoneTemp) != tc.fault || got && r.Present.Has(rimewatch.ProductZoneTemp) == tc.fault {
			t.Errorf("%+v: %v, faults %v", tc, got, r.Faults.Names())
		}
	}
}

// TestSpoils: every way changes what arrives from its moment on and nothing before it.
func TestSpoils(t *testing.T) {
	start := startOf(1)
	for k := range spoils {
		s := &spoils[k]
		c := &spoiling{start: start, from: start + rimewatch.Hour, end: start + 30*rimewatch.Hour}
		for i := range rimewatch.Time(30 * 60) {
			a := arrival{Reading: rimewatch.Reading{At: start + i*rimewatch.Minute}, now: start + i*rimewatch.Minute}
			for f := range rimewatch.NumCore {
				a.Set(f, float64(10*int(f)+int(i)%7))
			}
			c.list = append(c.list, a)
		}
		if s.make == nil || slices.Contains(drawnAnew, s.name) {
			continue
		}
		was := slices.Clone(c.list)
		s.make(c)
		same := func(from, to rimewatch.Time) bool {
			pick := func(list []arrival) (out []arrival) {
				for _, a := range list {
					if a.now >= from && a.now < to {
						a.Optional = nil
						out = append(out, a)
					}
				}
				return out
			}
			return slices.EqualFunc(pick(c.list), pick(was), func(a, b arrival) bool { return a.At == b.At && a.Values == b.Values && a.Present == b.Present })
		}
		if !same(start, c.from) {
			t.Errorf("%s: changed before it is spoilt", s.name)
		}
		if !c.texts && same(c.from, c.end) {
			t.Errorf("%s: changes nothing", s.name)
		}
	}
}

// drawnAnew are the ways that need a unit of the simulator.
var drawnAnew = []string{
	"a reading a second (5 days)", "a reading every 10 s", "a reading every 5 min", "a reading every 60 min", "wrong equipment type",
	"off for a week, its device is not", "moved to where it is 12 K warmer", "moved to where it is 12 K colder",
}

// TestSpoiltUnit: a unit is played in every way, and what it says has sense.
func TestSpoiltUnit(t *testing.T) {
	results, err := spoilUnit(t.Context(), "walkin_freezer", 8_300_001, wildTypes())
	if err != nil {
		t.Fatal(err)
	}
	for k := range spoils {
		r, s := &results[k], &spoils[k]
		if r.crash != "" || r.stored > 0 {
			t.Errorf("%s: crash %q, %d texts stored for numbers", s.name, r.crash, r.stored)
		}
		if r.garbled > 0 != (s.name == "a text for a number") {
			t.Errorf("%s: %d rows with a text for a number", s.name, r.garbled)
		}
	}
	for _, name := range []string{"constant: product_zone_temp", "null: product_zone_temp", "a text for a number", "clock 2 h ahead", "°F from a day on", "off for a week with its device"} {
		k := slices.IndexFunc(spoils, func(s spoil) bool { return s.name == name })
		if !results[k].told || results[k].says == "" {
			t.Errorf("%s: nobody is told", name)
		}
	}
	if results[0].told || results[0].predicted > 0 || results[0].critical > 0 {
		t.Errorf("the unit as it is: told %v, %d predictions, %d critical alerts", results[0].told, results[0].predicted, results[0].critical)
	}
}
