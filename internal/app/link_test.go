package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// linked is a shop whose alert somebody may acknowledge by the link of a mail.
type linked struct {
	*shop
	site  int64
	mara  int64
	alert rimewatch.Alert
}

func newLinked(t *testing.T) *linked {
	t.Helper()
	l := &linked{shop: newShop(t)}
	site := rimewatch.Site{WorkspaceID: l.workspace, Name: "Harbour street", TimeZone: "Europe/Berlin"}
	l.must(l.Accounts.Sites(account.Operator(l.workspace)).Create(t.Context(), &site))
	l.site = site.ID
	_, err := l.api.UpdateDevice(t.Context(), "F-1", client.DeviceFields{SiteID: &site.ID})
	l.must(err)
	u, err := l.Accounts.AddUser(t.Context(), l.workspace, account.UserRequest{Email: "mara@example.com", Name: "Mara", Password: inside, Role: rimewatch.RoleTechnician}, l.at())
	l.must(err)
	l.mara = u.ID
	l.temperature(8.2)
	l.see()
	return l
}

func (l *linked) at() rimewatch.Time { return rimewatch.TimeOf(l.now.Now()) }

// see reads the alert as it is.
func (l *linked) see() {
	l.Helper()
	v, err := l.Store.Alert(l.Context(), l.workspace, l.shop.alert().ID)
	l.must(err)
	l.alert = v.Alert
}

// link is one that was sent now, and differs where a test wants it to.
func (l *linked) link(change func(*ticket.Link)) string {
	l.Helper()
	x := ticket.Link{Purpose: ticket.Acknowledge, WorkspaceID: l.workspace, Expires: l.at() + ticket.AcknowledgeLife, ID: l.alert.ID, UserID: l.mara, ChannelID: 1}
	if change != nil {
		change(&x)
	}
	key, err := l.Store.Secret(l.Context(), "links")
	l.must(err)
	return x.Encode(key[:])
}

// open asks for a link, and returns the status and what a person reads: the sentence that says what is so.
func openLink(ctx context.Context, t *testing.T, base, method, text string) (status int, said string, card map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, base+"/api/v1/acknowledgements/"+text, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %v", method, resp.Header)
	}
	var answer struct {
		Error struct{ Message string }
		Data  struct{ Acknowledgement map[string]any }
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, answer.Error.Message, nil
	}
	return resp.StatusCode, answer.Data.Acknowledgement["state"].(string), answer.Data.Acknowledgement
}

func (l *linked) expect(what, method, text string, want int, said string) map[string]any {
	l.Helper()
	status, got, card := openLink(l.Context(), l.T, l.URL(), method, text)
	if status != want || said == "" && got != "" || !strings.Contains(got, said) {
		l.Errorf("%s: %d %q, want %d %q", what, status, got, want, said)
	}
	return card
}

// TestAcknowledgeByLink: looking at the link of a mail changes nothing, as often as a scanner does it; the
// button acknowledges in the name of the person, once; the page shows the one alert.
func TestAcknowledgeByLink(t *testing.T) {
	l := newLinked(t)
	text := l.link(nil)
	for range 2 {
		card := l.expect("a scanner", http.MethodGet, text, http.StatusOK, "")
		alert := card["alert"].(map[string]any)
		if card["person"] != "Mara" || card["open"] != true || alert["title"] != "Back walk-in: 8.2\u00a0°C, too warm" || !strings.Contains(fmt.Sprint(alert["facts"]), "Harbour street") {
			t.Errorf("%v", card)
		}
	}
	if l.see(); l.alert.AcknowledgedAt != 0 {
		t.Fatal("looking has acknowledged")
	}
	l.expect("the button", http.MethodPost, text, http.StatusOK, "Acknowledged by Mara, by the link in a message, ")
	if l.see(); l.alert.AcknowledgedBy != "Mara, by the link in a message" {
		t.Errorf("%q", l.alert.AcknowledgedBy)
	}
	l.expect("the button again", http.MethodPost, text, http.StatusConflict, "Acknowledged by Mara")
	l.expect("another link", http.MethodPost, l.link(func(x *ticket.Link) { x.Expires++ }), http.StatusConflict, "Acknowledged by Mara")
	trail, _, err := l.Store.Audit().AuditEntries(t.Context(), l.workspace, "alert.acknowledged", "", store.Page{Limit: 10})
	l.must(err)
	if len(trail) != 1 || trail[0].Actor != "Mara <mara@example.com>, by the link in a message" || strings.Contains(trail[0].Detail, text) {
		t.Errorf("%+v", trail)
	}
	l.now.pass(5 * time.Hour) // the acknowledgement of a warning has ended
	l.temperature(8.3)
	l.expect("used already", http.MethodGet, text, http.StatusOK, "This link was used already")
	l.expect("used already", http.MethodPost, text, http.StatusConflict, "This link was used already")
	l.expect("the link of the reminder", http.MethodPost, l.link(nil), http.StatusOK, "Acknowledged by Mara")
}

