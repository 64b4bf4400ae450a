package storetest

import (
	"bytes"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// linesOf writes what a case has.
func linesOf(c *rimewatch.Case) (list []string) {
	for _, l := range c.Lines {
		s := fmt.Sprintf("%s %d %d-%d", l.Kind, l.Ref, l.From-t0, l.To)
		if l.To != 0 {
			s = fmt.Sprintf("%s %d %d-%d", l.Kind, l.Ref, l.From-t0, l.To-t0)
		}
		if l.Withdrawn {
			s += " withdrawn"
		}
		list = append(list, s)
	}
	return list
}

// caseOf finds the case of an alert or excursion.
func (f *fixture) caseOf(kind rimewatch.CaseLineKind, ref int64) (c rimewatch.Case) {
	f.Helper()
	of, err := f.s.Records().CasesOf(f.ctx, f.workspace, kind, []int64{ref})
	f.must(err)
	if of[ref] == 0 {
		f.Fatalf("the %s %d is in no case", kind, ref)
	}
	c, err = f.s.Records().Case(f.ctx, f.workspace, of[ref])
	f.must(err)
	return c
}

// cases: the commit that makes an alert or an excursion opens its case; one that fails opens
// none, and no replay opens another.
func (f *fixture) cases() {
	d, other := f.addDevice("CS"), f.addDevice("CT")
	site := f.site(f.workspace)
	changeDevice(f, "CS", nil, func(d *rimewatch.Device) { d.SiteID = site })
	warning, critical := f.alert(d, rimewatch.DoorOpenSuspected, rimewatch.Warning, t0+10), f.alert(d, rimewatch.HighTemperature, rimewatch.Critical, t0+20)
	f.put(d, nil, warning)
	staged, err := f.s.Stage(f.ctx, &store.Group{Now: f.now})
	f.must(err)
	doubled := *critical
	doubled.ID = f.s.NewAlertID()
	f.code(staged.Commit(f.ctx, &store.Effects{Alerts: []*rimewatch.Alert{critical, &doubled}}), rimewatch.CodeInternal)
	_, total, err := f.s.Records().Cases(f.ctx, f.workspace, store.CaseFilter{}, store.Page{Limit: 10})
	f.must(err)
	f.equal("of a commit that failed", total, 0)

	f.put(d, nil, critical)
	x := &rimewatch.Excursion{WorkspaceID: f.workspace, DeviceID: d, From: t0 + 5, To: t0 + 90, Limit: 5, Peak: 9, Cause: rimewatch.CauseDoor}
	y := &rimewatch.Excursion{WorkspaceID: f.workspace, DeviceID: other, From: t0 + 5, To: t0 + 90, Limit: 5, Peak: 9, Cause: rimewatch.CauseDoor}
	f.meaning(d, store.Effects{Excursions: []*rimewatch.Excursion{x, y}})
	done := *critical
	done.Status, done.ResolvedAt, done.Resolution = rimewatch.AlertResolved, t0+100, rimewatch.ResolvedAuto
	f.put(d, nil, &done)
	f.everywhere(func(where string) {
		c := f.caseOf(rimewatch.CaseAlert, critical.ID)
		f.equal(where, linesOf(&c), []string{
			fmt.Sprintf("excursion %d 5-90", x.ID), fmt.Sprintf("alert %d 10-0", warning.ID), fmt.Sprintf("alert %d 20-100", critical.ID),
		})
		f.equal(where+": the case", []any{c.DeviceID, c.SiteID, c.From - t0, c.To - t0, c.Critical, c.Status}, []any{d, site, rimewatch.Time(5), rimewatch.Time(100), true, rimewatch.CaseOpen})
		f.equal(where+": facts", *c.Lines[0].Facts.Peak, 9.0)
		for _, q := range []struct {
			name string
			f    store.CaseFilter
			want int
		}{
			{"all", store.CaseFilter{}, 2}, {"of a device", store.CaseFilter{DeviceID: other}, 1}, {"of a site", store.CaseFilter{SiteID: site}, 1},
			{"open", store.CaseFilter{Status: rimewatch.CaseOpen}, 2}, {"signed", store.CaseFilter{Status: rimewatch.CaseSigned}, 0},
			{"that wait", store.CaseFilter{Waiting: rimewatch.RequireAll}, 2}, {"critical ones that wait", store.CaseFilter{Waiting: rimewatch.RequireCritical}, 1},
			{"that wait by no rule", store.CaseFilter{Waiting: rimewatch.RequireNone}, 0},
		} {
			list, total, err := f.s.Records().Cases(f.ctx, f.workspace, q.f, store.Page{Limit: 1})
			f.must(err)
			f.equal(where+": "+q.name, []int{total, len(list)}, []int{q.want, min(q.want, 1)})
		}
		p, err := f.s.Records().Paperwork(f.ctx, f.workspace, rimewatch.RequireAll)
		f.must(err)
		f.equal(where+": paperwork", p, rimewatch.Paperwork{Cases: 2, Oldest: t0 + 5})
		within := store.WithSites(f.ctx, rimewatch.Sites{site})
		_, total, err := f.s.Records().Cases(within, f.workspace, store.CaseFilter{}, store.Page{Limit: 10})
		f.must(err)
		f.equal(where+": within a site", total, 1)
		foreign := f.caseOf(rimewatch.CaseExcursion, y.ID)
		_, err = f.s.Records().Case(within, f.workspace, foreign.ID)
		f.code(err, rimewatch.CodeNotFound)
		_, err = f.s.Records().Case(f.ctx, f.newWorkspace("other "+where), c.ID)
		f.code(err, rimewatch.CodeNotFound)
	})
	// Late readings show that y never was.
	f.meaning(other, store.Effects{Unfounded: []int64{y.ID}})
	f.everywhere(func(where string) {
		c := f.caseOf(rimewatch.CaseExcursion, y.ID)
		f.equal(where+": withdrawn", linesOf(&c), []string{fmt.Sprintf("excursion %d 5-90 withdrawn", y.ID)})
		p, err := f.s.Records().Paperwork(f.ctx, f.workspace, rimewatch.RequireAll)
		f.must(err)
		f.equal(where+": paperwork of what was withdrawn", p.Cases, 1)
	})
}

// siteCase: an outage of a site is one case, and a device whose silence came before has none
// of its own, unless somebody has filed something in it.
func (f *fixture) siteCase() {
	site := f.site(f.workspace)
	a, b, seen := f.addDevice("SA"), f.addDevice("SB"), f.addDevice("SC")
	for _, serial := range []string{"SA", "SB", "SC"} {
		changeDevice(f, serial, nil, func(d *rimewatch.Device) { d.SiteID = site })
	}
	first, second := f.alert(a, rimewatch.DeviceOffline, rimewatch.Critical, t0), f.alert(b, rimewatch.DeviceOffline, rimewatch.Critical, t0+1)
	f.put(a, nil, first)
	looked := f.alert(seen, rimewatch.DeviceOffline, rimewatch.Critical, t0)
	f.put(seen, nil, looked)
	file := rimewatch.Attachment{WorkspaceID: f.workspace, CaseID: f.caseOf(rimewatch.CaseAlert, looked.ID).ID, Name: "plug.jpg", Type: "image/jpeg", At: t0}
	f.must(f.s.Records().Attach(f.ctx, &file, []byte("x")))
	out := f.alert(0, rimewatch.SiteOffline, rimewatch.Critical, t0+2)
	out.SiteID = site
	first.SuppressedBy, second.SuppressedBy, looked.SuppressedBy = out.ID, out.ID, out.ID
	f.put(a, nil, second, first, looked, out)
	f.everywhere(func(where string) {
		list, total, err := f.s.Records().Cases(f.ctx, f.workspace, store.CaseFilter{}, store.Page{Limit: 10})
		f.must(err)
		f.equal(where, []int64{int64(total), list[0].DeviceID + list[1].DeviceID}, []int64{2, seen})
		f.equal(where+": with a file", f.caseOf(rimewatch.CaseAlert, looked.ID).ID, file.CaseID)
		c := f.caseOf(rimewatch.CaseAlert, first.ID)
		f.equal(where+": lines", linesOf(&c), []string{fmt.Sprintf("alert %d 0-0", first.ID), fmt.Sprintf("alert %d 1-0", second.ID), fmt.Sprintf("alert %d 2-0", out.ID)})
	})
}

// caseRecords: what is recorded for a case, its alerts and its excursions is one record, which
// is signed, and signed anew after what is added.
func (f *fixture) caseRecords() {
	f.ctx = store.WithActor(f.ctx, "Olga")
	d, other := f.addDevice("CR"), f.addDevice("CQ")
	alert := f.alert(d, rimewatch.HighTemperature, rimewatch.Critical, t0)
	alert.Status, alert.ResolvedAt = rimewatch.AlertResolved, t0+50
	x := &rimewatch.Excursion{WorkspaceID: f.workspace, DeviceID: d, From: t0 + 5, To: t0 + 40}
	f.meaning(d, store.Effects{Alerts: []*rimewatch.Alert{alert}, Excursions: []*rimewatch.Excursion{x}})
	id := f.caseOf(rimewatch.CaseAlert, alert.ID).ID
	status := func(want rimewatch.CaseStatus) {
		f.Helper()
		c, err := f.s.Records().Case(f.ctx, f.workspace, id)
		f.must(err)
		f.equal("status", c.Status, want)
	}
	action := func(change func(*rimewatch.CorrectiveAction)) (*rimewatch.CorrectiveAction, error) {
		a := &rimewatch.CorrectiveAction{WorkspaceID: f.workspace, At: t0 + 60, PerformedAt: t0 + 60, PerformedBy: "Ana", Action: "Moved it", RecordedBy: "Ana"}
		change(a)
		return a, f.s.Records().CreateCorrectiveAction(f.ctx, a)
	}
	byAlert, err := action(func(a *rimewatch.CorrectiveAction) { a.AlertID = alert.ID })
	f.must(err)
	status(rimewatch.CaseDocumented)
	byExcursion, err := action(func(a *rimewatch.CorrectiveAction) { a.DeviceID, a.ExcursionID = d, x.ID })
	f.must(err)
	byCase, err := action(func(a *rimewatch.CorrectiveAction) { a.DeviceID, a.CaseID = d, id })
	f.must(err)
	_, err = action(func(a *rimewatch.CorrectiveAction) { a.DeviceID, a.CaseID = other, id })
	f.code(err, rimewatch.CodeValidationFailed)
	_, err = action(func(a *rimewatch.CorrectiveAction) { a.DeviceID, a.CaseID = d, 999 })
	f.code(err, rimewatch.CodeNotFound)

	photo := &rimewatch.Attachment{WorkspaceID: f.workspace, CaseID: id, Name: "probe.jpg", Type: "image/jpeg", Width: 3, Height: 2, At: t0, By: rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 4, Name: "Ana"}}
	data := bytes.Repeat([]byte("frost"), rimewatch.AttachmentPiece/2) // of three pieces
	f.must(f.s.Records().Attach(f.ctx, photo, data))
	again := *photo
	again.ID = 0
	f.must(f.s.Records().Attach(f.ctx, &again, data))
	f.equal("attached twice", again, *photo)

	sign := &rimewatch.Signature{WorkspaceID: f.workspace, CaseID: id, At: t0 + 70, UserID: 4, SessionID: 8, Name: "Ana", Meaning: rimewatch.MeaningPerformed, Proof: "password", Content: `{"case":1}`}
	f.code(f.s.Records().SignCase(f.ctx, sign, 3), rimewatch.CodeConflict) // one of four was not seen
	f.must(f.s.Records().SignCase(f.ctx, sign, 4))
	status(rimewatch.CaseSigned)
	f.everywhere(func(where string) {
		c, err := f.s.Records().Case(f.ctx, f.workspace, id)
		f.must(err)
		list, err := f.s.Records().CaseActions(f.ctx, &c)
		f.must(err)
		f.equal(where+": actions", list, []rimewatch.CorrectiveAction{*byAlert, *byExcursion, *byCase})
		signed, err := f.s.Records().Signatures(f.ctx, f.workspace, id)
		f.must(err)
		f.equal(where+": signatures", signed, []rimewatch.Signature{*sign})
		for session, want := range map[int64]bool{8: true, 9: false} {
			has, err := f.s.Records().SignedIn(f.ctx, session)
			f.must(err)
			f.equal(where+": signed in the session", has, want)
		}
		files, err := f.s.Records().Attachments(f.ctx, f.workspace, id)
		f.must(err)
		f.equal(where+": attachments", files, []rimewatch.Attachment{*photo})
		_, got, err := f.s.Records().Attachment(f.ctx, f.workspace, id, photo.ID)
		f.must(err)
		f.equal(where+": bytes", bytes.Equal(got, data), true)
		_, _, err = f.s.Records().Attachment(f.ctx, f.newWorkspace("other "+where), id, photo.ID)
		f.code(err, rimewatch.CodeNotFound)
		broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
		f.must(err)
		f.equal(where+": chain", broken, int64(0))
	})
	_, err = action(func(a *rimewatch.CorrectiveAction) { a.AlertID = alert.ID })
	f.must(err)
	status(rimewatch.CaseDocumented) // the signature does not cover it
	_, err = f.s.Records().VerifyCorrectiveAction(f.ctx, f.workspace, byAlert.ID, rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 5, Name: "Bo"}, t0+80)
	f.must(err)
	broken, err := f.s.Audit().VerifyAudit(f.ctx, f.workspace)
	f.must(err)
	f.equal("chain of what was verified", broken, int64(0))
}

