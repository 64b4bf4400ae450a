package catalogue_test

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
)

var update = flag.Bool("update", false, "write server.json anew")

// tables are the packages whose tables of texts are said by their keys.
var tables = map[string]bool{"phrase": true, "message": true, "report": true}

var slug = regexp.MustCompile(`^[a-z0-9_.:/%-]*$`)

// texts are what the service says to people: what stands in calls of Say, Sayf
// and Count, and in the tables of the packages that have some.
func texts(t *testing.T) []string {
	t.Helper()
	found := make(map[string]bool)
	add := func(e ast.Expr) {
		if s := constant(e); s != "" && !strings.HasSuffix(s, "\n") {
			found[s] = true
		}
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if sel, ok := x.Fun.(*ast.SelectorExpr); ok && len(x.Args) > 0 {
					switch sel.Sel.Name {
					case "Say", "Sayf", "say", "sayf":
						add(x.Args[0])
					case "Count":
						if len(x.Args) == 3 {
							add(x.Args[2])
						}
					}
				}
			case *ast.CompositeLit:
				if tables[f.Name.Name] {
					table(x, add)
				}
			case *ast.ValueSpec:
				if tables[f.Name.Name] && len(x.Values) == 1 {
					if strings.Contains(constant(x.Values[0]), " ") {
						add(x.Values[0])
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rimewatch.EquipmentTypes() {
		found[e.Label], found[e.Basis] = true, true
	}
	for f := range rimewatch.AllFields.All() {
		found[f.Info().Label] = true
	}
	for _, d := range rimewatch.DerivedMeasures() {
		found[d.Label] = true
	}
	var list []string
	for s := range found {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// constant is the string that a literal, or a sum of some, stands for.
func constant(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return constant(x.X) + constant(x.Y)
	}
	return ""
}

// table adds the texts of a composite literal, not its keys and what is a name.
func table(x *ast.CompositeLit, add func(ast.Expr)) {
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		if lit, ok := e.(*ast.BasicLit); ok && len(lit.Value) > len(`"L"`) && !slug.MatchString(strings.Trim(lit.Value, `"`)) {
			add(lit)
		}
	}
}

// TestServerTexts holds the list of the service's texts, which the web UI's test
// of the catalogues reads, against the code.
func TestServerTexts(t *testing.T) {
	b, err := json.MarshalIndent(texts(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile("server.json", b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("server.json"); err != nil || string(got) != string(b) {
		t.Errorf("server.json is not made from the code (%v): run go test ./internal/catalogue -update", err)
	}
}

var verbs = regexp.MustCompile(`%(?:\[\d\])?[.\d]*[a-zA-Z%]`)

// TestSpanishIsWhole: no text of the service is missing in Spanish, and every
// language has the verbs of the English text.
func TestSpanishIsWhole(t *testing.T) {
	for _, tag := range catalogue.Languages() {
		words := catalogue.Of(tag)
		for _, s := range texts(t) {
			own, has := words.Find(s)
			if tag == "es" && !has {
				t.Errorf("es: %q is missing", s)
			}
			for _, form := range own {
				if form != "" && !slices.Equal(sorted(verbs.FindAllString(form, -1)), sorted(verbs.FindAllString(s, -1))) {
					t.Errorf("%s: %q has other verbs than %q", tag, form, s)
				}
			}
		}
	}
}

func sorted(list []string) []string {
	for i := range list {
		list[i] = strings.ReplaceAll(regexp.MustCompile(`\[\d\]`).ReplaceAllString(list[i], ""), "%M", "%m") // the same name, with a capital
	}
	slices.Sort(list)
	return list
}

func TestLanguages(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "es": "es", "es-MX,es;q=0.9,en;q=0.8": "es", "pt-BR,pt;q=0.9,es;q=0.5": "es", "en-US,es;q=0.5": "en", "xx": "en", "*": "en", "\x00": "en",
	} {
		if got := catalogue.Match(accept); got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
	es := catalogue.Of("es-AR")
	if es.Say("Too warm") == "Too warm" || es.Say("no such text") != "no such text" || catalogue.Of("xx").Say("Too warm") != "Too warm" {
		t.Error("texts of another language")
	}
	for n, want := range map[int]string{0: "0 horas", 1: "1 hora", 2: "2 horas", 1_000_000: "1000000 horas"} {
		if got := es.Count(n, "%d hour", "%d hours"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
