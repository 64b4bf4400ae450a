package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestCommentsNameTheirOwn: a doc comment that begins with a name begins with that of what
// it describes, as it is written today.
func TestCommentsNameTheirOwn(t *testing.T) {
	word := regexp.MustCompile(`^[\pL_][\pL\d_]*`)
	check := func(s *source, doc *ast.CommentGroup, name string) {
		first := word.FindString(doc.Text())
		if first != "" && first != name && (first[0] >= 'a' && first[0] <= 'z' || strings.EqualFold(first, name)) {
			t.Errorf("%s: the comment of %s begins with %q", s.path, name, first)
		}
	}
	n := 0
	for _, s := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), s.path, s.text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(&s, d.Doc, d.Name.Name)
				n++
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					doc := d.Doc
					switch x := spec.(type) {
					case *ast.TypeSpec:
						if len(d.Specs) > 1 {
							doc = x.Doc
						}
						check(&s, doc, x.Name.Name)
					case *ast.ValueSpec:
						if len(d.Specs) > 1 {
							doc = x.Doc
						}
						check(&s, doc, x.Names[0].Name)
					}
				}
			}
		}
	}
	if n < 5000 {
		t.Errorf("only %d functions were looked at", n)
	}
}
