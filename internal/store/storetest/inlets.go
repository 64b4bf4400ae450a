package storetest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Inlets checks the part of a store that keeps sources, bindings and what waits,
// as Control does the rest.
func Inlets(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		run  func(inlets)
	}{
		{"sources", inlets.sources},
		{"source rules", inlets.sourceRules},
		{"keys of a source", inlets.keys},
		{"who is heard by a key", inlets.keyUses},
		{"source of the API", inlets.apiSource},
		{"bindings", inlets.bindings},
		{"what waits", inlets.held},
		{"what waits of a serial", inlets.heldSerial},
		{"as much as may wait", inlets.heldBounds},
		{"what waits at once", inlets.heldAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(inlets{&control{T: t, ctx: t.Context(), s: open(t)}})
		})
	}
}

type inlets struct{ *control }

func aSource(workspaceID int64, name string) rimewatch.Source {
	return rimewatch.Source{
		WorkspaceID: workspaceID, Kind: rimewatch.SourcePush, Name: name, Template: rimewatch.TemplateAuto, OnUnknown: rimewatch.HoldUnknown, EquipmentType: "walkin_freezer",
		Enabled: true, CreatedAt: t0, UpdatedAt: t0,
	}
}

func (c inlets) source(x rimewatch.Source) rimewatch.Source {
	c.Helper()
	c.ok(c.s.Inlets().Sources().Create(c.ctx, &x))
	return x
}

func (c inlets) sources() {
	a, b := c.workspace("a"), c.workspace("b")
	site := rimewatch.Site{WorkspaceID: a.ID, Name: "Kitchen", TimeZone: "UTC", CreatedAt: t0, UpdatedAt: t0}
	c.ok(c.s.Sites().Create(c.ctx, &site))
	x, foreign := c.source(aSource(a.ID, "LoRa")), c.source(aSource(b.ID, "LoRa"))
	y := rimewatch.Source{
		WorkspaceID: a.ID, Kind: rimewatch.SourceMQTT, Name: "broker", Template: rimewatch.TemplateOwn, Document: `{"version":1}`, OnUnknown: rimewatch.RegisterUnknown,
		SiteID: site.ID, Broker: rimewatch.Broker{URL: "mqtts://broker:8883", Username: "u", Password: "p", Topics: []string{"zigbee2mqtt/#"}}, CreatedAt: t0, UpdatedAt: t0,
	}
	y = c.source(y)
	all, err := c.s.Everywhere().AllSources(c.ctx, rimewatch.SourcePush)
	c.ok(err)
	c.same(all, []rimewatch.Source{x, foreign})
	for _, id := range []int64{foreign.ID, 99, 0, -1} {
		c.code(c.s.Inlets().PutBindings(c.ctx, a.ID, id, []rimewatch.Binding{{ExternalID: "x", Serial: "X"}}), rimewatch.CodeNotFound)
		_, _, err = c.s.Inlets().HeldSenders(c.ctx, a.ID, id, store.Page{Limit: 10})
		c.code(err, rimewatch.CodeNotFound)
	}
	changed, err := c.s.Inlets().Sources().Update(c.ctx, a.ID, x.ID, func(s *rimewatch.Source) error {
		s.Kind, s.Name = rimewatch.SourceMQTT, "LORA"
		return nil
	})
	c.ok(err)
	c.same(changed.Kind, rimewatch.SourcePush)
	c.ok(c.s.Sites().Delete(c.ctx, a.ID, site.ID))
	got, err := c.s.Inlets().Sources().Get(c.ctx, a.ID, y.ID)
	c.ok(err)
	y.SiteID = 0
	c.same(got, y)
}

