// Package config holds every setting of the service in one struct, filled from
// flags and from the environment by the command line. No package of the
// service reads its settings elsewhere; libraries read what is theirs (the proxy variables,
// those of PostgreSQL).
package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Serve are the settings of a server. Each flag has an environment variable of
// the same name, RIMEWATCH_ in front, in capitals.
type Serve struct {
	Data   string `group:"store" default:"./data" env:"RIMEWATCH_DATA" placeholder:"DIR" help:"Data directory. Created if missing."`
	Store  string `group:"store" env:"RIMEWATCH_STORE" placeholder:"URL" help:"PostgreSQL database to use instead of a file in the data directory: postgres://USER@HOST/DATABASE. Prefer the environment variable if it holds a password."`
	Listen string `group:"network" default:"127.0.0.1:8080" env:"RIMEWATCH_LISTEN" placeholder:"ADDR" help:"Address to listen on."`

	MQTTListen  string `group:"network" env:"RIMEWATCH_MQTT_LISTEN" name:"mqtt-listen" placeholder:"ADDR" help:"Address for MQTT without TLS, such as :1883. Devices sign in with the key of a source as their password."`
	MQTTSListen string `group:"network" env:"RIMEWATCH_MQTTS_LISTEN" name:"mqtts-listen" placeholder:"ADDR" help:"Address for MQTT over TLS, such as :8883. Needs --tls-cert or --tls-auto."`

	ClusterListen string        `group:"network" env:"RIMEWATCH_CLUSTER_LISTEN" placeholder:"ADDR" help:"Address, such as 10.0.0.7:8090, for the other nodes of a cluster. Makes the server a node; needs --store, --cluster-url and --cluster-secret. Nobody else must be able to reach it."`
	ClusterURL    string        `group:"network" env:"RIMEWATCH_CLUSTER_URL" placeholder:"URL" help:"Where the other nodes reach --cluster-listen: http://HOST:PORT."`
	ClusterSecret string        `group:"network" env:"RIMEWATCH_CLUSTER_SECRET" placeholder:"SECRET" help:"Secret of at least 16 characters by which nodes recognise each other. Prefer the environment variable."`
	ClusterCert   string        `group:"network" env:"RIMEWATCH_CLUSTER_CERT" placeholder:"FILE" help:"Certificate of this node, PEM: nodes speak TLS to each other, and each shows its own. Its name is the host of --cluster-url."`
	ClusterKey    string        `group:"network" env:"RIMEWATCH_CLUSTER_KEY" placeholder:"FILE" help:"Key of the certificate, PEM."`
	ClusterCA     string        `group:"network" env:"RIMEWATCH_CLUSTER_CA" name:"cluster-ca" placeholder:"FILE" help:"Certificates, PEM, of the authority that has signed those of all nodes, and of nobody else."`
	ClusterShards int64         `group:"network" env:"RIMEWATCH_CLUSTER_SHARDS" placeholder:"N" help:"How many shards a new database is divided into, 1 to 256 (16 if not set): at most that many nodes share the work. A database that is divided differently is refused. See rimewatch cluster divide."`
	ClusterHold   time.Duration `group:"network" default:"5s" env:"RIMEWATCH_CLUSTER_HOLD" placeholder:"D" help:"How long a request waits when no node serves its workspace, before it is answered with 503. Must be less than your load balancer's timeout."`

	PublicURL    string   `group:"network" env:"RIMEWATCH_PUBLIC_URL" placeholder:"URL" help:"Public URL of the service, if it is behind a proxy."`
	TrustedProxy []string `group:"network" env:"RIMEWATCH_TRUSTED_PROXY" placeholder:"CIDR" help:"Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted."`
	TLSCert      string   `group:"network" env:"RIMEWATCH_TLS_CERT" name:"tls-cert" placeholder:"FILE" help:"Certificate chain, PEM. Serves HTTPS."`
	TLSKey       string   `group:"network" env:"RIMEWATCH_TLS_KEY" name:"tls-key" placeholder:"FILE" help:"Key of the certificate, PEM."`

	TLSAuto          []string `group:"network" env:"RIMEWATCH_TLS_AUTO" name:"tls-auto" placeholder:"DOMAIN" help:"Domain to get a certificate for automatically (ACME, Let's Encrypt). Serves HTTPS; listen on port 443, which the authority must reach. Using it accepts the authority's terms."`
	TLSAutoEmail     string   `group:"network" env:"RIMEWATCH_TLS_AUTO_EMAIL" name:"tls-auto-email" placeholder:"ADDR" help:"Address that the authority may write to about the certificates."`
	TLSAutoDirectory string   `group:"network" env:"RIMEWATCH_TLS_AUTO_DIRECTORY" name:"tls-auto-directory" placeholder:"URL" help:"ACME directory of another authority. Default: Let's Encrypt."`

	NoSandbox bool `group:"server" env:"RIMEWATCH_NO_SANDBOX" name:"no-sandbox" help:"Make no sandboxes: test workspaces with simulated devices, in which programs are tried."`

	OIDCIssuer       string   `group:"sign-in" env:"RIMEWATCH_OIDC_ISSUER" name:"oidc-issuer" placeholder:"URL" help:"OpenID Connect provider that people may sign in with. Needs --public-url."`
	OIDCClientID     string   `group:"sign-in" env:"RIMEWATCH_OIDC_CLIENT_ID" name:"oidc-client-id" placeholder:"ID" help:"Client ID at the provider. Its redirect URL is PUBLIC-URL/api/v1/auth/provider/callback."`
	OIDCClientSecret string   `group:"sign-in" env:"RIMEWATCH_OIDC_CLIENT_SECRET" name:"oidc-client-secret" placeholder:"SECRET" help:"Client secret at the provider. Prefer the environment variable: other users of the machine can see flags."`
	OIDCName         string   `group:"sign-in" default:"your organisation" env:"RIMEWATCH_OIDC_NAME" name:"oidc-name" placeholder:"NAME" help:"Name of the provider on the sign-in page."`
	OIDCScope        []string `group:"sign-in" env:"RIMEWATCH_OIDC_SCOPE" name:"oidc-scope" placeholder:"SCOPE" help:"Scopes to request besides openid, email and profile; some providers list groups only with the scope groups."`
	OIDCGroupsClaim  string   `group:"sign-in" default:"groups" env:"RIMEWATCH_OIDC_GROUPS_CLAIM" name:"oidc-groups-claim" placeholder:"NAME" help:"Claim that lists a person's groups."`
	OIDCTokenDays    int      `group:"sign-in" default:"30" env:"RIMEWATCH_OIDC_TOKEN_DAYS" name:"oidc-token-days" placeholder:"DAYS" help:"How long after somebody's last sign-in at the provider the tokens that they made do more than send readings: 2 to 3650 days."`
	OIDCRole         []string `group:"sign-in" env:"RIMEWATCH_OIDC_ROLE" name:"oidc-role" sep:";" placeholder:"GROUP=WORKSPACE/ROLE" help:"Role that members of a group have in a workspace. Separate several with semicolons, or repeat the flag."`

	RateLimit     int `group:"limits" default:"6000" env:"RIMEWATCH_RATE_LIMIT" placeholder:"N" help:"Requests per minute and token, not counting readings and heartbeats. 0 = no limit."`
	AuthRateLimit int `group:"limits" default:"20" env:"RIMEWATCH_AUTH_RATE_LIMIT" placeholder:"N" help:"Failed authentications per minute and address. 0 = no limit."`

	QuotaDevices int `group:"limits" default:"0" env:"RIMEWATCH_QUOTA_DEVICES" placeholder:"N" help:"Devices of a workspace. 0 = no limit."`
	QuotaSites   int `group:"limits" default:"10000" env:"RIMEWATCH_QUOTA_SITES" placeholder:"N" help:"Sites of a workspace. 0 = no limit."`
	QuotaTokens  int `group:"limits" default:"10000" env:"RIMEWATCH_QUOTA_TOKENS" placeholder:"N" help:"API tokens of a workspace that were not revoked. 0 = no limit."`
	QuotaMembers int `group:"limits" default:"5000" env:"RIMEWATCH_QUOTA_MEMBERS" placeholder:"N" help:"Members of a workspace, with those who are invited. 0 = no limit."`

	StreamLimit  int    `group:"limits" default:"200" env:"RIMEWATCH_STREAM_LIMIT" placeholder:"N" help:"Simultaneous WebSockets per token or user; ten times as many per address. 0 = no limit."`
	SMTPHost     string `group:"notifications" env:"RIMEWATCH_SMTP_HOST" name:"smtp-host" placeholder:"HOST" help:"Mail server. Leave empty to disable e-mail channels."`
	SMTPPort     int    `group:"notifications" default:"587" env:"RIMEWATCH_SMTP_PORT" name:"smtp-port" placeholder:"PORT" help:"Port of the mail server."`
	SMTPUser     string `group:"notifications" env:"RIMEWATCH_SMTP_USER" name:"smtp-user" placeholder:"NAME" help:"User name at the mail server. Leave empty to disable SMTP authentication."`
	SMTPPassword string `group:"notifications" env:"RIMEWATCH_SMTP_PASSWORD" name:"smtp-password" placeholder:"SECRET" help:"Password at the mail server. Prefer the environment variable: other users of the machine can see flags."`
	SMTPFrom     string `group:"notifications" env:"RIMEWATCH_SMTP_FROM" name:"smtp-from" placeholder:"ADDR" help:"Sender address, such as alerts@example.com or \"Rimewatch <alerts@example.com>\"."`
	SMTPTLS      string `group:"notifications" default:"starttls" enum:"starttls,tls,none" env:"RIMEWATCH_SMTP_TLS" name:"smtp-tls" placeholder:"HOW" help:"Encryption of the connection to the mail server: starttls, tls (usually port 465) or none."`

	OutboundAllow    []string      `group:"notifications" env:"RIMEWATCH_OUTBOUND_ALLOW" placeholder:"CIDR" help:"Private networks or addresses that webhooks, services and MQTT brokers may use. By default loopback, private and link-local addresses are refused."`
	WatchdogURL      string        `group:"notifications" env:"RIMEWATCH_WATCHDOG_URL" placeholder:"URL" help:"URL of an external watchdog, called as long as everything works. It can notify you when the calls stop."`
	WatchdogInterval time.Duration `group:"notifications" default:"1m" env:"RIMEWATCH_WATCHDOG_INTERVAL" placeholder:"D" help:"Interval between watchdog calls, 10s to 1h."`

	MetricsToken string `group:"limits" env:"RIMEWATCH_METRICS_TOKEN" placeholder:"SECRET" help:"Bearer token for /metrics. Leave empty to allow loopback only."`
	Policies     string `group:"store" env:"RIMEWATCH_POLICIES" placeholder:"DIR" help:"Directory of Markdown files that replace the built-in policies; those of another language in a folder such as es."`

	HeadMemory  int64         `group:"store" default:"48" env:"RIMEWATCH_HEAD_MEMORY" placeholder:"MIB" help:"Memory for readings that are not sealed yet, in MiB; at least 1 kB a device."`
	StateMemory int64         `group:"store" default:"0" env:"RIMEWATCH_STATE_MEMORY" placeholder:"MIB" help:"Memory for what is remembered of devices, in MiB; beyond it the quietest are read from the disk when they report. 0 = a quarter of the machine's memory; at most half of it is taken."`
	Threads     int           `group:"limits" default:"0" env:"RIMEWATCH_THREADS" placeholder:"N" help:"Threads that run Go code at a time. 0 = one more than processors, unless GOMAXPROCS, a control group or PostgreSQL has it otherwise."`
	SealAfter   time.Duration `group:"store" default:"1h" env:"RIMEWATCH_SEAL_AFTER" placeholder:"D" help:"Age at which readings are sealed into chunks."`
	// SetDamagedCommitsAside lets a server start whose log has damaged rows.
	SetDamagedCommitsAside bool `group:"store" env:"RIMEWATCH_SET_DAMAGED_COMMITS_ASIDE" help:"Start even if rows of the commit log are damaged. They are set aside, and data that only they held is lost; the log lists it."`

	DrainPeriod time.Duration `group:"network" default:"10s" env:"RIMEWATCH_DRAIN_PERIOD" placeholder:"D" help:"How long running requests may take during shutdown."`
	LogLevel    string        `group:"log" default:"info" enum:"debug,info,warn,error" env:"RIMEWATCH_LOG_LEVEL" placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error."`
	LogFormat   string        `group:"log" default:"text" enum:"text,json" env:"RIMEWATCH_LOG_FORMAT" placeholder:"FORM" help:"Log format: text or json."`
}

