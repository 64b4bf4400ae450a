package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Summary is the state of all devices of the workspace.
type Summary struct {
	TotalDevices          int            `json:"total_devices"`
	OnlineDevices         int            `json:"online_devices"`
	OfflineDevices        int            `json:"offline_devices"`
	ActiveAlerts          int            `json:"active_alerts"`
	CriticalAlerts        int            `json:"critical_alerts"`
	WarningAlerts         int            `json:"warning_alerts"`
	UnjudgedDevices       int            `json:"unjudged_devices"`       // without limits, or without temperatures for 24 h
	HealthScore           float64        `json:"health_score"`           // 0–100
	TemperatureCompliance float64        `json:"temperature_compliance"` // 0–100, last 24 h
	DataCoverage          float64        `json:"data_coverage"`          // 0–100, last 24 h
	StrictCompliance      float64        `json:"strict_compliance"`      // 0–100, without forgiveness
	Conditions            Conditions     `json:"conditions"`
	ComputedAt            rimewatch.Time `json:"computed_at"`
	Coverage              *Coverage      `json:"coverage"`  // nil in the stream
	Paperwork             *Paperwork     `json:"paperwork"` // nil in the stream
}

// Paperwork counts the cases that wait for documentation.
type Paperwork struct {
	Cases    int            `json:"cases"`
	OldestAt rimewatch.Time `json:"oldest_at"` // when the oldest of them began, 0 without one

	ChecksDue    int `json:"checks_due"`    // now
	ChecksMissed int `json:"checks_missed"` // of the last 7 days
}

// Coverage is whether somebody would be notified of a critical alert that began now.
type Coverage struct {
	Reachable  bool          `json:"reachable"` // at every site that has a device
	Anywhere   bool          `json:"anywhere"`  // at one at least
	Count      int           `json:"count"`     // of the sites without anyone to notify
	Without    []CoverageGap `json:"sites_without"`
	Reason     *string       `json:"reason"`      // no_channel, off, failing, untested, no_route, silenced, or a later one
	ReachesYou *bool         `json:"reaches_you"` // an enabled channel is that of the person who asks alone; nil for a token
	Rotas      []RotaGaps    `json:"rota_gaps"`   // that routes name, and by which nobody is on duty at times within a week
	Silences   []Hold        `json:"silences"`
}

// RotaGaps are the spans without anyone of a rota on duty.
type RotaGaps struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Zone    string    `json:"timezone"` // of the clock that it goes by
	SiteIDs []int64   `json:"site_ids"` // whose alerts routes bring to it; empty: any
	Gaps    []DutyGap `json:"gaps"`
}

// DutyGap is a span without anyone on duty.
type DutyGap struct {
	From rimewatch.Time `json:"from"`
	To   rimewatch.Time `json:"to"`
}

// CoverageGap is a site without anyone to notify.
type CoverageGap struct {
	ID     *int64 `json:"id"` // nil: the devices without a site
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Hold is a silence or a maintenance window that holds messages back.
type Hold struct {
	Kind           string         `json:"kind"` // silence or maintenance
	ID             int64          `json:"id"`
	EndsAt         rimewatch.Time `json:"ends_at"`
	Comment        string         `json:"comment"`
	CreatedBy      string         `json:"created_by"`
	Severities     []string       `json:"severities"`
	Types          []string       `json:"types"`
	SiteIDs        []int64        `json:"site_ids"`
	EquipmentTypes []string       `json:"equipment_types"`
	DeviceIDs      []int64        `json:"device_ids"`
}

// Conditions are numbers of devices by the worst that is known of each.
type Conditions struct {
	Critical  int `json:"critical"`
	Warning   int `json:"warning"`
	Predicted int `json:"predicted"`
	Offline   int `json:"offline"`
	Unjudged  int `json:"unjudged"`
	OK        int `json:"ok"`
}

// Summary returns the health of all devices.
func (c *Client) Summary(ctx context.Context) (Summary, error) {
	return fetch[Summary](ctx, c, get("/devices/health/summary", nil))
}

// Site is a place with devices and its own time zone.
type Site struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	TimeZone  string         `json:"timezone"` // IANA name
	Address   string         `json:"address"`
	CreatedAt rimewatch.Time `json:"created_at"`
	UpdatedAt rimewatch.Time `json:"updated_at"`
}

// SiteFields are the settings of a site. Nil fields stay as they are.
type SiteFields struct {
	Name     *string `json:"name,omitempty"`
	TimeZone *string `json:"timezone,omitempty"`
	Address  *string `json:"address,omitempty"`
}

// Sites are the calls about sites.
type Sites struct{ c *Client }

// Sites returns the calls about sites.
func (c *Client) Sites() Sites { return Sites{c} }

// List returns the workspace's sites.
func (x Sites) List(ctx context.Context) ([]Site, error) {
	return one[[]Site](ctx, x.c, get("/sites", nil), "sites")
}

// Create makes a site.
func (x Sites) Create(ctx context.Context, f SiteFields) (Site, error) {
	return one[Site](ctx, x.c, send(http.MethodPost, "/sites", f, false), "site")
}

func sitePath(id int64) string { return "/sites/" + strconv.FormatInt(id, 10) }

// Update changes the fields that f sets.
func (x Sites) Update(ctx context.Context, id int64, f SiteFields) (Site, error) {
	return one[Site](ctx, x.c, send(http.MethodPatch, sitePath(id), f, true), "site")
}

// Delete deletes a site; its devices are then without one.
func (x Sites) Delete(ctx context.Context, id int64) error {
	return remove(ctx, x.c, sitePath(id))
}

// Policy is a document for the public, such as the privacy policy.
type Policy struct {
	Slug        string         `json:"slug"`
	Title       string         `json:"title"`
	Version     string         `json:"version"`
	EffectiveAt rimewatch.Time `json:"effective_at"`
	UpdatedAt   rimewatch.Time `json:"updated_at"`
	ContentType string         `json:"content_type"`
	Content     string         `json:"content"`
	ContentHTML string         `json:"content_html"` // only of Client.Policy
}

// Policies lists the policy documents. No token is needed.
func (c *Client) Policies(ctx context.Context) ([]Policy, error) {
	return one[[]Policy](ctx, c, get("/policies", nil), "policies")
}

// Policy returns one document, such as "privacy": rimewatch.CodePolicyNotFound. No
// token is needed.
func (c *Client) Policy(ctx context.Context, slug string) (Policy, error) {
	return one[Policy](ctx, c, get("/policies/"+url.PathEscape(slug), nil), "policy")
}

// Alive reports whether the service runs, Ready whether it takes requests: nil
// when it does. They are not tried again. No token is needed.
func (c *Client) Alive(ctx context.Context) error { return c.probe(ctx, "/healthz") }

// Ready reports whether the service takes requests; see Alive.
func (c *Client) Ready(ctx context.Context) error { return c.probe(ctx, "/readyz") }

func (c *Client) probe(ctx context.Context, path string) error {
	resp, err := c.once(ctx, &call{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	drain(resp)
	return nil
}

// OpenAPI returns the description of the API as the service serves it. No token
// is needed.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	resp, err := c.do(ctx, &call{method: http.MethodGet, path: "/api/openapi.json", idempotent: true})
	if err != nil {
		return nil, err
	}
	defer drain(resp)
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}
