package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func anEmail(workspaceID int64, name string) rimewatch.Channel {
	return rimewatch.Channel{
		WorkspaceID: workspaceID, Name: name, Kind: rimewatch.ChannelEmail, Enabled: true, To: []string{"kitchen@example.com", "ö@example.com"},
		Locale:    rimewatch.Locale{Language: "es", Units: "f", Clock: "12h", Dates: "mdy"},
		CreatedAt: t0, UpdatedAt: t0,
	}
}

func aWebhook(workspaceID int64, name string) rimewatch.Channel {
	return rimewatch.Channel{
		WorkspaceID: workspaceID, Name: name, Kind: rimewatch.ChannelWebhook, URL: "https://example.com/hook?key=1", Secret: webhookSecret,
		CreatedAt: t0, UpdatedAt: t0,
	}
}

func (c *control) channel(x rimewatch.Channel) rimewatch.Channel {
	c.Helper()
	c.ok(c.s.CreateChannel(c.ctx, &x))
	return x
}

func (c *control) channels() {
	a, b := c.workspace("a"), c.workspace("b")
	x, foreign, y := c.channel(anEmail(a.ID, "Kitchen")), c.channel(anEmail(b.ID, "kitchen")), c.channel(aWebhook(a.ID, "hook"))
	z := rimewatch.Channel{WorkspaceID: a.ID, Name: "chat", Kind: rimewatch.ChannelService, URL: "slack://token@channel", FallbackID: x.ID, CreatedAt: t0, UpdatedAt: t0}
	c.ok(c.s.CreateChannel(c.ctx, &z))
	list, err := c.s.Channels(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []rimewatch.Channel{x, y, z})

	nop := func(*rimewatch.Channel) error { return nil }
	for _, id := range []int64{foreign.ID, z.ID + 1, 0, -1} {
		_, err = c.s.Channel(c.ctx, a.ID, id)
		c.code(err, rimewatch.CodeNotFound)
		_, err = c.s.UpdateChannel(c.ctx, a.ID, id, nop)
		c.code(err, rimewatch.CodeNotFound)
		c.code(c.s.DeleteChannel(c.ctx, a.ID, id), rimewatch.CodeNotFound)
		bad := aWebhook(a.ID, "fallback")
		bad.FallbackID = id
		if id != 0 {
			c.field(c.s.CreateChannel(c.ctx, &bad), "fallback_channel_id")
		}
	}
	twin := anEmail(a.ID, "KITCHEN")
	c.code(c.s.CreateChannel(c.ctx, &twin), rimewatch.CodeConflict)
	_, err = c.s.UpdateChannel(c.ctx, a.ID, y.ID, func(x *rimewatch.Channel) error { x.Name = "KITCHEN"; return nil })
	c.code(err, rimewatch.CodeConflict)
	changed, err := c.s.UpdateChannel(c.ctx, a.ID, x.ID, func(x *rimewatch.Channel) error {
		*x = rimewatch.Channel{ID: 99, WorkspaceID: b.ID, Name: "KITCHEN", Kind: rimewatch.ChannelWebhook, Enabled: true, URL: "http://10.0.0.1:8080/",
			Secret: webhookSecret, FallbackID: y.ID, Locale: rimewatch.Locale{Language: "de"}, CreatedAt: 5, UpdatedAt: t0 + 1, ChannelHealth: rimewatch.ChannelHealth{Failures: 9}}
		return nil
	})
	c.ok(err)
	want := rimewatch.Channel{ID: x.ID, WorkspaceID: a.ID, Name: "KITCHEN", Kind: rimewatch.ChannelWebhook, Enabled: true, URL: "http://10.0.0.1:8080/",
		Secret: webhookSecret, FallbackID: y.ID, Locale: rimewatch.Locale{Language: "de"}, CreatedAt: t0, UpdatedAt: t0 + 1}
	c.same(changed, want)
	_, err = c.s.UpdateChannel(c.ctx, a.ID, x.ID, func(x *rimewatch.Channel) error { x.Name = "gone"; return errChange })
	if !errors.Is(err, errChange) {
		c.Fatalf("the error of change is lost: %v", err)
	}
	_, err = c.s.UpdateChannel(c.ctx, a.ID, x.ID, func(c *rimewatch.Channel) error { c.FallbackID = x.ID; return nil })
	c.field(err, "fallback_channel_id")
	got, err := c.s.Channel(c.ctx, a.ID, x.ID)
	c.ok(err)
	c.same(got, want)

	c.ok(c.s.DeleteChannel(c.ctx, a.ID, x.ID))
	c.code(c.s.DeleteChannel(c.ctx, a.ID, x.ID), rimewatch.CodeNotFound)
	z.FallbackID = 0 // whichever works
	list, err = c.s.Channels(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []rimewatch.Channel{y, z})
	c.channel(anEmail(a.ID, "kitchen")) // the name is free again
}

