package inlets

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// HeldInput names a page of the senders of a source that wait.
type HeldInput struct {
	SourceInput
	Page    int64 `query:"page" minimum:"1" default:"1"`
	PerPage int64 `query:"per_page" minimum:"1" default:"15" doc:"More than 100 is taken as 100."`
}

// HeldList are senders of whom payloads wait.
type HeldList struct {
	Senders    []HeldSenderJSON `json:"senders"`
	Pagination wire.Pagination  `json:"pagination"`
}

// HeldSenderJSON is a sender of whom payloads wait.
type HeldSenderJSON struct {
	ExternalID      string            `json:"external_id"`
	Label           string            `json:"label"`
	Reason          string            `json:"reason"`
	Payloads        int64             `json:"payloads"`
	Bytes           int64             `json:"bytes"`
	FirstAt         rimewatch.Time    `json:"first_at" nullable:"false"`
	LastAt          rimewatch.Time    `json:"last_at" nullable:"false"`
	SuggestedSerial string            `json:"suggested_serial"`
	Sample          string            `json:"sample" doc:"The beginning of the newest payload in which a measurement is recognised, among the last twenty; otherwise of the newest."`
	Preview         *inlet.ResultJSON `json:"preview" doc:"How it would be read; null for line protocol."`
}

func (a *api) held(ctx context.Context, in *HeldInput) (HeldList, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return HeldList{}, err
	}
	c := httpapi.CallOf(ctx)
	page := httpapi.PageInput{Page: in.Page, PerPage: in.PerPage}
	list, total, err := a.sources.Waiting(ctx, c.Workspace(), id, store.Page{Limit: page.Size(), Offset: page.Offset()})
	if err != nil {
		return HeldList{}, err
	}
	say := c.Words().Say
	out := HeldList{Senders: make([]HeldSenderJSON, len(list))}
	for i := range list {
		w := &list[i]
		const shown = 2000
		j := HeldSenderJSON{ExternalID: w.ExternalID, Label: w.Label, Reason: rimewatch.SentenceOf(w.Reason).In(say), Payloads: w.Count, Bytes: w.Bytes, FirstAt: w.FirstAt, LastAt: w.LastAt,
			SuggestedSerial: source.SerialOf(w.ExternalID), Sample: strings.ToValidUTF8(string(w.Body[:min(len(w.Body), shown)]), "")}
		if w.Result != nil {
			preview := w.Result.JSON(say)
			j.Preview = &preview
		}
		out.Senders[i] = j
	}
	out.Pagination = c.Pagination(&page, len(list), total)
	return out, nil
}

// BindBody ties senders to devices.
type BindBody struct {
	Bindings []BindingSettings `json:"bindings" minItems:"1" maxItems:"1000"`
}

// BindingSettings ties one sender to one device.
type BindingSettings struct {
	ExternalID    string                `json:"external_id" maxLength:"128" doc:"What the sender calls itself. Several bindings of one sender are several devices."`
	DeviceSerial  string                `json:"device_serial,omitempty" maxLength:"64" doc:"A device that does not exist is created. Default: external_id as a serial."`
	Name          string                `json:"name,omitempty" maxLength:"200" doc:"Of a device that is created."`
	EquipmentType string                `json:"equipment_type,omitempty" maxLength:"200" doc:"Likewise."`
	SiteID        *int64                `json:"site_id,omitempty" nullable:"true" doc:"Likewise."`
	OfflineAfterS int                   `json:"offline_after_s,omitempty" minimum:"0" maximum:"2592000" doc:"Likewise: s of silence before it is offline; 0 or absent: learned from how it reports."`
	Fields        map[string]inlet.Rule `json:"fields,omitempty" doc:"Which value is which measurement, by its name. Absent: as in the template."`
}

// OutcomeData is what became of payloads.
type OutcomeData struct {
	source.Outcome
}

func (a *api) bind(ctx context.Context, in *sourceBody[BindBody]) (OutcomeData, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return OutcomeData{}, err
	}
	list := make([]source.Bound, len(in.Body.Bindings))
	for i, b := range in.Body.Bindings {
		list[i] = source.Bound{ExternalID: b.ExternalID, Serial: b.DeviceSerial, Name: b.Name, EquipmentType: b.EquipmentType, SiteID: value(b.SiteID), OfflineAfterS: b.OfflineAfterS}
		if len(b.Fields) > 0 {
			rules, err := json.Marshal(b.Fields)
			if err != nil {
				return OutcomeData{}, err
			}
			list[i].Fields = string(rules)
		}
	}
	o, err := a.sources.Bind(ctx, httpapi.CallOf(ctx).Workspace(), id, list)
	return OutcomeData{o.In(httpapi.CallOf(ctx).Words().Say)}, err
}

// BindingList are the bindings of a source.
type BindingList struct {
	Bindings []BindingJSON `json:"bindings"`
}

// BindingJSON ties a sender to a device.
type BindingJSON struct {
	ExternalID   string                     `json:"external_id"`
	DeviceSerial string                     `json:"device_serial"`
	Fields       wire.Maybe[map[string]any] `json:"fields" doc:"null: as in the template."`
	CreatedAt    rimewatch.Time             `json:"created_at" nullable:"false"`
}

