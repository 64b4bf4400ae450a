package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// limited starts the killer's server behind a limit of the shell, such as
// "ulimit -n 256".
func (k *killer) limited(t *testing.T, limit string, env ...string) (*process, *client.Client, time.Duration) {
	t.Helper()
	args := append([]string{"-c", limit + `; exec "$@"`, "sh", k.bin, "serve", "--listen", "127.0.0.1:0", "--seal-after", "300ms", "--head-memory", "1"}, k.flags...)
	began := time.Now()
	p, url, _, err := launch("", "sh", append(os.Environ(), env...), args)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	c, err := client.New(url, k.token, &client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p, c, took
}

// load drives all devices for a time, and until each has had an answer.
func (k *killer) load(t *testing.T, c *client.Client, d time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	enough := k.drive(ctx, c)
	<-time.After(d)
	enough()
	cancel()
	k.senders.Wait()
}

// filling is a disk that can be made full.
type filling interface {
	fill() // before the server starts, or while it runs
	free()
}

// fileLimit lets no file of a process grow: the full disk that needs no rights. The
// limit is lifted from outside.
type fileLimit struct {
	t *testing.T
	p *process
}

func (f *fileLimit) set(most uint64) {
	f.t.Helper()
	if f.p == nil {
		return
	}
	if err := unix.Prlimit(f.p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}, nil); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fileLimit) fill() { f.set(0) }
func (f *fileLimit) free() { f.set(unix.RLIM_INFINITY) }

// smallDisk is a file system of a few megabytes.
type smallDisk struct {
	t   *testing.T
	dir string
}

func (d *smallDisk) filler() string { return filepath.Join(d.dir, "filler") }

func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			d.t.Fatal(err)
		}
	}
}

func (d *smallDisk) free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

// TestFullDiskOfAServer: on a full disk a server comes up, reads, answers writes
// with 503, and takes them again by itself: after a clean stop, from a restored
// backup, after a kill, and when the disk fills up while it runs.
func TestFullDiskOfAServer(t *testing.T) {
	trial.NeedsLong(t)
	moments := []string{"stopped", "restored", "killed", "running"}
	if !trial.Faults() { // one of each kind, all with make faults
		i := rand.New(rand.NewPCG(trial.Seed(t), 1)).IntN(len(moments))
		moments = moments[i : i+1]
	}
	for _, how := range moments {
		t.Run(how+", limit", func(t *testing.T) {
			k := newKiller(t)
			limit := "ulimit -S -f 0"
			if how == "killed" { // the shared memory of the log, 32 KiB, is there again
				limit = "ulimit -S -f 64"
			}
			k.fillsUp(t, how, limit, &fileLimit{t: t})
		})
		t.Run(how+", file system", func(t *testing.T) {
			if dir, ok := mounted(t); ok {
				newKillerAt(t, filepath.Join(dir, "data")).fillsUp(t, how, "true", &smallDisk{t, dir})
			}
		})
	}
}

