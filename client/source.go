package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// SourceOfAPI names the source that stands for the API itself, where readings of
// unknown devices wait.
const SourceOfAPI = "api"

// Source is where readings come from in forms that are not the API's own.
type Source struct {
	ID                   int64           `json:"id"`
	Kind                 string          `json:"kind"` // push, mqtt, api
	Name                 string          `json:"name"`
	Template             string          `json:"template"` // name of a built-in one, auto or own
	TemplateDocument     json.RawMessage `json:"template_document"`
	OnUnknown            string          `json:"on_unknown"` // hold, register, refuse
	SiteID               *int64          `json:"site_id"`
	DefaultEquipmentType *string         `json:"default_equipment_type"`
	TimeZone             *string         `json:"timezone"` // of times that come without one
	Enabled              bool            `json:"enabled"`
	KeyPrefix            *string         `json:"key_prefix"`
	Broker               *Broker         `json:"broker"` // of kind mqtt
	Received             Received        `json:"received"`
	CreatedAt            rimewatch.Time  `json:"created_at"`
	UpdatedAt            rimewatch.Time  `json:"updated_at"`
}

// Received counts the payloads and readings of a source since the service started.
type Received struct {
	Payloads      int64     `json:"payloads"`
	Accepted      int64     `json:"accepted"` // readings, like the others
	Duplicates    int64     `json:"duplicates"`
	Held          int64     `json:"held"`
	Rejected      int64     `json:"rejected"`
	Ignored       int64     `json:"ignored"`
	LeftOutValues int64     `json:"left_out_values"` // values of known senders that were not stored as measurements
	LeftOut       []LeftOut `json:"left_out"`        // the newest of them, one of each sender and field
}

// LeftOut is a value that was not stored as a measurement.
type LeftOut struct {
	ExternalID string         `json:"external_id"` // the sender's own name
	Field      string         `json:"field"`
	Value      string         `json:"value"` // as it was sent, shortened
	Reason     string         `json:"reason"`
	Count      int64          `json:"count"`
	At         rimewatch.Time `json:"at"` // of the newest
}

// Broker is the MQTT broker of a source.
type Broker struct {
	URL           string         `json:"url"`
	Username      string         `json:"username"`
	HasPassword   bool           `json:"has_password"`
	ClientID      string         `json:"client_id"`
	Topics        []string       `json:"topics"`
	Discovery     string         `json:"discovery_prefix"` // where a Home Assistant finds the devices; "" = nowhere
	Status        string         `json:"status"`           // connected, connecting, failing, off
	Problem       *string        `json:"problem"`
	StatusSince   rimewatch.Time `json:"status_since"`
	LastMessageAt rimewatch.Time `json:"last_message_at"`
	Messages      int64          `json:"messages"`
}

// List returns the workspace's sources, that of the API among them.
func (x Sources) List(ctx context.Context) ([]Source, error) {
	return one[[]Source](ctx, x.c, get("/sources", nil), "sources")
}

// Get returns a source by its number, or that of the API by SourceOfAPI.
func (x Sources) Get(ctx context.Context, id string) (Source, error) {
	return one[Source](ctx, x.c, get(sourcePath(id), nil), "source")
}

// Sources are the calls about sources and about who waits there.
type Sources struct{ c *Client }

// Sources returns the calls about sources.
func (c *Client) Sources() Sources { return Sources{c} }

func sourcePath(id string) string { return "/sources/" + url.PathEscape(id) }

// SourceKey is a key by which senders reach a source of kind push: never the key itself.
type SourceKey struct {
	ID        int64          `json:"id"`
	SourceID  int64          `json:"source_id"`
	Name      string         `json:"name"`
	Prefix    string         `json:"prefix"`
	MadeAt    rimewatch.Time `json:"made_at"` // of the present key: one that is replaced keeps its id and name
	UsedAt    rimewatch.Time `json:"used_at"` // 0: never
	Devices   int            `json:"device_count"`
	Heard     []HeardByKey   `json:"heard"` // the newest first, at most 100
	CreatedAt rimewatch.Time `json:"created_at"`
	UpdatedAt rimewatch.Time `json:"updated_at"`
}

