package manual

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/docs"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func shipped(t *testing.T) *book {
	t.Helper()
	b, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// has returns what is wrong with an address of a page and, perhaps, an anchor on it.
func (b *book) has(address string) error {
	name, anchor, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, root), "/"), "#")
	p := b.byName[name]
	if p == nil {
		return fmt.Errorf("%s: there is no page %q", address, name)
	}
	if anchor != "" && !slices.ContainsFunc(p.sections, func(s section) bool { return s.anchor == anchor }) {
		return fmt.Errorf("%s: there is no section %q", address, anchor)
	}
	return nil
}

// TestEveryPageIsListed: what is served can be found from the first page.
func TestEveryPageIsListed(t *testing.T) {
	b := shipped(t)
	if len(b.pages) < 20 {
		t.Fatalf("only %d pages", len(b.pages))
	}
	for name, p := range b.byName {
		if !slices.Contains(b.pages, p) {
			t.Errorf("no list has the page %q", name)
		}
		if p.title == "" || p.summary == "" {
			t.Errorf("the page %q has no title or no first sentence", name)
		}
	}
}

// TestLinks: every link of every page leads somewhere, as it is served and in the repository.
func TestLinks(t *testing.T) {
	b := shipped(t)
	href := regexp.MustCompile(`href="([^"]+)"`)
	n := 0
	for _, p := range b.pages {
		for _, m := range href.FindAllStringSubmatch(string(p.html), -1) {
			to := m[1]
			if strings.HasPrefix(to, "#") {
				to = p.address() + to
			}
			file, ours := strings.CutPrefix(to, sourceURL)
			switch {
			case strings.HasPrefix(to, root):
				if err := b.has(to); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			case ours:
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat("../../../" + file); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			case !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "http://"):
				t.Errorf("%s: %s leads nowhere", p.name, to)
			}
			n++
		}
	}
	if n < 80 {
		t.Errorf("only %d links were looked at", n)
	}
}

// TestEveryCodeIsExplained: an error leads to the section of its code, which says its status.
func TestEveryCodeIsExplained(t *testing.T) {
	explained := make(map[string]string)
	for _, s := range shipped(t).byName["errors"].sections[1:] {
		explained[s.anchor], _, _ = strings.Cut(s.text, ".")
	}
	want := make(map[string]string)
	for code, status := range httpapi.StatusOf {
		want[string(code)] = fmt.Sprintf("Status %d", status)
	}
	if d := cmp.Diff(want, explained); d != "" {
		t.Errorf("sections of docs/errors.md (-codes +documented):\n%s", d)
	}
}

// TestHelp: every page of the web UI that has its frame, and every tab, leads to a section of its own choice.
func TestHelp(t *testing.T) {
	b := shipped(t)
	for _, x := range explained {
		if err := b.has(root + "/" + x[1]); err != nil {
			t.Errorf("help for %s: %v", x[0], err)
		}
	}
	pages := []string{"/"}
	for file, pattern := range map[string]string{
		"routes.ts": `path: '(/[^/':]+)[^']*', (?:access: 'public', )?load`, "pages/workspace/places.ts": `slug: '([a-z]+)'`,
	} {
		text, err := os.ReadFile("../../../web/src/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], "/") {
				pages = append(pages, m[1])
			} else {
				pages = append(pages, "/settings/"+m[1])
			}
		}
	}
	if len(pages) < 20 {
		t.Fatalf("only %d pages found", len(pages))
	}
	for _, page := range pages {
		if page != "/" && page != "/settings/devices" && page != "/settings/sites" && !slices.ContainsFunc(explained, func(x [2]string) bool { return x[0] == page }) {
			t.Errorf("nothing explains %s", page)
		}
	}
	if got := helpFor("/devices/WIF-0001"); got != "/docs/what-wakes-you#the-first-evening" {
		t.Errorf("the page of a device leads to %s", got)
	}
	if got := helpFor("/devicesX"); got != "/docs/what-wakes-you" {
		t.Errorf("an unknown page leads to %s", got)
	}
}

