// Command release makes what people install: for each target a tarball and, on
// Linux, a Debian package; the bill of materials (CycloneDX) and SHA256SUMS.
//
//	go run . -version 1.2.3 -out ../../dist -targets linux/amd64,linux/arm64
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// Targets of a release; arm is ARMv7, such as a Raspberry Pi 2 with 32 bits.
const allTargets = "linux/amd64,linux/arm64,linux/arm,darwin/arm64"

type release struct {
	root, out, version string
	made               time.Time // of every file in the archives
}

func main() {
	r := release{}
	targets := flag.String("targets", allTargets, "what to build for: OS/ARCHITECTURE, …")
	flag.StringVar(&r.root, "root", "../..", "the source tree")
	flag.StringVar(&r.out, "out", "../../dist", "where the files go")
	flag.StringVar(&r.version, "version", "", "such as 1.2.3")
	flag.Parse()
	r.version = strings.TrimPrefix(r.version, "v")
	if err := r.run(strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(targets []string) (err error) {
	if r.version == "" {
		return errors.New("-version is missing")
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.made, err = r.commitTime(); err != nil {
		return err
	}
	for i, t := range targets {
		system, arch, ok := strings.Cut(t, "/")
		if !ok {
			return fmt.Errorf("%q: want OS/ARCHITECTURE", t)
		}
		binary, err := r.build(system, arch)
		if err != nil {
			return err
		}
		if err := r.pack(binary, system, arch); err != nil {
			return err
		}
		if i == 0 {
			if err := r.materials(binary); err != nil {
				return err
			}
		}
	}
	return r.sums()
}

// commitTime is when the source was committed, so that the same source makes the
// same archives.
func (r *release) commitTime() (time.Time, error) {
	c := exec.Command("git", "log", "-1", "--format=%ct")
	c.Dir = r.root
	out, err := c.Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("git log: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(n, 0).UTC(), err
}

// build returns the path of the program for a target.
func (r *release) build(system, arch string) (string, error) {
	path, err := filepath.Abs(filepath.Join(r.out, "build", system+"_"+arch, "rimewatch"))
	if err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-pgo=cmd/rimewatch/server.pgo", "-trimpath", "-ldflags", "-s -w -X main.version=v"+r.version, "-o", path, "./cmd/rimewatch")
	c.Dir = r.root
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOARM=7")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return path, c.Run()
}

// named is what people call an architecture.
func named(arch string) string {
	if arch == "arm" {
		return "armv7"
	}
	return arch
}

// pack makes the tarball, and the Debian package on Linux.
func (r *release) pack(binary, system, arch string) error {
	name := fmt.Sprintf("rimewatch_%s_%s_%s", r.version, system, named(arch))
	list := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	if system == "linux" {
		list = append(list, "deploy/rimewatch.service", "deploy/rimewatch.env", "deploy/rimewatch.sysusers")
	}
	if err := r.tarball(name, binary, list); err != nil {
		return err
	}
	if system != "linux" {
		return nil
	}
	return r.deb(name+".deb", binary, arch)
}

func (r *release) tarball(name, binary string, list []string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	add := func(path, as string, mode int64) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: name + "/" + as, Mode: mode, Size: int64(len(text)), ModTime: r.made, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	}
	err := add(binary, "rimewatch", 0o755)
	for _, f := range list {
		err = errors.Join(err, add(filepath.Join(r.root, f), filepath.Base(f), 0o644))
	}
	if err := errors.Join(err, t.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), b.Bytes(), 0o644)
}

func (r *release) deb(name, binary, arch string) error {
	deploy := func(f string) string { return filepath.Join(r.root, "deploy", f) }
	file := func(from, to, kind string, mode fs.FileMode) *files.Content {
		return &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.made, Owner: "root", Group: "root"}}
	}
	if arch == "arm" {
		arch = "arm7"
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "rimewatch", Arch: arch, Platform: "linux", Version: r.version, Section: "net", Priority: "optional", MTime: r.made,
		Maintainer: "Rimewatch <packages@rimewatch.invalid>", Homepage: "https://github.com/rimewatch/rimewatch", License: "Apache-2.0",
		Description: "Monitoring of commercial refrigeration\nTakes in readings of freezers, coolers and display cases, alerts and keeps the records.",
		Overridables: nfpm.Overridables{
			Depends: []string{"systemd", "ca-certificates"},
			Scripts: nfpm.Scripts{PostInstall: deploy("postinstall.sh"), PreRemove: deploy("preremove.sh"), PostRemove: deploy("postremove.sh")},
			Contents: files.Contents{
				file(binary, "/usr/bin/rimewatch", "", 0o755),
				file(deploy("rimewatch.service"), "/usr/lib/systemd/system/rimewatch.service", "", 0o644),
				file(deploy("rimewatch.sysusers"), "/usr/lib/sysusers.d/rimewatch.conf", "", 0o644),
				file(deploy("rimewatch.env"), "/etc/rimewatch/rimewatch.env", files.TypeConfigNoReplace, 0o640),
				file(filepath.Join(r.root, "LICENSE"), "/usr/share/doc/rimewatch/copyright", "", 0o644),
			},
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := deb.Default.Package(info, &b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name), b.Bytes(), 0o644)
}

// component is one of a CycloneDX 1.6 bill of materials.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Purl    string `json:"purl"`
}

// materials writes what the program is made of: the Go modules that it says itself
// and the packages in the web UI.
func (r *release) materials(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	list := []component{{"library", "std", std, "pkg:golang/std@" + std}}
	for _, m := range info.Deps {
		list = append(list, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version})
	}
	ui, err := r.uiPackages()
	if err != nil {
		return err
	}
	list = append(list, ui...)
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.Purl, b.Purl) })
	b, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.made.Format(time.RFC3339),
			"component": component{"application", "rimewatch", r.version, "pkg:golang/" + info.Main.Path + "@v" + r.version},
		},
		"components": list,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("rimewatch_%s.cdx.json", r.version)), append(b, '\n'), 0o644)
}

// imported finds what a source file of the UI imports from packages.
var imported = regexp.MustCompile(`(?:from|import|@import|@plugin)\s+['"]((?:@[\w.-]+/)?[\w.-]+)`)

// uiPackages returns the packages that the sources of the web UI import: the
// bundler puts them into the program.
func (r *release) uiPackages() (list []component, err error) {
	web := filepath.Join(r.root, "web")
	text, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	err = filepath.WalkDir(filepath.Join(web, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			p, ok := lock.Packages["node_modules/"+name]
			if ok && !known[name] {
				known[name] = true
				list = append(list, component{"library", name, p.Version, "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version})
			}
		}
		return nil
	})
	return list, err
}

// sums writes the checksums of everything, as sha256sum -c reads them.
func (r *release) sums() error {
	list, err := filepath.Glob(filepath.Join(r.out, "rimewatch_"+r.version+"*"))
	if err != nil {
		return err
	}
	slices.Sort(list)
	var b strings.Builder
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), filepath.Base(path))
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}
