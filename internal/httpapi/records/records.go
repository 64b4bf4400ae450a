package records

import (
	"context"
	"net/http"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Excursion is a time for which a product zone was out of limits for longer than
// the alarm delay.
type Excursion struct {
	ID            *int64                   `json:"id" doc:"null while it lasts."`
	DeviceID      int64                    `json:"device_id"`
	DeviceSerial  *string                  `json:"device_serial" doc:"null when the device was deleted."`
	DeviceName    *string                  `json:"device_name" doc:"null when the device was deleted."`
	From          rimewatch.Time           `json:"from" nullable:"false" doc:"The first reading out of limits."`
	To            rimewatch.Time           `json:"to" doc:"When it was back to stay; null while it lasts. Short times last until a reading of the next day."`
	DurationS     int64                    `json:"duration_s" doc:"s, until now while it lasts; of short times their sum."`
	Limit         float64                  `json:"limit" doc:"°C, the limit that was passed."`
	Low           bool                     `json:"low" doc:"Below the lower limit rather than above the upper."`
	Peak          float64                  `json:"peak" doc:"°C, the worst."`
	DegreeMinutes float64                  `json:"degree_minutes" doc:"K·min beyond the limit."`
	Cause         rimewatch.ExcursionCause `json:"cause" enum:"defrost,door,loading,fault,power,sensor,unknown" doc:"As far as the readings can tell."`
	ShortTimes    int                      `json:"short_times" doc:"Times shorter than the alarm delay that are together an excursion of their day, by the clock of the site; duration_s is their sum. 0 for one that lasted."`
	FoundLateAt   rimewatch.Time           `json:"found_late_at" doc:"When readings that came after newer ones, or a calibration, showed this excursion, or changed it; null if it was found as it happened. Nobody is notified of one that is found late."`
	CaseID        *int64                   `json:"case_id" doc:"The case that it is in; null when it is in none."`
}

func (a *api) excursionJSON(e *rimewatch.Excursion, now rimewatch.Time) Excursion {
	out := Excursion{
		ID: wire.OrNull(e.ID), DeviceID: e.DeviceID, From: e.From, To: e.To, Limit: e.Limit, Low: e.Low, Peak: e.Peak,
		DegreeMinutes: float64(int64(e.DegreeMinutes*10+0.5)) / 10, Cause: e.Cause, ShortTimes: e.Runs, FoundLateAt: e.FoundLateAt,
	}
	out.DurationS = (&report.Excursion{Excursion: *e}).DurationS(now)
	if v, ok := a.Store.DeviceByID(e.DeviceID); ok {
		out.DeviceSerial, out.DeviceName = &v.Serial, &v.Name
	}
	return out
}

// ExcursionsInput narrows the list of excursions.
type ExcursionsInput struct {
	DeviceSerial string `query:"device_serial" maxLength:"64" doc:"Only of this device, and of deleted ones that had this serial. An unknown serial returns an empty list."`
	From         string `query:"from" format:"date-time" doc:"Those that lasted after this. Default: 30 days before to."`
	To           string `query:"to" format:"date-time" doc:"Those that began before this. Default: now."`
}

// ExcursionList are the excursions of a span.
type ExcursionList struct {
	Excursions []Excursion `json:"excursions"`
}

func (a *api) listExcursions(ctx context.Context, in *ExcursionsInput) (ExcursionList, error) {
	c := httpapi.CallOf(ctx)
	from, to, err := spanOf(in.From, in.To, c.Now, 30*rimewatch.Day)
	if err != nil {
		return ExcursionList{}, err
	}
	out := ExcursionList{Excursions: []Excursion{}}
	devices := []int64{0}
	if in.DeviceSerial != "" {
		if devices, err = a.lives(ctx, c.Workspace(), in.DeviceSerial); err != nil {
			return out, err
		}
	}
	for _, device := range devices {
		list, err := a.Reports.Excursions(ctx, c.Workspace(), device, from, to)
		if err != nil {
			return out, err
		}
		refs := make([]int64, 0, len(list))
		for i := range list {
			if list[i].ID != 0 {
				refs = append(refs, list[i].ID)
			}
		}
		of, err := a.Store.Records().CasesOf(ctx, c.Workspace(), rimewatch.CaseExcursion, refs)
		if err != nil {
			return out, err
		}
		for i := range list {
			x := a.excursionJSON(&list[i], c.Now)
			x.CaseID = wire.OrNull(of[list[i].ID])
			out.Excursions = append(out.Excursions, x)
		}
	}
	return out, nil
}

// lives lists the devices that had a serial one after the other, the present one last.
func (a *api) lives(ctx context.Context, workspaceID int64, serial string) (ids []int64, err error) {
	deleted, err := a.Store.DeletedDevices(ctx, workspaceID, 0)
	if err != nil {
		return nil, err
	}
	for i := range deleted {
		if rimewatch.SerialKey(deleted[i].Serial) == rimewatch.SerialKey(serial) {
			ids = append(ids, deleted[i].ID)
		}
	}
	if who := a.Store.Identify(workspaceID, []byte(serial)); who != nil {
		ids = append(ids, who.ID)
	}
	return ids, nil
}

// spanOf reads a span of time, checked before for its form.
func spanOf(from, to string, now, byDefault rimewatch.Time) (f, t rimewatch.Time, err error) {
	f, _ = rimewatch.ParseTime(from)
	t, _ = rimewatch.ParseTime(to)
	if t == 0 {
		t = max(now, f)
	}
	if f == 0 {
		f = max(t-byDefault, rimewatch.MinTime)
	}
	if f > t {
		return 0, 0, rimewatch.Invalid("from", "must not be after to")
	}
	return f, t, nil
}

// CorrectiveAction is a record of work because of an alert.
type CorrectiveAction struct {
	ID                int64                  `json:"id"`
	AlertID           *int64                 `json:"alert_id" doc:"null when it was done about no alert."`
	ExcursionID       *int64                 `json:"excursion_id" doc:"The excursion that it was recorded for; null when it was recorded for an alert, or for none."`
	CaseID            *int64                 `json:"case_id" doc:"The case that it is about; null when there was none as it was recorded."`
	OrderID           *int64                 `json:"work_order_id" doc:"The work order that it was done by; null = by none."`
	DeviceSerial      *string                `json:"device_serial" doc:"null when the device was deleted, and for an alert of a site."`
	PerformedAt       rimewatch.Time         `json:"performed_at" nullable:"false"`
	PerformedBy       string                 `json:"performed_by"`
	VerifiedBy        *string                `json:"verified_by" doc:"Another person; null = not verified."`
	Performed         Doer                   `json:"performed" doc:"How it is known who did it."`
	Verified          wire.Maybe[Doer]       `json:"verified" doc:"How it is known who verified it; null = not verified."`
	VerifiedAt        rimewatch.Time         `json:"verified_at" doc:"When it was verified after it was recorded; null otherwise."`
	Cause             string                 `json:"cause"`
	Action            string                 `json:"action" doc:"Immediate action."`
	PreventiveAction  string                 `json:"preventive_action" doc:"What keeps it from happening again."`
	Disposition       *rimewatch.Disposition `json:"disposition" enum:"release,hold,discard,none" doc:"What became of the product; none = no product was concerned, null = nobody has said it."`
	DispositionDetail string                 `json:"disposition_detail" doc:"In words, such as where it was moved."`
	Product           string                 `json:"product" doc:"What was concerned: lots and amounts."`
	RepairReference   string                 `json:"repair_reference"`
	RecordedBy        string                 `json:"recorded_by"`
	At                rimewatch.Time         `json:"at" nullable:"false" doc:"When it was recorded."`
}

func (a *api) correctiveActionJSON(x *rimewatch.CorrectiveAction) CorrectiveAction {
	performed := x.PerformedDoer()
	out := CorrectiveAction{
		ID: x.ID, AlertID: wire.OrNull(x.AlertID), ExcursionID: wire.OrNull(x.ExcursionID), CaseID: wire.OrNull(x.CaseID), OrderID: wire.OrNull(x.OrderID), PerformedAt: x.PerformedAt, PerformedBy: x.PerformedBy, VerifiedBy: wire.OrNull(x.VerifiedBy), Cause: x.Cause, Action: x.Action,
		Performed: *doerJSON(&performed), Verified: wire.Maybe[Doer]{Value: doerJSON(x.VerifiedDoer())}, VerifiedAt: x.VerifiedAt, DispositionDetail: x.DispositionDetail,
		PreventiveAction: x.PreventiveAction, Disposition: wire.OrNull(x.Disposition), Product: x.Product, RepairReference: x.RepairReference, RecordedBy: x.RecordedBy, At: x.At,
	}
	if v, ok := a.Store.DeviceByID(x.DeviceID); ok {
		out.DeviceSerial = &v.Serial
	}
	return out
}

func (a *api) correctiveActionsJSON(list []rimewatch.CorrectiveAction) []CorrectiveAction {
	out := make([]CorrectiveAction, len(list))
	for i := range list {
		out[i] = a.correctiveActionJSON(&list[i])
	}
	return out
}

// CorrectiveActionBody is a corrective action for an alert.
type CorrectiveActionBody struct {
	PerformedAt       *rimewatch.Time       `json:"performed_at,omitempty" doc:"Default: now."`
	PerformedBy       string                `json:"performed_by,omitempty" maxLength:"200" doc:"Who did it. Default: the person who is signed in; a token has to name somebody."`
	External          *External             `json:"external,omitempty" doc:"Somebody else who did it, with a firm, instead of performed_by."`
	VerifiedBy        *string               `json:"verified_by,omitempty" nullable:"true" maxLength:"200" doc:"A person other than performed_by; from a token 422 person_required. Later: POST /v1/corrective-actions/{id}/verify."`
	Cause             string                `json:"cause" minLength:"1" maxLength:"2000"`
	Action            string                `json:"action" minLength:"1" maxLength:"2000"`
	PreventiveAction  string                `json:"preventive_action,omitempty" maxLength:"2000"`
	Disposition       rimewatch.Disposition `json:"disposition,omitempty" enum:"release,hold,discard,none" doc:"Absent: it is not said."`
	DispositionDetail string                `json:"disposition_detail,omitempty" maxLength:"500"`
	Product           string                `json:"product,omitempty" maxLength:"2000"`
	RepairReference   string                `json:"repair_reference,omitempty" maxLength:"200"`
}

// CorrectiveActionData is the data of the answer with one.
type CorrectiveActionData struct {
	CorrectiveAction CorrectiveAction `json:"corrective_action"`
}

// CorrectiveActionList are those of an alert.
type CorrectiveActionList struct {
	CorrectiveActions []CorrectiveAction `json:"corrective_actions"`
}

func (a *api) recordCorrectiveAction(ctx context.Context, in *httpapi.AlertBody[CorrectiveActionBody]) (CorrectiveActionData, error) {
	b := &in.Body
	var f wire.FieldErrors
	f.NotBlank("cause", b.Cause)
	f.NotBlank("action", b.Action)
	x := rimewatch.CorrectiveAction{
		AlertID: in.Number(), Cause: b.Cause, Action: b.Action, PreventiveAction: b.PreventiveAction, Product: b.Product, RepairReference: b.RepairReference,
		Disposition: b.Disposition, DispositionDetail: strings.TrimSpace(b.DispositionDetail),
	}
	return a.record(ctx, &x, names{b.PerformedBy, b.External, b.VerifiedBy}, b.PerformedAt, &f, func() error {
		_, err := a.Store.Alert(ctx, httpapi.CallOf(ctx).Workspace(), x.AlertID)
		return err
	})
}

// record stores what somebody did, where nothing is wrong with it and what it was done
// about is there.
func (a *api) record(ctx context.Context, x *rimewatch.CorrectiveAction, by names, at *rimewatch.Time, f *wire.FieldErrors, find func() error) (CorrectiveActionData, error) {
	c := httpapi.CallOf(ctx)
	performed, verified, err := a.doers(ctx, by, f)
	if err != nil {
		return CorrectiveActionData{}, err
	}
	x.WorkspaceID, x.At, x.PerformedAt, x.PerformedBy, x.Performed = c.Workspace(), c.Now, c.Now, performed.Name, &performed
	if verified != nil {
		x.VerifiedBy, x.Verified = verified.Name, verified
	}
	if at != nil {
		x.PerformedAt = *at
	}
	if f.NotLater("performed_at", x.PerformedAt, c.Now); f.Err != nil {
		return CorrectiveActionData{}, f.Err
	}
	if err := find(); err != nil {
		return CorrectiveActionData{}, err
	}
	if x.RecordedBy, err = a.AuditActor(ctx, c.Principal); err != nil {
		return CorrectiveActionData{}, err
	}
	if err := a.Store.Records().CreateCorrectiveAction(ctx, x); err != nil {
		return CorrectiveActionData{}, err
	}
	return CorrectiveActionData{a.correctiveActionJSON(x)}, nil
}

// AlertActions are the corrective actions of an alert, and the possible dispositions of its product.
type AlertActions struct {
	CorrectiveActionList
	Goods CaseGoods `json:"goods" doc:"As in the alert's case."`
}

func (a *api) listCorrectiveActions(ctx context.Context, in *httpapi.AlertIDInput) (AlertActions, error) {
	id := in.Number()
	c := httpapi.CallOf(ctx)
	v, err := a.Store.Alert(ctx, c.Workspace(), id)
	if err != nil {
		return AlertActions{}, err
	}
	list, err := a.Store.Records().CorrectiveActions(ctx, c.Workspace(), id, 0, 0, rimewatch.MaxTime)
	if err != nil {
		return AlertActions{}, err
	}
	return AlertActions{CorrectiveActionList{a.correctiveActionsJSON(list)}, goodsJSON(c, v.EquipmentType)}, nil
}

// WorkBody is work on a device.
type WorkBody struct {
	PerformedAt       *rimewatch.Time       `json:"performed_at,omitempty" doc:"Default: now."`
	PerformedBy       string                `json:"performed_by,omitempty" maxLength:"200" doc:"Who did it. Default: the person who is signed in; a token has to name somebody."`
	External          *External             `json:"external,omitempty" doc:"Somebody else who did it, with a firm, instead of performed_by."`
	Action            string                `json:"action" minLength:"1" maxLength:"2000"`
	RepairReference   string                `json:"repair_reference,omitempty" maxLength:"200"`
	ExcursionID       *int64                `json:"excursion_id,omitempty" minimum:"1" doc:"An excursion of the device that no alert is about, such as one that was found late: the record stands below it in the temperature log."`
	VerifiedBy        *string               `json:"verified_by,omitempty" nullable:"true" maxLength:"200" doc:"A person other than performed_by; from a token 422 person_required. Later: POST /v1/corrective-actions/{id}/verify."`
	Cause             string                `json:"cause,omitempty" maxLength:"2000"`
	PreventiveAction  string                `json:"preventive_action,omitempty" maxLength:"2000"`
	Disposition       rimewatch.Disposition `json:"disposition,omitempty" enum:"release,hold,discard,none" doc:"Absent: it is not said."`
	DispositionDetail string                `json:"disposition_detail,omitempty" maxLength:"500"`
	Product           string                `json:"product,omitempty" maxLength:"2000"`
}

func (a *api) recordWork(ctx context.Context, in *httpapi.SerialBody[WorkBody]) (CorrectiveActionData, error) {
	b := &in.Body
	var f wire.FieldErrors
	f.NotBlank("action", b.Action)
	x := rimewatch.CorrectiveAction{
		Action: b.Action, Cause: b.Cause, PreventiveAction: b.PreventiveAction, Product: b.Product, RepairReference: b.RepairReference,
		Disposition: b.Disposition, DispositionDetail: strings.TrimSpace(b.DispositionDetail),
	}
	if b.ExcursionID != nil {
		x.ExcursionID = *b.ExcursionID
	}
	return a.record(ctx, &x, names{b.PerformedBy, b.External, b.VerifiedBy}, b.PerformedAt, &f, func() error {
		serial, err := in.Known()
		if err != nil {
			return err
		}
		v, err := a.Store.Device(ctx, httpapi.CallOf(ctx).Workspace(), serial)
		x.DeviceID = v.ID
		return err
	})
}

// WorkListInput names a device and a span of time.
type WorkListInput struct {
	httpapi.SerialInput
	From string `query:"from" format:"date-time" doc:"What was done at this moment or later. Default: 90 days before to."`
	To   string `query:"to" format:"date-time" doc:"What was done before this. Default: now."`
}

func (a *api) listWork(ctx context.Context, in *WorkListInput) (CorrectiveActionList, error) {
	c := httpapi.CallOf(ctx)
	from, to, err := spanOf(in.From, in.To, c.Now+1, 90*rimewatch.Day)
	if err != nil {
		return CorrectiveActionList{}, err
	}
	v, err := in.Device(ctx, a.Store, c.Workspace())
	if err != nil {
		return CorrectiveActionList{}, err
	}
	list, err := a.Store.Records().CorrectiveActions(ctx, c.Workspace(), 0, v.ID, from, to)
	return CorrectiveActionList{a.correctiveActionsJSON(list)}, err
}

func (a *api) recordRoutes() []httpapi.Route {
	alerts, devices := httpapi.Scope(rimewatch.ScopeAlertsRead), httpapi.Scope(rimewatch.ScopeDevicesRead)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/excursions", Sited: true, ID: "list-excursions", Tag: "Records", Summary: "List excursions", Access: devices,
			Description: "Periods in which a product zone was out of its limits for longer than the alarm delay, oldest first, ongoing ones last, in whatever order its readings came: readings that come after newer ones are taken in within a minute or so. They are kept as long as hourly aggregates.",
			Bind:        httpapi.Handle(a.listExcursions),
		},
		{
			Method: http.MethodPost, Path: "/v1/alerts/{id}/corrective-action", Sited: true, ID: "record-corrective-action", Tag: "Records", Summary: "Record what was done about an alert",
			Access: httpapi.Scope(rimewatch.ScopeAlertsWrite), Body: httpapi.JSONBody, Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodePersonRequired},
			Description: "Records cannot be changed, and can also be added to resolved alerts. An action must be verified by someone other than the person who performed it.", Bind: httpapi.Handle(a.recordCorrectiveAction),
		},
		{
			Method: http.MethodPost, Path: "/v1/corrective-actions/{id}/verify", Sited: true, ID: "verify-corrective-action", Tag: "Records", Summary: "Verify what was done",
			Access: httpapi.Person(rimewatch.RoleTechnician, "a record is verified by a person, who is another than the one who did it"), Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "Adds to a record that the person who is signed in has verified it, once and for all. Nothing else of a record is ever changed.", Bind: httpapi.Handle(a.verify),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts/{id}/corrective-actions", Sited: true, ID: "list-corrective-actions", Tag: "Records", Summary: "List what was done about an alert",
			Access: alerts, Description: "By when they were performed.", Bind: httpapi.Handle(a.listCorrectiveActions),
		},
		{
			Method: http.MethodPost, Path: "/v1/devices/{serial}/corrective-actions", Sited: true, ID: "record-work", Tag: "Records", Summary: "Record what was done to a device",
			Access: httpapi.Scope(rimewatch.ScopeAlertsWrite), Body: httpapi.JSONBody, Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodePersonRequired},
			Description: "Work that no alert asked for, such as a cleaned condenser, or what was done about an excursion that no alert is about. It is marked on the device's charts and stands in its temperature log. Records cannot be changed.", Bind: httpapi.Handle(a.recordWork),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}/corrective-actions", Sited: true, ID: "list-work", Tag: "Records", Summary: "List what was done to a device",
			Access: devices, Description: "About its alerts and without one, by when it was performed.", Bind: httpapi.Handle(a.listWork),
		},
		{
			Method: http.MethodPost, Path: "/v1/devices/{serial}/calibrations", Sited: true, ID: "record-calibration", Tag: "Records", Summary: "Record a calibration",
			Access: httpapi.Scope(rimewatch.ScopeDevicesWrite), Body: httpapi.JSONBody, Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "Records are only ever added. An `offset` is added to what the probe measures from `applied_from` on, wherever readings are shown or judged, until the next calibration of the probe replaces it; earlier readings, and what is stored, stay as they are. Excursions and compliance since then are judged again within a minute or so, alerts are not.",
			Bind:        httpapi.Handle(a.recordCalibration),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}/calibrations", Sited: true, ID: "list-calibrations", Tag: "Records", Summary: "List the calibrations of a device",
			Access: devices, Description: "By when they were performed, newest first.", Bind: httpapi.Handle(a.listCalibrations),
		},
	}
}
