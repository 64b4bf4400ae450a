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
	c, err := a.Coverage(ctx, httpapi.CallOf(ctx).Workspace())
	return CoverageData{c}, err
}

func (a *api) coverageRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/notifications/coverage", Sited: true, ID: "get-coverage", Tag: "Notifications", Summary: "Find where nobody would be notified",
		Description: "Whether somebody would be notified of a critical alert that began now, at each site that you may see, by the rules that alerts are sent by. " +
			"A channel counts once a message or a test has arrived through it, and until one has not.",
		Access: httpapi.Scope(rimewatch.ScopeAlertsRead), Bind: httpapi.Handle(a.getCoverage),
	}}
}
