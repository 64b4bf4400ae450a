package v1

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/described"
)

// readOnce is the description of the first API: those of others differ by where the
// API is at most, and one takes seconds to write and to read beside the race detector.
var readOnce struct {
	sync.Once
	*described.API
	err error
}

func describedBy(api *httpapi.API) (*described.API, error) {
	readOnce.Do(func() {
		readOnce.API, readOnce.err = described.Read(serverURL.ReplaceAllLiteral(api.OpenAPI(), []byte(`"url":"/api"`)))
	})
	return readOnce.API, readOnce.err
}

// serverURL is where a description says that the API is.
var serverURL = regexp.MustCompile(`"url":"[^"]*/api"`)

// TestCheck: an answer that is not as described is found out.
func TestCheck(t *testing.T) {
	r := newRig(t)
	hr, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/sites", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {httpapi.TypeJSON}}
	const page = `,"pagination":{"current_page":1,"per_page":15,"total":0,"last_page":1,"from":null,"to":null,"next_cursor":null}`
	const empty = `{"success":true,"data":{"sites":[]` + page + `}}`
	if err := r.spec.Check(hr, http.StatusOK, header, []byte(empty)); err != nil {
		t.Error(err)
	}
	for what, body := range map[string]string{
		"a member that is not described": `{"success":true,"data":{"sites":[],"more":1` + page + `}}`,
		"a member that is missing":       `{"success":true,"data":{}}`,
		"another type":                   `{"success":true,"data":{"sites":{}` + page + `}}`,
		"a deep mistake":                 `{"success":true,"data":{"sites":[{"id":"1"}]` + page + `}}`,
		"no JSON":                        `{`,
	} {
		if r.spec.Check(hr, http.StatusOK, header, []byte(body)) == nil {
			t.Errorf("%s is not found out", what)
		}
	}
	if r.spec.Check(hr, http.StatusTeapot, header, []byte(empty)) == nil {
		t.Error("a status that is not described is not found out")
	}
	if r.spec.Check(hr, http.StatusOK, http.Header{"Content-Type": {"text/plain"}}, []byte(empty)) == nil {
		t.Error("a type that is not described is not found out")
	}
}

func TestDescription(t *testing.T) {
	r := newRig(t)
	d, err := described.Read(r.api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if d.Doc.OpenAPI != "3.1.0" {
		t.Errorf("version %s", d.Doc.OpenAPI)
	}
	for _, rt := range r.api.Routes() {
		item := d.Doc.Paths.Find(rt.Path)
		if item == nil || item.GetOperation(rt.Method) == nil {
			t.Errorf("%s %s is not described", rt.Method, rt.Path)
			continue
		}
		op := item.GetOperation(rt.Method)
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || d.Doc.Tags.Get(op.Tags[0]) == nil {
			t.Errorf("%s is described badly", rt.ID)
		}
	}
	used := func(kind, name string) bool {
		return bytes.Contains(r.api.OpenAPI(), fmt.Appendf(nil, `"#/components/%s/%s"`, kind, name))
	}
	for name := range d.Doc.Components.Schemas {
		if strings.ContainsAny(name, "[]*./ ") || strings.HasPrefix(name, "Error") || !used("schemas", name) {
			t.Errorf("component %q", name)
		}
	}
	for name := range d.Doc.Components.Responses {
		if !used("responses", name) {
			t.Errorf("response %q", name)
		}
	}
}
