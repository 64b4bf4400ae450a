package app_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
)

func TestMain(m *testing.M) {
	// The authority of TestCertificateByItself has no end.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/letsencrypt/pebble/v2/va.VAImpl.processTasks"))
}

var fixedNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// start runs a server on a fresh directory with a token and one device, D-1.
func start(t *testing.T, dir string) (*app.App, string) {
	t.Helper()
	a := serving(t, within(dir), by(func() time.Time { return fixedNow }), func(c *app.Config) { c.RateLimit, c.AuthRateLimit = 6000, 20 })
	now := rimewatch.TimeOf(fixedNow)
	w, err := a.Accounts.FindWorkspace(t.Context(), "W", true, now)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := a.Accounts.CreateToken(t.Context(), account.Operator(w.ID), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull}, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Ingest.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: w.ID, Serial: "D-1", Name: "D", EquipmentType: "other"})
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeSerialTaken {
		t.Fatal(err)
	}
	return a, token
}

// exchange sends raw bytes on one connection and reads n answers.
func exchange(t *testing.T, addr, raw string, n int) []string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	var out []string
	for range n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			out = append(out, "closed")
			break
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		fmt.Fprintln(&b, resp.Proto, resp.StatusCode)
		for _, h := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Ratelimit", "Ratelimit-Policy", "Retry-After", "Www-Authenticate", "Allow"} {
			if v := resp.Header.Values(h); len(v) > 0 {
				fmt.Fprintln(&b, h, v)
			}
		}
		if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("Date") == "" {
			fmt.Fprintln(&b, "no id or date")
		}
		fmt.Fprintf(&b, "%s", requestID.ReplaceAll(body, []byte(`"request_id":"…"`)))
		out = append(out, b.String())
	}
	return out
}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// TestLaneAnswersLikeNetHTTP sends the same bytes to the short loop and to
// net/http: nobody can distinguish them.
func TestLaneAnswersLikeNetHTTP(t *testing.T) {
	lane, laneToken := start(t, t.TempDir())
	plain, plainToken := start(t, t.TempDir())
	yard := httptest.NewServer(plain.API)
	defer yard.Close()

	body := `{"device_serial":"d-1","product_zone_temp":-18.25,"humidity":40,"recorded_at":"2026-11-20T11:%02d:00Z"}`
	n := 0
	post := func(path, headers, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", path, headers, len(body), body)
	}
	auth := "Authorization: Bearer TOKEN\r\n"
	jsonType := "Content-Type: application/json\r\n"
	fresh := func() string { n++; return fmt.Sprintf(body, n) }
	good := func() string { return post("/api/v1/readings", auth+jsonType, fresh()) }
	twice := good()
	for _, c := range []struct {
		name, raw string
		answers   int
	}{
		{"a reading", good(), 1},
		{"three in one go", good() + good() + good(), 3},
		{"the same twice", twice + twice, 2},
		{"lower case headers, more of them", post("/api/v1/readings", "authorization: bearer TOKEN\r\ncontent-type: application/json\r\nuser-agent: x\r\nx-request-id: abc-1\r\naccept: */*\r\nx-forwarded-for: 1.2.3.4\r\n", fresh()), 1},
		{"charset", post("/api/v1/readings", auth+"Content-Type: application/json; charset=utf-8\r\n", fresh()), 1},
		{"another header", post("/api/v1/readings", auth+jsonType+"X-Custom: 1\r\n", fresh()), 1},
		{"close", post("/api/v1/readings", auth+jsonType+"Connection: close\r\n", fresh()) + good(), 2},
		{"expect", "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\n" + auth + jsonType + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"dev\r\n0\r\n\r\n" + good(), 2},
		{"two lengths", post("/api/v1/readings", auth+jsonType+"Content-Length: 5\r\n", fresh()), 1},
		{"no host", strings.Replace(good(), "Host: x\r\n", "", 1), 1},
		{"two hosts", strings.Replace(good(), "Host: x\r\n", "Host: x\r\nHost: y\r\n", 1), 1},
		{"space before the colon", strings.Replace(good(), "Host:", "Host :", 1), 1},
		{"folded header", strings.Replace(good(), "Host: x\r\n", "Host: x\r\n y\r\n", 1), 1},
		{"bare line feeds", strings.ReplaceAll(good(), "\r\n", "\n"), 1},
		{"HTTP/1.0", strings.Replace(good(), "HTTP/1.1", "HTTP/1.0", 1), 1},
		{"no token", post("/api/v1/readings", jsonType, fresh()), 1},
		{"bad token", post("/api/v1/readings", "Authorization: Bearer rw_no\r\n"+jsonType, fresh()), 1},
		{"two tokens", post("/api/v1/readings", auth+auth+jsonType, fresh()), 1},
		{"no type", post("/api/v1/readings", auth, fresh()), 1},
		{"bad JSON, then a good one", post("/api/v1/readings", auth+jsonType, "{") + good(), 2},
		{"unknown device", post("/api/v1/readings", auth+jsonType, `{"device_serial":"nobody","humidity":1}`) + good(), 2},
		{"unknown field", post("/api/v1/readings", auth+jsonType, `{"device_serial":"D-1","Humidity":1}`), 1},
		{"empty", post("/api/v1/readings", auth+jsonType, ""), 1},
		{"large", post("/api/v1/readings", auth+jsonType, `{"device_serial":"D-1","humidity":1`+strings.Repeat(" ", 9000)+`}`) + good(), 2},
		{"large headers", post("/api/v1/readings", auth+jsonType+"User-Agent: "+strings.Repeat("x", 5000)+"\r\n", fresh()), 1},
		{"a query", post("/api/v1/readings?x=1", auth+jsonType, fresh()), 1},
		{"another route, then a reading", "GET /api/v1/devices HTTP/1.1\r\nHost: x\r\n\r\n" + good(), 2},
		{"a reading, then another route", good() + "GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n" + auth + "\r\n", 2},
		{"wrong method", "GET /api/v1/readings HTTP/1.1\r\nHost: x\r\n" + auth + "\r\n", 1},
		{"no HTTP at all", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03hello\r\n\r\n", 1},
	} {
		mine := exchange(t, lane.Addr(), strings.ReplaceAll(c.raw, "TOKEN", laneToken), c.answers)
		theirs := exchange(t, strings.TrimPrefix(yard.URL, "http://"), strings.ReplaceAll(c.raw, "TOKEN", plainToken), c.answers)
		if d := cmp.Diff(theirs, mine); d != "" {
			t.Errorf("%s (-net/http +ours):\n%s", c.name, d)
		}
	}
}

// TestBytewise sends a request in every pair of pieces.
func TestBytewise(t *testing.T) {
	a, token := start(t, t.TempDir())
	body := `{"device_serial":"D-1","humidity":40}`
	raw := fmt.Sprintf("POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	c, err := net.Dial("tcp", a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for cut := 1; cut < len(raw); cut += 3 {
		for _, piece := range []string{raw[:cut], raw[cut:]} {
			if _, err := io.WriteString(c, piece); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusCreated || !bytes.Contains(answer, []byte(`"humidity":40`)) {
			t.Fatalf("cut at %d: %d %s %v", cut, resp.StatusCode, answer, err)
		}
	}
}

// TestStopDrains stops the server while many clients post: every answered
// reading is there after a restart, and nothing hangs.
func TestStopDrains(t *testing.T) {
	dir := t.TempDir()
	a, token := start(t, dir)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		acked int
		many  = make(chan struct{}) // closed when the service is busy with them
	)
	for w := range 8 {
		wg.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := range 100_000 {
				at := fixedNow.Add(-time.Duration(i*8+w) * time.Second)
				body := fmt.Sprintf(`{"device_serial":"D-1","humidity":40,"recorded_at":%q}`, at.Format(time.RFC3339))
				req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, a.URL()+"/api/v1/readings", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+token)
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusCreated {
					mu.Lock()
					if acked++; acked == 300 {
						close(many)
					}
					mu.Unlock()
				}
			}
		})
	}
	<-many
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	again, _ := start(t, dir)
	st, err := again.Store.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A few may have been stored whose answer met a closed connection.
	if st.StoredReadings < int64(acked) || st.StoredReadings > int64(acked+8) {
		t.Errorf("%d readings stored, %d acknowledged", st.StoredReadings, acked)
	}
}

func TestOneServerADirectory(t *testing.T) {
	dir := t.TempDir()
	start(t, dir)
	_, err := app.New(t.Context(), settings(t, within(dir)))
	if err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server on the directory: %v", err)
	}
}

// TestStoppedWhileStarting: a start that is to stop ends as any other stop does, and
// one that fails fails.
func TestStoppedWhileStarting(t *testing.T) {
	cfg := settings(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := app.Run(stopped, cfg); err != nil {
		t.Errorf("a start that is to stop: %v", err)
	}
	cfg.Policies = filepath.Join(cfg.Data, "nothing")
	if err := app.Run(t.Context(), cfg); err == nil {
		t.Error("a start that fails ends with no error")
	}
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	said := new(bytes.Buffer)
	cfg := settings(t, func(c *app.Config) { c.Listen, c.Logger = l.Addr().String(), slog.New(slog.NewTextHandler(said, nil)) })
	if err := app.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--listen "+cfg.Listen+": another program listens there") {
		t.Errorf("Run on a used address: %v", err)
	}
	if strings.Contains(said.String(), "code=") {
		t.Errorf("a page that nobody reaches is to be set up: %s", said)
	}
	serving(t, within(cfg.Data)) // it is free again
}
