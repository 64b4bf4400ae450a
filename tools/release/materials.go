package main

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// readLicenses reads the list of what the program is made of, with all licences, which the
// web UI's build makes and the server serves.
func (r *release) readLicenses() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "internal/webui/dist/licenses.txt.gz"))
	if err != nil {
		return nil, fmt.Errorf("the web UI has to be built before: make ui: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// component is one of a CycloneDX 1.6 bill of materials.
type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Purl     string    `json:"purl"`
	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	License struct {
		ID string `json:"id"` // of SPDX
	} `json:"license"`
}

// listed is a line of the list.
var listed = regexp.MustCompile(`(?m)^  (go|npm) (\S+) (\S+) \((\S+)\)$`)

// components are what the list names.
func (r *release) components() (list []component) {
	for _, m := range listed.FindAllStringSubmatch(string(r.licenses), -1) {
		c := component{Type: "library", Name: m[2], Version: m[3]}
		switch m[1] {
		case "go":
			c.Purl = "pkg:golang/" + c.Name + "@" + c.Version
		case "npm":
			c.Purl = "pkg:npm/" + strings.Replace(c.Name, "@", "%40", 1) + "@" + c.Version
		}
		var l license
		l.License.ID = m[4]
		c.Licenses = []license{l}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.Purl, b.Purl) })
	return list
}

// complete returns an error where a program says that it has been linked with something that
// the list of licences does not name: the web UI was built of other sources.
func (r *release) complete(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, c := range r.components() {
		known[c.Name+" "+c.Version] = true
	}
	for _, m := range info.Deps {
		if !known[m.Path+" "+m.Version] {
			err = errors.Join(err, fmt.Errorf("%s %s has no licence in licenses.txt: make ui anew", m.Path, m.Version))
		}
	}
	return err
}

// materials writes what the program is made of.
func (r *release) materials() error {
	b, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.made.Format(time.RFC3339),
			"component": component{Type: "application", Name: "rimewatch", Version: r.version, Purl: "pkg:golang/github.com/rimewatch/rimewatch@v" + r.version},
		},
		"components": r.components(),
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("rimewatch_%s.cdx.json", r.version)), append(b, '\n'), 0o644)
}
