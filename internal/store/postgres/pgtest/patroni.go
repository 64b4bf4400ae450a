package pgtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Patroni is a primary and a standby that Patroni looks after, with an etcd of one
// member: what fails over by itself.
type Patroni struct {
	Servers [2]*Server // each with a directory of its own, run by a Patroni
	etcd    *exec.Cmd
	address string // of etcd
	dir     string
}

// ErrNoPatroni names what to install.
var ErrNoPatroni = errors.New("apt-get install patroni etcd-server")

const patroniConfig = `scope: rimewatch
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {host: "%[3]s"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, shared_buffers: 32MB}
  initdb: [{encoding: UTF8}, {locale: C}, data-checksums]
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%[4]d"
  connect_address: "127.0.0.1:%[4]d"
  data_dir: %[5]s
  bin_dir: %[6]s
  authentication: {superuser: {username: postgres, password: p}, replication: {username: replicator, password: p}, rewind: {username: postgres, password: p}}
  parameters: {unix_socket_directories: ""}
`

// StartPatroni starts both servers, and waits until commits wait for the standby.
func StartPatroni() (_ *Patroni, err error) {
	for _, name := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, ErrNoPatroni
		}
	}
	p := &Patroni{}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	if p.dir, err = os.MkdirTemp("", "rimewatch-etcd-"); err != nil {
		return nil, err
	}
	if err := p.startEtcd(); err != nil {
		return nil, err
	}
	for i := range p.Servers {
		if p.Servers[i], err = p.configure(fmt.Sprint("server", i)); err != nil {
			return nil, err
		}
		if err := p.Run(i); err != nil {
			return nil, err
		}
		if i == 0 {
			if err := p.await("the first server is no primary", func() bool { return p.Primary() == 0 }); err != nil {
				return nil, err
			}
		}
	}
	return p, p.Attached(0)
}

func (p *Patroni) startEtcd() error {
	var addresses [2]string
	for i := range addresses {
		port, err := freePort()
		if err != nil {
			return err
		}
		addresses[i] = fmt.Sprint("127.0.0.1:", port)
	}
	p.address = addresses[0]
	own, peer := "http://"+addresses[0], "http://"+addresses[1]
	p.etcd = exec.Command("etcd", "--name", "one", "--data-dir", filepath.Join(p.dir, "etcd"), "--listen-client-urls", own, "--advertise-client-urls", own,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "one="+peer, "--unsafe-no-fsync")
	p.etcd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(p.etcd.SysProcAttr, syscall.SIGKILL)
	return p.etcd.Start()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// configure makes the directory of a server.
func (p *Patroni) configure(name string) (s *Server, err error) {
	s = &Server{}
	if s.bin, err = binaries(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "rimewatch-pg-"); err != nil {
		return nil, err
	}
	if err := s.demote(); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	rest, err := freePort()
	if err != nil {
		return nil, err
	}
	s.address = fmt.Sprint("127.0.0.1:", port)
	text := fmt.Sprintf(patroniConfig, name, rest, p.address, port, s.data(), s.bin)
	return s, os.WriteFile(filepath.Join(s.dir, "patroni.yml"), []byte(text), 0o644) //nolint:gosec // PostgreSQL's user reads it
}

// Run starts the Patroni of a server, which starts the server.
func (p *Patroni) Run(i int) error {
	s := p.Servers[i]
	cmd := s.command("", filepath.Join(s.dir, "patroni.yml"))
	path, err := exec.LookPath("patroni")
	if err != nil {
		return err
	}
	cmd.Path = path
	dieWithParent(cmd.SysProcAttr, syscall.SIGTERM) // it takes the server along
	logs, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = logs, logs
	exit := make(chan struct{})
	s.cmd, s.exit = cmd, exit
	if err := errors.Join(cmd.Start(), logs.Close()); err != nil {
		close(exit)
		return err
	}
	go func() { _ = cmd.Wait(); close(exit) }()
	return nil
}

// Primary is which of the servers takes writes, -1 = none.
func (p *Patroni) Primary() int {
	for i, s := range p.Servers {
		if s != nil && s.Exec("postgres", "DO $$ BEGIN IF pg_is_in_recovery() THEN RAISE 'a standby'; END IF; END $$") == nil {
			return i
		}
	}
	return -1
}

// Crash ends a server and its Patroni, as a machine does that dies.
func (p *Patroni) Crash(i int) {
	s := p.Servers[i]
	s.Kill()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(line); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Attached waits until commits of a server wait for the other one.
func (p *Patroni) Attached(i int) error {
	return p.await("no synchronous standby", func() bool {
		return p.Servers[i].Exec("postgres", "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync') THEN RAISE 'none'; END IF; END $$") == nil
	})
}

// Failover waits until another server than one is the primary, and returns which.
func (p *Patroni) Failover(from int) (to int, err error) {
	err = p.await("nobody was promoted", func() bool { to = p.Primary(); return to >= 0 && to != from })
	return to, err
}

func (p *Patroni) await(what string, done func() bool) error {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if done() {
			return nil
		}
	}
	text := ""
	for _, s := range p.Servers {
		if s != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			text += string(log)
		}
	}
	return fmt.Errorf("%s:\n%s", what, text)
}

// Hosts names both servers in a connection string.
func (p *Patroni) Hosts() string { return p.Servers[0].Address() + "," + p.Servers[1].Address() }

// Stop ends everything without ceremony and removes its files.
func (p *Patroni) Stop() {
	for i, s := range p.Servers {
		if s == nil {
			continue
		}
		if s.cmd != nil {
			p.Crash(i)
		}
		_ = os.RemoveAll(s.dir)
	}
	if p.etcd != nil && p.etcd.Process != nil {
		_ = p.etcd.Process.Kill()
		_ = p.etcd.Wait()
	}
	_ = os.RemoveAll(p.dir)
}
