package records

import (
	"context"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/record"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

const (
	checkValueAge = rimewatch.Hour     // a value of a sensor that is older says nothing of the moment of a check
	firstRange    = rimewatch.Day      // how far back the lowest and highest of a first check go
	longestRange  = 31 * rimewatch.Day // and at most of any
)

// Check is a round on one day at one site.
type Check struct {
	ID          int64                 `json:"id"`
	TemplateID  int64                 `json:"template_id"`
	SiteID      *int64                `json:"site_id" doc:"null = of devices without a site."`
	Name        string                `json:"name" doc:"Of the round, when it began."`
	Pack        *string               `json:"pack"`
	Day         string                `json:"day" format:"date" doc:"On which it begins by the clock of the site."`
	DueFrom     rimewatch.Time        `json:"due_from" nullable:"false"`
	DueUntil    rimewatch.Time        `json:"due_until" nullable:"false"`
	Status      rimewatch.CheckStatus `json:"status" enum:"due,completed,missed" doc:"An open set."`
	Reason      *string               `json:"reason" doc:"Why it was missed: not_done, or service_not_running for as long as its time lasted; an open set."`
	Range       bool                  `json:"range" doc:"The lowest and highest value since the check before are part of it."`
	Typed       bool                  `json:"typed" doc:"The value of another thermometer is asked for."`
	Since       rimewatch.Time        `json:"since" doc:"When the check before was completed; null = there is none."`
	CompletedAt rimewatch.Time        `json:"completed_at" doc:"When somebody did it; null = nobody has."`
	EnteredAt   rimewatch.Time        `json:"entered_at" doc:"When that was entered."`
	By          wire.Maybe[Doer]      `json:"by" doc:"Who did it."`
	Items       []CheckItem           `json:"items" doc:"The devices. Of a check that is due their values are those of this moment in the answer about one check, and absent in lists. Of one that was missed they stay empty for ever."`
	Notes       []CheckNote           `json:"notes" doc:"What was entered later, oldest first."`
}

// CheckItem is a device of a check.
type CheckItem struct {
	DeviceID    int64          `json:"device_id"`
	Serial      string         `json:"serial"`
	Name        string         `json:"name"`
	Gone        *string        `json:"gone" doc:"deleted or moved (to another site) since the check began, so that there is nothing to look at; null otherwise. An open set."`
	Value       *float64       `json:"value" doc:"°C, what the sensor said then, not older than an hour; null = it said nothing."`
	ValueAt     rimewatch.Time `json:"value_at"`
	Min         *float64       `json:"min" doc:"°C, the lowest since range_from."`
	MinAt       rimewatch.Time `json:"min_at"`
	Max         *float64       `json:"max" doc:"°C, the highest."`
	MaxAt       rimewatch.Time `json:"max_at"`
	RangeFrom   rimewatch.Time `json:"range_from" doc:"When the check before was completed; of a first one a day before."`
	TypedValue  *float64       `json:"typed_value" doc:"°C, what somebody read from another thermometer."`
	TempMin     *float64       `json:"temp_min" doc:"°C, the limits of that moment."`
	TempMax     *float64       `json:"temp_max"`
	OutOfLimits bool           `json:"out_of_limits" doc:"One of the values is outside them."`
	Note        string         `json:"note"`
}

// CheckNote is a later entry, or one by a second person.
type CheckNote struct {
	ID      int64          `json:"id"`
	AboutAt rimewatch.Time `json:"about_at" nullable:"false" doc:"The time that it is about."`
	At      rimewatch.Time `json:"at" nullable:"false" doc:"When it was entered."`
	By      Doer           `json:"by"`
	Text    string         `json:"text"`
	Items   []CheckItem    `json:"items" doc:"Of a completion that did not count: it was too late, or a second one."`
}

func checkItemsJSON(list []rimewatch.CheckItem) []CheckItem {
	out := make([]CheckItem, len(list))
	for i := range list {
		it := &list[i]
		out[i] = CheckItem{
			it.DeviceID, it.Serial, it.Name, wire.OrNull(string(it.Gone)), it.Value, it.ValueAt, it.Min, it.MinAt, it.Max, it.MaxAt, it.From, it.Typed, it.Low, it.High, it.Out, it.Note,
		}
	}
	return out
}

func checkJSON(x *rimewatch.Check, notes []rimewatch.CheckNote) Check {
	out := Check{
		ID: x.ID, TemplateID: x.TemplateID, SiteID: wire.OrNull(x.SiteID), Name: x.Name, Pack: wire.OrNull(x.Pack), Day: x.Day, DueFrom: x.From, DueUntil: x.To, Status: x.Status,
		Reason: wire.OrNull(string(x.Reason)), Range: x.Ask.Range, Typed: x.Ask.Typed, Since: x.Since, CompletedAt: x.CompletedAt, EnteredAt: x.EnteredAt, By: wire.Maybe[Doer]{Value: doerJSON(x.By)},
		Items: checkItemsJSON(x.Items), Notes: make([]CheckNote, len(notes)),
	}
	for i := range notes {
		n := &notes[i]
		out.Notes[i] = CheckNote{n.ID, n.About, n.At, *doerJSON(&n.By), n.Text, checkItemsJSON(n.Items)}
	}
	return out
}

// ChecksInput narrows the list of checks.
type ChecksInput struct {
	httpapi.PageInput
	Due        bool   `query:"due" doc:"Only those that are due now: as status=due."`
	Status     string `query:"status" enum:"due,completed,missed"`
	SiteID     int64  `query:"site_id" minimum:"1"`
	TemplateID int64  `query:"template_id" minimum:"1"`
	From       string `query:"from" format:"date-time" doc:"Those whose time begins at this moment or later."`
	To         string `query:"to" format:"date-time" doc:"Those whose time begins before this."`
}

// CheckList are checks, newest first.
type CheckList struct {
	Checks     []Check         `json:"checks"`
	Pagination wire.Pagination `json:"pagination"`
}

func (a *api) listChecks(ctx context.Context, in *ChecksInput) (CheckList, error) {
	c := httpapi.CallOf(ctx)
	f := store.CheckFilter{Status: rimewatch.CheckStatus(in.Status), SiteID: in.SiteID, TemplateID: in.TemplateID}
	if in.Due {
		f.Status = rimewatch.CheckDue
	}
	f.From, _ = rimewatch.ParseTime(in.From)
	f.To, _ = rimewatch.ParseTime(in.To)
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorChecks, Owner: c.Workspace()}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.Check, int, error) {
		f.Before, f.BeforeID = rimewatch.Time(from.A), from.B
		return a.Store.Records().Checks(ctx, c.Workspace(), f, store.Page{Offset: from.Offset, Limit: from.Limit})
	}, func(x *rimewatch.Check) (int64, int64) { return int64(x.From), x.ID })
	if err != nil {
		return CheckList{}, err
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	notes, err := a.Store.Records().CheckNotes(ctx, c.Workspace(), ids)
	out := CheckList{Checks: make([]Check, len(list)), Pagination: page}
	for i := range list {
		out.Checks[i] = checkJSON(&list[i], notes[list[i].ID])
	}
	return out, err
}

