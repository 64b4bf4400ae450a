package store

import (
	"context"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// Page selects a part of a list: after a key (keyset) or from an
// offset. Limit is at least 1.
type Page struct {
	After  int64 // list: devices with a greater id; 0 = from the start
	Offset int   // rows to skip; used when After is 0
	Limit  int
}

// DeviceFilter narrows a device list. Empty fields do not filter.
type DeviceFilter struct {
	Status        rimewatch.Status
	EquipmentType string
	SiteID        int64
	Sites         *rimewatch.Sites   // only those of these; nil = all
	Labels        *map[string]string // all of them; nil = any
	Query         string             // name or serial contains, without case
	Judged        *Judged
	Reported      bool           // only those with a reading
	AttentionAt   rimewatch.Time // only those that need attention then: with an active alert, offline or not judged; 0 = all
}

// Judged asks for the devices that are judged at a moment, or that are not.
type Judged struct {
	Is bool
	At rimewatch.Time
}

// Identity is who a device is and where it stands. It is never changed: a device
// that changes gets another one.
type Identity struct {
	ID, WorkspaceID, SiteID int64  // SiteID 0 = none
	Serial, Key             string // as registered, as compared
	Name, EquipmentType     string
	Offsets                 []rimewatch.Offset // by From
}

// IdentityOf returns the identity of a device as it is. Its texts are one in memory: there
// are as many of them as devices.
func IdentityOf(d *rimewatch.Device) *Identity {
	key := rimewatch.SerialKey(d.Serial)
	text := d.Serial + key + d.Name
	serial, name := len(d.Serial), len(d.Serial)+len(key)
	return &Identity{
		ID: d.ID, WorkspaceID: d.WorkspaceID, SiteID: d.SiteID, Serial: text[:serial], Key: text[serial:name], Name: text[name:],
		EquipmentType: d.EquipmentType, Offsets: d.Offsets,
	}
}

// Lister lists the devices of a workspace.
type Lister interface {
	// Devices lists by id, with live values as the device's offsets correct them,
	// as do all methods that return a DeviceView. total counts all that pass the filter.
	Devices(ctx context.Context, workspaceID int64, f DeviceFilter, p Page) (list []rimewatch.DeviceView, total int, err error)
}

// Fleet answers questions about devices.
//
// Devices, Device, DeletedDevices, EachDevice and EachIdentity heed WithSites.
type Fleet interface {
	Lister
	// Device finds one by serial: CodeDeviceNotFound.
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	// DeviceByID finds one of any workspace by its id; false when there is none or
	// it was deleted.
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	// Identify finds a device by its serial on the hot path, nil = unknown.
	Identify(workspaceID int64, serial []byte) *Identity
	// IdentifyAll does so for many serials at once; who has as many places.
	IdentifyAll(workspaceID int64, serials [][]byte, who []*Identity)
	// Identity finds one of any workspace by its id; nil = there is none, or it was
	// deleted.
	Identity(deviceID int64) *Identity
	// EachIdentity calls yield for every device of the workspace, by id, until it returns
	// false, under the lock of the fleet: yield must not ask the store.
	EachIdentity(ctx context.Context, workspaceID int64, yield func(*Identity) bool)
	// Serials names devices of the workspace, deleted ones too; unknown ids are
	// left out.
	Serials(ctx context.Context, workspaceID int64, ids []int64) (map[int64]string, error)
	// DeletedDevices lists devices of the workspace that were deleted, by id: all, or
	// that with the id where it is not 0.
	DeletedDevices(ctx context.Context, workspaceID, id int64) ([]rimewatch.Device, error)
	// EachDevice calls yield for every device of the workspace that has a
	// reading, by id, in bounded memory. The view is only valid in the call.
	EachDevice(ctx context.Context, workspaceID int64, yield func(*rimewatch.DeviceView) error) error
}

// EachOf calls yield for every device of the workspace that passes a filter, by id,
// and returns its first error.
func EachOf(ctx context.Context, fleet Lister, workspaceID int64, f DeviceFilter, yield func(*rimewatch.DeviceView) error) error {
	const slice = 1000
	for after := int64(0); ; {
		list, _, err := fleet.Devices(ctx, workspaceID, f, Page{After: after, Limit: slice})
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			if err := yield(&list[i]); err != nil {
				return err
			}
		}
		after = list[len(list)-1].ID
	}
}

