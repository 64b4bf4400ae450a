package rimewatch

// Workspace is a tenant: a business with its own devices, people and alerts.
type Workspace struct {
	ID         int64
	Name       string
	Slug       string    // names it in links, see CheckSlug; "" in a new workspace = made of its name
	OnUnknown  OnUnknown // of readings by the API whose serial is not known; "" in a new workspace = HoldUnknown
	TimeZone   string
	RawDays    int // days that raw readings are kept
	RollupDays int // days that hourly rollups are kept
	// Limits are what the workspace overrides for all its devices of a type, by
	// the slug of the type. The map is never changed: it is replaced.
	Limits map[string]LimitOverrides
	// RequireSecondFactor shuts out members who sign in with a password alone.
	RequireSecondFactor bool
	// ExposureSince is from when on short times out of range add up by days: those that
	// began earlier are counted as they were. 0 = always.
	ExposureSince Time
	// RequireAction is which cases wait for documentation; "" = RequireNone.
	RequireAction RequireAction
	LogoAt        Time // when its Logo was set, 0 = it has none
	// DeleteAt is when everything in the workspace is erased; 0 = it is not to be.
	DeleteAt  Time
	Revision  int64 // of what people set: 1 at first, grows with every change
	CreatedAt Time
	UpdatedAt Time
	// TestOf is the workspace whose sandbox this one is: its TestDevices are simulated. 0 = it is real.
	TestOf      int64
	TestDevices int
}

// Bounds of sandboxes.
const (
	SandboxLife   = 7 * Day
	SandboxesADay = 5 // of a workspace, within 24 h
)

// The length of a workspace's slug, in bytes.
const (
	MinSlugLen = 2
	MaxSlugLen = 40
)

// CheckSlug reports why a workspace cannot be named so in links: CodeValidationFailed with the field slug.
func CheckSlug(s string) *Error {
	fits := len(s) >= MinSlugLen && len(s) <= MaxSlugLen
	for _, r := range s {
		fits = fits && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}
	if !fits {
		return Invalid("slug", "must be %d to %d of the characters a to z, 0 to 9 and -", MinSlugLen, MaxSlugLen)
	}
	return nil
}

// LimitsOf returns the overrides for a type of equipment, nil when there are none.
func (w *Workspace) LimitsOf(equipmentType string) *LimitOverrides {
	e, _ := EquipmentBySlug(equipmentType)
	o, ok := w.Limits[e.Slug]
	if !ok || o.Empty() {
		return nil
	}
	return &o
}

// The retention of a new workspace: raw readings 13 months, hourly rollups
// three years (the longest record-keeping duty found, CDC vaccine storage).
const (
	DefaultRawDays    = 396
	DefaultRollupDays = 1096
)

// Logo is the picture of a workspace on what it prints.
type Logo struct {
	Type          string // image/png or image/jpeg
	Width, Height int    // px
	Data          []byte // "" = it has none
}

// The bounds of a logo.
const (
	MaxLogo     = 1 << 20 // bytes of the file as it is sent
	MaxLogoSide = 600     // px as it is kept
)

// Site is a place with devices and its own time zone.
type Site struct {
	ID          int64
	WorkspaceID int64
	Name        string
	TimeZone    string // IANA name
	Address     string
	Revision    int64 // of what people set: 1 at first, grows with every change
	CreatedAt   Time
	UpdatedAt   Time
}

// Role is what a member may do in a workspace. Each includes the former:
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

// AtLeast reports whether r includes what other may do.
func (r Role) AtLeast(other Role) bool { return roleRank[r] > 0 && roleRank[r] >= roleRank[other] }

// Scopes are those of an API token that may do what the role may.
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

// Member is a user's place in a workspace.
type Member struct {
	WorkspaceID int64
	UserID      int64
	Role        Role
	Sites       Sites // that a viewer or technician is limited to, nil = all
	Provided    bool  // made by the groups of a sign-in provider, and ended by them
	CreatedAt   Time
}

// Policy is a document for the public, such as the privacy policy.
type Policy struct {
	Slug        string
	Title       string
	Version     string
	EffectiveAt Time
	UpdatedAt   Time
	Content     string // Markdown
}
