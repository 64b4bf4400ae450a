package storetest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// erased takes a workspace away once its moment has come, and nothing else.
func (f *fixture) erased() {
	shop := f.workspace
	mine := f.addDevice("A")
	f.commit(mine, reading(t0), reading(t0+rimewatch.Minute))
	other := f.newWorkspace("Other")
	f.workspace = other
	theirs := f.addDevice("A")
	f.commit(theirs, reading(t0))
	for _, w := range []int64{shop, other} { // something in both trails
		f.must(f.s.Sites().Create(f.ctx, &rimewatch.Site{WorkspaceID: w, Name: "Main Street", TimeZone: "UTC"}))
	}
	f.must(f.s.KeepAnswer(f.ctx, &store.Answer{WorkspaceID: shop, Caller: 1, Key: "k", At: f.now}))
	_, err := f.s.CloseWorkspace(f.ctx, shop)
	f.code(err, rimewatch.CodeConflict)
	f.code(f.s.EraseWorkspace(f.ctx, shop), rimewatch.CodeConflict)
	_, err = f.s.UpdateWorkspace(f.ctx, shop, func(w *rimewatch.Workspace) error { w.DeleteAt = 1; return nil })
	f.must(err)
	_, err = f.s.CloseWorkspace(f.ctx, shop)
	f.must(err)
	f.code(f.s.EraseWorkspace(f.ctx, shop), rimewatch.CodeConflict) // it has a device
	f.workspace = shop
	f.must(f.deviceOp(&store.DeviceOp{WorkspaceID: shop, Serial: "A", Delete: true}).Err)
	f.must(f.s.EraseWorkspace(f.ctx, shop))
	f.everywhere(func(where string) {
		_, err := f.s.Workspace(f.ctx, shop)
		f.code(err, rimewatch.CodeNotFound)
		d, err := f.s.Device(f.ctx, other, "A")
		f.must(err)
		f.equal(where+": the other's device", d.ID, theirs)
		broken, err := f.s.Audit().VerifyAudit(f.ctx, other)
		f.must(err)
		f.equal(where+": the other's trail", broken, int64(0))
	})
}
