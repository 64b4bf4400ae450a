package cluster

import (
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch/internal/store"
)

// plan returns the member that each shard is to be with, by shard; "" = there is
// none. Shards stay where they are as long as no member has much more than another:
// those that nobody has go to the member with the fewest. A shard is only with members
// that failed to open it no more often than the others. All nodes come to the same.
func plan(v *store.ClusterState) []string {
	want := make([]string, len(v.Holdings))
	count := make(map[string]int)
	var there []*store.Member
	for i := range v.Members {
		if m := &v.Members[i]; m.URL != "" && !m.Leaving && !v.Silent(m) {
			there = append(there, m)
			count[m.Name] = 0
		}
	}
	if len(there) == 0 {
		return want
	}
	slices.SortFunc(there, func(a, b *store.Member) int { return strings.Compare(a.Name, b.Name) })
	able := make([][]string, len(want)) // the names of those that may have a shard
	for i := range want {
		able[i] = ableOf(there, v.Holdings[i].Shard)
	}
	fewest := func(i int) string {
		return slices.MinFunc(able[i], func(a, b string) int { return count[a] - count[b] })
	}
	for i := range want { // a member keeps its shards
		if h := &v.Holdings[i]; slices.Contains(able[i], h.Node) {
			want[i] = h.Node
			count[h.Node]++
		}
	}
	for i := range want {
		if want[i] == "" {
			want[i] = fewest(i)
			count[want[i]]++
		}
	}
	for { // and gives to others what it has more
		move, most := -1, 1
		for i := len(want) - 1; i >= 0; i-- {
			if more := count[want[i]] - count[fewest(i)]; more > most {
				move, most = i, more
			}
		}
		if move < 0 {
			return want
		}
		to := fewest(move)
		count[want[move]]--
		count[to]++
		want[move] = to
	}
}

// ableOf returns the names of the members that failed least often to open a shard.
func ableOf(members []*store.Member, shard int64) (names []string) {
	least := -1
	for _, m := range members {
		times := m.FailedAt(shard).Times
		if least < 0 || times < least {
			least, names = times, names[:0]
		}
		if times == least {
			names = append(names, m.Name)
		}
	}
	return names
}
