package rimewatch

import (
	"maps"
	"slices"
	"strings"
)

// TokenCall is a request that was made with an API token, for those who look for what is wrong
// with a program: never a value that it sent, and never the token.
type TokenCall struct {
	WorkspaceID int64             `json:"-"`
	TokenID     int64             `json:"-"`
	At          Time              `json:"-"`
	Method      string            `json:"m"`
	Path        string            `json:"p"` // of the route, with {names} in place of values; "" = there was none
	Status      int               `json:"s"`
	Code        Code              `json:"c,omitempty"` // "" = it was not refused
	Fields      map[string]string `json:"f,omitempty"` // what was wrong with each field: texts of the catalogue, without what was put into them
	Bytes       int64             `json:"b"`           // of the body
	MS          int64             `json:"t"`           // how long the answer took
	RequestID   string            `json:"r"`
	Times       int               `json:"n"` // how many like it, of which this is the first; the others had no place
}

// Bounds of what is kept of a token's requests.
const (
	MaxTokenCalls = 1000    // the newest refused ones, and as many of the others
	TokenCallLife = 7 * Day // after that it is deleted
	TokenCallOf   = 100     // each hundredth is kept of those that were not refused
)

// Refused reports whether the request was refused.
func (c *TokenCall) Refused() bool { return c.Code != "" }

// Like reports whether two requests of one token came to the same end for the same reason.
func (c *TokenCall) Like(d *TokenCall) bool {
	if c.Status != d.Status || c.Code != d.Code || c.Method != d.Method || c.Path != d.Path || len(c.Fields) != len(d.Fields) {
		return false
	}
	for name, reason := range c.Fields {
		if other, ok := d.Fields[name]; !ok || other != reason {
			return false
		}
	}
	return true
}

// Bounds of what is kept of a refusal's fields.
const (
	maxReasons    = 10
	maxReasonName = 64
)

// Reasons returns what is wrong with each field, as formats of the catalogue: what was put into them may be what somebody sent.
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
