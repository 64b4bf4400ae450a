package logfile

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/rimewatch/rimewatch"
)

// The names of encodings, as IANA has them.
const (
	utf8Name        = "UTF-8"
	utf16Name       = "UTF-16"
	shiftJISName    = "Shift_JIS"
	windows1252Name = "windows-1252"
)

// foreign are the first bytes of files that are often taken for a logger's table.
var foreign = []struct {
	begin string
	kind  rimewatch.Sentence
}{
	{"PK\x03\x04", rimewatch.Sentencef("is an Excel workbook or an archive; save the table as CSV")},
	{"\xD0\xCF\x11\xE0", rimewatch.Sentencef("is an Excel workbook; save the table as CSV")},
	{"%PDF", rimewatch.Sentencef("is a PDF; export the readings as CSV or text")},
}

// decode returns the text of a file and its encoding.
func decode(file []byte) (text, encoding string, err error) {
	for _, f := range foreign {
		if bytes.HasPrefix(file, []byte(f.begin)) {
			return "", "", problem{f.kind}
		}
	}
	if order := utf16Order(file); order != nil {
		text, encoding = utf16Text(file, order), utf16Name
	} else {
		text, encoding = bytesText(bytes.TrimPrefix(file, []byte("\ufeff")))
	}
	if encoding == "" || !readable(text) {
		return "", "", fail("is not a text; export the readings as CSV or text")
	}
	if strings.TrimSpace(text) == "" {
		return "", "", fail("is empty")
	}
	if strings.IndexByte(text, '\n') < 0 { // lines of old Macs
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text, encoding, nil
}

// utf16Order returns the byte order of UTF-16, by its mark or by where the zeros stand; nil =
// it is something else.
func utf16Order(file []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(file, []byte{0xFF, 0xFE}):
		return binary.LittleEndian
	case bytes.HasPrefix(file, []byte{0xFE, 0xFF}):
		return binary.BigEndian
	}
	var zeros [2]int
	start := file[:min(len(file), 1024)&^1]
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch most := len(start) / 4; { // half of the units are in ASCII at least
	case len(start) < 8:
	case zeros[1] > most && zeros[0] == 0:
		return binary.LittleEndian
	case zeros[0] > most && zeros[1] == 0:
		return binary.BigEndian
	}
	return nil
}

func utf16Text(file []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(file)/2)
	for i := range units {
		units[i] = order.Uint16(file[2*i:])
	}
	return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
}

// bytesText returns a text of bytes that is not UTF-16; "" as encoding when it is none.
func bytesText(file []byte) (text, encoding string) {
	if utf8.Valid(file) {
		return string(file), utf8Name
	}
	if bytes.IndexByte(file, 0) >= 0 {
		return "", ""
	}
	if shiftJIS(file) {
		if out, err := japanese.ShiftJIS.NewDecoder().Bytes(file); err == nil && !bytes.ContainsRune(out, utf8.RuneError) {
			return string(out), shiftJISName
		}
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(file)
	if err != nil {
		return "", ""
	}
	return string(out), windows1252Name
}

// shiftJIS reports whether bytes are rather Shift-JIS than Windows-1252: there are pairs whose
// second byte is no ASCII, and not more half-width letters than pairs. A degree sign of
// Windows-1252 is a half-width letter, an accented letter before a plain one a pair with ASCII.
func shiftJIS(file []byte) bool {
	pairs, halves := 0, 0
	for i := 0; i < len(file); i++ {
		switch b := file[i]; {
		case b < 0x80:
		case b >= 0xA1 && b <= 0xDF:
			halves++
		case b == 0x80 || b == 0xA0 || b > 0xFC || i+1 == len(file) || file[i+1] < 0x40 || file[i+1] == 0x7F || file[i+1] > 0xFC:
			return false
		default:
			if i++; file[i] >= 0x80 {
				pairs++
			}
		}
	}
	return pairs > 0 && halves <= pairs
}

// readable reports whether a text has no more than a few control characters: what a program
// stores for itself has many.
func readable(text string) bool {
	odd := 0
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1A || c == utf8.RuneError {
			odd++
		}
	}
	return odd <= len(text)/1000
}
