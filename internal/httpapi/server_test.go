package httpapi

import "testing"

func TestStreamServer(t *testing.T) {
	for in, want := range map[string][2]any{
		"https://cold.example.com": {"cold.example.com", "wss"},
		"http://cold.example:81/":  {"cold.example:81", "ws"},
		"":                         {"{host}", "ws"},
	} {
		s := streamServer(in)
		if s["host"] != want[0] || s["protocol"] != want[1] {
			t.Errorf("%q: %v", in, s)
		}
	}
}
