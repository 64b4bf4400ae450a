package records

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/record"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Case are alerts and excursions to be documented together.
type Case struct {
	ID           int64                `json:"id"`
	Status       rimewatch.CaseStatus `json:"status" enum:"open,documented,signed" doc:"open: nothing that was done is on record. documented: something is. signed: and the newest signature covers all of it. An open set."`
	DeviceID     *int64               `json:"device_id" doc:"null for an outage of a site."`
	DeviceSerial *string              `json:"device_serial" doc:"null for an outage of a site, and when the device was deleted."`
	DeviceName   *string              `json:"device_name" doc:"Likewise."`
	SiteID       *int64               `json:"site_id" doc:"Where the device stood when the case was opened."`
	From         rimewatch.Time       `json:"from" nullable:"false"`
	To           rimewatch.Time       `json:"to" doc:"null while it lasts."`
	Critical     bool                 `json:"critical" doc:"One of its alerts was."`
	Withdrawn    bool                 `json:"withdrawn" doc:"Late readings showed that nothing of it ever was."`
	OpenedAt     rimewatch.Time       `json:"opened_at" nullable:"false"`
	OpenedBy     *string              `json:"opened_by" doc:"Who asked for it; null when the service opened it."`
	Lines        []CaseLine           `json:"lines" doc:"Its alerts and excursions, by when they began."`
}

// CaseLine is an alert, an excursion or a span of a case.
type CaseLine struct {
	Kind          rimewatch.CaseLineKind    `json:"kind" enum:"alert,excursion,span" doc:"span: that a person named. An open set."`
	AlertID       *int64                    `json:"alert_id"`
	ExcursionID   *int64                    `json:"excursion_id"`
	DeviceSerial  *string                   `json:"device_serial"`
	From          rimewatch.Time            `json:"from" nullable:"false"`
	To            rimewatch.Time            `json:"to" doc:"null while it lasts."`
	Withdrawn     bool                      `json:"withdrawn" doc:"Late readings showed that it never was."`
	Type          *rimewatch.AlertType      `json:"type" doc:"Of an alert."`
	Severity      *rimewatch.Severity       `json:"severity" doc:"warning or critical, of an alert."`
	Low           bool                      `json:"low" doc:"Of an excursion below the lower limit."`
	Limit         *float64                  `json:"limit" doc:"That was passed, in unit."`
	Peak          *float64                  `json:"peak" doc:"The worst value, in unit."`
	Unit          string                    `json:"unit"`
	DegreeMinutes *float64                  `json:"degree_minutes" doc:"K·min beyond the limit, of an excursion."`
	Cause         *rimewatch.ExcursionCause `json:"cause" enum:"defrost,door,loading,fault,power,sensor,unknown" doc:"Of an excursion, as far as the readings can tell."`
}

func (a *api) caseJSON(c *rimewatch.Case) Case {
	out := Case{
		ID: c.ID, Status: c.Status, DeviceID: wire.OrNull(c.DeviceID), SiteID: wire.OrNull(c.SiteID), From: c.From, To: c.To, Critical: c.Critical,
		Withdrawn: c.Withdrawn(), OpenedAt: c.OpenedAt, OpenedBy: wire.OrNull(c.OpenedBy), Lines: make([]CaseLine, len(c.Lines)),
	}
	if v, ok := a.Store.DeviceByID(c.DeviceID); ok {
		out.DeviceSerial, out.DeviceName = &v.Serial, &v.Name
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		x := CaseLine{
			Kind: l.Kind, From: l.From, To: l.To, Withdrawn: l.Withdrawn, Type: wire.OrNull(l.Facts.Type), Severity: wire.OrNull(l.Facts.Severity),
			Low: l.Facts.Low, Limit: l.Facts.Limit, Peak: l.Facts.Peak, Unit: l.Facts.Unit, Cause: wire.OrNull(l.Facts.Cause),
		}
		switch l.Kind {
		case rimewatch.CaseAlert:
			x.AlertID = &l.Ref
		case rimewatch.CaseExcursion:
			x.ExcursionID = &l.Ref
			k := float64(int64(l.Facts.DegreeMinutes*10+0.5)) / 10
			x.DegreeMinutes = &k
		case rimewatch.CaseSpan:
		}
		if v, ok := a.Store.DeviceByID(l.DeviceID); ok {
			x.DeviceSerial = &v.Serial
		}
		out.Lines[i] = x
	}
	return out
}

