package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// child is a server in a process of its own. It prints a line "ready ADDR TOKEN".
func child(kind string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	switch kind {
	case "child-app":
		return childApp(ctx, args[0], args[1:])
	case "child-node":
		return childNode(ctx, args[0], args[1], args[2])
	case "child-bare":
		return childHandler(ctx, http.HandlerFunc(bare))
	case "child-rows":
		return childRows(ctx, args[0])
	default:
		return fmt.Errorf("no child %q", kind)
	}
}

// childApp serves the data directory. Further arguments are a database to use
// instead, and a file for a CPU profile of the start.
func childApp(ctx context.Context, dir string, profile []string) error {
	database := ""
	if len(profile) > 0 && strings.HasPrefix(profile[0], "postgres://") {
		database, profile = profile[0], profile[1:]
	}
	if len(profile) > 0 {
		f, err := os.Create(profile[0])
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	level := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	states, _ := strconv.ParseInt(os.Getenv("RIMEWATCH_STATE_MEMORY"), 10, 64) // as of the service
	a, err := app.New(ctx, app.Config{Serve: config.Serve{
		Data: dir, StateMemory: states, Store: database, Listen: "127.0.0.1:0", HeadMemory: 48, SealAfter: time.Hour, DrainPeriod: 5 * time.Second, OutboundAllow: []string{"127.0.0.0/8"}, MQTTListen: "127.0.0.1:0",
	}, Version: "bench", Logger: level})
	if err != nil {
		return err
	}
	if err := a.Start(ctx); err != nil {
		return err
	}
	now := rimewatch.TimeOf(time.Now())
	w, err := a.Accounts.FindWorkspace(ctx, "bench", true, now)
	if err != nil {
		return err
	}
	_, token, err := a.Accounts.CreateToken(ctx, account.Operator(w.ID), account.TokenRequest{Name: "bench", Scopes: rimewatch.ScopesFull}, now)
	if err != nil {
		return err
	}
	if len(profile) > 0 {
		pprof.StopCPUProfile()
	}
	fmt.Println("ready", a.Addr(), token)
	orders := orders() // such as "rest": seals and compacts everything
	for {
		select {
		case <-ctx.Done():
			return a.Stop()
		case order := <-orders:
			if err := obey(ctx, a, order); err != nil {
				return err
			}
		}
	}
}

// orders are the lines on standard input.
func orders() <-chan string {
	list := make(chan string)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			list <- lines.Text()
		}
	}()
	return list
}

// bare reads the request and answers: what the machine and net/http can do.
func bare(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(bareAnswer)
}

var (
	jsonType   = []string{"application/json"}
	bareAnswer = []byte(`{"success":true,"data":{}}`)
)

func childHandler(ctx context.Context, h http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("ready", l.Addr(), "none")
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close()
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// childRows stores every reading as a row of its own, keyed by device and
// time, one transaction a request: the plain way to use SQLite. It does not
// decode JSON and checks nothing; the lines of a batch are rows of numbers.
func childRows(ctx context.Context, dir string) error {
	conn, err := sqlite.OpenConn(filepath.Join(dir, "rows.db"), sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, q := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
		"CREATE TABLE reading (device INTEGER, at INTEGER, a REAL, b REAL, c REAL, d REAL, e REAL, f REAL, g REAL, h REAL, PRIMARY KEY (device, at)) STRICT, WITHOUT ROWID"} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return err
		}
	}
	next := int64(0)
	lock := make(chan struct{}, 1)
	return childHandler(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		lock <- struct{}{}
		defer func() { <-lock }()
		end, err := sqlitex.ImmediateTransaction(conn)
		if err == nil {
			for range strings.Count(string(body), "\n") {
				next++
				if err = insertRow(conn, next); err != nil {
					break
				}
			}
			end(&err)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(bareAnswer)
	}))
}

func insertRow(conn *sqlite.Conn, n int64) error {
	stmt, err := conn.Prepare("INSERT OR IGNORE INTO reading VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	stmt.BindInt64(1, n%1000)
	stmt.BindInt64(2, 1_800_000_000_000+n*60)
	for i := 3; i <= 10; i++ {
		stmt.BindFloat(i, float64(n%700)/10+float64(i))
	}
	_, err = stmt.Step()
	return errors.Join(err, stmt.Reset())
}

// server is a running child.
type server struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
	addr    string
	token   string
	started time.Duration // from the start of the process until it was ready
}

func start(kind string, args ...string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(self, append([]string{"bench", kind}, args...)...)}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	dieWithParent(s.cmd)
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.lines = bufio.NewScanner(out)
	words, err := s.line("ready")
	if err != nil {
		return nil, err
	}
	s.started = time.Since(began)
	s.addr, s.token = words[0], words[1]
	return s, nil
}

func (s *server) line(first string) ([]string, error) {
	for s.lines.Scan() {
		if words := strings.Fields(s.lines.Text()); len(words) > 0 && words[0] == first {
			return words[1:], nil
		}
	}
	return nil, errors.New("the server ended")
}

// order has the server do something and returns the numbers of its answer.
func (s *server) order(text string) ([]int64, error) {
	if _, err := fmt.Fprintln(s.stdin, text); err != nil {
		return nil, err
	}
	words, err := s.line("done")
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(words))
	for i, w := range words {
		if out[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cpu is the processor time that the server has used so far.
func (s *server) cpu() time.Duration { return cpuOf(s.cmd.Process.Pid) }

// cpuOf is the processor time that a process has used so far, 0 where that cannot be known.
func cpuOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// pause stops the process where it stands, or lets it go on.
func (s *server) pause(yes bool) {
	sig := syscall.SIGCONT
	if yes {
		sig = syscall.SIGSTOP
	}
	_ = s.cmd.Process.Signal(sig)
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}
