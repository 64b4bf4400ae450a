package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed all:dist
var built embed.FS

//go:embed fallback
var fallback embed.FS

// policy is what the UI's pages may load. Images in data: URIs are those of the
// style sheet; ws: to the own host is covered by connect-src 'self'.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const (
	forEver = "public, max-age=31536000, immutable"
	askMe   = "no-cache"
)

// file is one file of the UI in the forms in which it can be sent; plain is nil where it is
// made from the compressed one.
type file struct {
	contentType, cache, etag string
	plain, gzip, brotli      []byte
}

// Handler answers browsers.
type Handler struct {
	files map[string]*file // by path
	index *file
	built bool
	// Others returns addresses of this server that a page may try whether they answer; nil = none.
	Others func(*http.Request) []string
}

// New is the UI that is built in, or a page that says how to get it.
func New() (*Handler, error) {
	if _, err := fs.Stat(built, "dist/index.html"); err != nil {
		return load(fallback, "fallback")
	}
	h, err := load(built, "dist")
	if err == nil {
		h.built = true
	}
	return h, err
}

// Built reports whether the UI is built in.
func (h *Handler) Built() bool { return h.built }

func load(from fs.FS, root string) (*Handler, error) {
	h := &Handler{files: make(map[string]*file)}
	sub, err := fs.Sub(from, root)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(sub, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(name, ".br") {
			return err
		}
		name = strings.TrimSuffix(name, ".gz")
		if h.files["/"+name] != nil {
			return nil
		}
		f, err := read(sub, name)
		h.files["/"+name] = f
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("web UI: %w", err)
	}
	if h.index = h.files["/index.html"]; h.index == nil {
		return nil, fmt.Errorf("web UI: no index.html in %s", root)
	}
	delete(h.files, "/index.html") // has one address
	h.files["/"] = h.index
	return h, nil
}

func read(from fs.FS, name string) (*file, error) {
	f := &file{cache: askMe, contentType: contentType(name)}
	// Absent ones are no error: what does not shrink is not compressed, and what shrinks is not kept as it was.
	f.brotli, _ = fs.ReadFile(from, name+".br")
	f.gzip, _ = fs.ReadFile(from, name+".gz")
	var err error
	if f.plain, err = fs.ReadFile(from, name); err != nil && f.gzip == nil {
		return nil, err
	}
	sum := sha256.Sum256(append(f.plain, f.gzip...))
	f.etag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	if strings.HasPrefix(name, "assets/") {
		f.cache = forEver
	}
	return f, nil
}

// contentType does not ask the machine's table, which differs from one to the next.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.NotFound(w, r)
		return
	}
	f := h.files[r.URL.Path]
	if f == nil && isPage(r) {
		f = h.index
	}
	if f == nil {
		http.NotFound(w, r)
		return
	}
	if linked(r.URL.Path) {
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Robots-Tag", "noindex")
		f = &file{contentType: f.contentType, cache: "no-store", etag: f.etag, plain: f.plain, gzip: f.gzip, brotli: f.brotli}
	}
	if strings.HasPrefix(f.contentType, "text/html") {
		allowed := policy
		if h.Others != nil {
			// A policy knows no address of IPv6.
			others := slices.DeleteFunc(h.Others(r), func(a string) bool { return strings.Contains(a, "[") })
			allowed = strings.Replace(policy, "connect-src 'self'", strings.Join(append([]string{"connect-src 'self'"}, others...), " "), 1)
		}
		w.Header().Set("Content-Security-Policy", allowed)
		w.Header().Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	}
	f.send(w, r)
}

// linked reports whether a page's address is a ticket, as in the link of a message.
func linked(path string) bool {
	return strings.HasPrefix(path, "/a/") || strings.HasPrefix(path, "/o/")
}

// isPage reports whether r asks for a page, whose address the UI itself will
// understand, and not for a file that is not there. Checks of links take
// anything, as do scripts, but these do not ask for an address like a page's.
func isPage(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		return false
	}
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") {
		return true
	}
	atRoot := strings.Count(r.URL.Path, "/") == 1 // where files such as robots.txt would be
	return (accept == "" || strings.Contains(accept, "*/*")) && !(atRoot && path.Ext(r.URL.Path) != "")
}

func (f *file) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", f.cache)
	body, encoding := f.encoded(r.Header.Get("Accept-Encoding"))
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if f.brotli != nil || f.gzip != nil {
		header.Set("Vary", "Accept-Encoding")
	}
	header.Set("ETag", strings.TrimSuffix(f.etag, `"`)+encoding+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// encoded is the smallest form that the browser takes.
func (f *file) encoded(accepted string) (body []byte, encoding string) {
	takes := func(name string) bool {
		for part := range strings.SplitSeq(accepted, ",") {
			coding, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
			if strings.EqualFold(coding, name) && strings.ReplaceAll(quality, " ", "") != "q=0" {
				return true
			}
		}
		return false
	}
	switch {
	case f.brotli != nil && takes("br"):
		return f.brotli, "br"
	case f.gzip != nil && takes("gzip"):
		return f.gzip, "gzip"
	}
	if f.plain == nil {
		z, err := gzip.NewReader(bytes.NewReader(f.gzip))
		if err == nil {
			body, err = io.ReadAll(z)
		}
		if err != nil {
			panic(fmt.Sprintf("web UI: %v", err)) // what is built in is damaged
		}
		return body, ""
	}
	return f.plain, ""
}
