package rimewatch

import "strings"

// Bounds of contacts.
const (
	MaxContacts = 1000 // of a workspace
	MaxNoteLen  = 1000 // bytes
)

// Contact is whom to call about a site: a service firm, the manager, the landlord.
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
