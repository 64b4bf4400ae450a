package rimewatch

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxAddressURLLen bounds the address of an installation, in bytes.
const MaxAddressURLLen = 200

// NormalAddress returns the address of an installation, http://HOST or https://HOST with a port or a path,
// as it is stored: without a slash at its end. CodeValidationFailed with the field address where it is none.
// A user in it may be a password and is not repeated.
func NormalAddress(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || len(text) > MaxAddressURLLen:
		return "", Invalid("address", "must be http://HOST or https://HOST")
	case u.User != nil:
		return "", Invalid("address", "must be http://HOST or https://HOST, without a user")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", Invalid("address", "must have a port of 1 to 65535")
		}
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// OnlyHere reports whether a host, without a port, is this computer as seen from itself: no phone reaches it.
func OnlyHere(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// AddressOnlyHere reports whether an address leads to this computer alone.
func AddressOnlyHere(address string) bool {
	u, err := url.Parse(address)
	return err == nil && OnlyHere(u.Hostname())
}
