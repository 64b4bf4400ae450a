package cluster

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

func member(name string) store.Member {
	return store.Member{Name: name, URL: "http://" + name, Beat: 10_000}
}

func view(shards int, owner func(i int) string, members ...store.Member) *store.ClusterState {
	v := &store.ClusterState{Now: 10_000, Members: members}
	for i := range shards {
		v.Holdings = append(v.Holdings, store.Holding{Shard: int64(i), Node: owner(i), Open: owner(i) != ""})
	}
	return v
}

func TestPlan(t *testing.T) {
	a, b, c := member("a"), member("b"), member("c")
	leaving, silent, foreign := b, b, b
	leaving.Leaving, silent.Beat, foreign.URL = true, 10_000-store.GoneAfter.Milliseconds(), ""
	nobody := func(int) string { return "" }
	all := func(name string) func(int) string { return func(int) string { return name } }
	for _, x := range []struct {
		name string
		v    *store.ClusterState
		want []string
	}{
		{"alone", view(3, nobody, a), []string{"a", "a", "a"}},
		{"nobody's are shared out", view(4, nobody, a, b), []string{"a", "b", "a", "b"}},
		{"those of a dead node", view(4, func(i int) string { return []string{"a", "a", "b", "b"}[i] }, a, c), []string{"a", "a", "c", "c"}},
		{"a new node gets its part, and no more moves", view(4, all("a"), a, b), []string{"a", "a", "b", "b"}},
		{"one more than can be shared out stays", view(3, func(i int) string { return []string{"a", "a", "b"}[i] }, a, b), []string{"a", "a", "b"}},
		{"who leaves gives all away", view(2, all("b"), a, leaving), []string{"a", "a"}},
		{"who is silent has nothing", view(2, all("b"), a, silent), []string{"a", "a"}},
		{"who is no node gets nothing", view(2, nobody, a, foreign), []string{"a", "a"}},
		{"nobody is there", view(2, all("a"), leaving), []string{"", ""}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := plan(x.v); !slices.Equal(got, x.want) {
				t.Errorf("%q, not %q", got, x.want)
			}
		})
	}
}

// TestPlanSettles has nodes come and go: the parts are even, whoever has a shard
// within its part keeps it, and a plan that was carried out stays as it is.
func TestPlanSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, 64).Draw(t, "shards")
		owners := make([]string, shards)
		for range 5 {
			there := rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 1, 9, rapid.ID[int]).Draw(t, "members")
			slices.Sort(there)
			var members []store.Member
			for _, i := range there {
				members = append(members, member(fmt.Sprint("n", i)))
			}
			v := view(shards, func(i int) string { return owners[i] }, members...)
			want := plan(v)
			count := make(map[string]int)
			for _, name := range want {
				count[name]++
			}
			for i := range members {
				if n := count[members[i].Name]; n < shards/len(members) || n > (shards+len(members)-1)/len(members) {
					t.Fatalf("%s has %d of %d shards among %d", members[i].Name, n, shards, len(members))
				}
			}
			v = view(shards, func(i int) string { return want[i] }, members...)
			v.Now = rimewatch.Time(10_000)
			if again := plan(v); !slices.Equal(again, want) {
				t.Fatalf("a plan that was carried out changes from %q to %q", want, again)
			}
			owners = want
		}
	})
}
