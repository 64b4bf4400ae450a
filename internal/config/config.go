// Package config holds every setting of the service in one struct, filled from
// flags and from the environment by the command line. No other package reads
// the environment.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"
)

// Serve are the settings of a server. Each flag has an environment variable of
// the same name, RIMEWATCH_ in front, in capitals.
type Serve struct {
	Data   string `group:"store" default:"./data" env:"RIMEWATCH_DATA" placeholder:"DIR" help:"Directory of the store. Made if it is missing."`
	Listen string `group:"network" default:"127.0.0.1:8080" env:"RIMEWATCH_LISTEN" placeholder:"ADDR" help:"Address to listen on."`

	PublicURL    string   `group:"network" env:"RIMEWATCH_PUBLIC_URL" placeholder:"URL" help:"How people reach the service, when a proxy stands before it."`
	TrustedProxy []string `group:"network" env:"RIMEWATCH_TRUSTED_PROXY" placeholder:"CIDR" help:"Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."`
	TLSCert      string   `group:"network" env:"RIMEWATCH_TLS_CERT" name:"tls-cert" placeholder:"FILE" help:"Certificate chain, PEM. Serves HTTPS."`
	TLSKey       string   `group:"network" env:"RIMEWATCH_TLS_KEY" name:"tls-key" placeholder:"FILE" help:"Key of the certificate, PEM."`

	RateLimit     int `group:"limits" default:"6000" env:"RIMEWATCH_RATE_LIMIT" placeholder:"N" help:"Requests a minute per token, ingest left out. 0 = no limit."`
	AuthRateLimit int `group:"limits" default:"20" env:"RIMEWATCH_AUTH_RATE_LIMIT" placeholder:"N" help:"Failed authentications a minute per address. 0 = no limit."`

	StreamLimit int `group:"limits" default:"200" env:"RIMEWATCH_STREAM_LIMIT" placeholder:"N" help:"WebSockets of one token or person at a time; ten times as many of one address. 0 = no limit."`

	MetricsToken string `group:"limits" env:"RIMEWATCH_METRICS_TOKEN" placeholder:"SECRET" help:"Bearer token for /metrics from other than loopback. Without it only loopback may."`
	Policies     string `group:"store" env:"RIMEWATCH_POLICIES" placeholder:"DIR" help:"Markdown files that replace the shipped policies."`

	HeadMemory  int64         `group:"store" default:"48" env:"RIMEWATCH_HEAD_MEMORY" placeholder:"MIB" help:"Memory for readings that are not sealed yet, MiB."`
	SealAfter   time.Duration `group:"store" default:"1h" env:"RIMEWATCH_SEAL_AFTER" placeholder:"D" help:"Age at which readings are sealed into chunks."`
	DrainPeriod time.Duration `group:"network" default:"10s" env:"RIMEWATCH_DRAIN_PERIOD" placeholder:"D" help:"How long running requests may take at a stop."`
	LogLevel    string        `group:"log" default:"info" enum:"debug,info,warn,error" env:"RIMEWATCH_LOG_LEVEL" placeholder:"LEVEL" help:"Least level that is logged: debug, info, warn or error."`
	LogFormat   string        `group:"log" default:"text" enum:"text,json" env:"RIMEWATCH_LOG_FORMAT" placeholder:"FORM" help:"Form of the log: text or json."`
}

// Validate tells what does not fit together.
func (c *Serve) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %q: want HOST:PORT", c.Listen)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return fmt.Errorf("--public-url %q: want http://HOST or https://HOST", c.PublicURL)
		}
	}
	if c.RateLimit < 0 || c.AuthRateLimit < 0 || c.StreamLimit < 0 {
		return errors.New("a limit is 0 or more")
	}
	if c.HeadMemory < 1 {
		return errors.New("--head-memory is at least 1 MiB")
	}
	_, err := c.Proxies()
	return err
}

// Proxies are the trusted proxies: single addresses or networks.
func (c *Serve) Proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range c.TrustedProxy {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("--trusted-proxy %q: want an address or a network such as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