// CasesInput narrows the list of cases.
type CasesInput struct {
	httpapi.PageInput
	Status      string `query:"status" enum:"open,documented,signed"`
	SiteID      int64  `query:"site_id" minimum:"1"`
	Device      string `query:"device" maxLength:"84" doc:"Serial. An unknown one returns an empty list."`
	Waiting     bool   `query:"waiting" doc:"Only those that wait for documentation by require_action of the workspace: what is not documented, over, and not withdrawn."`
	AlertID     int64  `query:"alert_id" minimum:"1" doc:"Only the case that this alert is in."`
	ExcursionID int64  `query:"excursion_id" minimum:"1" doc:"Only the case that this excursion is in."`
}

// CaseList are cases, newest first.
type CaseList struct {
	Cases      []Case          `json:"cases"`
	Pagination wire.Pagination `json:"pagination"`
}

func (a *api) listCases(ctx context.Context, in *CasesInput) (CaseList, error) {
	c := httpapi.CallOf(ctx)
	out := CaseList{Cases: []Case{}}
	f := store.CaseFilter{Status: rimewatch.CaseStatus(in.Status), SiteID: in.SiteID}
	known := true
	if in.Device != "" {
		if who := a.Store.Identify(c.Workspace(), []byte(in.Device)); who != nil {
			f.DeviceID = who.ID
		} else {
			known = false
		}
	}
	if in.Waiting {
		w, err := a.Auth().Workspace(ctx, c.Principal)
		if err != nil {
			return out, err
		}
		if f.Waiting = w.RequireAction; f.Waiting == "" {
			f.Waiting = rimewatch.RequireNone
		}
	}
	for _, of := range []struct {
		kind rimewatch.CaseLineKind
		ref  int64
	}{{rimewatch.CaseAlert, in.AlertID}, {rimewatch.CaseExcursion, in.ExcursionID}} {
		if of.ref == 0 {
			continue
		}
		ids, err := a.Store.Records().CasesOf(ctx, c.Workspace(), of.kind, []int64{of.ref})
		if err != nil {
			return out, err
		}
		if f.ID = ids[of.ref]; f.ID == 0 {
			known = false
		}
	}
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorCases, Owner: c.Workspace()}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.Case, int, error) {
		if !known {
			return nil, 0, nil
		}
		f.Before, f.BeforeID = rimewatch.Time(from.A), from.B
		return a.Store.Records().Cases(ctx, c.Workspace(), f, store.Page{Offset: from.Offset, Limit: from.Limit})
	}, func(x *rimewatch.Case) (int64, int64) { return int64(x.From), x.ID })
	if err != nil {
		return out, err
	}
	for i := range list {
		out.Cases = append(out.Cases, a.caseJSON(&list[i]))
	}
	out.Pagination = page
	return out, nil
}

// CaseDevice is a device of a case.
type CaseDevice struct {
	ID            int64            `json:"id"`
	Serial        string           `json:"serial"`
	Name          string           `json:"name"`
	EquipmentType string           `json:"equipment_type"`
	Deleted       bool             `json:"deleted"`
	Limits        rimewatch.Limits `json:"limits" doc:"In force when the case began."`
	CalibratedAt  rimewatch.Time   `json:"calibrated_at" doc:"When its product probe was last checked; null = never."`
	CalibratedOK  *bool            `json:"calibrated_ok" doc:"Whether it passed; null without a calibration."`
}

