package records

import (
	"context"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/photo"
	"github.com/rimewatch/rimewatch/internal/wire"
)

var logoTypes = []string{photo.PNG, photo.JPEG}

// LogoData is the data of answers to a new logo.
type LogoData struct {
	Workspace wire.Workspace `json:"workspace"`
}

func (a *api) setLogo(c *httpapi.Call) error {
	body, _, _ := c.Body()
	l, err := decoded(c.R.Context(), a, func() (rimewatch.Logo, error) { return photo.Logo(body) })
	if err != nil {
		return err
	}
	w, err := a.Logos.SetLogo(c.R.Context(), c.Workspace(), l)
	if err != nil {
		return err
	}
	return c.Data(http.StatusOK, LogoData{wire.NewWorkspace(&w)})
}

func (a *api) deleteLogo(ctx context.Context, _ *httpapi.NoInput) (LogoData, error) {
	w, err := a.Logos.SetLogo(ctx, httpapi.CallOf(ctx).Workspace(), rimewatch.Logo{})
	return LogoData{wire.NewWorkspace(&w)}, err
}

func (a *api) logo(c *httpapi.Call) error {
	l, err := a.Logos.Logo(c.R.Context(), c.Workspace())
	if err != nil {
		return err
	}
	if len(l.Data) == 0 {
		return rimewatch.Errorf(rimewatch.CodeNotFound, "The workspace has no logo.")
	}
	return a.sendKept(c, l.Type, "private, no-cache", l.Data)
}

func (a *api) logoRoutes() []httpapi.Route {
	const path = "/v1/workspace/logo"
	admin := httpapi.Scope(rimewatch.ScopeSettings)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: path, Sited: true, ID: "get-logo", Tag: "Workspace", Summary: "Get the logo", Access: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeSettings), File: logoTypes,
			Description: "The image as it is printed on logs and dossiers. 404 where the workspace has none.", Bind: httpapi.Raw[httpapi.NoInput, httpapi.Done](a.logo),
		},
		{
			Method: http.MethodPut, Path: path, ID: "set-logo", Tag: "Workspace", Summary: "Set the logo", Access: admin, Body: httpapi.BodyRule{Types: logoTypes, Bulk: true},
			Description: "The body is the file: PNG or JPEG, 1 MB at most. It is scaled down to 600 pixels and encoded anew. It is printed on temperature logs and dossiers.", Bind: httpapi.Raw[httpapi.NoInput, LogoData](a.setLogo),
		},
		{Method: http.MethodDelete, Path: path, ID: "delete-logo", Tag: "Workspace", Summary: "Remove the logo", Access: admin, Bind: httpapi.Handle(a.deleteLogo)},
	}
}
