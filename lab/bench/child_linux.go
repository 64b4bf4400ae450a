package bench

import (
	"os/exec"
	"syscall"
)

// dieWithParent kills a child, even a paused one, when the benchmark is
// interrupted. The thread that starts the child must live as long.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
