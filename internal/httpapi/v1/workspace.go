package v1

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// WorkspaceData is the data of answers about the workspace.
type WorkspaceData struct {
	Workspace wire.Workspace `json:"workspace"`
}

// WorkspaceView is a workspace with what people have to know of it.
type WorkspaceView struct {
	WorkspaceData
	Notifications wire.NotificationState `json:"notifications"`
	Quotas        Quotas                 `json:"quotas"`
}

// Quotas are how many of each a workspace may have; one more is 409 quota_exceeded.
type Quotas struct {
	Devices            int `json:"devices" doc:"0 = no limit, as with all of these."`
	Sites              int `json:"sites"`
	Tokens             int `json:"tokens" doc:"That were not revoked."`
	Members            int `json:"members" doc:"With those who are invited."`
	Channels           int `json:"channels"`
	Routes             int `json:"routes"`
	Silences           int `json:"silences" doc:"That are active, planned or ended within the last week."`
	MaintenanceWindows int `json:"maintenance_windows" doc:"Likewise."`
	Sources            int `json:"sources"`
}

func (a workspaces) getWorkspace(ctx context.Context, _ *httpapi.NoInput) (WorkspaceView, error) {
	p := httpapi.CallOf(ctx).Principal
	w, err := a.Auth().Workspace(ctx, p)
	if err != nil {
		return WorkspaceView{}, err
	}
	channels, err := a.cfg.Store.Routing().Channels().List(ctx, p.WorkspaceID)
	if err != nil {
		return WorkspaceView{}, err
	}
	state := wire.NewNotificationState(channels)
	if a.cfg.Missed != nil {
		state.UnroutedAlerts, state.UntoldAlerts = a.cfg.Missed(p.WorkspaceID)
	}
	q := a.cfg.Quotas
	return WorkspaceView{
		WorkspaceData{wire.NewWorkspace(&w)}, state,
		Quotas{Devices: q.Devices, Sites: q.Sites, Tokens: q.Tokens, Members: q.Members, Channels: rimewatch.MaxChannels, Routes: rimewatch.MaxRoutes, Silences: rimewatch.MaxSilences, MaintenanceWindows: rimewatch.MaxMaintenanceWindows, Sources: rimewatch.MaxSources},
	}, nil
}

