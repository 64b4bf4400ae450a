package httpapi

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
)

// checker tells what is wrong with a request, by the same schemas that describe
// it. huma has a validator too, but it takes mis-cased keys, ignores null where
// null is not allowed, and rounds large numbers before it looks at them.
type checker struct {
	registry huma.Registry
	patterns map[string]pattern
}

// pattern is a compiled pattern and how to call it.
type pattern struct {
	*regexp.Regexp
	text string
}

// found collects what is wrong with which field.
type found struct{ err *rimewatch.Error }

func (f *found) add(path, format string, args ...any) {
	if f.err == nil {
		f.err = &rimewatch.Error{Code: rimewatch.CodeValidationFailed, Message: "The request has invalid fields."}
	}
	if len(f.err.Fields) < maxReportedFields {
		f.err.With(path, format, args...)
	}
}

func (c *checker) resolve(s *huma.Schema) *huma.Schema {
	for s.Ref != "" {
		s = c.registry.SchemaFromRef(s.Ref)
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

// body checks a JSON text that has passed checkJSON.
func (c *checker) body(s *huma.Schema, text []byte) *rimewatch.Error {
	var f found
	text = bytes.TrimSpace(text)
	if text[0] != '{' {
		return invalidJSON("it must be an object")
	}
	c.value(s, text, "", &f)
	return f.err
}

func (c *checker) value(s *huma.Schema, v []byte, path string, f *found) {
	s = c.resolve(s)
	if len(s.OneOf) == 2 { // an object or null
		if v[0] != 'n' {
			c.value(s.OneOf[0], v, path, f)
		}
		return
	}
	if v[0] == 'n' {
		if !s.Nullable && s.Type != "" {
			f.add(path, "must not be null")
		}
		return
	}
	switch s.Type {
	case huma.TypeObject:
		c.object(s, v, path, f)
	case huma.TypeArray:
		c.array(s, v, path, f)
	case huma.TypeString:
		if v[0] != '"' {
			f.add(path, "must be a string")
			return
		}
		c.text(s, string(textOf(v)), path, f)
	case huma.TypeBoolean:
		if v[0] != 't' && v[0] != 'f' {
			f.add(path, "must be true or false")
		}
	case huma.TypeInteger, huma.TypeNumber:
		if !isNumber(v) {
			f.add(path, "must be %s", kindName(s.Type))
			return
		}
		c.number(s, string(v), path, f)
	}
}

func kindName(schemaType string) string {
	if schemaType == huma.TypeInteger {
		return "an integer"
	}
	return "a number"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *checker) object(s *huma.Schema, v []byte, path string, f *found) {
	if v[0] != '{' {
		f.add(path, "must be an object")
		return
	}
	extra, open := s.AdditionalProperties.(*huma.Schema)
	n := 0
	present := make(map[string]bool, len(s.Properties))
	members(v, func(key, value []byte) bool {
		n++
		name := string(key)
		if p, ok := s.Properties[name]; ok {
			present[name] = true
			c.value(p, value, join(path, name), f)
			return true
		}
		name = shown(key)
		switch {
		case open && c.propertyName(s, key, join(path, name), f):
			c.value(extra, value, join(path, name), f)
		case !open:
			f.add(join(path, name), "%s", unknownProperty(s, string(key)))
		}
		return f.err == nil || len(f.err.Fields) < maxReportedFields
	})
	for _, name := range s.Required {
		if !present[name] {
			f.add(join(path, name), "is required")
		}
	}
	if s.MaxProperties != nil && n > *s.MaxProperties {
		f.add(path, "must have at most %d entries", *s.MaxProperties)
	}
	if s.MinProperties != nil && n < *s.MinProperties {
		f.add(path, "must have at least %d entries", *s.MinProperties)
	}
}

// maxKeyLen is the extension that bounds the keys of a map.
const maxKeyLen = "x-maxKeyLength"

func (c *checker) propertyName(s *huma.Schema, key []byte, path string, f *found) bool {
	most, ok := s.Extensions[maxKeyLen].(int)
	switch n := utf8.RuneCount(key); {
	case n == 0:
		f.add(path, "the key must not be empty")
		return false
	case ok && n > most:
		f.add(path, "the key must have at most %d characters", most)
		return false
	case bytes.IndexByte(key, 0) >= 0:
		f.add(path, "the key must not contain NUL")
		return false
	}
	return true
}

func unknownProperty(s *huma.Schema, key string) string {
	for known := range s.Properties {
		if strings.EqualFold(known, key) {
			return fmt.Sprintf("is not a known field, did you mean %s?", known)
		}
	}
	return "is not a known field"
}

func (c *checker) array(s *huma.Schema, v []byte, path string, f *found) {
	if v[0] != '[' {
		f.add(path, "must be an array")
		return
	}
	n := 0
	elements(v, func(item []byte) bool {
		if s.MaxItems == nil || n < *s.MaxItems {
			c.value(s.Items, item, fmt.Sprintf("%s[%d]", path, n), f)
		}
		n++
		return f.err == nil || len(f.err.Fields) < maxReportedFields
	})
	if s.MaxItems != nil && n > *s.MaxItems {
		f.add(path, "must have at most %d items", *s.MaxItems)
	}
	if s.MinItems != nil && n < *s.MinItems {
		f.add(path, "must have at least %d items", *s.MinItems)
	}
}

func (c *checker) text(s *huma.Schema, v, path string, f *found) {
	n := utf8.RuneCountInString(v)
	switch {
	case strings.IndexByte(v, 0) >= 0:
		f.add(path, "must not contain NUL")
	case !utf8.ValidString(v):
		f.add(path, "must be valid UTF-8")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		f.add(path, "must be %s", oneOf(s.Enum))
	case s.MinLength != nil && n < *s.MinLength && n == 0:
		f.add(path, "must not be empty")
	case s.MinLength != nil && n < *s.MinLength:
		f.add(path, "must have at least %d characters", *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		f.add(path, "must have at most %d characters", *s.MaxLength)
	case s.Pattern != "" && !c.patterns[s.Pattern].MatchString(v):
		f.add(path, "must be %s", c.patterns[s.Pattern].text)
	case s.Format == "date-time":
		if _, err := rimewatch.ParseTime(v); err != nil {
			f.add(path, "%s", err)
		}
	}
}

func oneOf(values []any) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}

func (c *checker) number(s *huma.Schema, v, path string, f *found) {
	if s.Type == huma.TypeInteger && strings.ContainsAny(v, ".eE") {
		f.add(path, "must be an integer")
		return
	}
	// What a float64 cannot hold becomes ±Inf, which no range allows.
	n, _ := strconv.ParseFloat(v, 64)
	switch {
	case s.Minimum != nil && s.Maximum != nil && (n < *s.Minimum || n > *s.Maximum):
		f.add(path, "must be between %s and %s", plain(*s.Minimum), plain(*s.Maximum))
	case s.Minimum != nil && n < *s.Minimum:
		f.add(path, "must be at least %s", plain(*s.Minimum))
	case s.Maximum != nil && n > *s.Maximum:
		f.add(path, "must be at most %s", plain(*s.Maximum))
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum:
		f.add(path, "must be more than %s", plain(*s.ExclusiveMinimum))
	case math.IsInf(n, 0) || (s.Type == huma.TypeInteger && math.Abs(n) > maxCount):
		f.add(path, "is too large")
	}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// query checks the parameters of a request and gives the values that the route
// knows. Unknown ones are ignored. An integer too large for the machine becomes
// the largest: "a larger one is clamped" knows no end.
func (c *checker) query(params []*huma.Param, raw string) (url.Values, *rimewatch.Error) {
	if raw == "" {
		return nil, nil
	}
	sent, err := url.ParseQuery(raw)
	if err != nil {
		return nil, rimewatch.Invalid("query", "is malformed")
	}
	var f found
	known := make(url.Values, len(params))
	for _, p := range params {
		if p.In != "query" {
			continue
		}
		values, ok := sent[p.Name]
		if !ok {
			continue
		}
		v := c.parameter(p, values[0], &f)
		if v != "" {
			known.Set(p.Name, v)
		}
	}
	return known, f.err
}

func (c *checker) parameter(p *huma.Param, v string, f *found) string {
	s := c.resolve(p.Schema)
	switch s.Type {
	case huma.TypeInteger:
		sign, digits := strings.HasPrefix(v, "-"), strings.TrimPrefix(v, "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			f.add(p.Name, "must be an integer")
			return ""
		}
		if n, err := strconv.ParseInt(v, 10, 64); !sign && (err != nil || n > maxCount) {
			v = strconv.FormatInt(maxCount, 10)
		}
		c.number(s, v, p.Name, f)
	case huma.TypeBoolean:
		if v != "true" && v != "false" {
			f.add(p.Name, "must be true or false")
		}
	case huma.TypeString:
		if v != "" || len(s.Enum) > 0 || s.Format != "" {
			c.text(s, v, p.Name, f)
		}
	}
	return v
}
