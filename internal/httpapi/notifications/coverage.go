package notifications

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// CoverageData is the data of the answer about coverage.
type CoverageData struct {
	Coverage wire.Coverage `json:"coverage"`
}

func (a *api) getCoverage(ctx context.Context, _ *httpapi.NoInput) (CoverageData, error) {
	p := httpapi.CallOf(ctx).Principal
	c, err := a.Coverage(ctx, p.WorkspaceID, p.UserID)
	return CoverageData{c}, err
}

// CalledData is who would be called for a site.
type CalledData struct {
	Calls []wire.Call `json:"calls" doc:"In this order; each is somebody who has not been told before. Empty: nobody would be, or a silence or maintenance window of the site holds its alerts back."`
}

func (a *api) getCalled(ctx context.Context, in *httpapi.IDInput) (CalledData, error) {
	c := httpapi.CallOf(ctx)
	site, err := c.Site(a.Sites, in.Number())
	if err != nil {
		return CalledData{}, err
	}
	calls, err := a.Calls(ctx, c.Workspace(), &site)
	return CalledData{calls}, err
}

func (a *api) coverageRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/sites/{id}/called", Sited: true, ID: "get-called", Tag: "Notifications", Summary: "Find who would be called for a site",
		Description: "Who would be notified of a critical alert that began at the site now, one after the other, as long as nobody acknowledges it: by the rules that alerts are sent by, " +
			"whoever is on duty at each of these moments. Routes that are narrowed to devices or types of equipment are left out.",
		Access: httpapi.Scope(rimewatch.ScopeAlertsRead), Bind: httpapi.Handle(a.getCalled),
	}, {
		Method: http.MethodGet, Path: "/v1/notifications/coverage", Sited: true, ID: "get-coverage", Tag: "Notifications", Summary: "Find where nobody would be notified",
		Description: "Whether somebody would be notified of a critical alert that began now, at each site that you may see, by the rules that alerts are sent by. " +
			"A channel counts once a message or a test has arrived through it, and until one has not.",
		Access: httpapi.Scope(rimewatch.ScopeAlertsRead), Bind: httpapi.Handle(a.getCoverage),
	}}
}
