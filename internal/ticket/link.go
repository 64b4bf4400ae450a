package ticket

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Purpose is what a link is for.
type Purpose int64

// The purposes.
const (
	Acknowledge Purpose = 1 // an alert, by a person who is not signed in
	Calendar    Purpose = 2 // reading a rota
	Order       Purpose = 3 // a work order, by somebody outside
)

// Where the pages are that links lead to, each with a ticket behind it.
const (
	AcknowledgePath = "/a/"
	CalendarPath    = "/cal/" // and ".ics" behind the ticket
	OrderPath       = "/o/"
)

// AcknowledgeLife is for how long a link may acknowledge after it was sent. It is not longer than
// what was used is remembered.
const AcknowledgeLife = rimewatch.Day

// Link is what the ticket of a link says.
type Link struct {
	Purpose     Purpose
	WorkspaceID int64
	Expires     rimewatch.Time // of a calendar: when the link was made
	ID          int64          // of the alert, rota or order
	UserID      int64          // of whoever it acts as, 0 = nobody
	ChannelID   int64          // that it was sent through, 0 = none
}

// Encode returns the ticket.
func (l *Link) Encode(key []byte) string {
	return Encode(key, int64(l.Purpose), l.WorkspaceID, int64(l.Expires), l.ID, l.UserID, l.ChannelID)
}

// ParseLink reads the ticket of a link for a purpose.
func ParseLink(key []byte, text string, p Purpose) (l Link, ok bool) {
	n, ok := Parse(key, text)
	if !ok || len(n) != 6 || Purpose(n[0]) != p {
		return Link{}, false
	}
	return Link{p, n[1], rimewatch.Time(n[2]), n[3], n[4], n[5]}, true
}

// WorkspaceOf returns the workspace that the ticket of a link claims, 0 when it names none.
func WorkspaceOf(text string) int64 {
	text, _, _ = strings.Cut(text, "/")
	return Claimed(strings.TrimSuffix(text, ".ics"), 1)
}
