package rimewatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Code names the kind of a failure. It is part of the public API: clients
// decide by it, so a code is never renamed.
type Code string

// The codes of every failure that a caller can see.
const (
	CodeInvalidJSON        Code = "invalid_json"
	CodeUnauthenticated    Code = "unauthenticated"
	CodeForbidden          Code = "forbidden"
	CodeNotFound           Code = "not_found"
	CodeDeviceNotFound     Code = "device_not_found"
	CodeAlertNotFound      Code = "alert_not_found"
	CodePolicyNotFound     Code = "policy_not_found"
	CodeMethodNotAllowed   Code = "method_not_allowed"
	CodeSerialTaken        Code = "serial_taken"
	CodeAlertNotActive     Code = "alert_not_active"
	CodeConflict           Code = "conflict"
	CodeWrongWorkspace     Code = "wrong_workspace"     // the request names another workspace than its token's
	CodeQuotaExceeded      Code = "quota_exceeded"      // the workspace has as many as it may have
	CodePreconditionFailed Code = "precondition_failed" // it has another revision than the request asks for
	CodeCursorExpired      Code = "cursor_expired"      // what it points at is no longer kept
	CodePayloadTooLarge    Code = "payload_too_large"
	CodeUnsupportedMedia   Code = "unsupported_media_type"
	CodeValidationFailed   Code = "validation_failed"
	CodePersonRequired     Code = "person_required" // a program asked for what people alone can vouch for
	CodeProofRequired      Code = "proof_required"  // a signature needs to be shown who signs
	CodeUnknownDevice      Code = "unknown_device"
	CodeUpgradeRequired    Code = "upgrade_required"
	CodeRateLimited        Code = "rate_limited"
	CodeHeldFull           Code = "held_full"       // no more can wait for a device to be accepted
	CodeUnavailable        Code = "unavailable"     // nothing was stored
	CodeOutcomeUnknown     Code = "outcome_unknown" // it may have been carried out or not
	CodeInternal           Code = "internal"
)

// Error is the one typed error that crosses the layers. Code, Message, Fields
// and RetryAfter may be shown to any caller; Err is for the log alone.
type Error struct {
	Code       Code
	Message    string
	Fields     map[string][]string // field name → what is wrong with it
	RetryAfter time.Duration       // for CodeRateLimited and CodeUnavailable
	Err        error               // the cause, never shown to callers

	made map[string]Sentence // formats and arguments of Message and of the texts of Fields, where they have arguments
}

// Error joins code, message and cause for the log.
func (e *Error) Error() string {
	s := string(e.Code)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s = strings.TrimSuffix(s, ".") + ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// ErrQuota refuses one more of a kind than the most that a workspace may have.
func ErrQuota(most int, kind Sentence) *Error {
	return Errorf(CodeQuotaExceeded, "A workspace can have at most %d %s.", most, kind)
}

// Errorf makes an Error with a message for the caller.
func Errorf(code Code, format string, args ...any) *Error {
	return Wrap(code, nil, format, args...)
}

// Wrap makes an Error whose cause stays in the log.
func Wrap(code Code, err error, format string, args ...any) *Error {
	e := &Error{Code: code, Err: err}
	e.Message = e.text(format, args)
	return e
}

// Invalid is a CodeValidationFailed about one field.
func Invalid(field, format string, args ...any) *Error {
	return invalid().With(field, format, args...)
}

func invalid() *Error {
	return &Error{Code: CodeValidationFailed, Message: "The request has invalid fields."}
}

// With adds a complaint about one field and returns the same error.
func (e *Error) With(field, format string, args ...any) *Error {
	if e.Fields == nil {
		e.Fields = make(map[string][]string)
	}
	e.Fields[field] = append(e.Fields[field], e.text(format, args))
	return e
}

// complain is e.With, and Invalid if there is no error yet.
func complain(e *Error, field, format string, args ...any) *Error {
	if e == nil {
		return Invalid(field, format, args...)
	}
	return e.With(field, format, args...)
}

// result avoids the nil *Error in a non-nil error.
func result(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

// text writes an English text and keeps its format and arguments.
func (e *Error) text(format string, args []any) string {
	s := Sentence{format, args}
	text := s.String()
	if len(args) > 0 {
		if e.made == nil {
			e.made = make(map[string]Sentence)
		}
		e.made[text] = s
	}
	return text
}

// Merge joins the complaints of two errors about fields; either may be nil.
// Code and message are those of x.
func Merge(x, y *Error) *Error {
	if x == nil || y == nil {
		return cmp.Or(x, y)
	}
	for field := range y.Fields {
		x = x.Take(field, y, field)
	}
	return x
}

// Take adds the complaints of y about its field of as complaints about field, and
// returns e.
func (e *Error) Take(field string, y *Error, of string) *Error {
	for _, what := range y.Fields[of] {
		e.With(field, "%s", y.sentence(what))
	}
	return e
}

// sentence returns the format and arguments of a text of e.
func (e *Error) sentence(text string) Sentence {
	if s, ok := e.made[text]; ok {
		return s
	}
	return Sentence{format: strings.ReplaceAll(text, "%", "%%")}
}

// Sentence returns the format and arguments of the message of e.
func (e *Error) Sentence() Sentence { return e.sentence(e.Message) }

// In returns e in the language in which say returns an English text. The code, the names of the fields and the cause are the same.
func (e *Error) In(say func(english string) string) *Error {
	own := *e
	own.Message, own.Fields, own.made = e.sentence(e.Message).In(say), make(map[string][]string, len(e.Fields)), nil
	for field, texts := range e.Fields {
		for _, text := range texts {
			own.Fields[field] = append(own.Fields[field], e.sentence(text).In(say))
		}
	}
	return &own
}

// CodeOf returns the code of an error: that of the first Error in its chain, or
// CodeInternal; the empty code for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// Bounds of the record of a refusal's fields.
const (
	maxReasons    = 10
	maxReasonName = 64
)

// Reasons returns the complaint about each field as a format of the catalogue: its arguments may be values of the sender.
func (e *Error) Reasons() map[string]string {
	if len(e.Fields) == 0 {
		return nil
	}
	reasons := make(map[string]string, min(len(e.Fields), maxReasons))
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		if len(reasons) == maxReasons || len(e.Fields[field]) == 0 {
			break
		}
		reasons[strings.ToValidUTF8(field[:min(len(field), maxReasonName)], "")] = e.sentence(e.Fields[field][0]).bare()
	}
	return reasons
}

// Sentence is an English text for people together with its format and arguments, so
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

// SentenceOf reads the result of Stored; any other text is fixed words.
func SentenceOf(stored string) Sentence {
	var s Sentence
	if strings.HasPrefix(stored, `["`) && json.Unmarshal([]byte(stored), &s) == nil {
		return s
	}
	return Sentence{format: strings.ReplaceAll(stored, "%", "%%")}
}

// bare is the format of s, or of the text that is all that s says.
func (s Sentence) bare() string {
	if s.format != "%s" || len(s.args) != 1 {
		return s.format
	}
	switch whole := s.args[0].(type) {
	case Sentence:
		return whole.bare()
	case string: // a text of ours
		return strings.ReplaceAll(whole, "%", "%%")
	}
	return s.format
}
