package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// SiteRef is a site as it stands in devices and alerts.
type SiteRef struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	TimeZone string `json:"timezone"`
}

// DeviceItem is a device as it stands in lists.
type DeviceItem struct {
	ID            int64             `json:"id"`
	Serial        string            `json:"serial"`
	Name          string            `json:"name"`
	EquipmentType string            `json:"equipment_type"`
	Status        rimewatch.Status  `json:"status"`
	CurrentTemp   *float64          `json:"current_temp"`    // °C; nil before the first reading of it
	CurrentTempAt rimewatch.Time    `json:"current_temp_at"` // its recorded_at; 0 before the first
	Site          *SiteRef          `json:"site"`
	LastSeenAt    rimewatch.Time    `json:"last_seen_at"` // 0 = never
	ActiveAlerts  int               `json:"active_alerts"`
	Limits        rimewatch.Limits  `json:"limits"` // in force
	Judged        bool              `json:"judged"` // whether anybody is alerted if the goods get too warm
	Labels        map[string]string `json:"labels"`
}

// Device is everything about a device.
type Device struct {
	DeviceItem
	Manufacturer       string                   `json:"manufacturer"`
	Model              string                   `json:"model"`
	FirmwareVersion    string                   `json:"firmware_version"`
	Notes              string                   `json:"notes"`
	InstalledAt        rimewatch.Time           `json:"installed_at"`
	LastHeartbeatAt    rimewatch.Time           `json:"last_heartbeat_at"`
	StatusChangedAt    rimewatch.Time           `json:"status_changed_at"`
	HeartbeatIntervalS *float64                 `json:"heartbeat_interval_s"` // s, declared or learnt
	OwnLimits          rimewatch.LimitOverrides `json:"own_limits"`           // what of Limits was set for this device
	OfflineAfterS      int                      `json:"offline_after_s"`
	Habit              rimewatch.Habit          `json:"habit"`   // of senders of its kind, "" = not known
	Silence            DeviceSilence            `json:"silence"` // why OfflineAfterS is what it is
	BatteryPct         *float64                 `json:"battery_pct"`
	BatteryLow         bool                     `json:"battery_low"` // by its own word
	RSSIdBm            *float64                 `json:"rssi_dbm"`
	UptimeS            *int64                   `json:"uptime_s"`
	Health             DeviceHealth             `json:"health"`
	Exposure           *Exposure                `json:"exposure"` // nil without limits
	Zone               ZoneState                `json:"zone"`
	Clock              *ClockState              `json:"clock"` // nil while nothing is known to be wrong with it
	LatestReading      *StoredReading           `json:"latest_reading"`
	Calibration        *CalibrationState        `json:"calibration"` // nil when no probe was ever calibrated
	Offsets            []DeviceOffset           `json:"offsets"`     // by From
	Maintenance        *MaintenanceState        `json:"maintenance"` // the window that it is in, nil when it is in none
	CreatedAt          rimewatch.Time           `json:"created_at"`
	UpdatedAt          rimewatch.Time           `json:"updated_at"`
}

// DeviceSilence are the criteria of a device's silence.
type DeviceSilence struct {
	By          string `json:"by"`            // declared, interval, kind, learned, alarm_delay or default
	UsuallyS    int    `json:"usually_s"`     // within which it usually reports again, 0 = not known
	OfferedS    int    `json:"offered_s"`     // that fit how it reports, to be accepted as OfflineAfterS; 0 = nothing to decide
	AlarmDelayS int    `json:"alarm_delay_s"` // after which too warm goods are alerted for, 0 = no limits
}

// ZoneState is the state of a device's product zone while no alert is raised.
type ZoneState struct {
	OutOfLimitsSince rimewatch.Time `json:"out_of_limits_since"` // 0 = it is within its limits
	AlertAt          rimewatch.Time `json:"alert_at"`            // if it stays out; 0 = none is to come
	Defrosting       bool           `json:"defrosting"`
	BackBy           rimewatch.Time `json:"back_by"` // when the defrost is usually over; 0 = not known
}

// ClockState is the error of a device's clock. Alerts allow for it; readings keep
// the times that the device sent.
type ClockState struct {
	OffsetS float64 `json:"offset_s"` // s that it is ahead, below 0 behind
}

// MaintenanceState is the maintenance window that a device is in.
type MaintenanceState struct {
	ID     int64          `json:"id"`
	EndsAt rimewatch.Time `json:"ends_at"`
	Reason string         `json:"reason"`
}

// CalibrationState is the state of a device's calibrations.
type CalibrationState struct {
	DueAt   rimewatch.Time `json:"due_at"` // of the first of its probes
	Overdue bool           `json:"overdue"`
}

// DeviceOffset corrects one measurement from a moment on. Answers have it added
// already.
type DeviceOffset struct {
	Field string         `json:"field"`
	From  rimewatch.Time `json:"from"`
	Add   float64        `json:"add"`
}