// HeardByKey is a device that was heard by a key.
type HeardByKey struct {
	Serial string         `json:"device_serial"`
	Name   string         `json:"name"`
	At     rimewatch.Time `json:"at"` // before MadeAt: not by the present key yet
}

// GivenKey is a key that was just made. It is given out this once.
type GivenKey struct {
	SourceKey SourceKey `json:"source_key"`
	Key       string    `json:"key"`
	URL       string    `json:"url"`      // where its payloads go
	MQTTURL   string    `json:"mqtt_url"` // "" = the server takes in no MQTT
}

// Keys returns the keys of a source by id, of all sources for 0.
func (x Sources) Keys(ctx context.Context, source int64) ([]SourceKey, error) {
	var q url.Values
	if source != 0 {
		q = url.Values{"source_id": {strconv.FormatInt(source, 10)}}
	}
	return one[[]SourceKey](ctx, x.c, get("/source-keys", q), "source_keys")
}

// AddKey adds a key to a source; the others stay.
func (x Sources) AddKey(ctx context.Context, source int64, name string) (GivenKey, error) {
	return fetch[GivenKey](ctx, x.c, send(http.MethodPost, "/source-keys", map[string]any{"source_id": source, "name": name}, false))
}

func keyPath(id int64) string { return "/source-keys/" + strconv.FormatInt(id, 10) }

// NameKey sets the name of a key, such as that of its holder.
func (x Sources) NameKey(ctx context.Context, id int64, name string) (SourceKey, error) {
	return one[SourceKey](ctx, x.c, send(http.MethodPatch, keyPath(id), map[string]any{"name": name}, true), "source_key")
}

// ReplaceKey makes a new key in the place of one, which is refused at once.
func (x Sources) ReplaceKey(ctx context.Context, id int64) (GivenKey, error) {
	return fetch[GivenKey](ctx, x.c, post(keyPath(id)+"/replace"))
}

// RevokeKey deletes a key: its senders are refused from then on.
func (x Sources) RevokeKey(ctx context.Context, id int64) error {
	return remove(ctx, x.c, keyPath(id))
}

// SourceTemplate is a built-in template.
type SourceTemplate struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	Document json.RawMessage `json:"document"`
}

// Templates lists the built-in templates.
func (x Sources) Templates(ctx context.Context) ([]SourceTemplate, error) {
	return one[[]SourceTemplate](ctx, x.c, get("/source-templates", nil), "templates")
}

// HeldSender is a sender with waiting payloads.
type HeldSender struct {
	ExternalID      string          `json:"external_id"`
	Label           string          `json:"label"`
	Reason          string          `json:"reason"`
	Payloads        int64           `json:"payloads"`
	Bytes           int64           `json:"bytes"`
	FirstAt         rimewatch.Time  `json:"first_at"`
	LastAt          rimewatch.Time  `json:"last_at"`
	SuggestedSerial string          `json:"suggested_serial"`
	Sample          string          `json:"sample"`  // the beginning of the newest payload
	Preview         json.RawMessage `json:"preview"` // what it would become; null for line protocol
}

// Held yields the senders of a source that wait, the newest first.
func (x Sources) Held(ctx context.Context, source string) iter.Seq2[HeldSender, error] {
	return func(yield func(HeldSender, error) bool) {
		for page := 1; ; page++ {
			data, err := fetch[struct {
				Senders    []HeldSender `json:"senders"`
				Pagination Pagination   `json:"pagination"`
			}](ctx, x.c, get(sourcePath(source)+"/held", url.Values{"page": {strconv.Itoa(page)}, "per_page": {"100"}}))
			if err != nil {
				yield(HeldSender{}, err)
				return
			}
			for i := range data.Senders {
				if !yield(data.Senders[i], nil) {
					return
				}
			}
			if page >= data.Pagination.LastPage {
				return
			}
		}
	}
}

