package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// tools are what an assistant may call, over the API.
type tools struct {
	api    *httpapi.API
	read   *sdk.Server // for tokens that only read
	write  *sdk.Server // for those that may acknowledge, too
	handle http.Handler
	places *httpapi.Places
}

// How many messages are worked on at a time.
const (
	callsAll       = 16
	callsWorkspace = 4
)

// Routes adds the endpoint to a frame.
func Routes(frame *httpapi.API) []httpapi.Route {
	t := &tools{api: frame, places: httpapi.NewPlaces(callsAll, callsWorkspace, rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many requests of assistants at once."))}
	t.read, t.write = t.server(false), t.server(true)
	t.handle = sdk.NewStreamableHTTPHandler(t.choose, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		// Behind a proxy on this machine the name is another, and a page that a browser
		// was lured to has no token.
		DisableLocalhostProtection: true,
	})
	frame.Plain(http.MethodPost, "/mcp", t.serve)
	return nil
}

type writerKey struct{}

// choose returns the tools that the caller's token is good for.
func (t *tools) choose(r *http.Request) *sdk.Server {
	if r.Context().Value(writerKey{}) != nil {
		return t.write
	}
	return t.read
}

// serve takes a message of a client that holds an API token.
func (t *tools) serve(c *httpapi.Call) error {
	if _, ok := httpapi.BearerToken(c.R.Header["Authorization"]); !ok {
		return rimewatch.Errorf(rimewatch.CodeUnauthenticated, "The request is not authenticated.")
	}
	p, e := t.api.Authenticate(c.R, c.Now)
	if e != nil {
		return e
	}
	c.Principal = p
	if p.Scopes&rimewatch.ScopesRead == 0 {
		return p.Require(rimewatch.ScopeDevicesRead)
	}
	release, e := t.places.Take(c.R.Context(), p.WorkspaceID)
	defer release()
	if e != nil {
		return e
	}
	// The protocol's own library would make hundreds of times as much of a hostile body.
	body, err := t.api.Take(c, p.WorkspaceID, httpapi.Door{Most: httpapi.MostMessage, Check: httpapi.StrictObject})
	if err != nil {
		return err
	}
	ctx := c.R.Context()
	if p.Scopes.Has(rimewatch.ScopeAlertsWrite) {
		ctx = context.WithValue(ctx, writerKey{}, true)
	}
	r := c.R.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Encoding") // it is read already
	c.Header("Cache-Control", "no-store")
	t.handle.ServeHTTP(c.W, r)
	return nil
}

// noInput is the input of tools that take none.
type noInput struct{}

// deviceInput names a device.
type deviceInput struct {
	Serial string `json:"serial" jsonschema:"serial of the device"`
}

// devicesInput filters devices.
type devicesInput struct {
	Status        string `json:"status,omitempty" jsonschema:"online or offline"`
	EquipmentType string `json:"equipment_type,omitempty" jsonschema:"such as walkin_freezer"`
	SiteID        int64  `json:"site_id,omitempty" jsonschema:"of one site alone"`
	Attention     bool   `json:"attention,omitempty" jsonschema:"only devices that need attention: with an alert, offline or not judged"`
	Query         string `json:"query,omitempty" jsonschema:"part of a name or serial"`
	Page          int64  `json:"page,omitempty" jsonschema:"number of the page, from 1"`
}

// historyInput asks for a span of a device.
type historyInput struct {
	Serial string `json:"serial" jsonschema:"serial of the device"`
	From   string `json:"from,omitempty" jsonschema:"start, RFC 3339; default: 24 hours before the end"`
	To     string `json:"to,omitempty" jsonschema:"end, RFC 3339; default: now"`
	Fields string `json:"fields,omitempty" jsonschema:"measurements, separated by commas; default: the usual eight"`
}

// alertsInput filters alerts.
type alertsInput struct {
	Status       string `json:"status,omitempty" jsonschema:"active (default), resolved or all"`
	Severity     string `json:"severity,omitempty" jsonschema:"warning or critical"`
	DeviceSerial string `json:"device_serial,omitempty" jsonschema:"of one device alone"`
	SiteID       int64  `json:"site_id,omitempty" jsonschema:"of one site alone"`
	Since        string `json:"since,omitempty" jsonschema:"triggered at or after this, RFC 3339"`
	Page         int64  `json:"page,omitempty" jsonschema:"number of the page, from 1"`
}

// spanInput asks for excursions.
type spanInput struct {
	DeviceSerial string `json:"device_serial,omitempty" jsonschema:"of one device alone"`
	From         string `json:"from,omitempty" jsonschema:"start, RFC 3339"`
	To           string `json:"to,omitempty" jsonschema:"end, RFC 3339"`
}

// acknowledgeInput names an alert to acknowledge.
type acknowledgeInput struct {
	ID   int64  `json:"id" jsonschema:"id of the alert"`
	Note string `json:"note,omitempty" jsonschema:"what is being done"`
}

// server makes the tools, with or without those that change something.
func (t *tools) server(write bool) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "rimewatch", Title: "Rimewatch", Version: cmp.Or(t.api.Version(), "dev")}, &sdk.ServerOptions{
		Instructions: "Rimewatch watches commercial refrigeration. Temperatures are in °C, times in UTC. Start with fleet_status; list_devices with attention shows what needs somebody.",
	})
	const perPage = "50"
	add(t, s, "fleet_status", "How many devices are online, how healthy the fleet is, and how well temperatures were kept.", func(noInput) string {
		return "/v1/devices/health/summary"
	})
	add(t, s, "list_devices", "Devices with status, newest temperature, site and number of active alerts.", func(in devicesInput) string {
		q := query{"status": in.Status, "equipment_type": in.EquipmentType, "site_id": number(in.SiteID), "q": in.Query, "page": number(in.Page), "per_page": perPage}
		if in.Attention {
			q["attention"] = "true"
		}
		return "/v1/devices" + q.encode()
	})
	add(t, s, "get_device", "Everything about a device: limits, health, maintenance and newest reading.", func(in deviceInput) string {
		return "/v1/devices/" + url.PathEscape(in.Serial)
	})
	add(t, s, "device_history", "What a device measured, in at most 200 steps with minimum, mean and maximum.", func(in historyInput) string {
		return "/v1/devices/" + url.PathEscape(in.Serial) + "/readings" + query{"from": in.From, "to": in.To, "fields": in.Fields, "step": "auto", "max_points": "200"}.encode()
	})
	add(t, s, "list_alerts", "What is wrong, or about to be, newest first.", func(in alertsInput) string {
		return "/v1/alerts" + query{"status": in.Status, "severity": in.Severity, "device_serial": in.DeviceSerial, "site_id": number(in.SiteID), "since": in.Since, "page": number(in.Page), "per_page": perPage}.encode()
	})
	add(t, s, "device_prediction", "Whether a device is likely to fail, with the evidence.", func(in deviceInput) string {
		return "/v1/devices/" + url.PathEscape(in.Serial) + "/prediction"
	})
	add(t, s, "list_excursions", "When temperatures were out of their limits, for compliance.", func(in spanInput) string {
		return "/v1/excursions" + query{"device_serial": in.DeviceSerial, "from": in.From, "to": in.To}.encode()
	})
	if write {
		sdk.AddTool(s, &sdk.Tool{Name: "acknowledge_alert", Description: "Record that somebody is handling an alert, so that others are not notified.", Annotations: &sdk.ToolAnnotations{IdempotentHint: true}},
			func(ctx context.Context, req *sdk.CallToolRequest, in acknowledgeInput) (*sdk.CallToolResult, any, error) {
				body, err := json.Marshal(map[string]string{"note": in.Note})
				if err != nil {
					return nil, nil, err
				}
				return t.ask(ctx, req, http.MethodPost, "/v1/alerts/"+number(in.ID)+"/acknowledge", body), nil, nil
			})
	}
	return s
}