func (c *control) channelRules() {
	w := c.workspace("a")
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.Channel)
	}{
		{"name", func(x *rimewatch.Channel) { x.Name = " " }},
		{"kind", func(x *rimewatch.Channel) { x.Kind = "pigeon" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "ftp://example.com" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https:example.com" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://:80/" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://u:p@example.com/" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com/#a" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com/\n" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com/\x00" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com:0/" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com:65536/" }},
		{"url", func(x *rimewatch.Channel) { x.URL = "https://example.com/" + strings.Repeat("x", rimewatch.MaxURLLen) }},
		{"to", func(x *rimewatch.Channel) { x.To = []string{"a@example.com"} }},
		{"secret", func(x *rimewatch.Channel) { x.Secret = "" }},
		{"secret", func(x *rimewatch.Channel) { x.Secret = "whsec_c2hvcnQ=" }},
		{"secret", func(x *rimewatch.Channel) { x.Secret = strings.TrimPrefix(webhookSecret, "whsec_") }},
		{"secret", func(x *rimewatch.Channel) { x.Secret = webhookSecret + "\n" }},
		{"fallback_channel_id", func(x *rimewatch.Channel) { x.FallbackID = -1 }},
		{"to", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.To = nil }},
		{"to", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.To = make([]string, rimewatch.MaxRecipients+1) }},
		{"to", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.To = []string{"Ada <ada@example.com>"} }},
		{"to", func(x *rimewatch.Channel) {
			*x = anEmail(w.ID, "x")
			x.To = []string{"a@example.com\r\nBcc: b@example.com"}
		}},
		{"to", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.To = []string{"a@example.com, b@example.com"} }},
		{"url", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.URL = "https://example.com" }},
		{"secret", func(x *rimewatch.Channel) { *x = anEmail(w.ID, "x"); x.Secret = webhookSecret }},
		{"url", func(x *rimewatch.Channel) { x.Kind, x.Secret, x.URL = rimewatch.ChannelService, "", "slack" }},
	} {
		x := aWebhook(w.ID, "x")
		bad.change(&x)
		err := c.s.CreateChannel(c.ctx, &x)
		c.field(err, bad.field)
		if x.URL != "" && strings.Contains(err.Error(), x.URL) {
			c.Errorf("%v tells the URL", err)
		}
	}
	for i := range rimewatch.MaxChannels {
		c.channel(anEmail(w.ID, fmt.Sprint(i)))
	}
	x := anEmail(w.ID, "x")
	c.code(c.s.CreateChannel(c.ctx, &x), rimewatch.CodeQuotaExceeded)
	list, err := c.s.Channels(c.ctx, w.ID)
	c.ok(err)
	c.same(len(list), rimewatch.MaxChannels)
	orphan := anEmail(w.ID+1, "x")
	c.code(c.s.CreateChannel(c.ctx, &orphan), rimewatch.CodeNotFound)
}

func aRoute(workspaceID int64, name string, channels ...int64) rimewatch.Route {
	return rimewatch.Route{WorkspaceID: workspaceID, Name: name, Steps: []rimewatch.RouteStep{{ChannelIDs: channels}}, CreatedAt: t0, UpdatedAt: t0}
}