// DeviceHealth is a device's health score and its drivers.
type DeviceHealth struct {
	Score   *float64       `json:"score"` // 0–100; nil while the device is not judged
	Drivers []HealthDriver `json:"drivers"`

	// Over the last 24 h, 0–100; nil without limits or readings.
	TemperatureCompliance *float64 `json:"temperature_compliance"`
	StrictCompliance      *float64 `json:"strict_compliance"`
	DataCoverage          *float64 `json:"data_coverage"`
}

// Exposure is how long a product zone was out of its limits in the last 24 h, min.
type Exposure struct {
	WarmMin float64        `json:"warm_min_24h"`
	ColdMin float64        `json:"cold_min_24h"`
	Worst   *WorstExposure `json:"worst"` // nil when it was within them
}

// WorstExposure is the side on which it was out of them longer.
type WorstExposure struct {
	Minutes float64 `json:"minutes"`
	Limit   float64 `json:"limit"` // °C
	Side    string  `json:"side"`  // warm or cold
}

// HealthDriver is one thing that lowers a health score.
type HealthDriver struct {
	Component  string  `json:"component"`
	Weight     float64 `json:"weight"`
	Severity   float64 `json:"severity"`
	PointsLost float64 `json:"points_lost"`
	Text       string  `json:"text"`
}

// DeviceFields are the settings of a device. Nil fields stay as they are, or
// get their defaults in a new device.
type DeviceFields struct {
	Name               *string                   `json:"name,omitempty"`
	EquipmentType      *string                   `json:"equipment_type,omitempty"`
	SiteID             *int64                    `json:"site_id,omitempty"`
	Labels             map[string]string         `json:"labels,omitempty"` // replaces all labels
	Manufacturer       *string                   `json:"manufacturer,omitempty"`
	Model              *string                   `json:"model,omitempty"`
	FirmwareVersion    *string                   `json:"firmware_version,omitempty"`
	Notes              *string                   `json:"notes,omitempty"`
	InstalledAt        *rimewatch.Time           `json:"installed_at,omitempty"`
	HeartbeatIntervalS *int                      `json:"heartbeat_interval_s,omitempty"`
	OfflineAfterS      *int                      `json:"offline_after_s,omitempty"`
	Habit              *string                   `json:"habit,omitempty"`  // sleeps or lorawan
	Limits             *rimewatch.LimitOverrides `json:"limits,omitempty"` // only the limits named change

	// ConfirmLoosening lets Limits be looser than is safe for the device's goods.
	ConfirmLoosening bool `json:"confirm_loosening,omitempty"`

	// Reset names the fields, as on the wire, that go back to their defaults.
	Reset []string `json:"-"`
}

// MarshalJSON writes the fields that are set, and null for those to be reset.
func (f DeviceFields) MarshalJSON() ([]byte, error) {
	type plain DeviceFields
	return withNulls(plain(f), f.Reset)
}

func withNulls(v any, names []string) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil || len(names) == 0 {
		return b, err
	}
	members := make(map[string]json.RawMessage)
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, err
	}
	for _, n := range names {
		members[n] = json.RawMessage("null")
	}
	return json.Marshal(members)
}

// Value is a pointer to v, for fields that may be absent.
func Value[T any](v T) *T { return &v }

// DeviceFilter narrows a device list. Empty fields do not filter.
type DeviceFilter struct {
	Status        rimewatch.Status
	EquipmentType string
	SiteID        int64
	Query         string // name or serial contains, without case
	Labels        map[string]string
}

func (f *DeviceFilter) values() url.Values {
	q := url.Values{}
	setText(q, "status", string(f.Status))
	setText(q, "equipment_type", f.EquipmentType)
	setText(q, "q", f.Query)
	if f.SiteID != 0 {
		q.Set("site_id", strconv.FormatInt(f.SiteID, 10))
	}
	setLabels(q, f.Labels)
	return q
}

// setLabels adds the filters by label.
func setLabels(q url.Values, labels map[string]string) {
	for key, value := range labels {
		q.Set("label."+key, value)
	}
}

// DevicePage lists one page of devices, by id.
func (c *Client) DevicePage(ctx context.Context, f DeviceFilter, p Page) ([]DeviceItem, Pagination, error) {
	q := f.values()
	p.set(q)
	data, err := fetch[struct {
		Devices    []DeviceItem `json:"devices"`
		Pagination Pagination   `json:"pagination"`
	}](ctx, c, get("/devices", q))
	return data.Devices, data.Pagination, err
}

// Devices lists all devices that pass the filter, by id.
func (c *Client) Devices(ctx context.Context, f DeviceFilter) iter.Seq2[DeviceItem, error] {
	return all(ctx, largestPage, func(ctx context.Context, p Page) ([]DeviceItem, Pagination, error) {
		return c.DevicePage(ctx, f, p)
	})
}

func devicePath(serial string) string { return "/devices/" + url.PathEscape(serial) }

