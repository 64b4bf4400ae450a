package storetest

import (
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (f *fixture) devices() {
	min := -25.0
	labels := map[string]string{"aisle": "4", "ü": "x"}
	op := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: "Wif.1:a-B", Create: &rimewatch.Device{
		WorkspaceID: f.workspace, Serial: "Wif.1:a-B", Name: "Back 'walk-in'", EquipmentType: "walkin_freezer", Labels: labels,
		Manufacturer: "M", Model: "X", Notes: "n", InstalledAt: t0 - 5, HeartbeatIntervalS: 30, OfflineAfterS: 90, Habit: rimewatch.HabitSleeps, FirmwareVersion: "1",
		Limits: &rimewatch.LimitOverrides{TempMin: &min},
	}})
	f.must(op.Err)
	want := op.Device
	f.equal("created", want.CreatedAt, f.now)
	f.everywhere(func(where string) {
		for _, serial := range []string{"Wif.1:a-B", "WIF.1:A-b"} {
			v, err := f.s.Device(f.ctx, f.workspace, serial)
			f.must(err)
			f.equal(where, v.Device, want)
			f.equal(where+" identity", f.s.Identify(f.workspace, []byte(serial)), store.IdentityOf(&want))
			who := make([]*store.Identity, 2)
			f.s.IdentifyAll(f.workspace, [][]byte{[]byte("nobody"), []byte(serial)}, who)
			f.equal(where+" identities", who, []*store.Identity{nil, store.IdentityOf(&want)})
			f.equal(where+" identity by id", f.s.Identity(want.ID), store.IdentityOf(&want))
			byID, ok := f.s.DeviceByID(want.ID)
			f.equal(where+" by id", byID.Device, want)
			f.equal(where+" by id known", ok, true)
		}
		_, err := f.s.Device(f.ctx, f.newWorkspace(where), "Wif.1:a-B")
		f.code(err, rimewatch.CodeDeviceNotFound)
	})
	taken := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: "wif.1:A-b", Create: &rimewatch.Device{WorkspaceID: f.workspace, Serial: "wif.1:A-b"}})
	f.code(taken.Err, rimewatch.CodeSerialTaken)
	f.now += 1000
	changed := changeDevice(f, "WIF.1:A-B", nil, func(d *rimewatch.Device) { d.Name, d.Limits, d.Labels = "Front", nil, nil })
	want.Name, want.Limits, want.Labels, want.UpdatedAt = "Front", nil, nil, f.now
	f.equal("changed", changed.Device, want)
	outdated(f, *changed)
	missing := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: "nobody", Was: &want, Change: &want})
	f.code(missing.Err, rimewatch.CodeDeviceNotFound)
	f.everywhere(func(where string) {
		v, err := f.s.Device(f.ctx, f.workspace, "Wif.1:a-B")
		f.must(err)
		f.equal(where, v.Device, want)
	})
}

// outdated makes a change again that was made of a row which it replaced, and two of the
// same row in one group: the second never overwrites the first.
func outdated(f *fixture, again store.DeviceOp) {
	f.Helper()
	f.equal("made of an old row", errors.Is(f.deviceOp(&again).Err, store.ErrOutdated), true)
	v, err := f.s.Device(f.ctx, f.workspace, again.Serial)
	f.must(err)
	one, two := v.Device, v.Device
	one.Notes, two.Notes = "one", "two"
	ops := []*store.DeviceOp{
		{WorkspaceID: f.workspace, Serial: again.Serial, Was: &v.Device, Change: &one},
		{WorkspaceID: f.workspace, Serial: again.Serial, Was: &v.Device, Change: &two},
	}
	f.group(&store.Group{Now: f.now, Devices: ops}, store.Effects{})
	f.must(ops[0].Err)
	f.equal("beside another", errors.Is(ops[1].Err, store.ErrOutdated), true)
	changeDevice(f, again.Serial, nil, func(d *rimewatch.Device) { d.Notes = v.Notes })
}

