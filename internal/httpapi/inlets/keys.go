package inlets

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// SourceKeyJSON is a key of a source in answers: never the key itself.
type SourceKeyJSON struct {
	ID        int64          `json:"id"`
	SourceID  int64          `json:"source_id"`
	Name      string         `json:"name" doc:"Who has it, in people's own words; may be empty."`
	Prefix    string         `json:"prefix" doc:"Its beginning, to recognise it by."`
	MadeAt    rimewatch.Time `json:"made_at" nullable:"false" doc:"When the present key was made: one that is replaced keeps its id and its name."`
	UsedAt    rimewatch.Time `json:"used_at" doc:"When something was last heard by it, or by the key that it replaced; null: never."`
	Devices   int            `json:"device_count" doc:"How many devices were heard by it, or by the key that it replaced."`
	Heard     []HeardJSON    `json:"heard" doc:"Those devices, the newest first, at most 100."`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt rimewatch.Time `json:"updated_at" nullable:"false"`
}

// HeardJSON is a device that was heard by a key.
type HeardJSON struct {
	Serial string         `json:"device_serial"`
	Name   string         `json:"name"`
	At     rimewatch.Time `json:"at" nullable:"false" doc:"When it was last heard by this key; before made_at: not by the present one yet."`
}

// maxHeard is how many devices are listed of a key.
const maxHeard = 100

// SourceKeyList are keys of sources.
type SourceKeyList struct {
	httpapi.Paged
	Keys []SourceKeyJSON `json:"source_keys"`
}

// SourceKeyData is the data of answers about one key.
type SourceKeyData struct {
	SourceKey SourceKeyJSON `json:"source_key"`
}

// SourceKeyGiven is the data of answers that give a key out.
type SourceKeyGiven struct {
	SourceKeyData
	GivenKey
}

// SourceKeyLater is the data of the answer to a person who replaces a key.
type SourceKeyLater struct {
	httpapi.ActData
	GivenKey
}

// keptKey is a new key that waits: of the key itself nothing is kept.
type keptKey struct {
	Hash   []byte `json:"hash"`
	Prefix string `json:"prefix"`
}

