package core

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// listBlock has the columns that lists filter by, of a workspace's devices with ids of one range,
// side by side: devices lie anywhere in memory, and reading each of a million takes too long for
// a list.
type listBlock struct {
	first  int64 // of the range, which is blockIDs long
	n      int   // devices
	online [blockIDs]bool
	// reported marks those that have a reading.
	reported [blockIDs]bool
	texts    atomic.Pointer[blockTexts] // nil = there are none, or a device has changed since
}

const (
	blockIDs = 1024
	// blocksAtOnce is how many are searched under one hold of the lock.
	blocksAtOnce = 8
)

// blockTexts are the devices of a block in the order of their ids. They are never
// changed.
type blockTexts struct {
	offsets []uint16 // of the ids
	text    []byte   // serial and name of each, in lower case
	ends    []int    // in text
}

// between stands before and behind every serial and name: no text holds it, so
// that nothing is found across two of them.
const between = 0xff

// blockOf returns the block for an id, making one where there is none.
func (r *workspaceDevices) blockOf(id int64) *listBlock {
	first := id / blockIDs * blockIDs
	i, found := slices.BinarySearchFunc(r.blocks, first, (*listBlock).compare)
	if !found {
		r.blocks = slices.Insert(r.blocks, i, &listBlock{first: first})
	}
	return r.blocks[i]
}

func (x *listBlock) compare(first int64) int { return cmp.Compare(x.first, first) }

// textsOf returns the texts of a block, whose devices are given.
func (x *listBlock) textsOf(devices []*device) *blockTexts {
	if t := x.texts.Load(); t != nil {
		return t
	}
	t := &blockTexts{}
	for _, d := range devices {
		t.offsets = append(t.offsets, uint16(d.row.ID-x.first))
		t.text = append(append(append(t.text, between), d.row.Key...), between)
		t.text = append(append(t.text, strings.ToLower(d.row.Name)...), between)
		t.ends = append(t.ends, len(t.text))
	}
	x.texts.Store(t)
	return t
}

// put takes a device into its roster's list and block.
func (r *workspaceDevices) put(d *device) {
	d.block = r.blockOf(d.row.ID)
	d.block.n++
	if n := len(r.list); n == 0 || r.list[n-1].row.ID < d.row.ID {
		r.list = append(r.list, d)
		return
	}
	i, _ := slices.BinarySearchFunc(r.list, d.row.ID, (*device).compareID)
	r.list = slices.Insert(r.list, i, d)
}

// drop takes a device out of its roster's list and block.
func (r *workspaceDevices) drop(d *device) {
	i, found := slices.BinarySearchFunc(r.list, d.row.ID, (*device).compareID)
	if !found {
		return
	}
	r.list = slices.Delete(r.list, i, i+1)
	d.block.texts.Store(nil)
	if d.block.n--; d.block.n == 0 {
		i, _ := slices.BinarySearchFunc(r.blocks, d.block.first, (*listBlock).compare)
		r.blocks = slices.Delete(r.blocks, i, i+1)
	}
}

// search looks for the devices that pass a filter.
type search struct {
	*fleet
	store.DeviceFilter
	query []byte
	page  store.Page
	after int64 // the last id that was looked at
	out   []rimewatch.DeviceView
	total int
	// judging reports for a type's devices that have no limits of their own whether they
	// are judged with and without a temperature.
	judging map[string][2]bool
}

// Devices implements store.Fleet. Under one hold of the lock it looks at a few
// thousand devices: what changes meanwhile is seen or not.
func (s *Core) Devices(ctx context.Context, workspaceID int64, f store.DeviceFilter, p store.Page) ([]rimewatch.DeviceView, int, error) {
	if s := store.SitesOf(ctx); s != nil {
		f.Sites = &s
	}
	if (f == store.DeviceFilter{}) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		list, total := s.fleet.plainList(workspaceID, p)
		return list, total, nil
	}
	if p.After > 0 {
		p.Offset = 0
	}
	x := search{fleet: &s.fleet, DeviceFilter: f, query: []byte(strings.ToLower(f.Query)), page: p, after: -1, judging: make(map[string][2]bool)}
	if bytes.IndexByte(x.query, between) >= 0 || f.Status != "" && f.Status != rimewatch.Online && f.Status != rimewatch.Offline {
		return nil, 0, nil
	}
	for more := true; more; {
		s.mu.RLock()
		more = x.next(s.fleet.workspaces[workspaceID])
		s.mu.RUnlock()
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
	}
	return x.out, x.total, nil
}

