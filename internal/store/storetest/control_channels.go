package storetest

import (
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
	c.ok(c.s.Routing().Channels().Create(c.ctx, &x))
	return x
}

func (c *control) channels() {
	a, b := c.workspace("a"), c.workspace("b")
	x, foreign, y := c.channel(anEmail(a.ID, "Kitchen")), c.channel(anEmail(b.ID, "kitchen")), c.channel(aWebhook(a.ID, "hook"))
	z := rimewatch.Channel{WorkspaceID: a.ID, Name: "chat", Kind: rimewatch.ChannelService, URL: "slack://token@channel", FallbackID: x.ID, CreatedAt: t0, UpdatedAt: t0}
	c.channel(z)
	for _, id := range []int64{foreign.ID, foreign.ID + 99, -1} {
		bad := aWebhook(a.ID, "fallback")
		bad.FallbackID = id
		c.field(c.s.Routing().Channels().Create(c.ctx, &bad), "fallback_channel_id")
	}
	twin := anEmail(a.ID, "KITCHEN")
	c.code(c.s.Routing().Channels().Create(c.ctx, &twin), rimewatch.CodeConflict)
	_, err := c.s.Routing().Channels().Update(c.ctx, a.ID, y.ID, func(x *rimewatch.Channel) error { x.Name = "KITCHEN"; return nil })
	c.code(err, rimewatch.CodeConflict)
	changed, err := c.s.Routing().Channels().Update(c.ctx, a.ID, x.ID, func(x *rimewatch.Channel) error { // its own name; its health is not set by people
		x.Name, x.ChannelHealth = "KITCHEN", rimewatch.ChannelHealth{Failures: 9}
		return nil
	})
	c.ok(err)
	c.same(changed.ChannelHealth, rimewatch.ChannelHealth{})
	_, err = c.s.Routing().Channels().Update(c.ctx, a.ID, x.ID, func(c *rimewatch.Channel) error { c.FallbackID = x.ID; return nil })
	c.field(err, "fallback_channel_id")

	c.ok(c.s.Routing().Channels().Delete(c.ctx, a.ID, x.ID))
	list, err := c.s.Routing().Channels().List(c.ctx, a.ID)
	c.ok(err)
	c.same([]any{len(list), list[0], list[1].FallbackID}, []any{2, y, int64(0)}) // whichever works
	c.channel(anEmail(a.ID, "kitchen"))                                          // the name is free again
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
		err := c.s.Routing().Channels().Create(c.ctx, &x)
		c.field(err, bad.field)
		if x.URL != "" && strings.Contains(err.Error(), x.URL) {
			c.Errorf("%v tells the URL", err)
		}
	}
	orphan := anEmail(w.ID+1, "x")
	c.code(c.s.Routing().Channels().Create(c.ctx, &orphan), rimewatch.CodeNotFound)
}

func aRoute(workspaceID int64, name string, channels ...int64) rimewatch.Route {
	return rimewatch.Route{WorkspaceID: workspaceID, Name: name, Steps: []rimewatch.RouteStep{{ChannelIDs: channels}}, CreatedAt: t0, UpdatedAt: t0}
}

func (c *control) routes() {
	a, b := c.workspace("a"), c.workspace("b")
	x, y, foreign := c.channel(anEmail(a.ID, "x")), c.channel(anEmail(a.ID, "y")), c.channel(anEmail(b.ID, "x"))
	r, plain := aRoute(a.ID, "Night", x.ID), aRoute(a.ID, "plain", y.ID)
	c.ok(c.s.Routing().Routes().Create(c.ctx, &r))
	c.ok(c.s.Routing().Routes().Create(c.ctx, &plain))
	stray := aRoute(a.ID, "stray", foreign.ID)
	c.field(c.s.Routing().Routes().Create(c.ctx, &stray), "steps")
	twin := aRoute(a.ID, "NIGHT", x.ID)
	c.code(c.s.Routing().Routes().Create(c.ctx, &twin), rimewatch.CodeConflict)
	c.code(c.s.Routing().Channels().Delete(c.ctx, a.ID, x.ID), rimewatch.CodeConflict)

	// Its name and whom it notifies may change, and all else goes back to the default.
	_, err := c.s.Routing().Routes().Update(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { *r = aRoute(b.ID, "NIGHT", y.ID); return nil })
	c.ok(err)
	_, err = c.s.Routing().Routes().Update(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { r.Steps[0].ChannelIDs[0] = foreign.ID; return nil })
	c.field(err, "steps")
	_, err = c.s.Routing().Routes().Update(c.ctx, a.ID, r.ID, func(r *rimewatch.Route) error { r.Name = "plain"; return nil })
	c.code(err, rimewatch.CodeConflict)
	c.ok(c.s.Routing().Channels().Delete(c.ctx, a.ID, x.ID))
	c.ok(c.s.Routing().Routes().Delete(c.ctx, a.ID, r.ID))
	names, err := c.s.Outbox().DeliveryNames(c.ctx, a.ID)
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
		c.field(c.s.Routing().Routes().Create(c.ctx, &r), bad.field)
	}
}