// keysJSON adds to keys who was heard by them.
func (a *api) keysJSON(ctx context.Context, list []rimewatch.SourceKey) ([]SourceKeyJSON, error) {
	only := int64(0)
	if len(list) == 1 {
		only = list[0].ID
	}
	uses, err := a.sources.KeyUses(ctx, httpapi.CallOf(ctx).Workspace(), only)
	out := make([]SourceKeyJSON, len(list))
	of := make(map[int64]*SourceKeyJSON, len(list))
	for i := range list {
		k := &list[i]
		out[i] = SourceKeyJSON{ID: k.ID, SourceID: k.SourceID, Name: k.Name, Prefix: k.Prefix, MadeAt: k.MadeAt, Heard: []HeardJSON{}, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
		of[k.ID] = &out[i]
	}
	for i := range uses {
		u, j := &uses[i], of[uses[i].KeyID]
		if j == nil {
			continue
		}
		j.UsedAt = max(j.UsedAt, u.At)
		if u.DeviceID == 0 {
			continue
		}
		j.Devices++
		if len(j.Heard) < maxHeard {
			j.Heard = append(j.Heard, HeardJSON{u.Serial, u.Name, u.At})
		}
	}
	return out, err
}

func (a *api) listKeys(ctx context.Context, list []rimewatch.SourceKey) (SourceKeyList, error) {
	keys, err := a.keysJSON(ctx, list)
	return SourceKeyList{Keys: keys}, err
}

func (a *api) showKey(ctx context.Context, k *rimewatch.SourceKey) (SourceKeyData, error) {
	keys, err := a.keysJSON(ctx, []rimewatch.SourceKey{*k})
	return SourceKeyData{keys[0]}, err
}

// SourceKeyListInput selects keys.
type SourceKeyListInput struct {
	httpapi.AllOrPage
	SourceID int64 `query:"source_id" minimum:"1" doc:"Only those of this source."`
}

func selectKeys(_ *httpapi.Call, in *SourceKeyListInput) store.Selection {
	return store.Selection{Of: in.SourceID}
}

// SourceKeyCreate is the body that makes a key.
type SourceKeyCreate struct {
	SourceID int64  `json:"source_id" minimum:"1"`
	Name     string `json:"name,omitempty" maxLength:"200" example:"Board in the kitchen"`
}

// SourceKeyUpdate is the body that changes a key. Absent fields stay as they are.
type SourceKeyUpdate struct {
	Name *string `json:"name,omitempty" maxLength:"200"`
}

func editKey(ctx context.Context, b *SourceKeyUpdate) (func(*rimewatch.SourceKey) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(k *rimewatch.SourceKey) error {
		httpapi.Sent(&k.Name, b.Name)
		k.UpdatedAt = now
		return nil
	}, nil
}

func (a *api) keyRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.SourceKey]{
		Path: "/v1/source-keys", ID: "source-key", Tag: "Sources", One: "a key of a source", Many: "keys of sources",
		Read: httpapi.Scope(rimewatch.ScopeDevicesRead), Write: httpapi.Scope(rimewatch.ScopeSources),
		Things:  func(context.Context) store.Resource[rimewatch.SourceKey] { return a.sources.Keys() },
		Key:     func(k *rimewatch.SourceKey) (id, revision int64) { return k.ID, k.Revision },
		Named:   func(k *rimewatch.SourceKey) string { return k.Name },
		Cursors: &a.cursors,

		ListText:   "The keys by which senders reach sources of kind push, with who was heard by each, by id.",
		CreateText: "Adds a key to a source; the others stay. At most 1000 in a workspace; 409 beyond that.",
		DeleteText: "What sends with it is refused from then on: see heard before.",
	}
	given := func(ctx context.Context, k *rimewatch.SourceKey, key string) (out SourceKeyGiven, err error) {
		out.SourceKeyData, err = a.showKey(ctx, k)
		out.GivenKey = a.given(ctx, key)
		return out, err
	}
	create := r.CreateRow(httpapi.Handle(func(ctx context.Context, in *httpapi.BodyInput[SourceKeyCreate]) (out SourceKeyGiven, err error) {
		k := rimewatch.SourceKey{WorkspaceID: httpapi.CallOf(ctx).Workspace(), SourceID: in.Body.SourceID, Name: strings.TrimSpace(in.Body.Name)}
		key, err := a.sources.CreateKey(ctx, &k)
		if err != nil {
			return out, err
		}
		r.Made(ctx, &k)
		return given(ctx, &k, key)
	}))
	replace := httpapi.Route{Method: http.MethodPost, Path: r.Path + "/{id}/replace", ID: "replace-source-key", Tag: r.Tag, Summary: "Replace a key of a source", Access: r.Write, Revised: true,
		Description: "A new key in the place of this one, which is refused at once, or, where a person replaces it, from effective_at of the act on: the new key is known from then on. The source's other keys stay.",
		Accepted:    reflect.TypeFor[SourceKeyLater](),
		Undo: func(c *httpapi.Call) (d httpapi.Delay, err error) {
			if d.About, err = r.Name(c); err != nil {
				return d, err
			}
			made, key := a.sources.PrepareKey()
			kept, err := json.Marshal(keptKey{made.Hash[:], made.Prefix})
			d.Keep = string(kept)
			d.Answer = func(act httpapi.ActJSON) any {
				return SourceKeyLater{httpapi.ActData{Act: act}, a.given(c.R.Context(), key)}
			}
			return d, err
		},
		Bind: httpapi.Handle(func(ctx context.Context, in *httpapi.IDInput) (out SourceKeyGiven, err error) {
			c := httpapi.CallOf(ctx)
			if kept := c.Kept(); kept != "" {
				var made keptKey
				if err := json.Unmarshal([]byte(kept), &made); err != nil {
					return out, err
				}
				by := rimewatch.SourceKey{Hash: [32]byte(made.Hash), Prefix: made.Prefix}
				k, err := a.sources.ReplaceKeyBy(ctx, c.Workspace(), in.Number(), &by)
				if err == nil {
					out.SourceKeyData, err = a.showKey(ctx, &k)
				}
				return out, err
			}
			k, key, err := a.sources.ReplaceKey(ctx, c.Workspace(), in.Number())
			if err != nil {
				return out, err
			}
			r.Edited(ctx, &k)
			return given(ctx, &k, key)
		})}
	return []httpapi.Route{httpapi.List(r, selectKeys, a.listKeys), create, httpapi.Get(r, a.showKey), httpapi.Update(r, editKey, a.showKey), replace, httpapi.Delete(r)}
}
