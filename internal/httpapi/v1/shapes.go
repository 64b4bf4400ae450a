package v1

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// labels describes wire.Labels.
type labels struct{}

// The limits of labels, notes and the other texts of a device, in characters.
const (
	maxLabels     = 32
	maxLabelKey   = 64
	maxLabelValue = 256
)

// Schema implements huma.SchemaProvider.
func (labels) Schema(huma.Registry) *huma.Schema {
	most, longest := maxLabels, maxLabelValue
	return &huma.Schema{
		Type: huma.TypeObject, MaxProperties: &most,
		AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &longest},
		Extensions:           map[string]any{httpapi.MaxKeyLen: maxLabelKey},
	}
}

// describe registers how shapes of package wire are described, which itself knows
// nothing of descriptions.
func describe(frame *httpapi.API) {
	frame.DescribeAs(reflect.TypeFor[wire.Labels](), reflect.TypeFor[labels]())
	frame.DescribeAs(reflect.TypeFor[wire.DeviceReading](), reflect.TypeFor[Reading]())
	httpapi.Nullable[wire.SiteRef](frame)
	httpapi.Nullable[wire.DeviceReading](frame)
	httpapi.Nullable[wire.CalibrationState](frame)
	httpapi.Nullable[wire.MaintenanceState](frame)
	httpapi.Nullable[wire.ClockState](frame)
	httpapi.Nullable[wire.Exposure](frame)
	httpapi.Nullable[wire.WorstExposure](frame)
	httpapi.Nullable[predict.DefrostCourse](frame)
	httpapi.Nullable[rimewatch.Prediction](frame)
	httpapi.Nullable[rimewatch.Feedback](frame)
	httpapi.Nullable[wire.Escalation](frame)
	httpapi.Nullable[Owner](frame)
}

// Reading describes a stored reading in answers.
type Reading struct {
	DeviceID     int64          `json:"device_id"`
	DeviceSerial string         `json:"device_serial"`
	RecordedAt   rimewatch.Time `json:"recorded_at" nullable:"false" doc:"When it was measured. Unique for a device."`
	ReceivedAt   rimewatch.Time `json:"received_at" nullable:"false" doc:"When the service received it, to the second: less than a second from the very moment, and before recorded_at only if that lay in the future."`
	SensorFaults []string       `json:"sensor_faults" doc:"Measurements whose sensor reported that it is broken; they are null."`
}
