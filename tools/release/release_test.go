package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackages makes the packages of a program that is not the real one, and reads
// them back with the tools that install them.
func TestPackages(t *testing.T) {
	out := t.TempDir()
	r := release{root: "../..", out: out, version: "1.2.3"}
	var err error
	if r.made, err = r.commitTime(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable() // a Go program, so that it says what it is made of
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the same source makes the same archives
		before, _ := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err := r.pack(self, "linux", "arm64"); err != nil {
			t.Fatal(err)
		}
		if err := r.materials(self); err != nil {
			t.Fatal(err)
		}
		if err := r.sums(); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.ReadFile(filepath.Join(out, "SHA256SUMS")); before != nil && string(before) != string(after) {
			t.Errorf("the second time:\n%s\nafter\n%s", after, before)
		}
	}
	c := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	c.Dir = out
	if text, err := c.CombinedOutput(); err != nil || strings.Count(string(text), "OK") != 3 {
		t.Errorf("%v\n%s", err, text)
	}
	deb := filepath.Join(out, "rimewatch_1.2.3_linux_arm64.deb")
	fields, err := exec.Command("dpkg-deb", "--field", deb, "Package", "Version", "Architecture").CombinedOutput()
	if want := "Package: rimewatch\nVersion: 1.2.3\nArchitecture: arm64\n"; err != nil || string(fields) != want {
		t.Errorf("%v %s, want %s", err, fields, want)
	}
	contents, err := exec.Command("dpkg-deb", "--contents", deb).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"-rwxr-xr-x root/root", "./usr/bin/rimewatch", "./usr/lib/systemd/system/rimewatch.service", "./usr/lib/sysusers.d/rimewatch.conf", "./etc/rimewatch/rimewatch.env"} {
		if !strings.Contains(string(contents), f) {
			t.Errorf("no %s in the package:\n%s", f, contents)
		}
	}
	names := tarNames(t, filepath.Join(out, "rimewatch_1.2.3_linux_arm64.tar.gz"))
	if !slices.Contains(names, "rimewatch_1.2.3_linux_arm64/rimewatch") || !slices.Contains(names, "rimewatch_1.2.3_linux_arm64/LICENSE") {
		t.Errorf("the tarball holds %v", names)
	}
	var bom struct {
		BomFormat  string
		Components []component
	}
	text, err := os.ReadFile(filepath.Join(out, "rimewatch_1.2.3.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	has := func(part string) bool {
		return slices.ContainsFunc(bom.Components, func(c component) bool { return strings.HasPrefix(c.Purl, part) && c.Version != "" })
	}
	if bom.BomFormat != "CycloneDX" || !has("pkg:golang/github.com/goreleaser/nfpm/v2@v2") || !has("pkg:golang/std@1.") || !has("pkg:npm/svelte@5") {
		t.Errorf("the bill of materials: %.600s", text)
	}
}

func tarNames(t *testing.T, path string) (names []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}
