package inlets

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// addresses are where senders may reach this server, the likeliest first; empty where nobody
// knows, or the caller is not to know.
func (a *api) addresses(ctx context.Context) []string {
	c := httpapi.CallOf(ctx)
	if c.Principal.Require(rimewatch.ScopeSources) != nil {
		return []string{}
	}
	var machine []netip.Addr
	if list, err := net.InterfaceAddrs(); err == nil { // otherwise none is offered
		for _, x := range list {
			if p, err := netip.ParsePrefix(x.String()); err == nil {
				machine = append(machine, p.Addr())
			}
		}
	}
	return reachable(a.BaseURL(c.R), a.Listen, machine)
}

// reachable returns the addresses of a service that was asked at base and listens at listen,
// on a machine with these addresses.
func reachable(base, listen string, machine []netip.Addr) []string {
	const most = 8
	u, err := url.Parse(base)
	if err != nil {
		return []string{}
	}
	if !onlyHere(u.Hostname()) {
		return []string{base}
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host != "" && onlyHere(host) {
		return []string{} // it is reached from this computer alone
	}
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		machine = []netip.Addr{ip}
	}
	list := []string{}
	slices.SortStableFunc(machine, func(x, y netip.Addr) int { return x.BitLen() - y.BitLen() })
	for _, ip := range machine {
		if ip.IsGlobalUnicast() && len(list) < most {
			list = append(list, u.Scheme+"://"+net.JoinHostPort(ip.String(), port))
		}
	}
	return list
}

// onlyHere reports whether a host is this computer, as seen from itself.
func onlyHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
