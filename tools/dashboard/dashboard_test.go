// Package dashboard holds the Grafana dashboard of deploy/grafana against the types
// that Grafana generates from its own schema.
package dashboard

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func read(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/rimewatch.json")
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check decodes a dashboard into Grafana's types, with the options of its panels and
// the queries of its data source, and names every member that does not survive:
// Grafana does not know it, or it is of another type.
func check(d map[string]any) ([]string, error) {
	plugins.RegisterDefaultPlugins()
	for _, p := range d["panels"].([]any) { // the types cannot be read without it
		defaults := p.(map[string]any)["fieldConfig"].(map[string]any)["defaults"].(map[string]any)
		if defaults["custom"] == nil {
			defaults["custom"] = map[string]any{}
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var typed dashboard.Dashboard
	if err := json.Unmarshal(text, &typed); err != nil {
		return nil, err
	}
	for i, p := range typed.Panels {
		if p.Panel == nil {
			return nil, fmt.Errorf("panel %d is none", i)
		}
		if _, ok := cog.NewRuntime().ConfigForPanelcfgVariant(p.Panel.Type); !ok {
			return nil, fmt.Errorf("panel %d: there is no type %q", i, p.Panel.Type)
		}
	}
	if text, err = json.Marshal(&typed); err != nil {
		return nil, err
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		return nil, err
	}
	return lost("", d, back), nil
}

// lost names what a holds and b does not. What is empty may be left out.
func lost(path string, a, b any) (list []string) {
	switch a := a.(type) {
	case map[string]any:
		in, ok := b.(map[string]any)
		if !ok && len(a) > 0 {
			return []string{path}
		}
		for k, v := range a {
			list = append(list, lost(path+"."+k, v, in[k])...)
		}
	case []any:
		in, _ := b.([]any)
		if len(in) != len(a) {
			return []string{path}
		}
		for i := range a {
			list = append(list, lost(fmt.Sprintf("%s[%d]", path, i), a[i], in[i])...)
		}
	default:
		if a != b {
			return []string{path}
		}
	}
	slices.Sort(list)
	return list
}

func TestDashboard(t *testing.T) {
	names, err := check(read(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		t.Errorf("Grafana does not know %s", n)
	}
}

// TestCheck: the check finds what it is there to find.
func TestCheck(t *testing.T) {
	panel := func(d map[string]any, i int) map[string]any { return d["panels"].([]any)[i].(map[string]any) }
	for says, c := range map[string]struct {
		spoil func(d map[string]any)
		want  string
	}{
		"a member that is misspelt":       {func(d map[string]any) { d["schemaversion"] = 39 }, ".schemaversion"},
		"an option of another panel":      {func(d map[string]any) { panel(d, 0)["options"].(map[string]any)["cellHeight"] = "sm" }, ".panels[0].options.cellHeight"},
		"a text for a number":             {func(d map[string]any) { d["schemaVersion"] = "39" }, "cannot unmarshal"},
		"a panel that does not exist":     {func(d map[string]any) { panel(d, 0)["type"] = "statt" }, `no type "statt"`},
		"a query of no known member":      {func(d map[string]any) { panel(d, 0)["targets"].([]any)[0].(map[string]any)["promql"] = "up" }, ".panels[0].targets[0].promql"},
		"a place of the grid that is odd": {func(d map[string]any) { panel(d, 0)["gridPos"].(map[string]any)["width"] = 6 }, ".panels[0].gridPos.width"},
	} {
		d := read(t)
		c.spoil(d)
		names, err := check(d)
		if got := fmt.Sprint(names, err); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", says, got, c.want)
		}
	}
}
