package outbound

import "net/netip"

// refused are the networks that receivers may not be in: what the IANA registries
// of special-purpose addresses call not globally reachable, what is deprecated,
// and the address at which one cloud keeps its metadata outside of them.
var refused = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; a cloud's metadata
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's platform address
	"169.254.0.0/16",   // link-local; clouds' metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // IETF protocol assignments; a cloud's metadata
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
	"::/96",            // unspecified, loopback, IPv4-compatible
	"::ffff:0:0:0/96",  // IPv4-translated
	"64:ff9b:1::/48",   // NAT64 of a site
	"100::/64",         // discard
	"2001::/23",        // IETF protocol assignments, Teredo among them
	"2001:db8::/32",    // documentation
	"3fff::/20",        // documentation
	"5f00::/16",        // segment routing
	"fc00::/7",         // unique local
	"fe80::/10",        // link-local
	"fec0::/10",        // site-local
	"ff00::/8",         // multicast
)

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// real is the address that packets to a would reach: without zone, and out of
// the IPv6 forms that carry an IPv4 address.
func real(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

// Allowed reports whether receivers may be at an address.
func (g *Guard) Allowed(a netip.Addr) bool {
	a = real(a)
	for _, p := range g.allow {
		if p.Contains(a) {
			return true
		}
	}
	for _, p := range refused {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}
