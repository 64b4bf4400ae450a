package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPagesHaveOneRoute: a page is its component and a row of the routes; the frame alone
// has the navigation. So adding one touches three files at most.
func TestPagesHaveOneRoute(t *testing.T) {
	const routes, frame = "web/src/routes.ts", "web/src/frame/Frame.svelte"
	loads := regexp.MustCompile(`['"](\.[^'"]+\.svelte)['"]`)
	places := regexp.MustCompile(`href: '(/[a-z]*)', label: `)
	by := make(map[string][]string) // files by the component that they load
	var pages, lists []string       // components of routes; files with a list of places
	walk(t, func(file string, text []byte) {
		if !strings.HasPrefix(file, "web/src/") || strings.HasSuffix(file, ".test.ts") {
			return
		}
		for _, m := range loads.FindAllSubmatch(text, -1) {
			component := path.Join(path.Dir(file), string(m[1]))
			if by[component] = append(by[component], file); file == routes && !slices.Contains(pages, component) {
				pages = append(pages, component)
			}
		}
		if len(places.FindAll(text, -1)) > 0 {
			lists = append(lists, file)
		}
	})
	if len(pages) < 15 {
		t.Fatalf("only %d pages found in %s", len(pages), routes)
	}
	for _, page := range pages {
		if files := slices.Compact(by[page]); !slices.Equal(files, []string{routes}) {
			t.Errorf("%s is loaded by %s", page, strings.Join(files, ", "))
		}
	}
	if !slices.Equal(lists, []string{frame}) {
		t.Errorf("the navigation stands in %s", strings.Join(lists, ", "))
	}
}