func (f *fixture) deviceList() {
	for i := range 25 {
		kind := "walkin_freezer"
		if i%5 == 0 {
			kind = "beverage_cooler"
		}
		op := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: fmt.Sprintf("S-%02d", i), Create: &rimewatch.Device{
			WorkspaceID: f.workspace, Serial: fmt.Sprintf("S-%02d", i), Name: fmt.Sprintf("Größe %d", i), EquipmentType: kind, SiteID: int64(i%3) * 7,
		}})
		f.must(op.Err)
	}
	serials := func(flt store.DeviceFilter, p store.Page) (out []string, total int, last int64) {
		f.Helper()
		list, total, err := f.s.Devices(f.ctx, f.workspace, flt, p)
		f.must(err)
		for _, v := range list {
			out, last = append(out, v.Serial), v.ID
		}
		return out, total, last
	}
	f.everywhere(func(where string) {
		_, total, _ := serials(store.DeviceFilter{Judged: &store.Judged{At: f.now}}, store.Page{Limit: 1})
		f.equal(where+" not judged", total, 25) // none has a temperature
		_, total, _ = serials(store.DeviceFilter{Judged: &store.Judged{Is: true, At: f.now}}, store.Page{Limit: 1})
		f.equal(where+" judged", total, 0)
		_, total, _ = serials(store.DeviceFilter{AttentionAt: f.now}, store.Page{Limit: 1})
		f.equal(where+" that need attention", total, 25) // all are offline
		got, total, last := serials(store.DeviceFilter{}, store.Page{Limit: 2, Offset: 3})
		f.equal(where, got, []string{"S-03", "S-04"})
		f.equal(where, total, 25)
		got, _, _ = serials(store.DeviceFilter{}, store.Page{Limit: 2, After: last})
		f.equal(where+" after", got, []string{"S-05", "S-06"})
		got, total, _ = serials(store.DeviceFilter{EquipmentType: "beverage_cooler"}, store.Page{Limit: 2, Offset: 1})
		f.equal(where+" type", got, []string{"S-05", "S-10"})
		f.equal(where+" type", total, 5)
		_, total, _ = serials(store.DeviceFilter{SiteID: 7}, store.Page{Limit: 100})
		f.equal(where+" site", total, 8)
		got, _, _ = serials(store.DeviceFilter{Query: "GRÖSSE 1"}, store.Page{Limit: 100})
		f.equal(where+" query without its letter", len(got), 0)
		got, _, _ = serials(store.DeviceFilter{Query: "größe 2"}, store.Page{Limit: 100})
		f.equal(where+" query", got, []string{"S-02", "S-20", "S-21", "S-22", "S-23", "S-24"})
		got, total, _ = serials(store.DeviceFilter{Status: rimewatch.Online}, store.Page{Limit: 9})
		f.equal(where+" online", append(got, fmt.Sprint(total)), []string{"0"})
		got, total, _ = serials(store.DeviceFilter{}, store.Page{Limit: 9, Offset: 99})
		f.equal(where+" past the end", append(got, fmt.Sprint(total)), []string{"25"})
	})
}

func (f *fixture) deletedDevice() {
	id := f.addDevice("X")
	f.commit(id, reading(t0))
	f.must(f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: "x", Delete: true}).Err)
	f.equal("reading for it", f.commit(id, reading(t0+1)), []store.Outcome{store.UnknownDevice})
	again := f.addDevice("X")
	if again == id {
		f.Fatal("an id was given out twice")
	}
	f.everywhere(func(where string) {
		v, err := f.s.Device(f.ctx, f.workspace, "X")
		f.must(err)
		f.equal(where, v.ID, again)
		_, ok := f.s.DeviceByID(id)
		f.equal(where+" by id", ok, false)
		gone, err := f.s.ViewAlert(f.ctx, &rimewatch.Alert{ID: 99, WorkspaceID: f.workspace, DeviceID: id, Type: rimewatch.DeviceOffline, Note: "as it is"})
		f.must(err)
		f.equal(where+" alert of a deleted device", []string{gone.DeviceSerial, gone.Note}, []string{"X", "as it is"})
		f.equal(where+" history", f.history(all(id)), answered([]rimewatch.Reading{reading(t0)}))
		f.equal(where+" new history", len(f.history(all(again))), 0)
		serials, err := f.s.Serials(f.ctx, f.workspace, []int64{again, id, again + 1, -1})
		f.must(err)
		f.equal(where+" serials", serials, map[int64]string{id: "X", again: "X"})
		serials, err = f.s.Serials(f.ctx, f.newWorkspace("other "+where), []int64{id, again})
		f.must(err)
		f.equal(where+" others' serials", len(serials), 0)
	})
	next := f.s.NewDeviceID()
	if next <= again {
		f.Fatalf("new id %d is not after %d", next, again)
	}
}
