package httpapi

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
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
	Hash    string         `json:"hash" doc:"SHA-256 over the hash of the entry before it and this entry, in hexadecimal."`
}

// AuditDetail holds whatever the action has to tell.
type AuditDetail map[string]any

// Schema implements huma.SchemaProvider.
func (AuditDetail) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

func auditJSON(e *rimewatch.AuditEntry) (AuditEntry, error) {
	out := AuditEntry{e.ID, e.At, e.Actor, e.Action, e.Subject, nil, hex.EncodeToString(e.Hash[:])}
	err := json.Unmarshal([]byte(e.Detail), &out.Detail)
	return out, err
}

// AuditInput narrows the audit trail.
type AuditInput struct {
	PageInput
	Action  string `query:"action" maxLength:"64" doc:"Only actions that begin so." example:"device."`
	Subject string `query:"subject" maxLength:"64" doc:"Only subjects that begin so."`
}

// AuditList is a page of the audit trail.
type AuditList struct {
	Entries    []AuditEntry    `json:"entries"`
	ChainOK    bool            `json:"chain_ok" doc:"Whether every entry of the whole trail fits the one before it. False: entries were changed or removed behind the service's back."`
	Pagination wire.Pagination `json:"pagination"`
}

func (a *API) listAudit(ctx context.Context, in *AuditInput) (AuditList, error) {
	c := callOf(ctx)
	p := store.Page{Offset: in.offset(), Limit: in.size()}
	if in.Cursor != "" {
		after, _, e := a.cursors.decode(cursorAudit, c.workspace(), in.Cursor)
		if e != nil {
			return AuditList{}, e
		}
		p = store.Page{After: after, Limit: in.size() + 1}
	}
	list, total, err := a.cfg.Audit.AuditEntries(ctx, c.workspace(), in.Action, in.Subject, p)
	if err != nil {
		return AuditList{}, err
	}
	broken, err := a.cfg.Audit.VerifyAudit(ctx, c.workspace())
	if err != nil {
		return AuditList{}, err
	}
	more := len(list) > in.size()
	if more {
		list = list[:in.size()]
	}
	out := AuditList{Entries: make([]AuditEntry, len(list)), ChainOK: broken == 0}
	for i := range list {
		if out.Entries[i], err = auditJSON(&list[i]); err != nil {
			return AuditList{}, err
		}
	}
	out.Pagination = c.pagination(&in.PageInput, len(list), total, more, func() string {
		return a.cursors.encode(cursorAudit, c.workspace(), list[len(list)-1].ID, 0)
	})
	return out, nil
}

func (a *API) auditRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/v1/audit", id: "list-audit", tag: "Workspace", summary: "List who did what", access: person(rimewatch.RoleAdmin), paged: true,
		description: "The audit trail of the workspace, newest first. Entries are only ever added; each is chained to the one before it.", bind: handle(a.listAudit),
	}}
}
