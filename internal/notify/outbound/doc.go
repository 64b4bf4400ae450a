// Package outbound makes the connections to receivers that people configure:
// webhooks, messaging services, the watchdog. Who may configure a receiver could
// otherwise make this server speak to machines that only it can reach: itself,
// its neighbours, the metadata service of its cloud.
//
// A Guard decides at the moment of connecting, on the very address that is
// connected to. A name that resolves to something else a second later (DNS
// rebinding) gains nothing, nor does an address in disguise: IPv4 within IPv6,
// 6to4, NAT64. Redirects are not followed, proxies of the environment are not
// used, an exchange takes at most Timeout, and of an answer at most MaxBody is
// read.
package outbound
