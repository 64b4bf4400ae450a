package v1

import (
	"context"
	"maps"
	"math"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

func (a devices) deviceDetail(v *rimewatch.DeviceView, words phrase.Words) wire.DeviceDetail {
	d := wire.DeviceDetail{
		DeviceItem: wire.NewDeviceItem(v, a.Now()), Manufacturer: v.Manufacturer, Model: v.Model,
		FirmwareVersion: v.FirmwareVersion, Notes: v.Notes, InstalledAt: v.InstalledAt,
		LastHeartbeatAt: v.LastHeartbeatAt, StatusChangedAt: v.StatusChangedAt,
		OfflineAfterS: v.Presence.OfflineAfterS, Habit: v.Habit, BatteryPct: v.BatteryPct, BatteryLow: v.BatteryLow, RSSIdBm: v.RSSI, UptimeS: v.UptimeS,
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
	switch {
	case v.HeartbeatIntervalS > 0:
		declared := float64(v.HeartbeatIntervalS)
		d.HeartbeatIntervalS = &declared
	case v.IntervalS > 0:
		learnt := v.IntervalS
		d.HeartbeatIntervalS = &learnt
	}
	if v.Limits != nil {
		d.OwnLimits = *v.Limits
	}
	quiet := a.cfg.Health.DeviceSilence(v.ID)
	d.Silence = wire.DeviceSilence{By: string(quiet.By), UsuallyS: int(quiet.Usually.Seconds()), OfferedS: int(quiet.Offer.Seconds()), AlarmDelayS: int(quiet.Alarm.Seconds())}
	behind, several := a.cfg.Health.DeviceClock(v.ID)
	d.Clock = wire.NewClock(v.ClockOffset(behind), several)
	if v.Latest.At != 0 {
		d.LatestReading.Value = &wire.DeviceReading{DeviceID: v.ID, Serial: v.Serial, Reading: v.Latest}
	}
	d.Calibration, d.Offsets = wire.NewCalibration(&v.Device, a.Now())
	if w, in := a.cfg.Writer.Maintenance(v.ID); in {
		d.Maintenance.Value = &wire.MaintenanceState{ID: w.ID, EndsAt: w.EndsAt, Reason: w.Reason}
	}
	d.Health, d.Zone = a.deviceHealth(v.ID, words), a.cfg.Health.DeviceZone(v.ID)
	out := a.cfg.Health.DeviceExposure(v.ID)
	d.Exposure = wire.NewExposure(out.Warm, out.Cold, &d.Limits)
	if !d.Judged {
		d.Health.Score = nil
	}
	return d
}

func (a devices) deviceHealth(id int64, words phrase.Words) wire.DeviceHealth {
	score, drivers := a.cfg.Health.DeviceHealth(id)
	out := wire.DeviceHealth{Score: &score, Drivers: make([]wire.Driver, len(drivers)), Compliance: compliance(a.cfg.Health.DeviceCompliance(id))}
	for i, d := range drivers {
		out.Drivers[i] = wire.Driver{Component: d.Component, Weight: d.Weight, Severity: d.Severity, PointsLost: d.PointsLost, Text: words.ScoreDriver(d.Component)}
	}
	return out
}

// compliance returns shares of the last 24 h as percentages to one decimal.
func compliance(c health.Compliance) wire.Compliance {
	share := func(v float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		v = math.Round(v*10) / 10
		return &v
	}
	return wire.Compliance{TemperatureCompliance: share(c.Percent()), StrictCompliance: share(c.StrictPercent()), DataCoverage: share(c.Coverage())}
}

// DeviceData is the data of answers about one device.
type DeviceData struct {
	Device wire.DeviceDetail `json:"device"`
}

// DeviceListInput are the filters of the device list.
type DeviceListInput struct {
	httpapi.PageInput
	Status        string `query:"status" enum:"online,offline" doc:"Only devices in this state."`
	EquipmentType string `query:"equipment_type" maxLength:"200" doc:"Only devices of this type. An unknown type returns an empty list."`
	SiteID        int64  `query:"site_id" minimum:"0" doc:"Only devices of this site."`
	Attention     string `query:"attention" enum:"true" doc:"Only devices that need attention: with an active alert, offline or not judged."`
	Judged        string `query:"judged" enum:"true,false" doc:"Only devices that are judged, or those that are not."`
	Label         string `query:"label.KEY" doc:"Only devices whose label KEY has this value. KEY stands for any label; with several, a device must have all of them."`
	Q             string `query:"q" maxLength:"200" doc:"Only devices whose name or serial contains this, without case."`
}

// DeviceList is a page of devices.
type DeviceList struct {
	Devices    []wire.DeviceItem `json:"devices"`
	Pagination wire.Pagination   `json:"pagination"`
}

func (a devices) listDevices(ctx context.Context, in *DeviceListInput) (DeviceList, error) {
	c := httpapi.CallOf(ctx)
	f := store.DeviceFilter{Status: rimewatch.Status(in.Status), EquipmentType: in.EquipmentType, SiteID: in.SiteID, Labels: c.Labels(), Query: in.Q}
	now := a.Now()
	if in.Attention != "" {
		f.AttentionAt = now
	}
	if in.Judged != "" {
		f.Judged = &store.Judged{Is: in.Judged == "true", At: now}
	}
	list, page, err := a.devicePage(ctx, c, f, &in.PageInput)
	if err != nil {
		return DeviceList{}, err
	}
	out := DeviceList{Devices: make([]wire.DeviceItem, len(list)), Pagination: page}
	for i := range list {
		out.Devices[i] = wire.NewDeviceItem(&list[i], now)
	}
	return out, nil
}

// devicePage reads one page of devices, by number or by cursor.
func (a *core) devicePage(ctx context.Context, c *httpapi.Call, f store.DeviceFilter, in *httpapi.PageInput) ([]rimewatch.DeviceView, wire.Pagination, error) {
	return httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorDevices, Owner: c.Workspace()}, in, func(from httpapi.Start) ([]rimewatch.DeviceView, int, error) {
		return a.cfg.Fleet.Devices(ctx, c.Workspace(), f, store.Page{After: from.A, Offset: from.Offset, Limit: from.Limit})
	}, func(v *rimewatch.DeviceView) (int64, int64) { return v.ID, 0 })
}

