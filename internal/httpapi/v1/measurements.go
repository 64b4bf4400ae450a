package v1

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// The schemas of whatever holds measurements are completed from the table of
// measurements, so that a new row there needs nothing here.

const onlyWhenSent = "Only when it was sent."

// TransformSchema implements huma.SchemaTransformer.
func (Reading) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	addAnswered(s, func(p *huma.Schema, f rimewatch.Field) {
		if f.Core() {
			p.Nullable = true
			s.Required = append(s.Required, f.String())
		}
	})
	return s
}

// TransformSchema implements huma.SchemaTransformer.
func (HistoryReading) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	addAnswered(s, func(p *huma.Schema, f rimewatch.Field) { p.Nullable = true })
	return s
}

// addAnswered adds what a reading holds in answers.
func addAnswered(s *huma.Schema, finish func(p *huma.Schema, f rimewatch.Field)) {
	for f := range rimewatch.AllFields.All() {
		info := f.Info()
		p := httpapi.FieldSchema(&info)
		p.Description = info.Doc
		if !f.Core() {
			p.Description += " " + onlyWhenSent
		}
		finish(p, f)
		s.Properties[f.String()] = p
	}
	for x := range rimewatch.NumFlags {
		s.Properties[x.String()] = &huma.Schema{Type: huma.TypeBoolean, Description: onlyWhenSent}
	}
	s.Properties["clock_unset"] = &huma.Schema{Type: huma.TypeBoolean, Description: "true where the device's clock was not set: the time is that of the arrival. Otherwise absent."}
	s.Properties["imported"] = &huma.Schema{Type: huma.TypeBoolean, Description: "true where the reading came by a file that somebody imported. Otherwise absent."}
}

// TransformSchema implements huma.SchemaTransformer.
func (HistoryBucket) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	for f := range rimewatch.AllFields.All() {
		if f.Info().Kind == rimewatch.Counter {
			s.Properties[f.String()] = httpapi.OrNull[Counted]{}.Schema(r)
		} else {
			s.Properties[f.String()] = httpapi.OrNull[Aggregate]{}.Schema(r)
		}
	}
	return s
}

// Aggregate of one measurement over a step.
type Aggregate struct {
	Min float64 `json:"min"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
}

// Counted is the increase of a counter in a step.
type Counted struct {
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Increase float64 `json:"increase" doc:"From the last value before the step, of the first step from its own first value, to the last one in it. A counter that is lower than before has restarted from 0."`
}
