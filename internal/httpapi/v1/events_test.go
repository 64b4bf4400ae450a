package v1

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// typesIn are the types of the events of an answer, in order.
func typesIn(a answer) (types []string) {
	list, _ := a.get("data.events").([]any)
	for i := range list {
		types = append(types, fmt.Sprint(a.get(fmt.Sprintf("data.events.%d.type", i))))
	}
	return types
}

// TestEventFeed: programs read what happened in order, page by page without a gap, what they
// may read of it alone, and learn when they have come too late.
func TestEventFeed(t *testing.T) {
	r := newRig(t)
	all := r.token(r.workspace.ID, rimewatch.ScopesAdmin)
	devices := r.token(r.workspace.ID, rimewatch.ScopeEventsRead|rimewatch.ScopeDevicesRead)
	theirs := r.token(r.other.ID, rimewatch.ScopesAdmin)
	a := r.do(get("/v1/events?per_page=1000", all))
	before, _ := a.get("data.next_cursor").(string)
	if !slices.Contains(typesIn(a), "token.created") || a.get("data.has_more") != false {
		t.Fatalf("so far: %s", a.body)
	}

	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Main Street", TimeZone: "UTC"}
	if err := r.store.Sites().Create(t.Context(), &site); err != nil {
		t.Fatal(err)
	}
	sited, plain, err := r.accounts.CreateToken(t.Context(), account.Operator(r.workspace.ID), account.TokenRequest{Name: "one site", Scopes: rimewatch.ScopesAdmin, Sites: rimewatch.Sites{site.ID}}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	r.device("WIF-1", "walkin_freezer")
	if a := r.do(post("/v1/devices", r.full, fmt.Sprintf(`{"serial":"WIF-2","equipment_type":"walkin_freezer","site_id":%d,"limits":{"delay_s":600}}`, site.ID))); a.status != http.StatusCreated {
		t.Fatal(a.body)
	}
	r.advance(time.Minute)
	began := r.now()
	for range 8 {
		r.do(post("/v1/readings", r.full, at("WIF-2", 20, r.now())))
		r.advance(5 * time.Minute)
	}
	want := []string{"token.created", "device.created", "device.created", "device.online", "excursion.opened", "alert.opened"}
	var paged, ids []string
	cursor := before
	for range 20 {
		a := r.do(get("/v1/events?per_page=2&after="+cursor, all))
		paged = append(paged, typesIn(a)...)
		for i := range typesIn(a) {
			ids = append(ids, a.get(fmt.Sprintf("data.events.%d.id", i)).(string))
		}
		cursor = a.get("data.next_cursor").(string)
		if a.get("data.has_more") == false {
			break
		}
	}
	if got := slices.Clone(paged); len(got) < len(want) || !slices.Equal(got[:4], want[:4]) || !slices.Contains(got, "excursion.opened") || !slices.Contains(got, "alert.opened") {
		t.Fatalf("page by page: %v", got)
	}
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
		t.Errorf("ids repeat: %v", ids)
	}
	last := ids[len(ids)-1]
	second := "data.events.0"
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "nothing new", req: get("/v1/events?after="+cursor, all), status: 200, want: map[string]any{"data.events.0": nil, "data.has_more": false}},
		{name: "after an id", req: get("/v1/events?per_page=1&after="+ids[0], all), status: 200, want: map[string]any{"data.events.0.id": ids[1], "data.has_more": true}},
		{name: "after the last id", req: get("/v1/events?after="+last, all), status: 200, want: map[string]any{"data.events.0": nil}},
		{
			name: "an alert", req: get("/v1/events?types=alert.opened&after="+before, all), status: 200,
			want: map[string]any{second + ".type": "alert.opened", second + ".subject": "alert/1", second + ".site_id": float64(site.ID), second + ".data.alert.device_serial": "WIF-2", second + ".data.by": nil, "data.events.1": nil},
		},
		{
			name: "a device", req: get("/v1/events?types=device.created,%20device.online&per_page=100&after="+before, all), status: 200,
			want: map[string]any{second + ".data.device.serial": "WIF-1", second + ".site_id": nil, "data.events.1.data.device.site_id": float64(site.ID), "data.events.2.data.device.status": "online", "data.events.3": nil},
		},
		{name: "at a site", req: get(fmt.Sprintf("/v1/events?per_page=100&site_id=%d", site.ID), all), status: 200, lacks: []string{"WIF-1", "token.created"}, want: map[string]any{second + ".data.device.serial": "WIF-2"}},
		{name: "limited to a site", req: get("/v1/events?per_page=100", plain), status: 200, lacks: []string{"WIF-1", "token.created"}, want: map[string]any{second + ".data.device.serial": "WIF-2"}},
		{name: "since a moment", req: get("/v1/events?per_page=100&since="+began.String(), all), status: 200, lacks: []string{"token.created", "device.created"}, want: map[string]any{second + ".type": "device.online"}},
		{name: "types that it may read", req: get("/v1/events?per_page=100", devices), status: 200, lacks: []string{"token.created", "alert.opened"}, want: map[string]any{second + ".data.device.serial": "WIF-1"}},
		{name: "a type that it may not read", req: get("/v1/events?types=token.created", devices), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "without the scope", req: get("/v1/events", r.full), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "an unknown type", req: get("/v1/events?types=alert.rang", all), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"types"}},
		{name: "a foreign cursor", req: get("/v1/events?after="+cursor, theirs), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"after"}},
		{name: "a foreign event", req: get("/v1/events?after="+ids[0], theirs), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"after"}},
		{name: "a tampered cursor", req: get("/v1/events?after="+cursor[:5]+string(cursor[5]^1)+cursor[6:], all), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"after"}},
		{name: "a cursor of another list", req: get("/v1/events?after="+r.cursors.Encode(httpapi.CursorAudit, r.workspace.ID, 3, 0), all), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"after"}},
		{name: "an event that is not yet", req: get("/v1/events?after="+rimewatch.EventID(r.workspace.ID, 9999), all), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"after"}},
		{name: "others see theirs", req: get("/v1/events?per_page=100", theirs), status: 200, lacks: []string{"WIF", rimewatch.EventID(r.workspace.ID, 1)}},
	})

	if err := r.store.ExpireEvents(t.Context(), r.workspace.ID, 0, 2); err != nil {
		t.Fatal(err)
	}
	first, _, err := r.store.Outbox().EventRange(t.Context(), r.workspace.ID)
	if err != nil {
		t.Fatal(err)
	}
	oldest := rimewatch.EventID(r.workspace.ID, first)
	for _, late := range []string{before, ids[0]} {
		if a := r.do(get("/v1/events?after="+late, all)); a.status != http.StatusGone || a.get("error.code") != "cursor_expired" || !strings.Contains(a.body, oldest) {
			t.Errorf("too late: %d %s", a.status, a.body)
		}
	}
	if a := r.do(get("/v1/events?after="+rimewatch.EventID(r.workspace.ID, first-1), all)); a.status != http.StatusOK || a.get(second+".id") != oldest {
		t.Errorf("just in time: %d %s", a.status, a.body)
	}
	if err := r.store.People().RevokeToken(store.WithActor(t.Context(), "Olga"), r.workspace.ID, sited.ID, r.now()); err != nil {
		t.Fatal(err)
	}
	if a := r.do(get("/v1/events?types=token.revoked", all)); a.get(second+".data.token.name") != "one site" || strings.Contains(a.body, plain) {
		t.Errorf("a revoked token: %s", a.body)
	}
}