func (c inlets) sourceRules() {
	w := c.workspace("a")
	c.source(aSource(w.ID, "taken"))
	twin := aSource(w.ID, "TAKEN")
	c.code(c.s.Inlets().Sources().Create(c.ctx, &twin), rimewatch.CodeConflict)
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.Source)
	}{
		{"name", func(s *rimewatch.Source) { s.Name = " " }},
		{"kind", func(s *rimewatch.Source) { s.Kind = "pigeon" }},
		{"template", func(s *rimewatch.Source) { s.Template = rimewatch.TemplateOwn }},
		{"template", func(s *rimewatch.Source) { s.Document = "{}" }},
		{"on_unknown", func(s *rimewatch.Source) { s.OnUnknown = "" }},
		{"equipment_type", func(s *rimewatch.Source) { s.EquipmentType = strings.Repeat("x", 300) }},
		{"site_id", func(s *rimewatch.Source) { s.SiteID = 77 }},
		{"broker.url", func(s *rimewatch.Source) { s.Kind, s.Broker.URL = rimewatch.SourceMQTT, "http://x" }},
		{"broker.topics", func(s *rimewatch.Source) {
			s.Kind, s.Broker = rimewatch.SourceMQTT, rimewatch.Broker{URL: "mqtt://x", Topics: []string{"$SYS/#"}}
		}},
		{"broker.topics", func(s *rimewatch.Source) {
			s.Kind, s.Broker = rimewatch.SourceMQTT, rimewatch.Broker{URL: "mqtt://x", Topics: []string{"a/#/b"}}
		}},
	} {
		s := aSource(w.ID, "x")
		bad.change(&s)
		c.field(c.s.Inlets().Sources().Create(c.ctx, &s), bad.field)
	}
}

func aSourceKey(workspaceID, sourceID int64, name string) rimewatch.SourceKey {
	return rimewatch.SourceKey{
		WorkspaceID: workspaceID, SourceID: sourceID, Name: name, Hash: sha256.Sum256(fmt.Appendf(nil, "%d %d %s", workspaceID, sourceID, name)), Prefix: "in_abcd", MadeAt: t0, CreatedAt: t0, UpdatedAt: t0,
	}
}

func (c inlets) key(x rimewatch.SourceKey) rimewatch.SourceKey {
	c.Helper()
	c.ok(c.s.Inlets().SourceKeys().Create(c.ctx, &x))
	return x
}

// keys: each opens its source and no other, until it is replaced, deleted, or its source is.
func (c inlets) keys() {
	a, b := c.workspace("a"), c.workspace("b")
	x, y, foreign := c.source(aSource(a.ID, "x")), c.source(aSource(a.ID, "y")), c.source(aSource(b.ID, "x"))
	opens := func(k rimewatch.SourceKey, want rimewatch.Source) {
		c.Helper()
		got, id, err := c.s.Inlets().SourceByKey(c.ctx, k.Hash)
		c.ok(err)
		c.same(got, want)
		c.same(id, k.ID)
	}
	shut := func(hash [32]byte) {
		c.Helper()
		_, _, err := c.s.Inlets().SourceByKey(c.ctx, hash)
		c.code(err, rimewatch.CodeNotFound)
	}
	first, second, other := c.key(aSourceKey(a.ID, x.ID, "board")), c.key(aSourceKey(a.ID, x.ID, "gateway")), c.key(aSourceKey(a.ID, y.ID, ""))
	for _, k := range []rimewatch.SourceKey{first, second} {
		opens(k, x)
	}
	opens(other, y)
	of, total, err := c.s.Inlets().SourceKeys().Select(c.ctx, a.ID, store.Selection{Of: x.ID, Page: store.Page{Limit: 10}})
	c.ok(err)
	c.same(of, []rimewatch.SourceKey{first, second})
	c.same(total, 2)
	none, _, err := c.s.Inlets().Sources().Select(c.ctx, a.ID, store.Selection{Of: x.ID})
	c.ok(err)
	c.same(len(none), 0)

	twin := aSourceKey(a.ID, y.ID, "twin")
	twin.Hash = first.Hash
	c.code(c.s.Inlets().SourceKeys().Create(c.ctx, &twin), rimewatch.CodeNotFound)
	api, err := c.s.Inlets().APISource(c.ctx, a.ID, t0)
	c.ok(err)
	for _, id := range []int64{foreign.ID, api.ID, 99, 0} {
		k := aSourceKey(a.ID, id, "x")
		c.field(c.s.Inlets().SourceKeys().Create(c.ctx, &k), "source_id")
	}
	nothing := aSourceKey(a.ID, x.ID, "x")
	nothing.Hash = [32]byte{}
	c.field(c.s.Inlets().SourceKeys().Create(c.ctx, &nothing), "key")

	changed, err := c.s.Inlets().SourceKeys().Update(c.ctx, a.ID, first.ID, func(k *rimewatch.SourceKey) error {
		k.SourceID, k.Hash, k.MadeAt = y.ID, sha256.Sum256([]byte("new")), t0+5
		return nil
	})
	c.ok(err)
	c.same(changed.SourceID, x.ID)
	shut(first.Hash)
	opens(changed, x)
	c.ok(c.s.Inlets().SourceKeys().Delete(c.ctx, a.ID, second.ID))
	shut(second.Hash)
	c.ok(c.s.Inlets().Sources().Delete(c.ctx, a.ID, x.ID))
	shut(changed.Hash)
	opens(other, y)
	actions := map[string]int{}
	list, _, err := c.s.Audit().AuditEntries(c.ctx, a.ID, "", "", store.Page{Limit: 50})
	c.ok(err)
	for i := range list {
		actions[list[i].Action]++
	}
	c.same([]int{actions["source_key.created"], actions["source_key.replaced"], actions["source_key.deleted"]}, []int{3, 1, 1})
}