// Device finds a device by serial: rimewatch.CodeDeviceNotFound.
func (c *Client) Device(ctx context.Context, serial string) (Device, error) {
	return one[Device](ctx, c, get(devicePath(serial), nil), "device")
}

// CreateDevice registers a device: rimewatch.CodeSerialTaken.
func (c *Client) CreateDevice(ctx context.Context, serial string, f DeviceFields) (Device, error) {
	type plain DeviceFields
	call := send(http.MethodPost, "/devices", struct {
		Serial string `json:"serial"`
		plain
	}{serial, plain(f)}, false)
	return one[Device](ctx, c, call, "device")
}

// UpdateDevice changes the fields that f sets.
func (c *Client) UpdateDevice(ctx context.Context, serial string, f DeviceFields) (Device, error) {
	return one[Device](ctx, c, send(http.MethodPatch, devicePath(serial), f, true), "device")
}

// DeleteDevice deletes a device; its history and alerts are kept. It returns the
// device as it was.
func (c *Client) DeleteDevice(ctx context.Context, serial string) (Device, error) {
	call := get(devicePath(serial), nil)
	call.method, call.idempotent = http.MethodDelete, false // a second one may meet a successor
	return one[Device](ctx, c, call, "device")
}

// ImportResult is the result of an import, or of its dry run.
type ImportResult struct {
	Rows    []ImportRow `json:"rows"`
	Created int         `json:"created"`
	Updated int         `json:"updated"`
	Skipped int         `json:"skipped"`
	Errors  int         `json:"errors"`
}

// ImportRow is the outcome of one row.
type ImportRow struct {
	Row      int      `json:"row"` // line of the file; the header is line 1
	Serial   string   `json:"serial"`
	Action   string   `json:"action"` // create, update, skip or error
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"` // of probable mistakes in imported rows, such as an unknown equipment type
}

// ImportDevices creates and updates devices from CSV. With dryRun it only reports
// what it would do.
func (c *Client) ImportDevices(ctx context.Context, csv []byte, dryRun bool) (ImportResult, error) {
	return c.ImportDevicesWith(ctx, csv, ImportOptions{DryRun: dryRun})
}

// ImportOptions of an import of devices.
type ImportOptions struct {
	DryRun           bool // only report the result
	ConfirmLoosening bool // let rows loosen safety limits
}

// ImportDevicesWith is ImportDevices with all its options.
func (c *Client) ImportDevicesWith(ctx context.Context, csv []byte, o ImportOptions) (ImportResult, error) {
	call := &call{method: http.MethodPost, path: "/api/v1/devices/import", body: csv, contentType: typeCSV, idempotent: true, query: url.Values{}}
	if o.DryRun {
		call.query.Set("dry_run", "true")
	}
	if o.ConfirmLoosening {
		call.query.Set("confirm_loosening", "true")
	}
	if err := c.o.Encoding.encode(call); err != nil {
		return ImportResult{}, err
	}
	return fetch[ImportResult](ctx, c, call)
}

// Heartbeat is a device's report of itself. Nil and empty fields are not sent.
type Heartbeat struct {
	Status             rimewatch.Status `json:"status,omitempty"` // Offline announces a planned shutdown
	SentAt             rimewatch.Time   `json:"sent_at,omitempty"`
	FirmwareVersion    string           `json:"firmware_version,omitempty"`
	BatteryPct         *float64         `json:"battery_pct,omitempty"` // 0–100
	RSSIdBm            *float64         `json:"rssi_dbm,omitempty"`    // dBm
	UptimeS            *int64           `json:"uptime_s,omitempty"`
	HeartbeatIntervalS int              `json:"heartbeat_interval_s,omitempty"` // s
}

// Heartbeat reports that a device is alive. It returns the device and the
// service's time.
func (c *Client) Heartbeat(ctx context.Context, serial string, hb Heartbeat) (Device, rimewatch.Time, error) {
	call := send(http.MethodPatch, devicePath(serial)+"/heartbeat", hb, true)
	data, err := fetch[struct {
		Device     Device         `json:"device"`
		ServerTime rimewatch.Time `json:"server_time"`
	}](ctx, c, call)
	return data.Device, data.ServerTime, err
}

// EquipmentType is a type of equipment with its defaults.
type EquipmentType struct {
	Slug     string             `json:"slug"`
	Label    string             `json:"label"`
	Category rimewatch.Category `json:"category"`
	Setpoint *float64           `json:"setpoint"` // °C
	Limits   rimewatch.Limits   `json:"limits"`
	Defrost  rimewatch.Defrost  `json:"defrost"`
	TCS      bool               `json:"tcs"`
	Basis    string             `json:"basis"`
}

// EquipmentTypes lists the catalogue.
func (c *Client) EquipmentTypes(ctx context.Context) ([]EquipmentType, error) {
	return one[[]EquipmentType](ctx, c, get("/equipment-types", nil), "equipment_types")
}
