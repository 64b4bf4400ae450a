package archtest

import (
	"bytes"
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

// What a reader can keep in mind at once. Tests count as well, except in the
// size of their package.
const (
	maxFile     = 500   // lines of a Go, TypeScript or Svelte file
	maxFunction = 80    // lines of a Go function, from func to its closing brace; rows of a test's table do not count
	maxPackage  = 6_000 // lines of a package without its tests
	maxMethods  = 60    // that a type or an interface declares; what it embeds counts where it is declared
	maxDepth    = 7     // packages of ours in a chain of imports, the root not counted
)

// over lists what is over a limit for now, with the most that it may be. An
// entry can only shrink; one that is not needed any more is an error.
var over = map[string]int{}

func TestFileLimit(t *testing.T) {
	limit(t, "lines", maxFile, fileLines(t))
}

func TestFunctionLimit(t *testing.T) {
	lines := map[string]int{}
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				name := fn.Name.Name
				if r := receiver(fn); r != "" {
					name = r + "." + name
				}
				n := f.lines(fn)
				if strings.HasSuffix(f.path, "_test.go") {
					n -= f.rows(fn)
				}
				lines[f.path+" "+name] = n
			}
		}
	}
	limit(t, "lines", maxFunction, lines)
}

func TestPackageLimit(t *testing.T) {
	lines := map[string]int{}
	for path, n := range fileLines(t) {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			lines[filepath.ToSlash(filepath.Dir(path))] += n
		}
	}
	limit(t, "lines", maxPackage, lines)
}

func TestMethodLimit(t *testing.T) {
	methods := map[string]int{}
	for _, f := range goFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(f.path))
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if r := receiver(d); r != "" {
					methods[dir+" "+r]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						if i, ok := s.Type.(*ast.InterfaceType); ok {
							methods[dir+" "+s.Name.Name] = i.Methods.NumFields()
						}
					}
				}
			}
		}
	}
	limit(t, "methods", maxMethods, methods)
}

// TestImportDepth measures the longest chain from a main package downwards.
func TestImportDepth(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		for _, i := range s.imports {
			if ours, found := strings.CutPrefix(i, module+"/"); found && !slices.Contains(imports[s.dir], ours) {
				imports[s.dir] = append(imports[s.dir], ours)
			}
		}
	}
	chains := map[string][]string{}
	var longest func(dir string) []string
	longest = func(dir string) []string {
		if c, ok := chains[dir]; ok {
			return c
		}
		var below []string
		for _, i := range imports[dir] {
			if c := longest(i); len(c) > len(below) {
				below = c
			}
		}
		chains[dir] = append([]string{dir}, below...)
		return chains[dir]
	}
	deepest := 0
	for dir := range imports {
		chain := longest(dir)
		deepest = max(deepest, len(chain))
		if len(chain) > maxDepth {
			t.Errorf("%d packages deep, at most %d: %s", len(chain), maxDepth, strings.Join(chain, " → "))
		}
	}
	if deepest < 4 {
		t.Fatalf("the deepest chain has %d packages: the test looks in the wrong place", deepest)
	}
}

// limit compares measurements with a limit, and with the entries of over.
func limit(t *testing.T, what string, most int, measured map[string]int) {
	t.Helper()
	if len(measured) == 0 {
		t.Fatal("nothing was measured")
	}
	for name, n := range measured {
		allowed, listed := over[name]
		switch {
		case listed && n <= most:
			t.Errorf("%s: %d %s; it is not over the limit any more, remove its entry", name, n, what)
		case n > max(most, allowed):
			t.Errorf("%s: %d %s, at most %d", name, n, what, max(most, allowed))
		}
	}
}

// file is a parsed Go file.
type file struct {
	path string
	set  *token.FileSet
	ast  *ast.File
}

func (f *file) lines(n ast.Node) int {
	return f.set.Position(n.End()).Line - f.set.Position(n.Pos()).Line + 1
}

// rows counts the lines within tables: lists and maps of cases. A function that
// is part of a case counts as far as it is over the limit.
func (f *file) rows(fn *ast.FuncDecl) (n int) {
	ast.Inspect(fn, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch table.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
		default:
			return true
		}
		n += f.lines(table) - 1
		ast.Inspect(table, func(node ast.Node) bool {
			if inner, ok := node.(*ast.FuncLit); ok && f.lines(inner) > maxFunction {
				n -= f.lines(inner)
			}
			return true
		})
		return false
	})
	return n
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

func fileLines(t *testing.T) map[string]int {
	t.Helper()
	lines, kinds := map[string]int{}, map[string]int{}
	walk(t, func(path string, text []byte) {
		lines[path] = bytes.Count(text, []byte("\n"))
		kinds[filepath.Ext(path)]++
	})
	if kinds[".go"] < 200 || kinds[".ts"] < 40 || kinds[".svelte"] < 40 {
		t.Fatalf("found %v: the test looks in the wrong place", kinds)
	}
	return lines
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
		if d.IsDir() || !slices.Contains([]string{".go", ".ts", ".svelte"}, filepath.Ext(path)) || path == "web/src/api/schema.d.ts" {
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

// receiver returns the name of a method's type, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
