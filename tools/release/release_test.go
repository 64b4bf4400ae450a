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
	r := release{root: "../..", out: out, version: "1.2.3", manual: []byte(".TH RIMEWATCH 1\n"),
		licenses: []byte("A list:\n\n  go std 1.26.0 (BSD-3-Clause)\n  go github.com/goreleaser/nfpm/v2 v2.41.3 (MIT)\n  npm @scope/x 5.0.1 (OFL-1.1)\n\n=====\ntexts (MIT)\n")}
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
		if err := r.materials(); err != nil {
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
	for _, f := range []string{"-rwxr-xr-x root/root", "./usr/bin/rimewatch", "./usr/lib/systemd/system/rimewatch.service", "./usr/lib/sysusers.d/rimewatch.conf", "./etc/rimewatch/rimewatch.env",
		"./usr/share/man/man1/rimewatch.1.gz", "./usr/share/doc/rimewatch/licenses.txt", "./usr/share/doc/rimewatch/copyright"} {
		if !strings.Contains(string(contents), f) {
			t.Errorf("no %s in the package:\n%s", f, contents)
		}
	}
	names := tarNames(t, filepath.Join(out, "rimewatch_1.2.3_linux_arm64.tar.gz"))
	for _, name := range []string{"rimewatch", "rimewatch.1", "LICENSE", "licenses.txt"} {
		if !slices.Contains(names, "rimewatch_1.2.3_linux_arm64/"+name) {
			t.Errorf("the tarball has no %s: %v", name, names)
		}
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
	var got []string
	for _, c := range bom.Components {
		got = append(got, c.Purl+" "+c.Licenses[0].License.ID)
	}
	if want := []string{"pkg:golang/github.com/goreleaser/nfpm/v2@v2.41.3 MIT", "pkg:golang/std@1.26.0 BSD-3-Clause", "pkg:npm/%40scope/x@5.0.1 OFL-1.1"}; bom.BomFormat != "CycloneDX" || !slices.Equal(got, want) {
		t.Errorf("the bill of materials: %s, want %s", got, want)
	}
	if err := r.complete(self); err == nil || strings.Contains(err.Error(), "goreleaser/nfpm/v2") || !strings.Contains(err.Error(), "go-containerregistry") {
		t.Errorf("a program with more in it than the list names: %v", err)
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
