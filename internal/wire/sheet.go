package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
)

// Sheet is a CSV file as spreadsheets write it: separated by commas, semicolons or
// tabs, in UTF-8 or UTF-16, with or without a first line that says "sep=;".
type Sheet struct {
	*csv.Reader

	// decimalComma is true where the separator leaves the comma for numbers.
	decimalComma bool
}

// NewSheet opens a file: CodeInvalidJSON for one with nothing in it, or one that is
// not text in UTF-8 or UTF-16. The code pages of older spreadsheets are refused, not
// guessed: a wrong guess changes names without a word.
func NewSheet(file []byte) (*Sheet, *rimewatch.Error) {
	text, ok := sheetText(file)
	if !ok {
		return nil, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The file is not text in UTF-8 or UTF-16. In a spreadsheet, save it as CSV UTF-8.")
	}
	if Blank(text) {
		return nil, rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The file is empty.")
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	comma := sniffComma(first)
	if sep, ok := bytes.CutPrefix(bytes.Trim(first, "\" \r"), []byte("sep=")); ok && len(sep) == 1 && bytes.ContainsAny(sep, ",;\t") {
		comma = rune(sep[0])
		text = append([]byte("\n"), rest...) // the other lines keep their numbers
	}
	s := &Sheet{Reader: csv.NewReader(bytes.NewReader(text)), decimalComma: comma != ','}
	s.Comma = comma
	s.TrimLeadingSpace = comma != '\t' // a leading tab is an empty cell
	return s, nil
}

// sheetText returns a file as UTF-8 without a byte order mark.
func sheetText(file []byte) ([]byte, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(file, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(file, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		file = bytes.TrimPrefix(file, []byte("\ufeff"))
		return file, utf8.Valid(file) && bytes.IndexByte(file, 0) < 0
	}
	if len(file)%2 != 0 {
		return nil, false
	}
	units := make([]uint16, 0, len(file)/2-1)
	for i := 2; i < len(file); i += 2 {
		units = append(units, order.Uint16(file[i:]))
	}
	text := string(utf16.Decode(units))
	return []byte(text), !strings.ContainsAny(text, "\x00\ufffd")
}

// sniffComma takes the separator that a line has most of.
func sniffComma(line []byte) rune {
	best, most := ',', bytes.Count(line, []byte(","))
	for _, sep := range ";\t" {
		if n := bytes.Count(line, []byte(string(sep))); n > most {
			best, most = sep, n
		}
	}
	return best
}

// ColumnName returns the name of a column as the API writes it: "equipment_type"
// of "Equipment Type".
func ColumnName(heading string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.Join(strings.Fields(heading), " ")))
}

// Number returns a cell that is meant as a number with a point where the file
// writes a comma; any other cell as it is.
func (s *Sheet) Number(cell string) string {
	whole, fraction, ok := strings.Cut(cell, ",")
	if !ok || !s.decimalComma || !digits(strings.TrimLeft(whole, "+-")) || !digits(fraction) {
		return cell
	}
	return whole + "." + fraction
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// SheetTime returns a cell that is a date, 2024-02-01 or 1.2.2024, as the noon of
// that day in UTC, which is that day nearly everywhere; any other cell as it is.
// Dates with slashes are not read: their order of day and month is not known.
func SheetTime(cell string) string {
	for _, layout := range []string{time.DateOnly, "2.1.2006"} {
		if day, err := time.Parse(layout, cell); err == nil {
			return day.Add(12 * time.Hour).Format(time.RFC3339)
		}
	}
	return cell
}
