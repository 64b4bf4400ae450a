package core

import (
	"cmp"
	"context"
	"hash/maphash"
	"reflect"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/dense"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// fleet are the existing devices in memory: their rows, newest values and unsealed readings.
// All of it is guarded by Core.mu.
type fleet struct {
	limits     map[int64]map[string]rimewatch.LimitOverrides // of workspaces, by type
	byID       dense.Index[device]
	workspaces map[int64]*workspaceDevices
	sites      map[int64]*rimewatch.Site
	types      map[string]string
}

// workspaceDevices is one workspace's devices.
type workspaceDevices struct {
	bySerial serials
	list     []*device    // by id
	blocks   []*listBlock // likewise
}

type device struct {
	row    row        // replaced as a whole
	block  *listBlock // nil = in no list
	extras *extras    // nil = none

	// What changes with its readings holds no pointers: the collector is done with a
	// device before it comes to that.
	live live
	head head
	// sealedTo is the newest moment in a chunk; unknown (0) until asked for.
	sealedTo rimewatch.Time
	// touch is its place in the running commit.
	touch int32
}

// row is a rimewatch.Device in less memory: most devices have little more than a name.
type row struct {
	*store.Identity
	whole            *rimewatch.Device // of the few devices that have more to them
	created, updated rimewatch.Time
	deleted          rimewatch.Time
	intervalS        int32
	offlineAfterS    int32
}

// rowOf returns a device's row. A device that the short form does not give back as it
// was is kept whole: a field that the short form does not know is never lost.
func rowOf(d *rimewatch.Device) row {
	r := row{
		Identity:  store.IdentityOf(d),
		intervalS: int32(d.HeartbeatIntervalS), offlineAfterS: int32(d.OfflineAfterS),
		created: d.CreatedAt, updated: d.UpdatedAt, deleted: d.DeletedAt,
	}
	if short := r.device(); !reflect.DeepEqual(short, *d) {
		whole := *d
		r.whole = &whole
	}
	return r
}

// setSite moves a device to another site, 0 = none.
func (r *row) setSite(id int64) {
	moved := *r.Identity
	moved.SiteID = id
	r.Identity = &moved
}

func (r *row) device() rimewatch.Device {
	if r.whole != nil {
		d := *r.whole
		d.SiteID = r.SiteID
		return d
	}
	return rimewatch.Device{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Serial: r.Serial, Name: r.Name, EquipmentType: r.EquipmentType, SiteID: r.SiteID,
		HeartbeatIntervalS: int(r.intervalS), OfflineAfterS: int(r.offlineAfterS),
		CreatedAt: r.created, UpdatedAt: r.updated, DeletedAt: r.deleted,
	}
}

// setBack notes the readings that lie in the future since the clock was set back to now.
func (f *fleet) setBack(now rimewatch.Time) {
	for d := range f.byID.All() {
		if d.live.at > now {
			d.allocExtras().reach = max(d.latestFuture(), d.live.at)
		}
	}
}

// ahead reports whether a moment lies in the future since the clock was set back.
func (d *device) ahead(at, now rimewatch.Time) bool {
	return d.latestFuture() != 0 && at > now+rimewatch.FutureTolerance
}

func newFleet() fleet {
	return fleet{
		workspaces: make(map[int64]*workspaceDevices),
		sites:      make(map[int64]*rimewatch.Site),
		types:      make(map[string]string),
	}
}

func (f *fleet) devicesOf(workspaceID int64) *workspaceDevices {
	r := f.workspaces[workspaceID]
	if r == nil {
		r = new(workspaceDevices)
		f.workspaces[workspaceID] = r
	}
	return r
}

func (f *fleet) find(workspaceID int64, key string) *device {
	r := f.workspaces[workspaceID]
	if r == nil {
		return nil
	}
	who := r.bySerial.get([]byte(key), maphash.String(serialSeed, key))
	if who == nil {
		return nil
	}
	return f.byID.Get(who.ID)
}

// room returns CodeQuotaExceeded when a workspace, which is about to have this many
// more devices, has as many as it may have; most 0 = no limit.
func (f *fleet) room(workspaceID int64, more, most int) error {
	if r := f.workspaces[workspaceID]; r != nil {
		more += len(r.list)
	}
	if most > 0 && more >= most {
		return rimewatch.ErrQuota(most, rimewatch.Sentencef("devices"))
	}
	return nil
}

// put inserts a device or replaces its row.
func (f *fleet) put(put *rimewatch.Device) {
	r := f.devicesOf(put.WorkspaceID)
	d := f.byID.Get(put.ID)
	if d == nil {
		d = newDevice(put)
		f.byID.Put(put.ID, d)
		r.put(d)
	} else {
		r.bySerial.remove(d.row.Key)
		d.row = rowOf(put)
	}
	d.block.texts.Store(nil)
	f.intern(d)
	r.bySerial.put(d.row.Identity)
}

// intern makes devices of a type share its string.
func (f *fleet) intern(d *device) {
	if known, ok := f.types[d.row.EquipmentType]; ok {
		d.row.EquipmentType = known
	} else {
		f.types[d.row.EquipmentType] = d.row.EquipmentType
	}
}

// loadDevices fills an empty fleet with devices in the order of their ids.
func (f *fleet) loadDevices(parts [][]*device) {
	sizes := make(map[int64]int)
	for _, part := range parts {
		for _, d := range part {
			sizes[d.row.WorkspaceID]++
		}
	}
	for id, n := range sizes {
		r := &workspaceDevices{list: make([]*device, 0, n)}
		r.bySerial.reserve(n)
		f.workspaces[id] = r
	}
	for _, part := range parts {
		for _, d := range part {
			r := f.workspaces[d.row.WorkspaceID]
			f.intern(d)
			f.byID.Put(d.row.ID, d)
			r.put(d)
			r.bySerial.put(d.row.Identity)
		}
	}
}

func newDevice(row *rimewatch.Device) *device {
	return &device{row: rowOf(row)}
}

func (d *device) compareID(id int64) int { return cmp.Compare(d.row.ID, id) }

// remove takes a deleted device out. Its unsealed readings stay reachable by
// id until they are sealed.
func (f *fleet) remove(d *device) {
	r := f.devicesOf(d.row.WorkspaceID)
	r.bySerial.remove(d.row.Key)
	r.drop(d)
}

func (f *fleet) view(d *device, v *rimewatch.DeviceView) {
	v.Device = d.row.device()
	d.fillLive(&v.Live)
	if len(v.Offsets) > 0 {
		v.Latest.Correct(v.Offsets)
		if v.CurrentTempAt != 0 {
			v.CurrentTemp = rimewatch.Corrected(v.CurrentTemp, rimewatch.OffsetAt(v.Offsets, rimewatch.ProductZoneTemp, v.CurrentTempAt))
		}
	}
	if v.ZoneTempAt != 0 { // as it is corrected already
		v.CurrentTemp, v.CurrentTempAt = v.ZoneTemp, v.ZoneTempAt
	}
	v.Site = f.sites[d.row.SiteID]
	if set := f.limits[d.row.WorkspaceID]; set != nil {
		w := rimewatch.Workspace{Limits: set}
		v.WorkspaceLimits = w.LimitsOf(d.row.EquipmentType)
	}
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Device implements store.Fleet.
func (s *Core) Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error) {
	var v rimewatch.DeviceView
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.fleet.find(workspaceID, rimewatch.SerialKey(serial))
	if d == nil || !store.SitesOf(ctx).Has(d.row.SiteID) {
		return v, errDevice()
	}
	s.fleet.view(d, &v)
	return v, nil
}

func errDevice() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeDeviceNotFound, "There is no such device.")
}

