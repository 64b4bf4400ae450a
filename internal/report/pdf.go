package report

import (
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// The page, in mm: A4 upright.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	left       = 16.0
	right      = pageWidth - 16.0
	top        = 20.0
	bottom     = pageHeight - 18.0
	width      = right - left
)

// color is red, green, blue.
type color [3]int

var (
	ink    = color{27, 39, 51}
	muted  = color{91, 107, 122}
	accent = color{11, 79, 138}
	rule   = color{208, 217, 226}
	stripe = color{244, 247, 250}
	band   = color{190, 214, 236}
	alarm  = color{176, 32, 26}
	good   = color{30, 112, 62}
)

// page is a PDF in the making. y is where the next thing goes.
type page struct {
	*fpdf.Fpdf
	r      *Report
	y      float64
	header string // of the pages after a section's first
	font   *sfnt.Font
	buf    sfnt.Buffer
	glyphs map[rune]bool
}

// PDF writes the report to print and sign. Of several sites it has a page about all of
// them, a page about each, and the days of those devices with which something happened.
func (r *Report) PDF(w io.Writer) error {
	r.inEnglish()
	p, err := r.begin(r.say("Temperature log") + ", " + r.title())
	if err != nil {
		return err
	}
	if list := r.places(); len(list) > 1 {
		p.chain(list)
	} else {
		p.summary()
	}
	if err := p.Error(); err != nil {
		return err
	}
	return p.Output(w)
}

// inEnglish is the language of a report whose reader nobody has named.
func (r *Report) inEnglish() {
	if r.Words.Texts == nil {
		r.Words = phrase.In(rimewatch.Locale{})
	}
}

// begin makes a document of a title.
func (r *Report) begin(title string) (*page, error) {
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	p := &page{Fpdf: fpdf.New("P", "mm", "A4", ""), r: r, font: font, glyphs: make(map[rune]bool)}
	p.AddUTF8FontFromBytes("Go", "", goregular.TTF)
	p.AddUTF8FontFromBytes("Go", "B", gobold.TTF)
	p.SetCatalogSort(true)
	p.SetCreationDate(r.GeneratedAt.Std())
	p.SetModificationDate(r.GeneratedAt.Std())
	p.SetTitle(p.clean(title), true)
	p.SetAuthor(p.clean(r.Workspace), true)
	p.SetCreator("Rimewatch "+r.Version, true)
	p.SetLang(r.Words.Language)
	p.SetAutoPageBreak(false, 0)
	p.SetMargins(left, top, pageWidth-right)
	p.AliasNbPages("{pages}")
	p.SetFooterFunc(p.footer)
	return p, nil
}

// clean replaces what the fonts cannot show by a box, and control characters
// by spaces.
func (p *page) clean(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return ' '
		}
		ok, known := p.glyphs[c]
		if !known {
			i, err := p.font.GlyphIndex(&p.buf, c)
			ok = err == nil && i != 0 && c <= 0xffff
			p.glyphs[c] = ok
		}
		switch {
		case ok:
			return c
		case unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Cf, c):
			return -1 // marks and invisible ones
		default:
			return '□'
		}
	}, s)
}

func (p *page) pen(size float64, bold bool, c color) {
	style := ""
	if bold {
		style = "B"
	}
	p.SetFont("Go", style, size)
	p.SetTextColor(c[0], c[1], c[2])
}

// cell writes one line into a box of that width, shortened where it must be.
func (p *page) cell(x, y, w, h float64, text, align string) {
	p.SetXY(x, y)
	p.CellFormat(w, h, p.fit(p.clean(text), w-1), "", 0, align+"M", false, 0, "")
}

