package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent kills a child, even a paused one, when the benchmark is
// interrupted.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
