package rimewatch

import (
	"crypto/sha256"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// Scopes is a set of permissions of an API token, or of a person's role.
type Scopes uint32

// The scopes.
const (
	ScopeDevicesRead   Scopes = 1 << iota // devices, summary, equipment types, sites
	ScopeDevicesWrite                     // create, update, delete, import
	ScopeReadingsRead                     // latest, history
	ScopeReadingsWrite                    // readings, heartbeat
	ScopeAlertsRead
	ScopeAlertsWrite   // acknowledge, resolve
	ScopeStatusRead    // the status page alone; in no preset
	ScopeNotifications // channels, routes, coverage, scheduled reports
	ScopeMembers       // but no owner, and no role above the maker's
	ScopeTokens        // those that may less
	ScopeSettings      // of the workspace
	ScopeSources
	ScopeAuditRead
	ScopeExportRead // all that the workspace has; an owner's
	ScopeWebhooks
	ScopeEventsRead // with the scope of each type's resource
	ScopeRecords    // cases, their actions and attachments; never to verify or sign

	ScopesRead   = ScopeDevicesRead | ScopeReadingsRead | ScopeAlertsRead
	ScopesIngest = ScopeReadingsWrite
	ScopesFull   = ScopesRead | ScopeDevicesWrite | ScopeReadingsWrite | ScopeAlertsWrite
	// ScopesManage are the further permissions of an admin. A token has them only for as long as the
	// person who made it does.
	ScopesManage = ScopeNotifications | ScopeMembers | ScopeTokens | ScopeSettings | ScopeSources | ScopeAuditRead | ScopeExportRead | ScopeWebhooks | ScopeEventsRead | ScopeRecords
	ScopesAdmin  = ScopesFull | ScopesManage&^ScopeExportRead
	// ScopesSandbox are those of the token of a sandbox: nothing by which people could be written to.
	ScopesSandbox = ScopesAdmin &^ (ScopeNotifications | ScopeMembers)

	scopesKnown = ScopesFull | ScopesManage | ScopeStatusRead
)

var scopeNames = [...]string{
	"devices:read", "devices:write", "readings:read", "readings:write", "alerts:read", "alerts:write", "status:read",
	"notifications", "members", "tokens", "settings", "sources", "audit:read", "export:read", "webhooks", "events:read", "records",
}

// Has reports whether s holds all of want.
func (s Scopes) Has(want Scopes) bool { return s&want == want }

// Names lists the scopes in a fixed order.
func (s Scopes) Names() []string {
	names := []string{}
	for i, n := range scopeNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// ParseScopes reads scope names and the presets admin, full, ingest and read.
func ParseScopes(names []string) (Scopes, error) {
	var s Scopes
next:
	for _, n := range names {
		switch n {
		case "admin":
			s |= ScopesAdmin
			continue
		case "full":
			s |= ScopesFull
			continue
		case "ingest":
			s |= ScopesIngest
			continue
		case "read":
			s |= ScopesRead
			continue
		}
		for i, known := range scopeNames {
			if n == known {
				s |= 1 << i
				continue next
			}
		}
		return 0, Invalid("scopes", "%q is not a scope", n)
	}
	if s == 0 {
		return 0, Invalid("scopes", "must name at least one scope")
	}
	return s, nil
}

// Token is an API token as stored: its secret is known only by its hash.
type Token struct {
	ID          int64
	WorkspaceID int64
	Name        string
	Prefix      string   // the first characters of the plain token, to recognise it by
	Hash        [32]byte // SHA-256 of the plain token
	Scopes      Scopes
	Sites       Sites // that it is limited to, nil = all
	CreatedBy   int64 // user id, 0 = command line
	CreatedAt   Time
	ExpiresAt   Time // 0 = never
	RevokedAt   Time // 0 = not revoked
	LastUsedAt  Time // 0 = never, to the minute
}

// Check reports why t cannot be stored: CodeValidationFailed with the
// fields name, scopes.
func (t *Token) Check() error {
	e := checkName(t.Name)
	e = CheckText(e, "prefix", t.Prefix, TokenLen)
	if x := t.Sites.Check(); x != nil {
		e = x
	}
	if t.Scopes == 0 || !scopesKnown.Has(t.Scopes) {
		e = complain(e, "scopes", "must name at least one scope, and only known ones")
	}
	return result(e)
}

// TokenPrefix starts every API token.
const TokenPrefix = "rw_"

const (
	tokenRandom = 32
	tokenCheck  = 6
	// TokenLen is the length of a plain token.
	TokenLen      = len(TokenPrefix) + tokenRandom + tokenCheck
	base62Symbols = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken forms a plain token from random bytes: rw_, 32 base62 characters
// and the CRC-32 (IEEE) of those 35 in 6 base62 digits, most significant first.
// random yields uniformly distributed bytes without end.
func NewToken(random func() byte) string { return newKey(TokenPrefix, random) }

func newKey(prefix string, random func() byte) string {
	b := make([]byte, 0, TokenLen)
	b = append(b, prefix...)
	for len(b) < len(TokenPrefix)+tokenRandom {
		// 248 is the largest multiple of 62 in a byte: no symbol is likelier.
		if r := random(); r < 248 {
			b = append(b, base62Symbols[r%62])
		}
	}
	return string(appendTokenCheck(b))
}

func appendTokenCheck(b []byte) []byte {
	sum := crc32.ChecksumIEEE(b)
	var digits [tokenCheck]byte
	for i := tokenCheck - 1; i >= 0; i-- {
		digits[i] = base62Symbols[sum%62]
		sum /= 62
	}
	return append(b, digits[:]...)
}

// ValidToken reports, offline, whether s has the form and the checksum of a token.
func ValidToken(s string) bool { return validKey(TokenPrefix, s) }

func validKey(prefix, s string) bool {
	if len(s) != TokenLen || s[:len(prefix)] != prefix {
		return false
	}
	for i := len(TokenPrefix); i < TokenLen; i++ {
		if strings.IndexByte(base62Symbols, s[i]) < 0 {
			return false
		}
	}
	body := len(TokenPrefix) + tokenRandom
	var buf [TokenLen]byte
	return string(appendTokenCheck(append(buf[:0], s[:body]...))) == s
}

// HashToken is the form in which a token is stored and looked up.
func HashToken(plain string) [32]byte { return sha256.Sum256([]byte(plain)) }

// Sites are the ids of the sites that a member or a token is limited to, in order;
// nil = everything of the workspace, devices without a site too.
type Sites []int64

// MaxSites bounds the sites of a limit.
const MaxSites = 200

// Has reports whether a site (0 = no site) is within the limit.
func (s Sites) Has(id int64) bool { return s == nil || slices.Contains(s, id) }

// Check reports why s is no limit: CodeValidationFailed on site_ids.
func (s Sites) Check() *Error {
	if s != nil && len(s) == 0 {
		return Invalid("site_ids", "must name a site; null is for all")
	}
	if len(s) > MaxSites || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) {
		return Invalid("site_ids", "must be at most %d different sites", MaxSites)
	}
	return nil
}

// Text is the stored form of s: "" for nil, otherwise ids between commas.
func (s Sites) Text() string {
	b := make([]byte, 0, 8*len(s))
	for i, id := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// ParseSites reads Text. A damaged text limits to fewer sites, never to more.
func ParseSites(text string) Sites {
	if text == "" {
		return nil
	}
	s := Sites{}
	for part := range strings.SplitSeq(text, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			s = append(s, id)
		}
	}
	return s
}

// TokenCall is a request that was made with an API token, kept to find faults of programs:
// never a value that it sent, and never the token.
type TokenCall struct {
	WorkspaceID int64             `json:"-"`
	TokenID     int64             `json:"-"`
	At          Time              `json:"-"`
	Method      string            `json:"m"`
	Path        string            `json:"p"` // of the route, with {names} in place of values; "" = there was none
	Status      int               `json:"s"`
	Code        Code              `json:"c,omitempty"` // "" = it was not refused
	Fields      map[string]string `json:"f,omitempty"` // the complaint about each field: formats of the catalogue, without their arguments
	Bytes       int64             `json:"b"`           // of the body
	MS          int64             `json:"t"`           // how long the answer took
	RequestID   string            `json:"r"`
	Times       int               `json:"n"` // how many like it, of which this is the first; the others had no place
}

// Bounds of the record of a token's requests.
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