// TestLinkThatDoesNotAcknowledge: a link that somebody has made or changed, that is too old, of somebody who has lost the
// right or the sight of the site, of another workspace, or about an alert that is over says what is so.
func TestLinkThatDoesNotAcknowledge(t *testing.T) {
	l := newLinked(t)
	other, err := l.Accounts.FindWorkspace(t.Context(), "Another one", true, l.at())
	l.must(err)
	good := l.link(nil)
	old := l.link(func(x *ticket.Link) { x.Expires = l.at() })
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		l.expect("of another workspace", method, l.link(func(x *ticket.Link) { x.WorkspaceID = other.ID }), http.StatusForbidden, "may not acknowledge alerts here any more")
		l.expect("of no alert", method, l.link(func(x *ticket.Link) { x.ID += 1000 }), http.StatusNotFound, "no longer kept")
		l.expect("for something else", method, l.link(func(x *ticket.Link) { x.Purpose = ticket.Calendar }), http.StatusNotFound, "This link does not work")
		l.expect("too old", method, old, http.StatusForbidden, "This link has expired")
	}
	for i := range good[:8] {
		changed := []byte(good)
		changed[i] ^= 1
		l.expect("changed", http.MethodPost, string(changed), http.StatusNotFound, "This link does not work")
	}
	as := account.Operator(l.workspace)
	elsewhere := rimewatch.Site{WorkspaceID: l.workspace, Name: "Elsewhere", TimeZone: "UTC"}
	l.must(l.Accounts.Sites(as).Create(t.Context(), &elsewhere))
	change := func(p account.MemberPatch) {
		t.Helper()
		_, err := l.Accounts.ChangeMember(t.Context(), as, l.mara, p)
		l.must(err)
	}
	change(account.MemberPatch{Sites: rimewatch.Sites{elsewhere.ID}})
	l.expect("the site was taken away", http.MethodPost, good, http.StatusNotFound, "may not see any more")
	change(account.MemberPatch{Sites: rimewatch.Sites{l.site}})
	change(account.MemberPatch{Role: rimewatch.RoleViewer})
	l.expect("a viewer", http.MethodPost, good, http.StatusForbidden, "may not acknowledge alerts here any more")
	change(account.MemberPatch{Role: rimewatch.RoleTechnician})
	l.temperature(3)
	l.expect("over", http.MethodGet, good, http.StatusOK, "This alert is over since ")
	l.expect("over", http.MethodPost, good, http.StatusConflict, "This alert is over since ")
	l.must(l.Accounts.RemoveMember(t.Context(), as, l.mara, l.at()))
	l.expect("no member", http.MethodGet, good, http.StatusForbidden, "may not acknowledge alerts here any more")
}

