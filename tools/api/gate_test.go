// Package api holds the description of the API against the one of the last release.
package api

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
)

const (
	released = "../../docs/api/openapi.json" // of the last release
	present  = "../../web/openapi.json"      // which make writes
)

// accepted are findings that no client notices, each with the reason. The next release empties the list.
var accepted = []struct{ id, text, reason string }{
	{"request-property-one-of-removed", "^PATCH /v1/workspace: .*`limits/additionalProperties`", "the limits of a type have one field more, in a component with another name"},
	{"response-property-became-not-enum", "", "enumerations of answers are open since this release, but for the closed ones, which a test of internal/httpapi/v1 holds"},
	{"response-property-became-nullable", "`[a-z_/]*disposition`", "a record that does not say what became of the product read as if none had been concerned"},
	{"response-(body-any-of-added|body-type-changed|required-property-removed)", "^POST /v1/readings: .*`200`", "only dry_run=true, which stored the reading before, is answered with the other form"},
	{"response-property-min-items-unset", "`data/routes?/(items/)?steps/items/channel_ids`", "a step names channels, people, or both: one without channels is made only by who names people"},
	{"response-media-type-removed", "^GET /v1/auth/provider.*`303`", "a redirect never had JSON"},
}

// TestGate: v1 only grows. Something that is removed, renamed or narrowed must have been announced a year before.
func TestGate(t *testing.T) {
	for _, finding := range breaking(t, read(t, released), read(t, present)) {
		t.Error(finding)
	}
	if t.Failed() {
		t.Log("v1 only grows: docs/api-changes.md says how something ends")
	}
}

// TestGateFindsWhatBreaks: one operation, field or value less is found, and so is one more that is required.
func TestGateFindsWhatBreaks(t *testing.T) {
	now := read(t, present)
	for what, change := range map[string]func(doc map[string]any){
		"an operation removed": func(doc map[string]any) { delete(at(doc, "paths", "/v1/devices/{serial}"), "get") },
		"an operation renamed": func(doc map[string]any) {
			paths := at(doc, "paths")
			paths["/v1/units"] = paths["/v1/devices"]
			delete(paths, "/v1/devices")
		},
		"a field of an answer renamed": func(doc map[string]any) {
			fields := at(doc, "components", "schemas", "Alert", "properties")
			fields["level"] = fields["severity"]
			delete(fields, "severity")
		},
		"a field of a body removed": func(doc map[string]any) {
			delete(at(doc, "components", "schemas", "SiteCreate", "properties"), "address")
		},
		"another type in an answer": func(doc map[string]any) {
			at(doc, "components", "schemas", "Alert", "properties", "id")["type"] = "string"
		},
		"a shorter bound in a body": func(doc map[string]any) {
			at(doc, "components", "schemas", "SiteCreate", "properties", "name")["maxLength"] = 20
		},
		"a field of a body now required": func(doc map[string]any) {
			at(doc, "components", "schemas", "SiteCreate")["required"] = []any{"name", "address"}
		},
		"a value of a body removed": func(doc map[string]any) {
			at(doc, "components", "schemas", "WorkspaceBody", "properties", "on_unknown")["enum"] = []any{"hold"}
		},
		"a closed enumeration with another value": func(doc map[string]any) {
			at(doc, "components", "schemas", "Alert", "properties", "severity")["enum"] = []any{"warning", "critical", "fatal"}
		},
	} {
		t.Run(what, func(t *testing.T) {
			var doc map[string]any
			if err := json.Unmarshal(now, &doc); err != nil {
				t.Fatal(err)
			}
			change(doc)
			changed, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if len(breaking(t, now, changed)) == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// breaking lists what a client of the description before would notice in that after.
func breaking(t *testing.T, before, after []byte) []string {
	t.Helper()
	specs := [2]*load.SpecInfo{}
	for i, text := range [][]byte{before, after} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		specs[i] = &load.SpecInfo{Url: []string{"before", "after"}[i], Spec: doc}
	}
	report, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), specs[0], specs[1])
	if err != nil {
		t.Fatal(err)
	}
	config := checker.NewConfig(checker.GetAllChecks())
	var found []string
	for _, change := range checker.CheckBackwardCompatibilityUntilLevel(config, report, sources, checker.WARN) {
		text := change.GetOperation() + " " + change.GetPath() + ": " + change.GetUncolorizedText(checker.NewDefaultLocalizer())
		if !isAccepted(change.GetId(), text) {
			found = append(found, change.GetId()+": "+text)
		}
	}
	return found
}

func isAccepted(id, text string) bool {
	for _, a := range accepted {
		if regexp.MustCompile("^"+a.id+"$").MatchString(id) && regexp.MustCompile(a.text).MatchString(text) {
			return true
		}
	}
	return false
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b)
}

func at(doc map[string]any, path ...string) map[string]any {
	for _, name := range path {
		doc = doc[name].(map[string]any)
	}
	return doc
}
