// Package compose reads the Docker Compose files of deploy/ as Docker Compose does.
package compose

import (
	"encoding/json"
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

// topology is what the tests of the cluster start (e2e/testdata/cluster.json).
type topology struct {
	Nodes        int
	Databases    []string
	Flags        []string // of each node
	OnlyDeployed []string `json:"only_deployed"`
}

// TestCluster: it is what the tests start as processes: as many nodes with the same
// settings, which find each other and the database, and a balancer that knows them all.
func TestCluster(t *testing.T) {
	text, err := os.ReadFile("../../e2e/testdata/cluster.json")
	var want topology
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := load(t, "../../deploy/cluster/compose.yaml", "RIMEWATCH_CLUSTER_SECRET=secret", "POSTGRES_PASSWORD=secret")
	if err != nil {
		t.Fatal(err)
	}
	balancer, err := os.ReadFile("../../deploy/cluster/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	nodes, mounted := 0, 0
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
		if strings.Contains(s.Image, "/rimewatch:") {
			nodes++
			sameNode(t, &s, &want, string(balancer))
		}
	}
	if nodes != want.Nodes || mounted == 0 {
		t.Errorf("%d nodes, not %d; %d files are mounted", nodes, want.Nodes, mounted)
	}
	for _, name := range want.Databases {
		if s, err := p.GetService(name); err != nil || !strings.HasPrefix(s.Image, "postgres:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(string(balancer), "httpchk GET /readyz") {
		t.Error("the balancer does not ask which nodes are ready")
	}
	synchronous(t, p, want.Databases)
}

// synchronous: commits of the primary wait for the standby, as they do in the tests.
func synchronous(t *testing.T, p *types.Project, databases []string) {
	t.Helper()
	primary, standby := p.Services[databases[0]], databases[1]
	script := ""
	for _, v := range primary.Volumes {
		if strings.HasPrefix(v.Target, "/docker-entrypoint-initdb.d/") { // what the image runs when it makes the database
			text, err := os.ReadFile(v.Source)
			if err != nil {
				t.Fatal(err)
			}
			script += string(text)
		}
	}
	if !strings.Contains(script, "synchronous_standby_names = '"+standby+"'") {
		t.Errorf("commits of the primary do not wait for %s: %q", standby, script)
	}
	if command := strings.Join(p.Services[standby].Command, " "); !strings.Contains(command, "host="+primary.Name+" ") || !strings.Contains(command, "application_name="+standby+`"`) {
		t.Errorf("the standby of the primary is not called %s: %s", standby, command)
	}
}

// sameNode compares a node with those of the tests.
func sameNode(t *testing.T, s *types.ServiceConfig, want *topology, balancer string) {
	t.Helper()
	setting := func(name string) string {
		if v := s.Environment[name]; v != nil {
			return *v
		}
		return ""
	}
	flags := []string{"--data"} // the image's own: /data
	for name := range s.Environment {
		flags = append(flags, "--"+strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "RIMEWATCH_")), "_", "-"))
	}
	for _, flag := range slices.Concat(want.Flags, want.OnlyDeployed) {
		if !slices.Contains(flags, flag) {
			t.Errorf("%s does not set %s", s.Name, flag)
		}
	}
	for _, flag := range flags {
		if !slices.Contains(want.Flags, flag) && !slices.Contains(want.OnlyDeployed, flag) {
			t.Errorf("%s sets %s, which no test does", s.Name, flag)
		}
	}
	if u := setting("RIMEWATCH_CLUSTER_URL"); u != "http://"+s.Name+setting("RIMEWATCH_CLUSTER_LISTEN") {
		t.Errorf("%s is said to be at %s", s.Name, u)
	}
	if store := setting("RIMEWATCH_STORE"); !strings.Contains(store, "@"+strings.Join(want.Databases, ",")+"/") || !strings.Contains(store, "target_session_attrs=read-write") {
		t.Errorf("%s does not find the primary after a fail-over: %s", s.Name, store)
	}
	if !strings.Contains(balancer, "server "+strings.TrimPrefix(setting("RIMEWATCH_CLUSTER_URL"), "http://")+" "+s.Name+setting("RIMEWATCH_LISTEN")) {
		t.Errorf("the balancer does not know %s", s.Name)
	}
	if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Target == "/data" }) {
		t.Errorf("%s keeps no data directory", s.Name)
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
