package realtime

import (
	"slices"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/publish"
)

// TestMovingOutOfSight: a device that moves to a site that somebody may not see is gone
// for them, also when they ask later for what they missed, and for nobody else.
func TestMovingOutOfSight(t *testing.T) {
	inBubble(t, func(g *ground) {
		members := make([]account.Principal, 4)
		for i, sites := range []rimewatch.Sites{{2}, {1}, {1, 2}} {
			members[i].Limit = &sites
		}
		want := [][]string{{"device.deleted"}, {"device.updated"}, {"device.updated"}, {"device.updated"}}
		peers := make([]*peer, len(members))
		since := make([]string, len(members))
		for i := range members {
			members[i].WorkspaceID, members[i].TokenID, members[i].Scopes = 1, int64(i+1), rimewatch.ScopesFull
			peers[i] = g.joinAs(members[i])
			answer, _ := peers[i].subscribe(`"id":1,"channel":"devices"`)
			since[i] = answer.Last
		}
		left := int64(2)
		g.Publish(&publish.Commit{Devices: []publish.Device{{Kind: publish.DeviceUpdated, WorkspaceID: 1, DeviceID: 4, Left: &left}}}) // is at site 1 now
		for i, p := range peers {
			live := p.take()
			_, missed := g.joinAs(members[i]).subscribe(`"id":1,"channel":"devices","since":"` + since[i] + `"`)
			for what, got := range map[string][]said{"live": live, "missed": missed} {
				var kinds []string
				for _, m := range got {
					kinds = append(kinds, m.Event)
				}
				if !slices.Equal(kinds, want[i]) {
					t.Errorf("%s, sites %v: %v, want %v", what, members[i].Sites(), kinds, want[i])
				}
			}
		}
	})
}

// TestMissedBeforeMoving: what a device said before it moved out of sight is not told any more to
// whoever missed it.
func TestMissedBeforeMoving(t *testing.T) {
	inBubble(t, func(g *ground) {
		limited := account.Principal{WorkspaceID: 1, TokenID: 1, Scopes: rimewatch.ScopesFull, Limit: &rimewatch.Sites{1}}
		everything := account.Principal{WorkspaceID: 1, TokenID: 2, Scopes: rimewatch.ScopesFull}
		missed := func(since map[string]string, channel string, who account.Principal) (n int) {
			_, events := g.joinAs(who).subscribe(`"id":1,"channel":"` + channel + `","since":"` + since[channel] + `"`)
			return len(events)
		}
		since := make(map[string]string)
		for _, channel := range []string{"readings", "devices", "alerts"} {
			p := g.joinAs(limited)
			answer, _ := p.subscribe(`"id":1,"channel":"` + channel + `"`)
			since[channel] = answer.Last
		}
		g.readings(4, 7)
		time.Sleep(longestPause)
		updated := publish.Device{Kind: publish.DeviceUpdated, WorkspaceID: 1, At: rimewatch.TimeOf(time.Now())}
		for _, updated.DeviceID = range []int64{4, 7} {
			g.Publish(&publish.Commit{Devices: []publish.Device{updated}})
		}
		g.alert(1, 4, rimewatch.Critical)
		g.alert(2, 7, rimewatch.Critical)
		time.Sleep(longestPause)
		for channel := range since {
			if n := missed(since, channel, limited); n != 2 {
				t.Errorf("%s before the move: %d, want those of 4 and 7", channel, n)
			}
		}
		g.fleet.moved.Store(int64(4), int64(2))
		for channel := range since {
			if n := missed(since, channel, limited); n != 1 {
				t.Errorf("%s after the move: %d, want that of 7", channel, n)
			}
			if n := missed(since, channel, everything); n != 2 {
				t.Errorf("%s after the move, to who may see everything: %d, want 2", channel, n)
			}
		}
	})
}
