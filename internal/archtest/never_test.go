package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nevers are what no chain of imports may lead to, however long, with the reason.
// A path stands for itself and what is below it.
var nevers = []struct {
	why      string
	from, to []string
}{
	{
		"what decides knows neither where its inputs come from nor where its verdicts go",
		[]string{"internal/state", "internal/unit", "internal/capability", "internal/weeks", "internal/alert", "internal/predict", "internal/health", "internal/presence", "internal/deadline", "internal/dense", "internal/engine", "internal/outage"},
		[]string{"internal/store", "internal/ingest", "internal/httpapi", "internal/realtime", "internal/notify", "internal/account", "internal/wire", "internal/app"},
	},
	{
		"the fleet keeps states; it queues nothing, judges no site and tells nobody",
		[]string{"internal/fleet"},
		[]string{"internal/ingest", "internal/outage", "internal/rejudge", "internal/publish", "internal/httpapi", "internal/realtime", "internal/notify", "internal/wire", "internal/app"},
	},
	{
		"a store keeps and finds; it decides nothing and tells nobody",
		[]string{"internal/store"},
		[]string{"internal/engine", "internal/unit", "internal/alert", "internal/predict", "internal/health", "internal/presence", "internal/ingest", "internal/httpapi", "internal/realtime", "internal/notify", "internal/account", "internal/wire", "internal/app"},
	},
	{
		"the write path is told of work and publishes what was committed; it knows no door",
		[]string{"internal/ingest"},
		[]string{"internal/httpapi", "internal/realtime", "internal/notify", "internal/account", "internal/report", "internal/app", "internal/store/sqlite", "internal/store/core", "internal/store/tables"},
	},
	{
		"adapters meet in internal/app, and only it and the command line know which store there is",
		[]string{"internal/httpapi", "internal/realtime", "internal/notify", "internal/account", "internal/source", "internal/mqtt", "internal/provider", "internal/report", "internal/cluster"},
		[]string{"internal/ingest", "internal/engine", "internal/app", "internal/store/sqlite", "internal/store/core", "internal/store/tables"},
	},
	{"one adapter does not know another", []string{"internal/httpapi"}, []string{"internal/realtime", "internal/notify"}},
	{"one adapter does not know another", []string{"internal/realtime"}, []string{"internal/httpapi", "internal/notify"}},
	{"one adapter does not know another", []string{"internal/notify"}, []string{"internal/httpapi", "internal/realtime", "internal/account"}},
	{"a shape of the wire is the same whoever sends it", []string{"internal/wire", "internal/phrase"}, []string{"internal/store", "internal/httpapi", "internal/realtime", "internal/notify", "internal/engine"}},
	{"a client is a program of somebody else", []string{"client"}, []string{"internal", "policies"}},
	{
		"what proves the product is no part of it; only the command line offers the demo and the simulator",
		[]string{"client", "internal/account", "internal/alert", "internal/app", "internal/cluster", "internal/config", "internal/engine", "internal/httpapi", "internal/ingest", "internal/inlet", "internal/mqtt", "internal/notify", "internal/predict", "internal/provider", "internal/realtime", "internal/report", "internal/source", "internal/store", "internal/unit", "internal/wire"},
		[]string{"internal/simulate", "internal/demo", "e2e"},
	},
}

func TestNevers(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if imports[s.dir] == nil {
			imports[s.dir] = []string{}
		}
		for _, i := range s.imports {
			if ours, found := strings.CutPrefix(i, module+"/"); found && !slices.Contains(imports[s.dir], ours) {
				imports[s.dir] = append(imports[s.dir], ours)
			}
		}
	}
	for _, n := range nevers {
		for _, root := range slices.Concat(n.from, n.to) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(imports)), func(dir string) bool { return under(dir, []string{root}) }) {
				t.Errorf("there is no package %s", root)
			}
		}
		for dir := range imports {
			if !under(dir, n.from) {
				continue
			}
			if chain := leads(imports, dir, n.to, map[string]bool{}); chain != nil {
				t.Errorf("%s: %s", strings.Join(chain, " → "), n.why)
			}
		}
	}
}

// TestArchitecturePage: the newcomer's page names every package of the service.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources(t) {
		parts := strings.Split(s.dir, "/")
		if parts[0] != "internal" || slices.Contains([]string{"archtest", "trial", "described", "storetest", "pgtest"}, parts[len(parts)-1]) {
			continue
		}
		if name := parts[len(parts)-1]; !regexp.MustCompile(`\b` + name + `\b`).Match(page) {
			t.Errorf("docs/architecture.md does not name %s", s.dir)
		}
	}
}

// leads returns a chain of imports from dir to one of the packages, nil = there
// is none.
func leads(imports map[string][]string, dir string, to []string, seen map[string]bool) []string {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	for _, i := range imports[dir] {
		if under(i, to) {
			return []string{dir, i}
		}
		if chain := leads(imports, i, to, seen); chain != nil {
			return append([]string{dir}, chain...)
		}
	}
	return nil
}

// TestNoCallBacks: what the write path hands down to a store with a group, and on to those
// who hear of its commit, is values: a function among them would be a step back.
func TestNoCallBacks(t *testing.T) {
	for _, path := range []string{"internal/store/commit.go", "internal/publish/publish.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		ast.Inspect(f, func(x ast.Node) bool {
			s, ok := x.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				n++
				ast.Inspect(field.Type, func(x ast.Node) bool {
					switch x.(type) {
					case *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
						t.Errorf("%s: the field %s can call back", path, field.Names)
					}
					return true
				})
			}
			return true
		})
		if n < 10 {
			t.Errorf("%s: only %d fields found", path, n)
		}
	}
}