func (a *api) bindings(ctx context.Context, in *SourceInput) (BindingList, error) {
	id, err := a.sourceID(ctx, in)
	if err != nil {
		return BindingList{}, err
	}
	list, err := a.sources.Bindings(ctx, httpapi.CallOf(ctx).Workspace(), id)
	if err != nil {
		return BindingList{}, err
	}
	out := BindingList{make([]BindingJSON, len(list))}
	for i := range list {
		b := &list[i]
		out.Bindings[i] = BindingJSON{ExternalID: b.ExternalID, DeviceSerial: b.Serial, CreatedAt: b.CreatedAt}
		if b.Fields != "" {
			if err := json.Unmarshal([]byte(b.Fields), &out.Bindings[i].Fields.Value); err != nil {
				return BindingList{}, err
			}
		}
	}
	return out, nil
}

// UnbindInput names a binding.
type UnbindInput struct {
	SourceInput
	ExternalID   string `query:"external_id" maxLength:"128"`
	DeviceSerial string `query:"device_serial" maxLength:"64"`
}

func (a *api) unbind(ctx context.Context, in *UnbindInput) (wire.EmptyObject, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return wire.EmptyObject{}, err
	}
	return wire.EmptyObject{}, a.sources.Unbind(ctx, httpapi.CallOf(ctx).Workspace(), id, in.ExternalID, in.DeviceSerial)
}

// SenderInput names a sender of a source.
type SenderInput struct {
	SourceInput
	ExternalID string `query:"external_id" maxLength:"128" doc:"Empty: payloads whose sender could not be found out."`
}

func (a *api) replay(ctx context.Context, in *SenderInput) (OutcomeData, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return OutcomeData{}, err
	}
	o, err := a.sources.Replay(ctx, httpapi.CallOf(ctx).Workspace(), id, in.ExternalID)
	return OutcomeData{o.In(httpapi.CallOf(ctx).Words().Say)}, err
}

// Dropped is how many payloads were deleted.
type Dropped struct {
	Deleted int `json:"deleted"`
}

func (a *api) drop(ctx context.Context, in *SenderInput) (Dropped, error) {
	id, err := a.sourceID(ctx, &in.SourceInput)
	if err != nil {
		return Dropped{}, err
	}
	n, err := a.sources.Drop(ctx, httpapi.CallOf(ctx).Workspace(), id, in.ExternalID)
	return Dropped{n}, err
}

func (a *api) heldRoutes() []httpapi.Route {
	read, write := httpapi.Scope(rimewatch.ScopeDevicesRead), httpapi.Scope(rimewatch.ScopeDevicesWrite)
	conflict := []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeQuotaExceeded}
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/sources/{id}/held", ID: "list-held", Tag: "Sources", Summary: "List waiting senders", Access: read, Paged: true,
			Description: "Senders that are bound to no device, or whose payloads could not be read, the newest first. What they send is kept as it came for seven days: 64 MiB or 10,000 senders a workspace; what goes beyond that is refused, and never displaces what waits.", Bind: httpapi.Handle(a.held)},
		{Method: http.MethodDelete, Path: "/v1/sources/{id}/held", ID: "drop-held", Tag: "Sources", Summary: "Delete what waits of a sender", Access: write, Bind: httpapi.Handle(a.drop)},
		{Method: http.MethodPost, Path: "/v1/sources/{id}/bind", ID: "bind-senders", Tag: "Sources", Summary: "Accept senders", Access: write, Repeats: true, Body: httpapi.JSONBody, Also: conflict,
			Description: "Binds senders to devices, creates devices that do not exist, and stores what was waiting, with its own times.", Bind: httpapi.Handle(a.bind)},
		{Method: http.MethodPost, Path: "/v1/sources/{id}/bindings/import", ID: "import-bindings", Tag: "Sources", Summary: "Accept senders by a list", Access: write, Also: conflict,
			Body:        httpapi.BodyRule{Types: []string{httpapi.TypeCSV}, Bulk: true},
			Description: "A CSV that says which sender is which device: a header with external_id and any of device_serial, name, equipment_type and site_id, separated by commas or semicolons, up to 5,000 rows. Senders that do not wait yet may be in it. A list with a mistake changes nothing.", Bind: httpapi.Raw[BindFileInput, BindFileResult](a.bindFile)},
		{Method: http.MethodPost, Path: "/v1/sources/{id}/replay", ID: "replay-held", Tag: "Sources", Summary: "Read again what waits of a sender", Access: write, Repeats: true,
			Description: "Use it after changing the template. What can now be stored is stored, once; the rest goes on waiting.", Bind: httpapi.Handle(a.replay)},
		{Method: http.MethodGet, Path: "/v1/sources/{id}/bindings", ID: "list-bindings", Tag: "Sources", Summary: "List bindings", Access: read, Bind: httpapi.Handle(a.bindings)},
		{Method: http.MethodDelete, Path: "/v1/sources/{id}/bindings", ID: "delete-binding", Tag: "Sources", Summary: "End a binding", Access: write, Bind: httpapi.Handle(a.unbind)},
	}
}
