package fleet

import "encoding/json"

// payloadVersion starts the payload of an input in the log and the checkpoints, besides
// a reading. The members of its JSON may grow under the same version.
const payloadVersion = 1

// encodePayload returns the form in which v is kept. Numbers that JSON cannot
// write do not get past the API.
func encodePayload(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append([]byte{payloadVersion}, b...), err
}

// decodePayload reads what encodePayload wrote, which lies under a checksum. What
// has another version leaves v as it is, as nothing does.
func decodePayload(b []byte, v any) {
	if len(b) > 0 && b[0] == payloadVersion {
		_ = json.Unmarshal(b[1:], v)
	}
}
