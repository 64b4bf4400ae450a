package httpapi

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// checker checks a request by the same schemas that describe
// it. huma has a validator too, but it takes mis-cased keys, ignores null where
// null is not allowed, and rounds large numbers before it looks at them.
type checker struct {
	Registry huma.Registry
	patterns map[string]pattern
}

// pattern is a compiled pattern and how to call it.
type pattern struct {
	*regexp.Regexp
	text string
}

func (c *checker) resolve(s *huma.Schema) *huma.Schema {
	for s.Ref != "" {
		s = c.Registry.SchemaFromRef(s.Ref)
	}
	return s
}

// prepare compiles the patterns of a schema, so that a bad one shows at start.
// It takes huma's patternDescription out: OpenAPI knows no such field.
func (c *checker) prepare(s *huma.Schema, seen map[*huma.Schema]bool) {
	if s == nil {
		return
	}
	s = c.resolve(s)
	if seen[s] {
		return
	}
	seen[s] = true
	if s.Pattern != "" {
		if s.PatternDescription != "" || c.patterns[s.Pattern].Regexp == nil {
			c.patterns[s.Pattern] = pattern{regexp.MustCompile(s.Pattern), s.PatternDescription}
		}
		s.PatternDescription = ""
	}
	c.prepare(s.Items, seen)
	for _, one := range s.OneOf {
		c.prepare(one, seen)
	}
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.prepare(extra, seen)
	}
	for _, p := range s.Properties {
		c.prepare(p, seen)
	}
}

// CheckBody checks a JSON text against the schema that describes T.
func CheckBody[T any](a *API, text []byte) *rimewatch.Error {
	return a.checker.Body(a.checker.Registry.Schema(reflect.TypeFor[T](), true, ""), text)
}

// Body checks the JSON text of a body: its syntax and its fields in one walk.
func (c *checker) Body(s *huma.Schema, text []byte) *rimewatch.Error {
	var f wire.FieldErrors
	object := false
	err := wire.Scan(text, func(in *wire.Scanner) bool {
		object = in.Next() == '{'
		return c.value(s, in, "", &f)
	})
	switch {
	case err != nil:
		return wire.InvalidJSON("%v", err)
	case !object:
		return wire.InvalidJSON("it must be an object")
	}
	return f.Err
}

// value passes the value that comes next in a text; false when it is malformed.
func (c *checker) value(s *huma.Schema, in *wire.Scanner, path string, f *wire.FieldErrors) bool {
	s = c.resolve(s)
	first := in.Next()
	if f.Full() || len(s.OneOf) == 2 && first == 'n' {
		return in.Value()
	}
	switch {
	case len(s.OneOf) == 2: // an object or null
		return c.value(s.OneOf[0], in, path, f)
	case first == 'n':
		if !s.Nullable && s.Type != "" {
			f.Add(path, "must not be null")
		}
	case s.Type == huma.TypeObject && first == '{':
		return c.object(s, in, path, f)
	case s.Type == huma.TypeArray && first == '[':
		return c.array(s, in, path, f)
	default:
		raw, ok := in.Raw()
		if ok {
			c.scalar(s, raw, path, f)
		}
		return ok
	}
	return in.Value()
}

