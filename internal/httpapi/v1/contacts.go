package v1

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Contact is whom to call about a site.
type Contact struct {
	ID        int64          `json:"id"`
	SiteID    int64          `json:"site_id"`
	Name      string         `json:"name"`
	Role      string         `json:"role"`
	Phone     string         `json:"phone"`
	Note      string         `json:"note"`
	Company   string         `json:"company"`
	Email     string         `json:"email"`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt rimewatch.Time `json:"updated_at" nullable:"false"`
}

// ContactList are contacts of a workspace.
type ContactList struct {
	httpapi.Paged
	Contacts []Contact `json:"contacts"`
}

// ContactData is the data of answers about one contact.
type ContactData struct {
	Contact Contact `json:"contact"`
}

func contactJSON(c *rimewatch.Contact) Contact {
	return Contact{c.ID, c.SiteID, c.Name, c.Role, c.Phone, c.Note, c.Company, c.Email, c.CreatedAt, c.UpdatedAt}
}

func listContacts(_ context.Context, list []rimewatch.Contact) (ContactList, error) {
	out := ContactList{Contacts: make([]Contact, len(list))}
	for i := range list {
		out.Contacts[i] = contactJSON(&list[i])
	}
	return out, nil
}

func showContact(_ context.Context, c *rimewatch.Contact) (ContactData, error) {
	return ContactData{contactJSON(c)}, nil
}

// ContactListInput selects contacts.
type ContactListInput struct {
	httpapi.PageInput
	SiteID int64 `query:"site_id" minimum:"1" doc:"Only those of this site."`
}

func selectContacts(_ *httpapi.Call, in *ContactListInput) store.Selection {
	return store.Selection{SiteID: in.SiteID}
}

// ContactCreate is the body that makes a contact.
type ContactCreate struct {
	SiteID  int64  `json:"site_id" minimum:"1"`
	Name    string `json:"name" minLength:"1" maxLength:"200"`
	Role    string `json:"role,omitempty" maxLength:"200" example:"Refrigeration service"`
	Phone   string `json:"phone" minLength:"3" maxLength:"30" example:"+1 555 0142" doc:"Digits, spaces and + ( ) . / -."`
	Note    string `json:"note,omitempty" maxLength:"1000" example:"Contract 4711, day and night"`
	Company string `json:"company,omitempty" maxLength:"200"`
	Email   string `json:"email,omitempty" maxLength:"254" doc:"A channel of this one address brings messages to the contact, where a step names it."`
}

func newContact(ctx context.Context, b *ContactCreate) (rimewatch.Contact, error) {
	c := httpapi.CallOf(ctx)
	return rimewatch.Contact{WorkspaceID: c.Workspace(), SiteID: b.SiteID, Name: b.Name, Role: b.Role, Phone: b.Phone, Note: b.Note, Company: b.Company, Email: b.Email, CreatedAt: c.Now, UpdatedAt: c.Now}, nil
}

// ContactUpdate is the body that changes a contact. Absent fields stay as they are.
type ContactUpdate struct {
	SiteID  *int64  `json:"site_id,omitempty" minimum:"1"`
	Name    *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Role    *string `json:"role,omitempty" maxLength:"200"`
	Phone   *string `json:"phone,omitempty" minLength:"3" maxLength:"30"`
	Note    *string `json:"note,omitempty" maxLength:"1000"`
	Company *string `json:"company,omitempty" maxLength:"200"`
	Email   *string `json:"email,omitempty" maxLength:"254"`
}

func editContact(ctx context.Context, b *ContactUpdate) (func(*rimewatch.Contact) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(c *rimewatch.Contact) error {
		httpapi.Sent(&c.SiteID, b.SiteID)
		httpapi.Sent(&c.Name, b.Name)
		httpapi.Sent(&c.Role, b.Role)
		httpapi.Sent(&c.Phone, b.Phone)
		httpapi.Sent(&c.Note, b.Note)
		httpapi.Sent(&c.Company, b.Company)
		httpapi.Sent(&c.Email, b.Email)
		c.UpdatedAt = now
		return nil
	}, nil
}

func (a workspaces) contactRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.Contact]{
		Path: "/v1/contacts", ID: "contact", Tag: "Workspace", One: "a contact", Many: "contacts",
		Read: httpapi.Scope(rimewatch.ScopeDevicesRead), Write: httpapi.Scope(rimewatch.ScopeDevicesWrite), Sited: true,
		Things:  func(context.Context) store.Resource[rimewatch.Contact] { return a.cfg.Store.Contacts() },
		Key:     func(c *rimewatch.Contact) (id, revision int64) { return c.ID, c.Revision },
		Named:   func(c *rimewatch.Contact) string { return c.Name },
		Cursors: &a.cursors,

		ListText: "Whom to call about a site, by id. Somebody who is limited to sites has those of these sites.", CreateText: "At most 1000; 409 beyond that.",
	}
	return []httpapi.Route{
		httpapi.List(r, selectContacts, listContacts), httpapi.Create(r, newContact, showContact), httpapi.Get(r, showContact),
		httpapi.Update(r, editContact, showContact), httpapi.Delete(r),
	}
}