// CaseTold is a line of the timelines of a case's alerts.
type CaseTold struct {
	At      rimewatch.Time `json:"at" nullable:"false"`
	AlertID int64          `json:"alert_id"`
	Kind    string         `json:"kind" doc:"told: a message; otherwise as in an alert's timeline. An open set."`
	Actor   *string        `json:"actor" doc:"Who did it; null for the service and of messages."`
	Note    *string        `json:"note"`
	Channel *string        `json:"channel" doc:"Over which channel somebody was told."`
	Status  *string        `json:"status" doc:"Of the message: pending, sent, failed or dropped; an open set."`
}

// Attachment is a photo or document of a case.
type Attachment struct {
	ID         int64          `json:"id"`
	Name       string         `json:"name"`
	Type       string         `json:"type" enum:"image/jpeg,image/png,application/pdf"`
	Size       int64          `json:"size" doc:"Bytes as kept."`
	Width      *int           `json:"width" doc:"px; null of a document."`
	Height     *int           `json:"height"`
	SHA256     string         `json:"sha256" doc:"Of what is kept. Images are scaled down and encoded anew, so that nothing but the picture is left."`
	SentSHA256 string         `json:"sent_sha256" doc:"Of the file as it was sent."`
	At         rimewatch.Time `json:"at" nullable:"false"`
	By         Doer           `json:"by"`
	URL        string         `json:"url" doc:"Where the bytes are, without the host."`
}

func attachmentJSON(x *rimewatch.Attachment) Attachment {
	out := Attachment{
		ID: x.ID, Name: x.Name, Type: x.Type, Size: x.Size, SHA256: fmt.Sprintf("%x", x.SHA256), SentSHA256: fmt.Sprintf("%x", x.Original), At: x.At, By: *doerJSON(&x.By),
		Width: wire.OrNull(x.Width), Height: wire.OrNull(x.Height), URL: fmt.Sprintf("%s/v1/cases/%d/attachments/%d", httpapi.Prefix, x.CaseID, x.ID),
	}
	return out
}

// CaseGoods are the possible dispositions of the product.
type CaseGoods struct {
	Kind     string         `json:"kind" enum:"food,medicine,other"`
	Advice   *string        `json:"advice" doc:"What has to be done first; null = nothing in particular."`
	Outcomes []GoodsOutcome `json:"outcomes" doc:"What to choose from: nothing is chosen beforehand."`
}

// GoodsOutcome is one of them.
type GoodsOutcome struct {
	Detail      string                `json:"detail" doc:"The disposition_detail of an action."`
	Label       string                `json:"label" doc:"In the language of the request."`
	Disposition rimewatch.Disposition `json:"disposition" enum:"release,hold,discard,none"`
}

// CaseData is the data of the answer with one case.
type CaseData struct {
	Case           Case               `json:"case"`
	Devices        []CaseDevice       `json:"devices" doc:"The device, or those of an outage."`
	Peak           *float64           `json:"peak" doc:"°C, the worst of its excursions."`
	DegreeMinutes  float64            `json:"degree_minutes" doc:"K·min beyond the limits, of all of them."`
	Told           []CaseTold         `json:"told" doc:"Who was told when, and who answered."`
	Actions        []CorrectiveAction `json:"actions" doc:"Recorded for the case, its alerts or its excursions."`
	Attachments    []Attachment       `json:"attachments"`
	Signatures     []Signature        `json:"signatures"`
	Goods          CaseGoods          `json:"goods"`
	Required       bool               `json:"action_required" doc:"The workspace wants such cases documented."`
	FirstSignature bool               `json:"first_signature" doc:"The session has signed nothing yet: a signature then also needs the e-mail address. false for API tokens, which cannot sign."`
}

func (a *api) getCase(ctx context.Context, in *httpapi.IDInput) (CaseData, error) {
	return a.caseData(ctx, in.Number())
}