func (c *control) routes() {
	a, b := c.workspace("a"), c.workspace("b")
	x, y, foreign := c.channel(anEmail(a.ID, "x")), c.channel(anEmail(a.ID, "y")), c.channel(anEmail(b.ID, "x"))
	digest := 450
	r := rimewatch.Route{
		WorkspaceID: a.ID, Name: "Night", Enabled: true,
		Match: rimewatch.Matchers{
			Severities: []rimewatch.Severity{rimewatch.Critical}, Types: []rimewatch.AlertType{rimewatch.HighTemperature}, SiteIDs: []int64{4},
			EquipmentTypes: []string{"walkin_freezer"}, DeviceIDs: []int64{5, 6},
		},
		Steps:   []rimewatch.RouteStep{{ChannelIDs: []int64{x.ID}}, {AfterS: 600, ChannelIDs: []int64{x.ID, y.ID}}},
		RepeatS: 3600, Recovery: true, Quiet: &rimewatch.QuietHours{From: 1320, To: 360}, DigestAt: &digest, CreatedAt: t0, UpdatedAt: t0,
	}
	c.ok(c.s.CreateRoute(c.ctx, &r))
	plain := aRoute(a.ID, "plain", y.ID)
	c.ok(c.s.CreateRoute(c.ctx, &plain))
	theirs := aRoute(b.ID, "night", foreign.ID)
	c.ok(c.s.CreateRoute(c.ctx, &theirs))
	list, err := c.s.Routes(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []rimewatch.Route{r, plain})

	nop := func(*rimewatch.Route) error { return nil }
	for _, id := range []int64{theirs.ID, theirs.ID + 1, 0, -1} {
		_, err = c.s.Route(c.ctx, a.ID, id)
		c.code(err, rimewatch.CodeNotFound)
		_, err = c.s.UpdateRoute(c.ctx, a.ID, id, nop)
		c.code(err, rimewatch.CodeNotFound)
		c.code(c.s.DeleteRoute(c.ctx, a.ID, id), rimewatch.CodeNotFound)
	}
	stray := aRoute(a.ID, "stray", foreign.ID)
	c.field(c.s.CreateRoute(c.ctx, &stray), "steps")
	twin := aRoute(a.ID, "NIGHT", x.ID)
	c.code(c.s.CreateRoute(c.ctx, &twin), rimewatch.CodeConflict)
	c.code(c.s.DeleteChannel(c.ctx, a.ID, x.ID), rimewatch.CodeConflict)

	changed, err := c.s.UpdateRoute(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error {
		*r = aRoute(b.ID, "NIGHT", y.ID)
		r.ID, r.CreatedAt, r.UpdatedAt = 99, 5, t0+1
		return nil
	})
	c.ok(err)
	want := aRoute(a.ID, "NIGHT", y.ID)
	want.ID, want.UpdatedAt = r.ID, t0+1
	c.same(changed, want)
	_, err = c.s.UpdateRoute(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { r.Steps[0].ChannelIDs[0] = foreign.ID; return nil })
	c.field(err, "steps")
	_, err = c.s.UpdateRoute(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { r.Name = "plain"; return nil })
	c.code(err, rimewatch.CodeConflict)
	_, err = c.s.UpdateRoute(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { r.Name = "gone"; return errChange })
	if !errors.Is(err, errChange) {
		c.Fatalf("the error of change is lost: %v", err)
	}
	got, err := c.s.Route(c.ctx, a.ID, r.ID)
	c.ok(err)
	c.same(got, want)

	c.ok(c.s.DeleteChannel(c.ctx, a.ID, x.ID))
	c.ok(c.s.DeleteRoute(c.ctx, a.ID, r.ID))
	c.code(c.s.DeleteRoute(c.ctx, a.ID, r.ID), rimewatch.CodeNotFound)
	list, err = c.s.Routes(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []rimewatch.Route{plain})
	names, err := c.s.DeliveryNames(c.ctx, a.ID)
	c.ok(err)
	c.same(names.Routes, map[int64]string{r.ID: "NIGHT", plain.ID: "plain"})
}

