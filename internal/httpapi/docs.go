package httpapi

import "embed"

// docsFiles are the docs page: a script that draws the description. Nothing is
// fetched from other sites, and nothing in the page is inline, so the content
// security policy can forbid both.
//
//go:embed docs
var docsFiles embed.FS

const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var docsTypes = map[string]string{
	"index.html": "text/html; charset=utf-8",
	"docs.css":   "text/css; charset=utf-8",
	"docs.js":    "text/javascript; charset=utf-8",
	"samples.js": "text/javascript; charset=utf-8",
}

func (a *API) docsPage(c *Call) error { return c.docsFile("index.html") }

func (a *API) docsFile(c *Call) error {
	name := c.R.PathValue("file")
	if name == "index.html" { // has one address
		return errNoSuchPath()
	}
	return c.docsFile(name)
}

func (c *Call) docsFile(name string) error {
	contentType, ok := docsTypes[name]
	if !ok {
		return errNoSuchPath()
	}
	b, err := docsFiles.ReadFile("docs/" + name)
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", docsPolicy)
	c.Cached(contentType, b)
	return nil
}
