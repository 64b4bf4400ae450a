package config

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sound() Serve {
	return Serve{Listen: "127.0.0.1:0", HeadMemory: 48, SealAfter: time.Hour, SMTPPort: 587, SMTPTLS: "starttls", WatchdogInterval: time.Minute}
}

// node makes it one of a cluster.
func node(c *Serve) {
	c.Store, c.ClusterListen, c.ClusterURL, c.ClusterSecret, c.ClusterShards = "postgres://db/x", "10.0.0.1:1", "http://10.0.0.1:1", strings.Repeat("x", leastSecret), 1
}

func TestNotificationSettings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Serve)
		want   string // part of the error, "" = sound
	}{
		{"none", func(*Serve) {}, ""},
		{"a node", node, ""},
		{"mail", func(c *Serve) { c.SMTPHost, c.SMTPFrom = "mail.example.com", "Rimewatch <alerts@example.com>" }, ""},
		{"mail at an IPv6 address", func(c *Serve) { c.SMTPHost, c.SMTPFrom = "::1", "alerts@example.com" }, ""},
		{"signed in", func(c *Serve) {
			c.SMTPHost, c.SMTPFrom, c.SMTPUser, c.SMTPPassword = "m", "a@example.com", "u", "p"
		}, ""},
		{"user without password", func(c *Serve) { c.SMTPHost, c.SMTPFrom, c.SMTPUser = "m", "a@example.com", "u" }, "--smtp-password"},
		{"no sender", func(c *Serve) { c.SMTPHost = "m" }, "--smtp-from"},
		{"sender with a line break", func(c *Serve) { c.SMTPHost, c.SMTPFrom = "m", "a@example.com\r\nBcc: b@example.com" }, "--smtp-from"},
		{"no host", func(c *Serve) { c.SMTPFrom = "a@example.com" }, "--smtp-host"},
		{"host with port", func(c *Serve) { c.SMTPHost, c.SMTPFrom = "m:25", "a@example.com" }, "--smtp-host"},
		{"port", func(c *Serve) { c.SMTPHost, c.SMTPFrom, c.SMTPPort = "m", "a@example.com", 70000 }, "--smtp-port"},
		{"networks", func(c *Serve) { c.OutboundAllow = []string{"10.1.0.0/16", "::1"} }, ""},
		{"no network", func(c *Serve) { c.OutboundAllow = []string{"example.com"} }, "--outbound-allow"},
		{"watchdog", func(c *Serve) { c.WatchdogURL = "https://watch.example.com/secret" }, ""},
		{"no URL", func(c *Serve) { c.WatchdogURL = "ftp://watch.example.com/secret" }, "--watchdog-url"},
		{"a certificate by itself", func(c *Serve) { c.TLSAuto, c.TLSAutoEmail = []string{"fridge.example.com"}, "ops@example.com" }, ""},
		{"for every name", func(c *Serve) { c.TLSAuto = []string{"*.example.com"} }, "--tls-auto"},
		{"for an address", func(c *Serve) { c.TLSAuto = []string{"192.0.2.1"} }, "--tls-auto"},
		{"for a name of this network alone", func(c *Serve) { c.TLSAuto = []string{"fridge"} }, "--tls-auto"},
		{"two certificates", func(c *Serve) { c.TLSAuto, c.TLSCert, c.TLSKey = []string{"a.example.com"}, "c", "k" }, "exclude"},
		{"an authority and no domain", func(c *Serve) { c.TLSAutoDirectory = "https://ca.example.com/dir" }, "--tls-auto"},
		{"no authority", func(c *Serve) { c.TLSAuto, c.TLSAutoDirectory = []string{"a.example.com"}, "ca.example.com" }, "--tls-auto-directory"},
		{"a certificate of a node without others", func(c *Serve) { node(c); c.ClusterCert, c.ClusterURL = "c", "https://10.0.0.1:1" }, "belong together"},
		{"nodes that speak TLS", func(c *Serve) {
			node(c)
			c.ClusterCert, c.ClusterKey, c.ClusterCA, c.ClusterURL = "c", "k", "a", "https://10.0.0.1:1"
		}, ""},
		{"and say that they do not", func(c *Serve) { node(c); c.ClusterCert, c.ClusterKey, c.ClusterCA = "c", "k", "a" }, "want https"},
		{"a certificate for no cluster", func(c *Serve) { c.ClusterCA = "a" }, "--cluster-listen"},
		{"a public URL with a query", func(c *Serve) { c.PublicURL = "https://cold.example.com/?a=1" }, "--public-url"},
		{"a public URL with a path", func(c *Serve) { c.PublicURL = "https://cold.example.com:8443/fridges" }, ""},
		{"a public URL with a user", func(c *Serve) { c.PublicURL = "https://u:p@cold.example.com" }, "--public-url"},
		{"a public URL without a host", func(c *Serve) { c.PublicURL = "https://:8080" }, "--public-url"},
		{"a port that is none", func(c *Serve) { c.PublicURL = "https://cold.example.com:99999" }, "1 to 65535"},
		{"a drain that ended before it began", func(c *Serve) { c.DrainPeriod = -time.Second }, "--drain-period"},
		{"sealed before it came", func(c *Serve) { c.SealAfter = -time.Hour }, "--seal-after"},
		{"sealed at once", func(c *Serve) { c.SealAfter = 0 }, "--seal-after"},
		{"a hasty watchdog without a URL", func(c *Serve) { c.WatchdogInterval = time.Second }, "--watchdog-interval"},
		{"a limit below nothing", func(c *Serve) { c.StreamLimit = -1 }, "--stream-limit"},
		{"hectic watchdog", func(c *Serve) { c.WatchdogURL, c.WatchdogInterval = "https://watch.example.com/secret", time.Second }, "--watchdog-interval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sound()
			c.change(&s)
			err := s.Validate()
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("error %v does not name %s", err, c.want)
			case err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\"p\"")):
				t.Fatalf("error %v tells a secret", err)
			}
		})
	}
}

func TestAllowedNetworks(t *testing.T) {
	s := sound()
	s.OutboundAllow = []string{"10.1.2.3/16", "192.168.0.7", "fd00::/8"}
	got, err := s.AllowedNetworks()
	if err != nil {
		t.Fatal(err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("192.168.0.7/32"), netip.MustParsePrefix("fd00::/8")}
	if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); d != "" {
		t.Fatal(d)
	}
}
