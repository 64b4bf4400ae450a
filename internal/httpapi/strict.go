package httpapi

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a JSON document.
const maxDepth = 32

// syntaxError says what is wrong with a JSON text and where.
type syntaxError struct {
	offset int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.reason, e.offset) }

// scanner walks a JSON text and accepts exactly RFC 8259 in I-JSON form
// (RFC 7493): valid UTF-8, no lone surrogates, no duplicate keys, bounded depth.
// encoding/json takes the last of duplicate keys and repairs bad UTF-8, which
// would let a reading mean something else than what was sent.
type scanner struct {
	data []byte
	pos  int
	keys [][]byte // of the objects that are open, innermost last
	err  syntaxError
}

// checkJSON tells whether data is one strict JSON value and nothing else.
func checkJSON(data []byte) error {
	s := scanner{data: data}
	s.space()
	if !s.value(0) {
		return &s.err
	}
	s.space()
	if s.pos != len(data) {
		s.fail("unexpected data after the value")
		return &s.err
	}
	return nil
}

func (s *scanner) fail(reason string) bool {
	s.err = syntaxError{s.pos, reason}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// value passes one value that starts at pos.
func (s *scanner) value(depth int) bool {
	if s.pos >= len(s.data) {
		return s.fail("unexpected end")
	}
	switch c := s.data[s.pos]; {
	case c == '{':
		return s.object(depth + 1)
	case c == '[':
		return s.array(depth + 1)
	case c == '"':
		_, ok := s.str()
		return ok
	case c == '-' || (c >= '0' && c <= '9'):
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	default:
		return s.fail("unexpected character")
	}
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("unexpected character")
	}
	s.pos += len(word)
	return true
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) number() bool {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return s.fail("malformed number")
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return s.fail("malformed number")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail("malformed number")
		}
	}
	return true
}

// str passes a string and gives what stands between the quotes, as written.
func (s *scanner) str() (raw []byte, ok bool) {
	s.pos++
	start := s.pos
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			raw = s.data[start:s.pos]
			s.pos++
			return raw, true
		case c == '\\':
			if !s.escape() {
				return nil, false
			}
		case c < 0x20:
			return nil, s.fail("control character in a string")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n <= 1 {
				return nil, s.fail("invalid UTF-8")
			}
			s.pos += n
		}
	}
	return nil, s.fail("unexpected end")
}

func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.data) {
		return s.fail("unexpected end")
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		r, ok := hex4(s.data[s.pos+2:])
		if !ok {
			return s.fail("malformed escape")
		}
		if !utf16.IsSurrogate(r) {
			s.pos += 6
			return true
		}
		rest := s.data[s.pos+6:]
		if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
			if low, ok := hex4(rest[2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				s.pos += 12
				return true
			}
		}
		return s.fail("lone surrogate")
	default:
		return s.fail("malformed escape")
	}
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func (s *scanner) array(depth int) bool {
	if depth > maxDepth {
		return s.fail("nested too deeply")
	}
	s.pos++
	s.space()
	if s.at(']') {
		s.pos++
		return true
	}
	for {
		s.space()
		if !s.value(depth) {
			return false
		}
		s.space()
		switch {
		case s.at(','):
			s.pos++
		case s.at(']'):
			s.pos++
			return true
		default:
			return s.fail("expected , or ]")
		}
	}
}

func (s *scanner) object(depth int) bool {
	if depth > maxDepth {
		return s.fail("nested too deeply")
	}
	base := len(s.keys)
	defer func() { s.keys = s.keys[:base] }()
	var seen map[string]struct{}
	s.pos++
	s.space()
	if s.at('}') {
		s.pos++
		return true
	}
	for {
		s.space()
		if !s.at('"') {
			return s.fail("expected a key")
		}
		start := s.pos
		raw, ok := s.str()
		if !ok {
			return false
		}
		if !s.newKey(unescape(raw), base, &seen) {
			s.pos = start
			return s.fail("duplicate key")
		}
		s.space()
		if !s.at(':') {
			return s.fail("expected :")
		}
		s.pos++
		s.space()
		if !s.value(depth) {
			return false
		}
		s.space()
		switch {
		case s.at(','):
			s.pos++
		case s.at('}'):
			s.pos++
			return true
		default:
			return s.fail("expected , or }")
		}
	}
}

// newKey remembers a key of the innermost object; false when it was there. A
// map takes over in large objects, where comparing with every key is quadratic.
func (s *scanner) newKey(key []byte, base int, seen *map[string]struct{}) bool {
	const small = 24
	if *seen == nil {
		for _, k := range s.keys[base:] {
			if bytes.Equal(k, key) {
				return false
			}
		}
		s.keys = append(s.keys, key)
		if len(s.keys)-base > small {
			*seen = make(map[string]struct{}, 2*small)
			for _, k := range s.keys[base:] {
				(*seen)[string(k)] = struct{}{}
			}
		}
		return true
	}
	if _, dup := (*seen)[string(key)]; dup {
		return false
	}
	(*seen)[string(key)] = struct{}{}
	return true
}

// unescape gives the text of a string as written between its quotes, which must
// have passed the scanner. Without escapes it returns raw itself.
func unescape(raw []byte) []byte {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	out := append(make([]byte, 0, len(raw)), raw[:i]...)
	for i < len(raw) {
		c := raw[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		c = raw[i+1]
		i += 2
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(raw[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[i+2:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}

// textOf is the text of a string value that has passed the scanner.
func textOf(value []byte) []byte { return unescape(value[1 : len(value)-1]) }

// members calls yield for every member of an object that has passed the
// scanner, with the key's text and the value as written.
func members(object []byte, yield func(key, value []byte) bool) {
	s := scanner{data: object, pos: 1}
	for {
		s.space()
		if !s.at('"') {
			return
		}
		raw, _ := s.str()
		s.space()
		s.pos++ // the colon
		s.space()
		start := s.pos
		s.skip()
		if !yield(unescape(raw), object[start:s.pos]) {
			return
		}
		s.space()
		if !s.at(',') {
			return
		}
		s.pos++
	}
}

// elements calls yield for every element of an array that has passed the
// scanner.
func elements(array []byte, yield func(value []byte) bool) {
	s := scanner{data: array, pos: 1}
	for {
		s.space()
		if s.at(']') || s.pos >= len(array) {
			return
		}
		start := s.pos
		s.skip()
		if !yield(array[start:s.pos]) {
			return
		}
		s.space()
		if !s.at(',') {
			return
		}
		s.pos++
	}
}

// skip passes one value of a text that is known to be valid: brackets need only
// be counted.
func (s *scanner) skip() {
	depth := 0
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case '"':
			_, _ = s.str()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		case ',', ':', ' ', '\t', '\n', '\r':
			s.pos++
			continue
		default:
			for s.pos < len(s.data) && !isSpace(s.data[s.pos]) && s.data[s.pos] != ',' && s.data[s.pos] != ']' && s.data[s.pos] != '}' {
				s.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}
