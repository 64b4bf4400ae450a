package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// TestWorkspaceLimits: what a workspace sets for a type is what its devices are
// judged by at once, after a crash, and where another process has set it.
func TestWorkspaceLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		a, b := r.device("A", "meat_cooler"), r.device("B", "fish_cooler")
		set := func(max float64) {
			wait := 0
			_, err := r.s.UpdateWorkspace(t.Context(), r.ws, func(w *rimewatch.Workspace) error {
				w.Limits = map[string]rimewatch.LimitOverrides{"meat_cooler": {TempMax: &max, DelayS: &wait}}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for _, serial := range []string{"A", "B"} {
				if r.view(serial).ActiveAlerts > 0 {
					got = append(got, serial)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("alerts of (-want +got):\n%s", d)
			}
		}
		both := func(temp float64, minutes int) {
			for range minutes {
				r.send(a, r.now(), temp)
				r.send(b, r.now(), temp)
				time.Sleep(time.Minute)
			}
		}
		both(1.5, 3)
		expect()
		set(1)
		if err := r.in.RefreshSettings(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect("A")
		r.crash()
		expect("A")
		set(2)
		time.Sleep(10 * time.Second) // as another process would: the service looks every five
		both(1.4, 8)
		expect()
		// A crash between the change and its reaching the devices.
		set(1)
		r.crash()
		both(1.5, 2)
		expect("A")
		r.close()
	})
}
