package httpapi

import (
	"net/netip"
	"slices"
	"testing"
)

// TestReachable: what is written into a sketch can be reached from elsewhere, where anything can.
func TestReachable(t *testing.T) {
	machine := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("192.168.1.20")}
	for _, c := range []struct {
		base, listen string
		want         []string
	}{
		{"https://cold.example", "127.0.0.1:8080", []string{"https://cold.example"}},
		{"http://192.168.1.9:8080", ":8080", []string{"http://192.168.1.9:8080"}},
		{"http://localhost:9000", ":8080", []string{"http://192.168.1.20:8080", "http://[2001:db8::7]:8080"}},
		{"http://127.0.0.1:8080", "0.0.0.0:8080", []string{"http://192.168.1.20:8080", "http://[2001:db8::7]:8080"}},
		{"http://[::1]:8080", "10.0.0.7:8080", []string{"http://10.0.0.7:8080"}},
		{"http://127.0.0.1:8080", "127.0.0.1:8080", nil},
		{"http://localhost:8080", "localhost:8080", nil},
		{"http://localhost:8080", "", nil},
	} {
		if got := reachable(c.base, c.listen, slices.Clone(machine)); !slices.Equal(got, c.want) {
			t.Errorf("%s at %s: %q, want %q", c.base, c.listen, got, c.want)
		}
	}
}
