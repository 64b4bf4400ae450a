package inlets

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Config is where and how devices get in beside HTTP.
type Config struct {
	MQTT    string                                               // address at which MQTT is taken in, as the operator gave it; "" = it is not
	MQTTS   string                                               // likewise over TLS
	Brokers func(sourceID int64) (s source.BrokerState, ok bool) // how the broker of a source is reached

	CursorKey [32]byte // keeps cursors from being forged
}

// api is what the routes share.
type api struct {
	*httpapi.API
	Config
	sources *source.Service
	cursors httpapi.CursorCodec
}

// Routes returns the routes of sources and adds the paths of the senders.
func Routes(sources *source.Service, cfg Config) func(*httpapi.API) []httpapi.Route {
	return func(frame *httpapi.API) []httpapi.Route {
		a := &api{frame, cfg, sources, httpapi.CursorCodec{Key: cfg.CursorKey}}
		httpapi.Nullable[BrokerJSON](frame)
		httpapi.Nullable[map[string]any](frame)
		a.plain()
		return slices.Concat(a.sourceRoutes(), a.keyRoutes(), a.heldRoutes())
	}
}

// SourceInput names a source in a path.
type SourceInput struct {
	ID string `path:"id" doc:"Integer id, or api for the source that stands for the API itself."`
}

// sourceBody names a source and carries a body.
type sourceBody[B any] struct {
	SourceInput
	Body B
}

// sourceID returns the number of the source that a path names.
func (a *api) sourceID(ctx context.Context, in *SourceInput) (int64, error) {
	if in.ID != "api" {
		return (&httpapi.IDInput{ID: in.ID}).Number(), nil
	}
	l, err := a.sources.OfAPI(ctx, httpapi.CallOf(ctx).Workspace(), source.Opener{})
	if err != nil {
		return 0, err
	}
	return l.ID(), nil
}

// SourceJSON is a source in answers.
type SourceJSON struct {
	ID                   int64                      `json:"id"`
	Kind                 string                     `json:"kind" enum:"push,mqtt,api" doc:"push: senders connect to us. mqtt: we connect to a broker. api: readings of unknown devices that came by the API."`
	Name                 string                     `json:"name"`
	Template             string                     `json:"template" doc:"How payloads are read: the name of a built-in template, auto, or own."`
	TemplateDocument     wire.Maybe[map[string]any] `json:"template_document" doc:"The template, where it is the source's own; otherwise null."`
	OnUnknown            string                     `json:"on_unknown" enum:"hold,register,refuse"`
	SiteID               *int64                     `json:"site_id" doc:"Of devices that the source registers."`
	DefaultEquipmentType *string                    `json:"default_equipment_type"`
	TimeZone             *string                    `json:"timezone" doc:"Of times that come without a zone; null: they are refused."`
	Enabled              bool                       `json:"enabled"`
	KeyPrefix            *string                    `json:"key_prefix" doc:"The beginning of the source's oldest key, to recognise it by. /v1/source-keys has all of them."`
	Broker               wire.Maybe[BrokerJSON]     `json:"broker" doc:"Of kind mqtt; otherwise null."`
	Received             source.Received            `json:"received" doc:"What came since the service started."`
	CreatedAt            rimewatch.Time             `json:"created_at" nullable:"false"`
	UpdatedAt            rimewatch.Time             `json:"updated_at" nullable:"false"`
}

// BrokerJSON is a broker in answers: never its password.
type BrokerJSON struct {
	URL         string   `json:"url"`
	Username    string   `json:"username"`
	HasPassword bool     `json:"has_password"`
	ClientID    string   `json:"client_id"`
	Topics      []string `json:"topics"`
	Discovery   string   `json:"discovery_prefix" doc:"The prefix under which a Home Assistant at this broker finds the workspace's devices; empty: it finds none."`

	Status        string         `json:"status" enum:"connected,connecting,failing,off" doc:"connecting: it was not tried yet. failing: problem says why; it is tried again within a minute. off: the source is disabled."`
	Problem       *string        `json:"problem" doc:"Why the broker is not connected, or what it refuses although it is."`
	StatusSince   rimewatch.Time `json:"status_since"`
	LastMessageAt rimewatch.Time `json:"last_message_at"`
	Messages      int64          `json:"messages" doc:"Received since the service started."`
}

