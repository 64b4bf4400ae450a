package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// described checks answers against the served description, with one thing
// added: objects are closed, so that a field without a description shows.
type described struct {
	doc    *openapi3.T
	router routers.Router
}

var knownDescriptions sync.Map // text → *described

// describedBy remembers descriptions: all but a few tests have the same.
func describedBy(spec string) (*described, error) {
	if d, ok := knownDescriptions.Load(spec); ok {
		return d.(*described), nil
	}
	d, err := newDescribed([]byte(spec))
	if err == nil {
		knownDescriptions.Store(spec, d)
	}
	return d, err
}

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
	return &described{doc: doc, router: router}, err
}

func closeObjects(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"].(map[string]any); ok && x["type"] == "object" && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
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

// check tells what is wrong with an answer. Paths and methods that the
// description does not have must answer 404 or 405.
func (d *described) check(hr *http.Request, status int, header http.Header, body []byte) error {
	route, params, err := d.router.FindRoute(hr)
	if err != nil {
		return nil //nolint:nilerr // what is not described is for the caller to judge
	}
	if hr.Method == http.MethodHead || status == http.StatusNotModified {
		return nil
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: hr, PathParams: params, Route: route},
		Status:                 status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
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
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			t.Errorf("%s is described badly", rt.ID)
		}
	}
	for name := range d.doc.Components.Schemas {
		if strings.ContainsAny(name, "[]*./ ") || strings.HasPrefix(name, "Error") {
			t.Errorf("component %q", name)
		}
	}
}
