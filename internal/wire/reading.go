package wire

import (
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

// Maybe is an object or null.
type Maybe[T any] struct{ Value *T }

// MarshalJSON implements json.Marshaler.
func (m Maybe[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.Value) }

// DeviceReading is a reading of a device.
type DeviceReading struct {
	DeviceID int64
	Serial   string
	Reading  rimewatch.Reading
}

// MarshalJSON implements json.Marshaler.
func (j DeviceReading) MarshalJSON() ([]byte, error) {
	return AppendReading(nil, j.DeviceID, j.Serial, &j.Reading), nil
}