// SenderBinding ties a sender to a device, which is created where it does not
// exist.
type SenderBinding struct {
	ExternalID    string          `json:"external_id"`
	DeviceSerial  string          `json:"device_serial,omitempty"`  // "" = external_id as a serial
	Name          string          `json:"name,omitempty"`           // of a device that is created
	EquipmentType string          `json:"equipment_type,omitempty"` // likewise
	SiteID        *int64          `json:"site_id,omitempty"`        // likewise
	Fields        json.RawMessage `json:"fields,omitempty"`         // which value is which measurement; nil = as the template says
}

// SourceOutcome counts the outcomes of payloads.
type SourceOutcome struct {
	Accepted   int      `json:"accepted"`
	Duplicates int      `json:"duplicates"`
	Held       int      `json:"held"`
	Rejected   int      `json:"rejected"`
	Ignored    int      `json:"ignored"`
	Retained   int      `json:"retained"`
	Problems   []string `json:"problems"`
}

// Bind accepts senders, and stores their waiting payloads.
func (x Sources) Bind(ctx context.Context, source string, list []SenderBinding) (SourceOutcome, error) {
	call := send(http.MethodPost, sourcePath(source)+"/bind", map[string]any{"bindings": list}, true)
	return fetch[SourceOutcome](ctx, x.c, call)
}

// BindCSV accepts the senders of a list: CSV with a header of external_id and any
// of device_serial, name, equipment_type and site_id. With dryRun it is checked
// only.
func (x Sources) BindCSV(ctx context.Context, source string, csv []byte, dryRun bool) (rows int, outcome SourceOutcome, err error) {
	call := &call{method: http.MethodPost, path: "/api/v1" + sourcePath(source) + "/bindings/import", body: csv, contentType: typeCSV, idempotent: true}
	if dryRun {
		call.query = url.Values{"dry_run": {"true"}}
	}
	if err := x.c.o.Encoding.encode(call); err != nil {
		return 0, SourceOutcome{}, err
	}
	data, err := fetch[struct {
		Rows int `json:"rows"`
		SourceOutcome
	}](ctx, x.c, call)
	return data.Rows, data.SourceOutcome, err
}

// Binding ties a sender to a device.
type Binding struct {
	ExternalID   string          `json:"external_id"`
	DeviceSerial string          `json:"device_serial"`
	Fields       json.RawMessage `json:"fields"` // null: as the template says
	CreatedAt    rimewatch.Time  `json:"created_at"`
}

// Bindings lists the bindings of a source.
func (x Sources) Bindings(ctx context.Context, source string) ([]Binding, error) {
	return one[[]Binding](ctx, x.c, get(sourcePath(source)+"/bindings", nil), "bindings")
}

// Unbind ends a binding.
func (x Sources) Unbind(ctx context.Context, source, externalID, serial string) error {
	_, err := fetch[struct{}](ctx, x.c, &call{method: http.MethodDelete, path: "/api/v1" + sourcePath(source) + "/bindings",
		query: url.Values{"external_id": {externalID}, "device_serial": {serial}}, idempotent: true})
	return err
}

// Replay reads the waiting payloads of a sender again.
func (x Sources) Replay(ctx context.Context, source, externalID string) (SourceOutcome, error) {
	return fetch[SourceOutcome](ctx, x.c, &call{method: http.MethodPost, path: "/api/v1" + sourcePath(source) + "/replay",
		query: url.Values{"external_id": {externalID}}, idempotent: true})
}

// DropHeld deletes the waiting payloads of a sender and returns their number.
func (x Sources) DropHeld(ctx context.Context, source, externalID string) (int, error) {
	data, err := fetch[struct {
		Deleted int `json:"deleted"`
	}](ctx, x.c, &call{method: http.MethodDelete, path: "/api/v1" + sourcePath(source) + "/held",
		query: url.Values{"external_id": {externalID}}, idempotent: true})
	return data.Deleted, err
}