func (a devices) getDevice(ctx context.Context, in *httpapi.SerialInput) (DeviceData, error) {
	serial, err := in.Known()
	if err != nil {
		return DeviceData{}, err
	}
	v, err := a.cfg.Fleet.Device(ctx, httpapi.CallOf(ctx).Workspace(), serial)
	if err != nil {
		return DeviceData{}, err
	}
	return DeviceData{a.deviceDetail(&v, httpapi.CallOf(ctx).Words())}, nil
}

// DeviceCreate is the body that creates a device.
type DeviceCreate struct {
	Serial string `json:"serial" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9._:-]{1,64}$" patternDescription:"1 to 64 of the characters A-Z a-z 0-9 . _ : -" doc:"Kept as written, compared without case, unique among the workspace's devices. \".\" and \"..\" are refused." example:"WIF-0001"`
	DeviceFields
}

// DeviceFields are the settings of a device. Absent fields stay as they are;
// null goes back to the default.
type DeviceFields struct {
	Name               httpapi.Optional[string]         `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Default: the serial."`
	EquipmentType      httpapi.Optional[string]         `json:"equipment_type,omitempty" minLength:"1" maxLength:"64" pattern:"^[a-z0-9_]+$" patternDescription:"a slug of a-z 0-9 _" doc:"Default: other. Its limits and habits hold for the device; an unknown slug is treated as other." example:"walkin_freezer"`
	SiteID             httpapi.Optional[int64]          `json:"site_id,omitempty" minimum:"1" doc:"Default: no site."`
	Labels             httpapi.Optional[LabelsPatch]    `json:"labels,omitempty" doc:"Replaces all labels; as application/merge-patch+json it changes those that it names, and null removes one. At most 32, keys of at most 64 characters, values of at most 256."`
	Manufacturer       httpapi.Optional[string]         `json:"manufacturer,omitempty" maxLength:"200"`
	Model              httpapi.Optional[string]         `json:"model,omitempty" maxLength:"200"`
	FirmwareVersion    httpapi.Optional[string]         `json:"firmware_version,omitempty" maxLength:"200"`
	Notes              httpapi.Optional[string]         `json:"notes,omitempty" maxLength:"4000"`
	InstalledAt        httpapi.Optional[rimewatch.Time] `json:"installed_at,omitempty"`
	HeartbeatIntervalS httpapi.Optional[int]            `json:"heartbeat_interval_s,omitempty" minimum:"1" maximum:"604800" doc:"s between heartbeats. Default: learned."`
	OfflineAfterS      httpapi.Optional[int]            `json:"offline_after_s,omitempty" minimum:"10" maximum:"2592000" doc:"s of silence before the device is offline. Default: 3 × the declared interval, else what fits how senders of its kind, or it, usually report, but no more than limits.delay_s; at least 180."`
	Habit              httpapi.Optional[string]         `json:"habit,omitempty" enum:"sleeps,lorawan" doc:"How senders of its kind report: asleep until something changes, or by LoRaWAN. Default: as its source knows."`
	Limits             httpapi.Optional[LimitsPatch]    `json:"limits,omitempty" doc:"Only the limits named change; null for one goes back to what holds without it (the equipment type's, as the workspace has it), null for all to all of them."`
	ConfirmLoosening   bool                             `json:"confirm_loosening,omitempty" doc:"Needed to loosen a safety limit of a device that exists, by limits or by another equipment_type: a bound of the product temperature, the minutes a day, and the delays of food that needs time and temperature control and of medical types."`

	merge bool // maps are merged
}

