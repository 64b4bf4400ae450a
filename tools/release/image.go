package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// platform is a Linux program of an image.
type platform struct {
	arch, binary string
}

// nobody runs the program in the image, and owns its data.
const nobody = 65532

// authorities are the certificates of the machine that makes the release.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// image writes an image of all platforms, as an OCI layout in a tar archive, and pushes it
// under the version and as "latest" where a repository is given. It holds what the Dockerfile
// puts into one. image.digest says which one it is.
func (r *release) image(list []platform, push string) error {
	index := v1.ImageIndex(mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	for _, p := range list {
		img, err := r.imageOf(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: p.platform()}})
	}
	digest, err := index.Digest()
	if err == nil {
		err = os.WriteFile(filepath.Join(r.out, "image.digest"), []byte(digest.String()+"\n"), 0o644)
	}
	if err != nil {
		return err
	}
	if err := r.archive(index); err != nil || push == "" {
		return err
	}
	for _, tag := range []string{r.version, "latest"} {
		ref, err := name.ParseReference(push + ":" + tag)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return err
		}
	}
	return nil
}

func (p *platform) platform() *v1.Platform {
	if p.arch == "arm" {
		return &v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}
	}
	return &v1.Platform{OS: "linux", Architecture: p.arch}
}

func (r *release) imageOf(p platform) (v1.Image, error) {
	files, err := r.filesOf(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil })
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	at := p.platform()
	return mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: at.Architecture, Variant: at.Variant, OS: at.OS, Created: v1.Time{Time: r.made},
		RootFS:  must(img.ConfigFile()).RootFS,
		History: []v1.History{{Created: v1.Time{Time: r.made}, CreatedBy: "make release"}},
		Config: v1.Config{
			User: fmt.Sprint(nobody), Entrypoint: []string{"/rimewatch"}, Cmd: []string{"serve"},
			Env:          []string{"RIMEWATCH_DATA=/data", "RIMEWATCH_LISTEN=0.0.0.0:8080"},
			Volumes:      map[string]struct{}{"/data": {}},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/rimewatch", "healthcheck"}, Interval: 30 * time.Second, StartPeriod: time.Minute},
			Labels: map[string]string{
				"org.opencontainers.image.source": "https://github.com/rimewatch/rimewatch", "org.opencontainers.image.version": r.version,
				"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.title": "Rimewatch",
			},
		},
	})
}

// must is for the configuration of an image in memory.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// filesOf is the file system of an image: the program, the certificates that it believes, the
// licences, and a folder for data.
func (r *release) filesOf(p platform) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range []struct {
		from, to string
		text     []byte
		mode     int64
		owner    int
	}{
		{"", "data/", nil, 0o750, nobody},
		{"", "etc/", nil, 0o755, 0},
		{"", "etc/ssl/", nil, 0o755, 0},
		{"", "etc/ssl/certs/", nil, 0o755, 0},
		{authorities, authorities[1:], nil, 0o644, 0},
		{"", "licenses.txt", r.licenses, 0o644, 0},
		{p.binary, "rimewatch", nil, 0o755, 0},
	} {
		if f.from != "" {
			text, err := os.ReadFile(f.from)
			if err != nil {
				return nil, err
			}
			f.text = text
		}
		h := &tar.Header{Name: f.to, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.text)), ModTime: r.made, Typeflag: tar.TypeReg}
		if f.to[len(f.to)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.text); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), t.Close()
}

// archive writes an OCI layout into a tar archive, as podman load and skopeo read it.
func (r *release) archive(index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "rimewatch-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // temporary
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("rimewatch_%s_image.tar", r.version)))
	if err != nil {
		return err
	}
	t := tar.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: must(filepath.Rel(dir, path)), Mode: 0o644, Size: int64(len(text)), ModTime: r.made, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	})
	for _, end := range []func() error{t.Close, f.Close} {
		if failed := end(); err == nil {
			err = failed
		}
	}
	return err
}
