package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
)

func minutes(n int) []rimewatch.Time {
	t := make([]rimewatch.Time, n)
	for i := range t {
		t[i] = rimewatch.Time(i) * rimewatch.Minute
	}
	return t
}

func draw(t *testing.T, trace *Trace) string {
	t.Helper()
	var b bytes.Buffer
	if err := trace.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
	}
}

func TestLineBreaksAtGaps(t *testing.T) {
	values := []float64{1, 2, math.NaN(), math.NaN(), 3, 4}
	svg := draw(t, &Trace{Title: "gaps", Times: minutes(6), Panels: []Panel{{Title: "T", Series: []Series{{Name: "a<b & c", Values: values}}}}})
	_, line, found := strings.Cut(svg, `stroke-linejoin="round" d="`)
	line, _, _ = strings.Cut(line, `"`)
	if !found || strings.Count(line, "M") != 2 || strings.Count(line, "L") != 2 || strings.Contains(line, "NaN") {
		t.Errorf("path %q, want two strokes of two points", line)
	}
	if !strings.Contains(svg, "a&lt;b &amp; c") {
		t.Error("the name is not escaped")
	}
}

// A month of minutes is thinned to the pixels, and a spike of one minute is
// still there.
func TestSpikesSurviveThinning(t *testing.T) {
	times := minutes(30 * 1440)
	values := make([]float64, len(times))
	values[20000] = 100
	svg := draw(t, &Trace{Times: times, Panels: []Panel{{Series: []Series{{Values: values}}, Height: 100}}})
	if len(svg) > 30000 {
		t.Errorf("%d bytes", len(svg))
	}
	_, line, _ := strings.Cut(svg, `stroke-linejoin="round" d="`)
	line, _, _ = strings.Cut(line, `"`)
	highest := math.Inf(1)
	for _, p := range strings.FieldsFunc(line, func(r rune) bool { return r == 'M' || r == 'L' }) {
		_, y, _ := strings.Cut(p, " ")
		v, err := strconv.ParseFloat(y, 64)
		if err != nil {
			t.Fatal(err)
		}
		highest = min(highest, v)
	}
	top := float64(marginTop + panelGap - 6)
	if highest > top+6 {
		t.Errorf("highest point at y %v, the diagram begins at %v", highest, top)
	}
}

func TestErrors(t *testing.T) {
	for name, trace := range map[string]*Trace{
		"no times":    {},
		"one moment":  {Times: []rimewatch.Time{5, 5}},
		"other count": {Times: minutes(3), Panels: []Panel{{Series: []Series{{Values: make([]float64, 2)}}}}},
	} {
		if err := trace.WriteSVG(io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEmptyAndFlatPanels(t *testing.T) {
	svg := draw(t, &Trace{Times: minutes(3), Panels: []Panel{
		{Title: "empty"},
		{Title: "flat", Series: []Series{{Values: []float64{7, 7, 7}}}},
		{Title: "nothing but gaps", Series: []Series{{Values: []float64{math.NaN(), math.NaN(), math.NaN()}, Dots: true}}},
	}, Shades: []Shade{{Name: "outside", From: rimewatch.Day, To: 2 * rimewatch.Day}}})
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, "outside") {
		t.Error(svg)
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0, 10, 5, []float64{0, 2.5, 5, 7.5, 10}},
		{-21, -12, 5, []float64{-20, -18, -16, -14, -12}},
		{0.1, 0.3, 4, []float64{0.1, 0.2, 0.3}},
		{-1, 1, 3, []float64{-1, 0, 1}},
	} {
		ticks, from, to := axis(c.low, c.high, c.n)
		if d := cmp.Diff(c.want, ticks); d != "" || from > c.low || to < c.high {
			t.Errorf("%v to %v: %s", c.low, c.high, d)
		}
		for _, v := range ticks {
			if v == 0 && math.Signbit(v) {
				t.Errorf("%v to %v: a tick of −0", c.low, c.high)
			}
		}
	}
	if got := timeStep(2 * rimewatch.Day); got != 6*rimewatch.Hour {
		t.Errorf("two days are ticked every %v ms", got)
	}
}
