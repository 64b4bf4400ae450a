package inlet

import (
	"errors"

	"github.com/rimewatch/rimewatch"
)

// problem is an error whose words are written in the language of whoever reads
// them.
type problem struct{ rimewatch.Sentence }

func (p problem) Error() string { return p.String() }

// fail makes a problem.
func fail(format string, args ...any) error { return problem{rimewatch.Sentencef(format, args...)} }

func errTooMany() error { return fail("more than %d readings in one payload", maxItems) }

// said returns what an error says as a Problem holds it: as Sentence.Stored
// returns it.
func said(err error) string {
	var p problem
	if errors.As(err, &p) {
		return p.Stored()
	}
	return err.Error()
}

// shortened returns what an error says of a line, of a library's words the beginning.
func shortened(err error) rimewatch.Sentence {
	const most = 160
	var p problem
	if errors.As(err, &p) {
		return p.Sentence
	}
	return rimewatch.SentenceOf(clip(err.Error(), most))
}

// within puts what an error says into a sentence.
func within(format string, err error) string {
	return rimewatch.Sentencef(format, rimewatch.SentenceOf(said(err))).Stored()
}
