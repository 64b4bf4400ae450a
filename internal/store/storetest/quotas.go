package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// SmallQuotas are those of the store that Quotas checks.
var SmallQuotas = store.Quotas{Devices: 3, Sites: 2, Tokens: 2, Members: 3, Attachments: 2 << 20}

// Quotas checks that a workspace makes as many of each as SmallQuotas allow, that
// what is gone makes room, and that another workspace is not concerned.
func Quotas(t *testing.T, s store.Store) {
	c := &control{T: t, ctx: t.Context(), s: s}
	f := &fixture{T: t, ctx: t.Context(), s: s, now: t0}
	w, other := c.workspace("a"), c.workspace("b")
	n := 0
	for _, kind := range []struct {
		name  string
		most  int
		make  func(w rimewatch.Workspace, name string) (int64, error)
		again func(id int64) error // gives up what has the id
	}{
		{"devices", SmallQuotas.Devices, func(w rimewatch.Workspace, name string) (int64, error) {
			op := f.deviceOp(&store.DeviceOp{WorkspaceID: w.ID, Serial: name, Create: &rimewatch.Device{WorkspaceID: w.ID, Serial: name}})
			return op.Device.ID, op.Err
		}, func(id int64) error {
			d, _ := s.DeviceByID(id)
			return f.deviceOp(&store.DeviceOp{WorkspaceID: d.WorkspaceID, Serial: d.Serial, Delete: true}).Err
		}},
		{"sites", SmallQuotas.Sites, func(w rimewatch.Workspace, name string) (int64, error) {
			x := rimewatch.Site{WorkspaceID: w.ID, Name: name, TimeZone: "UTC"}
			return x.ID, s.Sites().Create(c.ctx, &x)
		}, nil},
		{"tokens", SmallQuotas.Tokens, func(w rimewatch.Workspace, name string) (int64, error) {
			x := rimewatch.Token{WorkspaceID: w.ID, Name: name, Hash: hashOf(name), Scopes: rimewatch.ScopesRead}
			err := s.People().CreateToken(c.ctx, &x)
			return x.ID, err
		}, func(id int64) error { return s.People().RevokeToken(c.ctx, w.ID, id, t0) }},
		{"members", SmallQuotas.Members - 1, func(w rimewatch.Workspace, name string) (int64, error) {
			x := store.Invitation{WorkspaceID: w.ID, Email: name + "@example.com", Role: rimewatch.RoleViewer, Hash: hashOf(name), CreatedAt: t0, ExpiresAt: t0 + 10}
			err := s.People().CreateInvitation(c.ctx, &x)
			return x.ID, err
		}, func(id int64) error { return s.People().DeleteInvitation(c.ctx, w.ID, id) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			c.T, f.T = t, t
			if kind.name == "members" {
				c.member(w, c.user("one@example.com"), rimewatch.RoleOwner) // he counts, too
			}
			more := func(w rimewatch.Workspace) (int64, error) {
				n++
				return kind.make(w, fmt.Sprintf("n%d", n))
			}
			var last int64
			for range kind.most {
				var err error
				if last, err = more(w); err != nil {
					t.Fatal(err)
				}
			}
			_, err := more(w)
			c.code(err, rimewatch.CodeQuotaExceeded)
			_, err = more(other)
			c.ok(err)
			if kind.again == nil {
				return
			}
			c.ok(kind.again(last))
			_, err = more(w)
			c.ok(err)
			_, err = more(w)
			c.code(err, rimewatch.CodeQuotaExceeded)
		})
	}
	f.T = t
	f.groupOfDevices(other.ID)
	f.attachedBytes(w.ID, other.ID)
	f.attachedFiles(other.ID)
}

// attach attaches a file of so many bytes, each of which is n, to a work order.
func (f *fixture) attach(workspaceID, order int64, n byte, size int) error {
	x := rimewatch.Attachment{WorkspaceID: workspaceID, OrderID: order, Name: "a.pdf", Type: "application/pdf", At: t0}
	return f.s.Records().Attach(f.ctx, &x, bytes.Repeat([]byte{n}, size))
}

// ordered makes a work order of a workspace.
func (f *fixture) ordered(workspaceID int64) int64 {
	f.Helper()
	x := rimewatch.WorkOrder{WorkspaceID: workspaceID, Status: rimewatch.OrderOpen, Problem: "x", Urgency: rimewatch.UrgencySoon, CreatedAt: t0, UpdatedAt: t0}
	f.must(f.s.Records().WorkOrders().Create(f.ctx, &x))
	return x.ID
}

// attachedBytes: what a workspace attaches is bounded together, and the same bytes count once.
func (f *fixture) attachedBytes(workspaceID, other int64) {
	one, two := f.ordered(workspaceID), f.ordered(workspaceID)
	most := int(SmallQuotas.Attachments)
	f.must(f.attach(workspaceID, one, 1, most-100))
	f.must(f.attach(workspaceID, two, 1, most-100))
	f.code(f.attach(workspaceID, two, 2, 101), rimewatch.CodeQuotaExceeded)
	f.must(f.attach(workspaceID, two, 2, 100))
	f.code(f.attach(workspaceID, one, 3, 1), rimewatch.CodeQuotaExceeded)
	f.must(f.attach(other, f.ordered(other), 3, 1))
}

// attachedFiles: there are so many of one order without a case, and what is attached again is none more.
func (f *fixture) attachedFiles(workspaceID int64) {
	order := f.ordered(workspaceID)
	for n := range rimewatch.MaxAttachments {
		f.must(f.attach(workspaceID, order, byte(n), 1))
	}
	f.must(f.attach(workspaceID, order, 7, 1))
	f.code(f.attach(workspaceID, order, 99, 1), rimewatch.CodeQuotaExceeded)
}

// groupOfDevices makes more devices in one commit than a workspace may have, of
// which it has one already.
func (f *fixture) groupOfDevices(workspaceID int64) {
	var ops []*store.DeviceOp
	for i := range SmallQuotas.Devices + 2 {
		serial := fmt.Sprintf("G%d", i)
		ops = append(ops, &store.DeviceOp{WorkspaceID: workspaceID, Serial: serial, Create: &rimewatch.Device{ID: f.s.NewDeviceID(), WorkspaceID: workspaceID, Serial: serial}})
	}
	f.group(&store.Group{Now: f.now, Devices: ops}, store.Effects{})
	for i, op := range ops {
		want := rimewatch.CodeQuotaExceeded
		if i < SmallQuotas.Devices-1 {
			want = ""
		}
		f.code(op.Err, want)
	}
}
