package main

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTargets: the program has no type error on the target whose integers have 32
// bits. To build it takes ten times as long.
func TestTargets(t *testing.T) {
	for target := range strings.SplitSeq(allTargets, ",") {
		system, arch, _ := strings.Cut(target, "/")
		if arch != "arm" {
			continue
		}
		cfg := &packages.Config{Dir: "../..", Env: append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes}
		list, err := packages.Load(cfg, "./cmd/rimewatch")
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d packages, %v", target, len(list), err)
		}
		packages.Visit(list, nil, func(p *packages.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s: %v", target, e)
			}
		})
	}
}
