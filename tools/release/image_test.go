package main

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestImage unpacks the image that is made of the real program, and runs that in it as the
// image says: by nobody, in a file system with nothing else, until it answers the health check.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may enter a file system")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-pgo=off", "-ldflags=-s -w", "-o", binary, "./cmd/rimewatch")
	c.Dir, c.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := release{root: "../..", out: dir, version: "1.2.3", licenses: []byte("licences"), made: time.Unix(1e9, 0)}
	if err := r.image([]platform{{"amd64", binary}, {"arm", binary}}, ""); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(dir, "layout")
	unpack(t, open(t, filepath.Join(dir, "rimewatch_1.2.3_image.tar")), image)
	index, err := layout.ImageIndexFromPath(image)
	if err != nil {
		t.Fatal(err)
	}
	manifest := must(index.IndexManifest())
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if want := []string{"linux/amd64", "linux/arm/v7"}; !slices.Equal(platforms, want) {
		t.Fatalf("platforms %v, want %v", platforms, want)
	}
	img := must(index.Image(manifest.Manifests[0].Digest))
	root := filepath.Join(dir, "root")
	unpack(t, mutate.Extract(img), root)
	config := must(img.ConfigFile()).Config
	free := freePort(t)
	within := func(args ...string) *exec.Cmd {
		c := exec.Command(args[0], args[1:]...)
		c.Dir = "/"
		c.Env = append(slices.Clone(config.Env), "RIMEWATCH_LISTEN="+free)
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return c
	}
	serve := within(append(config.Entrypoint, config.Cmd...)...)
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	said, listens := bufio.NewReader(log), false
	for line := ""; !listens; {
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatalf("the server ended: %v", serve.Wait())
		}
		t.Log(line)
		listens = strings.Contains(line, "msg=serving") && strings.Contains(line, free)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // or it would wait to be read
	if out, err := within(config.Healthcheck.Test[1:]...).CombinedOutput(); err != nil {
		t.Errorf("the health check: %v\n%s", err, out)
	}
	if err := errors.Join(serve.Process.Signal(syscall.SIGTERM), serve.Wait()); err != nil {
		t.Error(err)
	}
	if made, err := os.Stat(filepath.Join(root, "data/rimewatch.db")); err != nil || made.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("the store: %v", err)
	}
	if _, ok := config.Volumes["/data"]; !ok || config.User != "65532" {
		t.Errorf("%+v", config)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func open(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// unpack writes the files of a tar archive with their owners into a folder.
func unpack(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
			text, failed := io.ReadAll(r)
			err = errors.Join(err, failed, os.WriteFile(path, text, 0o644))
		}
		if err := errors.Join(err, os.Chown(path, h.Uid, h.Gid), os.Chmod(path, os.FileMode(h.Mode))); err != nil {
			t.Fatal(err)
		}
	}
}
