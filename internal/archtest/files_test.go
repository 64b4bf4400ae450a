package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file is a parsed Go file.
type file struct {
	path string
	set  *token.FileSet
	ast  *ast.File
}

func goFiles(t *testing.T) (files []file) {
	t.Helper()
	walk(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{path, set, f})
	})
	if len(files) < 200 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(files))
	}
	return files
}

// walk visits every Go, TypeScript and Svelte file that people write.
func walk(t *testing.T, visit func(path string, text []byte)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (path != "." && strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || !slices.Contains([]string{".go", ".ts", ".svelte"}, filepath.Ext(path)) || slices.Contains([]string{"web/src/api/schema.d.ts", "sdk/typescript/src/schema.ts"}, path) {
			return nil // the schema is made from the service's own description
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		visit(path, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
