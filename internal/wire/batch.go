package wire

import (
	"bytes"

	"github.com/rimewatch/rimewatch"
)

// MaxBatch is how many readings one batch may hold.
const MaxBatch = 10_000

// Batch reads the readings of a batch one after the other. It may be used again.
type Batch struct {
	Sent SentReading // the item that was read last
	Raw  []byte      // its JSON text
	N    int         // items seen

	scan Scanner
	each func(e *rimewatch.Error)
}

// ReadLines reads NDJSON, one reading a line, and calls each after every item:
// with nil when it is in Sent, otherwise with what is wrong with it. A malformed
// line is a malformed item.
func (b *Batch) ReadLines(body []byte, each func(e *rimewatch.Error)) *rimewatch.Error {
	b.begin(each)
	for len(body) > 0 {
		line := body
		if i := bytes.IndexByte(body, '\n'); i >= 0 {
			line, body = body[:i], body[i+1:]
		} else {
			body = nil
		}
		if Blank(line) {
			continue
		}
		if e := b.count(); e != nil {
			return e
		}
		b.Raw = line
		each(DecodeReading(line, &b.Sent))
	}
	return b.end()
}

// ReadDocument reads {"readings":[…]} and calls each as ReadLines does. A
// malformed document is refused whole: what each was told of it is void then.
func (b *Batch) ReadDocument(body []byte, each func(e *rimewatch.Error)) *rimewatch.Error {
	b.begin(each)
	if i, ok := readingsFirst(body); ok {
		i, e := b.array(body, i)
		if e != nil {
			return e
		}
		i = skipSpace(body, i)
		if i < len(body) && body[i] == '}' && skipSpace(body, i+1) == len(body) {
			return b.end()
		}
		if _, e := readingsMember(body); e != nil {
			return e
		}
		return InvalidJSON("unexpected data after the readings")
	}
	array, e := readingsMember(body)
	if e != nil {
		return e
	}
	if _, e = b.array(array, 0); e != nil {
		return e
	}
	return b.end()
}

func (b *Batch) begin(each func(e *rimewatch.Error)) {
	*b = Batch{each: each, scan: Scanner{keys: b.scan.keys[:0]}}
}

func (b *Batch) end() *rimewatch.Error {
	b.each, b.Raw = nil, nil
	if b.N == 0 {
		return rimewatch.Invalid("readings", "must hold at least one reading")
	}
	return nil
}

// count counts one item: CodePayloadTooLarge after the last that is allowed.
func (b *Batch) count() *rimewatch.Error {
	b.N++
	if b.N > MaxBatch {
		return rimewatch.Errorf(rimewatch.CodePayloadTooLarge, "A batch must not hold more than %d readings.", MaxBatch)
	}
	return nil
}

// readingsFirst finds the array in a document that begins with it, as nearly all
// do.
func readingsFirst(body []byte) (i int, ok bool) {
	for _, token := range []string{`{`, `"readings"`, `:`} {
		i = skipSpace(body, i)
		if len(body)-i < len(token) || string(body[i:i+len(token)]) != token {
			return 0, false
		}
		i += len(token)
	}
	i = skipSpace(body, i)
	return i, i < len(body) && body[i] == '['
}

// readingsMember finds the array in a document of unusual form and says what is
// wrong with the others.
func readingsMember(body []byte) (array []byte, e *rimewatch.Error) {
	var f FieldErrors
	object := false
	err := Scan(body, func(s *Scanner) bool {
		if object = s.Next() == '{'; !object {
			return s.Value()
		}
		return s.Object(func(key []byte) bool {
			value, ok := s.Raw()
			switch {
			case !ok:
				return false
			case string(key) != "readings":
				f.Add(Shown(key), "is not a known field")
			case value[0] != '[':
				f.Add("readings", "must be an array")
			default:
				array = value
			}
			return true
		})
	})
	switch {
	case err != nil:
		return nil, InvalidJSON("%v", err)
	case !object:
		return nil, InvalidJSON("it must be an object with the member readings")
	case f.Err == nil && array == nil:
		f.Add("readings", "is required")
	}
	return array, f.Err
}

// array reads the items of the array at data[i] and returns the position after
// it.
func (b *Batch) array(data []byte, i int) (end int, e *rimewatch.Error) {
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		if e := b.count(); e != nil {
			return 0, e
		}
		if end, ok := fastReading(data, i, &b.Sent); ok {
			b.Raw = data[i:end]
			b.each(nil)
			i = end
		} else if i, e = b.item(data, i); e != nil {
			return 0, e
		}
		i = skipSpace(data, i)
		switch {
		case i < len(data) && data[i] == ',':
			i = skipSpace(data, i+1)
		case i < len(data) && data[i] == ']':
			return i + 1, nil
		default:
			return 0, InvalidJSON("expected , or ] at byte %d", i)
		}
	}
}

// item reads the item at data[i], which is not of the common form.
func (b *Batch) item(data []byte, i int) (end int, e *rimewatch.Error) {
	s := &b.scan
	s.data, s.pos, s.depth = data, i, 2
	var bad *rimewatch.Error
	var ok bool
	if s.Next() == '{' {
		bad, ok = strictReading(s, &b.Sent)
	} else {
		bad, ok = rimewatch.Invalid("reading", "must be an object"), s.Value()
	}
	if !ok {
		return 0, InvalidJSON("%v", &s.err)
	}
	b.Raw = data[i:s.pos]
	b.each(bad)
	return s.pos, nil
}