// keyUses: the newest use of each key by each device is remembered as long as both are.
func (c inlets) keyUses() {
	a, b := c.workspace("a"), c.workspace("b")
	x := c.source(aSource(a.ID, "x"))
	k, l := c.key(aSourceKey(a.ID, x.ID, "k")), c.key(aSourceKey(a.ID, x.ID, "l"))
	c.ok(c.s.Recover(c.ctx, 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil }))
	d := rimewatch.Device{ID: c.s.NewDeviceID(), WorkspaceID: a.ID, Serial: "F-1", Name: "Freezer", EquipmentType: "other"}
	made := &store.DeviceOp{WorkspaceID: a.ID, Serial: d.Serial, Create: &d}
	c.ok(Commit(c.ctx, c.s, &store.Group{Now: t0, Devices: []*store.DeviceOp{made}}, &store.Effects{}))
	c.ok(made.Err)
	c.ok(c.s.Inlets().NoteKeyUses(c.ctx, a.ID, []rimewatch.KeyUse{{KeyID: k.ID, DeviceID: d.ID, At: t0 + 9}, {KeyID: k.ID, At: t0}, {KeyID: l.ID, DeviceID: d.ID, At: t0 + 3}, {KeyID: 77, DeviceID: d.ID, At: t0}}))
	c.ok(c.s.Inlets().NoteKeyUses(c.ctx, a.ID, []rimewatch.KeyUse{{KeyID: k.ID, DeviceID: d.ID, At: t0 + 5}, {KeyID: k.ID, At: t0 + 4}}))
	c.ok(c.s.Inlets().NoteKeyUses(c.ctx, b.ID, []rimewatch.KeyUse{{KeyID: k.ID, DeviceID: d.ID, At: t0 + 99}})) // not its own
	want := []rimewatch.KeyUse{
		{KeyID: k.ID, DeviceID: d.ID, Serial: "F-1", Name: "Freezer", At: t0 + 9}, {KeyID: k.ID, At: t0 + 4}, {KeyID: l.ID, DeviceID: d.ID, Serial: "F-1", Name: "Freezer", At: t0 + 3},
	}
	check := func(workspaceID, keyID int64, want []rimewatch.KeyUse) {
		c.Helper()
		got, err := c.s.Inlets().KeyUses(c.ctx, workspaceID, keyID)
		c.ok(err)
		c.same(got, want)
	}
	check(a.ID, 0, want)
	check(a.ID, l.ID, want[2:])
	check(b.ID, 0, nil)
	c.ok(c.s.Inlets().SourceKeys().Delete(c.ctx, a.ID, l.ID))
	check(a.ID, 0, want[:2])
	c.ok(c.s.Inlets().Sources().Delete(c.ctx, a.ID, x.ID))
	check(a.ID, 0, nil)
}

func (c inlets) apiSource() {
	a, b := c.workspace("a"), c.workspace("b")
	var wg sync.WaitGroup
	got := make([]rimewatch.Source, 8)
	for i := range got {
		wg.Go(func() {
			s, err := c.s.Inlets().APISource(c.ctx, a.ID, t0)
			if err != nil {
				c.Error(err)
			}
			got[i] = s
		})
	}
	wg.Wait()
	for i := range got {
		c.same(got[i], got[0])
	}
	other, err := c.s.Inlets().APISource(c.ctx, b.ID, t0)
	c.ok(err)
	if other.ID == got[0].ID || other.WorkspaceID != b.ID {
		c.Fatalf("the API of two workspaces has one source: %+v", other)
	}
	c.code(c.s.Inlets().Sources().Delete(c.ctx, a.ID, got[0].ID), rimewatch.CodeConflict)
}