func (c *control) routeRules() {
	w := c.workspace("a")
	x := c.channel(anEmail(w.ID, "x"))
	minute := 1440
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.Route)
	}{
		{"name", func(r *rimewatch.Route) { r.Name = "" }},
		{"steps", func(r *rimewatch.Route) { r.Steps = nil }},
		{"steps", func(r *rimewatch.Route) { r.Steps[0].AfterS = -1 }},
		{"steps", func(r *rimewatch.Route) { r.Steps[0].ChannelIDs = nil }},
		{"steps", func(r *rimewatch.Route) { r.Steps[0].ChannelIDs = []int64{x.ID, x.ID} }},
		{"steps", func(r *rimewatch.Route) { r.Steps = append(r.Steps, r.Steps[0]) }},
		{"steps", func(r *rimewatch.Route) { r.Steps = make([]rimewatch.RouteStep, rimewatch.MaxRouteSteps+1) }},
		{"repeat_s", func(r *rimewatch.Route) { r.RepeatS = 59 }},
		{"repeat_s", func(r *rimewatch.Route) { r.RepeatS = -1 }},
		{"quiet_hours", func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 5, To: 5} }},
		{"quiet_hours", func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: -1, To: 5} }},
		{"digest_at", func(r *rimewatch.Route) { r.DigestAt = &minute }},
		{"match.severities", func(r *rimewatch.Route) { r.Match.Severities = []rimewatch.Severity{"bad"} }},
		{"match.types", func(r *rimewatch.Route) { r.Match.Types = []rimewatch.AlertType{"a\x00"} }},
		{"match.types", func(r *rimewatch.Route) { r.Match.Types = []rimewatch.AlertType{"a", "a"} }},
		{"match.equipment_types", func(r *rimewatch.Route) { r.Match.EquipmentTypes = []string{""} }},
		{"match.site_ids", func(r *rimewatch.Route) { r.Match.SiteIDs = []int64{-1} }},
		{"match.device_serials", func(r *rimewatch.Route) { r.Match.DeviceIDs = make([]int64, rimewatch.MaxMatchers+1) }},
	} {
		r := aRoute(w.ID, "r", x.ID)
		bad.change(&r)
		c.field(c.s.CreateRoute(c.ctx, &r), bad.field)
	}
	for i := range rimewatch.MaxRoutes {
		r := aRoute(w.ID, fmt.Sprint(i), x.ID)
		c.ok(c.s.CreateRoute(c.ctx, &r))
	}
	r := aRoute(w.ID, "one more", x.ID)
	c.code(c.s.CreateRoute(c.ctx, &r), rimewatch.CodeQuotaExceeded)
}

func (c *control) silences() {
	a, b := c.workspace("a"), c.workspace("b")
	silence := func(w rimewatch.Workspace, from, to rimewatch.Time) rimewatch.Silence {
		return rimewatch.Silence{WorkspaceID: w.ID, Match: rimewatch.Matchers{DeviceIDs: []int64{5}}, StartsAt: t0 + from, EndsAt: t0 + to, Comment: "ice", CreatedBy: "Ada", CreatedAt: t0}
	}
	x, y, foreign := silence(a, 0, 10), silence(a, 5, 20), silence(b, 0, 20)
	for _, s := range []*rimewatch.Silence{&x, &y, &foreign} {
		c.ok(c.s.CreateSilence(c.ctx, s))
	}
	for after, want := range map[rimewatch.Time][]rimewatch.Silence{0: {x, y}, t0 + 9: {x, y}, t0 + 10: {y}, t0 + 20: nil} {
		list, err := c.s.Silences(c.ctx, a.ID, after)
		c.ok(err)
		c.same(list, want)
	}
	nop := func(*rimewatch.Silence) error { return nil }
	for _, id := range []int64{foreign.ID, foreign.ID + 1, 0} {
		_, err := c.s.Silence(c.ctx, a.ID, id)
		c.code(err, rimewatch.CodeNotFound)
		_, err = c.s.UpdateSilence(c.ctx, a.ID, id, nop)
		c.code(err, rimewatch.CodeNotFound)
	}
	ended, err := c.s.UpdateSilence(c.ctx, a.ID, y.ID, func(s *rimewatch.Silence) error {
		s.ID, s.WorkspaceID, s.CreatedAt, s.EndsAt = 99, b.ID, 5, t0+7
		return nil
	})
	c.ok(err)
	y.EndsAt = t0 + 7
	c.same(ended, y)
	got, err := c.s.Silence(c.ctx, a.ID, y.ID)
	c.ok(err)
	c.same(got, y)
	for field, change := range map[string]func(*rimewatch.Silence){
		"ends_at":              func(s *rimewatch.Silence) { s.EndsAt = s.StartsAt - 1 },
		"starts_at":            func(s *rimewatch.Silence) { s.StartsAt, s.EndsAt = 0, 1 },
		"comment":              func(s *rimewatch.Silence) { s.Comment = "a\xff" },
		"created_by":           func(s *rimewatch.Silence) { s.CreatedBy = strings.Repeat("x", 1000) },
		"match.severities":     func(s *rimewatch.Silence) { s.Match.Severities = []rimewatch.Severity{"x"} },
		"match.device_serials": func(s *rimewatch.Silence) { s.Match.DeviceIDs = []int64{0} },
	} {
		bad := silence(a, 0, 10)
		change(&bad)
		c.field(c.s.CreateSilence(c.ctx, &bad), field)
	}
	long := silence(a, 0, rimewatch.MaxSilence+1)
	c.field(c.s.CreateSilence(c.ctx, &long), "ends_at")
	orphan := silence(rimewatch.Workspace{ID: b.ID + 1}, 0, 1)
	c.code(c.s.CreateSilence(c.ctx, &orphan), rimewatch.CodeNotFound)

	full := c.workspace("full")
	for i := range rimewatch.MaxSilences {
		s := silence(full, 0, rimewatch.Time(i%3)) // over soon, which does not make room
		c.ok(c.s.CreateSilence(c.ctx, &s))
	}
	more := silence(full, 0, 10)
	c.code(c.s.CreateSilence(c.ctx, &more), rimewatch.CodeQuotaExceeded)
	more = silence(full, rimewatch.SpansKept+2, rimewatch.SpansKept+3)
	more.CreatedAt += rimewatch.SpansKept + 2
	c.ok(c.s.CreateSilence(c.ctx, &more))
}