// HistoryQuery asks for a device's readings in [From, To).
type HistoryQuery struct {
	DeviceID   int64
	From, To   rimewatch.Time
	Descending bool
	Limit      int // 0 = all
}

// Bucket is the aggregate of the readings in [At, At+step).
type Bucket struct {
	At      rimewatch.Time
	Count   int64
	Defrost bool        // a reading says that the unit was defrosting; known for steps below an hour
	Fields  []Aggregate // by the numbers of the fields; as long as the readings need
}

// Aggregate returns that of one measurement.
func (b *Bucket) Aggregate(f rimewatch.Field) Aggregate {
	if int(f) >= len(b.Fields) {
		return Aggregate{}
	}
	return b.Fields[f]
}

// Aggregate of one measurement; Count == 0 when it is absent.
type Aggregate struct {
	Count    int64
	Min, Max float64
	Sum      float64
	Counted  rimewatch.Count // of a counter: its course within the bucket
	Increase float64         // of a counter in Corrected history: since the bucket before
}

// Mean returns the mean to 4 decimals, more than any sensor has, never
// outside Min and Max.
func (g *Aggregate) Mean() float64 {
	mean := g.Sum / float64(g.Count)
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(mean, 'f', 4, 64), 64)
	return min(max(rounded, g.Min), g.Max)
}

// BucketQuery asks for aggregates of [From, To) in steps aligned to UTC.
type BucketQuery struct {
	DeviceID int64
	From, To rimewatch.Time
	Step     rimewatch.Time
	Fields   rimewatch.Fields
}

// History answers questions about readings.
type History interface {
	// Readings calls yield in order of time. Memory is bounded whatever the range.
	Readings(ctx context.Context, q HistoryQuery, yield func(*rimewatch.Reading) error) error
	// Buckets returns the buckets that hold readings, in order. Where raw
	// readings have expired and the step is whole hours, rollups answer.
	Buckets(ctx context.Context, q BucketQuery) ([]Bucket, error)
	// ReadingAt finds the reading of one moment: CodeNotFound.
	ReadingAt(ctx context.Context, deviceID int64, at rimewatch.Time) (rimewatch.Reading, error)
}

// Brought are readings of an import that is rehearsed, oldest first.
type Brought interface {
	Len() int
	At(i int) rimewatch.Time
	Reading(i int) rimewatch.Reading
}

// AlertFilter narrows an alert list. Empty fields do not filter.
type AlertFilter struct {
	Status       rimewatch.AlertStatus
	Severity     rimewatch.Severity
	Type         rimewatch.AlertType
	Predictive   *bool
	DeviceID     int64
	Serial       string             // of the device, and of deleted ones that had it before
	Sites        rimewatch.Sites    // only of these and of their devices; nil = all
	SiteID       int64              // of the device, or of an alert of the site itself
	Equipment    string             // type of the device
	Labels       *map[string]string // of the device, all of them; nil = any
	Devices      []int64            // the device is one of them; nil = any
	Acknowledged *bool
	Since        rimewatch.Time // triggered at or after
}

// AlertPage selects a part of the newest-first list.
type AlertPage struct {
	BeforeAt rimewatch.Time // keyset: triggered before (BeforeAt, BeforeID); 0 = from the newest
	BeforeID int64
	Offset   int
	Limit    int
}

// AlertCounts counts alerts by status and severity.
type AlertCounts struct {
	ActiveWarning, ActiveCritical     int
	ResolvedWarning, ResolvedCritical int
}

