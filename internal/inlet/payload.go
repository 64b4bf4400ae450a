package inlet

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Bounds of what is decoded.
const (
	MaxPayload = 1 << 20 // bytes
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
	}
	// The check comes before anything is made of the body, which may take much memory.
	if err := wire.CheckPayload(body); errors.Is(err, wire.ErrNested) {
		return nil, fail("is nested deeper than %d levels", wire.MaxDepth)
	} else if errors.Is(err, wire.ErrMembers) {
		return nil, fail("has too many members in one object")
	} else if err != nil {
		if isPlain(body) {
			return string(bytes.TrimSpace(body)), nil // one value, as some send over MQTT
		}
		return nil, fail("is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fail("is not JSON")
	}
	return plainNumbers(v), nil
}

// isPlain reports whether a body may be one value that is not written as JSON.
func isPlain(body []byte) bool { return len(body) <= maxPlain && !bytes.ContainsAny(body, "{}[]\"") }

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