func (a *api) caseData(ctx context.Context, id int64) (CaseData, error) {
	c := httpapi.CallOf(ctx)
	d, err := a.Reports.Case(ctx, c.Workspace(), id)
	if err != nil {
		return CaseData{}, err
	}
	out := CaseData{
		Case: a.caseJSON(&d.Case), Devices: []CaseDevice{}, Told: []CaseTold{}, Actions: a.correctiveActionsJSON(d.Actions), Attachments: []Attachment{},
		Required: d.Required, Goods: goodsOf(c, d),
	}
	worst, k := d.Peak()
	if worst != nil {
		out.Peak = worst.Facts.Peak
	}
	out.DegreeMinutes = float64(int64(k*10+0.5)) / 10
	for i := range d.Devices {
		x := &d.Devices[i]
		device := CaseDevice{ID: x.ID, Serial: x.Serial, Name: x.Name, EquipmentType: x.EquipmentType, Deleted: x.Deleted, Limits: x.Limits}
		if k := x.Probe(d.Case.From); k != nil {
			device.CalibratedAt, device.CalibratedOK = k.PerformedAt, &k.Passed
		}
		out.Devices = append(out.Devices, device)
	}
	for i := range d.Told {
		t := &d.Told[i]
		line := CaseTold{At: t.At, AlertID: t.AlertID, Kind: string(t.Kind), Actor: wire.OrNull(t.Actor), Note: wire.OrNull(t.Note)}
		if t.Kind == "" {
			status := string(t.Status)
			line.Kind, line.Channel, line.Status = "told", &t.Channel, &status
		}
		out.Told = append(out.Told, line)
	}
	for i := range d.Attachments {
		out.Attachments = append(out.Attachments, attachmentJSON(&d.Attachments[i].Attachment))
	}
	if out.Signatures, err = signaturesJSON(d); err != nil || c.Principal.SessionID == 0 {
		return out, err
	}
	signed, err := a.Store.Records().SignedIn(ctx, c.Principal.SessionID)
	out.FirstSignature = !signed
	return out, err
}

// goodsOf are those of a case, whose device comes first.
func goodsOf(c *httpapi.Call, d *report.Dossier) CaseGoods {
	if d.Case.DeviceID != 0 && len(d.Devices) > 0 {
		return goodsJSON(c, d.Devices[0].EquipmentType)
	}
	return goodsJSON(c, "")
}

// goodsJSON are the goods of a type of equipment, "" = of anything.
func goodsJSON(c *httpapi.Call, kind string) CaseGoods {
	g, words := record.GoodsOf(kind), c.Words()
	out := CaseGoods{Kind: g.Kind}
	if g.Advice != "" {
		advice := words.Say(g.Advice)
		out.Advice = &advice
	}
	for _, o := range g.Outcomes {
		out.Outcomes = append(out.Outcomes, GoodsOutcome{o.Detail, words.Say(o.Detail), o.Disposition})
	}
	return out
}

// CaseBody is the reason to open a case: an alert, an excursion, or a device and a span.
type CaseBody struct {
	AlertID      *int64          `json:"alert_id,omitempty" minimum:"1"`
	ExcursionID  *int64          `json:"excursion_id,omitempty" minimum:"1"`
	DeviceSerial string          `json:"device_serial,omitempty" maxLength:"64"`
	From         *rimewatch.Time `json:"from,omitempty" doc:"With device_serial."`
	To           *rimewatch.Time `json:"to,omitempty" doc:"With device_serial; not later than now."`
}

