package wire

import "testing"

// TestSheetCells: what a spreadsheet makes of numbers, dates and headings.
func TestSheetCells(t *testing.T) {
	for file, want := range map[string]string{"a;b\n": "-15.5", "a\tb\n": "-15.5", "sep=;\na\n": "-15.5", "a,b\n": "-15,5", "a\n": "-15,5"} {
		s, e := NewSheet([]byte(file))
		if e != nil {
			t.Fatal(e)
		}
		if got := s.Number("-15,5"); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
		for _, cell := range []string{"1.234,5", "1,2,3", ",5", "4,", "x,5"} {
			if got := s.Number(cell); got != cell {
				t.Errorf("%q: %s became %s", file, cell, got)
			}
		}
	}
	for cell, want := range map[string]string{
		"2024-02-01": "2024-02-01T12:00:00Z", "1.2.2024": "2024-02-01T12:00:00Z", "01.02.2024": "2024-02-01T12:00:00Z", "02/01/2024": "02/01/2024",
		"2024-02-01T08:00:00+01:00": "2024-02-01T08:00:00+01:00", "2024-02-30": "2024-02-30", "": "",
	} {
		if got := SheetTime(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
	for heading, want := range map[string]string{" Equipment  Type ": "equipment_type", "Temp-Max": "temp_max", "site_id": "site_id"} {
		if got := ColumnName(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}

// TestSheetRefused: what is no text says so, and is not guessed at.
func TestSheetRefused(t *testing.T) {
	for file, want := range map[string]string{
		"":                       "The file is empty.",
		"\ufeff \r\n":            "The file is empty.",
		"serial;name\nA;K\xfchl": "The file is not text in UTF-8 or UTF-16. In a spreadsheet, save it as CSV UTF-8.",
		"PK\x03\x04\x00\x00":     "The file is not text in UTF-8 or UTF-16. In a spreadsheet, save it as CSV UTF-8.",
	} {
		if _, e := NewSheet([]byte(file)); e == nil || e.Message != want {
			t.Errorf("%q: %v, want %s", file, e, want)
		}
	}
}