// plainList is a page of all devices.
func (f *fleet) plainList(workspaceID int64, p store.Page) (list []rimewatch.DeviceView, total int) {
	r := f.workspaces[workspaceID]
	if r == nil {
		return nil, 0
	}
	start := p.Offset
	if p.After > 0 {
		start = searchAfter(r.list, p.After)
	}
	for _, d := range r.list[min(start, len(r.list)):min(start+p.Limit, len(r.list))] {
		list = append(list, rimewatch.DeviceView{})
		f.view(d, &list[len(list)-1])
	}
	return list, len(r.list)
}

// next searches the next blocks; false when there are no more.
func (x *search) next(r *workspaceDevices) bool {
	if r == nil {
		return false
	}
	i, _ := slices.BinarySearchFunc(r.blocks, x.after+1, (*listBlock).compare)
	begin := 0
	for _, sh := range r.blocks[:i] {
		begin += sh.n
	}
	for _, sh := range r.blocks[i:min(i+blocksAtOnce, len(r.blocks))] {
		x.block(sh, r.list[begin:begin+sh.n])
		begin += sh.n
		x.after = sh.first + blockIDs - 1
	}
	return i+blocksAtOnce < len(r.blocks)
}

// block searches one of them, whose devices are given.
func (x *search) block(sh *listBlock, devices []*device) {
	t := sh.textsOf(devices)
	if len(x.query) == 0 {
		for k := range devices {
			x.look(sh, t, devices, k)
		}
		return
	}
	for from := 0; ; {
		at := bytes.Index(t.text[from:], x.query)
		if at < 0 {
			return
		}
		k, _ := slices.BinarySearch(t.ends, from+at+1) // the first that ends behind it
		x.look(sh, t, devices, k)
		from = t.ends[k]
	}
}

// look takes the k-th device of a block, which the query finds, if it passes all
// filters.
func (x *search) look(sh *listBlock, t *blockTexts, devices []*device, k int) {
	offset := t.offsets[k]
	if x.Status != "" && sh.online[offset] != (x.Status == rimewatch.Online) {
		return
	}
	if x.Reported && !sh.reported[offset] || !x.passes(devices[k]) {
		return
	}
	x.total++
	switch {
	case sh.first+int64(offset) <= x.page.After:
	case x.page.Offset > 0:
		x.page.Offset--
	case len(x.out) < x.page.Limit:
		x.out = append(x.out, rimewatch.DeviceView{})
		x.view(devices[k], &x.out[len(x.out)-1])
	}
}

// passes applies the filters that need the device itself.
func (x *search) passes(d *device) bool {
	if x.EquipmentType != "" && d.row.EquipmentType != x.EquipmentType || x.SiteID != 0 && d.row.SiteID != x.SiteID || x.Sites != nil && !x.Sites.Has(d.row.SiteID) {
		return false
	}
	if x.Labels != nil && !d.labelled(*x.Labels) {
		return false
	}
	if x.Judged != nil && x.judged(d, x.Judged.At) != x.Judged.Is {
		return false
	}
	return x.AttentionAt == 0 || d.live.alerts > 0 || !d.live.online || !x.judged(d, x.AttentionAt)
}

func (x *search) judged(d *device, at rimewatch.Time) bool {
	if d.live.frozen {
		return false
	}
	var v rimewatch.DeviceView
	if d.row.whole != nil {
		x.view(d, &v)
		return v.Judged(at)
	}
	by, known := x.judging[d.row.EquipmentType]
	if !known {
		x.view(d, &v)
		v.CurrentTempAt = 0
		by[0] = v.Judged(at)
		v.CurrentTempAt = at
		by[1] = v.Judged(at)
		x.judging[d.row.EquipmentType] = by
	}
	if newest := d.live.tempAt; newest != 0 && at-newest < rimewatch.JudgedFor {
		return by[1]
	}
	return by[0]
}

// labelled reports whether a device has all of some labels.
func (d *device) labelled(all map[string]string) bool {
	if d.row.whole == nil {
		return false
	}
	for key, value := range all {
		if has, ok := d.row.whole.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

func searchAfter(list []*device, id int64) int {
	i, found := slices.BinarySearchFunc(list, id, (*device).compareID)
	if found {
		i++
	}
	return i
}
