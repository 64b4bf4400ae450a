package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long anything may take. The race detector is slow and the
// machine may be busy.
const patience = 10 * time.Minute

// process is a running server, plain or with the demo in it.
type process struct {
	cmd  *exec.Cmd
	out  lines
	err  lines
	done chan error // yields once, when it has ended
}

// lines keeps what a process prints.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// follow copies r line by line and calls found with each.
func (l *lines) follow(r io.Reader, found func(line string)) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		l.mu.Lock()
		l.text.Write(append(s.Bytes(), '\n'))
		l.mu.Unlock()
		found(s.Text())
	}
}

var (
	servingLine = regexp.MustCompile(`msg=serving url=(\S+)`)
	demoURL     = regexp.MustCompile(`^ +Web +(\S+)$`)
	demoToken   = regexp.MustCompile(`^ +API token +(\S+)$`)
	demoOwn     = regexp.MustCompile(`\n +this shell +(curl .*)`)
)

// launch starts a server and waits until it answers. It returns the server's
// address, and in a demo the token.
func launch(dir, bin string, env, args []string) (p *process, url, token string, err error) {
	p = &process{cmd: exec.Command(bin, args...), done: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env = dir, env
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, "", "", err
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, "", "", err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, "", "", err
	}
	ready := make(chan struct{})
	var once sync.Once
	var readers sync.WaitGroup
	readers.Go(func() {
		p.err.follow(stderr, func(line string) {
			if m := servingLine.FindStringSubmatch(line); m != nil {
				once.Do(func() { url = m[1]; close(ready) })
			}
		})
	})
	readers.Go(func() {
		var seen string
		p.out.follow(stdout, func(line string) {
			if m := demoURL.FindStringSubmatch(line); m != nil {
				seen = m[1]
			}
			if m := demoToken.FindStringSubmatch(line); m != nil {
				token = m[1]
			}
			if strings.Contains(line, "Press Ctrl-C to stop") {
				once.Do(func() { url = seen; close(ready) })
			}
		})
	})
	go func() {
		readers.Wait()
		p.done <- p.cmd.Wait()
	}()
	select {
	case <-ready:
		return p, url, token, nil
	case err := <-p.done:
		return nil, "", "", fmt.Errorf("the server ended: %w\n%s%s", err, p.out.String(), p.err.String())
	case <-time.After(patience):
		p.kill()
		return nil, "", "", fmt.Errorf("the server was not ready in time\n%s%s", p.out.String(), p.err.String())
	}
}

// kill ends the process as a power cut would, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done //nolint:errcheck // it was killed
}

// freeze stops the process where it stands, and waits until all of its threads have
// stopped: on a busy machine that takes a while, in which it goes on serving.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		stands, err := frozen(p.cmd.Process.Pid)
		if stands || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("the process does not stop")
		}
	}
}

// frozen reports whether no thread of a process runs, or will; where nobody can say, it
// is believed.
func frozen(pid int) (bool, error) {
	if runtime.GOOS != "linux" {
		return true, nil
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err == nil && len(threads) == 0 {
		err = fmt.Errorf("process %d has ended", pid)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// The name before the state may hold anything.
		if i := bytes.LastIndexByte(text, ')'); i < 0 || !bytes.HasPrefix(text[i:], []byte(") T")) {
			return false, nil
		}
	}
	return err == nil, err
}

// terminate asks the process to end and returns what it ended with.
func (p *process) terminate(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		return err
	case <-time.After(patience):
		p.kill()
		return errors.New("it did not end in time")
	}
}

// start NAME ARGS… runs rimewatch in the background until it answers, and sets
// URL, and TOKEN in a demo, and OWN, the command by which a demo connects a shell.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start name args...")
	}
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GORACE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	begin := time.Now()
	p, url, token, err := launch(ts.Getenv("WORK"), built.path, env, args[1:])
	ts.Check(err)
	ts.Logf("%s is ready after %v", args[0], time.Since(begin).Round(time.Millisecond))
	ts.Setenv("URL", url)
	ts.Setenv("RIMEWATCH_URL", url)
	if token != "" {
		setToken(ts, token)
	}
	if m := demoOwn.FindStringSubmatch(p.out.String()); m != nil {
		ts.Setenv("OWN", m[1])
	}
	name := args[0]
	running(ts)[name] = p
	ts.Defer(func() {
		if running(ts)[name] == p {
			p.kill()
			ts.Logf("%s printed:\n%s%s", name, p.out.String(), p.err.String())
		}
	})
}

// end NAME [SIGNAL] ends a process, which must exit with 0 (with ! with
// another code).
func end(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: end name [signal]")
	}
	sig := os.Signal(syscall.SIGTERM)
	if len(args) == 2 {
		switch args[1] {
		case "INT":
			sig = os.Interrupt
		case "HUP":
			sig = syscall.SIGHUP
		case "KILL":
			sig = os.Kill
		default:
			ts.Fatalf("unknown signal %s", args[1])
		}
	}
	p := running(ts)[args[0]]
	if p == nil {
		ts.Fatalf("%s does not run", args[0])
	}
	delete(running(ts), args[0])
	err := p.terminate(sig)
	ts.Logf("%s%s", p.out.String(), p.err.String())
	if (err != nil) != neg {
		ts.Fatalf("%s ended with %v", args[0], err)
	}
}

// reload NAME TEXT sends a process SIGHUP, and waits until it has logged a text.
func reload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: reload name text")
	}
	p := running(ts)[args[0]]
	if p == nil {
		ts.Fatalf("%s does not run", args[0])
	}
	ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
	for end := time.Now().Add(patience); !strings.Contains(p.err.String(), args[1]); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s did not log %q", args[0], args[1])
		}
	}
}

// token FILE takes the token of a file that a command printed.
func token(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: token file")
	}
	setToken(ts, strings.TrimSuffix(ts.ReadFile(args[0]), "\n"))
}

func setToken(ts *testscript.TestScript, t string) {
	ts.Setenv("TOKEN", t)
	ts.Setenv("RIMEWATCH_TOKEN", t)
}

var allRunning sync.Map // *testscript.TestScript → map[string]*process

// running are the processes of a script, by name.
func running(ts *testscript.TestScript) map[string]*process {
	m, _ := allRunning.LoadOrStore(ts, make(map[string]*process))
	return m.(map[string]*process)
}

// usage TEXT ARGS… runs rimewatch with a mistake on the command line: it must
// exit with 2 and say TEXT in one line.
func usage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: usage text args...")
	}
	var exit *exec.ExitError
	if err := ts.Exec("rimewatch", args[1:]...); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		ts.Fatalf("it ended with %v", err)
	}
	if text := ts.ReadFile("stderr"); !strings.Contains(text, args[0]) || strings.Count(text, "\n") != 1 || ts.ReadFile("stdout") != "" {
		ts.Fatalf("it printed %q", text)
	}
}
