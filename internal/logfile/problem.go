package logfile

import "github.com/rimewatch/rimewatch"

// problem is an error whose words are written in the language of whoever reads them.
type problem struct{ rimewatch.Sentence }

// Error implements error.
func (p problem) Error() string { return p.String() }

// fail makes a problem.
func fail(format string, args ...any) error { return problem{rimewatch.Sentencef(format, args...)} }

// SentenceOf returns what an error of Read says of the file.
func SentenceOf(err error) rimewatch.Sentence {
	if p, ok := err.(problem); ok { //nolint:errorlint // Read wraps none
		return p.Sentence
	}
	return rimewatch.SentenceOf(err.Error())
}

// Reason is why rows are no readings, or cells no measurements.
type Reason struct {
	Text rimewatch.Sentence
	N    int   // rows or cells
	At   []int // the lines of the first of them, from 1

	said string
}

// The bounds of the lines that a Reason names, and of the reasons of a file.
const (
	mostLines   = 3
	mostReasons = 20
)

// reasons gathers them.
type reasons []Reason

// add counts one more. A file in which everything is wrong in its own way has its rows under
// the last of the reasons.
func (all *reasons) add(line int, text rimewatch.Sentence) {
	said := text.String()
	i := 0
	for i < len(*all) && (*all)[i].said != said {
		i++
	}
	if i == len(*all) && i == mostReasons {
		i--
	} else if i == len(*all) {
		*all = append(*all, Reason{Text: text, said: said})
	}
	r := &(*all)[i]
	if r.N++; len(r.At) < mostLines {
		r.At = append(r.At, line)
	}
}