// notificationTrail makes every kind of change and looks for its entry, without
// a secret in it.
func (c *control) notificationTrail() {
	c.ctx = store.WithActor(c.ctx, "Olga")
	w := c.workspace("a")
	seen := len(c.trail(w.ID))
	x := c.channel(aWebhook(w.ID, "hook"))
	_, err := c.s.UpdateChannel(c.ctx, w.ID, x.ID, func(x *rimewatch.Channel) error {
		x.URL, x.Secret, x.Enabled = "https://example.com/other", "whsec_"+strings.Repeat("QUJD", 8), true
		return nil
	})
	c.ok(err)
	_, err = c.s.UpdateChannel(c.ctx, w.ID, x.ID, func(x *rimewatch.Channel) error { x.UpdatedAt++; return nil })
	c.ok(err)
	r := aRoute(w.ID, "r", x.ID)
	c.ok(c.s.CreateRoute(c.ctx, &r))
	_, err = c.s.UpdateRoute(c.ctx, w.ID, r.ID, func(r *rimewatch.Route) error { r.Steps[0].AfterS = 9; return nil })
	c.ok(err)
	c.ok(c.s.DeleteRoute(c.ctx, w.ID, r.ID))
	c.ok(c.s.DeleteChannel(c.ctx, w.ID, x.ID))
	s := rimewatch.Silence{WorkspaceID: w.ID, StartsAt: t0, EndsAt: t0 + 1000, Comment: "c"}
	c.ok(c.s.CreateSilence(c.ctx, &s))
	_, err = c.s.UpdateSilence(c.ctx, w.ID, s.ID, func(s *rimewatch.Silence) error { s.EndsAt = t0 + 500; return nil })
	c.ok(err)
	steps := fmt.Sprintf(`[{"after_s":%%d,"channel_ids":[%d]}]`, x.ID)
	route := func(after int) string {
		return fmt.Sprintf(`{"digest_at":null,"enabled":false,"match":{},"name":"r","quiet_hours":null,"recovery":false,"repeat_s":0,"steps":`+steps+`}`, after)
	}
	c.audited(w, &seen,
		`Olga channel.created channel 1 {"clock":"24h","dates":"dmy","enabled":false,"fallback_channel_id":0,"kind":"webhook","language":"","name":"hook","units":"c","url":"https://example.com/•••"}`,
		`Olga channel.updated channel 1 {"enabled":{"from":false,"to":true},"secret":"changed","url":{"from":"https://example.com/•••","to":"https://example.com/•••"}}`,
		"Olga route.created route 1 "+route(0),
		fmt.Sprintf(`Olga route.updated route 1 {"steps":{"from":`+steps+`,"to":`+steps+`}}`, 0, 9),
		"Olga route.deleted route 1 "+route(9),
		`Olga channel.deleted channel 1 {"clock":"24h","dates":"dmy","enabled":true,"fallback_channel_id":0,"kind":"webhook","language":"","name":"hook","units":"c","url":"https://example.com/•••"}`,
		fmt.Sprintf(`Olga silence.created silence 1 {"comment":"c","ends_at":%q,"match":{},"starts_at":%q}`, t0+1000, t0),
		fmt.Sprintf(`Olga silence.ended silence 1 {"ends_at":{"from":%q,"to":%q}}`, t0+1000, t0+500),
	)
}