func (c *control) silences() {
	w := c.workspace("a")
	silence := func(workspaceID int64, from, to rimewatch.Time) rimewatch.Silence {
		return rimewatch.Silence{WorkspaceID: workspaceID, Match: rimewatch.Matchers{DeviceIDs: []int64{5}}, StartsAt: t0 + from, EndsAt: t0 + to, Comment: "ice", CreatedBy: "Ada", CreatedAt: t0}
	}
	for field, change := range map[string]func(*rimewatch.Silence){
		"ends_at":              func(s *rimewatch.Silence) { s.EndsAt = s.StartsAt - 1 },
		"starts_at":            func(s *rimewatch.Silence) { s.StartsAt, s.EndsAt = 0, 1 },
		"comment":              func(s *rimewatch.Silence) { s.Comment = "a\xff" },
		"created_by":           func(s *rimewatch.Silence) { s.CreatedBy = strings.Repeat("x", 1000) },
		"match.severities":     func(s *rimewatch.Silence) { s.Match.Severities = []rimewatch.Severity{"x"} },
		"match.device_serials": func(s *rimewatch.Silence) { s.Match.DeviceIDs = []int64{0} },
	} {
		bad := silence(w.ID, 0, 10)
		change(&bad)
		c.field(c.s.Routing().Silences().Create(c.ctx, &bad), field)
	}
	long := silence(w.ID, 0, rimewatch.MaxSilence+1)
	c.field(c.s.Routing().Silences().Create(c.ctx, &long), "ends_at")
	orphan := silence(w.ID+1, 0, 1)
	c.code(c.s.Routing().Silences().Create(c.ctx, &orphan), rimewatch.CodeNotFound)
}

// notificationTrail makes every kind of change and looks for its entry, without
// a secret in it.
func (c *control) notificationTrail() {
	c.ctx = store.WithActor(c.ctx, "Olga")
	w := c.workspace("a")
	seen := len(c.trail(w.ID))
	x := c.channel(aWebhook(w.ID, "hook"))
	_, err := c.s.Routing().Channels().Update(c.ctx, w.ID, x.ID, func(x *rimewatch.Channel) error {
		x.URL, x.Secret, x.Enabled = "https://example.com/other", "whsec_"+strings.Repeat("QUJD", 8), true
		return nil
	})
	c.ok(err)
	_, err = c.s.Routing().Channels().Update(c.ctx, w.ID, x.ID, func(x *rimewatch.Channel) error { x.UpdatedAt++; return nil })
	c.ok(err)
	r := aRoute(w.ID, "r", x.ID)
	c.ok(c.s.Routing().Routes().Create(c.ctx, &r))
	_, err = c.s.Routing().Routes().Update(c.ctx, w.ID, r.ID, func(r *rimewatch.Route) error { r.Steps[0].AfterS = 9; return nil })
	c.ok(err)
	c.ok(c.s.Routing().Routes().Delete(c.ctx, w.ID, r.ID))
	c.ok(c.s.Routing().Channels().Delete(c.ctx, w.ID, x.ID))
	s := rimewatch.Silence{WorkspaceID: w.ID, StartsAt: t0, EndsAt: t0 + 1000, Comment: "c"}
	c.ok(c.s.Routing().Silences().Create(c.ctx, &s))
	_, err = c.s.Routing().Silences().Update(c.ctx, w.ID, s.ID, func(s *rimewatch.Silence) error { s.EndsAt = t0 + 500; return nil })
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