func (a *api) documentCase(ctx context.Context, in *httpapi.BodyInput[CaseBody]) (CaseData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	var f wire.FieldErrors
	var about rimewatch.CaseLine
	named := 0
	if b.AlertID != nil {
		about, named = rimewatch.CaseLine{Kind: rimewatch.CaseAlert, Ref: *b.AlertID}, named+1
	}
	if b.ExcursionID != nil {
		about, named = rimewatch.CaseLine{Kind: rimewatch.CaseExcursion, Ref: *b.ExcursionID}, named+1
	}
	if b.DeviceSerial != "" {
		named++
		about = rimewatch.CaseLine{Kind: rimewatch.CaseSpan}
		switch {
		case b.From == nil:
			f.Add("from", "is needed with device_serial")
		case b.To == nil:
			f.Add("to", "is needed with device_serial")
		case *b.To < *b.From:
			f.Add("to", "must not be before from")
		default:
			about.From, about.To = *b.From, *b.To
			f.NotLater("to", about.To, c.Now)
		}
	}
	if named != 1 {
		f.Add("alert_id", "or excursion_id or device_serial must be given, and only one of them")
	}
	if f.Err != nil {
		return CaseData{}, f.Err
	}
	if about.Kind == rimewatch.CaseSpan {
		v, err := a.Store.Device(ctx, c.Workspace(), b.DeviceSerial)
		if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
			return CaseData{}, rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no such device.").With("device_serial", "is not known")
		}
		if err != nil {
			return CaseData{}, err
		}
		about.DeviceID = v.ID
	}
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return CaseData{}, err
	}
	x, err := a.Store.Records().DocumentCase(ctx, c.Workspace(), about, by, c.Now)
	if err != nil {
		return CaseData{}, err
	}
	return a.caseData(ctx, x.ID)
}

// CaseActionBody is a corrective action for a case.
type CaseActionBody struct {
	CorrectiveActionBody

	DeviceSerial string `json:"device_serial,omitempty" maxLength:"64" doc:"Of an outage, the device that it was done to. Default: the device of the case, or the site."`
}

func (a *api) recordCaseAction(ctx context.Context, in *httpapi.IDBody[CaseActionBody]) (CorrectiveActionData, error) {
	b := &in.Body
	var f wire.FieldErrors
	f.NotBlank("cause", b.Cause)
	f.NotBlank("action", b.Action)
	x := rimewatch.CorrectiveAction{
		CaseID: in.Number(), Cause: b.Cause, Action: b.Action, PreventiveAction: b.PreventiveAction, Product: b.Product, RepairReference: b.RepairReference,
		Disposition: b.Disposition, DispositionDetail: strings.TrimSpace(b.DispositionDetail),
	}
	return a.record(ctx, &x, names{b.PerformedBy, b.External, b.VerifiedBy}, b.PerformedAt, &f, func() error {
		c, err := a.Store.Records().Case(ctx, httpapi.CallOf(ctx).Workspace(), x.CaseID)
		if err != nil {
			return err
		}
		x.DeviceID = c.DeviceID
		if b.DeviceSerial == "" {
			return nil
		}
		v, err := a.Store.Device(ctx, c.WorkspaceID, b.DeviceSerial)
		if rimewatch.CodeOf(err) == rimewatch.CodeDeviceNotFound {
			return rimewatch.Invalid("device_serial", "is no device of the case")
		}
		x.DeviceID = v.ID
		return err
	})
}

// caseReport writes the dossier of a case.
func (a *api) caseReport(c *httpapi.Call) error {
	id := (&httpapi.IDInput{ID: c.R.PathValue("id")}).Number()
	by, err := a.Actor(c.R.Context(), c.Principal)
	if err != nil {
		return err
	}
	name, text, err := a.Reports.CasePDF(c.R.Context(), c.Workspace(), id, func(d *report.Dossier) { d.Words, d.GeneratedBy = c.Words(), by })
	if err != nil {
		return err
	}
	return a.sendReport(c, "pdf", strings.TrimSuffix(name, ".pdf"), text)
}