// LabelsPatch are labels as they are set; nil removes one.
type LabelsPatch map[string]*string

// Schema implements huma.SchemaProvider.
func (LabelsPatch) Schema(r huma.Registry) *huma.Schema {
	s := labels{}.Schema(r)
	s.AdditionalProperties.(*huma.Schema).Nullable = true
	return s
}

// apply returns the labels that there are then. merge keeps those that p does not name; where all
// are replaced, none can be removed.
func (p LabelsPatch) apply(labels map[string]string, merge bool) (map[string]string, error) {
	out := make(map[string]string, len(labels)+len(p))
	if merge {
		maps.Copy(out, labels)
	}
	for key, v := range p {
		switch {
		case v != nil:
			out[key] = *v
		case merge:
			delete(out, key)
		default:
			return nil, rimewatch.Invalid("labels", "null removes a label of a merge patch alone")
		}
	}
	if len(out) > maxLabels {
		return nil, rimewatch.Invalid("labels", "must have at most %d entries", maxLabels)
	}
	return out, nil
}

// LimitsPatch changes a device's limits.
type LimitsPatch struct {
	TempMin        httpapi.Optional[float64] `json:"temp_min,omitempty" minimum:"-100" maximum:"200" doc:"°C"`
	TempMax        httpapi.Optional[float64] `json:"temp_max,omitempty" minimum:"-100" maximum:"200" doc:"°C"`
	DelayS         httpapi.Optional[int]     `json:"delay_s,omitempty" minimum:"0" maximum:"86400" doc:"s above temp_max before a warning."`
	LowDelayS      httpapi.Optional[int]     `json:"low_delay_s,omitempty" minimum:"0" maximum:"86400" doc:"s below temp_min before a warning."`
	CriticalMin    httpapi.Optional[float64] `json:"critical_min,omitempty" minimum:"-100" maximum:"200" doc:"°C"`
	CriticalMax    httpapi.Optional[float64] `json:"critical_max,omitempty" minimum:"-100" maximum:"200" doc:"°C"`
	CriticalDelayS httpapi.Optional[int]     `json:"critical_delay_s,omitempty" minimum:"0" maximum:"86400" doc:"s beyond a critical limit before critical."`
	ClearDelta     httpapi.Optional[float64] `json:"clear_delta,omitempty" minimum:"0" maximum:"20" doc:"K inside the limit before it counts as back."`
	ClearS         httpapi.Optional[int]     `json:"clear_s,omitempty" minimum:"0" maximum:"86400" doc:"s back before the alert resolves."`

	ExposureMinPerDay httpapi.Optional[ExposurePatch] `json:"exposure_min_per_day,omitempty" doc:"Minutes within 24 h after which goods are alerted for, however short each time; 0 is off. On by default for medicine."`
}

