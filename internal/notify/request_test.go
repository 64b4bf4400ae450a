package notify_test

import (
	"context"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestTested: a test that was sent before its channel was stored is in the log and in the
// channel's health, and ends an outage.
func TestTested(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(_ context.Context, channel string, n int) error {
			if channel == "bad" {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "Nobody listens.")
			}
			return nil
		}
		c, bad := r.channel("new", nil), r.channel("bad", nil)
		if _, err := r.service.Test(r.Context(), r.workspace, bad.ID); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Minute)
		at := r.now()
		r.pass(10 * time.Minute)
		for _, id := range []int64{c.ID, bad.ID} {
			r.must(r.service.Tested(r.Context(), r.workspace, id, at))
			got, err := r.store.Routing().Channels().Get(r.Context(), r.workspace, id)
			r.must(err)
			if works, _ := got.Working(); !works || got.LastSuccessAt != at || got.LastError != "" {
				r.Errorf("%s: %+v", got.Name, got.ChannelHealth)
			}
		}
		if got := r.deliveries(); len(got) != 3 || got[1] != "test new sent 1" || got[2] != "test bad sent 1" {
			r.Errorf("%q", got)
		}
		r.expect("nothing more is sent", "0s bad channel.test")
		// What comes next counts from there.
		if _, err := r.service.Test(r.Context(), r.workspace, bad.ID); err != nil {
			r.Fatal(err)
		}
		got, err := r.store.Routing().Channels().Get(r.Context(), r.workspace, bad.ID)
		r.must(err)
		if got.Failures != 1 || got.LastSuccessAt != at {
			r.Errorf("%+v", got.ChannelHealth)
		}
		if err := r.service.Tested(r.Context(), r.workspace+1, c.ID, at); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			r.Errorf("another workspace's channel: %v", err)
		}
	})
}
