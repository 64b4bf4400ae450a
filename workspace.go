package rimewatch

import (
	"strings"
	"time"
)

// Workspace is a tenant: a business with its own devices, people and alerts.
type Workspace struct {
	ID         int64
	Name       string
	Slug       string    // names it in links, see CheckSlug; "" in a new workspace = made of its name
	OnUnknown  OnUnknown // of readings by the API whose serial is not known; "" in a new workspace = HoldUnknown
	TimeZone   string
	RawDays    int // days that raw readings are kept
	RollupDays int // days that hourly rollups are kept
	// Limits are the workspace's overrides for all its devices of a type, by
	// the slug of the type. The map is never changed: it is replaced.
	Limits map[string]LimitOverrides
	// RequireSecondFactor refuses members who sign in with a password alone.
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

// Check reports why w cannot be stored: CodeValidationFailed with the
// fields name, timezone, raw_days, rollup_days, limits.<type>.….
func (w *Workspace) Check() error {
	e := checkName(w.Name)
	e = checkTimeZone(e, w.TimeZone)
	if w.Slug != "" {
		if wrong := CheckSlug(w.Slug); wrong != nil {
			e = Merge(e, wrong)
		}
	}
	if w.RawDays < 1 {
		e = complain(e, "raw_days", "must be at least 1")
	}
	if w.RollupDays < w.RawDays {
		e = complain(e, "rollup_days", "must not be below raw_days")
	}
	if w.OnUnknown != "" && !w.OnUnknown.Valid() {
		e = complain(e, "on_unknown", "must be hold, register or refuse")
	}
	for slug := range w.Limits {
		if _, known := EquipmentBySlug(slug); !known {
			e = complain(e, "limits."+slug, "is not a known equipment type")
			continue
		}
		d := Device{EquipmentType: slug, WorkspaceLimits: w.LimitsOf(slug)}
		limits := d.LimitsInForce()
		if wrong := limits.Check(); wrong != nil {
			for field := range wrong.Fields {
				own := strings.Replace(field, "limits.", "limits."+slug+".", 1)
				e = Merge(e, invalid().Take(own, wrong, field))
			}
		}
	}
	return result(e)
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

// Bounds of sandboxes.
const (
	SandboxLife   = 7 * Day
	SandboxesADay = 5 // of a workspace, within 24 h
)

// The retention of a new workspace: raw readings 13 months, hourly rollups
// three years (the longest record-keeping duty found, CDC vaccine storage).
const (
	DefaultRawDays    = 396
	DefaultRollupDays = 1096
)

// Logo is a workspace's picture on printed pages.
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

// Check reports why s cannot be stored: CodeValidationFailed with the fields
// name, timezone, address.
func (s *Site) Check() error {
	e := checkName(s.Name)
	e = checkTimeZone(e, s.TimeZone)
	return result(CheckText(e, "address", s.Address, MaxAddressLen))
}

func checkTimeZone(e *Error, s string) *Error {
	if s == "" {
		return complain(e, "timezone", "must not be empty")
	}
	return CheckText(e, "timezone", s, MaxTimeZoneLen)
}

// CheckZone checks an IANA name: CodeValidationFailed on timezone. "Local" is
// the machine's zone and means nothing to anyone else.
func CheckZone(name string) error { return result(checkZone(name)) }

func checkZone(name string) *Error {
	// Beside places the data have zones that count leap seconds, or mean none.
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "", "Local", "Factory", "posixrules", "posix", "right":
		return Invalid("timezone", "must be an IANA time zone such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return Invalid("timezone", "%q is not an IANA time zone such as Europe/Berlin", name)
	}
	return nil
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
