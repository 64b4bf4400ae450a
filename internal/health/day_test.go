package health_test

import (
	"encoding/hex"
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
)

// midnight begins a day in UTC.
const midnight = rimewatch.Time(1_779_926_400_000)

// ofType judges as a type of equipment is judged, by days of a clock in UTC.
func ofType(slug string) *health.Config {
	e, _ := rimewatch.EquipmentBySlug(slug)
	return &health.Config{Limits: e.Limits, Days: health.Days{Zone: time.UTC, Grace: e.ShortRunGrace()}}
}

// runs has a unit out of limits n times, for some minutes of each hour.
func runs(s *health.State, c *health.Config, from rimewatch.Time, n int, length rimewatch.Time, defrost bool) (ended []health.Excursion) {
	within, beyond := *c.Limits.TempMax-3, *c.Limits.TempMax+1
	for i := range rimewatch.Time(n) * 60 {
		p := sample{at: from + i*minute, value: within, defrost: defrost && i%60 < length}
		if i%60 < length {
			p.value = beyond
		}
		ended = append(ended, observe(s, c, &p)...)
	}
	return ended
}

// TestShortRunsOfADay: up to one alarm delay is graced, of recognised defrosts what the type's
// take or two hours beside it; above either, all count and are one excursion with its sum.
func TestShortRunsOfADay(t *testing.T) {
	for _, tc := range []struct {
		name, kind string
		defrosts   int // of some minutes each
		each       rimewatch.Time
		others     int
		length     rimewatch.Time
		sum        rimewatch.Time // min that count, 0 = none
	}{
		{"one delay", "walkin_cooler", 0, 0, 3, 15, 0},
		{"more than one delay", "walkin_cooler", 0, 0, 3, 16, 48},
		{"defrosts and a delay", "walkin_cooler", 5, 24, 3, 15, 0},
		{"more defrosts than there are", "walkin_cooler", 7, 24, 0, 0, 168},
		{"as many as a freezer makes", "walkin_freezer", 4, 40, 3, 20, 0},
		{"more than a freezer makes", "walkin_freezer", 4, 40, 5, 13, 225},
		{"an open case", "display_case_open", 6, 30, 3, 20, 0},
		{"vaccine", "vaccine_refrigerator", 2, 12, 3, 5, 0},
		{"a vaccine refrigerator has no two hours", "vaccine_refrigerator", 4, 10, 0, 0, 40},
		{"blood", "blood_refrigerator", 3, 8, 0, 0, 0},
		{"more than blood stands", "blood_refrigerator", 4, 8, 0, 0, 32},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := ofType(tc.kind)
			var s health.State
			ended := runs(&s, c, midnight, tc.defrosts, tc.each, true)
			ended = append(ended, runs(&s, c, midnight+rimewatch.Time(tc.defrosts)*hour, tc.others, tc.length, false)...)
			before := s.Compliance(c, s.Newest(), 0)
			_, lasts := s.Day()
			ended = append(ended, s.Observe(c, at(midnight+rimewatch.Day, *c.Limits.TempMax-3))...)
			if tc.sum == 0 {
				if v, _ := before.Percent(); len(ended) > 0 || lasts || v != 100 {
					t.Fatalf("%v %%, %+v", v, ended)
				}
				return
			}
			out := int64(tc.sum * minute)
			if len(ended) != 1 || !lasts || math.Abs(float64(before.Covered-before.In-out)) > 4000 {
				t.Fatalf("%d ms count, want %d; %v, %+v", before.Covered-before.In, out, lasts, ended)
			}
			e := ended[0]
			if e.Sum != tc.sum*minute || e.Runs != tc.defrosts+tc.others || e.Start != midnight || e.End == 0 || !e.High || e.Peak != *c.Limits.TempMax+1 {
				t.Errorf("it is %+v", e)
			}
		})
	}
}

// TestWarmMostOfTheDay: a cooler that is too warm for 35 of 50 min, six days long, has an
// excursion a day, and its compliance and score say so; days before the new rule are as they were.
func TestWarmMostOfTheDay(t *testing.T) {
	c := ofType("walkin_cooler")
	c.Days.Since = midnight + 2*rimewatch.Day - hour
	var s health.State
	var ended []health.Excursion
	for i := rimewatch.Time(0); i <= 6*24*12; i++ {
		v := 4.0
		if i%10 < 7 {
			v = 7.5
		}
		ended = append(ended, s.Observe(c, at(midnight+i*5*minute, v))...)
		if i == 24*12 {
			if v, _ := s.Compliance(c, s.Newest(), 0).Percent(); v != 100 {
				t.Errorf("compliance by the former rule is %v", v)
			}
		}
	}
	if len(ended) != 4 {
		t.Fatalf("%d excursions of four days: %+v", len(ended), ended)
	}
	for i, e := range ended {
		if hours := float64(e.Sum) / float64(hour); e.Start.UTCDay() != midnight.UTCDay()+2+int64(i) || e.Runs < 28 || hours < 16.2 || hours > 17.1 || e.Peak != 7.5 {
			t.Errorf("%+v (%v h)", e, hours)
		}
	}
	sum := s.Compliance(c, s.Newest(), 0)
	strict, _ := sum.StrictPercent()
	if v, _ := sum.Percent(); v > 31 || v < 29 || v != strict {
		t.Errorf("compliance is %v, strict %v", v, strict)
	}
	if score := s.Score(&health.Circumstances{Now: s.Newest()}); score > 75 {
		t.Errorf("the score is %v", score)
	}
}

