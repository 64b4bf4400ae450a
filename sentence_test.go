package rimewatch_test

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestStoredSentences: what is kept of a sentence is the same sentence, in every language.
func TestStoredSentences(t *testing.T) {
	say := func(english string) string {
		return cmp.Or(map[string]string{"%s: %d of %g in %s": "%s: %d de %g en %s", "no more": "no más", "so: %s": "así: %s"}[english], english)
	}
	for _, tt := range []struct {
		s               rimewatch.Sentence
		english, theirs string
	}{
		{rimewatch.Sentencef("no more"), "no more", "no más"},
		{rimewatch.Sentencef("%s: %d of %g in %s", rimewatch.Sentencef("no more"), int64(7), 3.0, 2*time.Second), "no more: 7 of 3 in 2s", "no más: 7 de 3 en 2s"},
		{rimewatch.Sentencef("so: %s", errors.New("no more")), "so: no more", "así: no más"},
		{rimewatch.Sentencef("so: %s", errors.New("at 100 %")), "so: at 100 %", "así: at 100 %"},
		{rimewatch.Sentencef("so: %s", `["%d"]`), `so: ["%d"]`, `así: ["%d"]`},
		{rimewatch.Sentencef("so: %s", rimewatch.CodeConflict), "so: conflict", "así: conflict"},
	} {
		kept := rimewatch.SentenceOf(tt.s.Stored())
		if kept.String() != tt.english || kept.In(say) != tt.theirs || tt.s.In(say) != tt.theirs {
			t.Errorf("%q: %q and %q, want %q and %q", tt.s.Stored(), kept.String(), kept.In(say), tt.english, tt.theirs)
		}
	}
	// Words that were kept as they are, and what only looks like a list.
	for _, text := range []string{"The channel was removed.", "100 % of %s", `["`, "[1, 2]", `[{"a":1}]`, ""} {
		if got := rimewatch.SentenceOf(text).String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if text := rimewatch.Sentencef(`["so: %%s"]`); rimewatch.SentenceOf(text.Stored()).String() != text.String() {
		t.Errorf("%q became %q", text.String(), rimewatch.SentenceOf(text.Stored()))
	}
}
