package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDraws: what tests draw at random is the same whenever they are run. The tests of
// a package that use rapid import internal/trial, and nothing draws from a source
// without a seed. In e2e, programs are killed at moments that no seed decides alone.
func TestDraws(t *testing.T) {
	rapid, fixed := map[string]bool{}, map[string]bool{}
	for _, f := range goFiles(t) {
		if !strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		dir := filepath.Dir(f.path)
		for _, i := range f.ast.Imports {
			switch path, _ := strconv.Unquote(i.Path.Value); path {
			case "pgregory.net/rapid":
				rapid[dir] = true
			case module + "/internal/trial":
				fixed[dir] = true
			case "math/rand/v2", "math/rand":
				if !under(dir, []string{"e2e"}) {
					seedless(t, &f, i)
				}
			}
		}
	}
	for dir := range rapid {
		if !fixed[dir] {
			t.Errorf("%s: its tests use rapid without internal/trial", dir)
		}
	}
	if len(rapid) < 15 {
		t.Fatalf("only %d packages use rapid: the test looks in the wrong place", len(rapid))
	}
}

// seedless finds what a file takes from math/rand's own source.
func seedless(t *testing.T, f *file, spec *ast.ImportSpec) {
	name := "rand"
	if spec.Name != nil {
		name = spec.Name.Name
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			if ok && x.Name == name && !slices.Contains([]string{"New", "NewPCG", "NewZipf", "Rand", "Source"}, s.Sel.Name) {
				t.Errorf("%s:%d: %s.%s draws something else at each run", f.path, f.set.Position(s.Pos()).Line, name, s.Sel.Name)
			}
		}
		return true
	})
}
