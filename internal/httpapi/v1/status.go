package v1

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// status answers how the units are that the token may know of.
func (a workspaces) status(ctx context.Context, _ *httpapi.NoInput) (wire.Status, error) {
	c := httpapi.CallOf(ctx)
	w, err := a.Auth().Workspace(ctx, c.Principal)
	if err != nil {
		return wire.Status{}, err
	}
	alerts := make(map[int64][]*rimewatch.Alert)
	err = a.eachAlert(ctx, store.AlertFilter{Status: rimewatch.AlertActive}, func(v *rimewatch.AlertView) {
		alerts[v.DeviceID] = append(alerts[v.DeviceID], &v.Alert)
	})
	if err != nil {
		return wire.Status{}, err
	}
	var units []rimewatch.DeviceView
	err = store.EachOf(c.R.Context(), a.cfg.Fleet, c.Workspace(), store.DeviceFilter{}, func(v *rimewatch.DeviceView) error {
		units = append(units, *v)
		return nil
	})
	return wire.NewStatus(w.Name, w.TimeZone, units, alerts, c.Words(), c.Now), err
}

func (a workspaces) statusRoute() httpapi.Route {
	return httpapi.Route{
		Method: http.MethodGet, Path: "/v1/status", Sited: true, ID: "get-status", Tag: "Workspace", Summary: "See how the units are",
		Access:      httpapi.Scope(rimewatch.ScopeStatusRead),
		Description: "For a status page that is shared by a link: the link carries a token of this one scope, which can read nothing else, may be limited to sites, and is revoked like any other.",
		Bind:        httpapi.Handle(a.status),
	}
}
