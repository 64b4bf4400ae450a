package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// ending announces that v1 loses a field. Until Sunset it works as ever, and every answer
// of a route that takes or answers it says so in its header. An announcement needs a
// section of docs/api-changes.md, named after the field.
type ending struct {
	schemas []string // the components that have the field
	field   string
	since   string // the day of the announcement, such as 2026-11-29
	sunset  string // the last day that it works, a year after since at least
	instead string // its replacement
}

var endings = []ending{
	{[]string{"Workspace", "WorkspaceBody"}, "auto_register", "2026-11-29", "2027-12-01", "`on_unknown`"},
}

// announce marks endings in the description, and has the routes announce them.
func (a *API) announce() {
	schemas := a.doc.Components.Schemas.Map()
	for i := range endings {
		e := &endings[i]
		for _, name := range e.schemas {
			if schemas[name] == nil {
				continue // an API of some of the routes
			}
			field := schemas[name].Properties[e.field]
			field.Deprecated = true
			field.Extensions = map[string]any{"x-sunset": e.sunset}
			field.Description += " Ends on " + e.sunset + ": use " + e.instead + "."
		}
		for j := range a.routes {
			if rt := &a.routes[j]; slices.ContainsFunc(e.schemas, a.components(rt).has) {
				rt.ends = append(rt.ends, e)
			}
		}
	}
}

// components names the schemas of a route's body and answers.
type components map[string]bool

func (c components) has(name string) bool { return c[name] }

func (a *API) components(rt *Route) components {
	seen := make(components)
	bodies := []map[string]*huma.MediaType{}
	if rt.op.RequestBody != nil {
		bodies = append(bodies, rt.op.RequestBody.Content)
	}
	for _, r := range rt.op.Responses {
		bodies = append(bodies, r.Content)
	}
	for _, b := range bodies {
		for _, m := range b {
			reach(a.doc.Components.Schemas, m.Schema, seen)
		}
	}
	return seen
}

// header announces the end to programs: Deprecation of RFC 9745, Sunset of RFC 8594, and where to
// read about it. Of several in one answer the first to end counts.
func (e *ending) header(h http.Header) {
	h["Link"] = append(h["Link"], `</docs/api-changes#`+e.field+`>; rel="deprecation"; type="text/html"`)
	sunset := day(e.sunset)
	if before, err := http.ParseTime(h.Get("Sunset")); err == nil && before.Before(sunset) {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(day(e.since).Unix(), 10))
	h.Set("Sunset", sunset.Add(24*time.Hour-time.Second).Format(http.TimeFormat))
}

// day is the beginning of a day of the table, in UTC.
func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err) // of the table, which every test reads
	}
	return t
}

// closedEnums are those whose values v1 never adds to. All others of answers are open: a
// client takes values that it does not know.
var closedEnums = []string{"active resolved", "critical warning", "offline online"}

// openEnum describes an enumeration of an answer as one that may grow, which OpenAPI has no
// word of its own for.
func openEnum(s *huma.Schema) {
	var values []string
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	if len(values) == 0 || slices.Contains(closedEnums, strings.Join(slices.Sorted(slices.Values(values)), " ")) {
		return
	}
	if s.Extensions == nil {
		s.Extensions = make(map[string]any)
	}
	s.Extensions["x-extensible-enum"], s.Enum = values, nil
}
