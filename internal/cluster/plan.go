package cluster

import (
	"slices"

	"github.com/rimewatch/rimewatch/internal/store"
)

// plan returns the member that each shard is to be with, by shard; "" = there is
// none. Shards stay where they are as long as nobody has more than its part: those
// that nobody has go to whoever has least. All nodes come to the same.
func plan(v *store.Standing) []string {
	want := make([]string, len(v.Holdings))
	count := make(map[string]int)
	for i := range v.Members {
		if m := &v.Members[i]; m.URL != "" && !m.Leaving && !v.Silent(m) {
			count[m.Name] = 0
		}
	}
	if len(count) == 0 {
		return want
	}
	names := make([]string, 0, len(count))
	for name := range count {
		names = append(names, name)
	}
	slices.Sort(names)
	most := (len(v.Holdings) + len(names) - 1) / len(names)
	least := len(v.Holdings) / len(names)
	fewest := func() string {
		return slices.MinFunc(names, func(a, b string) int { return count[a] - count[b] })
	}
	for i := range v.Holdings { // whoever has one keeps it
		h := &v.Holdings[i]
		if n, member := count[h.Node]; member && n < most {
			want[i] = h.Node
			count[h.Node]++
		}
	}
	for i := range want {
		if want[i] == "" {
			want[i] = fewest()
			count[want[i]]++
		}
	}
	for i := len(want) - 1; i >= 0; i-- { // a new member gets its part
		if to := fewest(); count[to] < least && count[want[i]] > least {
			count[want[i]]--
			count[to]++
			want[i] = to
		}
	}
	return want
}