// DeviceByID implements store.Fleet.
func (s *Core) DeviceByID(id int64) (v rimewatch.DeviceView, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.fleet.byID.Get(id)
	if d == nil || d.row.deleted != 0 {
		return v, false
	}
	s.fleet.view(d, &v)
	return v, true
}

// Identity implements store.Fleet.
func (s *Core) Identity(deviceID int64) *store.Identity {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.fleet.byID.Get(deviceID); d != nil && d.row.deleted == 0 {
		return d.row.Identity
	}
	return nil
}

// EachIdentity implements store.Fleet.
func (s *Core) EachIdentity(ctx context.Context, workspaceID int64, yield func(*store.Identity) bool) {
	sites := store.SitesOf(ctx)
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.fleet.workspaces[workspaceID]
	if r == nil {
		return
	}
	for _, d := range r.list {
		if sites.Has(d.row.SiteID) && !yield(d.row.Identity) {
			return
		}
	}
}

// eachSlice is how many devices are copied under one hold of the lock.
const eachSlice = 256

// EachDevice implements store.Fleet.
func (s *Core) EachDevice(ctx context.Context, workspaceID int64, yield func(*rimewatch.DeviceView) error) error {
	sites := store.SitesOf(ctx)
	views := make([]rimewatch.DeviceView, 0, eachSlice)
	after := int64(0)
	for {
		views = views[:0]
		s.mu.RLock()
		if r := s.fleet.workspaces[workspaceID]; r != nil {
			for _, d := range r.list[searchAfter(r.list, after):] {
				after = d.row.ID
				if d.live.at == 0 || !sites.Has(d.row.SiteID) {
					continue
				}
				views = views[:len(views)+1]
				s.fleet.view(d, &views[len(views)-1])
				if len(views) == cap(views) {
					break
				}
			}
		}
		s.mu.RUnlock()
		for i := range views {
			if err := yield(&views[i]); err != nil {
				return err
			}
		}
		if len(views) < cap(views) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// everywhere is what reaches across workspaces: the tables, but for the devices, which are
// in memory.
type everywhere struct {
	tables.Everywhere
	core *Core
}

// Everywhere implements store.Store.
func (s *Core) Everywhere() store.Everywhere { return everywhere{s.Tables.Everywhere(), s} }

// AllDevices implements store.Everywhere.
func (e everywhere) AllDevices(_ context.Context, yield func(*rimewatch.Device) error) error {
	var row rimewatch.Device
	e.core.mu.RLock()
	defer e.core.mu.RUnlock()
	for d := range e.core.fleet.byID.All() {
		if d.row.deleted != 0 {
			continue
		}
		row = d.row.device()
		if err := yield(&row); err != nil {
			return err
		}
	}
	return nil
}
