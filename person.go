package rimewatch

import (
	"cmp"
	"net/mail"
	"strings"
	"time"
)

// Role is a member's permission in a workspace. Each includes the former:
// a viewer reads, a technician also acknowledges, resolves and edits devices,
// an admin also manages members, tokens, channels and settings, an owner also
// deletes the workspace.
type Role string

// The roles, least first.
const (
	RoleViewer     Role = "viewer"
	RoleTechnician Role = "technician"
	RoleAdmin      Role = "admin"
	RoleOwner      Role = "owner"
)

// Roles are all of them, the least first.
var Roles = [...]Role{RoleViewer, RoleTechnician, RoleAdmin, RoleOwner}

var roleRank = map[Role]int{RoleViewer: 1, RoleTechnician: 2, RoleAdmin: 3, RoleOwner: 4}

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return roleRank[r] > 0 }

// AtLeast reports whether r includes the permissions of other.
func (r Role) AtLeast(other Role) bool { return roleRank[r] > 0 && roleRank[r] >= roleRank[other] }

// Scopes returns the scopes of an API token with the permissions of the role.
func (r Role) Scopes() Scopes {
	switch {
	case r.AtLeast(RoleOwner):
		return ScopesAdmin | ScopeExportRead
	case r.AtLeast(RoleAdmin):
		return ScopesAdmin
	case r.AtLeast(RoleTechnician):
		return ScopesFull | ScopeEventsRead | ScopeRecords
	case r.AtLeast(RoleViewer):
		return ScopesRead | ScopeEventsRead
	default:
		return 0
	}
}

// User is a person who signs in.
type User struct {
	ID           int64
	Email        string // lower case
	Name         string
	PasswordHash string // argon2id, PHC string format; "" = signs in at a provider alone
	Locale              // Units are never empty
	Theme        string // "system", "light" or "dark"
	BreakGlass   bool   // keeps a password whatever the provider says; one person at most
	ProvidedAt   Time   // last sign-in at a provider, 0 = none is known
	CreatedAt    Time
	UpdatedAt    Time
}

// Label names a person in the audit trail: "Olga <olga@example.com>".
func (u *User) Label() string {
	if u.Name == "" {
		return u.Email
	}
	return u.Name + " <" + u.Email + ">"
}

// CheckEmail adds to e why s cannot be stored as an e-mail address, on the
// field email.
func CheckEmail(e *Error, s string) *Error {
	e = CheckText(e, "email", s, MaxEmailLen)
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		e = complain(e, "email", "must be an e-mail address")
	}
	return e
}

// Check reports why u cannot be stored: CodeValidationFailed with the fields
// email, name, units, theme, password.
func (u *User) Check() error {
	e := CheckEmail(nil, u.Email)
	e = checkLine(e, "name", u.Name)
	e = CheckText(e, "password", u.PasswordHash, MaxPasswordHashLen)
	e = u.Locale.check(e)
	if u.Units == "" {
		e = complain(e, "units", "must be c or f")
	}
	if u.Theme != "system" && u.Theme != "light" && u.Theme != "dark" {
		e = complain(e, "theme", "must be system, light or dark")
	}
	return result(e)
}

// Member is a user's place in a workspace.
type Member struct {
	WorkspaceID int64
	UserID      int64
	Role        Role
	Sites       Sites // that a viewer or technician is limited to, nil = all
	Provided    bool  // made by the groups of a sign-in provider, and ended by them
	CreatedAt   Time
}

// Check reports why m cannot be stored: CodeValidationFailed with the
// field role.
func (m *Member) Check() error {
	if !m.Role.Valid() {
		return Invalid("role", "must be owner, admin, technician or viewer")
	}
	if m.Sites != nil && m.Role.AtLeast(RoleAdmin) {
		return Invalid("site_ids", "limit technicians and viewers only")
	}
	if e := m.Sites.Check(); e != nil {
		return e
	}
	return nil
}

// Locale is the language of sentences, and the forms of temperatures, times and dates, for a
// person or the readers of a channel. Empty members stand
// for the defaults; times are always on the clock of the site they are about.
type Locale struct {
	Language string `json:"language,omitempty"` // of a catalogue, such as "es"; "" = English, for a person that of the browser
	Units    string `json:"units,omitempty"`    // "c" or "f"; "" = c
	Clock    string `json:"clock,omitempty"`    // "24h" or "12h"; "" = 24h
	Dates    string `json:"dates,omitempty"`    // order: "dmy", "mdy" or "ymd"; "" = dmy
}

