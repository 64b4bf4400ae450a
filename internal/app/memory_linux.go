package app

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns how much memory there is for this process, in bytes: that of
// the machine, or less when its control group may have less; 0 = not known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	all := int64(info.Totalram) * int64(info.Unit)
	if most := groupMemory(os.DirFS("/")); most > 0 {
		return min(all, most)
	}
	return all
}

// groupMemory returns the memory limit of this process's control groups, in
// bytes; 0 = as much as there is. A container sees its own group as the root.
// cgroups(7), Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
func groupMemory(root fs.FS) (most int64) {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(fields) != 3 {
			continue
		}
		dir, file := "sys/fs/cgroup", "memory.max"
		switch fields[1] {
		case "":
		case "memory":
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			if text, err := fs.ReadFile(root, path.Join(dir, at, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && (most == 0 || n < most) {
					most = n
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return most
}
