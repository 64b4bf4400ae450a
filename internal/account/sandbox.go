package account

import (
	"context"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// sandboxMade is the entry of the audit trail of a workspace by which its sandboxes are counted: those that ended are
// erased.
const sandboxMade = "sandbox.created"

// sandboxName is the name of a workspace's sandbox: names are unique, so there is one at a time.
func sandboxName(workspaceID int64) string {
	return fmt.Sprintf("Sandbox of workspace %d", workspaceID)
}

// CreateSandbox makes the sandbox of a principal's workspace, with a token of its own that ends with
// it. Needs ScopeSettings. CodeConflict where there is one, and in a sandbox; CodeRateLimited after
// rimewatch.SandboxesADay within 24 h.
func (s *Service) CreateSandbox(ctx context.Context, p Principal, devices int, now rimewatch.Time) (w rimewatch.Workspace, plain string, err error) {
	if err := p.Require(rimewatch.ScopeSettings); err != nil {
		return w, "", err
	}
	own, err := s.store.Workspace(ctx, p.WorkspaceID)
	if err != nil {
		return w, "", err
	}
	if own.TestOf != 0 {
		return w, "", rimewatch.Errorf(rimewatch.CodeConflict, "This is a sandbox; it has none of its own.")
	}
	if err := s.maySandbox(ctx, own.ID, now); err != nil {
		return w, "", err
	}
	w = newWorkspace(sandboxName(own.ID), now)
	w.TimeZone, w.DeleteAt, w.TestOf, w.TestDevices = own.TimeZone, now+rimewatch.SandboxLife, own.ID, devices
	if err := s.store.CreateWorkspace(ctx, &w); err != nil {
		if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
			err = rimewatch.Errorf(rimewatch.CodeConflict, "This workspace has a sandbox. End it before you make another one.")
		}
		return w, "", err
	}
	if err := s.store.Audit().AuditWorkspace(ctx, own.ID, sandboxMade, sandboxSubject(&w), nil); err != nil {
		return w, "", err
	}
	_, plain, err = s.CreateToken(ctx, Operator(w.ID), TokenRequest{Name: "Sandbox", Scopes: rimewatch.ScopesSandbox, ExpiresAt: w.DeleteAt}, now)
	return w, plain, err
}

// maySandbox refuses one sandbox more than a workspace may make in 24 h.
func (s *Service) maySandbox(ctx context.Context, workspaceID int64, now rimewatch.Time) error {
	made, _, err := s.store.Audit().AuditEntries(ctx, workspaceID, sandboxMade, "", store.Page{Limit: rimewatch.SandboxesADay})
	if err != nil || len(made) < rimewatch.SandboxesADay {
		return err
	}
	if wait := made[len(made)-1].At + rimewatch.Day - now; wait > 0 {
		return &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many sandboxes have been made in the last 24 hours.", RetryAfter: time.Duration(wait) * time.Millisecond}
	}
	return nil
}

func sandboxSubject(w *rimewatch.Workspace) string { return fmt.Sprintf("workspace %d", w.ID) }

// Sandbox finds the sandbox of a principal's workspace: CodeNotFound. Needs ScopeSettings.
func (s *Service) Sandbox(ctx context.Context, p Principal) (w rimewatch.Workspace, err error) {
	if err := p.Require(rimewatch.ScopeSettings); err != nil {
		return w, err
	}
	w, err = s.store.WorkspaceByName(ctx, sandboxName(p.WorkspaceID))
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound || err == nil && w.TestOf != p.WorkspaceID {
		return w, rimewatch.Errorf(rimewatch.CodeNotFound, "This workspace has no sandbox.")
	}
	return w, err
}

// EndSandbox has the sandbox of a principal's workspace erased now: CodeNotFound. Its name is free for another one.
func (s *Service) EndSandbox(ctx context.Context, p Principal, now rimewatch.Time) (rimewatch.Workspace, error) {
	w, err := s.Sandbox(ctx, p)
	if err != nil {
		return w, err
	}
	if err := s.store.Audit().AuditWorkspace(ctx, p.WorkspaceID, "sandbox.ended", sandboxSubject(&w), nil); err != nil {
		return w, err
	}
	return s.store.UpdateWorkspace(ctx, w.ID, func(w *rimewatch.Workspace) error {
		w.Name, w.DeleteAt, w.UpdatedAt = fmt.Sprintf("Ended sandbox %d", w.ID), now, now
		return nil
	})
}