// mounted returns the directory of a small file system of the test's own, where
// mounting is permitted.
func mounted(t *testing.T) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
			t.Fatal(err)
		}
		t.Logf("not on a file system of its own, which is not permitted here: %v", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// readOnlyDisk is a file system that a disk's trouble has made read-only, as ext4
// does by itself.
type readOnlyDisk struct {
	t   *testing.T
	dir string
}

func (d *readOnlyDisk) mount(flags uintptr) {
	d.t.Helper()
	if err := unix.Mount("tmpfs", d.dir, "tmpfs", unix.MS_REMOUNT|flags, "size=24m"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *readOnlyDisk) fill() { d.mount(unix.MS_RDONLY) }
func (d *readOnlyDisk) free() { d.mount(0) }

// TestReadOnlyDiskOfAServer: on a disk that cannot be written to a server comes up
// with what is in its file and in the write-ahead log, reads, answers writes with
// 503, and takes them by itself when the disk can be written to again.
func TestReadOnlyDiskOfAServer(t *testing.T) {
	trial.NeedsLong(t)
	for _, how := range []string{"stopped", "killed"} { // killed: there is a log
		t.Run(how, func(t *testing.T) {
			if dir, ok := mounted(t); ok {
				newKillerAt(t, filepath.Join(dir, "data")).fillsUp(t, how, "true", &readOnlyDisk{t, dir})
			}
		})
	}
}

// fillsUp lets the disk fill up at one moment of a server's life.
func (k *killer) fillsUp(t *testing.T, how, limit string, disk filling) {
	p, c := k.start(t)
	k.load(t, c, time.Second)
	backup := filepath.Join(t.TempDir(), "backup.db")
	command := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(k.bin, append(args, "--data", k.data)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	ready := time.Duration(0)
	switch how {
	case "running":
		if f, ok := disk.(*fileLimit); ok {
			f.p = p
		}
		disk.fill()
	case "killed":
		p.kill()
		disk.fill()
		p, c, ready = k.limited(t, limit)
	default:
		if how == "restored" {
			p.kill()
			command("backup", backup)
			if err := os.RemoveAll(k.data); err != nil {
				t.Fatal(err)
			}
			command("restore", backup)
		} else if err := p.terminate(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		disk.fill()
		p, c, ready = k.limited(t, limit)
	}
	if f, ok := disk.(*fileLimit); ok {
		f.p = p
	}
	if most := 2 * time.Second; trial.Faults() && ready > most {
		t.Errorf("it was ready after %v, not within %v", ready, most)
	}
	k.refused(t, c)
	k.verify(t, c, 0)
	disk.free()
	most := patience
	if trial.Faults() {
		most = 5 * time.Second
	}
	began := time.Now()
	for {
		r := k.devices[1].next()
		_, _, err := c.PostReading(t.Context(), r)
		if err == nil {
			k.devices[1].sent[r.RecordedAt].acknowledge()
			break
		}
		if time.Since(began) > most {
			t.Fatalf("it has not recovered: %v", err)
		}
	}
	t.Logf("ready after %v, writes again %v after there was room", ready.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	k.load(t, c, 500*time.Millisecond)
	k.settle(t, c)
	k.verify(t, c, 0)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.err.String())
	}
	if _, ok := disk.(*fileLimit); ok { // it complains of a small disk
		command("doctor")
	}
}

// refused writes until the disk takes nothing more, for a second at least.
func (k *killer) refused(t *testing.T, c *client.Client) {
	t.Helper()
	refused := false
	for began := time.Now(); time.Since(began) < time.Second || !refused; time.Sleep(time.Millisecond) {
		d := k.devices[rand.IntN(singles)]
		r := d.next()
		_, _, err := c.PostReading(t.Context(), r)
		switch {
		case client.StatusOf(err) == 503:
			refused = true
		case err != nil:
			t.Fatalf("a write on the full disk: %v", err)
		default: // there was room for it
			d.sent[r.RecordedAt].acknowledge()
		}
		if time.Since(began) > patience {
			t.Fatal("the disk is not full")
		}
	}
}

// TestDescriptorsUsedUp: silent and half-finished connections, many times as many
// as there are descriptors, keep neither devices out nor the store from sealing.
func TestDescriptorsUsedUp(t *testing.T) {
	trial.NeedsLong(t)
	k := newKiller(t)
	p, c, _ := k.limited(t, "ulimit -n 256")
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	var opened atomic.Int64
	flood.Go(func() {
		silentFlood(ctx, strings.TrimPrefix(strings.TrimSuffix(c.BaseURL(), "/api"), "http://"), &opened)
	})
	const silent = 1000
	// A busy machine takes longer for as much.
	last, most, least := 3*time.Second, patience, singles
	if trial.Faults() {
		last, most, least = 30*time.Second, 30*time.Second, 300 // 80 of a server that has no limit of connections
	}
	refusals, taken := 0, 0
	for began := time.Now(); time.Since(began) < last || time.Since(began) < most && (opened.Load() < silent || taken < least); {
		fresh, err := client.New(strings.TrimSuffix(c.BaseURL(), "/api"), k.token, &client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		d := k.devices[rand.IntN(singles)]
		r := d.next()
		if _, _, err := fresh.PostReading(ctx, r); err == nil {
			d.sent[r.RecordedAt].acknowledge()
			taken++
		} else if client.StatusOf(err) != 429 {
			refusals++
			t.Logf("a reading beside the flood: %v", err)
		}
	}
	cancel()
	flood.Wait()
	n := opened.Load()
	if n < silent {
		t.Errorf("only %d silent connections are no flood", n)
	}
	// A connection that says nothing yet is as good as a silent one, and how long it says
	// nothing depends on how busy the machine is.
	if refusals > 2 && trial.Faults() {
		t.Errorf("%d readings met an error, %d were acknowledged", refusals, taken)
	}
	if taken < least {
		t.Errorf("only %d readings were acknowledged beside %d silent connections", taken, n)
	}
	k.verify(t, c, 0)
	if text := p.err.String(); strings.Contains(text, "unable to open") || strings.Contains(text, "too many open files") {
		t.Error(text)
	}
	t.Logf("%d silent connections, %d readings acknowledged", n, taken)
}

// TestLittleMemory: with far less memory than the collector likes a server gets
// slower, and nothing else.
func TestLittleMemory(t *testing.T) {
	trial.NeedsLong(t)
	k := newKiller(t)
	p, c, _ := k.limited(t, "true", "GOMEMLIMIT=24MiB")
	k.load(t, c, 2*time.Second)
	if k.acknowledged() < singles {
		t.Errorf("only %d readings were acknowledged", k.acknowledged())
	}
	k.verify(t, c, 0)
	t.Logf("%d readings acknowledged, %d MiB resident", k.acknowledged(), resident(t, p)>>20)
}

// TestLittleMemoryOfAGroup: in a control group that may have less memory than the
// machine, where that may be made, a server keeps within it and is not killed.
func TestLittleMemoryOfAGroup(t *testing.T) {
	trial.NeedsLong(t)
	most := 512 << 20 // the race detector takes several times as much
	if trial.Faults() {
		most = 72 << 20
	}
	group, ok := memoryGroup(t, most)
	if !ok {
		return
	}
	k := newKiller(t)
	p, c, _ := k.limited(t, "echo $$ > "+filepath.Join(group, "cgroup.procs"))
	k.load(t, c, 2*time.Second)
	if k.acknowledged() < singles {
		t.Errorf("only %d readings were acknowledged", k.acknowledged())
	}
	k.verify(t, c, 0)
	t.Logf("%d readings acknowledged, %d of %d MiB resident", k.acknowledged(), resident(t, p)>>20, most>>20)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.err.String())
	}
}

// memoryGroup makes a control group under the test's own that may have so many
// bytes.
func memoryGroup(t *testing.T, most int) (dir string, ok bool) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Logf("not in a control group: %v", err)
		return "", false
	}
	file := "memory.max"
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) == 3 && fields[1] == "" && dir == "" {
			dir = filepath.Join("/sys/fs/cgroup", fields[2])
		}
		if len(fields) == 3 && fields[1] == "memory" { // version 1
			dir, file = filepath.Join("/sys/fs/cgroup/memory", fields[2]), "memory.limit_in_bytes"
		}
	}
	dir = filepath.Join(dir, fmt.Sprintf("rimewatch-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Logf("not in a control group, which is not permitted here: %v", err)
		return "", false
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(most)), 0o600); err != nil {
		t.Logf("not in a control group, which is not permitted here: %v", err)
		return "", false
	}
	return dir, true
}

// resident returns the memory of a process, in bytes.
func resident(t *testing.T, p *process) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var kib int64
	_, rest, found := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil || !found {
		t.Fatalf("%v in %s", err, text)
	}
	return kib << 10
}

// busy returns the processor time of a process.
func busy(t *testing.T, p *process) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var user, system int64 // ticks of 10 ms, proc_pid_stat(5)
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// tokenOf makes a workspace and returns a token of it.
func (k *killer) tokenOf(t *testing.T, workspace string) string {
	t.Helper()
	out, err := exec.Command(k.bin, append([]string{"token", "create", "--workspace", workspace, "--create", "--name", workspace}, k.flags...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