// Full returns l with the defaults in place of empty members, but for the
// language.
func (l Locale) Full() Locale {
	return Locale{l.Language, cmp.Or(l.Units, "c"), cmp.Or(l.Clock, "24h"), cmp.Or(l.Dates, "dmy")}
}

// maxLanguageLen bounds a language's tag, in bytes.
const maxLanguageLen = 16

// check adds complaints about the fields language, units, clock and
// dates.
func (l *Locale) check(e *Error) *Error {
	if len(l.Language) > maxLanguageLen || !isTag(l.Language) {
		e = complain(e, "language", "must be the tag of a language, such as es")
	}
	if l.Units != "" && l.Units != "c" && l.Units != "f" {
		e = complain(e, "units", "must be c or f")
	}
	if l.Clock != "" && l.Clock != "24h" && l.Clock != "12h" {
		e = complain(e, "clock", "must be 24h or 12h")
	}
	if l.Dates != "" && l.Dates != "dmy" && l.Dates != "mdy" && l.Dates != "ymd" {
		e = complain(e, "dates", "must be dmy, mdy or ymd")
	}
	return e
}

// isTag reports whether s has only characters of language tags (RFC 5646).
func isTag(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// Bounds of contacts.
const (
	MaxContacts = 1000 // of a workspace
	MaxNoteLen  = 1000 // bytes
)

// Contact is a person or firm to call about a site: a service firm, the manager, the landlord.
type Contact struct {
	ID          int64
	WorkspaceID int64
	SiteID      int64
	Name        string
	Role        string // in people's own words, such as "refrigeration service"
	Phone       string
	Company     string
	Email       string // "" = none
	Note        string // such as a contract's number or opening hours
	Revision    int64  // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Check reports why c cannot be stored: CodeValidationFailed with the fields name, role,
// phone, company, email, note.
func (c *Contact) Check() error {
	e := checkLine(checkName(c.Name), "role", c.Role)
	if len(c.Phone) > 30 || len(c.Phone) < 3 || strings.Trim(c.Phone, "+0123456789 ()./-") != "" {
		e = complain(e, "phone", "must be a telephone number such as +1 555 0142")
	}
	e = checkLine(e, "company", c.Company)
	if c.Email != "" {
		e = CheckEmail(e, c.Email)
	}
	return result(CheckText(e, "note", c.Note, MaxNoteLen))
}

// UndoTime is how long an act that ends, forgets or silences something can be taken back
// before it is carried out.
const UndoTime = 10 * time.Second

// Bounds of acts, those of texts in bytes.
const (
	MaxActs     = 2000 // of a workspace within ActLife
	ActLife     = Day  // for which an act is kept that was carried out or taken back
	MaxActBody  = 16 << 10
	maxActText  = 4096
	maxActAbout = 1000
)

// ActState is the state of an act.
type ActState string

// The states of an act. One that waits becomes one of the others, for good.
const (
	ActPending ActState = "pending"
	ActDone    ActState = "done"
	ActUndone  ActState = "undone"
	ActFailed  ActState = "failed"
)

// Act is a request of a person that is carried out at EffectiveAt unless somebody takes it
// back: see UndoTime.
type Act struct {
	ID          int64
	WorkspaceID int64
	UserID      int64  // with whose rights it is carried out
	By          string // that person, as in the audit trail
	Does        string // the operation, by its id in the description of the API
	About       string // the name of the thing, in the words of the workspace
	Method      string
	Target      string // path and query
	IfMatch     string // the revisions that the person knew, "" = any
	Body        string // JSON, "" = none
	EffectiveAt Time
	State       ActState
	SettledAt   Time   // 0 = it waits
	SettledBy   string // who took it back; "" = nobody did
	Failure     string // why it could not be carried out
	Revision    int64
	CreatedAt   Time
}

// Check reports why a cannot be stored: CodeValidationFailed with the fields act, body.
func (a *Act) Check() error {
	e := CheckText(nil, "act", a.Target, maxActText)
	e = CheckText(e, "act", a.About, maxActAbout)
	if len(a.Body) > MaxActBody {
		e = complain(e, "body", "is too large")
	}
	return result(e)
}

// Same reports whether two acts ask for the same.
func (a *Act) Same(b *Act) bool {
	return a.WorkspaceID == b.WorkspaceID && a.Method == b.Method && a.Target == b.Target && a.Body == b.Body
}
