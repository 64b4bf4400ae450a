package e2e

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestFreeze: a process that was frozen stands still, until it is told to go on; and one
// that has ended is not frozen.
func TestFreeze(t *testing.T) {
	trial.NeedsAll(t)
	if runtime.GOOS != "linux" {
		t.Skip("nobody can say whether a process stands still")
	}
	p := &process{cmd: exec.Command("sleep", "1000")}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	pid := p.cmd.Process.Pid
	if stands, err := frozen(pid); stands || err != nil {
		t.Errorf("before: %v, %v", stands, err)
	}
	if err := p.freeze(); err != nil {
		t.Fatal(err)
	}
	if stands, err := frozen(pid); !stands || err != nil {
		t.Errorf("after freeze: %v, %v", stands, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	if stands, err := frozen(pid); stands || err == nil {
		t.Errorf("a process that has ended: %v, %v", stands, err)
	}
}
