package rimewatch_test

import (
	"cmp"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestErrorIn: an error is written in another language from what it was made of,
// sentences within sentences too, and the error itself stays as it is.
func TestErrorIn(t *testing.T) {
	french := map[string]string{
		"%d of %s": "%[2]s : %[1]d", "sites": "sites (fr)", "is 100%% wrong": "est 100%% faux", "Bad.": "Mauvais.",
		"must be %s": "doit être %s", "%s or %s": "%s ou %s", "no": "non",
	}
	say := func(s string) string {
		if own, ok := french[s]; ok {
			return own
		}
		return s
	}
	e := rimewatch.Wrap(rimewatch.CodeConflict, errors.New("secret"), "%d of %s", 7, rimewatch.Sentencef("sites"))
	e.With("a", "must be %s", rimewatch.Sentencef("%s or %s", "no", "yes")).With("a", "%s", errors.New("no")).With("b", "is 100%% wrong").With("b", "50%% of it").With("c", "%s", "a name")
	all := rimewatch.Merge(nil, e)
	all = rimewatch.Merge(&rimewatch.Error{Code: rimewatch.CodeValidationFailed, Message: "Bad."}, all).Take("d", e, "a")
	for _, x := range []struct {
		got, want any
	}{
		{e.Message, "7 of sites"},
		{e.In(say).Message, "sites (fr) : 7"},
		{e.In(say).Fields, map[string][]string{"a": {"doit être no ou yes", "non"}, "b": {"est 100% faux", "50% of it"}, "c": {"a name"}}},
		{e.Fields["a"], []string{"must be no or yes", "no"}},
		{all.In(say).Message, "Mauvais."},
		{all.In(say).Fields["d"], []string{"doit être no ou yes", "non"}},
		{all.In(say).Fields["b"], []string{"est 100% faux", "50% of it"}},
		{all.Fields["b"], []string{"is 100% wrong", "50% of it"}},
		{e.In(say).Error(), "conflict: sites (fr) : 7: secret"},
		{rimewatch.Wrap(rimewatch.CodeUnavailable, errors.New("disk full"), "The store is closing.").Error(), "unavailable: The store is closing: disk full"},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%q, want %q", x.got, x.want)
		}
	}
}

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