// ExposurePatch changes minutes a day.
type ExposurePatch struct {
	Warm httpapi.Optional[int] `json:"warm,omitempty" minimum:"0" maximum:"1440" doc:"min above temp_max: a warning."`
	Cold httpapi.Optional[int] `json:"cold,omitempty" minimum:"0" maximum:"1440" doc:"min below critical_min: a critical alert."`
}

func (p *LimitsPatch) apply(o *rimewatch.LimitOverrides) {
	p.TempMin.SetPointer(&o.TempMin)
	p.TempMax.SetPointer(&o.TempMax)
	p.DelayS.SetPointer(&o.DelayS)
	p.LowDelayS.SetPointer(&o.LowDelayS)
	p.CriticalMin.SetPointer(&o.CriticalMin)
	p.CriticalMax.SetPointer(&o.CriticalMax)
	p.CriticalDelayS.SetPointer(&o.CriticalDelayS)
	p.ClearDelta.SetPointer(&o.ClearDelta)
	p.ClearS.SetPointer(&o.ClearS)
	if p.ExposureMinPerDay.Sent {
		o.SetExposure(func(x *rimewatch.ExposureOverrides) {
			v := p.ExposureMinPerDay.Value
			if v == nil {
				*x = rimewatch.ExposureOverrides{}
				return
			}
			v.Warm.SetPointer(&x.Warm)
			v.Cold.SetPointer(&x.Cold)
		})
	}
}

// apply changes d, whose WorkspaceLimits are those of w: CodeValidationFailed when
// its limits would contradict each other, or be looser than is safe without a
// confirmation.
func (f *DeviceFields) apply(d *rimewatch.Device, w *rimewatch.Workspace) error {
	old, was := d.Limits, *d
	f.Name.Set(&d.Name, d.Serial)
	if strings.TrimSpace(d.Name) == "" {
		return rimewatch.Invalid("name", "must not be blank")
	}
	if !rimewatch.OneLine(d.Name) {
		return rimewatch.Invalid("name", "must not contain control characters")
	}
	f.EquipmentType.Set(&d.EquipmentType, rimewatch.OtherEquipment)
	f.SiteID.Set(&d.SiteID, 0)
	f.Manufacturer.Set(&d.Manufacturer, "")
	f.Model.Set(&d.Model, "")
	f.FirmwareVersion.Set(&d.FirmwareVersion, "")
	f.Notes.Set(&d.Notes, "")
	f.InstalledAt.Set(&d.InstalledAt, 0)
	f.HeartbeatIntervalS.Set(&d.HeartbeatIntervalS, 0)
	f.OfflineAfterS.Set(&d.OfflineAfterS, 0)
	habit := string(d.Habit)
	f.Habit.Set(&habit, "")
	d.Habit = rimewatch.Habit(habit)
	if f.Labels.Sent {
		was := d.Labels
		d.Labels = nil
		if f.Labels.Value != nil {
			var err error
			if d.Labels, err = f.Labels.Value.apply(was, f.merge); err != nil {
				return err
			}
		}
	}
	if f.Limits.Sent {
		var o rimewatch.LimitOverrides // a copy: the old ones may be in use
		if f.Limits.Value != nil {
			if d.Limits != nil {
				o = *d.Limits
			}
			f.Limits.Value.apply(&o)
		}
		d.Limits = &o
		if o.Empty() {
			d.Limits = nil
		}
	}
	if f.Limits.Sent || f.EquipmentType.Sent {
		limits := inForce(d, w)
		if e := limits.Check(); e != nil {
			return e
		}
	}
	if d.EquipmentType != was.EquipmentType && !f.ConfirmLoosening && d.ID != 0 {
		e, _ := rimewatch.EquipmentBySlug(was.EquipmentType)
		after, before := inForce(d, w), inForce(&was, w)
		if err := rimewatch.CheckTypeLoosening(e, &after, &before); err != nil {
			return err
		}
	}
	if f.Limits.Sent && !f.ConfirmLoosening && d.ID != 0 { // a new device has no limits yet that could be loosened
		e, _ := rimewatch.EquipmentBySlug(d.EquipmentType)
		with := func(o *rimewatch.LimitOverrides) *rimewatch.Limits {
			l := inForce(&rimewatch.Device{EquipmentType: d.EquipmentType, Limits: o}, w)
			return &l
		}
		return rimewatch.CheckLoosening(e, "limits", with(d.Limits), with(old), with(nil))
	}
	return nil
}