func (a *api) brokerJSON(s *rimewatch.Source, say func(english string) string) *BrokerJSON {
	j := &BrokerJSON{URL: s.Broker.URL, Username: s.Broker.Username, HasPassword: s.Broker.Password != "", ClientID: s.Broker.ClientID, Topics: s.Broker.Topics, Discovery: s.Broker.Discovery, Status: "off"}
	state, ok := a.Brokers(s.ID)
	if !s.Enabled {
		return j
	}
	j.Status = "connecting"
	if !ok {
		return j
	}
	j.Problem, j.StatusSince, j.LastMessageAt, j.Messages = wire.OrNull(rimewatch.SentenceOf(state.Problem).In(say)), state.Since, state.LastAt, state.Messages
	switch {
	case state.Connected:
		j.Status = "connected"
	case state.Problem != "":
		j.Status = "failing"
	}
	return j
}

func (a *api) sourceJSON(s *rimewatch.Source, prefix string, say func(english string) string) SourceJSON {
	j := SourceJSON{ID: s.ID, Kind: string(s.Kind), Name: s.Name, Template: s.Template, OnUnknown: string(s.OnUnknown), SiteID: wire.OrNull(s.SiteID),
		DefaultEquipmentType: wire.OrNull(s.EquipmentType), TimeZone: wire.OrNull(s.TimeZone), Enabled: s.Enabled, KeyPrefix: wire.OrNull(prefix), Received: a.sources.Received(s.ID).In(say), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
	if s.Document != "" {
		j.TemplateDocument.Value = new(map[string]any)
		_ = json.Unmarshal([]byte(s.Document), j.TemplateDocument.Value) // it was compiled before it was stored
	}
	if s.Kind == rimewatch.SourceMQTT {
		j.Broker.Value = a.brokerJSON(s, say)
	}
	return j
}

// SourceList are the sources of a workspace.
type SourceList struct {
	Sources []SourceJSON `json:"sources"`
	MQTT    *string      `json:"mqtt_url" doc:"Where MQTT is taken in; null where the operator has not turned it on."`
	Waiting int64        `json:"waiting_senders" doc:"How many senders wait to be accepted, of all sources together."`
	// Reach is told to whoever connects senders alone: it is about the operator's network.
	Reach []string `json:"addresses" doc:"Where senders may reach this server: its public address, or the one at which it was asked, or where that is of this computer alone those of the machine. Empty for those who may not change sources."`
}

func (a *api) list(ctx context.Context, _ *httpapi.NoInput) (SourceList, error) {
	list, err := a.sources.Sources(ctx, httpapi.CallOf(ctx).Workspace())
	if err != nil {
		return SourceList{}, err
	}
	waiting, err := a.sources.WaitingSenders(ctx, httpapi.CallOf(ctx).Workspace())
	if err != nil {
		return SourceList{}, err
	}
	out := SourceList{make([]SourceJSON, len(list)), a.mqttURL(ctx), waiting, []string{}}
	if c := httpapi.CallOf(ctx); c.Principal.Require(rimewatch.ScopeSources) == nil {
		out.Reach = a.Reachable(c.R)
	}
	prefixes, err := a.sources.Prefixes(ctx, httpapi.CallOf(ctx).Workspace())
	for i := range list {
		out.Sources[i] = a.sourceJSON(&list[i], prefixes[list[i].ID], httpapi.CallOf(ctx).Words().Say)
	}
	return out, err
}

// shown is a source in answers about it alone.
func (a *api) shown(ctx context.Context, s *rimewatch.Source) (SourceJSON, error) {
	prefixes, err := a.sources.Prefixes(ctx, httpapi.CallOf(ctx).Workspace())
	return a.sourceJSON(s, prefixes[s.ID], httpapi.CallOf(ctx).Words().Say), err
}

// TemplateList are the built-in templates.
type TemplateList struct {
	Templates []TemplateJSON `json:"templates"`
}

// TemplateJSON is a built-in template.
type TemplateJSON struct {
	Name     string         `json:"name"`
	Title    string         `json:"title"`
	Document map[string]any `json:"document" doc:"A good starting point for one of your own."`
}

func (a *api) templates(context.Context, *httpapi.NoInput) (TemplateList, error) {
	out := TemplateList{}
	for _, t := range a.sources.Library.Templates() {
		b, err := json.Marshal(t)
		if err != nil {
			return out, err
		}
		j := TemplateJSON{Name: t.Name, Title: t.Title}
		if err := json.Unmarshal(b, &j.Document); err != nil {
			return out, err
		}
		out.Templates = append(out.Templates, j)
	}
	return out, nil
}

// SourceWithKey is the data of answers that give out a key.
type SourceWithKey struct {
	Source SourceJSON `json:"source"`
	GivenKey
}

// GivenKey is a key with where it is used.
type GivenKey struct {
	Key  *string `json:"key" doc:"The key, when a new one was made. It is shown here and never again."`
	URL  *string `json:"url" doc:"Where senders send to, with the key."`
	MQTT *string `json:"mqtt_url" doc:"Where MQTT is taken in, with the key as the password; null where the operator has not turned it on."`
}

// mqttURL returns where MQTT is taken in, as the caller reaches it; nil where it is
// not.
func (a *api) mqttURL(ctx context.Context) *string {
	scheme, listen := "mqtts", a.MQTTS
	if listen == "" {
		scheme, listen = "mqtt", a.MQTT
	}
	base, err := url.Parse(a.BaseURL(httpapi.CallOf(ctx).R))
	_, port, splitErr := net.SplitHostPort(listen)
	if err != nil || splitErr != nil {
		return nil
	}
	return wire.OrNull(scheme + "://" + net.JoinHostPort(base.Hostname(), port))
}

func (a *api) withKey(ctx context.Context, s *rimewatch.Source, key string) (SourceWithKey, error) {
	shown, err := a.shown(ctx, s)
	return SourceWithKey{shown, a.given(ctx, key)}, err
}

// given is a key that is given out; "" = none is.
func (a *api) given(ctx context.Context, key string) (g GivenKey) {
	if key != "" {
		g = GivenKey{wire.OrNull(key), wire.OrNull(a.BaseURL(httpapi.CallOf(ctx).R) + "/in/" + key), a.mqttURL(ctx)}
	}
	return g
}

// SourceCreate is the body that makes a source.
type SourceCreate struct {
	Kind                 string          `json:"kind,omitempty" enum:"push,mqtt" doc:"Default: push."`
	Name                 string          `json:"name" minLength:"1" maxLength:"200"`
	Template             string          `json:"template,omitempty" maxLength:"200" doc:"Name of a built-in template. Default: auto."`
	TemplateDocument     map[string]any  `json:"template_document,omitempty" doc:"A template of your own, instead of the name of one."`
	OnUnknown            string          `json:"on_unknown,omitempty" enum:"hold,register,refuse" doc:"What becomes of readings of senders that are not bound to a device. Default: hold."`
	SiteID               *int64          `json:"site_id,omitempty" nullable:"true"`
	DefaultEquipmentType *string         `json:"default_equipment_type,omitempty" nullable:"true" maxLength:"200"`
	TimeZone             *string         `json:"timezone,omitempty" nullable:"true" maxLength:"64" doc:"IANA time zone of times that come without one. Default: they are refused."`
	Enabled              *bool           `json:"enabled,omitempty"`
	Broker               *BrokerSettings `json:"broker,omitempty" doc:"Of kind mqtt."`
}

// BrokerSettings say how to reach a broker.
type BrokerSettings struct {
	URL       string   `json:"url" maxLength:"500" doc:"mqtt://HOST:PORT or mqtts://HOST:PORT."`
	Username  string   `json:"username,omitempty" maxLength:"200"`
	Password  *string  `json:"password,omitempty" maxLength:"500" doc:"Left out: as it is."`
	ClientID  string   `json:"client_id,omitempty" maxLength:"200"`
	Topics    []string `json:"topics" minItems:"1" maxItems:"20" doc:"Topic filters, such as zigbee2mqtt/#."`
	Discovery string   `json:"discovery_prefix,omitempty" maxLength:"100" doc:"Describes the workspace's devices, up to 2,000, to a Home Assistant at this broker (MQTT discovery): their measurements, whether they report and whether they have an alert. Home Assistant's own prefix is homeassistant. Left out: they are not described."`
}

// apply makes the settings those of a source; b may be nil.
func (b *BrokerSettings) apply(s *rimewatch.Source) error {
	if b == nil {
		return nil
	}
	if s.Kind != rimewatch.SourceMQTT {
		return rimewatch.Invalid("broker", "is for sources of the kind mqtt")
	}
	password := s.Broker.Password
	if b.Password != nil {
		password = *b.Password
	}
	s.Broker = rimewatch.Broker{URL: b.URL, Username: b.Username, Password: password, ClientID: b.ClientID, Topics: b.Topics, Discovery: b.Discovery}
	return nil
}

func document(d map[string]any, template string) (string, string, error) {
	if d == nil {
		return template, "", nil
	}
	b, err := json.Marshal(d)
	return rimewatch.TemplateOwn, string(b), err
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (a *api) create(ctx context.Context, in *httpapi.BodyInput[SourceCreate]) (SourceWithKey, error) {
	b := &in.Body
	s := rimewatch.Source{WorkspaceID: httpapi.CallOf(ctx).Workspace(), Kind: rimewatch.SourceKind(b.Kind), Name: strings.TrimSpace(b.Name), OnUnknown: rimewatch.OnUnknown(b.OnUnknown),
		SiteID: value(b.SiteID), EquipmentType: value(b.DefaultEquipmentType), TimeZone: value(b.TimeZone), Enabled: b.Enabled == nil || *b.Enabled}
	if s.Kind == "" {
		s.Kind = rimewatch.SourcePush
	}
	if err := b.Broker.apply(&s); err != nil {
		return SourceWithKey{}, err
	}
	var err error
	if s.Template, s.Document, err = document(b.TemplateDocument, b.Template); err != nil {
		return SourceWithKey{}, err
	}
	key, err := a.sources.Create(ctx, &s)
	if err != nil {
		return SourceWithKey{}, err
	}
	return a.withKey(ctx, &s, key)
}

// SourceUpdate is the body that changes a source.
type SourceUpdate struct {
	Name                 *string         `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Template             *string         `json:"template,omitempty" maxLength:"200"`
	TemplateDocument     map[string]any  `json:"template_document,omitempty"`
	OnUnknown            *string         `json:"on_unknown,omitempty" enum:"hold,register,refuse"`
	SiteID               *int64          `json:"site_id,omitempty" nullable:"true" doc:"0 = none."`
	DefaultEquipmentType *string         `json:"default_equipment_type,omitempty" nullable:"true" maxLength:"200"`
	TimeZone             *string         `json:"timezone,omitempty" nullable:"true" maxLength:"64" doc:"Empty = none."`
	Enabled              *bool           `json:"enabled,omitempty"`
	Broker               *BrokerSettings `json:"broker,omitempty"`
	RotateKey            bool            `json:"rotate_key,omitempty" doc:"Make a new key, and no other is taken from then on. /v1/source-keys adds, replaces and revokes single ones."`
}

func (a *api) update(ctx context.Context, in *sourceBody[SourceUpdate]) (SourceWithKey, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return SourceWithKey{}, err
	}
	b := &in.Body
	s, key, err := a.sources.Update(ctx, httpapi.CallOf(ctx).Workspace(), id, b.RotateKey, func(s *rimewatch.Source) (err error) {
		if b.Name != nil {
			s.Name = strings.TrimSpace(*b.Name)
		}
		if b.Template != nil || b.TemplateDocument != nil {
			if s.Template, s.Document, err = document(b.TemplateDocument, value(b.Template)); err != nil {
				return err
			}
		}
		if b.OnUnknown != nil {
			s.OnUnknown = rimewatch.OnUnknown(*b.OnUnknown)
		}
		if b.SiteID != nil {
			s.SiteID = *b.SiteID
		}
		if b.DefaultEquipmentType != nil {
			s.EquipmentType = *b.DefaultEquipmentType
		}
		if b.TimeZone != nil {
			s.TimeZone = *b.TimeZone
		}
		if b.Enabled != nil {
			s.Enabled = *b.Enabled
		}
		return b.Broker.apply(s)
	})
	if err != nil {
		return SourceWithKey{}, err
	}
	return a.withKey(ctx, &s, key)
}

// SourceData is the data of answers about one source.
type SourceData struct {
	Source SourceJSON `json:"source"`
}

func (a *api) get(ctx context.Context, in *SourceInput) (SourceData, error) {
	id, err := a.sourceID(ctx, in)
	if err != nil {
		return SourceData{}, err
	}
	s, err := a.sources.Source(ctx, httpapi.CallOf(ctx).Workspace(), id)
	if err != nil {
		return SourceData{}, err
	}
	shown, err := a.shown(ctx, &s)
	return SourceData{shown}, err
}

func (a *api) remove(ctx context.Context, in *SourceInput) (SourceData, error) {
	id, err := a.sourceID(ctx, in)
	if err != nil {
		return SourceData{}, err
	}
	workspaceID := httpapi.CallOf(ctx).Workspace()
	s, err := a.sources.Source(ctx, workspaceID, id)
	if err != nil {
		return SourceData{}, err
	}
	shown, err := a.shown(ctx, &s)
	if err == nil {
		err = a.sources.Delete(ctx, workspaceID, id)
	}
	return SourceData{shown}, err
}

// nameOf finds the name of the source that a call is about.
func (a *api) nameOf(c *httpapi.Call) (string, error) {
	id, err := a.sourceID(c.R.Context(), &SourceInput{ID: c.R.PathValue("id")})
	if err != nil {
		return "", err
	}
	s, err := a.sources.Source(c.R.Context(), c.Workspace(), id)
	return s.Name, err
}

// PreviewBody is a payload to be tried.
type PreviewBody struct {
	Payload          any               `json:"payload,omitempty" doc:"As the sender would send it."`
	Topic            string            `json:"topic,omitempty" maxLength:"256"`
	Query            map[string]string `json:"query,omitempty"`
	Template         string            `json:"template,omitempty" maxLength:"200" doc:"Another template than the source's."`
	TemplateDocument map[string]any    `json:"template_document,omitempty"`
}

func (a *api) preview(ctx context.Context, in *sourceBody[PreviewBody]) (inlet.ResultJSON, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return inlet.ResultJSON{}, err
	}
	b := &in.Body
	template, doc, err := document(b.TemplateDocument, b.Template)
	if err != nil {
		return inlet.ResultJSON{}, err
	}
	p := &inlet.Payload{Topic: b.Topic, Query: b.Query}
	if b.Payload != nil {
		if p.Body, err = json.Marshal(b.Payload); err != nil {
			return inlet.ResultJSON{}, err
		}
	}
	r, err := a.sources.Preview(ctx, httpapi.CallOf(ctx).Workspace(), id, template, doc, p)
	if err != nil {
		return inlet.ResultJSON{}, err
	}
	return r.JSON(httpapi.CallOf(ctx).Words().Say), nil
}

func (a *api) sourceRoutes() []httpapi.Route {
	read, admin := httpapi.Scope(rimewatch.ScopeDevicesRead), httpapi.Scope(rimewatch.ScopeSources)
	conflict := []rimewatch.Code{rimewatch.CodeConflict}
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/sources", ID: "list-sources", Tag: "Sources", Summary: "List sources", Access: read,
			Description: "Where readings come from in forms that are not this API's own, by id. The API itself is one: what came for unknown devices waits there.", Bind: httpapi.Handle(a.list)},
		{Method: http.MethodPost, Path: "/v1/sources", ID: "create-source", Tag: "Sources", Summary: "Create a source", Access: admin, Body: httpapi.JSONBody, Status: http.StatusCreated, Also: append([]rimewatch.Code{rimewatch.CodeQuotaExceeded}, conflict...),
			Description: "A source of kind push gets a key. Senders use it, or another one of `/v1/source-keys`, in the URL `/in/{key}` (any JSON; GET with parameters too), as the token or password of Influx line protocol (`/api/v2/write`, `/write`), and as the password at the MQTT listener. It is good for nothing else.", Bind: httpapi.Handle(a.create)},
		{Method: http.MethodGet, Path: "/v1/sources/{id}", ID: "get-source", Tag: "Sources", Summary: "Get a source", Access: read, Bind: httpapi.Handle(a.get)},
		{Method: http.MethodPatch, Path: "/v1/sources/{id}", ID: "update-source", Tag: "Sources", Summary: "Change a source", Access: admin, Body: httpapi.JSONBody, Also: conflict, Bind: httpapi.Handle(a.update)},
		{Method: http.MethodDelete, Path: "/v1/sources/{id}", ID: "delete-source", Tag: "Sources", Summary: "Delete a source", Access: admin, Also: conflict, Undo: httpapi.About(a.nameOf),
			Description: "Its keys, bindings and held payloads are deleted with it.", Bind: httpapi.Handle(a.remove)},
		{Method: http.MethodPost, Path: "/v1/sources/{id}/preview", ID: "preview-payload", Tag: "Sources", Summary: "Try a payload", Access: read, Body: httpapi.JSONBody,
			Description: "Shows how a payload would be read, each field with where it came from or why it is absent, and stores nothing.", Bind: httpapi.Handle(a.preview)},
		{Method: http.MethodGet, Path: "/v1/source-templates", ID: "list-source-templates", Tag: "Sources", Summary: "List built-in templates", Access: read, Bind: httpapi.Handle(a.templates)},
	}
}
