package notify_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/ticket"
)

// member adds somebody to the workspace.
func (r *rig) member(email string, role rimewatch.Role, sites rimewatch.Sites) int64 {
	r.Helper()
	u := rimewatch.User{Email: email, Name: strings.Split(email, "@")[0], PasswordHash: "$x", Theme: "system", Locale: rimewatch.Locale{}.Full(), CreatedAt: r.now(), UpdatedAt: r.now()}
	r.must(r.store.People().CreateUser(r.Context(), &u))
	r.must(r.store.People().PutMember(r.Context(), &rimewatch.Member{WorkspaceID: r.workspace, UserID: u.ID, Role: role, Sites: sites, CreatedAt: r.now()}))
	return u.ID
}

// TestWhoGetsALink: a mail that one member alone reads, who may acknowledge and see the unit, has a link for that
// person, alert and channel that works for a day; a mail to several, to an outside firm or to a viewer, and a
// webhook have none, and neither has the message that it is over.
func TestWhoGetsALink(t *testing.T) {
	bubble(t, func(r *rig) {
		site := rimewatch.Site{WorkspaceID: r.workspace, Name: "Elsewhere", TimeZone: "UTC", CreatedAt: r.now(), UpdatedAt: r.now()}
		r.must(r.store.Sites().Create(r.Context(), &site))
		mara := r.member("mara@example.com", rimewatch.RoleTechnician, nil)
		r.member("viewer@example.com", rimewatch.RoleViewer, nil)
		r.member("away@example.com", rimewatch.RoleTechnician, rimewatch.Sites{site.ID})
		mail := func(name string, to ...string) rimewatch.Channel {
			return r.channel(name, func(c *rimewatch.Channel) { c.Kind, c.To, c.URL, c.Secret = rimewatch.ChannelEmail, to, "", "" })
		}
		own := mail("own", "Mara@example.com")
		mail("several", "mara@example.com", "kitchen@example.com")
		mail("firm", "polar@example.com")
		mail("viewer", "viewer@example.com")
		mail("away", "away@example.com")
		r.channel("hook", nil)
		links := make(map[string]string)
		var mu sync.Mutex // channels send side by side
		r.posts.heard = func(c *rimewatch.Channel, _ string, m *message.Message) {
			mu.Lock()
			defer mu.Unlock()
			links[c.Name+" "+string(m.Data.Kind)] = m.Data.Acknowledge
			if b, err := m.Encode(); err != nil || m.Data.Acknowledge != "" && strings.Contains(string(b), m.Data.Acknowledge) {
				t.Errorf("the link is kept: %s %v", b, err)
			}
		}
		a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Minute)
		text, found := strings.CutPrefix(links["own opened"], "https://watch.example.org/a/")
		got, ok := ticket.ParseLink(linkKey, text, ticket.Acknowledge)
		want := ticket.Link{Purpose: ticket.Acknowledge, WorkspaceID: r.workspace, Expires: rimewatch.TimeOf(r.began) + rimewatch.Day, ID: a.ID, UserID: mara, ChannelID: own.ID}
		if diff := cmp.Diff(want, got); !found || !ok || diff != "" {
			t.Errorf("%q %v\n%s", links["own opened"], ok, diff)
		}
		r.resolve(a)
		r.pass(time.Minute)
		if links["own recovery"] != "" || len(links) != 12 {
			t.Errorf("%v", links)
		}
		for name, link := range links {
			if name != "own opened" && link != "" {
				t.Errorf("%s has a link", name)
			}
		}
	})
}
