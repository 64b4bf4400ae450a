package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

func TestAlertLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		same(t, "quiet", r.events(), []string{"device.created", "device.online"})
		r.warm(id, -13, 62*time.Minute)
		same(t, "opened", r.events(), []string{"alert.opened high_temperature warning"})
		v := r.view("A")
		same(t, "device", []any{v.Status, v.ActiveAlerts, v.CurrentTemp}, []any{rimewatch.Online, 1, -13.0})
		sum := r.in.Summary(r.ws)
		same(t, "summary", []int{sum.TotalDevices, sum.OnlineDevices, sum.ActiveAlerts, sum.WarningAlerts}, []int{1, 1, 1, 1})
		r.warm(id, -10, 62*time.Minute)
		same(t, "escalated", r.events(), []string{"alert.updated high_temperature critical"})
		r.warm(id, -20, 7*time.Minute)
		same(t, "resolved", r.events(), []string{"alert.resolved high_temperature critical"})
		same(t, "alerts", r.alerts(), []string{"high_temperature critical resolved auto"})
		same(t, "device afterwards", r.view("A").ActiveAlerts, 0)
	})
}

func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.device("never", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		r.events()
		seen := r.view("A").LastSeenAt
		time.Sleep(time.Until(seen.Std().Add(3*time.Minute - time.Second)))
		same(t, "before the deadline", r.events(), []string(nil))
		time.Sleep(5 * time.Second)
		same(t, "after it", r.events(), []string{"device.offline", "alert.opened device_offline warning"})
		time.Sleep(time.Hour + time.Minute)
		same(t, "an hour later", r.events(), []string{"alert.updated device_offline critical"})
		r.send(id, r.now(), -20)
		same(t, "back", r.events(), []string{"device.online", "alert.resolved device_offline critical"})
		v, err := r.in.Heartbeat(t.Context(), r.ws, "a", rimewatch.Heartbeat{Offline: true, FirmwareVersion: "2", HeartbeatIntervalS: 60})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "announced", []any{v.Status, v.FirmwareVersion, v.HeartbeatIntervalS}, []any{rimewatch.Offline, "2", 60})
		time.Sleep(2 * time.Hour)
		same(t, "no alert for a planned shutdown", r.events(), []string{"device.updated", "device.offline"})
	})
}

// TestChangesMeet: a change of a device that another one came before is made again, of
// what the other left.
func TestChangesMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		r.device("A", "other")
		times := 0
		v, err := r.in.UpdateDevice(t.Context(), r.ws, "A", func(d *rimewatch.Device) error {
			if times++; times == 1 {
				if _, err := r.in.UpdateDevice(t.Context(), r.ws, "A", func(d *rimewatch.Device) error { d.Notes = "another's"; return nil }); err != nil {
					t.Error(err)
				}
			}
			d.Name = "mine"
			return nil
		})
		same(t, "error", err, error(nil))
		same(t, "both", []any{times, v.Name, v.Notes}, []any{2, "mine", "another's"})
	})
}

// TestSaid: what a device says of itself beside a reading is committed with the reading,
// where it is news or nothing was heard for ten minutes.
func TestSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "other")
		low, high, near, far := 20.0, 90.0, -50.0, -80.0
		for i, c := range []struct {
			says  rimewatch.Heartbeat
			after time.Duration
			news  bool
		}{
			{says: rimewatch.Heartbeat{BatteryPct: &high, RSSI: &near}, news: true},
			{says: rimewatch.Heartbeat{BatteryPct: &high, RSSI: &far}, after: 9 * time.Minute},
			{says: rimewatch.Heartbeat{BatteryPct: &low}, news: true},
			{says: rimewatch.Heartbeat{BatteryPct: &low, FirmwareVersion: "2"}, news: true},
			{says: rimewatch.Heartbeat{FirmwareVersion: "2"}},
			{says: rimewatch.Heartbeat{RSSI: &far}, after: 10 * time.Minute, news: true},
		} {
			time.Sleep(c.after + time.Second)
			in := []store.Input{{Kind: store.InputReading, DeviceID: id, AtArrival: true}}
			in[0].Reading.Set(rimewatch.Humidity, 50)
			r.events()
			if err := r.in.Submit(t.Context(), in, []store.Vitals{{DeviceID: id, Heartbeat: c.says}}); err != nil {
				t.Fatal(err)
			}
			v := r.view("A")
			same(t, fmt.Sprint(i, " heard"), v.LastHeartbeatAt == r.now(), c.news)
			same(t, fmt.Sprint(i, " with the reading"), v.Latest.ReceivedAt, r.now())
			if c.says.FirmwareVersion != "" {
				same(t, fmt.Sprint(i, " firmware"), v.FirmwareVersion, c.says.FirmwareVersion)
			}
			if c.news && c.says.BatteryPct != nil {
				same(t, fmt.Sprint(i, " battery"), *v.BatteryPct, *c.says.BatteryPct)
			}
		}
	})
}

func TestDowntimeMovesDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		r.events()
		r.close()
		time.Sleep(time.Hour) // the service is down; the device may be well
		r.open()
		time.Sleep(time.Minute)
		same(t, "after an hour without a service", r.events(), []string(nil))
		same(t, "status", r.view("A").Status, rimewatch.Online)
		time.Sleep(3 * time.Minute)
		same(t, "silent with a service", r.events(), []string{"device.offline", "alert.opened device_offline warning"})
	})
}

func TestManualResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -13, 70*time.Minute)
		list, _, err := r.s.Alerts(t.Context(), r.ws, store.AlertFilter{}, store.AlertPage{Limit: 9})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		a, err := r.in.Acknowledge(t.Context(), r.ws, list[0].ID, "Eva", "on my way", 0)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "acknowledged", []any{a.AcknowledgedBy, a.Note, a.AckExpiresAt - a.AcknowledgedAt, a.Status}, []any{"Eva", "on my way", 4 * rimewatch.Hour, rimewatch.AlertActive})
		if a, err = r.in.ResolveAlert(t.Context(), r.ws, a.ID, "Eva", ""); err != nil {
			t.Fatal(err)
		}
		same(t, "resolved", []any{a.Status, a.Resolution, a.ResolvedBy, a.Note}, []any{rimewatch.AlertResolved, rimewatch.ResolvedManual, "Eva", "on my way"})
		_, err = r.in.ResolveAlert(t.Context(), r.ws, a.ID, "Eva", "")
		same(t, "again", rimewatch.CodeOf(err), rimewatch.CodeAlertNotActive)
		_, err = r.in.Acknowledge(t.Context(), r.ws, a.ID+1, "Eva", "", 0)
		same(t, "unknown", rimewatch.CodeOf(err), rimewatch.CodeAlertNotFound)
		r.events()
		r.crash() // what a person did survives
		r.warm(id, -13, 25*time.Minute)
		same(t, "too early to open again", r.events(), []string(nil))
		r.warm(id, -13, 10*time.Minute)
		same(t, "opened again", r.events(), []string{"alert.opened high_temperature warning"})
	})
}

// TestEachSensorHasAnAlert: two broken sensors of a device are two rows; a person ends one of them, over a
// crash, and the other goes on.
func TestEachSensorHasAnAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		in := store.Input{Kind: store.InputReading, DeviceID: r.device("A", "walkin_freezer")}
		broken := func(span time.Duration, faults rimewatch.Fields) {
			for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(time.Minute) {
				one := in
				one.Reading.At, one.Reading.Faults = r.now(), faults
				if !faults.Has(rimewatch.AmbientTemp) {
					one.Reading.Set(rimewatch.AmbientTemp, 24)
				}
				if err := r.in.Submit(t.Context(), []store.Input{one}, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		const air, zone = rimewatch.Fields(1 << rimewatch.AmbientTemp), rimewatch.Fields(1 << rimewatch.ProductZoneTemp)
		parts := func() (out []string) {
			for _, a := range r.stored(rimewatch.SensorFault) {
				out = append(out, fmt.Sprintf("%s %s %s %s", a.Part, a.Metric, a.Status, a.Resolution))
			}
			return out
		}
		broken(10*time.Minute, air)
		broken(10*time.Minute, air|zone)
		same(t, "both", parts(), []string{"ambient_temp ambient_temp active ", "product_zone_temp product_zone_temp active "})
		if _, err := r.in.ResolveAlert(t.Context(), r.ws, r.stored(rimewatch.SensorFault)[1].ID, "Eva", ""); err != nil {
			t.Fatal(err)
		}
		r.crash()
		broken(25*time.Minute, air|zone)
		same(t, "one is resolved", parts(), []string{"ambient_temp ambient_temp active ", "product_zone_temp product_zone_temp resolved manual"})
		broken(10*time.Minute, zone)
		same(t, "the other works", parts(), []string{"ambient_temp ambient_temp resolved auto", "product_zone_temp product_zone_temp resolved manual", "product_zone_temp product_zone_temp active "})
	})
}

func TestDeletedDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -13, 70*time.Minute)
		r.events()
		if _, err := r.in.DeleteDevice(t.Context(), r.ws, "a"); err != nil {
			t.Fatal(err)
		}
		same(t, "events", r.events(), []string{"device.deleted", "alert.resolved high_temperature warning"})
		same(t, "alerts", r.alerts(), []string{"high_temperature warning resolved superseded"})
		same(t, "reading", r.send(id, r.now(), -13), store.UnknownDevice)
		same(t, "summary", r.in.Summary(r.ws).TotalDevices, 0)
		_, err := r.in.UpdateDevice(t.Context(), r.ws, "a", func(*rimewatch.Device) error { return nil })
		same(t, "update", rimewatch.CodeOf(err), rimewatch.CodeDeviceNotFound)
		r.device("a", "other")
		_, err = r.in.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: r.ws, Serial: "A"})
		same(t, "taken", rimewatch.CodeOf(err), rimewatch.CodeSerialTaken)
		time.Sleep(time.Hour)
		r.crash()
		same(t, "after a restart", r.alerts(), []string{"high_temperature warning resolved superseded"})
	})
}

// TestBacklog: what held only in the middle of a backlog alerts nobody.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		backlog := func(last float64) {
			var inputs []store.Input
			for i := range 300 {
				in := store.Input{Kind: store.InputReading, DeviceID: id}
				in.Reading.At = r.now() - rimewatch.Time(299-i)*rimewatch.Minute
				temp := -13.0
				if i > 290 {
					temp = last
				}
				in.Reading.Set(rimewatch.ProductZoneTemp, temp)
				inputs = append(inputs, in)
			}
			if err := r.in.Submit(t.Context(), inputs, nil); err != nil {
				t.Fatal(err)
			}
		}
		backlog(-20)
		same(t, "it is over", len(r.alerts()), 0)
		time.Sleep(6 * time.Hour)
		backlog(-13)
		same(t, "it still holds", slices.DeleteFunc(r.alerts(), func(s string) bool { return s[:14] == "device_offline" }),
			[]string{"high_temperature warning active "})
	})
}

// TestCrashes drives the same random days through a service that crashes and
// one that does not: the alerts are the same, each exactly once.
func TestCrashes(t *testing.T) {
	type alertKey struct {
		Type             rimewatch.AlertType
		Severity         rimewatch.Severity
		Device           int64
		Condition, Start rimewatch.Time
		End              rimewatch.Time
	}
	run := func(t *testing.T, seed uint64, crashing bool) (out []alertKey, readings int) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer func() { r.close() }()
			if crashing { // and with hardly any room for states
				r.memory = 1
				r.close()
				r.open()
			}
			rnd := rand.New(rand.NewPCG(seed, 1))
			ids := []int64{r.device("A", "walkin_freezer"), r.device("B", "walkin_cooler"), r.device("C", "vaccine_refrigerator")}
			temps := []float64{-20, 3, 5}
			hot := make([]float64, len(ids))
			for minute := range shorter(10*60, 4*60) {
				for i, id := range ids {
					if rnd.IntN(90) == 0 {
						hot[i] = []float64{0, 0, 8, 12}[rnd.IntN(4)]
					}
					if rnd.IntN(20) > 0 {
						r.send(id, r.now(), temps[i]+hot[i]+float64(rnd.IntN(10))/10)
					}
				}
				crash := rnd.IntN(shorter(120, 48)) == 0
				if crash && crashing {
					if minute%2 == 0 {
						if err := r.s.Rest(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					r.crash()
				}
				time.Sleep(time.Minute)
			}
			list, _, err := r.s.Alerts(t.Context(), r.ws, store.AlertFilter{}, store.AlertPage{Limit: 10000})
			if err != nil {
				t.Fatal(err)
			}
			base := ids[0]
			for _, a := range list {
				out = append(out, alertKey{a.Type, a.Severity, a.DeviceID - base, a.ConditionStartedAt, a.TriggeredAt, a.ResolvedAt})
			}
			for _, id := range ids {
				err := r.s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { readings++; return nil })
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		return out, readings
	}
	for seed := range uint64(1) {
		calm, n := run(t, seed, false)
		rough, m := run(t, seed, true)
		same(t, fmt.Sprintf("seed %d: readings", seed), m, n)
		same(t, fmt.Sprintf("seed %d: alerts with and without crashes", seed), rough, calm)
		if len(calm) < 3 {
			t.Errorf("seed %d: only %d alerts: the days are too calm", seed, len(calm))
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.close()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: r.path})
		if err != nil {
			t.Fatal(err)
		}
		in := ingest.New(ingest.Config{Store: s, QueueInputs: 10})
		defer s.Close()
		// Not started: nothing is taken out.
		send := func(n int) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() { result <- in.Submit(ctx, make([]store.Input, n), nil) }()
			synctest.Wait()
			select {
			case err := <-result:
				return err
			default:
				return nil
			}
		}
		same(t, "first", send(6), nil)
		same(t, "too many", rimewatch.CodeOf(send(6)), rimewatch.CodeUnavailable)
		same(t, "fits", send(1), nil)
		if err := in.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.Stop()
		same(t, "stopped", rimewatch.CodeOf(in.Submit(t.Context(), make([]store.Input, 1), nil)), rimewatch.CodeUnavailable)
	})
}
