package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Trace is a picture: what was measured at Times, in panels.
type Trace struct {
	Title  string
	Times  []rimewatch.Time // in order
	Offset time.Duration    // local time minus UTC, for the axis
	Panels []Panel
	Shades []Shade
	Marks  []Mark
	Width  int // px, default 860
}

// Panel is one diagram of a Trace.
type Panel struct {
	Title  string // with the unit
	Series []Series
	Limits []Limit
	Height int     // px of the diagram, default 110
	Low    float64 // the axis covers at least Low to High; both 0: what the series need
	High   float64
}

// Series is one line. Values has as many elements as the Trace has Times; NaN
// leaves a gap.
type Series struct {
	Name   string
	Color  string // any SVG colour; "" takes the next of the palette
	Values []float64
	Dots   bool // points instead of a line
}

// Limit is a dashed horizontal line.
type Limit struct {
	Name  string
	Value float64
}

// Shade marks a stretch of time in all panels, named in the first.
type Shade struct {
	Name     string
	From, To rimewatch.Time
	Color    string // default a light grey
}

// Mark is a moment: a vertical line through all panels, named below the title.
// Names that would overlap are put on top of each other.
type Mark struct {
	Name  string
	At    rimewatch.Time
	Color string // default black
}

// palette holds the colours of series that name none, chosen to be told apart
// also by people who see red and green alike (Okabe and Ito 2008).
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"}

const (
	marginLeft   = 52
	marginRight  = 14
	marginTop    = 34
	marginBottom = 26
	panelGap     = 26
)

// WriteSVG draws the trace. It fails when a series has another length than
// Times, when there are fewer than two times, or when w does.
func (t *Trace) WriteSVG(w io.Writer) error {
	if len(t.Times) < 2 || t.Times[len(t.Times)-1] <= t.Times[0] {
		return fmt.Errorf("plot: need at least two times in order")
	}
	for _, p := range t.Panels {
		for _, s := range p.Series {
			if len(s.Values) != len(t.Times) {
				return fmt.Errorf("plot: series %q has %d values for %d times", s.Name, len(s.Values), len(t.Times))
			}
		}
	}
	d := drawing{trace: t, width: t.Width}
	if d.width == 0 {
		d.width = 860
	}
	rows := d.markRows()
	top := marginTop + rows*markRow
	height := top + marginBottom
	for i := range t.Panels {
		height += t.Panels[i].height() + panelGap
	}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,Helvetica,Arial,sans-serif" font-size="11" fill="#444">`, d.width, height, d.width, height)
	d.printf("\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#fff\"/>\n", d.width, height)
	d.text(14, 21, "start", ` font-size="14" font-weight="600" fill="#222"`, t.Title)
	y := top
	for i := range t.Panels {
		y += panelGap - 6
		d.panel(&t.Panels[i], y, i == 0)
		y += t.Panels[i].height() + 6
	}
	d.times(top+panelGap-6, y-6)
	d.marks(y - 6)
	d.printf("</svg>\n")
	_, err := w.Write(d.buf.Bytes())
	return err
}

func (p *Panel) height() int {
	if p.Height == 0 {
		return 110
	}
	return p.Height
}

// halo keeps text on top of lines readable.
const halo = ` stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`

// drawing collects the picture.
type drawing struct {
	trace *Trace
	width int
	buf   bytes.Buffer
	rows  []int // of the names of marks
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.buf, format, args...) }

func (d *drawing) text(x, y float64, anchor, attributes, s string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s"%s>`, x, y, anchor, attributes)
	_ = xml.EscapeText(&d.buf, []byte(s)) // a bytes.Buffer cannot fail
	d.printf("</text>\n")
}

func (d *drawing) right() float64 { return float64(d.width - marginRight) }

// x is the place of a moment on the axis, px.
func (d *drawing) x(at rimewatch.Time) float64 {
	first, last := d.trace.Times[0], d.trace.Times[len(d.trace.Times)-1]
	return marginLeft + float64(at-first)/float64(last-first)*(d.right()-marginLeft)
}

// panel draws one diagram with its top at y.
func (d *drawing) panel(p *Panel, y int, first bool) {
	top, bottom := float64(y), float64(y+p.height())
	low, high := p.span()
	ticks, low, high := axis(low, high, p.height()/22)
	place := func(v float64) float64 { return bottom - (v-low)/(high-low)*(bottom-top) }

	d.shades(top, bottom)
	for _, v := range ticks {
		d.printf(`<path d="M%d %.1fH%.1f" stroke="#e4e4e4"/>`, marginLeft, place(v), d.right())
		d.text(marginLeft-6, place(v)+4, "end", "", strconv.FormatFloat(v, 'f', -1, 64))
	}
	for _, l := range p.Limits {
		d.printf(`<path d="M%d %.1fH%.1f" stroke="#b00020" stroke-dasharray="5 4" fill="none"/>`, marginLeft, place(l.Value), d.right())
		d.text(d.right()-4, place(l.Value)-3, "end", ` fill="#b00020" font-size="10"`+halo, l.Name)
	}
	x := d.right()
	for i := len(p.Series) - 1; i >= 0; i-- {
		s := &p.Series[i]
		color := s.Color
		if color == "" {
			color = palette[i%len(palette)]
		}
		if s.Dots {
			d.dots(s.Values, color, place)
		} else {
			d.line(s.Values, color, place)
		}
		if s.Name != "" {
			d.text(x, top-6, "end", ` fill="`+color+`"`, s.Name)
			x -= float64(6*len([]rune(s.Name)) + 12)
		}
	}
	if first {
		d.shadeNames(top)
	}
	d.text(marginLeft, top-6, "start", ` font-weight="600"`, p.Title)
}

