// Command release makes what people install: for each target a tarball and, on
// Linux, a Debian package; an image of all Linux targets, which it can push; the bill
// of materials (CycloneDX) and SHA256SUMS.
//
//	go run . -version 1.2.3 -out ../../dist -targets linux/amd64,linux/arm64
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	manual             []byte    // rimewatch(1)
	licenses           []byte    // of everything that the program is made of
}

func main() {
	r := release{}
	targets := flag.String("targets", allTargets, "what to build for: OS/ARCHITECTURE, …")
	flag.StringVar(&r.root, "root", "../..", "the source tree")
	flag.StringVar(&r.out, "out", "../../dist", "where the files go")
	flag.StringVar(&r.version, "version", "", "such as 1.2.3")
	push := flag.String("push", "", "repository of images to push the image to, such as ghcr.io/rimewatch/rimewatch")
	flag.Parse()
	r.version = strings.TrimPrefix(r.version, "v")
	if err := r.run(strings.Split(*targets, ","), *push); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(targets []string, push string) (err error) {
	if r.version == "" {
		return errors.New("-version is missing")
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.made, err = r.commitTime(); err != nil {
		return err
	}
	if r.licenses, err = r.readLicenses(); err != nil {
		return err
	}
	if r.manual, err = r.output("go", "run", "./cmd/rimewatch", "manual"); err != nil {
		return err
	}
	var image []platform
	for _, t := range targets {
		system, arch, ok := strings.Cut(t, "/")
		if !ok {
			return fmt.Errorf("%q: want OS/ARCHITECTURE", t)
		}
		binary, err := r.build(system, arch)
		if err != nil {
			return err
		}
		if err := r.complete(binary); err != nil {
			return err
		}
		if err := r.pack(binary, system, arch); err != nil {
			return err
		}
		if system == "linux" {
			image = append(image, platform{arch, binary})
		}
	}
	if err := r.image(image, push); err != nil {
		return err
	}
	if err := r.materials(); err != nil {
		return err
	}
	return r.sums()
}

// output is what a command prints in the source tree.
func (r *release) output(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir = r.root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}

// commitTime is when the source was committed, so that the same source makes the
// same archives.
func (r *release) commitTime() (time.Time, error) {
	out, err := r.output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
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
	put := func(text []byte, as string, mode int64) error {
		if err := t.WriteHeader(&tar.Header{Name: name + "/" + as, Mode: mode, Size: int64(len(text)), ModTime: r.made, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err := t.Write(text)
		return err
	}
	add := func(path, as string, mode int64) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return put(text, as, mode)
	}
	err := add(binary, "rimewatch", 0o755)
	for _, f := range list {
		err = errors.Join(err, add(filepath.Join(r.root, f), filepath.Base(f), 0o644))
	}
	err = errors.Join(err, put(r.manual, "rimewatch.1", 0o644), put(r.licenses, "licenses.txt", 0o644))
	if err := errors.Join(err, t.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), b.Bytes(), 0o644)
}

func (r *release) deb(name, binary, arch string) error {
	made, err := os.MkdirTemp("", "rimewatch-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }() // temporary
	manual, licenses := filepath.Join(made, "rimewatch.1.gz"), filepath.Join(made, "licenses.txt")
	if err := errors.Join(os.WriteFile(manual, zipped(r.manual), 0o644), os.WriteFile(licenses, r.licenses, 0o644)); err != nil {
		return err
	}
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
				file(licenses, "/usr/share/doc/rimewatch/licenses.txt", "", 0o644),
				file(manual, "/usr/share/man/man1/rimewatch.1.gz", "", 0o644),
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

// zipped is text as gzip -9n makes it.
func zipped(text []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// sums writes the checksums of everything, as sha256sum -c reads them.
func (r *release) sums() error {
	list, err := filepath.Glob(filepath.Join(r.out, "rimewatch[_-]"+r.version+"*"))
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