func (a *api) caseRoutes() []httpapi.Route {
	read, write := httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeRecords), httpapi.Either(rimewatch.RoleTechnician, rimewatch.ScopeRecords)
	person := []rimewatch.Code{rimewatch.CodePersonRequired}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/cases", Sited: true, Paged: true, ID: "list-cases", Tag: "Records", Summary: "List cases", Access: read, Listed: "cases",
			Description: "What has to be answered for, newest first. A case is one device and one stretch of time: every excursion and every critical alert opens one, and what overlaps it or begins within two hours of its end joins it. An outage of a site is one case, with its devices as lines. What is signed is joined by nothing.",
			Bind:        httpapi.Handle(a.listCases),
		},
		{
			Method: http.MethodPost, Path: "/v1/cases", Sited: true, ID: "document-case", Tag: "Records", Summary: "Document what has no case", Access: write, Body: httpapi.JSONBody, Status: http.StatusCreated,
			Also:        []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeAlertNotFound},
			Description: "Opens a case for an alert, for an excursion that has ended, or for a device and a span of time: what is older than cases, was brought as history, or was only a warning. What is in a case already, or joins one, is answered with that one.",
			Bind:        httpapi.Handle(a.documentCase),
		},
		{
			Method: http.MethodGet, Path: "/v1/cases/{id}", Sited: true, ID: "get-case", Tag: "Records", Summary: "Get a case", Access: read,
			Description: "All that is known of it but the readings: alerts and excursions, who was told and who answered, what was done, attachments and signatures.", Bind: httpapi.Handle(a.getCase),
		},
		{
			Method: http.MethodPost, Path: "/v1/cases/{id}/actions", Sited: true, ID: "record-case-action", Tag: "Records", Summary: "Record what was done about a case", Access: write,
			Body: httpapi.JSONBody, Status: http.StatusCreated, Also: person,
			Description: "The same record as that of an alert. It cannot be changed; a signature of before does not cover it. From a token it says so, as said by that token.", Bind: httpapi.Handle(a.recordCaseAction),
		},
		{
			Method: http.MethodPost, Path: "/v1/cases/{id}/sign", Sited: true, ID: "sign-case", Tag: "Records", Summary: "Sign a case", Body: httpapi.JSONBody, Status: http.StatusCreated,
			Access: httpapi.Person(rimewatch.RoleTechnician, "a signature is that of a person, who shows again who signs"), Also: []rimewatch.Code{rimewatch.CodeProofRequired, rimewatch.CodeConflict},
			Description: "Binds what is on record to the person who is signed in, with a meaning. Each signature needs the password or a code of the second factor, the first of a session the e-mail address, too; whoever has neither signed in at the provider within the last 5 minutes. Without them 403 `proof_required`. Whoever performed an action, or signed for that, cannot review or approve. The case must be over and documented.",
			Bind:        httpapi.Handle(a.signCase),
		},
		{
			Method: http.MethodPost, Path: "/v1/cases/{id}/attachments", Sited: true, ID: "attach-to-case", Tag: "Records", Summary: "Attach a photo or document", Access: write,
			Body: httpapi.BodyRule{Types: attachmentTypes, Bulk: true}, Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Description: "The body is the file: JPEG, PNG or PDF, 10 MB at most, images of 24 million pixels at most. Images are scaled down to 2,560 pixels and encoded anew: where and with what they were taken is not kept. A case has at most 50; a workspace keeps 2 GiB.",
			Bind:        httpapi.Raw[AttachInput, AttachmentData](a.attach),
		},
		{
			Method: http.MethodGet, Path: "/v1/cases/{id}/attachments/{attachment_id}", Sited: true, ID: "get-attachment", Tag: "Records", Summary: "Get an attachment", Access: read, File: attachmentTypes,
			Description: "Its bytes. Documents come as a download, in a sandbox.", Bind: httpapi.Raw[AttachmentInput, httpapi.Done](a.attachment),
		},
		{
			Method: http.MethodGet, Path: "/v1/cases/{id}/report.pdf", Sited: true, ID: "case-report", Tag: "Records", Summary: "Get the dossier of a case", Access: read, File: []string{httpapi.TypePDF},
			Description: "One document for an insurer, an inspector or a manufacturer: what was wrong and when, who was told and who answered, who did what, who verified and signed it, with which instrument it was measured, attachments with their hashes.",
			Bind:        httpapi.Raw[httpapi.IDInput, httpapi.Done](a.caseReport),
		},
	}
}
