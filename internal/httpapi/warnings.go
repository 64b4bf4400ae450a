package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// labelParameter stands in descriptions for label.KEY with any KEY.
const labelParameter = "label.KEY"

// Labels returns the labels that the parameters label.KEY ask for; nil = none.
func (c *Call) Labels() *map[string]string {
	labels := make(map[string]string)
	for name := range c.Query {
		if key, ok := strings.CutPrefix(name, "label."); ok {
			labels[key] = c.Query.Get(name)
		}
	}
	if len(labels) == 0 {
		return nil
	}
	return &labels
}

// takeLabels takes the parameters label.KEY of a route that has them.
func takeLabels(params []*huma.Param, sent, known url.Values) {
	if !slices.ContainsFunc(params, func(p *huma.Param) bool { return p.Name == labelParameter }) {
		return
	}
	for name, values := range sent {
		if strings.HasPrefix(name, "label.") && values[0] != "" {
			known.Set(name, values[0])
		}
	}
}

// Bounds of an answer's warnings about parameters.
const maxWarnings = 10

// unknownParameters returns what is to be said of parameters that a route does
// not know: they are ignored, but a misspelt filter must not pass in silence.
func unknownParameters(params []*huma.Param, sent url.Values) []string {
	var all []string
	labels := slices.ContainsFunc(params, func(p *huma.Param) bool { return p.Name == labelParameter })
	for name := range sent {
		isKnown := slices.ContainsFunc(params, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
		if !isKnown && !(labels && strings.HasPrefix(name, "label.")) {
			all = append(all, "The parameter "+wire.Shown([]byte(name))+" is not known and was ignored.")
		}
	}
	slices.Sort(all)
	return all[:min(len(all), maxWarnings)]
}

// endOfData is how every JSON answer ends: data is the last member.
const endOfData = "}}\n"

// warner adds warnings to the data of a JSON answer. It keeps the end back until
// the answer is complete.
type warner struct {
	http.ResponseWriter
	warnings []string
	json     bool
	status   int
	end      []byte // the last bytes that were written, at most one more than endOfData
}

// WriteHeader implements http.ResponseWriter.
func (w *warner) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.json = status < http.StatusMultipleChoices && w.Header().Get("Content-Type") == TypeJSON
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *warner) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.json {
		return w.ResponseWriter.Write(b)
	}
	w.end = append(w.end, b...)
	ready := len(w.end) - len(endOfData) - 1
	if ready <= 0 {
		return len(b), nil
	}
	_, err := w.ResponseWriter.Write(w.end[:ready])
	w.end = append(w.end[:0], w.end[ready:]...)
	return len(b), err
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *warner) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// DirectQuery checks the query of a route that goes past the router. What is written to the writer that
// it returns names the parameters that the route does not know, until done.
func (a *API) DirectQuery(w http.ResponseWriter, r *http.Request) (known url.Values, warns http.ResponseWriter, done func(), e *rimewatch.Error) {
	rt := a.find(r.Method, strings.TrimPrefix(r.URL.Path, Prefix))
	if rt == nil {
		return nil, w, func() {}, nil
	}
	known, warnings, e := a.checker.query(rt.op.Parameters, r.URL.RawQuery)
	if len(warnings) == 0 || e != nil {
		return known, w, func() {}, e
	}
	warn := &warner{ResponseWriter: w, warnings: warnings}
	return known, warn, warn.finish, nil
}

// finish writes the warnings and the end.
func (w *warner) finish() {
	if !w.json {
		return
	}
	if head, ok := strings.CutSuffix(string(w.end), endOfData); ok {
		if head != "{" {
			head += ","
		}
		list, err := wire.AppendJSON([]byte(head+`"warnings":`), w.warnings)
		if err == nil {
			w.end = append(list, endOfData...)
		}
	}
	_, _ = w.ResponseWriter.Write(w.end) // a client that is gone is nobody's failure
}
