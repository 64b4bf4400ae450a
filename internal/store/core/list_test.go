package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestSearch: what lists find among thousands of devices that come, go, are
// renamed and fall silent is what a look at each of them finds.
func TestSearch(t *testing.T) {
	const (
		ids = 5 * blockIDs
		now = rimewatch.Time(1_790_000_000_000)
	)
	random := rand.New(rand.NewPCG(1, 2))
	s := &Core{fleet: newFleet()}
	alive := make(map[int64]*rimewatch.Device)
	types := []string{"walkin_freezer", "beverage_cooler", rimewatch.OtherEquipment}
	names := []string{"Größe %d", "Unit %d", "unit %d\nsecond line", "%d"}
	name := func() string { return fmt.Sprintf(names[random.IntN(len(names))], random.IntN(300)) }
	for round := range 6 {
		for _, i := range random.Perm(ids) { // in no order
			id := int64(i + 1)
			d := alive[id]
			switch {
			case d == nil && random.IntN(3) > 0 && s.fleet.byID.Get(id) == nil:
				d = &rimewatch.Device{ID: id, WorkspaceID: int64(1 + i%7/6), Serial: fmt.Sprintf("S-%05d", i), Name: name(), EquipmentType: types[i%3], SiteID: int64(i % 4)}
				alive[id] = d
				s.fleet.put(d)
			case d == nil:
			case random.IntN(200) == 0 || id/blockIDs == 2 && round == 4: // a whole block goes
				delete(alive, id)
				s.fleet.remove(s.fleet.byID.Get(id))
			case random.IntN(4) == 0:
				d.Name = name()
				s.fleet.put(d)
			case random.IntN(2) == 0:
				p := rimewatch.Presence{Status: []rimewatch.Status{rimewatch.Online, rimewatch.Offline}[random.IntN(2)]}
				s.fleet.byID.Get(id).show(&p)
				s.fleet.byID.Get(id).live.tempAt = now - rimewatch.Time(random.IntN(3))*rimewatch.Day
				s.fleet.byID.Get(id).newest(&rimewatch.Reading{At: now}, now)
			}
		}
		for range 60 {
			f := store.DeviceFilter{SiteID: int64(random.IntN(5) / 4 * 2)}
			switch random.IntN(5) {
			case 0:
				f.Status = []rimewatch.Status{rimewatch.Online, rimewatch.Offline}[random.IntN(2)]
			case 1:
				f.Judged = &store.Judged{Is: random.IntN(2) == 0, At: now}
			case 2:
				f.AttentionAt = now
			case 3:
				f.Reported = true
			default:
				f.EquipmentType = types[random.IntN(3)]
			}
			if random.IntN(2) == 0 {
				f.Query = []string{"größe", "UNIT 1", "s-00", "9", "2\nsecond", "-0000", "\xff", "é"}[random.IntN(8)]
			}
			p := store.Page{Limit: 1 + random.IntN(50), Offset: random.IntN(3) * 40}
			if random.IntN(3) == 0 {
				p.After = random.Int64N(ids)
			}
			want, total := naive(s, alive, f, p)
			list, n, err := s.Devices(t.Context(), 1, f, p)
			var got []int64
			for i := range list {
				got = append(got, list[i].ID)
			}
			if err != nil || n != total || !slices.Equal(got, want) {
				t.Fatalf("round %d, %+v, %+v: %v of %d, want %v of %d (%v)", round, f, p, got, n, want, total, err)
			}
		}
	}
}

func naive(s *Core, alive map[int64]*rimewatch.Device, f store.DeviceFilter, p store.Page) (out []int64, total int) {
	for id := range int64(5*blockIDs + 1) {
		d := alive[id]
		if d == nil || d.WorkspaceID != 1 {
			continue
		}
		v, _ := s.DeviceByID(id)
		query := strings.ToLower(f.Query)
		attention := v.Status != rimewatch.Online || !v.Judged(f.AttentionAt)
		if f.Status != "" && v.Status != f.Status || f.EquipmentType != "" && d.EquipmentType != f.EquipmentType || f.SiteID != 0 && d.SiteID != f.SiteID ||
			f.Judged != nil && v.Judged(f.Judged.At) != f.Judged.Is || f.AttentionAt != 0 && !attention || f.Reported && v.Latest.At == 0 ||
			!strings.Contains(strings.ToLower(d.Serial), query) && !strings.Contains(strings.ToLower(d.Name), query) {
			continue
		}
		total++
		switch {
		case p.After > 0 && id <= p.After:
		case p.After == 0 && p.Offset > 0:
			p.Offset--
		case len(out) < p.Limit:
			out = append(out, id)
		}
	}
	return out, total
}
