package httpapi

import (
	"github.com/rimewatch/rimewatch"
)

// Objects writes things exactly as the REST API answers them, for those who
// send them in another way.
type Objects struct{}

// Reading appends a reading.
func (Objects) Reading(b []byte, deviceID int64, serial string, r *rimewatch.Reading) []byte {
	return appendReading(b, deviceID, serial, r)
}

// Device appends a device as it stands in lists.
func (Objects) Device(b []byte, v *rimewatch.DeviceView) ([]byte, error) {
	return appendJSON(b, deviceItem(v))
}

// Alert appends an alert.
func (Objects) Alert(b []byte, v *rimewatch.AlertView) ([]byte, error) {
	return appendJSON(b, alertJSON(v))
}

// Summary appends the health summary.
func (Objects) Summary(b []byte, s *Summary) ([]byte, error) {
	return appendJSON(b, summaryJSON(s))
}

// Text appends a text as a JSON string.
func (Objects) Text(b []byte, s string) []byte { return appendString(b, s) }

// Fields appends what is wrong with which field.
func (Objects) Fields(b []byte, fields map[string][]string) []byte { return appendFields(b, fields) }

// Check tells what is wrong with a JSON text that a client sent, by the rules
// of request bodies: its syntax, its UTF-8, keys that occur twice.
func (Objects) Check(text []byte) error {
	if isBlank(text) {
		return errEmptyBody
	}
	if err := checkJSON(text); err != nil {
		return invalidJSON("%v", err)
	}
	return nil
}