// inForce returns the limits of a device of the workspace.
func inForce(d *rimewatch.Device, w *rimewatch.Workspace) rimewatch.Limits {
	judged := rimewatch.Device{EquipmentType: d.EquipmentType, Limits: d.Limits, WorkspaceLimits: w.LimitsOf(d.EquipmentType)}
	return judged.LimitsInForce()
}

// workspaceOf returns the settings of the caller's workspace.
func (a devices) workspaceOf(ctx context.Context) (rimewatch.Workspace, error) {
	c := httpapi.CallOf(ctx)
	return a.Settings.Get(ctx, c.Workspace(), a.Now())
}

// checkSite reports whether the site that a body names exists.
func (a devices) checkSite(ctx context.Context, id *int64) error {
	if id == nil {
		return nil
	}
	_, err := httpapi.CallOf(ctx).Site(a.cfg.Accounts, *id)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return rimewatch.Invalid("site_id", "is not known")
	}
	return err
}

func (a devices) createDevice(ctx context.Context, in *httpapi.BodyInput[DeviceCreate]) (DeviceData, error) {
	c := httpapi.CallOf(ctx)
	body := &in.Body
	if !rimewatch.ValidSerial(body.Serial) {
		return DeviceData{}, rimewatch.Invalid("serial", "must not be . or ..")
	}
	if err := a.checkSite(ctx, body.SiteID.Value); err != nil {
		return DeviceData{}, err
	}
	d := rimewatch.Device{WorkspaceID: c.Workspace(), Serial: body.Serial, Name: body.Serial, EquipmentType: rimewatch.OtherEquipment}
	w, err := a.workspaceOf(ctx)
	if err != nil {
		return DeviceData{}, err
	}
	if err := body.apply(&d, &w); err != nil {
		return DeviceData{}, err
	}
	v, err := a.cfg.Writer.CreateDevice(ctx, &d)
	if err != nil {
		return DeviceData{}, err
	}
	c.Header("Location", httpapi.Prefix+"/v1/devices/"+v.Serial)
	return DeviceData{a.deviceDetail(&v, httpapi.CallOf(ctx).Words())}, nil
}

func (a devices) updateDevice(ctx context.Context, in *httpapi.SerialBody[DeviceFields]) (DeviceData, error) {
	serial, err := in.Known()
	if err != nil {
		return DeviceData{}, err
	}
	c := httpapi.CallOf(ctx)
	if err := a.checkSite(ctx, in.Body.SiteID.Value); err != nil {
		return DeviceData{}, err
	}
	w, err := a.workspaceOf(ctx)
	if err != nil {
		return DeviceData{}, err
	}
	in.Body.merge = c.Merges()
	v, err := a.cfg.Writer.UpdateDevice(ctx, c.Workspace(), serial, func(d *rimewatch.Device) error { return in.Body.apply(d, &w) })
	if err != nil {
		return DeviceData{}, err
	}
	return DeviceData{a.deviceDetail(&v, httpapi.CallOf(ctx).Words())}, nil
}