// TestLinksInACluster: a link is looked at and used through whichever node is asked.
func TestLinksInACluster(t *testing.T) {
	trial.NeedsAll(t)
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	first, _ := startNode(t, database.URL("postgres"), 1)
	await(t, "the first node does not serve the shard", func() bool { return first.Part(0) != nil })
	second, said := startNode(t, database.URL("postgres"), 1)
	part, now := first.Part(0), rimewatch.TimeOf(time.Now())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := part.Accounts.FindWorkspace(t.Context(), "W", true, now)
	must(err)
	u, err := part.Accounts.AddUser(t.Context(), w.ID, account.UserRequest{Email: "mara@example.com", Name: "Mara", Password: inside, Role: rimewatch.RoleTechnician}, now)
	must(err)
	_, token, err := part.Accounts.CreateToken(t.Context(), account.Operator(w.ID), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull}, now)
	must(err)
	limit, none := 5.0, 0
	_, err = part.Ingest.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: w.ID, Serial: "F-1", Name: "Cooler", EquipmentType: "walkin_cooler", Limits: &rimewatch.LimitOverrides{TempMax: &limit, DelayS: &none}})
	must(err)
	c, err := client.New("http://"+second.Addr(), token, nil)
	must(err)
	warm := 9.0
	await(t, "the reading is not taken", func() bool {
		_, _, err := c.PostReading(t.Context(), client.Reading{DeviceSerial: "F-1", Measurements: client.Measurements{ProductZoneTemp: &warm}})
		return err == nil
	})
	list, _, err := part.Store.Alerts(t.Context(), w.ID, store.AlertFilter{}, store.AlertPage{Limit: 1})
	must(err)
	if len(list) != 1 {
		t.Fatalf("%d alerts", len(list))
	}
	key, err := part.Store.Secret(t.Context(), "links")
	must(err)
	text := (&ticket.Link{Purpose: ticket.Acknowledge, WorkspaceID: w.ID, Expires: now + rimewatch.Hour, ID: list[0].ID, UserID: u.ID}).Encode(key[:])
	for _, step := range []struct {
		node   *app.Node
		method string
		want   int
	}{{second, http.MethodGet, http.StatusOK}, {second, http.MethodPost, http.StatusOK}, {first, http.MethodGet, http.StatusOK}, {first, http.MethodPost, http.StatusConflict}} {
		if status, said, _ := openLink(t.Context(), t, "http://"+step.node.Addr(), step.method, text); status != step.want {
			t.Errorf("%s: %d %s", step.method, status, said)
		}
	}
	order := rimewatch.WorkOrder{
		WorkspaceID: w.ID, Status: rimewatch.OrderAssigned, Problem: "Warm", Urgency: rimewatch.UrgencySoon, Assignee: &rimewatch.Doer{Kind: rimewatch.DoerExternal, Name: "Kim"},
		LinkUntil: now + rimewatch.OrderLinkLife, CreatedAt: now, UpdatedAt: now,
	}
	must(part.Store.Records().WorkOrders().Create(t.Context(), &order))
	ordered := (&ticket.Link{Purpose: ticket.Order, WorkspaceID: w.ID, Expires: order.LinkUntil, ID: order.ID}).Encode(key[:])
	for _, step := range []struct {
		node       *app.Node
		path, body string
		want       int
	}{{second, "/on-way", "", http.StatusOK}, {first, "/on-site", "", http.StatusOK}, {second, "/done", `{"outcome":"repaired","cause":"Fan","work":"Replaced"}`, http.StatusOK}, {first, "/on-site", "", http.StatusConflict}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+step.node.Addr()+"/api/v1/work-order-links/"+ordered+step.path, strings.NewReader(step.body))
		must(err)
		if step.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(r)
		must(err)
		_ = resp.Body.Close()
		if resp.StatusCode != step.want {
			t.Errorf("%s: %d", step.path, resp.StatusCode)
		}
	}
	for _, secret := range []string{text, ordered} {
		if strings.Contains(said.String(), secret) {
			t.Error("the ticket is in the log")
		}
	}
}
