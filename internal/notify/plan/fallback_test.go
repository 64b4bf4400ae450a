package plan_test

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

func TestFallback(t *testing.T) {
	channel := func(id int64, failures int, success rimewatch.Time, enabled bool) rimewatch.Channel {
		return rimewatch.Channel{ID: id, Enabled: enabled, ChannelHealth: rimewatch.ChannelHealth{Failures: failures, LastSuccessAt: success}}
	}
	list := []rimewatch.Channel{channel(1, 9, 0, true), channel(2, 3, 90, true), channel(3, 0, 50, true), channel(4, 0, 60, true), channel(5, 0, 99, false)}
	phone := channel(6, 0, 99, true)
	phone.Kind, phone.To = rimewatch.ChannelPush, []string{"mara@example.com"}
	for _, c := range []struct {
		named int64
		of    []rimewatch.Channel
		want  int64
	}{
		{0, list, 4},                      // works, and did so last
		{2, list, 2},                      // people named it, though it fails
		{5, list, 4},                      // named, but switched off
		{1, list, 4},                      // not itself
		{0, list[:2], 2},                  // none works
		{0, list[:1], 0},                  // there is no other
		{0, list[4:], 0},                  // none is switched on
		{0, list[1:3], 3},                 // one that works before one that did so later
		{6, append(list[:2:2], phone), 2}, // what waits may be of sites that its owner may not see
	} {
		failing := rimewatch.Channel{ID: 1, FallbackID: c.named}
		r := plan.Rules{Channels: c.of, Members: []plan.Member{{Email: "mara@example.com", Sites: rimewatch.Sites{3}}}}
		if got := r.Fallback(&failing); got != c.want {
			t.Errorf("named %d of %d channels: %d, not %d", c.named, len(c.of), got, c.want)
		}
	}
}
