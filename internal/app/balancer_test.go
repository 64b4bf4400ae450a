package app_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

const (
	balancedWorkspaces = 20
	balancedTokens     = 300
)

// TestBalancer runs the HAProxy of the operators' page before three nodes: requests reach
// the node that serves their workspace, also after a node is gone, and no secret lies in
// what HAProxy remembers.
func TestBalancer(t *testing.T) {
	trial.NeedsLong(t)
	program, err := exec.LookPath("haproxy")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/haproxy"); err != nil {
			t.Skip("the lines for HAProxy are not tried: apt-get install haproxy")
		}
	}
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	var nodes []*app.Node
	var hosts []string
	for range 3 {
		n, _ := startNode(t, database.URL("postgres"), 16, func(c *app.Config) {
			c.RateLimit = 0
			hosts = append(hosts, strings.TrimPrefix(c.ClusterURL, "http://"))
		})
		nodes = append(nodes, n)
	}
	await(t, "the nodes do not share the shards", func() bool {
		sum := 0
		for _, n := range nodes {
			shards, _ := strconv.Atoi(figure(t, n, "rimewatch_cluster_shards"))
			if sum += shards; shards < 5 {
				return false
			}
		}
		return sum == 16
	})
	tokens := tokensOf(t, database.URL("postgres"))
	address, owners := balance(t, program, nodes, hosts)
	ask := func(n int) (direct float64) {
		before := forwarded(t, nodes)
		var asked atomic.Int64
		var senders sync.WaitGroup
		for i, token := range tokens {
			senders.Go(func() {
				for round := range n {
					send(t, address, token, fmt.Sprint("D-", i), round)
					asked.Add(1)
				}
			})
			if i%20 == 19 {
				senders.Wait()
			}
		}
		senders.Wait()
		return 1 - (forwarded(t, nodes)-before)/float64(asked.Load())
	}
	ask(2)
	if direct := ask(10); direct < 0.95 {
		t.Errorf("%.1f %% of requests reach the owner directly", 100*direct)
	} else {
		t.Logf("%.1f %% of requests reach the owner directly", 100*direct)
	}
	if err := nodes[0].Stop(); err != nil {
		t.Fatal(err)
	}
	nodes = nodes[1:]
	if direct := ask(20); direct < 0.95 {
		t.Errorf("%.1f %% of requests reach the owner directly after a node is gone", 100*direct)
	} else {
		t.Logf("%.1f %% of requests reach the owner directly after a node is gone", 100*direct)
	}
	remembered := owners()
	if n := strings.Count(remembered, "\n"); n < balancedTokens {
		t.Errorf("HAProxy remembers %d owners", n)
	}
	for _, token := range tokens {
		if strings.Contains(remembered, token) {
			t.Fatal("a token lies in HAProxy's memory")
		}
	}
}

// tokensOf makes workspaces with tokens.
func tokensOf(t *testing.T, url string) (tokens []string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, ControlOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	accounts, now := account.New(account.Config{Store: s}), rimewatch.TimeOf(time.Now())
	for i := range balancedTokens {
		w, err := accounts.FindWorkspace(t.Context(), fmt.Sprint("W", i%balancedWorkspaces), true, now)
		if err != nil {
			t.Fatal(err)
		}
		_, plain, err := accounts.CreateToken(t.Context(), account.Operator(w.ID), account.TokenRequest{Name: fmt.Sprint("T", i), Scopes: rimewatch.ScopesFull}, now)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, plain)
	}
	return tokens
}

// send posts a reading, or asks for a device, and reports what is not answered.
func send(t *testing.T, address, token, serial string, round int) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/devices?per_page=1", nil)
	if round%2 == 0 {
		body := fmt.Sprintf(`{"device_serial":%q,"recorded_at":%q,"ambient_temp":20}`, serial, time.Now().UTC().Format(time.RFC3339Nano))
		r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/api/v1/readings", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode/100 != 2 || resp.Header.Get("Rimewatch-Node") != "" {
		t.Errorf("%s %v %s", resp.Status, resp.Header, text)
	}
}

// forwarded is how many requests the nodes have passed on.
func forwarded(t *testing.T, nodes []*app.Node) (sum float64) {
	t.Helper()
	for _, n := range nodes {
		v, err := strconv.ParseFloat(figure(t, n, "rimewatch_cluster_forwarded_total"), 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum
}

// balance starts HAProxy as the operators' page has it. owners returns what it remembers.
func balance(t *testing.T, program string, nodes []*app.Node, hosts []string) (address string, owners func() string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations-cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile("(?s)```haproxy\n(.*?)```").FindSubmatch(page)
	if lines == nil {
		t.Fatal("the page has no lines for HAProxy")
	}
	dir := t.TempDir()
	address = freeAddress(t)
	change := []string{"/etc/haproxy/owners.map", filepath.Join(dir, "owners.map"), "bind :8080", "bind " + address}
	for i, n := range nodes {
		change = append(change, fmt.Sprintf("10.0.0.%d:8090", i+1), hosts[i], fmt.Sprintf("10.0.0.%d:8080", i+1), n.Addr())
	}
	text := "global\n    stats socket " + filepath.Join(dir, "socket") + "\n" + strings.NewReplacer(change...).Replace(string(lines[1]))
	for name, text := range map[string]string{"owners.map": "", "haproxy.cfg": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	said := &syncBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String(), text)
		}
	})
	await(t, "HAProxy does not answer", func() bool {
		resp, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
	return address, func() string {
		return askSocket(t, filepath.Join(dir, "socket"), "show map "+filepath.Join(dir, "owners.map"))
	}
}

// askSocket asks HAProxy.
func askSocket(t *testing.T, path, command string) string {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintln(c, command); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
