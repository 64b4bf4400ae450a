package manual

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/docs"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

//go:embed page.html manual.css theme.js
var skin embed.FS

// policy is what a page may load. Nothing on it is inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Content types of what is served.
const (
	typeHTML     = "text/html; charset=utf-8"
	typeMarkdown = "text/markdown; charset=utf-8"
	typePlain    = "text/plain; charset=utf-8"
)

// assets are the files beside the pages.
var assets = map[string]string{"manual.css": "text/css; charset=utf-8", "theme.js": "text/javascript; charset=utf-8"}

// manual answers those who read.
type manual struct {
	api  *httpapi.API
	book func() (*book, error) // rendered when somebody reads for the first time
	page func() (*template.Template, error)
}

// Routes is a part of the API. It has no described routes.
func Routes(a *httpapi.API) []httpapi.Route {
	m := &manual{
		api:  a,
		book: sync.OnceValues(func() (*book, error) { return read(docs.Files) }),
		page: sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(skin, "page.html") }),
	}
	plain := func(path string, fn func(c *httpapi.Call) error) { a.Plain(http.MethodGet, path, fn) }
	plain(root, m.show)
	plain(root+"/{name...}", m.show)
	plain(root+"/search", m.search)
	plain(helpPath, m.help)
	plain("/llms.txt", m.list)
	plain("/.well-known/security.txt", m.security)
	return nil
}

// view is what a page shows.
type view struct {
	Title   string
	Query   string
	Asked   bool
	Hits    []hit
	Content template.HTML
	Places  []place
	Source  string // address of the Markdown, "" = there is none
}

// place is a page in the list of all.
type place struct {
	Title, Address string
	Here, Inner    bool
}

func (m *manual) show(c *httpapi.Call) error {
	name := c.R.PathValue("name")
	if contentType := assets[name]; contentType != "" {
		b, err := skin.ReadFile(name)
		if err == nil {
			c.Cached(contentType, b)
		}
		return err
	}
	b, err := m.book()
	if err != nil {
		return err
	}
	if file, ok := strings.CutSuffix(name, ".md"); ok {
		p := b.byName[nameOf(file+".md")]
		if p == nil || b.fileOf(p) != name {
			return errNoPage()
		}
		c.Cached(typeMarkdown, p.markdown)
		return nil
	}
	p := b.byName[name]
	if p == nil {
		return errNoPage()
	}
	return m.write(c, b, p, view{Title: p.title, Content: p.html, Source: root + "/" + b.fileOf(p)})
}

func errNoPage() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such page in the documentation.")
}

// maxQuestion bounds what is searched for, in bytes.
const maxQuestion = 200

func (m *manual) search(c *httpapi.Call) error {
	b, err := m.book()
	if err != nil {
		return err
	}
	question := strings.ToValidUTF8(c.R.URL.Query().Get("q"), "")
	if len(question) > maxQuestion {
		return rimewatch.Invalid("q", "must be at most %d bytes long", maxQuestion)
	}
	return m.write(c, b, nil, view{Title: "Search", Query: question, Asked: true, Hits: b.find(question)})
}

// write answers with a page; here is nil for one that is not in the list of all.
func (m *manual) write(c *httpapi.Call, b *book, here *page, v view) error {
	t, err := m.page()
	if err != nil {
		return err
	}
	for _, p := range b.pages {
		v.Places = append(v.Places, place{p.title, p.address(), p == here, strings.Contains(p.name, "/")})
	}
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		return err
	}
	c.Header("Content-Security-Policy", policy)
	c.Cached(typeHTML, out.Bytes())
	return nil
}

// list answers with /llms.txt: what there is to read, for programs (https://llmstxt.org).
func (m *manual) list(c *httpapi.Call) error {
	b, err := m.book()
	if err != nil {
		return err
	}
	base := m.api.BaseURL(c.R)
	var out strings.Builder
	fmt.Fprintf(&out, "# Rimewatch\n\n> Rimewatch watches commercial refrigeration: devices send readings, it shows which units are online, checks food safety, predicts failures and alerts people and programs.\n\n")
	fmt.Fprintf(&out, "The API lives at %[1]s%[2]s/v1. Every answer is JSON with `success` and `data`, or `error` with a `code` and `docs`, the section that explains it.\n\n## API\n\n"+
		"- [OpenAPI](%[1]s%[2]s/openapi.json): every operation, with its parameters, bodies, answers and scopes\n"+
		"- [AsyncAPI](%[1]s%[2]s/asyncapi.json): the real-time stream\n"+
		"- [Reference](%[1]s%[2]s/docs): OpenAPI as a page\n\n## Guides\n\n", base, httpapi.Prefix)
	for _, p := range b.pages {
		fmt.Fprintf(&out, "- [%s](%s%s/%s): %s\n", p.title, base, root, b.fileOf(p), p.summary)
	}
	c.Cached(typePlain, []byte(out.String()))
	return nil
}

// toldFor is how long after the day of the answer its contact holds, at most: RFC 9116 recommends less than a year.
const toldFor = 180 * rimewatch.Day

// security answers with /.well-known/security.txt (RFC 9116).
func (m *manual) security(c *httpapi.Call) error {
	now := m.api.Now()
	expires := now - now%rimewatch.Day + toldFor
	base := m.api.BaseURL(c.R)
	c.Cached(typePlain, fmt.Appendf(nil, "Contact: https://github.com/rimewatch/rimewatch/security/advisories/new\nExpires: %s\nPreferred-Languages: en\nCanonical: %s/.well-known/security.txt\nPolicy: %[2]s/policies/security\n", expires.String(), base))
	return nil
}
