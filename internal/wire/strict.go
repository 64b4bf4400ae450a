package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of a JSON document, in levels of arrays and objects.
const MaxDepth = 64

// maxMembers bounds the members of one object: as many as a payload may have readings.
const maxMembers = 10_000

// Errors of documents that are JSON, but not such as anybody sends in earnest.
var (
	ErrNested  = errors.New("nested too deeply")
	ErrMembers = errors.New("too many members in one object")
)

// syntaxError is an error of a JSON text, and its place.
type syntaxError struct {
	offset int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.reason, e.offset) }

// Is implements the interface of errors.Is for ErrNested and ErrMembers.
func (e *syntaxError) Is(target error) bool {
	return (target == ErrNested || target == ErrMembers) && target.Error() == e.reason //nolint:errorlint // errors.Is unwraps
}

// Scanner walks a JSON text once and accepts exactly RFC 8259 in I-JSON form
// (RFC 7493): valid UTF-8, no lone surrogates, no duplicate keys, bounded depth.
// encoding/json takes the last of duplicate keys and repairs bad UTF-8, which
// would let a reading mean something other than what was sent.
//
// Value, Object and Array pass the value that comes next and return false once
// the text is malformed; the walk ends then and Scan returns the error.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	keys  []placedKey // of the objects that are open, the first ones of each, innermost last
	loose bool        // lone surrogates and keys that are there twice pass
	err   syntaxError
}

// Scan walks data, which must be one strict JSON value and nothing else; value
// passes that value.
func Scan(data []byte, value func(s *Scanner) bool) error {
	s := Scanner{data: data}
	if !value(&s) {
		return &s.err
	}
	s.space()
	if s.pos != len(data) {
		s.fail("unexpected data after the value")
		return &s.err
	}
	return nil
}

// CheckJSON reports what keeps data from being one strict JSON value.
func CheckJSON(data []byte) error { return Scan(data, (*Scanner).Value) }

// CheckPayload is CheckJSON for what foreign senders send, who cannot act on a refusal:
// keys that are there twice pass, and so do lone surrogates, since some senders cut the
// names of devices in the middle of a character.
func CheckPayload(data []byte) error {
	return Scan(data, func(s *Scanner) bool {
		s.loose = true
		return s.Value()
	})
}

// CheckBody reports what keeps a text from being one strict JSON document:
// CodeInvalidJSON.
func CheckBody(text []byte) error {
	if Blank(text) {
		return InvalidJSON("it is empty")
	}
	if err := CheckJSON(text); err != nil {
		return InvalidJSON("%v", err)
	}
	return nil
}

