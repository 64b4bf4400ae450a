package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// described checks answers against the served description, with one thing
// added: objects and enumerations are closed, so that a field or value without a description shows.
type described struct {
	doc    *openapi3.T
	router routers.Router

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by reference
}

// readOnce is the description of the first API: those of others differ by where the
// API is at most, and one takes seconds to write and to read beside the race detector.
var readOnce struct {
	sync.Once
	*described
	err error
}

func describedBy(api *httpapi.API) (*described, error) {
	readOnce.Do(func() {
		readOnce.described, readOnce.err = newDescribed(serverURL.ReplaceAllLiteral(api.OpenAPI(), []byte(`"url":"/api"`)))
	})
	return readOnce.described, readOnce.err
}

// serverURL is where a description says that the API is.
var serverURL = regexp.MustCompile(`"url":"[^"]*/api"`)

func newDescribed(spec []byte) (*described, error) {
	var tree map[string]any
	if err := json.Unmarshal(spec, &tree); err != nil {
		return nil, err
	}
	closeObjects(tree)
	closed, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(closed))
	if err != nil {
		return nil, err
	}
	d := &described{doc: doc, router: router, compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource("openapi.json", resource)
}

// schema compiles what a reference such as #/components/schemas/Alert points to, once.
func (d *described) schema(ref string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.schemas[ref], error(nil)
	if s == nil {
		if s, err = d.compiler.Compile("openapi.json" + ref); err == nil {
			d.schemas[ref] = s
		}
	}
	return s, err
}

func closeObjects(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"].(map[string]any); ok && x["type"] == "object" && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
		}
		if open := x["x-extensible-enum"]; open != nil {
			values := open.([]any)
			if kinds, ok := x["type"].([]any); ok && slices.Contains(kinds, any("null")) {
				values = append(values, nil)
			}
			x["enum"] = values
		}
		for _, inner := range x {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range x {
			closeObjects(inner)
		}
	}
}

// check returns what is wrong with an answer. Paths and methods that the
// description does not have must answer 404 or 405.
func (d *described) check(hr *http.Request, status int, header http.Header, body []byte) error {
	route, params, err := d.router.FindRoute(hr)
	if err != nil {
		return nil //nolint:nilerr // what is not described is for the caller to judge
	}
	if hr.Method == http.MethodHead || status == http.StatusNotModified {
		return nil
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: hr, PathParams: params, Route: route},
		Status:                 status, Header: header,
		// The library would compile the body's schema for every answer.
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: true},
	})
	content := route.Operation.Responses.Status(status)
	if err != nil || content == nil || len(content.Value.Content) == 0 {
		return err
	}
	media := content.Value.Content.Get(header.Get("Content-Type"))
	if media == nil {
		return fmt.Errorf("content type %q", header.Get("Content-Type"))
	}
	if !strings.HasPrefix(header.Get("Content-Type"), httpapi.TypeJSON) {
		return nil
	}
	schema, err := d.schema(media.Schema.Ref)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

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
	if err := r.spec.check(hr, http.StatusOK, header, []byte(empty)); err != nil {
		t.Error(err)
	}
	for what, body := range map[string]string{
		"a member that is not described": `{"success":true,"data":{"sites":[],"more":1` + page + `}}`,
		"a member that is missing":       `{"success":true,"data":{}}`,
		"another type":                   `{"success":true,"data":{"sites":{}` + page + `}}`,
		"a deep mistake":                 `{"success":true,"data":{"sites":[{"id":"1"}]` + page + `}}`,
		"no JSON":                        `{`,
	} {
		if r.spec.check(hr, http.StatusOK, header, []byte(body)) == nil {
			t.Errorf("%s is not found out", what)
		}
	}
	if r.spec.check(hr, http.StatusTeapot, header, []byte(empty)) == nil {
		t.Error("a status that is not described is not found out")
	}
	if r.spec.check(hr, http.StatusOK, http.Header{"Content-Type": {"text/plain"}}, []byte(empty)) == nil {
		t.Error("a type that is not described is not found out")
	}
}

func TestDescription(t *testing.T) {
	r := newRig(t)
	d, err := newDescribed(r.api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if d.doc.OpenAPI != "3.1.0" {
		t.Errorf("version %s", d.doc.OpenAPI)
	}
	for _, rt := range r.api.Routes() {
		item := d.doc.Paths.Find(rt.Path)
		if item == nil || item.GetOperation(rt.Method) == nil {
			t.Errorf("%s %s is not described", rt.Method, rt.Path)
			continue
		}
		op := item.GetOperation(rt.Method)
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || d.doc.Tags.Get(op.Tags[0]) == nil {
			t.Errorf("%s is described badly", rt.ID)
		}
	}
	used := func(kind, name string) bool {
		return bytes.Contains(r.api.OpenAPI(), fmt.Appendf(nil, `"#/components/%s/%s"`, kind, name))
	}
	for name := range d.doc.Components.Schemas {
		if strings.ContainsAny(name, "[]*./ ") || strings.HasPrefix(name, "Error") || !used("schemas", name) {
			t.Errorf("component %q", name)
		}
	}
	for name := range d.doc.Components.Responses {
		if !used("responses", name) {
			t.Errorf("response %q", name)
		}
	}
}
