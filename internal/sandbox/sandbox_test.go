package sandbox_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/sandbox"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// unit is a simulated unit, as the command line hands it in.
type unit struct{ *simulate.Unit }

func (u unit) Break(fault string) error {
	if fault == "" {
		return u.Unit.Break()
	}
	return u.Unit.Break(simulate.Fault{Name: fault})
}

func units(kind string, seed uint64, start rimewatch.Time) (sandbox.Unit, error) {
	u, err := simulate.New(simulate.Config{Equipment: kind, Seed: seed, Start: start})
	return unit{u}, err
}

// told remembers the alerts that opened and ended, and when.
type told struct {
	mu            sync.Mutex
	opened, ended map[rimewatch.AlertType]time.Time
}

func (p *told) Publish(c *publish.Commit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range c.Alerts {
		if a.Kind == publish.AlertOpened {
			p.opened[a.Alert.Type] = time.Now()
		}
		if a.Kind == publish.AlertResolved {
			p.ended[a.Alert.Type] = time.Now()
		}
	}
}

// TestFaults: each fault of a sandbox opens its alert in less than two minutes, and its repair ends it; healthy devices
// have none.
func TestFaults(t *testing.T) {
	for fault, want := range map[string]rimewatch.AlertType{
		"offline": rimewatch.DeviceOffline, "power_failure": rimewatch.HighTemperature,
		"evaporator_fan_failure": rimewatch.HighTemperature, "contactor_open": rimewatch.HighTemperature,
		"voltage_sag": rimewatch.LowVoltage,
	} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, heard, id := open(t, 3)
				time.Sleep(10 * time.Minute)
				if len(heard.opened) > 0 {
					t.Fatalf("healthy devices have %v", heard.opened)
				}
				serial := s.Serial(1)
				begin := time.Now()
				if _, err := s.Fault(id, "sandbox-1", fault, 60); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Minute)
				at, ok := heard.opened[want]
				if !ok {
					t.Fatalf("%s has no %s after two minutes, but %v", serial, want, heard.opened)
				}
				t.Logf("%s after %v", want, at.Sub(begin))
				if _, err := s.Fault(id, serial, sandbox.None, 60); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Minute)
				if _, ok := heard.ended[want]; !ok {
					t.Errorf("%s does not end", want)
				}
			})
		})
	}
}

// TestSandboxes: only sandboxes have simulated devices, until they end.
func TestSandboxes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, id := open(t, 1)
		time.Sleep(5 * time.Second)
		for _, c := range []struct {
			workspace int64
			serial    string
			found     bool
		}{{id, "SANDBOX-1", true}, {id, "SANDBOX-2", false}, {id - 1, "SANDBOX-1", false}} {
			if _, err := s.Fault(c.workspace, c.serial, sandbox.Offline, 1); (err == nil) != c.found {
				t.Errorf("%d %s: %v", c.workspace, c.serial, err)
			}
		}
		time.Sleep(time.Hour)
		if _, err := s.Fault(id, "SANDBOX-1", sandbox.None, 1); rimewatch.CodeOf(err) != rimewatch.CodeDeviceNotFound {
			t.Errorf("a sandbox that has ended: %v", err)
		}
	})
}

// open returns the devices of a sandbox that was made just now.
func open(t *testing.T, devices int) (*sandbox.Service, *told, int64) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), sqlite.FileName)})
	if err != nil {
		t.Fatal(err)
	}
	heard := &told{opened: make(map[rimewatch.AlertType]time.Time), ended: make(map[rimewatch.AlertType]time.Time)}
	in := ingest.New(ingest.Config{Store: st, Publisher: heard})
	if err := in.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := func() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }
	own := rimewatch.Workspace{Name: "Own", TimeZone: "UTC", RawDays: 400, RollupDays: 1000, CreatedAt: now(), UpdatedAt: now()}
	box := own
	for _, w := range []*rimewatch.Workspace{&own, &box} {
		if w == &box {
			w.Name, w.TestOf, w.TestDevices, w.DeleteAt = "Box", own.ID, devices, now()+rimewatch.Hour
		}
		if err := st.CreateWorkspace(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	s := sandbox.New(sandbox.Config{Store: st, Writer: in, Units: units, Now: now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	t.Cleanup(func() {
		stop()
		<-done
		in.Stop()
		_ = st.Close()
	})
	return s, heard, box.ID
}
