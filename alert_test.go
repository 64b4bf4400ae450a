package rimewatch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// TestAlertTypes: every constant of the kind is in the list, once.
func TestAlertTypes(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "alert.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "AlertType" {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(AlertTypes(), AlertType(name)) {
			t.Errorf("%s is not in the list", name)
		}
		n++
		return true
	})
	if n == 0 || n != len(AlertTypes()) {
		t.Errorf("%d constants, %d in the list", n, len(AlertTypes()))
	}
}
