package records

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
)

// gauges are the measurements whose probes can be calibrated.
func gauges() rimewatch.Fields {
	var set rimewatch.Fields
	for f := range rimewatch.AllFields.All() {
		if f.Info().Kind == rimewatch.Gauge {
			set = set.With(f)
		}
	}
	return set
}

// TransformSchema implements huma.SchemaTransformer. The part that depends on the field is
// checked when the field is known.
func (CalibrationBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	names := gauges().Names()
	field := s.Properties["field"]
	field.Enum = make([]any, len(names))
	for i, name := range names {
		field.Enum[i] = name
	}
	low, high := 0.0, 0.0
	for f := range gauges().All() {
		low, high = min(low, f.Info().Min), max(high, f.Info().Max)
	}
	for _, name := range []string{"reference", "as_found", "as_left"} {
		s.Properties[name].Minimum, s.Properties[name].Maximum = &low, &high
	}
	return s
}
