package tables

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// contactSQL makes the table of contacts.
const contactSQL = `CREATE TABLE contact (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	site_id INTEGER NOT NULL,
	name TEXT NOT NULL,
	role TEXT NOT NULL,
	phone TEXT NOT NULL,
	note TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1,
	company TEXT NOT NULL,
	email TEXT NOT NULL
) STRICT;
CREATE INDEX contact_by_site ON contact(workspace_id, site_id)`

func errContact() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such contact.") }

var contactTable = resource[rimewatch.Contact]{
	shape: resourceOf("contact", errContact, nil, contactKey, func(c *rimewatch.Contact) []column {
		return []column{
			col("site_id", number(&c.SiteID)), col("name", text(&c.Name)), col("role", text(&c.Role)), col("phone", text(&c.Phone)), col("note", text(&c.Note)),
			col("company", text(&c.Company)), col("email", text(&c.Email)),
			col("updated_at", number(&c.UpdatedAt)),
		}
	}),
	created: "contact.created", updated: "contact.updated", deleted: "contact.deleted",
	key:   contactKey,
	check: (*rimewatch.Contact).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxContacts }, kind: rimewatch.Sentencef("contacts"),
	refers: func(conn Conn, c *rimewatch.Contact) error { return mustBeSite(conn, c.WorkspaceID, c.SiteID) },
	fields: func(c *rimewatch.Contact) store.Fields {
		return store.Fields{"site_id": c.SiteID, "name": c.Name, "role": c.Role, "phone": c.Phone, "note": c.Note, "company": c.Company, "email": c.Email}
	},
}

func contactKey(c *rimewatch.Contact) key {
	return key{&c.ID, &c.WorkspaceID, &c.Revision, &c.CreatedAt, &c.SiteID}
}

// Contacts implements store.Control.
func (t Places) Contacts() store.Resource[rimewatch.Contact] {
	return handle[rimewatch.Contact]{t.base, &contactTable, func(conn Conn, c *rimewatch.Contact) error {
		return deleteFrom(conn, "contact", c.ID)
	}}
}
