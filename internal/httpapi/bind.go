package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// envelope is the form of every JSON answer.
type envelope[T any] struct {
	Success bool `json:"success" doc:"Always true here."`
	Data    T    `json:"data"`
}

type reply[T any] struct {
	Body envelope[T]
}

// binder describes a route and ties its handler to it.
type binder func(a *API, rt *Route)

// Handle binds a handler that takes checked input and returns the data of the
// answer. I is a struct: fields with the tags path and query are parameters, the field
// Body is the JSON body.
//
// It does nothing but name the types: a route costs the program 20 kB where all of this is
// generic.
func Handle[I, T any](fn func(ctx context.Context, in *I) (T, error)) binder {
	return bound(reflect.TypeFor[I](), reflect.TypeFor[reply[T]](), func(ctx context.Context, in any) (any, error) {
		data, err := fn(ctx, in.(*I))
		if err != nil {
			return nil, err
		}
		return envelope[T]{true, data}, nil
	})
}

// Raw binds a handler that writes the answer itself; I and T only describe it.
func Raw[I, T any](fn func(c *Call) error) binder {
	in, out := reflect.TypeFor[I](), reflect.TypeFor[reply[T]]()
	return func(a *API, rt *Route) {
		a.describeInput(rt, in)
		a.describeOutput(rt, out)
		rt.serve = a.rawHandler(fn)
	}
}

func bound(in, out reflect.Type, fn func(context.Context, any) (any, error)) binder {
	return func(a *API, rt *Route) {
		input := a.describeInput(rt, in)
		a.describeOutput(rt, out)
		status := rt.op.DefaultStatus
		rt.serve = a.rawHandler(func(c *Call) error {
			v := reflect.New(in)
			if err := input.fill(v.Elem(), c); err != nil {
				return err
			}
			data, err := fn(c.R.Context(), v.Interface())
			if err != nil {
				return err
			}
			b, err := wire.AppendJSON(nil, data)
			if err != nil {
				return err
			}
			c.W.Header().Set("Content-Type", TypeJSON)
			c.W.WriteHeader(status)
			_, _ = c.W.Write(append(b, '\n')) // a client that went away is no failure of ours
			return nil
		})
	}
}

// input is how the input of a route is made of a request whose parameters and body are checked.
type input struct {
	params []param
	body   []int // index of its field, nil = there is none
}

// param is a field that comes from the path, or else from the query.
type param struct {
	index    []int
	inPath   bool
	name     string
	fallback string // of one that is absent
}

// describeInput adds the parameters and the body of an input to a route's description.
func (a *API) describeInput(rt *Route, t reflect.Type) *input {
	in, registry, op := &input{}, a.doc.Components.Schemas, rt.op
	for _, f := range reflect.VisibleFields(t) {
		switch {
		case f.Anonymous || !f.IsExported():
			continue
		case f.Name == "Body":
			in.body = f.Index
			s := huma.SchemaFromField(registry, f, t.Name()+f.Name)
			op.RequestBody = &huma.RequestBody{Required: f.Type.Kind() != reflect.Pointer, Content: map[string]*huma.MediaType{TypeJSON: {Schema: s}}}
			rt.bodySchema = s
			continue
		}
		p := param{index: f.Index, name: f.Tag.Get("path"), fallback: f.Tag.Get("default")}
		described := &huma.Param{In: "path", Required: true}
		if p.inPath = p.name != ""; !p.inPath {
			if p.name = f.Tag.Get("query"); p.name == "" {
				continue
			}
			described = &huma.Param{In: "query", Explode: new(false)}
		}
		described.Name, described.Schema = p.name, huma.SchemaFromField(registry, f, "")
		described.Description = described.Schema.Description
		op.Parameters = append(op.Parameters, described)
		in.params = append(in.params, p)
	}
	return in
}

// describeOutput adds the answer of a route to its description, and that to the document.
func (a *API) describeOutput(rt *Route, t reflect.Type) {
	op := rt.op
	f, _ := t.FieldByName("Body") // of reply
	op.Responses[strconv.Itoa(op.DefaultStatus)] = &huma.Response{
		Description: http.StatusText(op.DefaultStatus), Headers: map[string]*huma.Param{},
		Content: map[string]*huma.MediaType{TypeJSON: {Schema: huma.SchemaFromField(a.doc.Components.Schemas, f, t.Name()+f.Name)}},
	}
	a.doc.AddOperation(op)
}

// fill makes the input of a request. Parameters and body were checked before, so what is
// wrong here should have been found there.
func (in *input) fill(v reflect.Value, c *Call) error {
	for i := range in.params {
		p := &in.params[i]
		var text string
		if p.inPath {
			text = c.R.PathValue(p.name)
		} else {
			text = c.Query.Get(p.name)
		}
		if text == "" {
			text = p.fallback
		}
		if text == "" {
			continue
		}
		if err := set(v.FieldByIndex(p.index), text); err != nil {
			return rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The request has invalid fields.")
		}
	}
	if in.body == nil || len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v.FieldByIndex(in.body).Addr().Interface()); err != nil {
		return rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The request has invalid fields.")
	}
	return nil
}

// set reads a parameter into a field.
func set(f reflect.Value, text string) error {
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		f.SetBool(b)
		return err
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		f.SetFloat(n)
		return err
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		f.SetInt(n)
		return err
	default:
		panic("a parameter of type " + f.Type().String()) // of the route table, which every test reads
	}
	return nil
}
