package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/client"
)

// misfit is a server that does not fit the cluster, and what it says.
type misfit struct {
	name, want    string
	store         string // default: that of the nodes
	secret        string // default: theirs
	args          []string
	before, after string // what the database is told
}

// refuse has what does not fit refused in plain words.
func (c *cluster) refuse() {
	t := c.t
	execute := func(t *testing.T, statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if err := c.database.Exec("postgres", statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	execute(t, "CREATE ROLE weak LOGIN", "CREATE ROLE reader LOGIN", "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader", "ALTER ROLE reader SET default_transaction_read_only = on",
		"CREATE DATABASE other")
	misfits := c.misfits()
	t.Run("as it is", func(t *testing.T) {
		for _, x := range misfits {
			if x.before == "" {
				t.Run(x.name, func(t *testing.T) { t.Parallel(); c.refused(t, &x) })
			}
		}
	})
	for _, x := range misfits {
		if x.before == "" {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			if statement, other := strings.CutPrefix(x.before, "-- other: "); other {
				if err := c.database.Exec("other", statement); err != nil {
					t.Fatal(err)
				}
			} else {
				execute(t, x.before)
				defer execute(t, x.after)
			}
			c.refused(t, &x)
		})
	}
	c.awaitAll(clusterNodes) // a full database did not let them say that they are there
	c.status()
	// The internal listener believes nobody who does not know the secret.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.nodes[0].peer+"/api/v1/devices", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.tokens[0])
	r.Header.Set("X-Rimewatch-Cluster-Shard", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a stranger gets %s", resp.Status)
	}
	// A revoked token is refused by every node.
	c.revoke(0)
}

// misfits are those that are tried.
func (c *cluster) misfits() []misfit {
	url := c.database.URL("postgres")
	peer := freeAddress(c.t)
	node := []string{"--cluster-listen", peer, "--cluster-url", "http://" + peer}
	return []misfit{
		{name: "another secret", want: "another --cluster-secret", secret: "another secret of nodes", args: node},
		{name: "a short secret", want: "16 characters", secret: "short", args: node},
		{name: "no URL", want: "--cluster-url", args: []string{"--cluster-listen", "127.0.0.1:0"}},
		{name: "no node", want: "--cluster-listen", secret: "-"},
		{name: "MQTT", want: "--mqtt-listen", args: append([]string{"--mqtt-listen", "127.0.0.1:0"}, node...)},
		{name: "a long hold", want: "--cluster-hold", args: append([]string{"--cluster-hold", "1h"}, node...)},
		{name: "too many shards", want: "--cluster-shards", args: append([]string{"--cluster-shards", "257"}, node...)},
		{name: "another number of shards", want: "cluster divide --shards 9", args: append([]string{"--cluster-shards", "9"}, node...)},
		{
			name: "another version", want: "version", args: node,
			before: "UPDATE rimewatch SET version = version + 1", after: "UPDATE rimewatch SET version = version - 1",
		},
		{
			name: "a full database", want: "No space left", args: node,
			before: fullDisk + "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON node FOR EACH ROW EXECUTE FUNCTION full_disk()", after: "DROP FUNCTION full_disk CASCADE",
		},
		{name: "no privileges", want: "lacks privileges", store: strings.Replace(url, "postgres@", "weak@", 1), args: node},
		{name: "no privileges in a fresh database", want: "lacks privileges", store: strings.Replace(c.database.URL("other"), "postgres@", "weak@", 1), args: node},
		{name: "a primary that was demoted", want: "read-only", store: strings.Replace(url, "postgres@", "reader@", 1), args: node},
		{name: "a parameter with a typo", want: "parameter that PostgreSQL does not know", store: url + "&applikation_name=x", args: node},
		{name: "another kind of server", want: "unknown target_session_attrs", store: hiddenPassword(url) + "&target_session_attrs=read-wrte", args: node},
		{name: "a port with a typo", want: "--store", store: strings.Replace(hiddenPassword(url), c.database.Address(), "127.0.0.1:x5432", 1), args: node},
		{name: "another scheme", want: "--store", store: "mysql://127.0.0.1/x", args: node},
		{name: "nobody listens", want: "connect", store: "postgres://postgres@127.0.0.1:1/postgres", args: node},
		{name: "tables of somebody else", want: "of its own", store: c.database.URL("other"), args: node, before: "-- other: CREATE TABLE somebody (x int)"},
	}
}

// password must not be said.
const password = "hunter22"

// hiddenPassword adds it to a connection string.
func hiddenPassword(url string) string {
	return strings.Replace(url, "postgres@", "postgres:"+password+"@", 1)
}

// refused starts a server, which ends and says why.
func (c *cluster) refused(t *testing.T, x *misfit) {
	store, secret := x.store, x.secret
	if store == "" {
		store = c.database.URL("postgres")
	}
	switch secret {
	case "":
		secret = clusterSecret
	case "-":
		secret = ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--store", store}, x.args...)...)
	cmd.Env = append(os.Environ(), "RIMEWATCH_CLUSTER_SECRET="+secret)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), x.want) || strings.Contains(string(out), "panic") {
		t.Errorf("it says %q, %v: not %q", out, err, x.want)
	}
	if secret != "" && strings.Contains(string(out), secret) || strings.Contains(string(out), password) {
		t.Errorf("it says the secret: %s", out)
	}
}

