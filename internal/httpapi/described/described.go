// Package described holds the answers of the API against the description that it serves.
//
// One thing is added to the description: objects and enumerations are closed, so that a field or
// value without a description shows.
package described

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const typeJSON = "application/json"

// API is a description that was read.
type API struct {
	Doc    *openapi3.T
	router routers.Router

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by reference
}

// Read reads a description, and refuses one that is not valid.
func Read(spec []byte) (*API, error) {
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
	d := &API{Doc: doc, router: router, compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource("openapi.json", resource)
}

// schema compiles what a reference such as #/components/schemas/Alert points to, once.
func (d *API) schema(ref string) (*jsonschema.Schema, error) {
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

// Check returns what is wrong with an answer. Of paths and methods that are not described it
// knows nothing: they are for the caller to judge.
func (d *API) Check(hr *http.Request, status int, header http.Header, body []byte) error {
	route, params, err := d.router.FindRoute(hr)
	if err != nil {
		return nil //nolint:nilerr // it is not described
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
	if !strings.HasPrefix(header.Get("Content-Type"), typeJSON) {
		return nil
	}
	// A schema that is not a component of its own is found by where it stands.
	ref := media.Schema.Ref
	if ref == "" {
		ref = fmt.Sprintf("#/paths/%s/%s/responses/%d/content/%s/schema", pointer(route.Path), strings.ToLower(route.Method), status, pointer(typeJSON))
	}
	schema, err := d.schema(ref)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// pointer writes a name as a step of a JSON pointer in a URL.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}
