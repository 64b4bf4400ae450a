package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
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
	"github.com/rimewatch/rimewatch/internal/wire"
	"github.com/rimewatch/rimewatch/policies"
)

// policySet are the documents for the public, read and rendered once.
type policySet struct {
	bySlug map[string]*PolicyPage
	order  []string
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
// before. A document that cannot be read stops the start: a missing privacy
// policy must not go unnoticed.
func loadPolicies(operator fs.FS) (*policySet, error) {
	set := &policySet{bySlug: make(map[string]*PolicyPage)}
	sources := []fs.FS{policies.Files}
	if operator != nil {
		sources = append(sources, operator)
	}
	for _, source := range sources {
		names, err := fs.Glob(source, "*.md")
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
			set.bySlug[p.Slug] = p
		}
	}
	set.order = slices.Clone(policyOrder)
	var added []string
	for slug := range set.bySlug {
		if !slices.Contains(policyOrder, slug) {
			added = append(added, slug)
		}
	}
	slices.Sort(added)
	set.order = append(set.order, added...)
	return set, nil
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

func etagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// cached answers with a document that rarely changes, or 304 when the client
// has it.
func (c *call) cached(contentType string, body []byte, etag string) {
	h := c.w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "public, max-age=300")
	if etagMatches(c.r.Header.Values("If-None-Match"), etag) {
		c.w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", contentType)
	_, _ = c.w.Write(body)
}

// etagMatches compares weakly, as RFC 9110 section 13.1.2 asks for.
func etagMatches(sent []string, etag string) bool {
	for part := range strings.SplitSeq(strings.Join(sent, ","), ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == etag {
			return true
		}
	}
	return false
}

func (c *call) cachedData(data any) error {
	b, err := wire.AppendJSON([]byte(`{"success":true,"data":`), data)
	if err != nil {
		return err
	}
	b = append(b, "}\n"...)
	c.cached(typeJSON, b, etagOf(b))
	return nil
}

func (a *API) listPolicies(c *call) error {
	list := PolicyList{make([]Policy, len(a.policies.order))}
	for i, slug := range a.policies.order {
		list.Policies[i] = a.policies.bySlug[slug].Policy
	}
	return c.cachedData(list)
}

// PolicyInput names a document.
type PolicyInput struct {
	Slug string `path:"slug" doc:"privacy, terms, data-retention, security, or one that the operator has added."`
}

func (a *API) getPolicy(c *call) error {
	slug := c.r.PathValue("slug")
	if slug == "" {
		slug = "privacy"
	}
	p, ok := a.policies.bySlug[slug]
	if !ok {
		return rimewatch.Errorf(rimewatch.CodePolicyNotFound, "There is no policy with this name.")
	}
	return c.cachedData(PolicyData{*p})
}

func (a *API) policyRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/policies", id: "list-policies", tag: "Policies", summary: "List policy documents", access: public,
			bind: raw[NoInput, PolicyList](a.listPolicies),
		},
		{
			method: http.MethodGet, path: "/v1/policies/privacy", id: "get-privacy-policy", tag: "Policies", summary: "Get the privacy policy", access: public,
			bind: raw[NoInput, PolicyData](a.getPolicy),
		},
		{
			method: http.MethodGet, path: "/v1/policies/{slug}", id: "get-policy", tag: "Policies", summary: "Get a policy document", access: public,
			bind: raw[PolicyInput, PolicyData](a.getPolicy),
		},
	}
}
