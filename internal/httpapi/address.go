package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// BaseURL is where the service is reached, without a slash at its end: the address of the installation, or
// what the request says.
func (a *API) BaseURL(r *http.Request) string {
	if a.cfg.PublicURL != "" {
		return strings.TrimSuffix(a.cfg.PublicURL, "/")
	}
	if a.cfg.Address != nil {
		if address := a.cfg.Address(r.Context()); address != "" {
			return address
		}
	}
	return a.askedAt(r)
}

// askedAt is where a request says that it was sent to.
func (a *API) askedAt(r *http.Request) string {
	if a.OnTLS(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Reachable returns the addresses by which others may reach this server, the likeliest first; none where they are not known.
func (a *API) Reachable(r *http.Request) []string {
	return reachable(a.BaseURL(r), a.cfg.Listen, a.machine(r))
}

// Offered returns the addresses that the installation may be given, the likeliest first: the one that the
// request came to, or where that is of this computer alone, those of the machine.
func (a *API) Offered(r *http.Request) []string {
	return reachable(a.askedAt(r), a.cfg.Listen, a.machine(r))
}

// machine returns the addresses of this machine, none for a request from the internet: they are about the
// network behind it.
func (a *API) machine(r *http.Request) (list []netip.Addr) {
	if from := a.ClientAddr(r); !from.IsLoopback() && !from.IsPrivate() {
		return nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil { // then none is offered
		return nil
	}
	for _, x := range all {
		if p, err := netip.ParsePrefix(x.String()); err == nil {
			list = append(list, p.Addr())
		}
	}
	return list
}

// reachable returns the addresses of a service that was asked at base and listens at listen,
// on a machine with these addresses.
func reachable(base, listen string, machine []netip.Addr) []string {
	const most = 8
	u, err := url.Parse(base)
	if err != nil {
		return []string{}
	}
	if !rimewatch.OnlyHere(u.Hostname()) {
		return []string{base}
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host != "" && host != "0.0.0.0" && host != "::" && rimewatch.OnlyHere(host) {
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
