package bench

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/ingest"
)

// accounts are the numbers of bytes that the order "account" answers with. What is live holds
// states, unsealed readings and everything else that is kept of devices; what is free, what is
// not in use within pages of small things, and the garbage since the last collection come on top.
var accounts = []string{
	"states", "unsealed readings", "live, all of it", "live, and walked by a collection", "garbage", "not in use", "free", "stacks and what the runtime keeps",
}

// tellAccount prints what the server's memory is used for.
func tellAccount(ctx context.Context, a *app.App) error {
	st, err := a.Store.Stats(ctx)
	if err != nil {
		return err
	}
	v := func(name string) int64 {
		s := []metrics.Sample{{Name: name + ":bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64()) //nolint:gosec // a number of bytes
	}
	live, objects, unused, free := v("/gc/heap/live"), v("/memory/classes/heap/objects"), v("/memory/classes/heap/unused"), v("/memory/classes/heap/free")
	rest := v("/memory/classes/total") - v("/memory/classes/heap/released") - objects - unused - free
	fmt.Println("done", int64(a.Ingest.Memory().States)*ingest.StateBytes, st.HeadBytes, live, v("/gc/scan/heap"), objects-live, unused, free, rest)
	return nil
}

// tellMemory prints what the resident memory of the server is made of. What its parts
// leave over is SQLite's, and what of a large arena was not touched yet is in none.
func (x *fleet) tellMemory() error {
	got, err := x.ours.order("account")
	if err != nil {
		return err
	}
	tell := func(what string, bytes int64) {
		row("  "+what, fmt.Sprintf("%.1f MB, %.2f kB a device", float64(bytes)/1e6, float64(bytes)/float64(x.n)/1e3), "", true)
	}
	for i, what := range accounts {
		tell(what, got[i])
	}
	tell("resident, of no file", x.ours.status("RssAnon"))
	tell("resident, of the program and its files", x.ours.status("RssFile"))
	return nil
}

// rss is the resident memory in bytes.
func (s *server) rss() int64 { return s.status("VmRSS") }

// status is a number of bytes in /proc/PID/status, 0 where that cannot be known.
func (s *server) status(what string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, what+":"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}