// Validate returns an error for settings that contradict each other.
func (c *Serve) Validate() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %q: want HOST:PORT", c.Listen)
	}
	if err := c.validateMQTT(); err != nil {
		return err
	}
	if err := CheckStore(c.Store); err != nil {
		return err
	}
	if err := c.validateCluster(); err != nil {
		return err
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if err := c.validateTLSAuto(); err != nil {
		return err
	}
	if err := c.validatePublicURL(); err != nil {
		return err
	}
	if err := c.validateOIDC(); err != nil {
		return err
	}
	if c.RateLimit < 0 || c.AuthRateLimit < 0 || c.StreamLimit < 0 || c.QuotaDevices < 0 || c.QuotaSites < 0 || c.QuotaTokens < 0 || c.QuotaMembers < 0 {
		return errors.New("--rate-limit, --auth-rate-limit, --stream-limit and --quota-…: want 0 or more")
	}
	if c.DrainPeriod < 0 {
		return fmt.Errorf("--drain-period %v: want 0s or more", c.DrainPeriod)
	}
	if c.SealAfter <= 0 {
		return fmt.Errorf("--seal-after %v: want more than 0s", c.SealAfter)
	}
	if c.HeadMemory < 1 {
		return errors.New("--head-memory is at least 1 MiB")
	}
	if c.StateMemory < 0 {
		return errors.New("--state-memory is 1 MiB or more, or 0 for a quarter of the machine's memory")
	}
	if c.Threads < 0 {
		return errors.New("--threads is 1 or more, or 0 for one more than processors")
	}
	if _, err := c.Proxies(); err != nil {
		return err
	}
	if err := c.validateMail(); err != nil {
		return err
	}
	return c.validateOutbound()
}