// CheckData is the data of answers about one check.
type CheckData struct {
	Check Check `json:"check"`
	Late  bool  `json:"late" doc:"What was sent is kept as a note: it was not done within the time of the check, was entered more than a day later, or somebody else was first."`
}

func (a *api) getCheck(ctx context.Context, in *httpapi.IDInput) (CheckData, error) {
	c := httpapi.CallOf(ctx)
	x, err := a.Store.Records().SiteCheck(ctx, c.Workspace(), in.Number())
	if err == nil && x.Status == rimewatch.CheckDue {
		x.Items, x.Since, err = a.values(ctx, &x, c.Now)
	}
	if err != nil {
		return CheckData{}, err
	}
	return a.checkData(ctx, &x, false)
}

func (a *api) checkData(ctx context.Context, x *rimewatch.Check, late bool) (CheckData, error) {
	notes, err := a.Store.Records().CheckNotes(ctx, x.WorkspaceID, []int64{x.ID})
	return CheckData{checkJSON(x, notes[x.ID]), late}, err
}

// values returns the devices of a check with what their sensors said at a moment, and when the check before was completed.
func (a *api) values(ctx context.Context, x *rimewatch.Check, at rimewatch.Time) (items []rimewatch.CheckItem, since rimewatch.Time, err error) {
	if since, err = a.Store.Records().LastCheck(ctx, x.WorkspaceID, x.TemplateID, x.SiteID, at); err != nil {
		return nil, 0, err
	}
	from := since
	if from == 0 {
		from = at - firstRange
	}
	items = make([]rimewatch.CheckItem, len(x.Items))
	for i := range x.Items {
		was := &x.Items[i]
		items[i] = rimewatch.CheckItem{DeviceID: was.DeviceID, Serial: was.Serial, Name: was.Name}
		if err := a.value(ctx, x, &items[i], max(from, at-longestRange), at); err != nil {
			return nil, 0, err
		}
	}
	return items, since, nil
}

