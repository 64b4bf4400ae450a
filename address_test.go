package rimewatch

import "testing"

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
