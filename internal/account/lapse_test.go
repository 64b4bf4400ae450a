package account

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func TestNextLapse(t *testing.T) {
	const day, life = rimewatch.Day, 30 * rimewatch.Day
	for _, tt := range []struct {
		name      string
		since     rimewatch.Time
		told      int
		life, now rimewatch.Time
		want      lapseStep
	}{
		{"never seen: from now on", 0, 0, life, t0, lapseStep{is: store.Lapse{Since: t0}}},
		{"long before", t0, 0, life, t0 + 22*day, lapseStep{is: store.Lapse{Since: t0}}},
		{"seven days before", t0, 0, life, t0 + 23*day, lapseStep{is: store.Lapse{Since: t0, Told: 1}, in: 7}},
		{"a little later", t0, 0, life, t0 + 24*day + 1, lapseStep{is: store.Lapse{Since: t0, Told: 1}, in: 6}},
		{"told already", t0, 1, life, t0 + 28*day, lapseStep{is: store.Lapse{Since: t0, Told: 1}}},
		{"one day before", t0, 1, life, t0 + 29*day, lapseStep{is: store.Lapse{Since: t0, Told: 2}, in: 1}},
		{"told twice", t0, 2, life, t0 + 30*day - 1, lapseStep{is: store.Lapse{Since: t0, Told: 2}}},
		{"the end", t0, 2, life, t0 + 30*day, lapseStep{is: store.Lapse{Since: t0, Told: 2}, end: true}},
		{"nobody was there to announce it", t0, 0, life, t0 + 40*day, lapseStep{is: store.Lapse{Since: t0 + 11*day, Told: 2}, in: 1}},
		{"nor to announce the last day", t0, 1, life, t0 + 29*day + 5, lapseStep{is: store.Lapse{Since: t0 + 5, Told: 2}, in: 1}},
		{"a short life is announced once", t0, 0, 3 * day, t0 + 1, lapseStep{is: store.Lapse{Since: t0}}},
		{"a day before", t0, 0, 3 * day, t0 + 2*day, lapseStep{is: store.Lapse{Since: t0, Told: 2}, in: 1}},
	} {
		if got := nextLapse(store.Lapse{Since: tt.since, Told: tt.told}, tt.life, tt.now); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestTokensLapse: announced twice, to the person and the admins; then they only
// send readings, unless their maker signs in.
func TestTokensLapse(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	f.person("vic@example.com", rimewatch.RoleViewer)
	mail := f.mailing()
	f.grants = []Grant{{"staff", "Bakery", rimewatch.RoleAdmin}}
	in, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	var plain []string
	for _, s := range []rimewatch.Scopes{rimewatch.ScopesFull, rimewatch.ScopesRead, rimewatch.ScopesIngest} {
		_, p, err := f.CreateToken(f.ctx, in.Principal, TokenRequest{Name: strings.Join(s.Names(), "+"), Scopes: s}, t0)
		f.ok(err)
		plain = append(plain, p)
	}
	letters := func(now rimewatch.Time, to ...string) (text string) {
		t.Helper()
		f.ok(f.lapse(f.ctx, now))
		for _, want := range to {
			l := <-mail.letters
			same(t, l.To, want)
			text = l.Subject + "\n" + l.Text
		}
		same(t, len(f.notices)+len(mail.letters), 0)
		return text
	}
	letters(t0 + 22*rimewatch.Day)
	text := letters(t0+23*rimewatch.Day, "ada@example.com", "pat@example.com")
	if !strings.Contains(text, "in 7 days") || !strings.Contains(text, "- devices:read+readings:read+alerts:read\n") || strings.Contains(text, "- readings:write\n") {
		t.Error(text)
	}
	letters(t0 + 23*rimewatch.Day)
	_, err = f.provided("pat@example.com", t0+24*rimewatch.Day, "staff")
	f.ok(err)
	letters(t0 + 30*rimewatch.Day)
	letters(t0+47*rimewatch.Day, "ada@example.com", "pat@example.com")
	if text := letters(t0+53*rimewatch.Day, "ada@example.com", "pat@example.com"); !strings.Contains(text, "tomorrow") {
		t.Error(text)
	}
	same(t, len(f.trail(f.ws.ID, "user.tokens_lapse")), 3)
	now := t0 + 54*rimewatch.Day
	letters(now, "ada@example.com", "pat@example.com")
	for i, want := range []rimewatch.Scopes{rimewatch.ScopesIngest, 0, rimewatch.ScopesIngest} {
		p, err := f.Authenticate(f.ctx, plain[i], now)
		if want == 0 {
			f.code(err, rimewatch.CodeUnauthenticated)
			continue
		}
		f.ok(err)
		same(t, p.Scopes, want)
	}
}