func (c *Serve) validatePublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	_, err := rimewatch.NormalAddress(c.PublicURL)
	var e *rimewatch.Error
	if errors.As(err, &e) { // the address is not repeated: there may be a password in it
		return fmt.Errorf("--public-url %s", e.Fields["address"][0])
	}
	return nil
}

func (c *Serve) validateMQTT() error {
	for _, x := range [][2]string{{"--mqtt-listen", c.MQTTListen}, {"--mqtts-listen", c.MQTTSListen}} {
		if _, _, err := net.SplitHostPort(x[1]); err != nil && x[1] != "" {
			return fmt.Errorf("%s %q: want HOST:PORT", x[0], x[1])
		}
	}
	if c.MQTTSListen != "" && c.TLSCert == "" && len(c.TLSAuto) == 0 {
		return errors.New("--mqtts-listen needs --tls-cert or --tls-auto")
	}
	return nil
}

func (c *Serve) validateTLSAuto() error {
	switch {
	case len(c.TLSAuto) == 0 && (c.TLSAutoEmail != "" || c.TLSAutoDirectory != ""):
		return errors.New("--tls-auto is missing beside other settings of it")
	case len(c.TLSAuto) > 0 && c.TLSCert != "":
		return errors.New("--tls-auto and --tls-cert exclude each other")
	}
	for _, d := range c.TLSAuto {
		if strings.ContainsAny(d, "*:/@ ") || !strings.Contains(strings.Trim(d, "."), ".") || net.ParseIP(d) != nil {
			return fmt.Errorf("--tls-auto %q: want a domain such as fridge.example.com", d)
		}
	}
	if c.TLSAutoEmail != "" {
		if _, err := mail.ParseAddress(c.TLSAutoEmail); err != nil {
			return fmt.Errorf("--tls-auto-email %q: want an e-mail address", c.TLSAutoEmail)
		}
	}
	if c.TLSAutoDirectory != "" {
		if u, err := url.Parse(c.TLSAutoDirectory); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return fmt.Errorf("--tls-auto-directory %q: want a URL", c.TLSAutoDirectory)
		}
	}
	return nil
}

