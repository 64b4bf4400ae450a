package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScripts runs the package's scripts in a folder that stands for the machine, and
// sees what they ask of systemd, what they print and what they remove.
func TestScripts(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		args         []string
		calls, says  []string
		gone, kept   []string
		disabled     bool
	}{
		{"installed", "postinstall.sh", []string{"configure", ""}, []string{"enable rimewatch.service", "restart rimewatch.service"}, []string{":8080", "journalctl -u rimewatch"}, nil, []string{"etc/rimewatch/rimewatch.env"}, false},
		{"upgraded", "postinstall.sh", []string{"configure", "0.1.0"}, []string{"restart rimewatch.service"}, nil, nil, nil, false},
		{"upgraded, disabled", "postinstall.sh", []string{"configure", "0.1.0"}, []string{"try-restart rimewatch.service"}, nil, nil, nil, true},
		{"prepared for an upgrade", "preremove.sh", []string{"upgrade", "0.3.0"}, nil, nil, nil, nil, false},
		{"removed", "preremove.sh", []string{"remove"}, []string{"stop rimewatch.service"}, nil, nil, []string{"etc/rimewatch/rimewatch.env"}, false},
		{"after that", "postremove.sh", []string{"remove"}, nil, nil, nil, []string{"etc/rimewatch/rimewatch.env", "var/lib/rimewatch/rimewatch.db"}, false},
		{"purged", "postremove.sh", []string{"purge"}, nil, []string{"are kept in", "/var/lib/rimewatch", "userdel"}, []string{"etc/rimewatch"}, []string{"var/lib/rimewatch/rimewatch.db"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range []string{"run/systemd/system/x", "etc/rimewatch/rimewatch.env", "var/lib/rimewatch/rimewatch.db", "bin/x"} {
				write(t, filepath.Join(dir, f), "", 0o644)
			}
			for _, program := range []string{"systemctl", "systemd-sysusers", "chown"} {
				write(t, filepath.Join(dir, "bin", program), "#!/bin/sh\necho "+program+" \"$@\" >>"+dir+"/calls\n[ \"$1\" != is-enabled ] || [ -e "+dir+"/enabled ]\n", 0o755)
			}
			if !tt.disabled {
				write(t, filepath.Join(dir, "enabled"), "", 0o644)
			}
			text, err := os.ReadFile(filepath.Join("../../deploy", tt.script))
			if err != nil {
				t.Fatal(err)
			}
			here := strings.NewReplacer("/run/systemd", dir+"/run/systemd", "/etc/", dir+"/etc/", "/var/lib/", dir+"/var/lib/").Replace(string(text))
			c := exec.Command("/bin/sh", append([]string{"-c", here, tt.script}, tt.args...)...)
			c.Env = []string{"PATH=" + dir + "/bin:/usr/bin:/bin"}
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			var asked []string
			for line := range strings.Lines(string(calls)) {
				if what, ok := strings.CutPrefix(strings.TrimSpace(line), "systemctl "); ok && what != "daemon-reload" && !strings.HasPrefix(what, "is-enabled") {
					asked = append(asked, what)
				}
			}
			if strings.Join(asked, "; ") != strings.Join(tt.calls, "; ") {
				t.Errorf("asks systemd for %q, want %q", asked, tt.calls)
			}
			if len(tt.says) == 0 && len(out) > 0 {
				t.Errorf("says %s", out)
			}
			for _, s := range tt.says {
				if !strings.Contains(string(out), s) {
					t.Errorf("says %q, without %q", out, s)
				}
			}
			for _, f := range tt.gone {
				if _, err := os.Stat(filepath.Join(dir, f)); err == nil {
					t.Errorf("%s is still there", f)
				}
			}
			for _, f := range tt.kept {
				if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
