package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/client"
)

// TestClusterRefuses has what does not fit refused in plain words.
func TestClusterRefuses(t *testing.T) {
	c := newCluster(t)
	store := c.database.URL("postgres")
	for _, x := range []struct {
		name, want string
		env        string
		args       []string
	}{
		{"another secret", "another --cluster-secret", "another secret of nodes", []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1"}},
		{"a short secret", "16 characters", "short", []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1"}},
		{"no URL", "--cluster-url", clusterSecret, []string{"--cluster-listen", "127.0.0.1:0"}},
		{"no node", "--cluster-listen", "", nil},
		{"MQTT", "--mqtt-listen", clusterSecret, []string{"--cluster-listen", "127.0.0.1:0", "--cluster-url", "http://127.0.0.1:1", "--mqtt-listen", "127.0.0.1:0"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, c.bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--store", store}, x.args...)...)
			cmd.Env = append(os.Environ(), "RIMEWATCH_CLUSTER_SECRET="+x.env)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), x.want) {
				t.Errorf("it says %q, %v: not %q", out, err, x.want)
			}
		})
	}
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

// revoke revokes the token of a workspace through one node and asks all of them.
func (c *cluster) revoke(workspace int) {
	c.t.Helper()
	out, err := exec.Command(c.bin, "token", "revoke", c.tokens[workspace], "--workspace", fmt.Sprint("W", workspace), "--data", c.t.TempDir(), "--store", c.database.URL("postgres")).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v", out, err)
	}
	begun := time.Now()
	for i := range c.nodes {
		for {
			_, err := c.client(c.devices[workspace], i, once).Device(c.t.Context(), c.devices[workspace].serial)
			if client.StatusOf(err) == http.StatusUnauthorized {
				break
			}
			if time.Since(begun) > patience {
				c.t.Fatalf("node %d answers %v after the token was revoked", i, err)
			}
		}
	}
	c.t.Logf("refused by all nodes %v after the token was revoked", time.Since(begun))
}
