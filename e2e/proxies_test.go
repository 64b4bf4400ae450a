package e2e

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestProxies runs the blocks of docs/operations.md, with plain HTTP in the place of
// their certificates: a page's write and its stream get through, and the address of
// the browser does, too.
func TestProxies(t *testing.T) {
	trial.NeedsLong(t)
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	h := bareInletsHouse(t)
	p := h.start(t)
	defer p.kill()
	server := strings.TrimPrefix(h.url, "http://")
	for name, proxy := range map[string]struct {
		plain *strings.Replacer // makes the block one without TLS, at ADDRESS
		wrap  func(block string) string
		args  []string
	}{
		"nginx": {
			strings.NewReplacer("listen 443 ssl", "listen ADDRESS"),
			func(block string) string {
				return "daemon off; pid PWD/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off; client_body_temp_path PWD/b; proxy_temp_path PWD/p; fastcgi_temp_path PWD/f; uwsgi_temp_path PWD/u; scgi_temp_path PWD/s;\n" +
					regexp.MustCompile(`(?m)^\s*ssl_.*$`).ReplaceAllString(block, "") + "\n}"
			},
			[]string{"-c"},
		},
		"caddy":   {strings.NewReplacer("fridge.example.com", "http://ADDRESS"), func(block string) string { return "{\n  admin off\n}\n" + block }, []string{"run", "--adapter", "caddyfile", "--config"}},
		"haproxy": {strings.NewReplacer("bind :443 ssl crt /etc/ssl/fridge-with-key.pem", "bind ADDRESS", "X-Forwarded-Proto https", "X-Forwarded-Proto http"), func(block string) string { return block + "\n" }, []string{"-db", "-f"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, block, found := strings.Cut(string(text), "```"+name+"\n")
			if block, _, _ = strings.Cut(block, "\n```"); !found {
				t.Fatal("the page has no such block")
			}
			program, err := exec.LookPath(name)
			if err != nil {
				if program, err = exec.LookPath("/usr/sbin/" + name); err != nil {
					t.Skipf("this test needs %s: apt-get install %s", name, name)
				}
			}
			dir, address := t.TempDir(), freeAddress(t)
			settings := strings.NewReplacer("ADDRESS", address, "PWD", dir, "127.0.0.1:8080", server).Replace(proxy.wrap(proxy.plain.Replace(block)))
			file := filepath.Join(dir, "settings")
			if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(program, append(proxy.args, file)...)
			c.Stderr, c.Env = os.Stderr, append(os.Environ(), "HOME="+dir)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
			throughProxy(t, h, "http://"+address)
		})
	}
}

// throughProxy does what a page does that a proxy serves at url.
func throughProxy(t *testing.T, h *inletsHouse, url string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	do := func(method, path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", url)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s", method, path, answer.Status)
		}
	}
	do(http.MethodPost, "/auth/sign-in", `{"email":"o@example.com","password":"`+inletsPassword+`"}`)
	do(http.MethodPatch, "/me", `{"theme":"dark"}`)
	c, answer, err := websocket.Dial(t.Context(), url+"/api/v1/stream", &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"Origin": {url}}})
	if answer != nil && answer.Body != nil {
		defer answer.Body.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = c.CloseNow()
}
