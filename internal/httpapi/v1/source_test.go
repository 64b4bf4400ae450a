package v1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/rimewatch/rimewatch"
)

// codesInSource reads the codes from the root package's source, so that a new
// one without a status fails here.
func codesInSource(t *testing.T) []rimewatch.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []rimewatch.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Code" || len(spec.Values) == 0 {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, rimewatch.Code(text))
		return true
	})
	if len(codes) < 18 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	return codes
}

// mapFS is a folder of texts.
type mapFS map[string]string

// Open implements fs.FS.
func (m mapFS) Open(name string) (fs.File, error) {
	files := make(fstest.MapFS, len(m))
	for k, v := range m {
		files[path.Clean(k)] = &fstest.MapFile{Data: []byte(v)}
	}
	return files.Open(name)
}
