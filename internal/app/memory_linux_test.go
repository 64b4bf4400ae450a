package app

import (
	"testing"
	"testing/fstest"
)

// TestGroupMemory: the least of what a control group and those above it may have.
func TestGroupMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, 0},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000},
		{"version 2, the inner one", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "900\n"}, 900},
		{"version 2, in a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		{"version 1", map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/1\n0::/\n", "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "700\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 700},
		{"version 1, in a container", map[string]string{"proc/self/cgroup": "4:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "800\n"}, 800},
		{"another controller", map[string]string{"proc/self/cgroup": "4:cpu:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "800\n"}, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::/\n", "sys/fs/cgroup/memory.max": "plenty\n"}, 0},
	} {
		files := make(fstest.MapFS)
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := groupMemory(files); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
