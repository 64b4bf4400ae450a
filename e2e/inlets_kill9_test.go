package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// inletsHouse is a service with sources, which is killed and started again.
type inletsHouse struct {
	bin, data, token string
	mqtt, broker     string // addresses
	url              string // of the server that runs now
	key              string
	gauges           []*gauge
}

// gauge is a device that sends through one inlet. What it sends has growing times
// and a value that says which it is.
type gauge struct {
	serial string
	send   func(ctx context.Context, at rimewatch.Time, temp float64) error
	last   rimewatch.Time
	sent   map[rimewatch.Time]*gauged
}

type gauged struct {
	temp         float64
	acknowledged bool
}

// TestKill9Inlets kills a server again and again while devices send by webhook,
// Influx line protocol, MQTT and through a broker: what was acknowledged is stored
// exactly once, and nothing that was not sent. What the broker has acknowledged
// arrives, although the server was away.
func TestKill9Inlets(t *testing.T) {
	trial.NeedsAll(t)
	n := rounds(t)
	h := newInletsHouse(t)
	var starts []rimewatch.Time
	for round := 1; round <= n; round++ {
		p := h.start(t)
		if round > 2 {
			h.verify(t, "", starts[round-3]) // the last two rounds
		}
		starts = append(starts, rimewatch.TimeOf(time.Now()))
		ctx, cancel := context.WithCancel(t.Context())
		var load, first sync.WaitGroup
		for _, g := range h.gauges {
			first.Add(1)
			load.Go(func() { g.drive(ctx, sync.OnceFunc(first.Done)) })
		}
		select {
		case <-time.After(time.Duration(300+round*97%900) * time.Millisecond):
		case err := <-p.done:
			t.Fatalf("the server ended by itself: %v\n%s", err, p.err.String())
		}
		first.Wait()
		p.kill()
		cancel()
		load.Wait()
		if text := p.err.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic") {
			t.Fatal(text)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	p := h.start(t)
	h.verify(t, "broker", 0) // what the broker has kept comes
	counts := make(map[string]int)
	for _, g := range h.gauges {
		kind, _, _ := strings.Cut(g.serial, "-")
		for _, s := range g.sent {
			if s.acknowledged {
				counts[kind]++
			}
		}
	}
	for _, kind := range []string{"webhook", "lines", "mqtt", "broker"} {
		if counts[kind] < 10*n {
			t.Errorf("%s: only %d acknowledged in %d rounds: the load is no load", kind, counts[kind], n)
		}
	}
	t.Logf("%d rounds, acknowledged: %v", n, counts)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("the last server ended with %v", err)
	}
}

// inletsPassword is the owner's.
const inletsPassword = "a long enough password"

