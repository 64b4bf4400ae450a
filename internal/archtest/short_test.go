package archtest

import (
	"bytes"
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhoAsksShort: what asks testing.Short stands in a test itself, or in a helper
// that the Makefile knows (long, shorter, play) or that only its own file uses. The
// Makefile runs the files of tests that ask a second time, in full, and would miss a
// test that asks by a helper of another file.
func TestWhoAsksShort(t *testing.T) {
	known := map[string]bool{"long": true, "shorter": true, "play": true}
	texts, asking := map[string][]byte{}, 0
	walk(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			texts[path] = text
		}
	})
	for _, f := range goFiles(t) {
		if !strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !asksShort(fn) {
				continue
			}
			asking++
			if name := fn.Name.Name; !strings.HasPrefix(name, "Test") && !known[name] {
				for path, text := range texts {
					if path != f.path && filepath.Dir(path) == filepath.Dir(f.path) && bytes.Contains(text, []byte(name+"(")) {
						t.Errorf("%s: %s asks testing.Short for the tests of %s", f.path, name, path)
					}
				}
			}
		}
	}
	if asking < 10 {
		t.Fatalf("only %d functions ask: the test looks in the wrong place", asking)
	}
}

// asksShort reports whether a function has its length depend on -short, as
// rapid.Check does, too.
func asksShort(fn *ast.FuncDecl) (asks bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				asks = asks || x.Name+"."+s.Sel.Name == "testing.Short" || x.Name+"."+s.Sel.Name == "rapid.Check"
			}
		}
		return true
	})
	return asks
}