func (c inlets) bindings() {
	a, b := c.workspace("a"), c.workspace("b")
	x, foreign := c.source(aSource(a.ID, "x")), c.source(aSource(b.ID, "x"))
	put := func(list ...rimewatch.Binding) error { return c.s.Inlets().PutBindings(c.ctx, a.ID, x.ID, list) }
	first := rimewatch.Binding{SourceID: x.ID, ExternalID: "24e1", Serial: "F-1", CreatedAt: t0}
	second := rimewatch.Binding{SourceID: x.ID, ExternalID: "24e1", Serial: "F-2", Fields: `{"humidity":"payload.x"}`, CreatedAt: t0}
	c.ok(put(second, first))
	c.ok(c.s.Inlets().PutBindings(c.ctx, b.ID, foreign.ID, []rimewatch.Binding{{ExternalID: "24e1", Serial: "Z", CreatedAt: t0}}))
	list, err := c.s.Inlets().Bindings(c.ctx, a.ID, x.ID)
	c.ok(err)
	c.same(list, []rimewatch.Binding{first, second})
	first.Serial, first.Fields = "f-1", `{}`
	c.ok(put(first)) // replaces what differs in case alone
	list, err = c.s.Inlets().Bindings(c.ctx, a.ID, x.ID)
	c.ok(err)
	c.same(list, []rimewatch.Binding{first, second})
	none, err := c.s.Inlets().Bindings(c.ctx, b.ID, x.ID)
	c.ok(err)
	if len(none) != 0 {
		c.Fatalf("another workspace sees %v", none)
	}
	// One that is bad costs all of the call.
	c.field(put(rimewatch.Binding{ExternalID: "new", Serial: "N", CreatedAt: t0}, rimewatch.Binding{ExternalID: "bad", Serial: "no serial"}), "device_serial")
	c.field(put(rimewatch.Binding{ExternalID: strings.Repeat("x", 200), Serial: "N"}), "external_id")
	list, err = c.s.Inlets().Bindings(c.ctx, a.ID, x.ID)
	c.ok(err)
	c.same(list, []rimewatch.Binding{first, second})
	c.ok(c.s.Inlets().DeleteBinding(c.ctx, a.ID, x.ID, "24e1", "F-1"))
	c.code(c.s.Inlets().DeleteBinding(c.ctx, a.ID, x.ID, "24e1", "F-1"), rimewatch.CodeNotFound)
	c.code(c.s.Inlets().DeleteBinding(c.ctx, a.ID, foreign.ID, "24e1", "Z"), rimewatch.CodeNotFound)
	many := make([]rimewatch.Binding, rimewatch.MaxBindings)
	for i := range many {
		many[i] = rimewatch.Binding{ExternalID: fmt.Sprint(i), Serial: "M", CreatedAt: t0}
	}
	c.code(put(many...), rimewatch.CodeConflict)
	c.ok(c.s.Inlets().Sources().Delete(c.ctx, a.ID, x.ID))
}

func aHeld(sourceID int64, sender string, at rimewatch.Time) *rimewatch.Held {
	return &rimewatch.Held{SourceID: sourceID, ExternalID: sender, ReceivedAt: at, Topic: "a/b", Query: "event=up", Body: []byte("{\x00}"), Reason: "unknown device", Label: "Freezer"}
}

