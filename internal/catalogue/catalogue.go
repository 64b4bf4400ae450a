package catalogue

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed *.json
var files embed.FS

// English is the language of the code.
const English = "en"

// Texts are those of one language.
type Texts struct {
	Language string // its tag
	Name     string // what its speakers call it
	Decimal  string // the sign before decimals
	tag      language.Tag
	texts    map[string]text
}

// text is one text, or its plural forms by their names in CLDR.
type text struct {
	one   string
	forms map[string]string
}

func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &t.one)
	}
	return json.Unmarshal(b, &t.forms)
}

var all = sync.OnceValue(load)

// load reads every language. The files are the program's own, so one that cannot
// be read is a mistake that the first test finds.
func load() map[string]*Texts {
	out := map[string]*Texts{English: {Language: English, Name: "English", Decimal: ".", tag: language.English}}
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		tag, _ := strings.CutSuffix(e.Name(), ".json")
		if tag == "server" {
			continue
		}
		b, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		var f struct {
			Name    string
			Decimal string
			Texts   map[string]text
		}
		if err := json.Unmarshal(b, &f); err != nil {
			panic(fmt.Errorf("%s: %w", e.Name(), err))
		}
		out[tag] = &Texts{Language: tag, Name: f.Name, Decimal: f.Decimal, tag: language.Make(tag), texts: f.Texts}
	}
	return out
}

// Languages lists the tags of all languages, sorted.
func Languages() []string {
	return slices.Sorted(maps.Keys(all()))
}

// Of returns the texts of a language; those of English for one that is not
// there.
func Of(tag string) *Texts {
	if t, ok := all()[tag]; ok {
		return t
	}
	if base, _, cut := strings.Cut(tag, "-"); cut {
		return Of(base)
	}
	return all()[English]
}

// Known reports whether there are texts of a language.
func Known(tag string) bool { return all()[tag] != nil }

// Match is the tag of the language that suits an Accept-Language header best
// (RFC 9110, 12.5.4), English without one.
func Match(accept string) string {
	const mostWanted = 20 // whoever lists more has no wish
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return English
	}
	for _, w := range wanted[:min(len(wanted), mostWanted)] {
		base, _ := w.Base()
		for _, tag := range []string{w.String(), base.String()} {
			if Known(tag) {
				return tag
			}
		}
	}
	return English
}

// Say is an English text in the language.
func (t *Texts) Say(english string) string {
	if own := t.texts[english].one; own != "" {
		return own
	}
	return english
}

// Sayf fills the verbs of fmt in an English text in the language.
func (t *Texts) Sayf(english string, args ...any) string {
	return fmt.Sprintf(t.Say(english), args...)
}

// Count is a text about n things, %d in it.
func (t *Texts) Count(n int, one, many string) string {
	s := many
	if own, ok := t.texts[many]; ok && own.forms != nil {
		s = own.form(plural.Cardinal.MatchPlural(t.tag, n, 0, 0, 0, 0))
	} else if n == 1 {
		s = one
	}
	if strings.Contains(s, "%d") {
		return fmt.Sprintf(s, n)
	}
	return s
}

func (t *text) form(f plural.Form) string {
	name := map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}[f]
	if s := t.forms[name]; s != "" {
		return s
	}
	return t.forms["other"]
}

// Find returns the forms of a text in the language, and whether there are any.
func (t *Texts) Find(english string) (forms []string, ok bool) {
	own, ok := t.texts[english]
	forms = append(forms, own.one)
	for _, s := range own.forms {
		forms = append(forms, s)
	}
	return forms, ok && (own.one != "" || len(own.forms) > 0)
}
