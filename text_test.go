package rimewatch

import (
	"strings"
	"testing"
	"time"
)

// TestOnOneLine: no line ends between a number and its unit, or within a span.
func TestOnOneLine(t *testing.T) {
	for want, got := range map[string]string{
		"−8.3 °C": Quantity(-8.26, "°C"), "0 °C": Quantity(-0.04, "°C"), "2.35 mm/s": Quantity(2.346, "mm/s"), "9": Quantity(9, ""),
		"40 s": Span(40 * time.Second), "34 min": Span(34*time.Minute + 59*time.Second), "2 h": Span(2 * time.Hour), "2 h 5 min": Span(125 * time.Minute),
		"3 d": Span(72 * time.Hour), "3 d 4 h": Span(76*time.Hour + time.Minute),
	} {
		if want = strings.ReplaceAll(want, " ", "\u00a0"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestShare: a share is never rounded up to all, nor down to nothing.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		share    float64
		decimals int
		want     float64
	}{
		{0, 0, 0}, {1, 0, 100}, {1, 1, 100}, {0.999, 0, 99}, {0.9996, 1, 99.9}, {0.99999, 2, 99.99}, {0.001, 0, 1}, {0.0001, 1, 0.1}, {0.5, 0, 50}, {0.667, 1, 66.7},
	} {
		if got := Share(tt.share, tt.decimals); got != tt.want {
			t.Errorf("%v to %d: %v, want %v", tt.share, tt.decimals, got, tt.want)
		}
	}
}

func TestNormalAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://192.168.1.20:8080":           "http://192.168.1.20:8080",
		" https://cold.example.com/ ":        "https://cold.example.com",
		"https://cold.example.com:8443/ice/": "https://cold.example.com:8443/ice",
		"http://[fd00::1]:8080":              "http://[fd00::1]:8080",
		"cold.example.com":                   "",
		"ftp://cold.example.com":             "",
		"https://":                           "",
		"https://:8080":                      "",
		"https://u:p@cold.example.com":       "",
		"https://cold.example.com/?a=1":      "",
		"https://cold.example.com#x":         "",
		"https://cold.example.com:0":         "",
		"https://cold.example.com:99999":     "",
		"javascript:alert(1)":                "",
		"":                                   "",
	} {
		got, err := NormalAddress(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestAddressOnlyHere(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:8080": true, "http://shop.LOCALHOST": true, "http://127.9.0.1": true, "http://[::1]:80": true, "http://0.0.0.0:8080": true,
		"http://192.168.1.20": false, "https://localhost.example.com": false, "http://10.127.0.1": false, "": false,
	} {
		if got := AddressOnlyHere(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
