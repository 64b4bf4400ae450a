// Package pictures draws the pictures of simulated units in docs/img. They come out the
// same every time.
package pictures

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/lab/plot"
)

// drawn is a picture by name.
type drawn struct {
	name string
	draw func() (*plot.Trace, error)
}

func all() []drawn {
	return append(append(alertPictures(), predictionPictures()...), []drawn{
		{"sim-healthy-freezer", healthyFreezer},
		{"sim-condenser-fouling", condenserFouling},
		{"sim-dead-defrost-heater", deadHeater},
		{"sim-door-open", doorOpen},
	}...)
}

// Draw writes all pictures into a folder, which it creates if missing.
func Draw(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, picture := range all() {
		trace, err := picture.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", picture.name, err)
		}
		var svg bytes.Buffer
		if err := trace.WriteSVG(&svg); err != nil {
			return fmt.Errorf("%s: %w", picture.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, picture.name+".svg"), svg.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var start = rimewatch.TimeOf(time.Date(2026, 5, 11, 0, 0, 0, 0, time.UTC))

// spring is the weather of all pictures.
var spring = &simulate.Climate{MeanC: 25, DailyK: 3, WeatherK: 1.6, Humidity: 52}

// recording is what a unit measured and what was true.
type recording struct {
	times    []rimewatch.Time
	readings []rimewatch.Reading
	truths   []simulate.Truth
}

func record(equipment string, from, to rimewatch.Time, faults ...simulate.Fault) (*recording, error) {
	params, err := simulate.TypicalParams(equipment)
	if err != nil {
		return nil, err
	}
	params.DefrostAt = 0.5
	u, err := simulate.New(simulate.Config{
		Equipment: equipment, Seed: 11, Site: simulate.Site{Seed: 11, Climate: spring}, Start: from, Params: &params, Faults: faults,
	})
	if err != nil {
		return nil, err
	}
	r := &recording{}
	for u.NextAt() <= to {
		reading := u.Next()
		r.times = append(r.times, reading.At)
		r.readings = append(r.readings, reading)
		r.truths = append(r.truths, u.Truth())
	}
	return r, nil
}

func (r *recording) field(f rimewatch.Field) []float64 {
	values := make([]float64, len(r.readings))
	for i := range r.readings {
		values[i] = r.readings[i].Values[f]
	}
	return values
}

func (r *recording) truth(of func(*simulate.Truth) float64) []float64 {
	values := make([]float64, len(r.truths))
	for i := range r.truths {
		values[i] = of(&r.truths[i])
	}
	return values
}

func frost(t *simulate.Truth) float64 { return t.Frost }

// defrosts shades the unit's defrosts.
func (r *recording) defrosts(name string) []plot.Shade {
	var shades []plot.Shade
	for i := 1; i < len(r.truths); i++ {
		switch {
		case r.truths[i].Defrosting && !r.truths[i-1].Defrosting:
			shades = append(shades, plot.Shade{From: r.times[i], To: r.times[i], Color: "#eef3f8"})
		case r.truths[i].Defrosting && len(shades) > 0:
			shades[len(shades)-1].To = r.times[i]
		}
	}
	if len(shades) > 0 {
		shades[0].Name = name
	}
	return shades
}

func zonePanel(r *recording, limit float64) plot.Panel {
	return plot.Panel{
		Title:  "Product zone, °C",
		Series: []plot.Series{{Values: r.field(rimewatch.ProductZoneTemp)}},
		Limits: []plot.Limit{{Name: "limit", Value: limit}},
	}
}

func pipesPanel(r *recording) plot.Panel {
	return plot.Panel{Title: "Compressor, °C", Height: 130, Series: []plot.Series{
		{Name: "discharge", Values: r.field(rimewatch.CompressorDischargeTemp)},
		{Name: "ambient", Values: r.field(rimewatch.AmbientTemp)},
		{Name: "suction", Values: r.field(rimewatch.CompressorSuctionTemp)},
	}}
}

func ampsPanel(r *recording) plot.Panel {
	return plot.Panel{Title: "Current, A", Height: 80, Series: []plot.Series{{Values: r.field(rimewatch.AmpDraw)}}}
}

func frostPanel(r *recording) plot.Panel {
	return plot.Panel{Title: "Frost on the coil, kg (hidden from the sensors)", Height: 80, Series: []plot.Series{{Color: "#56b4e9", Values: r.truth(frost)}}}
}

func healthyFreezer() (*plot.Trace, error) {
	r, err := record("walkin_freezer", start, start+2*rimewatch.Day)
	if err != nil {
		return nil, err
	}
	return &plot.Trace{
		Title: "A healthy walk-in freezer, 48 hours", Times: r.times, Shades: r.defrosts("defrost"),
		Panels: []plot.Panel{zonePanel(r, -15), pipesPanel(r), ampsPanel(r), frostPanel(r)},
	}, nil
}

func deadHeater() (*plot.Trace, error) {
	dies := start + 36*rimewatch.Hour
	r, err := record("walkin_freezer", start, start+7*rimewatch.Day, simulate.Fault{Name: "defrost_failure", Onset: dies})
	if err != nil {
		return nil, err
	}
	return &plot.Trace{
		Title: "A walk-in freezer whose defrost heater dies", Times: r.times,
		Shades: []plot.Shade{{Name: "heater dead", From: dies, To: start + 7*rimewatch.Day, Color: "#fdf1ea"}},
		Panels: []plot.Panel{zonePanel(r, -15), pipesPanel(r), ampsPanel(r), frostPanel(r)},
	}, nil
}

func doorOpen() (*plot.Trace, error) {
	from := start + 7*rimewatch.Hour
	opened, closed := from+4*rimewatch.Hour, from+7*rimewatch.Hour
	r, err := record("walkin_cooler", from, from+12*rimewatch.Hour, simulate.Fault{Name: "door_open", Onset: opened, End: closed})
	if err != nil {
		return nil, err
	}
	return &plot.Trace{
		Title: "A walk-in cooler whose door is left open", Times: r.times,
		Shades: []plot.Shade{{Name: "door open", From: opened, To: closed, Color: "#fdf1ea"}},
		Panels: []plot.Panel{zonePanel(r, 5), pipesPanel(r), ampsPanel(r), frostPanel(r)},
	}, nil
}

const days = 30 // of the picture of a fault that creeps in

func condenserFouling() (*plot.Trace, error) {
	begins := start + 6*rimewatch.Day
	r, err := record("walkin_freezer", start, start+days*rimewatch.Day, simulate.Fault{
		Name: "condenser_fouling", Severity: 0.95, Onset: begins, Profile: simulate.Linear, Ramp: 24 * 24 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	noons := make([]rimewatch.Time, days)
	for i := range noons {
		noons[i] = start + rimewatch.Time(i)*rimewatch.Day + 12*rimewatch.Hour
	}
	running := func(i int) bool {
		return i >= 5 && r.truths[i].Running && r.truths[i-5].Running && !r.truths[i].Defrosting
	}
	always := func(int) bool { return true }
	panel := func(title string, height int, series ...plot.Series) plot.Panel {
		for i := range series {
			series[i].Dots = true
		}
		return plot.Panel{Title: title, Height: height, Series: series}
	}
	zone := panel("Product zone, °C, daily mean", 90, plot.Series{Values: daily(r, r.field(rimewatch.ProductZoneTemp), always, mean)})
	zone.Limits = []plot.Limit{{Name: "limit", Value: -15}}
	split := r.truth(func(t *simulate.Truth) float64 { return t.Condensing - t.Ambient })
	return &plot.Trace{
		Title: "A walk-in freezer whose condenser clogs up: running values by day", Times: noons,
		Shades: []plot.Shade{{Name: "condenser fouling, evenly from 0 to 71 % of its conductance", From: begins, To: start + days*rimewatch.Day, Color: "#fdf1ea"}},
		Panels: []plot.Panel{
			panel("Discharge and ambient, °C, daily median", 130,
				plot.Series{Name: "discharge", Values: daily(r, r.field(rimewatch.CompressorDischargeTemp), running, median)},
				plot.Series{Name: "ambient", Values: daily(r, r.field(rimewatch.AmbientTemp), running, median)}),
			panel("Current, A, daily median", 80, plot.Series{Values: daily(r, r.field(rimewatch.AmpDraw), running, median)}),
			panel("Condensing above ambient, K, daily median (hidden from the sensors)", 80, plot.Series{Values: daily(r, split, running, median)}),
			zone,
		},
	}, nil
}

// daily reduces the values of each day that pass to one; NaN without any.
func daily(r *recording, values []float64, pass func(int) bool, reduce func([]float64) float64) []float64 {
	byDay := make([][]float64, days)
	for i, v := range values {
		if d := int((r.times[i] - start) / rimewatch.Day); d < days && pass(i) {
			byDay[d] = append(byDay[d], v)
		}
	}
	out := make([]float64, days)
	for d, v := range byDay {
		out[d] = math.NaN()
		if len(v) > 0 {
			out[d] = reduce(v)
		}
	}
	return out
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
