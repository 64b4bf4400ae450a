package v1

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// AuditEntry is one line of the audit trail.
type AuditEntry struct {
	ID      int64          `json:"id"`
	At      rimewatch.Time `json:"at" nullable:"false"`
	Actor   string         `json:"actor" doc:"A person, a token by its number, or the command line." example:"Olga <olga@example.com>"`
	Action  string         `json:"action" doc:"What was done, as subject.verb; an open set." example:"device.updated"`
	Subject string         `json:"subject" doc:"What it was done to." example:"device 12"`
	Detail  AuditDetail    `json:"detail" doc:"What changed. Never a secret."`
	Title   string         `json:"title" doc:"What was done, in words; like everything here, in the reader's language." example:"Device updated"`
	About   string         `json:"about" doc:"What it was done to, in words." example:"device WIF-0001"`
	Text    string         `json:"text" doc:"The details in words, without what is empty." example:"Name: Hall → Market"`
	Hash    string         `json:"hash" doc:"SHA-256 over the hash of the entry before it and this entry, in hexadecimal."`
}

// AuditDetail holds the details of an action.
type AuditDetail map[string]any

// Schema implements huma.SchemaProvider.
func (AuditDetail) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

func auditJSON(e *rimewatch.AuditEntry, words phrase.Words) (AuditEntry, error) {
	out := AuditEntry{ID: e.ID, At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject, Hash: hex.EncodeToString(e.Hash[:])}
	out.Title, out.About, out.Text = words.Audit(e)
	err := json.Unmarshal([]byte(e.Detail), &out.Detail)
	return out, err
}

// AuditInput narrows the audit trail.
type AuditInput struct {
	httpapi.PageInput
	Action  string `query:"action" maxLength:"64" doc:"Only actions that begin so." example:"device."`
	Subject string `query:"subject" maxLength:"64" doc:"Only subjects that begin so."`
}

// AuditList is a page of the audit trail.
type AuditList struct {
	Entries    []AuditEntry    `json:"entries"`
	ChainOK    bool            `json:"chain_ok" doc:"Whether every entry of the whole trail matches the one before it. False: entries were changed or removed behind the service's back."`
	Pagination wire.Pagination `json:"pagination"`
}

func (a alerts) listAudit(ctx context.Context, in *AuditInput) (AuditList, error) {
	c := httpapi.CallOf(ctx)
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorAudit, Owner: c.Workspace()}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.AuditEntry, int, error) {
		return a.cfg.Store.Audit().AuditEntries(ctx, c.Workspace(), in.Action, in.Subject, store.Page{After: from.A, Offset: from.Offset, Limit: from.Limit})
	}, func(e *rimewatch.AuditEntry) (int64, int64) { return e.ID, 0 })
	if err != nil {
		return AuditList{}, err
	}
	broken, err := a.cfg.Store.Audit().VerifyAudit(ctx, c.Workspace())
	if err != nil {
		return AuditList{}, err
	}
	w, err := devices(a).workspaceOf(ctx)
	if err != nil {
		return AuditList{}, err
	}
	words := c.Words().On(w.TimeZone)
	out := AuditList{make([]AuditEntry, len(list)), broken == 0, page}
	for i := range list {
		if out.Entries[i], err = auditJSON(&list[i], words); err != nil {
			return AuditList{}, err
		}
	}
	return out, nil
}

func (a alerts) auditRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/audit", ID: "list-audit", Tag: "Workspace", Summary: "List the audit log", Access: httpapi.Scope(rimewatch.ScopeAuditRead), Paged: true,
		Description: "The audit trail of the workspace, newest first. Entries are only ever added; each is chained to the one before it.", Bind: httpapi.Handle(a.listAudit),
	}}
}