// add adds a tool that reads what path returns.
func add[T any](t *tools, s *sdk.Server, name, description string, path func(in T) string) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, req *sdk.CallToolRequest, in T) (*sdk.CallToolResult, any, error) {
			return t.ask(ctx, req, http.MethodGet, path(in), nil), nil, nil
		})
}

// query are parameters; empty ones are left out.
type query map[string]string

func (q query) encode() string {
	v := url.Values{}
	for name, value := range q {
		if value != "" {
			v.Set(name, value)
		}
	}
	return "?" + v.Encode()
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// ask makes the request of a tool with the caller's token.
func (t *tools) ask(ctx context.Context, req *sdk.CallToolRequest, method, path string, body []byte) *sdk.CallToolResult {
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+httpapi.Prefix+path, bytes.NewReader(body))
	if err != nil {
		return text("The request could not be made.", true)
	}
	r.Header["Authorization"] = req.Extra.Header["Authorization"]
	if body != nil {
		r.Header.Set("Content-Type", httpapi.TypeJSON)
	}
	a := &answer{header: make(http.Header)}
	t.api.ServeHTTP(a, r)
	var envelope struct {
		Data  json.RawMessage
		Error struct {
			Message string
			Fields  map[string][]string
		}
	}
	if err := json.Unmarshal(a.body.Bytes(), &envelope); err != nil {
		return text("The service did not answer.", true)
	}
	if a.status >= http.StatusMultipleChoices {
		message := envelope.Error.Message
		for field, problems := range envelope.Error.Fields {
			for _, p := range problems {
				message += " " + field + ": " + p + "."
			}
		}
		return text(message, true)
	}
	return text(string(envelope.Data), false)
}

func text(s string, failed bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}, IsError: failed}
}

// answer takes the answer to a request of a tool.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = cmp.Or(a.status, status) }

// Write implements io.Writer.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