func (a *api) value(ctx context.Context, x *rimewatch.Check, it *rimewatch.CheckItem, from, at rimewatch.Time) error {
	v, ok := a.Store.DeviceByID(it.DeviceID)
	switch {
	case !ok:
		it.Gone = rimewatch.GoneDeleted
		return nil
	case v.SiteID != x.SiteID:
		it.Gone = rimewatch.GoneMoved
		return nil
	}
	limits := v.LimitsInForce()
	it.Low, it.High = limits.TempMin, limits.TempMax
	q := store.HistoryQuery{DeviceID: it.DeviceID, From: max(at-checkValueAge, 0), To: at + 1}
	if x.Ask.Range {
		it.From, q.From = from, min(q.From, from)
	}
	err := store.Corrected{History: a.Store, Offsets: v.Offsets}.Readings(ctx, q, func(r *rimewatch.Reading) error {
		t, ok := r.Value(rimewatch.ProductZoneTemp)
		if !ok {
			return nil
		}
		if r.At >= at-checkValueAge {
			it.Value, it.ValueAt = &t, r.At
		}
		if x.Ask.Range && r.At >= from {
			record.Extreme(it, t, r.At)
		}
		return nil
	})
	record.Judge(it)
	return err
}

// CheckBody completes a check.
type CheckBody struct {
	CompletedAt *rimewatch.Time   `json:"completed_at,omitempty" doc:"When it was done: of a phone that had no network. Default: now."`
	PerformedBy string            `json:"performed_by,omitempty" maxLength:"200" doc:"Who did it. Default: the person who is signed in; a token has to name somebody."`
	External    *External         `json:"external,omitempty" doc:"Somebody else who did it, with a firm, instead of performed_by."`
	Items       []CheckAnswerBody `json:"items,omitempty" maxItems:"1000" doc:"What there is to say of devices. Those that are absent are confirmed as the sensor has them."`
	Note        string            `json:"note,omitempty" maxLength:"2000" doc:"Kept if the completion becomes a note."`
}

// CheckAnswerBody is a person's entry for a device.
type CheckAnswerBody struct {
	DeviceID   int64    `json:"device_id" minimum:"1"`
	TypedValue *float64 `json:"typed_value,omitempty" nullable:"true" minimum:"-100" maximum:"200" doc:"°C, read from another thermometer. It stands beside the value of the sensor."`
	Note       string   `json:"note,omitempty" maxLength:"1000" doc:"What was done. Needed where something is outside its limits, and where there is no value."`
}

func (a *api) completeCheck(ctx context.Context, in *httpapi.IDBody[CheckBody]) (CheckData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	var f wire.FieldErrors
	by, _, err := a.doers(ctx, names{b.PerformedBy, b.External, nil}, &f)
	if err != nil {
		return CheckData{}, err
	}
	x, err := a.Store.Records().SiteCheck(ctx, c.Workspace(), in.Number())
	if err != nil {
		return CheckData{}, err
	}
	done := record.Completion{At: c.Now, By: by, Note: strings.TrimSpace(b.Note)}
	if b.CompletedAt != nil {
		done.At = *b.CompletedAt
		f.NotLater("completed_at", done.At, c.Now)
	}
	if f.Err != nil {
		return CheckData{}, f.Err
	}
	var since rimewatch.Time
	if done.Items, since, err = a.values(ctx, &x, min(done.At, c.Now)); err != nil {
		return CheckData{}, err
	}
	for i := range b.Items {
		answer(done.Items, &b.Items[i], &f)
	}
	if f.Err != nil {
		return CheckData{}, f.Err
	}
	if x.By != nil && x.CompletedAt == done.At && *x.By == by { // sent again by a phone that did not hear of it
		return a.checkData(ctx, &x, false)
	}
	late := false
	x, err = a.Store.Records().ChangeCheck(ctx, c.Workspace(), x.ID, func(x *rimewatch.Check) (note rimewatch.CheckNote, _ bool, err error) {
		note, late, err = record.Complete(x, &done, c.Now)
		if err == nil && !late {
			x.Since = since
		}
		return note, late, err
	})
	if err != nil {
		return CheckData{}, err
	}
	return a.checkData(ctx, &x, late)
}