// status: an operator is told which nodes there are, and who serves which shard since when.
func (c *cluster) status() {
	c.t.Helper()
	out, err := exec.Command(c.bin, "cluster", "status", "--store", c.database.URL("postgres")).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	for _, m := range c.nodes {
		there := regexp.MustCompile(fmt.Sprintf(`(?m)^(\S+/%d/\S+) +http://%s +there, since 2\S+ \S+, (\d) shards?$`, m.p.cmd.Process.Pid, regexp.QuoteMeta(m.peer))).FindSubmatch(out)
		if there == nil {
			c.t.Errorf("it does not say that the node %s is there: %s", m.peer, out)
			continue
		}
		serves := regexp.MustCompile(fmt.Sprintf(`(?m)^shard \d +%s, since 2\S+ \S+$`, regexp.QuoteMeta(string(there[1])))).FindAll(out, -1)
		if len(serves) == 0 || strconv.Itoa(len(serves)) != string(there[2]) {
			c.t.Errorf("%s serves %d shards: %s", m.peer, len(serves), out)
		}
	}
}

// revoke revokes the token of a workspace: all nodes refuse it, and sockets through
// any of them end.
func (c *cluster) revoke(workspace int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	device := c.devices[workspace]
	var open, ended sync.WaitGroup
	for i := range c.nodes {
		open.Add(1)
		opened := sync.OnceFunc(open.Done)
		ended.Go(func() {
			defer opened()
			for e, err := range c.client(device, i, nil).Stream(ctx, client.Subscription{Channel: client.ChannelReadings}) {
				if err != nil && client.StatusOf(err) != http.StatusUnauthorized && !strings.Contains(err.Error(), "unauthenticated") {
					c.t.Errorf("a socket through node %d ends with %v", i, err)
				}
				if e.Kind == client.Subscribed {
					opened()
				}
			}
		})
	}
	open.Wait()
	out, err := exec.Command(c.bin, "token", "revoke", c.tokens[workspace], "--workspace", fmt.Sprint("W", workspace), "--data", c.t.TempDir(), "--store", c.database.URL("postgres")).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v", out, err)
	}
	begun := time.Now()
	for i := range c.nodes {
		for {
			_, err := c.client(device, i, once).Device(ctx, device.serial)
			if client.StatusOf(err) == http.StatusUnauthorized {
				break
			}
			if ctx.Err() != nil {
				c.t.Fatalf("node %d answers %v after the token was revoked", i, err)
			}
		}
	}
	refused := time.Since(begun)
	ended.Wait()
	c.t.Logf("after the token was revoked: refused by all nodes %v, all sockets closed %v", refused, time.Since(begun))
}
