// Package logfile reads the files that loggers and apps export, as they are: a table of times
// and measurements, somewhere in a text. It is pure: bytes in, readings out, and every row of
// the table that is no reading is named with the reason.
//
// # From bytes to rows
//
// The text is in UTF-8, UTF-16, Shift-JIS or Windows-1252 (text.go). The table begins below the
// first line whose cells are headings of a time and a measurement; what stands above may state
// the serial of the logger, the unit and the time zone (preamble.go). The headings are
// understood by package inlet, as the names of all other senders are (columns.go).
//
// # Time
//
// Times of a column have one form: the one that all of the first rows have and by which time
// runs back least (forms.go). A time without a zone is of the one that its heading or the text
// above the table states, or else of the caller's. Of the hour that comes twice the rows that
// come first are of the first pass; a time that the zone skips is none (zone.go).
package logfile
