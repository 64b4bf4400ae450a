package v1

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Site is a place with devices.
type Site struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	TimeZone  string         `json:"timezone" doc:"IANA name."`
	Address   string         `json:"address"`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt rimewatch.Time `json:"updated_at" nullable:"false"`
}

func siteJSON(s *rimewatch.Site) Site {
	return Site{s.ID, s.Name, s.TimeZone, s.Address, s.CreatedAt, s.UpdatedAt}
}

// SiteList are the sites of a workspace.
type SiteList struct {
	httpapi.Paged
	Sites []Site `json:"sites"`
}

func listSites(_ context.Context, list []rimewatch.Site) (SiteList, error) {
	out := SiteList{Sites: make([]Site, len(list))}
	for i := range list {
		out.Sites[i] = siteJSON(&list[i])
	}
	return out, nil
}

// SiteData is the data of answers about one site.
type SiteData struct {
	Site Site `json:"site"`
}

func showSite(_ context.Context, s *rimewatch.Site) (SiteData, error) {
	return SiteData{siteJSON(s)}, nil
}

// SiteCreate is the body that makes a site.
type SiteCreate struct {
	Name     string `json:"name" minLength:"1" maxLength:"200"`
	TimeZone string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name. Default: the workspace's."`
	Address  string `json:"address,omitempty" maxLength:"500"`
}

func newSite(ctx context.Context, b *SiteCreate) (rimewatch.Site, error) {
	c := httpapi.CallOf(ctx)
	return rimewatch.Site{WorkspaceID: c.Workspace(), Name: b.Name, TimeZone: b.TimeZone, Address: b.Address, CreatedAt: c.Now, UpdatedAt: c.Now}, nil
}

// SiteUpdate is the body that changes a site.
type SiteUpdate struct {
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
	TimeZone *string `json:"timezone,omitempty" maxLength:"64" doc:"IANA name."`
	Address  *string `json:"address,omitempty" maxLength:"500"`
}

func editSite(ctx context.Context, b *SiteUpdate) (func(*rimewatch.Site) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(s *rimewatch.Site) error {
		httpapi.Sent(&s.Name, b.Name)
		httpapi.Sent(&s.TimeZone, b.TimeZone)
		httpapi.Sent(&s.Address, b.Address)
		s.UpdatedAt = now
		return nil
	}, nil
}

// emptied are sites whose devices know at once that one is gone.
type emptied struct {
	store.Resource[rimewatch.Site]
	Writer
}

// Delete implements store.Resource.
func (e emptied) Delete(ctx context.Context, workspaceID, id int64) error {
	if err := e.Resource.Delete(ctx, workspaceID, id); err != nil {
		return err
	}
	return e.SiteDeleted(ctx, id)
}

func (a workspaces) siteRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.Site]{
		Path: "/v1/sites", ID: "site", Tag: "Workspace", One: "a site", Many: "sites",
		Read: httpapi.Scope(rimewatch.ScopeDevicesRead), Write: httpapi.Scope(rimewatch.ScopeDevicesWrite), SitedReads: true,
		Things: func(ctx context.Context) store.Resource[rimewatch.Site] {
			return emptied{a.cfg.Accounts.Sites(httpapi.CallOf(ctx).Principal), a.cfg.Writer}
		},
		Key:     func(s *rimewatch.Site) (id, revision int64) { return s.ID, s.Revision },
		Named:   func(s *rimewatch.Site) string { return s.Name },
		Cursors: &a.cursors,

		DeleteText: "Its devices stay, without a site.",
	}
	return []httpapi.Route{
		httpapi.List(r, httpapi.All, listSites), httpapi.Create(r, newSite, showSite), httpapi.Get(r, showSite), httpapi.Update(r, editSite, showSite), httpapi.Delete(r),
	}
}
