package submit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Timed reports whether every reading of a body, one or a batch or lines of them, has a time
// of its own, so that it is stored once although it is sent twice. It is in doubt about
// readings that Single and Batch might not take: then it reports false.
func Timed(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	for found := false; ; found = true {
		var members map[string]json.RawMessage
		if err := d.Decode(&members); err != nil {
			return found && errors.Is(err, io.EOF)
		}
		list := []map[string]json.RawMessage{members}
		if batch, is := members["readings"]; is {
			list = nil
			if json.Unmarshal(batch, &list) != nil || len(list) == 0 {
				return false
			}
		}
		for _, reading := range list {
			if at := reading["recorded_at"]; len(at) < len(`"2"`) || at[0] != '"' {
				return false
			}
		}
	}
}