// Next returns the first byte of the value that comes next, 0 at the end.
func (s *Scanner) Next() byte {
	s.space()
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// Raw passes the value that comes next and returns it as written.
func (s *Scanner) Raw() (raw []byte, ok bool) {
	s.space()
	start := s.pos
	ok = s.Value()
	return s.data[start:s.pos], ok
}

func (s *Scanner) fail(reason string) bool {
	s.err = syntaxError{s.pos, reason}
	return false
}

func (s *Scanner) space() {
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Value passes any value.
func (s *Scanner) Value() bool {
	switch c := s.Next(); {
	case c == '{':
		return s.Object(nil)
	case c == '[':
		return s.Array(nil)
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
	case s.pos >= len(s.data):
		return s.fail("unexpected end")
	default:
		return s.fail("unexpected character")
	}
}

func (s *Scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("unexpected character")
	}
	s.pos += len(word)
	return true
}

func (s *Scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *Scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *Scanner) number() bool {
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

// str passes a string and returns what stands between the quotes, as written.
func (s *Scanner) str() (raw []byte, ok bool) {
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
			s.pos += plainRun(s.data[s.pos:])
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

// plainRun returns how many bytes of b, in steps of eight, are characters of a
// string that stand for themselves: ASCII, no control characters, quotes or
// backslashes. A long string of somebody's own costs little.
func plainRun(b []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(b); n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, backslash := x^(ones*'"'), x^(ones*'\\')
		// Bytes below 0x20 and bytes of 0 after the XOR borrow into their top bits.
		if (x|(x-ones*0x20)|(quote-ones)|(backslash-ones))&tops != 0 {
			return n
		}
	}
	return n
}

func (s *Scanner) escape() bool {
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
		if s.loose {
			s.pos += 6
			return true
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

// enter goes one level deeper.
func (s *Scanner) enter() bool {
	s.depth++
	s.pos++
	if s.depth > MaxDepth {
		s.pos--
		return s.fail(ErrNested.Error())
	}
	s.space()
	return true
}

// more passes what follows an element: a comma, after which there is another
// one, or the end of the array or object.
func (s *Scanner) more(end byte) (another, ok bool) {
	s.space()
	switch {
	case s.at(','):
		s.pos++
		return true, true
	case s.at(end):
		s.pos++
		s.depth--
		return false, true
	default:
		return false, s.fail("expected , or " + string(end))
	}
}

// Array passes the array that comes next; element passes each of its elements,
// nil = any value.
func (s *Scanner) Array(element func(i int) bool) bool {
	if !s.enter() {
		return false
	}
	if s.at(']') {
		_, ok := s.more(']')
		return ok
	}
	for i := 0; ; i++ {
		if element == nil && !s.Value() || element != nil && !element(i) {
			return false
		}
		if another, ok := s.more(']'); !another {
			return ok
		}
	}
}

// Object passes the object that comes next; member passes each value, given its
// key, nil = any value.
func (s *Scanner) Object(member func(key []byte) bool) bool {
	base := len(s.keys)
	defer func() { s.keys = s.keys[:base] }()
	if !s.enter() {
		return false
	}
	if s.at('}') {
		_, ok := s.more('}')
		return ok
	}
	var seen keyPlaces
	for {
		key, ok := s.key(base, &seen)
		if !ok || member == nil && !s.Value() || member != nil && !member(key) {
			return false
		}
		if another, ok := s.more('}'); !another {
			return ok
		}
	}
}

// key passes a key and its colon.
func (s *Scanner) key(base int, seen *keyPlaces) (key []byte, ok bool) {
	s.space()
	if !s.at('"') {
		return nil, s.fail("expected a key")
	}
	start := s.pos
	if seen.n >= maxMembers {
		return nil, s.fail(ErrMembers.Error())
	}
	raw, ok := s.str()
	if !ok {
		return nil, false
	}
	key = unescape(raw)
	if s.loose {
		seen.n++
	} else if !s.newKey(key, start, base, seen) {
		s.pos = start
		return nil, s.fail("duplicate key")
	}
	s.space()
	if !s.at(':') {
		return nil, s.fail("expected :")
	}
	s.pos++
	return key, true
}

// newKey remembers a key of the innermost object, which begins at start; false when it
// was there. A set takes over in large objects, where comparing with every key is
// quadratic.
func (s *Scanner) newKey(key []byte, start, base int, seen *keyPlaces) bool {
	const small = 24
	if seen.slots != nil {
		return seen.add(s.data, key, start)
	}
	for i := range s.keys[base:] {
		if bytes.Equal(s.keys[base+i].key, key) {
			return false
		}
	}
	if len(s.keys)-base < small {
		s.keys = append(s.keys, placedKey{key, start})
		return true
	}
	seen.seed = maphash.MakeSeed()
	seen.slots = make([]uint32, 4*small)
	for _, k := range s.keys[base:] {
		seen.add(s.data, k.key, k.at)
	}
	return seen.add(s.data, key, start)
}

// keyPlaces is the set of the keys of a large object, as the places where they stand in
// the text: a body of many keys takes four to eight bytes for each, not a copy of it.
type keyPlaces struct {
	slots []uint32 // open addressing: place of a key's quote + 1, 0 = free
	n     int
	seed  maphash.Seed
}

// placedKey is a key and the place of its quote.
type placedKey struct {
	key []byte
	at  int
}

// add adds the key whose quote stands at at; false when it was there.
func (k *keyPlaces) add(data, key []byte, at int) bool {
	if 8*k.n >= 7*len(k.slots) {
		k.grow(data)
	}
	i := k.slotOf(key)
	for ; k.slots[i] != 0; i = (i + 1) % len(k.slots) {
		if bytes.Equal(keyAt(data, int(k.slots[i]-1)), key) {
			return false
		}
	}
	k.slots[i] = uint32(at + 1)
	k.n++
	return true
}

func (k *keyPlaces) slotOf(key []byte) int {
	return int(maphash.Bytes(k.seed, key) % uint64(len(k.slots)))
}

func (k *keyPlaces) grow(data []byte) {
	old := k.slots
	k.slots = make([]uint32, 2*len(old))
	for _, at := range old {
		if at == 0 {
			continue
		}
		i := k.slotOf(keyAt(data, int(at-1)))
		for k.slots[i] != 0 {
			i = (i + 1) % len(k.slots)
		}
		k.slots[i] = at
	}
}

// keyAt returns the key whose quote stands at a place of a text that has passed the
// scanner so far.
func keyAt(data []byte, at int) []byte {
	s := Scanner{data: data, pos: at, loose: true}
	raw, _ := s.str()
	return unescape(raw)
}

// unescape returns the text of a string as written between its quotes, which must
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

// Text returns the text of a string value that has passed the scanner.
func Text(value []byte) []byte { return unescape(value[1 : len(value)-1]) }
