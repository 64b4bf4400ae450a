package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestWhoAsksShort: what asks testing.Short stands in a test itself, or in a helper
// that the Makefile knows. The Makefile runs the tests that ask a second time, in full,
// and would miss one that asks by another helper.
func TestWhoAsksShort(t *testing.T) {
	known, asking := []string{"long", "shorter", "play", "playUntil"}, 0
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
			name := fn.Name.Name
			if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Benchmark") && !slices.Contains(known, name) {
				t.Errorf("%s: %s asks testing.Short for its callers", f.path, name)
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
