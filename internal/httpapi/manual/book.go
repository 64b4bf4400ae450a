package manual

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// sourceURL is where the files are that are not served.
const sourceURL = "https://github.com/rimewatch/rimewatch/blob/main/"

// root is the address of the first page.
const root = "/docs"

// page is one file.
type page struct {
	name     string // below root, "" = the first page
	title    string
	summary  string // its first sentences
	markdown []byte
	html     template.HTML
	sections []section
	links    []string // names of the pages that it links to, in their order
}

// section is what stands between two headings.
type section struct {
	anchor, title, text string
}

// address returns where a page is.
func (p *page) address() string { return strings.TrimSuffix(root+"/"+p.name, "/") }

// book is all pages, in the order in which they are listed.
type book struct {
	pages  []*page
	byName map[string]*page
}

// read renders the Markdown files of a folder.
func read(files fs.FS) (*book, error) {
	b := &book{byName: make(map[string]*page)}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		markdown, err := fs.ReadFile(files, file)
		if err == nil {
			b.byName[nameOf(file)] = &page{name: nameOf(file), markdown: markdown}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("documents: %w", err)
	}
	for _, p := range b.byName {
		if err := b.render(p); err != nil {
			return nil, fmt.Errorf("documents: %s: %w", p.name, err)
		}
	}
	b.list("")
	return b, nil
}

// nameOf returns the name of the page that a file is.
func nameOf(file string) string {
	name := strings.TrimSuffix(file, ".md")
	if path.Base(name) == "README" {
		name = strings.TrimPrefix(path.Dir(name), ".")
	}
	return name
}

// fileOf is the file of a page.
func (b *book) fileOf(p *page) string {
	if p.name == "" || p.name == "guides" {
		return path.Join(p.name, "README.md")
	}
	return p.name + ".md"
}

// list puts a page behind those that are listed, and behind it those that it links to and which nobody listed before.
func (b *book) list(name string) {
	p := b.byName[name]
	if p == nil || slices.Contains(b.pages, p) {
		return
	}
	b.pages = append(b.pages, p)
	for _, to := range p.links {
		if path.Dir(to) == cmp.Or(name, ".") {
			b.list(to)
		}
	}
}

func (b *book) render(p *page) error {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := md.Parser().Parse(text.NewReader(p.markdown), parser.WithContext(parser.NewContext(parser.WithIDs(make(anchors)))))
	b.relink(p, doc)
	p.divide(doc)
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, p.markdown, doc); err != nil {
		return err
	}
	p.html = template.HTML(out.String()) //nolint:gosec // made of our own files, whose raw HTML is left out
	return nil
}

// relink has links lead to where things are served, and puts the words for a picture in its place.
func (b *book) relink(p *page, doc ast.Node) {
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				n.Destination = []byte(b.target(p, string(n.Destination)))
			}
		case *ast.Image:
			if entering {
				pictures = append(pictures, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		words := ast.NewEmphasis(1)
		for child := picture.FirstChild(); child != nil; child = picture.FirstChild() {
			words.AppendChild(words, child)
		}
		picture.Parent().ReplaceChild(picture.Parent(), picture, words)
	}
}

// target returns the address of what a link of a page leads to.
func (b *book) target(p *page, link string) string {
	to, fragment, _ := strings.Cut(link, "#")
	if to == "" || strings.Contains(to, ":") {
		return link
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	file := path.Join(path.Dir(b.fileOf(p)), to)
	if found := b.byName[nameOf(file)]; found != nil && path.Ext(file) == ".md" {
		p.links = append(p.links, found.name)
		return found.address() + fragment
	}
	return sourceURL + path.Join("docs", file) + fragment
}

// divide finds the sections of a page, its title and its summary.
func (p *page) divide(doc ast.Node) {
	p.sections = []section{{}}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		words := wordsOf(n, p.markdown)
		last := &p.sections[len(p.sections)-1]
		if h, ok := n.(*ast.Heading); ok {
			anchor, _ := h.AttributeString("id")
			id, _ := anchor.([]byte)
			if h.Level == 1 {
				p.title, last.title = words, words
				continue
			}
			p.sections = append(p.sections, section{anchor: string(id), title: words})
			continue
		}
		if n.Kind() == ast.KindParagraph && p.summary == "" {
			p.summary = words
		}
		last.text = strings.TrimSpace(last.text + " " + words)
	}
}

// wordsOf is the text of a part of a page.
func wordsOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// anchors are the names of headings on a page, as GitHub makes them.
type anchors map[string]int

// Generate implements parser.IDs.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	n := a[name]
	a[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

// Put implements parser.IDs.
func (a anchors) Put(name []byte) { a[string(name)]++ }

// hit is a section that a search has found.
type hit struct {
	Page, Section, Address, Text string
	rank                         int
}

// Bounds of a search.
const (
	mostHits    = 30
	mostWords   = 8
	shownAround = 120 // characters of text before and behind the first word that was found
)

// find finds the sections that have all words of a question: those with all of them in their title first.
func (b *book) find(question string) []hit {
	words := strings.Fields(strings.ToLower(question))
	words = words[:min(len(words), mostWords)]
	if len(words) == 0 {
		return nil
	}
	var hits []hit
	for _, p := range b.pages {
		for _, s := range p.sections {
			title, body := strings.ToLower(p.title+" "+s.title), strings.ToLower(s.text)
			all := func(in string) bool {
				return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(in, w) })
			}
			if !all(title + " " + body) {
				continue
			}
			h := hit{Page: p.title, Section: s.title, Address: p.address(), Text: around(s.text, body, words[0])}
			if s.anchor != "" {
				h.Address += "#" + s.anchor
			}
			switch {
			case all(strings.ToLower(s.title)):
			case all(title):
				h.rank = 1
			default:
				h.rank = 2
			}
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(x.rank, y.rank) })
	return hits[:min(len(hits), mostHits)]
}

// around returns the piece of a text in which a word stands; lower is the text in lower case.
func around(s, lower, word string) string {
	runes := []rune(s)
	at := len([]rune(lower[:max(0, strings.Index(lower, word))]))
	from, to := max(0, min(at, len(runes))-shownAround), min(len(runes), at+shownAround)
	piece := string(runes[from:to])
	if from > 0 {
		piece = "…" + piece
	}
	if to < len(runes) {
		piece += "…"
	}
	return piece
}
