package rimewatch_test

import (
	"errors"
	"reflect"
	"testing"

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
