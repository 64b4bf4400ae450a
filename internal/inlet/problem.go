package inlet

import (
	"errors"

	"github.com/rimewatch/rimewatch"
)

// problem is an error whose words are written in the language of the person who reads
// them.
type problem struct{ rimewatch.Sentence }

func (p problem) Error() string { return p.String() }

// fail makes a problem.
func fail(format string, args ...any) error { return problem{rimewatch.Sentencef(format, args...)} }

func errTooMany() error { return fail("more than %d readings in one payload", maxItems) }

// mostOfLibrary is how much of a library's own words, bytes, is said behind ours.
const mostOfLibrary = 160

// sentenceOf returns the sentence of an error.
func sentenceOf(err error) rimewatch.Sentence {
	var p problem
	if errors.As(err, &p) {
		return p.Sentence
	}
	return rimewatch.SentenceOf(err.Error())
}

// reason returns what an error says as a Problem holds it: as Sentence.Stored
// returns it.
func reason(err error) string { return sentenceOf(err).Stored() }

// within puts the text of an error into a sentence.
func within(format string, err error) string {
	return rimewatch.Sentencef(format, sentenceOf(err)).Stored()
}

// invalid is the refusal of a template's member with the text of an error.
func invalid(member string, err error) *rimewatch.Error {
	return rimewatch.Invalid(member, "%v", sentenceOf(err))
}
