// Package pgtest runs a PostgreSQL for tests: one server a test process, started
// when the first test asks for it, and a database of its own for each case.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// patience is how long anything may take: the machine may be busy.
const patience = 3 * time.Minute

// Server is a running PostgreSQL.
type Server struct {
	dir     string
	bin     string
	address string // where it listens; "" = chosen when it is started
	cmd     *exec.Cmd
	exit    chan struct{} // closed when it has ended
	as      *syscall.Credential
}

// Shared is the server of a test process.
type Shared struct {
	// Template fills the database that those of the cases are copies of.
	Template func(url string) error

	once   sync.Once
	server *Server
	err    error
	n      atomic.Int64
}

// Main runs the tests of a package, unless they are left to `make test`, and stops the
// server afterwards.
func (s *Shared) Main(m *testing.M) (code int) {
	if !trial.All() {
		fmt.Println("PostgreSQL is left to make test")
		return 0
	}
	defer func() {
		if s.server != nil {
			s.server.Stop()
		}
	}()
	return m.Run()
}

func (s *Shared) start() error {
	var err error
	if s.server, err = Start("fsync=off", "full_page_writes=off"); err != nil {
		return err
	}
	if err := s.server.Exec("postgres", "CREATE DATABASE empty"); err != nil || s.Template == nil {
		return err
	}
	return s.Template(s.server.URL("empty"))
}

// Database returns the URL of a database of its own, which goes with the test.
func (s *Shared) Database(t testing.TB) string {
	t.Helper()
	if s.once.Do(func() { s.err = s.start() }); s.err != nil {
		t.Fatal(s.err)
	}
	name := fmt.Sprintf("case%d", s.n.Add(1))
	if err := s.server.Exec("postgres", "CREATE DATABASE "+name+" TEMPLATE empty STRATEGY file_copy"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.server.Exec("postgres", "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s.server.URL(name)
}

// errMissing names what to install.
var errMissing = errors.New("these tests need PostgreSQL 15 or newer: apt-get install postgresql (make postgres does)")

// binaries finds where a PostgreSQL is installed.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // the others stand beside it
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errMissing
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// Start makes a cluster in a temporary directory and starts it with settings such
// as "fsync=off".
func Start(settings ...string) (_ *Server, err error) {
	s := &Server{}
	if s.bin, err = binaries(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "rimewatch-pg-"); err != nil {
		return nil, err
	}
	if err = s.demote(); err == nil {
		err = s.run("initdb", "-D", s.data(), "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	}
	if err == nil {
		err = s.launch(settings)
	}
	if err != nil {
		_ = os.RemoveAll(s.dir)
		return nil, err
	}
	return s, nil
}

// Standby makes a standby of the server, which commits wait for, and starts it at an
// address, or with "" at any.
func (s *Server) Standby(address string, settings ...string) (_ *Server, err error) {
	b := &Server{bin: s.bin, address: address}
	if b.dir, err = os.MkdirTemp("", "rimewatch-pg-"); err != nil {
		return nil, err
	}
	const name = "standby"
	host, port := s.listens()
	if err = b.demote(); err == nil {
		err = b.run("pg_basebackup", "-D", b.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync",
			"-d", fmt.Sprintf("host=%s port=%s user=postgres application_name=%s", host, port, name))
	}
	if err == nil {
		err = b.launch(settings)
	}
	if err != nil {
		_ = os.RemoveAll(b.dir)
		return nil, err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + name + "'", "SELECT pg_reload_conf()"} {
		if err := s.Exec("postgres", statement); err != nil {
			b.Stop()
			return nil, err
		}
	}
	return b, nil
}

// demote chooses who the server runs as when the tests run as root, which it
// refuses.
func (s *Server) demote() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return err
		}
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, int(uid), int(gid)) //nolint:gosec // 32 bits, as parsed
	}
	return errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	// An immediate shutdown when the tests are killed.
	dieWithParent(cmd.SysProcAttr, syscall.SIGQUIT)
	return cmd
}

func (s *Server) run(name string, args ...string) error {
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// launch starts the server and waits until it answers. An address that somebody else
// takes in between is tried again.
func (s *Server) launch(settings []string) (err error) {
	for range 5 {
		if s.address == "" {
			if s.address, err = FreeAddress(); err != nil {
				return err
			}
		}
		if err = s.start(settings); err == nil {
			return nil
		}
		s.address = ""
	}
	return err
}

// FreeAddress is an address of this machine that nobody listens on, for a server that
// has to be known by it before it runs, and is started there again. On Linux the host is
// one of 127.0.0.0/8 that nobody else uses: a port of 127.0.0.1 may be taken by any
// connection that goes out meanwhile.
func FreeAddress() (string, error) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listens is where the server listens, in its parts.
func (s *Server) listens() (host, port string) {
	host, port, _ = net.SplitHostPort(s.address)
	return host, port
}

// Restart starts a server that was killed, on the same port. What is left of the
// one before may take a moment to end.
func (s *Server) Restart(settings ...string) (err error) {
	for range 600 { // a minute
		if err = s.start(settings); err == nil || !strings.Contains(err.Error(), "pre-existing shared memory") {
			return err
		}
		if err := os.Truncate(filepath.Join(s.dir, "log"), 0); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func (s *Server) start(settings []string) error {
	host, port := s.listens()
	args := []string{
		"-D", s.data(), "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=",
		"-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "autovacuum_naptime=10s",
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.cmd = s.command("postgres", args...)
	logs, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s.cmd.Stdout, s.cmd.Stderr = logs, logs
	if err := errors.Join(s.cmd.Start(), logs.Close()); err != nil {
		return err
	}
	exit := make(chan struct{})
	s.exit = exit
	go func() { _ = s.cmd.Wait(); close(exit) }()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err = s.Exec("postgres", "SELECT 1"); err == nil {
			return nil
		}
		select {
		case <-exit:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server ended:\n%s", text)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("the server does not answer: %w", err)
}

// Address is where the server listens.
func (s *Server) Address() string { return s.address }

// URL is the connection string of a database.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", s.address, database)
}

// Exec runs statements in a database.
func (s *Server) Exec(database, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol)
	return errors.Join(err, c.Close(ctx))
}

// Kill ends the server as a crash would. Its other processes notice and end, too.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.exit
}

// Demote makes the server the standby of nobody, as a primary is that was replaced:
// it answers reads and takes no writes.
func (s *Server) Demote(settings ...string) error {
	s.Kill()
	if err := os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o600); err != nil {
		return err
	}
	if s.as != nil {
		if err := os.Chown(filepath.Join(s.data(), "standby.signal"), int(s.as.Uid), int(s.as.Gid)); err != nil {
			return err
		}
	}
	return s.Restart(settings...)
}

// Promote makes a demoted server the primary again.
func (s *Server) Promote() error { return s.Exec("postgres", "SELECT pg_promote()") }

// Stop ends the server without ceremony and removes its files.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.exit:
	case <-time.After(10 * time.Second):
		s.Kill()
	}
	_ = os.RemoveAll(s.dir)
}