// bareInletsHouse is one with an owner and a token.
func bareInletsHouse(t *testing.T) *inletsHouse {
	h := &inletsHouse{bin: program(t), data: filepath.Join(t.TempDir(), "data"), mqtt: freeAddress(t)}
	run := func(stdin string, args ...string) string {
		c := exec.Command(h.bin, append(args, "--data", h.data)...)
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run(inletsPassword, "user", "add", "--workspace", "W", "--create", "--role", "owner", "--name", "O", "--password-stdin", "o@example.com")
	h.token = run("", "token", "create", "--workspace", "W", "--name", "t", "--scopes", "admin")
	return h
}

func newInletsHouse(t *testing.T) *inletsHouse {
	h := bareInletsHouse(t)
	h.broker = mosquitto(t, "max_queued_messages 0")
	p := h.start(t)
	defer p.kill()
	cookie := h.signIn(t, inletsPassword)
	h.key = h.source(t, cookie, `{"name":"in","on_unknown":"register"}`)
	h.source(t, cookie, fmt.Sprintf(`{"kind":"mqtt","name":"broker","on_unknown":"register","broker":{"url":"mqtt://%s","topics":["zigbee2mqtt/#"]}}`, h.broker))
	for i := range 4 {
		h.gauges = append(h.gauges, h.webhook(i), h.lines(i), h.publisher(i, "mqtt", h.mqtt), h.publisher(i, "broker", h.broker))
	}
	// The broker keeps for us from the moment that we have subscribed.
	c, err := client.New(h.url, h.token, nil)
	if err != nil {
		t.Fatal(err)
	}
	within(t, func() error {
		_, err := c.Device(t.Context(), "warm-up")
		if err != nil {
			_ = h.publisher(9, "broker", h.broker).named("warm-up").send(t.Context(), rimewatch.TimeOf(time.Now()), 4)
		}
		return err
	})
	return h
}

func (g *gauge) named(serial string) *gauge {
	g.serial = serial
	return g
}

// within waits for something that others do.
func within(t *testing.T, check func() error) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// mosquitto runs a broker with lines of its configuration.
func mosquitto(t *testing.T, lines ...string) (addr string) {
	t.Helper()
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		path = "/usr/sbin/mosquitto"
	}
	addr = freeAddress(t)
	host, port, _ := net.SplitHostPort(addr)
	conf := filepath.Join(t.TempDir(), "mosquitto.conf")
	text := "listener " + port + " " + host + "\nallow_anonymous true\nuser root\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "-c", conf)
	c.Dir = filepath.Dir(conf) // where it keeps what is persistent
	if err := c.Start(); err != nil {
		t.Fatalf("this test needs a broker: apt-get install mosquitto: %v", err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	within(t, func() error {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	return addr
}

func (h *inletsHouse) start(t *testing.T) *process {
	t.Helper()
	p, url, _, err := launch("", h.bin, os.Environ(), []string{"serve", "--listen", "127.0.0.1:0", "--mqtt-listen", h.mqtt, "--outbound-allow", "127.0.0.0/8",
		"--seal-after", "300ms", "--head-memory", "1", "--data", h.data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	h.url = url
	return p
}

func (h *inletsHouse) signIn(t *testing.T, password string) string {
	t.Helper()
	resp, err := http.Post(h.url+"/api/v1/auth/sign-in", "application/json", strings.NewReader(`{"email":"o@example.com","password":"`+password+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if len(resp.Cookies()) == 0 {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("sign in: %s %s", resp.Status, b)
	}
	return resp.Cookies()[0].String()
}

// source makes a source and returns its key.
func (h *inletsHouse) source(t *testing.T, cookie, body string) string {
	t.Helper()
	var answer struct{ Key string }
	h.asOwner(t, cookie, http.MethodPost, "/sources", body, http.StatusCreated, &answer)
	return answer.Key
}

// deleteSource deletes the source of a name, at once as programs do.
func (h *inletsHouse) deleteSource(t *testing.T, name string) {
	t.Helper()
	c, err := client.New(h.url, h.token, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Sources().List(t.Context())
	for _, s := range list {
		if s.Name == name {
			_, err = c.Call(t.Context(), client.Request{Method: http.MethodDelete, Path: fmt.Sprintf("/sources/%d", s.ID)})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// asOwner sends a request as a browser does, and decodes the data of its answer.
func (h *inletsHouse) asOwner(t *testing.T, cookie, method, path, body string, want int, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Data json.RawMessage }
	b, _ := io.ReadAll(resp.Body)
	if err := json.Unmarshal(b, &answer); err != nil || resp.StatusCode != want {
		t.Fatalf("%s %s: %s %s", method, path, resp.Status, b)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, b)
	}
}

// post sends a body and wants one reading of it stored.
func (h *inletsHouse) post(ctx context.Context, path, body, authorization string, want int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != want || bytes.Contains(b, []byte(`"accepted":0`))) {
		err = fmt.Errorf("%s %s", resp.Status, b)
	}
	return err
}

// webhook sends as ChirpStack does.
func (h *inletsHouse) webhook(i int) *gauge {
	serial := fmt.Sprintf("webhook-%d", i)
	return &gauge{serial: serial, sent: make(map[rimewatch.Time]*gauged), send: func(ctx context.Context, at rimewatch.Time, temp float64) error {
		body := fmt.Sprintf(`{"deduplicationId":"3ac7e3c4","time":%q,"deviceInfo":{"tenantName":"t","deviceName":"Freezer","devEui":%q},"fPort":85,"object":{"temperature":%g,"battery":92},"rxInfo":[{"gatewayId":"0016c001f1500812","rssi":-48}]}`,
			at.String(), serial, temp)
		return h.post(ctx, "/in/"+h.key+"?event=up", body, "", http.StatusOK)
	}}
}

// lines sends as Telegraf does.
func (h *inletsHouse) lines(i int) *gauge {
	serial := fmt.Sprintf("lines-%d", i)
	return &gauge{serial: serial, sent: make(map[rimewatch.Time]*gauged), send: func(ctx context.Context, at rimewatch.Time, temp float64) error {
		body := fmt.Sprintf("modbus,host=pi,name=%s,type=holding_register temperature=%g %d\n", serial, temp, int64(at)*1e6)
		return h.post(ctx, "/api/v2/write?org=o&bucket=b", body, "Token "+h.key, http.StatusNoContent)
	}}
}

// publisher publishes as Zigbee2MQTT does, at QoS 1.
func (h *inletsHouse) publisher(i int, kind, addr string) *gauge {
	g := &gauge{serial: fmt.Sprintf("%s-%d", kind, i), sent: make(map[rimewatch.Time]*gauged)}
	var c net.Conn
	var r *bufio.Reader
	publish := func(at rimewatch.Time, temp float64) (err error) {
		if c == nil {
			if c, r, err = h.connect(addr, g.serial); err != nil {
				return err
			}
		}
		topic, payload := "zigbee2mqtt/"+g.serial, fmt.Sprintf(`{"battery":97,"last_seen":%d,"linkquality":120,"temperature":%g}`, int64(at), temp)
		packet := append([]byte{0x32, byte(4 + len(topic) + len(payload))}, 0, byte(len(topic)))
		packet = append(append(append(packet, topic...), 0, 1), payload...)
		answer := make([]byte, 4)
		if _, err = c.Write(packet); err == nil {
			_, err = io.ReadFull(r, answer)
		}
		if err != nil || answer[0] != 0x40 {
			_ = c.Close()
			c = nil
			return fmt.Errorf("PUBACK %x: %w", answer, err)
		}
		return nil
	}
	g.send = func(_ context.Context, at rimewatch.Time, temp float64) error {
		open := c != nil
		err := publish(at, temp)
		if err != nil && open { // to a server that was killed since, as it turns out
			err = publish(at, temp)
		}
		return err
	}
	return g
}

func (h *inletsHouse) connect(addr, id string) (net.Conn, *bufio.Reader, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	text := func(b []byte, s string) []byte { return append(append(b, 0, byte(len(s))), s...) }
	body := text(text(text(append(text(nil, "MQTT"), 4, 0xc2, 0, 60), id), "user"), h.key)
	if _, err := c.Write(append([]byte{0x10, byte(len(body))}, body...)); err != nil {
		return nil, nil, err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(c, answer); err != nil || answer[3] != 0 {
		return nil, nil, fmt.Errorf("CONNACK %x: %w", answer, err)
	}
	return c, bufio.NewReader(c), nil
}

// drive sends until ctx ends or it is not answered. It calls enough after a few
// answers, and at its end: a load has as many at least, however busy the machine is.
func (g *gauge) drive(ctx context.Context, enough func()) {
	defer enough()
	for n := 0; ctx.Err() == nil; n++ {
		if n == 3 {
			enough()
		}
		g.last = max(g.last+1, rimewatch.TimeOf(time.Now()))
		s := &gauged{temp: -float64(len(g.sent)%3000) / 100}
		g.sent[g.last] = s
		if err := g.send(ctx, g.last, s.temp); err != nil {
			return
		}
		s.acknowledged = true
		select { // a broker keeps what we cannot keep up with, and the end waits for all of it
		case <-ctx.Done():
		case <-time.After(rand.N(pauseMS * time.Millisecond)):
		}
	}
}

// verify holds what is stored from a moment on against what was sent. What came through a broker is
// waited for where kind is "broker", and may still be on its way otherwise.
func (h *inletsHouse) verify(t *testing.T, kind string, from rimewatch.Time) {
	t.Helper()
	c, err := client.New(h.url, h.token, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range h.gauges {
		late := strings.HasPrefix(g.serial, "broker")
		if len(g.sent) == 0 {
			continue
		}
		if late && kind == "broker" {
			within(t, func() error { return g.verify(t.Context(), c, from, true) })
			continue
		}
		if err := g.verify(t.Context(), c, from, !late); err != nil {
			t.Errorf("%s: %v", g.serial, err)
		}
	}
}

func (g *gauge) verify(ctx context.Context, c *client.Client, from rimewatch.Time, complete bool) error {
	found, err := stored(ctx, c, g.serial, from, g.sent, func(s *gauged, r *client.StoredReading) bool {
		return r.ProductZoneTemp != nil && *r.ProductZoneTemp == s.temp
	})
	if client.StatusOf(err) == http.StatusNotFound && !complete {
		return nil
	}
	if err != nil {
		return err
	}
	for at, s := range g.sent {
		if complete && at >= from && s.acknowledged && !found[at] {
			return fmt.Errorf("%s was acknowledged and is lost", at)
		}
	}
	return nil
}
