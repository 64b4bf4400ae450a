package rimewatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Sentence is an English text for people together with what it was made of, so
// that it can be written in another language when somebody reads it. Among its
// arguments, sentences and errors are written in that language, too.
type Sentence struct {
	format string
	args   []any
}

// Sentencef makes a Sentence of a format, which is its key in the catalogues.
func Sentencef(format string, args ...any) Sentence { return Sentence{format, args} }

// String returns the English text.
func (s Sentence) String() string { return fmt.Sprintf(s.format, s.args...) }

// In returns the text in the language in which say returns an English text.
func (s Sentence) In(say func(english string) string) string {
	args := make([]any, len(s.args))
	for i, a := range s.args {
		switch a := a.(type) {
		case Sentence:
			args[i] = a.In(say)
		case error:
			args[i] = say(a.Error())
		default:
			args[i] = a
		}
	}
	return fmt.Sprintf(say(s.format), args...)
}

// Stored returns the sentence as it is kept: fixed words as they are, others as
// a list of the format and its arguments. SentenceOf reads it.
func (s Sentence) Stored() string {
	if text := s.String(); len(s.args) == 0 && !strings.HasPrefix(text, "[") && !strings.Contains(s.format, "%") {
		return text
	}
	b, _ := json.Marshal(s) // of strings, numbers and lists of them
	return string(b)
}

// MarshalJSON implements json.Marshaler.
func (s Sentence) MarshalJSON() ([]byte, error) {
	list := []any{s.format}
	for _, a := range s.args {
		switch v := reflect.ValueOf(a); x := a.(type) {
		case Sentence:
			list = append(list, x)
		case error:
			list = append(list, Sentence{format: strings.ReplaceAll(x.Error(), "%", "%%")})
		case fmt.Stringer:
			list = append(list, x.String())
		default:
			switch {
			case v.CanInt():
				list = append(list, v.Int())
			case v.CanUint():
				list = append(list, v.Uint())
			case v.CanFloat(): // told from a whole number by its exponent
				list = append(list, json.RawMessage(strconv.FormatFloat(v.Float(), 'e', -1, 64)))
			default:
				list = append(list, fmt.Sprint(a))
			}
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Sentence) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("a sentence without words")
	}
	if err := json.Unmarshal(list[0], &s.format); err != nil {
		return err
	}
	s.args = make([]any, len(list)-1)
	for i, text := range list[1:] {
		var err error
		switch {
		case text[0] == '[':
			var part Sentence
			err = json.Unmarshal(text, &part)
			s.args[i] = part
		case text[0] == '"':
			var part string
			err = json.Unmarshal(text, &part)
			s.args[i] = part
		case bytes.ContainsAny(text, ".eE"):
			s.args[i], err = strconv.ParseFloat(string(text), 64)
		default:
			s.args[i], err = strconv.ParseInt(string(text), 10, 64)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SentenceOf reads what Stored returned; any other text is fixed words.
func SentenceOf(stored string) Sentence {
	var s Sentence
	if strings.HasPrefix(stored, `["`) && json.Unmarshal([]byte(stored), &s) == nil {
		return s
	}
	return Sentence{format: strings.ReplaceAll(stored, "%", "%%")}
}
