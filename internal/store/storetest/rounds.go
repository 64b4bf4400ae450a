package storetest

import (
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// checks: a check opens once, is completed or missed, and whatever else is entered is a note; all of it stands in the
// audit trail with its hash, and in the events.
func (f *fixture) checks() {
	site := f.site(f.workspace)
	device := f.addDevice("CK")
	round := rimewatch.CheckTemplate{WorkspaceID: f.workspace, Name: "Morning", Windows: []rimewatch.CheckWindow{{Days: 127, From: 360, To: 600}}, DeviceIDs: []int64{device}, Tell: rimewatch.TellBoth, Enabled: true, CreatedAt: t0, UpdatedAt: t0}
	f.must(f.s.Records().CheckTemplates().Create(f.ctx, &round))
	bad := round
	bad.Name, bad.DeviceIDs = "Another", []int64{device + 1000}
	f.code(f.s.Records().CheckTemplates().Create(f.ctx, &bad), rimewatch.CodeValidationFailed)

	check := func(site int64, day string, from rimewatch.Time) *rimewatch.Check {
		return &rimewatch.Check{
			WorkspaceID: f.workspace, TemplateID: round.ID, SiteID: site, Name: round.Name, Ask: rimewatch.CheckAsk{Range: true},
			CheckSpan: rimewatch.CheckSpan{Day: day, Minute: 360, From: from, To: from + rimewatch.Hour}, Status: rimewatch.CheckDue, OpenedAt: from,
			Items: []rimewatch.CheckItem{{DeviceID: device, Serial: "CK", Name: "Fish"}},
		}
	}
	a, b, old := check(site, "2026-11-23", t0), check(0, "2026-11-23", t0), check(site, "2026-11-22", t0-rimewatch.Day)
	old.Status, old.Reason = rimewatch.CheckMissed, rimewatch.CheckNotRunning
	f.must(f.s.Records().OpenChecks(f.ctx, &round, t0+5, []*rimewatch.Check{old, a, b}))
	again := check(site, "2026-11-23", t0)
	f.must(f.s.Records().OpenChecks(f.ctx, &round, t0+6, []*rimewatch.Check{again}))
	f.equal("opened a second time", again.ID, int64(0))
	changed := round
	changed.Revision++
	other := check(site, "2026-11-24", t0+rimewatch.Day)
	f.must(f.s.Records().OpenChecks(f.ctx, &changed, t0+7, []*rimewatch.Check{other}))
	f.equal("opened by a round that is another one now", other.ID, int64(0))
	kept, err := f.s.Records().CheckTemplates().Get(f.ctx, f.workspace, round.ID)
	f.must(err)
	f.equal("looked at", []any{kept.Through, kept.Revision, kept.DeviceIDs}, []any{t0 + 6, int64(1), []int64{device}})

	over, err := f.s.Everywhere().AllChecksOver(f.ctx, a.To, 10)
	f.must(err)
	f.equal("over", len(over), 2)
	none := rimewatch.CheckNote{}
	refused := errors.New("refused")
	_, err = f.s.Records().ChangeCheck(f.ctx, f.workspace, a.ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
		c.Status = rimewatch.CheckMissed
		return none, false, refused
	})
	if !errors.Is(err, refused) {
		f.Fatalf("a change that was refused: %v", err)
	}
	ada := rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 9, Name: "Ada"}
	v := 3.5
	done, err := f.s.Records().ChangeCheck(f.ctx, f.workspace, a.ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
		c.Status, c.CompletedAt, c.EnteredAt, c.By, c.Since = rimewatch.CheckCompleted, t0+10, t0+20, &ada, t0-7
		c.Items[0].Value, c.Items[0].ValueAt = &v, t0+9
		return none, false, nil
	})
	f.must(err)
	_, err = f.s.Records().ChangeCheck(f.ctx, f.workspace, a.ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
		c.Status = rimewatch.CheckMissed // is not stored
		return rimewatch.CheckNote{WorkspaceID: f.workspace, CheckID: c.ID, At: t0 + 30, About: t0 + 11, By: ada, Items: done.Items}, true, nil
	})
	f.must(err)
	later := rimewatch.CheckNote{WorkspaceID: f.workspace, CheckID: old.ID, At: t0 + 40, About: t0 - rimewatch.Day, By: ada, Text: "was at 3 °C"}
	f.must(f.s.Records().AddCheckNote(f.ctx, &later))
	within := store.WithSites(f.ctx, rimewatch.Sites{site + 1})
	f.code(f.s.Records().AddCheckNote(within, &rimewatch.CheckNote{WorkspaceID: f.workspace, CheckID: old.ID}), rimewatch.CodeNotFound)
	_, err = f.s.Records().ChangeCheck(within, f.workspace, a.ID, func(*rimewatch.Check) (rimewatch.CheckNote, bool, error) {
		return none, false, errors.New("asked")
	})
	f.code(err, rimewatch.CodeNotFound)

	f.everywhere(func(where string) {
		got, err := f.s.Records().SiteCheck(f.ctx, f.workspace, a.ID)
		f.must(err)
		f.equal(where, got, done)
		for _, q := range []struct {
			name string
			f    store.CheckFilter
			want []int64
		}{
			{"all", store.CheckFilter{}, []int64{b.ID, a.ID, old.ID}}, {"of a site", store.CheckFilter{SiteID: site}, []int64{a.ID, old.ID}},
			{"due", store.CheckFilter{Status: rimewatch.CheckDue}, []int64{b.ID}}, {"of another round", store.CheckFilter{TemplateID: round.ID + 1}, nil},
			{"since", store.CheckFilter{From: t0}, []int64{b.ID, a.ID}}, {"until", store.CheckFilter{To: t0}, []int64{old.ID}},
			{"after b", store.CheckFilter{Before: t0, BeforeID: b.ID}, []int64{a.ID, old.ID}},
		} {
			list, total, err := f.s.Records().Checks(f.ctx, f.workspace, q.f, store.Page{Limit: 10})
			f.must(err)
			var ids []int64
			for i := range list {
				ids = append(ids, list[i].ID)
			}
			f.equal(where+": "+q.name, ids, q.want)
			f.equal(where+": counted", total, len(q.want))
		}
		_, total, err := f.s.Records().Checks(store.WithSites(f.ctx, rimewatch.Sites{site}), f.workspace, store.CheckFilter{}, store.Page{Limit: 1})
		f.must(err)
		f.equal(where+": within a site", total, 2)
		last, err := f.s.Records().LastCheck(f.ctx, f.workspace, round.ID, site, t0+11)
		f.must(err)
		f.equal(where+": the last one", last, t0+10)
		last, err = f.s.Records().LastCheck(f.ctx, f.workspace, round.ID, site, t0+10)
		f.must(err)
		f.equal(where+": before it", last, rimewatch.Time(0))
		notes, err := f.s.Records().CheckNotes(f.ctx, f.workspace, []int64{a.ID, b.ID, old.ID})
		f.must(err)
		f.equal(where+": notes", []int{len(notes[a.ID]), len(notes[b.ID]), len(notes[old.ID])}, []int{1, 0, 1})
		f.equal(where+": a note", notes[old.ID][0], later)
		_, err = f.s.Records().SiteCheck(f.ctx, f.newWorkspace("other "+where), a.ID)
		f.code(err, rimewatch.CodeNotFound)
		broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": the trail", broken, int64(0))
		entries, _, err := f.s.Audit().AuditEntries(f.ctx, f.workspace, "check.", "", store.Page{Limit: 10})
		f.must(err)
		var actions []string
		for _, e := range entries {
			actions = append(actions, e.Action)
		}
		f.equal(where+": recorded", actions, []string{"check.noted", "check.noted", "check.completed", "check.missed"})
		events, err := f.s.Outbox().Events(f.ctx, f.workspace, 0, 100)
		f.must(err)
		var types []rimewatch.EventType
		for i := range events {
			if events[i].Subject == rimewatch.EventSubject("check", a.ID) {
				types = append(types, events[i].Type)
			}
		}
		f.equal(where+": events", types, []rimewatch.EventType{rimewatch.EventCheckDue, rimewatch.EventCheckCompleted})
	})
	// With its site goes the round, not what was recorded.
	sited := rimewatch.CheckTemplate{WorkspaceID: f.workspace, SiteID: site, Name: "Evening", Windows: round.Windows, Tell: rimewatch.TellMissed, CreatedAt: t0, UpdatedAt: t0}
	f.must(f.s.Records().CheckTemplates().Create(f.ctx, &sited))
	f.must(f.s.Sites().Delete(f.ctx, f.workspace, site))
	_, err = f.s.Records().CheckTemplates().Get(f.ctx, f.workspace, sited.ID)
	f.code(err, rimewatch.CodeNotFound)
	_, err = f.s.Records().SiteCheck(f.ctx, f.workspace, a.ID)
	f.must(err)
}