// documentedCases: a person has a case opened for what is in none, once, and what was recorded
// before is in it.
func (f *fixture) documentedCases() {
	d := f.addDevice("DO")
	warning := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0)
	warning.Status, warning.ResolvedAt = rimewatch.AlertResolved, t0+50
	old := &rimewatch.Excursion{WorkspaceID: f.workspace, DeviceID: d, From: t0 + 5, To: t0 + 40, FoundLateAt: t0 + 30*rimewatch.Day}
	f.meaning(d, store.Effects{Alerts: []*rimewatch.Alert{warning}, Excursions: []*rimewatch.Excursion{old}})
	_, total, err := f.s.Records().Cases(f.ctx, f.workspace, store.CaseFilter{}, store.Page{Limit: 10})
	f.must(err)
	f.equal("by themselves", total, 0)
	f.must(f.s.Records().CreateCorrectiveAction(f.ctx, &rimewatch.CorrectiveAction{WorkspaceID: f.workspace, AlertID: warning.ID, At: t0, PerformedAt: t0, PerformedBy: "Ana", Action: "Closed it", RecordedBy: "Ana"}))
	c, err := f.s.Records().DocumentCase(f.ctx, f.workspace, rimewatch.CaseLine{Kind: rimewatch.CaseExcursion, Ref: old.ID}, "Ana", t0+100)
	f.must(err)
	f.equal("opened", []any{c.OpenedBy, c.Status, len(c.Lines)}, []any{"Ana", rimewatch.CaseDocumented, 2})
	for _, about := range []rimewatch.CaseLine{{Kind: rimewatch.CaseAlert, Ref: warning.ID}, {Kind: rimewatch.CaseExcursion, Ref: old.ID}} {
		again, err := f.s.Records().DocumentCase(f.ctx, f.workspace, about, "Bo", t0+200)
		f.must(err)
		f.equal("again", again.ID, c.ID)
	}
	span := rimewatch.CaseLine{Kind: rimewatch.CaseSpan, DeviceID: d, From: t0 + rimewatch.Day, To: t0 + rimewatch.Day + rimewatch.Hour}
	later, err := f.s.Records().DocumentCase(f.ctx, f.workspace, span, "Ana", t0+2*rimewatch.Day)
	f.must(err)
	f.equal("of a span", []any{later.ID != c.ID, later.From, later.To, later.Status}, []any{true, span.From, span.To, rimewatch.CaseOpen})
	_, err = f.s.Records().DocumentCase(f.ctx, f.newWorkspace("Foreign"), rimewatch.CaseLine{Kind: rimewatch.CaseAlert, Ref: warning.ID}, "Eve", t0)
	f.code(err, rimewatch.CodeAlertNotFound)
	_, err = f.s.Records().DocumentCase(f.ctx, f.workspace, rimewatch.CaseLine{Kind: rimewatch.CaseExcursion, Ref: 999}, "Ana", t0)
	f.code(err, rimewatch.CodeValidationFailed)
}
