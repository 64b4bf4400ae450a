package inlet

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Bounds of decoded payloads.
const (
	MaxPayload = 1 << 20 // bytes
	maxPlain   = 64      // bytes of a body that is one plain value
	maxItems   = 10_000  // readings in one payload

	mostRepaired = 64 << 10 // bytes of a body in which values that are no JSON are looked for
)

// Payload is a sender's message, with the facts of its way here.
type Payload struct {
	Body     []byte
	Topic    string            // over MQTT
	Client   string            // over MQTT, of a client that has a name: where its topics are those of every other, it is the sender
	Query    map[string]string // of the URL, over HTTP
	Received rimewatch.Time
	Zone     *time.Location // of times without one; nil = they are refused
	Retained bool           // a broker had kept it, for an unknown time
	Explain  bool           // list everything that could be bound
}

// parse returns the value of a payload: of a JSON document with numbers as float64.
// Integers that a float64 does not hold stay text, so that no two identifiers
// become one. An empty body is an empty object: some senders put everything in
// the URL. One value that is not JSON, as some send over MQTT, is a text.
func parse(p *Payload) (any, error) {
	body := p.Body
	switch {
	case len(body) > MaxPayload:
		return nil, fail("is larger than 1 MiB")
	case !utf8.Valid(body):
		return nil, fail("is not UTF-8")
	case len(bytes.TrimSpace(body)) == 0:
		return map[string]any{}, nil
	}
	// The check comes before anything is made of the body, which may take much memory.
	err := wire.CheckPayload(body)
	if err != nil && !errors.Is(err, wire.ErrNested) && !errors.Is(err, wire.ErrMembers) {
		if isPlain(body) {
			return plainText(body), nil
		}
		if len(body) <= mostRepaired {
			body = quoteNaN(body)
			err = wire.CheckPayload(body)
		}
	}
	switch {
	case errors.Is(err, wire.ErrNested):
		return nil, fail("is nested deeper than %d levels", wire.MaxDepth)
	case errors.Is(err, wire.ErrMembers):
		return nil, fail("has too many members in one object")
	case err != nil:
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

// plainText returns a body that is one value: a number with a decimal comma with a point.
func plainText(body []byte) string {
	text := string(bytes.TrimSpace(body))
	if decimalComma.MatchString(text) {
		text = strings.Replace(text, ",", ".", 1)
	}
	return text
}

var decimalComma = regexp.MustCompile(`^[+-]?\d+,\d+(\s*\D{0,6})?$`)

// quoteNaN makes texts of what is no JSON where a value stands: "not a number" and the
// infinities, as many libraries write them. They cost that value alone.
func quoteNaN(body []byte) []byte {
	return notNumber.ReplaceAll(body, []byte(`$1"$2"$3`))
}

var notNumber = regexp.MustCompile(`([:\[,]\s*)([+-]?(?i:nan|inf|infinity))(\s*[,}\]])`)

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
