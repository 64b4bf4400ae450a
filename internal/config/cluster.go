package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// leastSecret is how long the secret of a cluster is at least, in bytes.
const leastSecret = 16

// mostHold leaves a request time to be answered, before its connection is cut.
const mostHold = 20 * time.Second

// validateCluster never repeats the secret.
func (c *Serve) validateCluster() error {
	if c.ClusterListen == "" {
		if c.ClusterURL != "" || c.ClusterSecret != "" || c.ClusterCert != "" || c.ClusterKey != "" || c.ClusterCA != "" {
			return errors.New("--cluster-listen is missing beside other settings of a cluster")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(c.ClusterListen); err != nil {
		return fmt.Errorf("--cluster-listen %q: want HOST:PORT", c.ClusterListen)
	}
	scheme := "http"
	if c.ClusterCert != "" {
		scheme = "https"
	}
	u, err := url.Parse(c.ClusterURL)
	if err != nil || u.Scheme != scheme || u.Hostname() == "" || u.Port() == "" || u.Path != "" {
		return fmt.Errorf("--cluster-url %q: want %s://HOST:PORT", c.ClusterURL, scheme)
	}
	switch {
	case (c.ClusterCert == "") != (c.ClusterKey == "") || (c.ClusterCert == "") != (c.ClusterCA == ""):
		return errors.New("--cluster-cert, --cluster-key and --cluster-ca belong together")
	case c.Store == "":
		return errors.New("--cluster-listen needs --store: nodes share a database")
	case len(c.ClusterSecret) < leastSecret:
		return fmt.Errorf("--cluster-secret has %d characters or more", leastSecret)
	case c.ClusterShards < 0 || c.ClusterShards > 256:
		return errors.New("--cluster-shards is 1 to 256")
	case c.ClusterHold < 0 || c.ClusterHold > mostHold:
		return fmt.Errorf("--cluster-hold is 0 to %v", mostHold)
	case c.MQTTListen != "" || c.MQTTSListen != "":
		return errors.New("--mqtt-listen and --mqtts-listen do not work with --cluster-listen yet: a node takes in MQTT only from brokers of sources")
	case c.SetDamagedCommitsAside:
		return errors.New("--set-damaged-commits-aside does not work with --cluster-listen yet")
	}
	return nil
}
