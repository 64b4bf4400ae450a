package httpapi

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Objects writes things exactly as the REST API answers them, for those who
// send them in another way.
type Objects struct{}

// Reading appends a reading.
func (Objects) Reading(b []byte, deviceID int64, serial string, r *rimewatch.Reading) []byte {
	return wire.AppendReading(b, deviceID, serial, r)
}

// Device appends a device as it stands in lists.
func (Objects) Device(b []byte, v *rimewatch.DeviceView) ([]byte, error) {
	return wire.AppendJSON(b, deviceItem(v))
}

// Alert appends an alert.
func (Objects) Alert(b []byte, v *rimewatch.AlertView) ([]byte, error) {
	return wire.AppendJSON(b, alertJSON(v))
}

// Summary appends the health summary.
func (Objects) Summary(b []byte, s *Summary) ([]byte, error) {
	return wire.AppendJSON(b, summaryJSON(s))
}

// Text appends a text as a JSON string.
func (Objects) Text(b []byte, s string) []byte { return wire.AppendString(b, s) }

// Fields appends what is wrong with which field.
func (Objects) Fields(b []byte, fields map[string][]string) []byte {
	return wire.AppendFields(b, fields)
}

// Check tells what is wrong with a JSON text that a client sent, by the rules
// of request bodies: its syntax, its UTF-8, keys that occur twice.
func (Objects) Check(text []byte) error {
	if wire.Blank(text) {
		return errEmptyBody
	}
	if err := wire.CheckJSON(text); err != nil {
		return wire.InvalidJSON("%v", err)
	}
	return nil
}
