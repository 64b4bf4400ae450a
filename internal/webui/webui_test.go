package webui

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func ui(t *testing.T) *Handler {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := load(fstest.MapFS{
		"dist/licenses.txt.gz":       {Data: zipped.Bytes()},
		"dist/licenses.txt.br":       {Data: []byte("BR")},
		"dist/index.html":            {Data: []byte("<!doctype html>page")},
		"dist/theme.js":              {Data: []byte("theme")},
		"dist/.keep":                 {Data: []byte("")},
		"dist/assets/app-1a2b.js":    {Data: []byte("script")},
		"dist/assets/app-1a2b.js.br": {Data: []byte("BR")},
		"dist/assets/app-1a2b.js.gz": {Data: []byte("GZ")},
	}, "dist")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestServe(t *testing.T) {
	const page, asset = "<!doctype html>page", "/assets/app-1a2b.js"
	for _, c := range []struct {
		name, method, path, accept, encoding string
		status                               int
		body, cache, sent                    string
	}{
		{"the page", "GET", "/", "text/html", "", 200, page, askMe, ""},
		{"an address of the UI", "GET", "/devices/WIF-0001", "text/html,*/*;q=0.8", "", 200, page, askMe, ""},
		{"a serial with a dot", "GET", "/devices/a.b", "text/html", "", 200, page, askMe, ""},
		{"an address, asked for by a program", "GET", "/devices/WIF-0001", "*/*", "", 200, page, askMe, ""},
		{"an address, asked for without a wish", "GET", "/devices/a.b", "", "", 200, page, askMe, ""},
		{"the link of an order", "GET", "/o/AbC-1_", "text/html", "", 200, page, "no-store", ""},
		{"the link of a message", "GET", "/a/AbC-1_", "text/html", "", 200, page, "no-store", ""},
		{"a file that is not there", "GET", "/robots.txt", "*/*", "", 404, "404 page not found\n", "", ""},
		{"an address, asked for as a picture", "GET", "/devices/WIF-0001", "image/png", "", 404, "404 page not found\n", "", ""},
		{"an asset", "GET", asset, "*/*", "", 200, "script", forEver, ""},
		{"an asset, brotli", "GET", asset, "*/*", "gzip, deflate, br", 200, "BR", forEver, "br"},
		{"an asset, gzip", "GET", asset, "*/*", "gzip;q=0.5, br;q=0", 200, "GZ", forEver, "gzip"},
		{"a file kept compressed alone", "GET", "/licenses.txt", "*/*", "", 200, "text", askMe, ""},
		{"the same, brotli", "GET", "/licenses.txt", "*/*", "br", 200, "BR", askMe, "br"},
		{"an asset of an older build", "GET", "/assets/app-0000.js", "text/html", "", 404, "404 page not found\n", "", ""},
		{"a file that keeps its name", "GET", "/theme.js", "*/*", "br", 200, "theme", askMe, ""},
		{"a hidden file", "GET", "/.keep", "*/*", "", 404, "404 page not found\n", "", ""},
		{"the page by its file's name", "GET", "/index.html", "*/*", "", 404, "404 page not found\n", "", ""},
		{"a write", "POST", "/", "text/html", "", 404, "404 page not found\n", "", ""},
		{"a head", "HEAD", "/", "text/html", "", 200, "", askMe, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Header.Set("Accept", c.accept)
			r.Header.Set("Accept-Encoding", c.encoding)
			w := httptest.NewRecorder()
			ui(t).ServeHTTP(w, r)
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, c.status, c.body)
			}
			if got := w.Header().Get("Cache-Control"); got != c.cache {
				t.Errorf("Cache-Control is %q, want %q", got, c.cache)
			}
			if got := w.Header().Get("Content-Encoding"); got != c.sent {
				t.Errorf("Content-Encoding is %q, want %q", got, c.sent)
			}
		})
	}
}

func TestPolicyOfPages(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	ui(t).ServeHTTP(w, r)
	got := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(got, "script-src 'self'") || strings.Contains(got, "unsafe") || strings.Contains(got, "http") {
		t.Errorf("Content-Security-Policy is %q", got)
	}
}

func TestETagsDifferByEncoding(t *testing.T) {
	h, seen := ui(t), map[string]string{}
	for _, encoding := range []string{"", "gzip", "br"} {
		r := httptest.NewRequest(http.MethodGet, "/assets/app-1a2b.js", nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		tag := w.Header().Get("ETag")
		if other, ok := seen[tag]; ok || tag == "" {
			t.Errorf("%q and %q have the ETag %q", encoding, other, tag)
		}
		seen[tag] = encoding
		r.Header.Set("If-None-Match", tag)
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("the same ETag again gives %d with %d bytes", w.Code, w.Body.Len())
		}
	}
}

func TestBuiltInPage(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Rimewatch") {
		t.Errorf("got %d %q", w.Code, w.Body)
	}
	if !h.Built() && !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("the page of a build without the UI does not say how to get it: %q", w.Body)
	}
}