func (c inlets) held() {
	a, b := c.workspace("a"), c.workspace("b")
	x, y, foreign := c.source(aSource(a.ID, "x")), c.source(aSource(a.ID, "y")), c.source(aSource(b.ID, "x"))
	h1, h2, h3, other := aHeld(x.ID, "s1", t0), aHeld(x.ID, "s1", t0+5), aHeld(x.ID, "s2", t0+9), aHeld(y.ID, "s1", t0)
	h2.Reason, h2.Label = "no time", ""
	c.ok(c.s.Inlets().Hold(c.ctx, a.ID, []*rimewatch.Held{h1, h2, h3, other}))
	c.code(c.s.Inlets().Hold(c.ctx, a.ID, []*rimewatch.Held{aHeld(foreign.ID, "s", t0)}), rimewatch.CodeNotFound)
	list, total, err := c.s.Inlets().HeldSenders(c.ctx, a.ID, x.ID, store.Page{Limit: 10})
	c.ok(err)
	want := []rimewatch.HeldSender{
		{SourceID: x.ID, ExternalID: "s2", Label: "Freezer", Reason: "unknown device", Count: 1, Bytes: h3.Size(), FirstAt: t0 + 9, LastAt: t0 + 9},
		{SourceID: x.ID, ExternalID: "s1", Reason: "no time", Count: 2, Bytes: h1.Size() + h2.Size(), FirstAt: t0, LastAt: t0 + 5},
	}
	c.same(list, want)
	page, _, err := c.s.Inlets().HeldSenders(c.ctx, a.ID, x.ID, store.Page{Limit: 1, Offset: 1})
	c.ok(err)
	c.same(page, want[1:])
	if total != 2 {
		c.Fatalf("%d senders in all", total)
	}
	payloads, err := c.s.Inlets().Held(c.ctx, a.ID, x.ID, "s1", 0, 10)
	c.ok(err)
	c.same(payloads, []rimewatch.Held{*h1, *h2})
	payloads, err = c.s.Inlets().Held(c.ctx, a.ID, x.ID, "s1", h1.ID, 10)
	c.ok(err)
	c.same(payloads, []rimewatch.Held{*h2})
	payloads, err = c.s.Inlets().NewestHeld(c.ctx, a.ID, x.ID, "s1", 0, 10)
	c.ok(err)
	c.same(payloads, []rimewatch.Held{*h2, *h1})
	payloads, err = c.s.Inlets().NewestHeld(c.ctx, a.ID, x.ID, "s1", h2.ID, 10)
	c.ok(err)
	c.same(payloads, []rimewatch.Held{*h1})
	payloads, err = c.s.Inlets().NewestHeld(c.ctx, b.ID, x.ID, "s1", 0, 10)
	c.ok(err)
	if len(payloads) != 0 {
		c.Fatal("another workspace sees what waits")
	}
	payloads, err = c.s.Inlets().Held(c.ctx, b.ID, x.ID, "s1", 0, 10)
	c.ok(err)
	if len(payloads) != 0 {
		c.Fatal("another workspace sees what waits")
	}
	c.heldTotal(a.ID, 3, h1.Size()+h2.Size()+h3.Size()+other.Size())
	c.ok(c.s.Inlets().ReleaseHeld(c.ctx, b.ID, []int64{h1.ID})) // not its own
	c.ok(c.s.Inlets().ReleaseHeld(c.ctx, a.ID, []int64{h1.ID, h1.ID, h3.ID}))
	c.heldTotal(a.ID, 2, h2.Size()+other.Size())
	list, _, err = c.s.Inlets().HeldSenders(c.ctx, a.ID, x.ID, store.Page{Limit: 10})
	c.ok(err)
	if len(list) != 1 || list[0].Count != 1 || list[0].Bytes != h2.Size() {
		c.Fatalf("after a release: %+v", list)
	}
	n, err := c.s.Everywhere().AllHeldBefore(c.ctx, t0+5, 100) // other alone
	c.ok(err)
	if n != 1 {
		c.Fatalf("%d old payloads deleted, want 1", n)
	}
	c.heldTotal(a.ID, 1, h2.Size())
	c.ok(c.s.Inlets().Sources().Delete(c.ctx, a.ID, x.ID))
	c.heldTotal(a.ID, 0, 0)
}

// heldSerial: senders of the API are serials, whatever their case; those of other
// sources are exact.
func (c inlets) heldSerial() {
	w := c.workspace("a")
	api, err := c.s.Inlets().APISource(c.ctx, w.ID, t0)
	c.ok(err)
	push := c.source(aSource(w.ID, "x"))
	for _, of := range []struct {
		source  int64
		senders []string
		found   int
	}{{api.ID, []string{"Case-1"}, 2}, {push.ID, []string{"case-1", "Case-1"}, 1}} {
		first, second := aHeld(of.source, "Case-1", t0), aHeld(of.source, "case-1", t0+5)
		c.ok(c.s.Inlets().Hold(c.ctx, w.ID, []*rimewatch.Held{first, second}))
		list, total, err := c.s.Inlets().HeldSenders(c.ctx, w.ID, of.source, store.Page{Limit: 10})
		c.ok(err)
		var senders []string
		for i := range list {
			senders = append(senders, list[i].ExternalID)
		}
		c.same(senders, of.senders)
		found, err := c.s.Inlets().Held(c.ctx, w.ID, of.source, "CASE-1", 0, 10)
		c.ok(err)
		exact, err := c.s.Inlets().Held(c.ctx, w.ID, of.source, "case-1", 0, 10)
		c.ok(err)
		if total != len(of.senders) || len(exact) != of.found || len(found) != 2*(of.found-1) {
			c.Fatalf("source %d: %d senders, %d payloads of case-1, %d of CASE-1", of.source, total, len(exact), len(found))
		}
		c.heldTotal(w.ID, int64(len(senders)), first.Size()+second.Size())
		c.ok(c.s.Inlets().ReleaseHeld(c.ctx, w.ID, []int64{first.ID, second.ID}))
		c.heldTotal(w.ID, 0, 0)

		c.ok(c.s.Inlets().PutBindings(c.ctx, w.ID, of.source, []rimewatch.Binding{{ExternalID: "Case-1", Serial: "B", CreatedAt: t0}, {ExternalID: "case-1", Serial: "b", CreatedAt: t0}}))
		bound, err := c.s.Inlets().Bindings(c.ctx, w.ID, of.source)
		c.ok(err)
		if len(bound) != len(of.senders) {
			c.Fatalf("bindings: %+v", bound)
		}
	}
	c.ok(c.s.Inlets().DeleteBinding(c.ctx, w.ID, api.ID, "CASE-1", "B"))
	c.code(c.s.Inlets().DeleteBinding(c.ctx, w.ID, push.ID, "CASE-1", "B"), rimewatch.CodeNotFound)
}