func (a devices) deleteDevice(ctx context.Context, in *httpapi.SerialInput) (DeviceData, error) {
	serial, err := in.Known()
	if err != nil {
		return DeviceData{}, err
	}
	v, err := a.cfg.Writer.DeleteDevice(ctx, httpapi.CallOf(ctx).Workspace(), serial)
	if err != nil {
		return DeviceData{}, err
	}
	return DeviceData{a.deviceDetail(&v, httpapi.CallOf(ctx).Words())}, nil
}

// nameOf finds the name of the device that a call is about.
func (a devices) nameOf(c *httpapi.Call) (string, error) {
	serial, err := (&httpapi.SerialInput{Serial: c.R.PathValue("serial")}).Known()
	if err != nil {
		return "", err
	}
	v, err := a.cfg.Fleet.Device(c.R.Context(), c.Workspace(), serial)
	return v.Name, err
}

func (a devices) deviceRoutes() []httpapi.Route {
	read, write := httpapi.Scope(rimewatch.ScopeDevicesRead), httpapi.Scope(rimewatch.ScopeDevicesWrite)
	return []httpapi.Route{
		a.metricsRoute(), a.sensorsRoute(),
		{
			Method: http.MethodGet, Path: "/v1/devices", Sited: true, ID: "list-devices", Tag: "Devices", Summary: "List devices", Access: read, Paged: true,
			Description: "In the order of their ids.", Bind: httpapi.Handle(a.listDevices),
		},
		{
			Method: http.MethodPost, Path: "/v1/devices", Sited: true, ID: "create-device", Tag: "Devices", Summary: "Register a device", Access: write, Body: httpapi.JSONBody,
			Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeSerialTaken, rimewatch.CodeQuotaExceeded}, Bind: httpapi.Handle(a.createDevice),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/{serial}", Sited: true, ID: "get-device", Tag: "Devices", Summary: "Get a device", Access: read,
			Bind: httpapi.Handle(a.getDevice),
		},
		{
			Method: http.MethodPatch, Path: "/v1/devices/{serial}", Sited: true, ID: "update-device", Tag: "Devices", Summary: "Change a device", Access: write, Body: httpapi.JSONBody,
			Bind: httpapi.Handle(a.updateDevice),
		},
		{
			Method: http.MethodDelete, Path: "/v1/devices/{serial}", Sited: true, ID: "delete-device", Tag: "Devices", Summary: "Delete a device", Access: write,
			Description: "Its history and alerts are kept, its active alerts resolve as superseded. The serial may be registered again.",
			Undo:        httpapi.About(a.nameOf),
			Bind:        httpapi.Handle(a.deleteDevice),
		},
		{
			Method: http.MethodPatch, Path: "/v1/devices/{serial}/heartbeat", Sited: true, ID: "heartbeat", Tag: "Devices", Summary: "Report that a device is alive",
			Description: "The body is optional, and so is each of its fields. `status: \"offline\"` announces a planned shutdown: the device is offline at once, and no alert opens.",
			Access:      httpapi.Scope(rimewatch.ScopeReadingsWrite), Body: httpapi.OptionalJSONBody, PerDevice: true, Bind: httpapi.Handle(a.heartbeat),
		},
		{
			Method: http.MethodGet, Path: "/v1/equipment-types", Sited: true, ID: "list-equipment-types", Tag: "Devices", Summary: "List equipment types", Access: read,
			Description: "The types that the service knows, with the limits that apply unless a device has its own. The set is open: devices may name others.",
			Bind:        httpapi.Handle(a.listEquipmentTypes),
		},
	}
}