func (d *drawing) shades(top, bottom float64) {
	for _, s := range d.trace.Shades {
		color := s.Color
		if color == "" {
			color = "#f0f0f0"
		}
		from, to := max(marginLeft, d.x(s.From)), min(d.right(), d.x(s.To))
		if to <= from {
			continue
		}
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, from, top, to-from, bottom-top, color)
	}
}

// shadeNames writes the names of shades over what was drawn.
func (d *drawing) shadeNames(top float64) {
	for _, s := range d.trace.Shades {
		from, to := max(marginLeft, d.x(s.From)), min(d.right(), d.x(s.To))
		if to > from && s.Name != "" {
			d.text(from+4, top+12, "start", ` font-size="10" fill="#555"`+halo, s.Name)
		}
	}
}

// line draws the lowest and highest value of each pixel column.
func (d *drawing) line(values []float64, color string, place func(float64) float64) {
	d.printf(`<path fill="none" stroke="%s" stroke-width="1.2" stroke-linejoin="round" d="`, color)
	pen := false
	for i := 0; i < len(values); {
		column := math.Floor(d.x(d.trace.Times[i]))
		low, high := i, i
		end := i
		for ; end < len(values) && math.Floor(d.x(d.trace.Times[end])) == column; end++ {
			if math.IsNaN(values[end]) {
				break
			}
			if values[end] < values[low] {
				low = end
			}
			if values[end] > values[high] {
				high = end
			}
		}
		if end == i { // a gap
			pen = false
			i++
			continue
		}
		for _, k := range []int{min(low, high), max(low, high)} {
			d.point(&pen, d.x(d.trace.Times[k]), place(values[k]))
			if low == high {
				break
			}
		}
		i = end
	}
	d.printf("\"/>\n")
}

func (d *drawing) point(pen *bool, x, y float64) {
	letter := byte('L')
	if !*pen {
		letter, *pen = 'M', true
	}
	d.buf.WriteByte(letter)
	d.buf.Write(strconv.AppendFloat(d.buf.AvailableBuffer(), math.Round(x*10)/10, 'f', -1, 64))
	d.buf.WriteByte(' ')
	d.buf.Write(strconv.AppendFloat(d.buf.AvailableBuffer(), math.Round(y*10)/10, 'f', -1, 64))
}

func (d *drawing) dots(values []float64, color string, place func(float64) float64) {
	for i, v := range values {
		if !math.IsNaN(v) {
			d.printf(`<circle cx="%.1f" cy="%.1f" r="2.6" fill="%s"/>`, d.x(d.trace.Times[i]), place(v), color)
		}
	}
	d.printf("\n")
}

// markRow is the height of a row of names of marks, px.
const markRow = 14

// markRows places the names of marks in rows where they do not overlap, and
// returns the number of rows.
func (d *drawing) markRows() int {
	var ends []float64 // of each row
	for _, m := range d.trace.Marks {
		left, width := d.markAt(&m), float64(6*len([]rune(m.Name))+14)
		row := 0
		for row < len(ends) && ends[row] > left {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = left + width
		d.rows = append(d.rows, row)
	}
	return len(ends)
}

// markAt is where the name of a mark begins: beside its line, within the picture.
func (d *drawing) markAt(m *Mark) float64 {
	return min(d.x(m.At)+4, d.right()-float64(6*len([]rune(m.Name))))
}

func (d *drawing) marks(bottom int) {
	for i, m := range d.trace.Marks {
		x := d.x(m.At)
		if x < marginLeft-1 || x > d.right()+1 {
			continue
		}
		color := m.Color
		if color == "" {
			color = "#222"
		}
		y := marginTop + markRow*(d.rows[i]+1)
		d.printf(`<path d="M%.1f %dV%d" stroke="%s" stroke-width="1.3"/>`, x, y-9, bottom, color)
		d.text(d.markAt(&m), float64(y), "start", ` font-size="11" font-weight="600" fill="`+color+`"`+halo, m.Name)
	}
}

// times draws the time axis below all panels.
func (d *drawing) times(top, bottom int) {
	first, last := d.trace.Times[0], d.trace.Times[len(d.trace.Times)-1]
	every := timeStep(last - first)
	offset := rimewatch.Time(d.trace.Offset.Milliseconds())
	for local := (first + offset + every - 1) / every * every; local <= last+offset; local += every {
		x := d.x(local - offset)
		d.printf(`<path d="M%.1f %dV%d" stroke="#000" stroke-opacity=".06"/>`, x, top, bottom)
		format := "15:04"
		if local%rimewatch.Day == 0 {
			format = "2 Jan"
		}
		label, anchor := local.Std().Format(format), "middle"
		if x > d.right()-20 {
			x, anchor = float64(d.width-4), "end"
		}
		d.text(x, float64(bottom+16), anchor, "", label)
	}
}