// TestBothSides: the sums of the two sides have their own delays, and the longer one names the excursion.
func TestBothSides(t *testing.T) {
	c := ofType("walkin_cooler") // 45 min above, 30 below
	var s health.State
	now := midnight
	for _, v := range []float64{9, 3, 9, 3, -1, 3, -1, 3} { // 40 min above, 40 below
		feed(&s, c, now, now+20*minute, v)
		now += 20 * minute
	}
	s.Observe(c, at(now, 3))
	if e, ok := s.Day(); !ok || e.Sum != 80*minute || !e.High || e.Peak != 9 {
		t.Errorf("%+v %v", e, ok)
	}
}

// TestOldState: the form that had neither short runs nor sides is read, and all that was in it is kept.
func TestOldState(t *testing.T) {
	b, err := hex.DecodeString("029600c0fae1b2ce6780e6d6b1ce6780c78db1ce6780c78db1ce67f3ad3ce0996aa0ca4500e0d40300a0ca450100808090930480e209ac0201010185c7a5ac0285e79296010185e792960185a7b8c20385a7b8c20385a7b8c203010101010101010101000000000000000000000000000000000000000000000000000000000009ffff0394bae4d006808002d0bae4d006")
	if err != nil {
		t.Fatal(err)
	}
	var s health.State
	if rest, err := s.DecodeBinary(b); err != nil || len(rest) > 0 {
		t.Fatal(err, len(rest))
	}
	c := cooler()
	if got, want := s.Compliance(c, noon+10*hour, 0), (health.Compliance{Window: int64(rimewatch.Day), Covered: int64(10 * hour), In: 28_200_000, Strict: 27_000_000}); got != want {
		t.Errorf("compliance %+v, want %+v", got, want)
	}
	late := health.Late{From: noon + 570*minute, To: noon + 570*minute, Count: 1}
	if s.Since() != noon+580*minute || s.Late() != late || s.Score(&health.Circumstances{Now: noon + 10*hour}) >= 100 {
		t.Errorf("since %v, late %+v", s.Since(), s.Late())
	}
	if e := s.Exposure(c, noon+10*hour); e != (health.Exposure{}) {
		t.Errorf("exposure %+v of a time that did not tell the sides apart", e)
	}
	var again health.State
	if _, err := again.DecodeBinary(s.AppendBinary(nil)); err != nil || again != s {
		t.Errorf("%+v, want %+v: %v", again, s, err)
	}
}

// TestExposure: time out of limits adds up by sides over exactly 24 h, graced or not, without maintenance.
func TestExposure(t *testing.T) {
	c := cooler()
	var s health.State
	feed(&s, c, midnight+10*minute, midnight+hour, 9)
	feed(&s, c, midnight+hour, midnight+2*hour, -1)
	feed(&s, c, midnight+2*hour, midnight+3*hour, 3)
	feed(&s, c, midnight+3*hour, midnight+3*hour+10*minute, 9)
	s.Observe(c, at(midnight+3*hour+10*minute, 3))
	for _, tc := range []struct {
		after      rimewatch.Time
		warm, cold float64
	}{
		{3*hour + 10*minute, 60, 60}, {24 * hour, 60, 60}, {24*hour + 30*minute, 40, 60}, {25*hour + 30*minute, 10, 30}, {28 * hour, 0, 0},
	} {
		if now := midnight + tc.after; now > s.Newest() {
			feed(&s, c, s.Newest()+minute, now+1, 3)
		}
		e := s.Exposure(c, midnight+tc.after)
		if warm, cold := float64(e.Warm)/60000, float64(e.Cold)/60000; math.Abs(warm-tc.warm) > 1 || math.Abs(cold-tc.cold) > 1 {
			t.Errorf("after %v h: warm %.1f, cold %.1f min, want %v and %v", float64(tc.after)/float64(hour), warm, cold, tc.warm, tc.cold)
		}
	}
}