// scalar checks a value that is neither an object nor an array.
func (c *checker) scalar(s *huma.Schema, v []byte, path string, f *wire.FieldErrors) {
	switch s.Type {
	case huma.TypeObject:
		f.Add(path, "must be an object")
	case huma.TypeArray:
		f.Add(path, "must be an array")
	case huma.TypeString:
		if v[0] != '"' {
			f.Add(path, "must be a string")
			return
		}
		c.text(s, string(wire.Text(v)), path, f)
	case huma.TypeBoolean:
		if v[0] != 't' && v[0] != 'f' {
			f.Add(path, "must be true or false")
		}
	case huma.TypeInteger, huma.TypeNumber:
		switch {
		case wire.IsNumber(v):
			c.number(s, string(v), path, f)
		case s.Type == huma.TypeInteger:
			f.Add(path, "must be an integer")
		default:
			f.Add(path, "must be a number")
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *checker) object(s *huma.Schema, in *wire.Scanner, path string, f *wire.FieldErrors) bool {
	extra, open := s.AdditionalProperties.(*huma.Schema)
	n := 0
	present := make(map[string]bool, len(s.Properties))
	ok := in.Object(func(key []byte) bool {
		n++
		name := string(key)
		if p, ok := s.Properties[name]; ok {
			present[name] = true
			return c.value(p, in, join(path, name), f)
		}
		name = wire.Shown(key)
		switch {
		case open && c.propertyName(s, key, join(path, name), f):
			return c.value(extra, in, join(path, name), f)
		case !open && (s.AdditionalProperties != true || nearProperty(s, string(key)) != ""):
			unknownProperty(s, string(key), join(path, name), f)
		}
		return in.Value()
	})
	for _, name := range s.Required {
		if !present[name] {
			f.Add(join(path, name), "is required")
		}
	}
	if s.MaxProperties != nil && n > *s.MaxProperties {
		f.Add(path, "must have at most %d entries", *s.MaxProperties)
	}
	if s.MinProperties != nil && n < *s.MinProperties {
		f.Add(path, "must have at least %d entries", *s.MinProperties)
	}
	return ok
}

// MaxKeyLen is the extension that bounds the keys of a map.
const MaxKeyLen = "x-maxKeyLength"

func (c *checker) propertyName(s *huma.Schema, key []byte, path string, f *wire.FieldErrors) bool {
	most, ok := s.Extensions[MaxKeyLen].(int)
	switch n := utf8.RuneCount(key); {
	case n == 0:
		f.Add(path, "the key must not be empty")
		return false
	case ok && n > most:
		f.Add(path, "the key must have at most %d characters", most)
		return false
	case bytes.IndexByte(key, 0) >= 0:
		f.Add(path, "the key must not contain NUL")
		return false
	}
	return true
}

func unknownProperty(s *huma.Schema, key, path string, f *wire.FieldErrors) {
	if known := nearProperty(s, key); known != "" {
		f.Add(path, "is not a known field, did you mean %s?", known)
	} else {
		f.Add(path, "is not a known field")
	}
}

// nearProperty returns the property that a key is with other capitals; "" = none.
func nearProperty(s *huma.Schema, key string) string {
	for known := range s.Properties {
		if strings.EqualFold(known, key) {
			return known
		}
	}
	return ""
}

func (c *checker) array(s *huma.Schema, in *wire.Scanner, path string, f *wire.FieldErrors) bool {
	n := 0
	ok := in.Array(func(i int) bool {
		n++
		if s.MaxItems != nil && i >= *s.MaxItems {
			return in.Value()
		}
		return c.value(s.Items, in, fmt.Sprintf("%s[%d]", path, i), f)
	})
	if s.MaxItems != nil && n > *s.MaxItems {
		f.Add(path, "must have at most %d items", *s.MaxItems)
	}
	if s.MinItems != nil && n < *s.MinItems {
		f.Add(path, "must have at least %d items", *s.MinItems)
	}
	return ok
}

func (c *checker) text(s *huma.Schema, v, path string, f *wire.FieldErrors) {
	n := utf8.RuneCountInString(v)
	switch {
	case strings.IndexByte(v, 0) >= 0:
		f.Add(path, "must not contain NUL")
	case !utf8.ValidString(v):
		f.Add(path, "must be valid UTF-8")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		f.Add(path, "must be %s", oneOf(s.Enum))
	case s.MinLength != nil && n < *s.MinLength && n == 0:
		f.Add(path, "must not be empty")
	case s.MinLength != nil && n < *s.MinLength:
		f.Add(path, "must have at least %d characters", *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		f.Add(path, "must have at most %d characters", *s.MaxLength)
	case s.Pattern != "" && !c.patterns[s.Pattern].MatchString(v):
		f.Add(path, "must be %s", rimewatch.Sentencef(c.patterns[s.Pattern].text))
	case s.Format == "date-time":
		if _, err := rimewatch.ParseTime(v); err != nil {
			f.Add(path, "%s", err)
		}
	}
}

// oneOf lists values: "a, b or c".
func oneOf(values []any) rimewatch.Sentence {
	names := make([]string, len(values))
	for i, v := range values {
		if names[i] = "null"; v != nil {
			names[i] = fmt.Sprint(v)
		}
	}
	last := len(names) - 1
	if last == 0 {
		return rimewatch.Sentencef("%s", names[0])
	}
	return rimewatch.Sentencef("%s or %s", strings.Join(names[:last], ", "), names[last])
}

func (c *checker) number(s *huma.Schema, v, path string, f *wire.FieldErrors) {
	if s.Type == huma.TypeInteger && strings.ContainsAny(v, ".eE") {
		f.Add(path, "must be an integer")
		return
	}
	// Numbers beyond a float64 become ±Inf, which no range allows.
	n, _ := strconv.ParseFloat(v, 64)
	switch {
	case s.Minimum != nil && s.Maximum != nil && (n < *s.Minimum || n > *s.Maximum):
		f.Add(path, "must be between %s and %s", rimewatch.Decimal(*s.Minimum), rimewatch.Decimal(*s.Maximum))
	case s.Minimum != nil && n < *s.Minimum:
		f.Add(path, "must be at least %s", rimewatch.Decimal(*s.Minimum))
	case s.Maximum != nil && n > *s.Maximum:
		f.Add(path, "must be at most %s", rimewatch.Decimal(*s.Maximum))
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum:
		f.Add(path, "must be more than %s", rimewatch.Decimal(*s.ExclusiveMinimum))
	case math.IsInf(n, 0) || (s.Type == huma.TypeInteger && math.Abs(n) > wire.MaxCount):
		f.Add(path, "is too large")
	}
}

// query checks the parameters of a request and returns the values that the route
// knows. Unknown ones are ignored. An integer too large for the machine becomes
// the largest: "a larger one is clamped" knows no end.
func (c *checker) query(params []*huma.Param, raw string) (known url.Values, warnings []string, e *rimewatch.Error) {
	if raw == "" {
		return nil, nil, nil
	}
	sent, err := url.ParseQuery(raw)
	if err != nil {
		return nil, nil, rimewatch.Invalid("query", "is malformed")
	}
	var f wire.FieldErrors
	known = make(url.Values, len(params))
	for _, p := range params {
		if p.In != "query" {
			continue
		}
		values, ok := sent[p.Name]
		if !ok {
			continue
		}
		if values[0] == "" && p.Name != "page" && p.Name != "per_page" {
			continue // an empty filter is an absent one
		}
		v := c.parameter(p, values[0], &f)
		if v != "" {
			known.Set(p.Name, v)
		}
	}
	takeLabels(params, sent, known)
	return known, unknownParameters(params, sent), f.Err
}

func (c *checker) parameter(p *huma.Param, v string, f *wire.FieldErrors) string {
	s := c.resolve(p.Schema)
	switch s.Type {
	case huma.TypeInteger:
		sign, digits := strings.HasPrefix(v, "-"), strings.TrimPrefix(v, "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			f.Add(p.Name, "must be an integer")
			return ""
		}
		if n, err := strconv.ParseInt(v, 10, 64); !sign && (err != nil || n > wire.MaxCount) {
			v = strconv.FormatInt(wire.MaxCount, 10)
		}
		c.number(s, v, p.Name, f)
	case huma.TypeBoolean:
		if v != "true" && v != "false" {
			f.Add(p.Name, "must be true or false")
		}
	case huma.TypeString:
		if v != "" || len(s.Enum) > 0 || s.Format != "" {
			c.text(s, v, p.Name, f)
		}
	}
	return v
}
