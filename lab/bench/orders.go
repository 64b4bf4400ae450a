package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/store"
)

// obey carries out a line of standard input and answers with a line "done" and
// numbers.
func obey(ctx context.Context, a *app.App, order string) error {
	if known, err := obeyProfile(order); known {
		return err
	}
	var err error
	if path, ok := strings.CutPrefix(order, "heap "); ok {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		runtime.GC()
		if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
			return err
		}
		fmt.Println("done")
		return nil
	}
	switch args := strings.Fields(order); {
	case len(args) == 3 && args[0] == "webhook":
		if err := addWebhook(ctx, a, args[1], args[2]); err != nil {
			return err
		}
		fmt.Println("done")
		return nil
	case len(args) == 3 && args[0] == "program":
		if err := addProgram(ctx, a, args[1], args[2]); err != nil {
			return err
		}
		fmt.Println("done")
		return nil
	case len(args) == 2 && args[0] == "devices":
		n, err := strconv.Atoi(args[1])
		if err == nil {
			err = addDevices(ctx, a, n)
		}
		if err != nil {
			return err
		}
		fmt.Println("done")
		return nil
	}
	switch order {
	case "rest":
		a.Ingest.CheckpointAll()
		err = a.Store.Rest(ctx)
	case "gc":
		debug.FreeOSMemory()
		fmt.Println("done")
		return nil
	case "mqtt":
		_, port, err := net.SplitHostPort(a.MQTTAddr())
		if err != nil {
			return err
		}
		fmt.Println("done", port)
		return nil
	case "account":
		return tellAccount(ctx, a)
	case "worst":
		fmt.Println("done", a.Ingest.WorstCommit().Nanoseconds())
		return nil
	}
	if err != nil {
		return err
	}
	var st store.Stats
	if st, err = a.Store.Stats(ctx); err != nil {
		return err
	}
	fmt.Printf("done %d %d %d\n", st.FileBytes, st.StoredReadings, st.HeadReadings)
	return nil
}

// obeyProfile carries out an order that concerns the CPU profile of the process.
func obeyProfile(order string) (known bool, err error) {
	path, begins := strings.CutPrefix(order, "profile ")
	switch {
	case begins:
		f, err := os.Create(path)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return true, err
		}
	case order == "profiled":
		pprof.StopCPUProfile()
	default:
		return false, nil
	}
	fmt.Println("done")
	return true, nil
}

// addProgram creates a webhook for events of alerts in the workspace.
func addProgram(ctx context.Context, a *app.App, url, secret string) error {
	now := rimewatch.TimeOf(time.Now())
	w, err := a.Accounts.FindWorkspace(ctx, "bench", false, now)
	if err != nil {
		return err
	}
	err = a.Store.Outbox().Webhooks().Create(ctx, &rimewatch.Webhook{
		WorkspaceID: w.ID, URL: url, Types: []rimewatch.EventType{rimewatch.EventAlertOpened}, Secret: secret, Enabled: true, CreatedAt: now, UpdatedAt: now,
	})
	a.Notify.WebhooksChanged(w.ID)
	return err
}

// addWebhook creates a webhook channel in the workspace.
func addWebhook(ctx context.Context, a *app.App, url, secret string) error {
	now := rimewatch.TimeOf(time.Now())
	w, err := a.Accounts.FindWorkspace(ctx, "bench", false, now)
	if err != nil {
		return err
	}
	return a.Store.Routing().Channels().Create(ctx, &rimewatch.Channel{
		WorkspaceID: w.ID, Name: "Hook", Kind: rimewatch.ChannelWebhook, Enabled: true, URL: url, Secret: secret, CreatedAt: now, UpdatedAt: now,
	})
}

// register makes the devices of a feed: those of a fitted type each.
func (s *server) register(devices int) error {
	began := time.Now()
	_, err := s.order("devices " + strconv.Itoa(devices))
	row(fmt.Sprintf("registering %d devices", devices), fmt.Sprintf("%.0f/s", float64(devices)/time.Since(began).Seconds()), "", true)
	return err
}

// addDevices registers n devices of the types that the simulator was fitted to,
// in turn, without the detour through HTTP: a million of them take minutes. None
// falls silent while others are measured: a mass outage is another load.
func addDevices(ctx context.Context, a *app.App, n int) error {
	const atOnce = 1024 // they share the commits of the write path
	w, err := a.Accounts.FindWorkspace(ctx, "bench", false, rimewatch.TimeOf(time.Now()))
	if err != nil {
		return err
	}
	var (
		wg   sync.WaitGroup
		next atomic.Int64
		fail = make(chan error, atOnce)
	)
	types := simulate.FittedEquipment()
	for range atOnce {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				d := rimewatch.Device{WorkspaceID: w.ID, Serial: serial(i), Name: fmt.Sprintf("Unit %d", i), EquipmentType: types[i%len(types)], OfflineAfterS: 86_400}
				if _, err := a.Ingest.CreateDevice(ctx, &d); err != nil {
					fail <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(fail)
	return <-fail
}