// fit shortens a clean text to a width.
func (p *page) fit(s string, w float64) string {
	if p.GetStringWidth(s) <= w {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && p.GetStringWidth(string(runes)+"…") > w {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}

// wrap breaks a text into lines of a width, long words too.
func (p *page) wrap(text string, w float64) (lines []string) {
	line := ""
	for _, word := range strings.Fields(p.clean(text)) {
		for {
			joined := word
			if line != "" {
				joined = line + " " + word
			}
			if p.GetStringWidth(joined) <= w {
				line = joined
				break
			}
			if line != "" {
				lines, line = append(lines, line), ""
				continue
			}
			runes := []rune(word)
			n := 1
			for n < len(runes)-1 && p.GetStringWidth(string(runes[:n+1])) <= w {
				n++
			}
			lines, word = append(lines, string(runes[:n])), string(runes[n:])
		}
	}
	return append(lines, line)
}

// title writes a name below what was written, over so many lines at most.
func (p *page) title(text string, w, height float64, most int) {
	lines := p.wrap(text, w)
	for _, line := range lines[:min(len(lines), most)] {
		p.cell(left, p.y, w, height, line, "L")
		p.y += height
	}
}

// paragraph writes a text below what was written, over as many lines and pages
// as it needs.
func (p *page) paragraph(x, w, height float64, text string) {
	for _, line := range p.wrap(text, w) {
		p.room(height)
		p.SetXY(x, p.y)
		p.CellFormat(w, height, line, "", 0, "LM", false, 0, "")
		p.y += height
	}
}

// room starts a new page where less than h is left on this one.
func (p *page) room(h float64) {
	if p.y+h <= bottom {
		return
	}
	size, _ := p.GetFontSize()
	style := p.GetFontStyle()
	r, g, b := p.GetTextColor()
	p.next()
	p.SetFont("Go", style, size)
	p.SetTextColor(r, g, b)
}

// next starts a page that continues a section.
func (p *page) next() {
	p.AddPage()
	p.pen(8, false, muted)
	p.cell(left, 10, width*0.62, 5, p.header, "L")
	p.cell(left+width*0.6, 10, width*0.4, 5, p.r.period(), "R")
	p.line(left, 16, right, 16, rule, 0.2)
	p.y = top
}

func (p *page) line(x1, y1, x2, y2 float64, c color, w float64) {
	p.SetDrawColor(c[0], c[1], c[2])
	p.SetLineWidth(w)
	p.Line(x1, y1, x2, y2)
}

func (p *page) fill(x, y, w, h float64, c color) {
	p.SetFillColor(c[0], c[1], c[2])
	p.Rect(x, y, w, h, "F")
}

func (p *page) footer() {
	p.line(left, pageHeight-14, right, pageHeight-14, rule, 0.2)
	p.pen(7.5, false, muted)
	made := p.r.sayf("generated %s", p.r.Words.At(p.r.Zone).Moment(p.r.GeneratedAt))
	if p.r.GeneratedBy != "" {
		made = p.r.sayf("generated %s for %s", p.r.Words.At(p.r.Zone).Moment(p.r.GeneratedAt), p.r.GeneratedBy)
	}
	p.cell(left, pageHeight-13, width*0.8, 5, "Rimewatch "+p.r.Version+" · "+made, "L")
	// The number of pages is not known yet and so not its width: from the left.
	p.SetXY(right-23, pageHeight-13)
	p.CellFormat(23, 5, p.r.sayf("Page %d of %s", p.PageNo(), "{pages}"), "", 0, "LM", false, 0, "")
}

// period writes the period by its first and last day.
func (r *Report) period() string {
	last := r.To - 1
	if last < r.From {
		last = r.From
	}
	first, end := r.From.Std().In(r.Zone), last.Std().In(r.Zone)
	if first.Format(time.DateOnly) == end.Format(time.DateOnly) {
		return r.Words.Date(first, true)
	}
	return r.sayf("%s to %s", r.Words.Date(first, true), r.Words.Date(end, true))
}

// heading writes the title of a part, with some of what follows on its page.
func (p *page) heading(text string, follows float64) {
	p.y += 3
	p.room(8 + follows)
	p.pen(10.5, true, ink)
	p.cell(left, p.y, width, 6, text, "L")
	p.y += 7
}

// column is one column of a table.
type column struct {
	title string
	w     float64 // mm; more where the texts need it and others have it to give
	align string
}

// tableRow is one row; red ones are those that need a look.
type tableRow struct {
	cells []string
	red   []bool
	small string // below the first cell
}

// measured returns the columns with their titles in the reader's language and the widths
// that the texts need: titles go over several lines where there is no room for all.
func (p *page) measured(cols []column, rows []tableRow, size, total float64) []column {
	cols = slices.Clone(cols)
	needed, words, whole := make([]float64, len(cols)), make([]float64, len(cols)), 0.0
	p.pen(size, true, ink) // as wide as it may become
	for i := range rows {
		for k, text := range rows[i].cells {
			needed[k] = max(needed[k], p.GetStringWidth(p.clean(text))+beside)
		}
	}
	copy(words, needed)
	p.pen(7.5, true, muted)
	for k := range cols {
		cols[k].title = p.r.say(cols[k].title)
		needed[k] = max(needed[k], p.GetStringWidth(p.clean(cols[k].title))+beside)
		for _, word := range strings.Fields(cols[k].title) {
			words[k] = max(words[k], p.GetStringWidth(p.clean(word))+beside)
		}
		whole += needed[k]
	}
	if whole > total {
		needed = words
	}
	apportion(cols, needed, total)
	return cols
}

// beside is the width of a column besides its text, in mm.
const beside = 2.0

// apportion widens every column to what it needs, at the cost of those that have room, and where
// that is not enough of the widest, whose text is shortened.
func apportion(cols []column, needed []float64, total float64) {
	over, room, widest := -total, 0.0, 0
	for k := range cols {
		room += max(cols[k].w-needed[k], 0)
		over += max(cols[k].w, needed[k])
		if needed[k] > needed[widest] {
			widest = k
		}
	}
	part := 0.0 // of the room that is taken
	if room > 0 {
		part = min(max(over/room, 0), 1)
	}
	for k := range cols {
		cols[k].w = max(cols[k].w, needed[k]) - part*max(cols[k].w-needed[k], 0)
	}
	cols[widest].w -= max(over-room, 0)
}

// head writes the titles of measured columns from x on, over as many lines as they need,
// and returns how high it is.
func (p *page) head(cols []column, x float64) float64 {
	p.pen(7.5, true, muted)
	titles, most, start := make([][]string, len(cols)), 0, x
	for k, c := range cols {
		titles[k] = p.wrap(c.title, c.w-1)
		most = max(most, len(titles[k]))
	}
	const line = 3.3
	h := 1.7 + line*float64(most)
	for k, c := range cols {
		y := p.y + 0.85 + line*float64(most-len(titles[k]))
		for _, text := range titles[k] {
			p.cell(x, y, c.w, line, text, c.align)
			y += line
		}
		x += c.w
	}
	p.line(start, p.y+h, x, p.y+h, rule, 0.3)
	return h
}

// tableOf writes a table from the left edge, its head again on every page.
func (p *page) tableOf(cols []column, rows []tableRow, size, height float64) {
	cols = p.measured(cols, rows, size, width)
	head := func() { p.y += p.head(cols, left) }
	p.room(10 + height)
	head()
	for i, row := range rows {
		h := height
		if row.small != "" {
			h += 3.4
		}
		if p.y+h > bottom {
			p.next()
			head()
		}
		if i%2 == 1 {
			p.fill(left, p.y, width, h, stripe)
		}
		x := left
		for k, c := range cols {
			p.pen(size, k == 0 && row.small != "" || row.isRed(k), ink)
			if row.isRed(k) {
				p.pen(size, true, alarm)
			}
			p.cell(x, p.y, c.w, height, row.cells[k], c.align)
			x += c.w
		}
		if row.small != "" {
			p.pen(7, false, muted)
			p.cell(left, p.y+height-1.1, width, 3.6, row.small, "L")
		}
		p.y += h
	}
	p.line(left, p.y, right, p.y, rule, 0.2)
	p.y += 2
}

func (r *tableRow) isRed(k int) bool { return k < len(r.red) && r.red[k] }
