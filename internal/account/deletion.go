package account

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// DeletionGrace is for how long a workspace that its owner has deleted can be
// kept after all. Until then it works as before: devices go on reporting, alerts
// go on being sent.
const DeletionGrace = 7 * rimewatch.Day

// DeleteWorkspace has the principal's workspace erased after DeletionGrace. name
// is the workspace's, typed again: CodeValidationFailed with the field name when
// it is another. Needs the role owner. CodeConflict when that is so already.
func (s *settings) DeleteWorkspace(ctx context.Context, p Principal, name string, now rimewatch.Time) (rimewatch.Workspace, error) {
	if err := p.RequireRole(rimewatch.RoleOwner); err != nil {
		return rimewatch.Workspace{}, err
	}
	return s.store.UpdateWorkspace(ctx, p.WorkspaceID, func(w *rimewatch.Workspace) error {
		switch {
		case normalText(name) != w.Name:
			return rimewatch.Invalid("name", "is not the name of this workspace")
		case w.DeleteAt != 0:
			return rimewatch.Errorf(rimewatch.CodeConflict, "This workspace is deleted already; it can still be kept.")
		}
		w.DeleteAt, w.UpdatedAt = now+DeletionGrace, now
		return nil
	})
}

// KeepWorkspace takes DeleteWorkspace back. Needs the role owner. CodeConflict
// when it is not deleted.
func (s *settings) KeepWorkspace(ctx context.Context, p Principal, now rimewatch.Time) (rimewatch.Workspace, error) {
	if err := p.RequireRole(rimewatch.RoleOwner); err != nil {
		return rimewatch.Workspace{}, err
	}
	return s.store.UpdateWorkspace(ctx, p.WorkspaceID, func(w *rimewatch.Workspace) error {
		if w.DeleteAt == 0 {
			return rimewatch.Errorf(rimewatch.CodeConflict, "This workspace is not deleted.")
		}
		w.DeleteAt, w.UpdatedAt = 0, now
		return nil
	})
}

// CloseDue ends all access to the workspaces whose time has come, and returns
// them: they are to be erased.
func (s *tokens) CloseDue(ctx context.Context, now rimewatch.Time) (due []rimewatch.Workspace, err error) {
	all, err := s.store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.DeleteAt == 0 || now < w.DeleteAt {
			continue
		}
		ended, err := s.store.CloseWorkspace(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		for _, id := range ended {
			s.dropToken(id)
		}
		due = append(due, w)
	}
	return due, nil
}