func TestRendering(t *testing.T) {
	b, err := read(fstest.MapFS{
		"README.md": {Data: []byte("# First\n\nSee [one](one.md#a-b) and [guides](guides/README.md).\n")},
		"one.md": {Data: []byte("# One\n\nText <b>raw</b> of one.\n\n## `A` b!\n\n![A curve that falls.](img/a.svg)\n\n" +
			"[up](../README.md#x) [in](#a-b) [out](https://example.com/x.md) [adr](adr/0001-x.md)\n\n## `A` b!\n\nZwölf Grad.\n")},
		"guides/README.md": {Data: []byte("# Guides\n\n[two](two.md)\n")},
		"guides/two.md":    {Data: []byte("# Two\n\nBack to [one](../one.md).\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range b.pages {
		names = append(names, p.name)
	}
	if d := cmp.Diff([]string{"", "one", "guides", "guides/two"}, names); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
	one := string(b.byName["one"].html)
	for _, want := range []string{
		`<h2 id="a-b">`, `<h2 id="a-b-1">`, `<em>A curve that falls.</em>`, `href="` + sourceURL + `README.md#x"`, `href="#a-b"`,
		`href="https://example.com/x.md"`, `href="` + sourceURL + `docs/adr/0001-x.md"`,
	} {
		if !strings.Contains(one, want) {
			t.Errorf("no %s in\n%s", want, one)
		}
	}
	if strings.Contains(one, "<b>") {
		t.Error("raw HTML is let through")
	}
	if two := string(b.byName["guides/two"].html); !strings.Contains(two, `href="/docs/one"`) {
		t.Errorf("a link to another folder: %s", two)
	}
	hits := b.find("ZWÖLF a")
	if len(hits) != 1 || hits[0].Address != "/docs/one#a-b-1" || hits[0].Text != "Zwölf Grad." {
		t.Errorf("found %+v", hits)
	}
	if hits := b.find("one two three"); len(hits) != 0 {
		t.Errorf("found %+v", hits)
	}
}

// TestServed asks for what is served.
func TestServed(t *testing.T) {
	now, err := rimewatch.ParseTime("2026-11-20T19:47:12Z")
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpapi.New(httpapi.Config{Now: func() rimewatch.Time { return now }, PublicURL: "https://fridge.example.com"}, Routes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path        string
		status      int
		contentType string
		want        []string
	}{
		{"/docs", 200, typeHTML, []string{"<h1 id=\"documentation\">", `href="/docs/errors"`}},
		{"/docs/errors", 200, typeHTML, []string{`<h2 id="validation_failed">`, `aria-current="page">Errors<`, `href="/docs/errors.md"`}},
		{"/docs/guides", 200, typeHTML, []string{`href="/docs/guides/shelly"`, `href="/docs/guides/README.md"`}},
		{"/docs/guides/shelly", 200, typeHTML, []string{"Shelly"}},
		{"/docs/errors.md", 200, typeMarkdown, []string{"## validation_failed\n"}},
		{"/docs/guides/README.md", 200, typeMarkdown, []string{"# Connect what you have\n"}},
		{"/docs/search?q=hysteresis", 200, typeHTML, []string{`value="hysteresis"`, `<ol class="hits">`, `href="/docs/alerting`}},
		{"/docs/search?q=%3Cscript%3E%22", 200, typeHTML, []string{"Nothing was found", `value="&lt;script&gt;&#34;"`}},
		{"/docs/search?q=" + strings.Repeat("a", 201), 422, "application/json", []string{`"q":["must be at most 200 bytes long"]`, `"docs":"/docs/errors#validation_failed"`}},
		{"/docs/help?page=/settings/sources", 303, "", nil},
		{"/docs/manual.css", 200, "text/css; charset=utf-8", nil},
		{"/docs/theme.js", 200, "text/javascript; charset=utf-8", nil},
		{"/docs/page.html", 404, "application/json", nil},
		{"/docs/guides.md", 404, "application/json", nil},
		{"/docs/..%2fgo.mod", 404, "application/json", nil},
		{"/llms.txt", 200, typePlain, []string{"# Rimewatch\n\n> ", "- [Errors](https://fridge.example.com/docs/errors.md): ", "https://fridge.example.com/api/openapi.json"}},
		{"/.well-known/security.txt", 200, typePlain, []string{"Contact: https://", "\nExpires: 2027-05-19T00:00:00.000Z\n", "\nCanonical: https://fridge.example.com/.well-known/security.txt\n"}},
	} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Content-Type") != tt.contentType {
			t.Errorf("%s: %d %s", tt.path, w.Code, w.Header().Get("Content-Type"))
		}
		for _, want := range tt.want {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %s in\n%.2000s", tt.path, want, w.Body)
			}
		}
		if p := w.Header().Get("Content-Security-Policy"); tt.contentType == typeHTML && p != policy {
			t.Errorf("%s: the policy is %q", tt.path, p)
		}
	}
}

// TestSkin: the pages have no more than the files that are served with them.
func TestSkin(t *testing.T) {
	names, err := fs.Glob(skin, "*")
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Sorted(maps.Keys(assets)), "page.html")
	slices.Sort(want)
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("files (-served +embedded):\n%s", d)
	}
}