// Alerts answers questions about alerts.
//
// Alerts, Alert and AlertCounts heed WithSites.
type Alerts interface {
	// Alerts lists newest first by (triggered_at, id). total counts all that the
	// filter lets through; it is 0 for a page by keyset, which counts nothing.
	Alerts(ctx context.Context, workspaceID int64, f AlertFilter, p AlertPage) (list []rimewatch.AlertView, total int, err error)
	// Alert finds one: CodeAlertNotFound.
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
	// ViewAlert adds to a row, as it is, what people need to know of its device,
	// deleted ones included.
	ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error)
	// AlertCounts counts all retained alerts, or those triggered since.
	AlertCounts(ctx context.Context, workspaceID int64, since rimewatch.Time) (AlertCounts, error)
}

// Everywhere are the calls that reach across workspaces: for what serves the
// whole store, never for an answer to one workspace.
type Everywhere interface {
	// AllDevices calls yield for every existing device, by id: what a node loads at
	// its start. The device is only valid in the call.
	AllDevices(ctx context.Context, yield func(*rimewatch.Device) error) error
	// AllActiveAlerts calls yield for every active alert, by id, likewise.
	AllActiveAlerts(ctx context.Context, yield func(*rimewatch.Alert) error) error
	// AllMaintenanceWindows lists the windows that end after a moment.
	AllMaintenanceWindows(ctx context.Context, endAfter rimewatch.Time) ([]rimewatch.MaintenanceWindow, error)
	// AllMaintenancePlans lists those that are enabled.
	AllMaintenancePlans(ctx context.Context) ([]rimewatch.MaintenancePlan, error)
	// AllSites lists the sites.
	AllSites(ctx context.Context) ([]rimewatch.Site, error)
	// AllTransitionsAfter returns the transitions with a greater id, in order: the
	// outbox of notifications.
	AllTransitionsAfter(ctx context.Context, id int64, limit int) ([]rimewatch.AlertTransition, error)
	// AllEventsAfter lists the commits after one, by id, that have events.
	AllEventsAfter(ctx context.Context, id int64, limit int) ([]EventRow, error)
	// LastEventRow is the id of the last of them, 0 = there is none.
	LastEventRow(ctx context.Context) (int64, error)
	// AllWebhooks lists the webhooks that are switched on.
	AllWebhooks(ctx context.Context) ([]rimewatch.Webhook, error)
	// AllSources lists the sources of a kind.
	AllSources(ctx context.Context, kind rimewatch.SourceKind) ([]rimewatch.Source, error)
	// AllHeldBefore deletes payloads that came before a moment, at most limit, and
	// returns how many.
	AllHeldBefore(ctx context.Context, before rimewatch.Time, limit int) (int, error)
	// AllReportSchedules lists those that are enabled.
	AllReportSchedules(ctx context.Context) ([]rimewatch.ReportSchedule, error)
	// AllCheckTemplates lists those that are enabled.
	AllCheckTemplates(ctx context.Context) ([]rimewatch.CheckTemplate, error)
	// AllChecksOver lists at most limit checks that are due although their window is over, the oldest first.
	AllChecksOver(ctx context.Context, now rimewatch.Time, limit int) ([]rimewatch.Check, error)
	// AllDueActs lists at most limit acts that wait and are due, the oldest first.
	AllDueActs(ctx context.Context, now rimewatch.Time, limit int) ([]rimewatch.Act, error)
	// AllPendingDeliveries yields the pending deliveries, by NextAttemptAt.
	AllPendingDeliveries(ctx context.Context, yield func(*rimewatch.Delivery) error) error
}

// DamagedChunk is a stretch of a device's readings that cannot be read.
type DamagedChunk struct {
	ID, DeviceID int64
	From, To     rimewatch.Time
	Readings     int
	Why          string
}
