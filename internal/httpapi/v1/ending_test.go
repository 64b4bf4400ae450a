package v1

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEndings: something that ends goes on working, says so in its answers, and was announced a year before.
func TestEndings(t *testing.T) {
	r := newRig(t)
	a := r.do(r.browser(patch("/v1/workspace", "", `{"auto_register":true}`)))
	var got struct {
		Data struct {
			Workspace struct {
				OnUnknown    string `json:"on_unknown"`
				AutoRegister bool   `json:"auto_register"`
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK || got.Data.Workspace.OnUnknown != "register" || !got.Data.Workspace.AutoRegister {
		t.Fatalf("%d %s", a.status, a.body)
	}
	since, err := strconv.ParseInt(strings.TrimPrefix(a.header.Get("Deprecation"), "@"), 10, 64)
	sunset, err2 := http.ParseTime(a.header.Get("Sunset"))
	if err != nil || err2 != nil || sunset.Before(time.Unix(since, 0).AddDate(1, 0, 0)) {
		t.Errorf("Deprecation %q, Sunset %q", a.header.Get("Deprecation"), a.header.Get("Sunset"))
	}
	if link := `</docs/api-changes#auto_register>; rel="deprecation"; type="text/html"`; a.header.Get("Link") != link {
		t.Errorf("Link %q", a.header.Get("Link"))
	}
	if other := r.do(get("/v1/sites", r.full)); other.header.Get("Deprecation")+other.header.Get("Sunset") != "" {
		t.Errorf("sites end, too: %v", other.header)
	}
}

// TestEndingsAreDocumented: each field that the description calls deprecated has a date and a section of the page.
func TestEndingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/api-changes.md")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Deprecated bool
					Sunset     string `json:"x-sunset"`
				}
			}
		}
	}
	if err := json.Unmarshal(newRig(t).api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, s := range doc.Components.Schemas {
		for field, p := range s.Properties {
			if !p.Deprecated {
				continue
			}
			n++
			_, section, found := strings.Cut(string(page), "\n### "+field+"\n")
			if _, err := time.Parse(time.DateOnly, p.Sunset); err != nil || !found || !strings.Contains(section, "until "+p.Sunset) {
				t.Errorf("%s.%s: ends %q", name, field, p.Sunset)
			}
		}
	}
	if n < 2 {
		t.Errorf("%d fields end", n)
	}
}

// TestOpenEnumerations: enumerations of answers may grow, except three, and are described so; those of bodies are what is accepted.
func TestOpenEnumerations(t *testing.T) {
	type schema struct {
		Enum []any
		Open []string `json:"x-extensible-enum"`
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]schema }
		}
	}
	if err := json.Unmarshal(newRig(t).api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	of := func(name, field string) schema { return doc.Components.Schemas[name].Properties[field] }
	for _, closed := range []schema{of("Alert", "severity"), of("Alert", "status"), of("WorkspaceBody", "on_unknown")} {
		if len(closed.Enum) < 2 || closed.Open != nil {
			t.Errorf("not closed: %+v", closed)
		}
	}
	for _, open := range []schema{of("Alert", "resolution"), of("Workspace", "on_unknown"), of("FailureDetail", "code")} {
		if len(open.Open) < 3 || open.Enum != nil || slices.Contains(open.Open, "") {
			t.Errorf("not open: %+v", open)
		}
	}
}
