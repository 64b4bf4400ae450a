package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstalledStore: a command that names no store finds the one of the installed service,
// unless there is one where it would look by itself.
func TestInstalledStore(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	settings := filepath.Join(t.TempDir(), "rimewatch.env")
	if err := os.WriteFile(settings, []byte("# Settings\nRIMEWATCH_DATA=/var/lib/rimewatch\n#RIMEWATCH_STORE=postgres://no\nRIMEWATCH_LISTEN=:8080\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		f        dataFlag
		settings string
		want     dataFlag
	}{
		{"nothing named", dataFlag{Data: defaultData}, settings, dataFlag{Data: "/var/lib/rimewatch"}},
		{"a directory named", dataFlag{Data: "/srv/x"}, settings, dataFlag{Data: "/srv/x"}},
		{"a database named", dataFlag{Data: defaultData, Store: "postgres://x"}, settings, dataFlag{Data: defaultData, Store: "postgres://x"}},
		{"nothing installed", dataFlag{Data: defaultData}, settings + ".none", dataFlag{Data: defaultData}},
	} {
		if err := tt.f.orInstalled(tt.settings); err != nil || tt.f != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, tt.f, err, tt.want)
		}
	}
	if err := os.WriteFile(settings, []byte(`RIMEWATCH_STORE="postgres://db/x"`), 0o640); err != nil {
		t.Fatal(err)
	}
	f := dataFlag{Data: defaultData}
	if err := f.orInstalled(settings); err != nil || f.Store != "postgres://db/x" {
		t.Errorf("%+v, %v", f, err)
	}
	if err := os.MkdirAll(defaultData, 0o750); err != nil {
		t.Fatal(err)
	}
	f = dataFlag{Data: defaultData}
	if err := os.WriteFile(f.file(), nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := f.orInstalled(settings); err != nil || f.Store != "" || f.Data != defaultData {
		t.Errorf("with one here: %+v, %v", f, err)
	}
	if os.Getuid() == 0 {
		return // root may read everything
	}
	if err := os.Chmod(settings, 0); err != nil {
		t.Fatal(err)
	}
	f = dataFlag{Data: defaultData}
	if err := os.Remove(f.file()); err != nil {
		t.Fatal(err)
	}
	if err := f.orInstalled(settings); err == nil || !strings.Contains(err.Error(), "try sudo") {
		t.Errorf("settings that may not be read: %v", err)
	}
}