func (c inlets) heldTotal(workspaceID, senders, bytes int64) {
	c.Helper()
	s, b, err := c.s.Inlets().HeldTotal(c.ctx, workspaceID)
	c.ok(err)
	if s != senders || b != bytes {
		c.Fatalf("%d senders, %d bytes wait; want %d, %d", s, b, senders, bytes)
	}
}

// heldBounds: what goes beyond the bounds is refused, and what waits stays.
func (c inlets) heldBounds() {
	w, other := c.workspace("a"), c.workspace("b")
	x, foreign := c.source(aSource(w.ID, "x")), c.source(aSource(other.ID, "x"))
	list := make([]*rimewatch.Held, rimewatch.MaxHeldSenders+1)
	for i := range list {
		list[i] = aHeld(x.ID, fmt.Sprint(i), t0)
	}
	for part := range slices.Chunk(list, 500) {
		c.ok(c.s.Inlets().Hold(c.ctx, w.ID, part))
	}
	for i, h := range list {
		if stored := h.ID != 0; stored != (i < rimewatch.MaxHeldSenders) {
			c.Fatalf("sender %d stored: %v", i, stored)
		}
	}
	known, unknown, elsewhere := aHeld(x.ID, "7", t0), aHeld(x.ID, "new", t0), aHeld(foreign.ID, "new", t0)
	c.ok(c.s.Inlets().Hold(c.ctx, w.ID, []*rimewatch.Held{known, unknown}))
	c.ok(c.s.Inlets().Hold(c.ctx, other.ID, []*rimewatch.Held{elsewhere}))
	if known.ID == 0 || unknown.ID != 0 || elsewhere.ID == 0 {
		c.Fatalf("at the bound of senders: known %d, unknown %d, of another workspace %d", known.ID, unknown.ID, elsewhere.ID)
	}
	refused := 0
	for range 65 {
		big := aHeld(x.ID, "7", t0)
		big.Body = make([]byte, 1<<20)
		c.ok(c.s.Inlets().Hold(c.ctx, w.ID, []*rimewatch.Held{big}))
		if big.ID == 0 {
			refused++
		}
	}
	_, bytes, err := c.s.Inlets().HeldTotal(c.ctx, w.ID)
	c.ok(err)
	if refused == 0 || bytes > rimewatch.MaxHeldBytes || bytes < rimewatch.MaxHeldBytes-2<<20 {
		c.Fatalf("%d refused, %d bytes wait", refused, bytes)
	}
	first, err := c.s.Inlets().Held(c.ctx, w.ID, x.ID, "0", 0, 1)
	c.ok(err)
	c.same(first, []rimewatch.Held{*list[0]})
}

func (c inlets) heldAtOnce() {
	w := c.workspace("a")
	x := c.source(aSource(w.ID, "x"))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				h := aHeld(x.ID, fmt.Sprint(i), t0)
				if err := c.s.Inlets().Hold(c.ctx, w.ID, []*rimewatch.Held{h}); err != nil {
					c.Error(err)
				}
				if g%2 == 0 {
					if err := c.s.Inlets().ReleaseHeld(c.ctx, w.ID, []int64{h.ID}); err != nil {
						c.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	c.heldTotal(w.ID, 20, 80*aHeld(x.ID, "1", t0).Size()+10*4) // "10" to "19" are a byte longer
}
