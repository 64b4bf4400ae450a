package submit

import "testing"

func TestTimed(t *testing.T) {
	for body, want := range map[string]bool{
		`{"device_serial":"A","recorded_at":"2026-11-20T19:47:12Z"}`:                               true,
		`{"readings":[{"recorded_at":"2026-11-20T19:47:12Z"}]}`:                                    true,
		"{\"recorded_at\":\"2026-11-20T19:47:12Z\"}\n{\"recorded_at\":\"2026-11-20T19:47:13Z\"}\n": true,
		`{"device_serial":"A"}`:                                    false,
		`{"Recorded_At":"2026-11-20T19:47:12Z"}`:                   false,
		`{"recorded_at":null}`:                                     false,
		`{"recorded_at":""}`:                                       false,
		`{"readings":[{"recorded_at":"2026-11-20T19:47:12Z"},{}]}`: false,
		`{"readings":[]}`:                                          false,
		"{\"recorded_at\":\"2026-11-20T19:47:12Z\"}\n{}":           false,
		`{"recorded_at":"2026-11-20T19:47:12Z"`:                    false,
		"":                                                         false, "[]": false, "temperature value=1": false, "\x1f\x8b": false,
	} {
		if got := Timed([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