// CheckStore reports why a --store cannot be meant: "" is the file in the data
// directory. It never repeats the URL, which may hold a password.
func CheckStore(store string) error {
	if store == "" || strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://") {
		return nil
	}
	return errors.New("--store: want postgres://USER@HOST/DATABASE, or nothing for a file in the data directory")
}

func (c *Serve) validateMail() error {
	if c.SMTPHost == "" {
		if c.SMTPUser != "" || c.SMTPPassword != "" || c.SMTPFrom != "" {
			return errors.New("--smtp-host is missing beside other settings of the mail server")
		}
		return nil
	}
	if c.SMTPPort < 1 || c.SMTPPort > 65535 {
		return fmt.Errorf("--smtp-port %d: want 1 to 65535", c.SMTPPort)
	}
	if strings.ContainsAny(c.SMTPHost, ":/ \t\r\n") && net.ParseIP(c.SMTPHost) == nil {
		return fmt.Errorf("--smtp-host %q: want a name or an address; the port is --smtp-port", c.SMTPHost)
	}
	if _, err := mail.ParseAddress(c.SMTPFrom); err != nil {
		return fmt.Errorf("--smtp-from %q: want an e-mail address", c.SMTPFrom)
	}
	if (c.SMTPUser == "") != (c.SMTPPassword == "") {
		return errors.New("--smtp-user and --smtp-password go together")
	}
	return nil
}

// validateOutbound never says the watchdog's URL: its path is its secret.
func (c *Serve) validateOutbound() error {
	if _, err := c.AllowedNetworks(); err != nil {
		return err
	}
	// Programs that set no URL set no interval either.
	if (c.WatchdogURL != "" || c.WatchdogInterval != 0) && (c.WatchdogInterval < 10*time.Second || c.WatchdogInterval > time.Hour) {
		return fmt.Errorf("--watchdog-interval %v: want 10s to 1h", c.WatchdogInterval)
	}
	if c.WatchdogURL == "" {
		return nil
	}
	u, err := url.Parse(c.WatchdogURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return errors.New("--watchdog-url: want an http or https URL")
	}
	return nil
}

// AllowedNetworks are the networks that receivers of notifications may be in
// although they are not public.
func (c *Serve) AllowedNetworks() ([]netip.Prefix, error) {
	return networks("--outbound-allow", c.OutboundAllow)
}

// Proxies are the trusted proxies: single addresses or networks.
func (c *Serve) Proxies() ([]netip.Prefix, error) {
	return networks("--trusted-proxy", c.TrustedProxy)
}

// networks reads single addresses and networks.
func networks(flag string, list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("%s %q: want an address or a network such as 10.0.0.0/8", flag, text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
