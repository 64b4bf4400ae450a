package api

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

// validators are of different people, and share no code that reads OpenAPI.
var validators = map[string]func(spec []byte) error{
	"kin-openapi": func(spec []byte) error {
		doc, err := openapi3.NewLoader().LoadFromData(spec)
		if err != nil {
			return err
		}
		return doc.Validate(context.Background())
	},
	"libopenapi": func(spec []byte) error {
		doc, err := libopenapi.NewDocument(spec)
		if err != nil {
			return err
		}
		v, errs := validator.NewValidator(doc)
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		if ok, found := v.ValidateDocument(); !ok {
			for _, f := range found {
				errs = append(errs, f)
				for _, cause := range f.SchemaValidationErrors {
					errs = append(errs, errors.New(cause.Reason))
				}
			}
			return errors.Join(errs...)
		}
		return nil
	},
}

// TestDescriptionIsValid: what is served is OpenAPI 3.1 to two validators, each of which finds a mistake.
func TestDescriptionIsValid(t *testing.T) {
	now := read(t, present)
	for name, validate := range validators {
		t.Run(name, func(t *testing.T) {
			if err := validate(now); err != nil {
				t.Error(err)
			}
			var doc map[string]any
			if err := json.Unmarshal(now, &doc); err != nil {
				t.Fatal(err)
			}
			at(doc, "paths", "/v1/devices", "get")["parameters"] = []any{map[string]any{"name": "q", "in": "somewhere", "schema": map[string]any{"type": "string"}}}
			spoilt, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if validate(spoilt) == nil {
				t.Error("a parameter that is nowhere is not found")
			}
		})
	}
}
