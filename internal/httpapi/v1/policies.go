package v1

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/policies"
)

// policySet are the documents for the public in one language, read and rendered once.
type policySet struct {
	bySlug map[string]*PolicyPage
	order  []string
}

// english is the language of the documents that stand in no folder.
const english = "en"

// policySets are those of every language that has some, by its tag.
type policySets map[string]*policySet

// in returns the documents for whoever reads a language, the English ones where it has
// none of its own.
func (s policySets) in(language string) *policySet {
	if own := s[language]; own != nil {
		return own
	}
	return s[english]
}

// The shipped documents in the order in which they are listed; those that an
// operator adds follow by name.
var policyOrder = []string{"privacy", "terms", "data-retention", "security"}

// maxPolicySize bounds an operator's document.
const maxPolicySize = 1 << 20

// Policy is a document for the public.
type Policy struct {
	Slug        string         `json:"slug" example:"privacy"`
	Title       string         `json:"title"`
	Version     string         `json:"version"`
	EffectiveAt rimewatch.Time `json:"effective_at" nullable:"false"`
	UpdatedAt   rimewatch.Time `json:"updated_at" nullable:"false"`
	ContentType string         `json:"content_type" example:"text/markdown"`
	Content     string         `json:"content"`
}

// PolicyPage is a document with its content for a browser.
type PolicyPage struct {
	Policy
	ContentHTML string `json:"content_html" doc:"The content as sanitised HTML."`
}

// PolicyData is the data of answers about one document.
type PolicyData struct {
	Policy PolicyPage `json:"policy"`
}

// PolicyList are all documents.
type PolicyList struct {
	Policies []Policy `json:"policies"`
}

// loadPolicies reads the shipped documents and those of the operator, which go
// before, also before those that are shipped in a folder named by another language. A
// document that cannot be read stops the start: a missing privacy policy must not go
// unnoticed.
func loadPolicies(operator fs.FS) (policySets, error) {
	sources := []fs.FS{policies.Files}
	if operator != nil {
		sources = append(sources, operator)
	}
	sets := policySets{english: nil}
	folders := make([]map[string][]*PolicyPage, len(sources)) // of each source, by language
	for i, source := range sources {
		var err error
		if folders[i], err = readPolicies(source); err != nil {
			return nil, err
		}
		for language := range folders[i] {
			if language != "" {
				sets[language] = nil
			}
		}
	}
	for language := range sets {
		set := &policySet{bySlug: make(map[string]*PolicyPage)}
		for _, of := range folders {
			set.take(of[""])
			set.take(of[language])
		}
		set.arrange()
		sets[language] = set
	}
	return sets, nil
}

// readPolicies returns the documents of a source by the folder that they lie in, which is
// named by their language; "" = in none.
func readPolicies(source fs.FS) (map[string][]*PolicyPage, error) {
	entries, err := fs.ReadDir(source, ".")
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	list := make(map[string][]*PolicyPage)
	if list[""], err = readFolder(source, "*.md"); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if list[e.Name()], err = readFolder(source, e.Name()+"/*.md"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func readFolder(source fs.FS, pattern string) (list []*PolicyPage, err error) {
	names, err := fs.Glob(source, pattern)
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(source, name)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", name, err)
		}
		p, err := parsePolicy(strings.TrimSuffix(path.Base(name), ".md"), text)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// take takes in documents that go before those with the same name.
func (s *policySet) take(list []*PolicyPage) {
	for _, p := range list {
		s.bySlug[p.Slug] = p
	}
}

// arrange puts the shipped documents first.
func (s *policySet) arrange() {
	s.order = slices.Clone(policyOrder)
	var added []string
	for slug := range s.bySlug {
		if !slices.Contains(policyOrder, slug) {
			added = append(added, slug)
		}
	}
	slices.Sort(added)
	s.order = append(s.order, added...)
}

// parsePolicy reads the header (lines of "key: value" between "---") and the
// Markdown after it.
func parsePolicy(slug string, text []byte) (*PolicyPage, error) {
	if len(text) > maxPolicySize {
		return nil, errors.New("is too large")
	}
	s := strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\r\n", "\n")
	head, body, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s, "\uFEFF"), "---\n"), "\n---\n")
	if !ok {
		return nil, errors.New("has no header between lines of ---")
	}
	p := &PolicyPage{Policy: Policy{Slug: slug, ContentType: "text/markdown", Content: strings.TrimSpace(body) + "\n"}}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		var err error
		switch strings.TrimSpace(key) {
		case "title":
			p.Title = value
		case "version":
			p.Version = value
		case "effective_at":
			p.EffectiveAt, err = policyTime(value)
		case "updated_at":
			p.UpdatedAt, err = policyTime(value)
		case "":
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.Title == "" || p.Version == "" || p.EffectiveAt == 0 || p.UpdatedAt == 0 {
		return nil, errors.New("the header needs title, version, effective_at and updated_at")
	}
	var err error
	p.ContentHTML, err = renderMarkdown(p.Content)
	return p, err
}

// policyTime reads a time or a plain date.
func policyTime(s string) (rimewatch.Time, error) {
	if len(s) == len("2006-01-02") {
		s += "T00:00:00Z"
	}
	return rimewatch.ParseTime(s)
}

func renderMarkdown(text string) (string, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithRendererOptions(html.WithXHTML()))
	var b bytes.Buffer
	if err := md.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	return bluemonday.UGCPolicy().Sanitize(b.String()), nil
}

// policiesFor returns the documents in the language of who asks.
func (a workspaces) policiesFor(c *httpapi.Call) *policySet {
	c.W.Header().Add("Vary", "Accept-Language")
	return a.policies.in(c.Locale().Language)
}

func (a workspaces) listPolicies(c *httpapi.Call) error {
	set := a.policiesFor(c)
	list := PolicyList{make([]Policy, len(set.order))}
	for i, slug := range set.order {
		list.Policies[i] = set.bySlug[slug].Policy
	}
	return c.CachedData(list)
}

// PolicyInput names a document.
type PolicyInput struct {
	Slug string `path:"slug" doc:"privacy, terms, data-retention, security, or one that the operator has added."`
}

func (a workspaces) getPolicy(c *httpapi.Call) error {
	slug := c.R.PathValue("slug")
	if slug == "" {
		slug = "privacy"
	}
	p, ok := a.policiesFor(c).bySlug[slug]
	if !ok {
		return rimewatch.Errorf(rimewatch.CodePolicyNotFound, "There is no policy with this name.")
	}
	return c.CachedData(PolicyData{*p})
}

func (a workspaces) policyRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/policies", ID: "list-policies", Tag: "Policies", Summary: "List policy documents", Access: httpapi.Public,
			Bind: httpapi.Raw[httpapi.NoInput, PolicyList](a.listPolicies),
		},
		{
			Method: http.MethodGet, Path: "/v1/policies/privacy", ID: "get-privacy-policy", Tag: "Policies", Summary: "Get the privacy policy", Access: httpapi.Public,
			Bind: httpapi.Raw[httpapi.NoInput, PolicyData](a.getPolicy),
		},
		{
			Method: http.MethodGet, Path: "/v1/policies/{slug}", ID: "get-policy", Tag: "Policies", Summary: "Get a policy document", Access: httpapi.Public,
			Bind: httpapi.Raw[PolicyInput, PolicyData](a.getPolicy),
		},
	}
}
