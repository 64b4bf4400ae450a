// Package compose reads the Docker Compose files of deploy/ as Docker Compose does.
package compose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads a file against the schema; what it names must exist.
func load(t *testing.T, path string, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{path}, cli.WithName("rimewatch"), cli.WithEnv(env), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func TestCompose(t *testing.T) {
	p, err := load(t, "../../deploy/compose.yaml", "RIMEWATCH_PUBLIC_URL=https://cold.example")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.GetService("rimewatch")
	if err != nil {
		t.Fatal(err)
	}
	ports := make(map[uint32]string)
	for _, x := range s.Ports {
		ports[x.Target] = x.Published
	}
	if len(ports) != 2 || ports[8080] != "8080" || ports[1883] != "1883" {
		t.Errorf("ports %v", ports)
	}
	value := func(name string) string {
		if v := s.Environment[name]; v != nil {
			return *v
		}
		return ""
	}
	if value("RIMEWATCH_PUBLIC_URL") != "https://cold.example" || value("RIMEWATCH_MQTT_LISTEN") != ":1883" {
		t.Errorf("environment %v", s.Environment)
	}
	if len(s.Volumes) != 1 || s.Volumes[0].Type != "volume" || s.Volumes[0].Target != "/data" || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
		t.Errorf("volumes %v, read-only %v, capabilities dropped %v", s.Volumes, s.ReadOnly, s.CapDrop)
	}
	dockerfile, err := os.ReadFile(filepath.Join(s.Build.Context, s.Build.Dockerfile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"VOLUME", s.Volumes[0].Target, "ARG VERSION"} {
		if !strings.Contains(string(dockerfile), want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
}

// TestCluster: the files that it mounts are there.
func TestCluster(t *testing.T) {
	p, err := load(t, "../../deploy/cluster/compose.yaml", "RIMEWATCH_CLUSTER_SECRET=secret", "POSTGRES_PASSWORD=secret")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Services) < 5 {
		t.Errorf("%v", p.ServiceNames())
	}
	mounted := 0
	for _, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			mounted++
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	if mounted == 0 {
		t.Error("nothing is mounted")
	}
}

// TestSchema: what Docker Compose does not know is refused.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "read_only:", "readonly:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, path); err == nil {
		t.Error("a misspelt member was taken")
	}
}