// answer adds a person's entry for a device to the values of its sensor.
func answer(items []rimewatch.CheckItem, b *CheckAnswerBody, f *wire.FieldErrors) {
	for i := range items {
		if it := &items[i]; it.DeviceID == b.DeviceID {
			it.Typed, it.Note = b.TypedValue, strings.TrimSpace(b.Note)
			record.Judge(it)
			return
		}
	}
	f.Add("items", "must be devices of the check")
}

// CheckNoteBody is a later entry.
type CheckNoteBody struct {
	AboutAt     *rimewatch.Time `json:"about_at,omitempty" doc:"The time that it is about. Default: now."`
	Text        string          `json:"text" minLength:"1" maxLength:"2000"`
	PerformedBy string          `json:"performed_by,omitempty" maxLength:"200" doc:"Whose note it is. Default: the person who is signed in; a token has to name somebody."`
}

func (a *api) noteCheck(ctx context.Context, in *httpapi.IDBody[CheckNoteBody]) (CheckData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	var f wire.FieldErrors
	f.NotBlank("text", b.Text)
	by, _, err := a.doers(ctx, names{b.PerformedBy, nil, nil}, &f)
	if err != nil {
		return CheckData{}, err
	}
	n := rimewatch.CheckNote{WorkspaceID: c.Workspace(), CheckID: in.Number(), At: c.Now, About: c.Now, By: by, Text: strings.TrimSpace(b.Text)}
	if b.AboutAt != nil {
		n.About = *b.AboutAt
		f.NotLater("about_at", n.About, c.Now)
	}
	if f.Err != nil {
		return CheckData{}, f.Err
	}
	if err := a.Store.Records().AddCheckNote(ctx, &n); err != nil {
		return CheckData{}, err
	}
	x, err := a.Store.Records().SiteCheck(ctx, c.Workspace(), n.CheckID)
	if err != nil {
		return CheckData{}, err
	}
	return a.checkData(ctx, &x, false)
}

func (a *api) checkRoutes() []httpapi.Route {
	read, write := httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeRecords), httpapi.Either(rimewatch.RoleTechnician, rimewatch.ScopeRecords)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/checks", Sited: true, Paged: true, ID: "list-checks", Tag: "Records", Summary: "List checks", Access: read, Listed: "checks",
			Description: "Rounds that are due, were completed or were missed, newest first. They are opened within a minute of their time by the clock of the site.", Bind: httpapi.Handle(a.listChecks),
		},
		{
			Method: http.MethodGet, Path: "/v1/checks/{id}", Sited: true, ID: "get-check", Tag: "Records", Summary: "Get a check", Access: read,
			Description: "Of one that is due, with what its sensors say now.", Bind: httpapi.Handle(a.getCheck),
		},
		{
			Method: http.MethodPost, Path: "/v1/checks/{id}/complete", Sited: true, ID: "complete-check", Tag: "Records", Summary: "Complete a check", Access: write, Body: httpapi.JSONBody,
			Also:        []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Description: "What the sensors said at `completed_at` is filled in by the service and cannot be sent; what another thermometer shows stands beside it. The first completion that was done within the time of the check and is entered within a day counts, also from a phone that had no network. Any other is kept as a note with both times (`late`). From a token it says so, as said by that token.",
			Bind:        httpapi.Handle(a.completeCheck),
		},
		{
			Method: http.MethodPost, Path: "/v1/checks/{id}/notes", Sited: true, ID: "note-check", Tag: "Records", Summary: "Add a later note to a check", Access: write, Body: httpapi.JSONBody, Status: http.StatusCreated,
			Also:        []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Description: "With the time that it is about and the time at which it was entered. It changes nothing of the check: one that was missed stays so.", Bind: httpapi.Handle(a.noteCheck),
		},
	}
}
