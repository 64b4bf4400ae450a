package catalogue_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
)

var update = flag.Bool("update", false, "write server.json anew, and sort the languages")

// tables are the packages whose tables of texts are said by their keys.
var tables = map[string]bool{"phrase": true, "message": true, "report": true, "record": true}

// said are the functions that take what people read, and which argument it is.
var said = map[string]int{
	"Say": 0, "Sayf": 0, "say": 0, "sayf": 0, "Count": 2,
	"Errorf": 1, "Wrap": 2, "Invalid": 1, "With": 1, "Add": 1, "complain": 2, "InvalidJSON": 0, "Sentencef": 0, "why": 0, "problem": 0, "within": 0, "fail": 0, // what an error says
	"end": 2, // what a delivery that was not sent says
}

// others are packages whose functions of these names are something else.
var others = map[string]bool{"fmt": true, "slog": true, "time": true, "log": true}

// notService are folders whose errors no person sees in the UI.
var notService = map[string]bool{
	"client": true, "cmd": true, "e2e": true, "tools": true, "web": true, ".git": true,
	"lab": true, "internal/simulate": true, "internal/demo": true, "internal/store/storetest": true,
}

// argument is which argument of a call people read, in a file of a package.
func argument(pkg string, x *ast.CallExpr) (i int, ok bool) {
	from, name := "", ""
	switch f := x.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if id, ok := f.X.(*ast.Ident); ok {
			from = id.Name
		}
	}
	i, ok = said[name]
	switch {
	case from == "fmt" && name == "Errorf" && pkg == "rimewatch":
		i = 0 // of a value that cannot be read
	case others[from] || name == "fail" && from != "":
		return 0, false
	}
	return i, ok && i < len(x.Args)
}

// returned adds the texts that a function returns.
func returned(add func(ast.Expr)) func(ast.Node) bool {
	return func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, e := range r.Results {
				add(e)
			}
		}
		return true
	}
}

func literal(s string) ast.Expr { return &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(s)} }

// bare texts have no words of their own, or are the names of headers.
var bare = regexp.MustCompile(`^(%[a-z]|[:. ])*$|^[A-Z][a-z]+(-[A-Z][a-z]+)+$`)

var slug = regexp.MustCompile(`^[a-z0-9_.:/%-]*$`)

// texts are what the service says to people: what stands in calls of Say, Sayf
// and Count, and in the tables of the packages that have some.
func texts(t *testing.T) []string {
	t.Helper()
	found := make(map[string]bool)
	add := func(e ast.Expr) {
		if s := constant(e); s != "" && !strings.HasSuffix(s, "\n") && !bare.MatchString(s) {
			found[s] = true
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && notService[strings.TrimPrefix(filepath.ToSlash(path), "../../")] {
			return filepath.SkipDir
		}
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
				if i, ok := argument(f.Name.Name, x); ok {
					add(x.Args[i])
				}
			case *ast.FuncDecl:
				if x.Name.Name == "Missing" {
					ast.Inspect(x.Body, returned(add))
				}
			case *ast.Field:
				if x.Tag != nil {
					tag, _ := strconv.Unquote(x.Tag.Value)
					add(literal(reflect.StructTag(tag).Get("patternDescription")))
				}
			case *ast.AssignStmt:
				if sel, ok := x.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Message" {
					add(x.Rhs[0])
				}
			case *ast.KeyValueExpr:
				if key, ok := x.Key.(*ast.Ident); ok && key.Name == "Message" {
					add(x.Value)
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
	for _, p := range rimewatch.CheckPacks() {
		found[p.Name], found[p.Text], found[p.Read], found[p.Unread] = true, true, true, true
	}
	for f := range rimewatch.AllFields.All() {
		found[f.Info().Label] = true
	}
	for _, f := range rimewatch.DeviceFields() {
		found[f.Label] = true
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
			if strings.Contains(constant(kv.Key), "=") { // a name and its word
				add(e)
			}
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

// TestSpanishQuotes: a quotation is marked in one way.
func TestSpanishQuotes(t *testing.T) {
	b, err := os.ReadFile("es.json")
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexAny(string(b), "«»"); at >= 0 {
		t.Errorf("es.json quotes “so”, and not as in %q", b[at:min(at+40, len(b))])
	}
}

func sorted(list []string) []string {
	for i := range list {
		list[i] = strings.ReplaceAll(regexp.MustCompile(`\[\d\]`).ReplaceAllString(list[i], ""), "%M", "%m") // the same name, with a capital
	}
	slices.Sort(list)
	return list
}

// TestSorted holds every catalogue in the order of its texts, so that what two people
// add stands in two places. With -update it sorts them.
func TestSorted(t *testing.T) {
	names, err := filepath.Glob("??.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Name    string                     `json:"name"`
			Decimal string                     `json:"decimal"`
			Texts   map[string]json.RawMessage `json:"texts"`
		}
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatal(name, err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(c); err != nil {
			t.Fatal(name, err)
		}
		if *update {
			if err := os.WriteFile(name, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if !bytes.Equal(b, want.Bytes()) {
			t.Errorf("%s is not sorted: go test ./internal/catalogue -update", name)
		}
	}
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
