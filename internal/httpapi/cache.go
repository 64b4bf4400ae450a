package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch/internal/wire"
)

// etagOf is weak: compressed, an answer has other bytes.
func etagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// cached answers with a document that rarely changes, or 304 when the client
// has it.
func (c *Call) cached(contentType string, d document) {
	h := c.W.Header()
	h.Set("ETag", d.etag)
	h.Set("Cache-Control", "public, max-age=300")
	if etagMatches(c.R.Header.Values("If-None-Match"), d.etag) {
		c.W.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", contentType)
	_, _ = c.W.Write(d.json)
}

// etagMatches compares weakly, as RFC 9110 section 13.1.2 asks for.
func etagMatches(sent []string, etag string) bool {
	for part := range strings.SplitSeq(strings.Join(sent, ","), ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// Cached answers with a document that rarely changes, or 304 when the client has it already.
func (c *Call) Cached(contentType string, body []byte) {
	c.cached(contentType, document{body, etagOf(body)})
}

// CachedData answers with data and an ETag, or 304 when the client has it already.
func (c *Call) CachedData(data any) error {
	b, err := wire.AppendJSON([]byte(`{"success":true,"data":`), data)
	if err != nil {
		return err
	}
	c.Cached(TypeJSON, append(b, "}\n"...))
	return nil
}