// WorkspaceBody changes the settings of a workspace.
type WorkspaceBody struct {
	Name             *string                                      `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Slug             *string                                      `json:"slug,omitempty" minLength:"2" maxLength:"40" pattern:"^[a-z0-9-]+$" doc:"Names it in links. Links with the former one still lead there; one that another workspace has or had is 409."`
	OnUnknown        *string                                      `json:"on_unknown,omitempty" enum:"hold,register,refuse" doc:"What becomes of a reading whose serial is not known."`
	AutoRegister     *bool                                        `json:"auto_register,omitempty" doc:"The older name: true is on_unknown register; false is refuse where it was register, and otherwise changes nothing. on_unknown takes precedence."`
	TimeZone         *string                                      `json:"timezone,omitempty" maxLength:"64" doc:"IANA name."`
	RawDays          *int                                         `json:"raw_days,omitempty" minimum:"1" maximum:"36500"`
	RollupDays       *int                                         `json:"rollup_days,omitempty" minimum:"1" maximum:"36500" doc:"Not below raw_days."`
	Limits           map[string]httpapi.Optional[TypeLimitsPatch] `json:"limits,omitempty" doc:"By the slug of an equipment type: limits for all devices of the type that do not have their own. Only what is named changes; null for one limit or for a type goes back to the type's own."`
	SecondFactor     *bool                                        `json:"require_second_factor,omitempty" doc:"Needs the role owner, and that you have a second factor yourself."`
	RequireAction    *rimewatch.RequireAction                     `json:"require_action,omitempty" enum:"none,critical,all" doc:"Which cases wait for documentation."`
	ConfirmLoosening bool                                         `json:"confirm_loosening,omitempty" doc:"Needed to loosen a safety limit: a bound of the product temperature, the minutes a day, and the delays of food that needs time and temperature control and of medical types."`
}

// patch is the body in the words of the accounts.
func (b *WorkspaceBody) patch() account.WorkspacePatch {
	p := account.WorkspacePatch{
		Name: b.Name, Slug: b.Slug, AutoRegister: b.AutoRegister, TimeZone: b.TimeZone, RawDays: b.RawDays, RollupDays: b.RollupDays,
		ConfirmLoosening: b.ConfirmLoosening, RequireSecondFactor: b.SecondFactor,
		RequireAction: b.RequireAction,
	}
	if b.OnUnknown != nil {
		on := rimewatch.OnUnknown(*b.OnUnknown)
		p.OnUnknown = &on
	}
	for slug, limits := range b.Limits {
		if p.Limits == nil {
			p.Limits = make(map[string]func(*rimewatch.LimitOverrides))
		}
		p.Limits[slug] = func(o *rimewatch.LimitOverrides) {
			if limits.Value == nil {
				*o = rimewatch.LimitOverrides{}
				return
			}
			limits.Value.apply(o)
		}
	}
	return p
}

func (a workspaces) updateWorkspace(ctx context.Context, in *httpapi.BodyInput[WorkspaceBody]) (WorkspaceData, error) {
	c := httpapi.CallOf(ctx)
	w, err := a.cfg.Accounts.UpdateWorkspace(ctx, c.Principal, in.Body.patch(), c.Now)
	if err != nil {
		return WorkspaceData{}, err
	}
	a.Settings.Forget(w.ID)
	if len(in.Body.Limits) > 0 {
		if err := a.cfg.Writer.RefreshSettings(ctx); err != nil {
			return WorkspaceData{}, err
		}
	}
	return WorkspaceData{wire.NewWorkspace(&w)}, nil
}

// WorkspaceDelete is the body that deletes a workspace.
type WorkspaceDelete struct {
	Name string `json:"name" minLength:"1" maxLength:"200" doc:"The name of the workspace, typed again."`
}

func (a workspaces) deleteWorkspace(ctx context.Context, in *httpapi.BodyInput[WorkspaceDelete]) (WorkspaceData, error) {
	c := httpapi.CallOf(ctx)
	w, err := a.cfg.Accounts.DeleteWorkspace(ctx, c.Principal, in.Body.Name, c.Now)
	return WorkspaceData{wire.NewWorkspace(&w)}, err
}

func (a workspaces) keepWorkspace(ctx context.Context, _ *httpapi.NoInput) (WorkspaceData, error) {
	c := httpapi.CallOf(ctx)
	w, err := a.cfg.Accounts.KeepWorkspace(ctx, c.Principal, c.Now)
	return WorkspaceData{wire.NewWorkspace(&w)}, err
}

func (a workspaces) workspaceRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeSettings)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/workspace", Sited: true, ID: "get-workspace", Tag: "Workspace", Summary: "Get the workspace", Access: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeSettings), Bind: httpapi.Handle(a.getWorkspace)},
		{
			Method: http.MethodPatch, Path: "/v1/workspace", ID: "update-workspace", Tag: "Workspace", Summary: "Change the settings of the workspace", Access: admin, Body: httpapi.JSONBody,
			Also: []rimewatch.Code{rimewatch.CodeConflict}, Bind: httpapi.Handle(a.updateWorkspace),
		},
		{
			Method: http.MethodDelete, Path: "/v1/workspace", ID: "delete-workspace", Tag: "Workspace", Summary: "Delete the workspace", Access: httpapi.Person(rimewatch.RoleOwner, "it ends everything for everybody"), Body: httpapi.JSONBody,
			Also:        []rimewatch.Code{rimewatch.CodeConflict},
			Description: "Requires its name to be typed again. Everything in it is erased at `delete_at`, in 7 days; until then it works as before, can be exported and can be kept after all.",
			Bind:        httpapi.Handle(a.deleteWorkspace),
		},
		{
			Method: http.MethodPost, Path: "/v1/workspace/keep", ID: "keep-workspace", Tag: "Workspace", Summary: "Keep a deleted workspace", Access: httpapi.Person(rimewatch.RoleOwner, "it ends everything for everybody"),
			Also: []rimewatch.Code{rimewatch.CodeConflict}, Description: "Takes its deletion back.", Bind: httpapi.Handle(a.keepWorkspace),
		},
	}
}

// TypeLimitsPatch changes the limits of a type. A device has a field of its own for silence.
type TypeLimitsPatch struct {
	LimitsPatch

	OfflineAfterS httpapi.Optional[int] `json:"offline_after_s,omitempty" minimum:"0" maximum:"2592000" doc:"s of silence before a device is offline that has no offline_after_s of its own; 0: as each reports."`
}

func (p *TypeLimitsPatch) apply(o *rimewatch.LimitOverrides) {
	p.LimitsPatch.apply(o)
	p.OfflineAfterS.SetPointer(&o.OfflineAfterS)
}
