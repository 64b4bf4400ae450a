package inlet

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
)

// Bounds of what is decoded.
const (
	MaxPayload = 1 << 20 // bytes
	maxDepth   = 32      // levels of arrays and objects
	maxPlain   = 64      // bytes of a body that is one plain value
	maxItems   = 10_000  // readings in one payload
)

// Payload is what a sender sent, with what is known about its way here.
type Payload struct {
	Body     []byte
	Topic    string            // over MQTT
	Query    map[string]string // of the URL, over HTTP
	Received rimewatch.Time
	Zone     *time.Location // of times without one; nil = they are refused
	Retained bool           // a broker had kept it, nobody knows for how long
	Explain  bool           // list everything that could be bound
}

// parseJSON returns the value of a JSON document, with numbers as float64.
// Integers that a float64 does not hold stay text, so that no two identifiers
// become one. An empty body is an empty object: some senders put everything in
// the URL.
func parseJSON(body []byte) (any, error) {
	switch {
	case len(body) > MaxPayload:
		return nil, fail("is larger than 1 MiB")
	case !utf8.Valid(body):
		return nil, fail("is not UTF-8")
	case len(bytes.TrimSpace(body)) == 0:
		return map[string]any{}, nil
	case depth(body) > maxDepth:
		return nil, fail("is nested deeper than %d levels", maxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if len(body) <= maxPlain && !bytes.ContainsAny(body, "{}[]\"") {
			return string(bytes.TrimSpace(body)), nil // one value, as some send over MQTT
		}
		return nil, fail("is not JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail("is more than one JSON document")
	}
	return plainNumbers(v), nil
}

// depth returns the deepest level of a document, for documents that are JSON.
func depth(body []byte) (deepest int) {
	level, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// exactInteger is the greatest integer up to which a float64 holds every one.
const exactInteger = 1 << 53

func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || (f >= exactInteger || f <= -exactInteger) && !bytes.ContainsAny([]byte(v), ".eE") {
			return string(v)
		}
		return f
	}
	return v
}
