package app_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// broker is a Mosquitto of a test.
type broker struct {
	t         *testing.T
	dir, addr string
	cmd       *exec.Cmd
	log       bytes.Buffer
}

// newBroker runs a Mosquitto with further lines in its configuration.
func newBroker(t *testing.T, config ...string) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), addr: freeAddress(t)}
	host, port, _ := net.SplitHostPort(b.addr)
	lines := append([]string{"listener " + port + " " + host, "allow_anonymous true", "user root", "max_queued_messages 0", "persistence false"}, config...)
	if err := os.WriteFile(filepath.Join(b.dir, "mosquitto.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	b.cmd = exec.Command(command(b.t, "mosquitto", "mosquitto"), "-c", filepath.Join(b.dir, "mosquitto.conf"))
	b.cmd.Stderr = &b.log
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", b.addr)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("no broker: %v\n%s", err, b.log.String())
		}
	}
}

func (b *broker) stop() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// publish sends lines as messages of a topic, as one connection.
func (b *broker) publish(topic string, lines []string, more ...string) {
	b.t.Helper()
	host, port, _ := net.SplitHostPort(b.addr)
	args := append([]string{"-h", host, "-p", port, "-t", topic, "-q", "1", "-l"}, more...)
	c := exec.Command(command(b.t, "mosquitto_pub", "mosquitto-clients"), args...)
	c.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := c.CombinedOutput(); err != nil {
		b.t.Fatalf("publish: %v %s", err, out)
	}
}

func local(c *app.Config) { c.OutboundAllow = []string{"127.0.0.0/8"} }

// zigbee is what Zigbee2MQTT says of a sensor that has been told to add the time.
func zigbee(at time.Time, temp float64) string {
	return fmt.Sprintf(`{"battery":97,"humidity":61.2,"last_seen":%q,"linkquality":120,"temperature":%g,"voltage":3000}`, at.Format(time.RFC3339Nano), temp)
}

// brokerSource makes a source for a broker and returns the path of it.
func (h *house) brokerSource(url, more string) string {
	h.t.Helper()
	data := h.asOwner("POST", "/sources", fmt.Sprintf(`{"kind":"mqtt","name":"broker","on_unknown":"register","broker":{"url":%q,"topics":["zigbee2mqtt/#"]%s}}`, url, more), http.StatusCreated)
	return fmt.Sprintf("/sources/%.0f", data["source"].(map[string]any)["id"])
}

// status waits for what a source says of its broker.
func (h *house) status(path, status, problem string) map[string]any {
	h.t.Helper()
	var b map[string]any
	h.eventually(func() error {
		b = h.call("GET", path, "")["source"].(map[string]any)["broker"].(map[string]any)
		said, _ := b["problem"].(string)
		if b["status"] != status || !strings.Contains(said, problem) || (said == "") != (problem == "") {
			return fmt.Errorf("the broker's status: %v, want %s %q", b, status, problem)
		}
		return nil
	})
	return b
}

// TestBroker: messages of a Zigbee2MQTT at a real broker, over a restart of the
// broker and an absence of ours.
func TestBroker(t *testing.T) {
	trial.NeedsAll(t)
	b := newBroker(t)
	data := t.TempDir()
	at := func(c *app.Config) { c.Data = data }
	h := newHouse(t, local, at)
	now := time.Now().UTC().Truncate(time.Millisecond).Add(-2 * time.Hour)
	b.publish("zigbee2mqtt/old", []string{`{"temperature":1,"linkquality":1}`}, "-r") // nobody knows since when it lies there
	b.publish("zigbee2mqtt/older", []string{zigbee(now, 4)}, "-r")
	path := h.brokerSource("mqtt://"+b.addr, "")
	h.status(path, "connected", "")
	b.publish("zigbee2mqtt/freezer", []string{zigbee(now, -18), zigbee(now.Add(time.Second), -18.5), "not JSON, and too long for a plain value: " + strings.Repeat("x", 50)})
	h.eventually(func() error {
		if n := h.Sources.Counts.Accepted.Load(); n != 3 {
			return fmt.Errorf("%d readings, want 3", n)
		}
		return nil
	})
	if h.latest("freezer") != -18.5 || h.latest("older") != 4 || h.Sources.Counts.Retained.Load() != 1 {
		t.Errorf("freezer %v, older %v, %d retained", h.latest("freezer"), h.latest("older"), h.Sources.Counts.Retained.Load())
	}
	// A message that is too large does not come for ever, nor hold up those behind it.
	b.publish("zigbee2mqtt/huge", []string{strings.Repeat("x", 3<<20)})
	b.publish("zigbee2mqtt/freezer", []string{zigbee(now.Add(2*time.Second), -17)})
	h.eventually(func() error {
		if got := h.latest("freezer"); got != -17 {
			return fmt.Errorf("behind a large message: %v", got)
		}
		return nil
	})
	h.status(path, "connected", "zigbee2mqtt/huge was larger")
	b.stop()
	h.status(path, "failing", "refuses connections")
	b.start()
	h.status(path, "connected", "")

	// While the service is away the broker keeps what comes.
	h.must(h.Stop())
	var lines []string
	for i := range 3600 {
		lines = append(lines, zigbee(now.Add(time.Duration(i)*time.Second), -19))
	}
	b.publish("zigbee2mqtt/away", lines)
	h = reopen(t, h, local, at)
	h.eventually(func() error {
		if n := h.Sources.Counts.Accepted.Load(); n != 3600 {
			return fmt.Errorf("%d readings, want 3600", n)
		}
		return nil
	})
	if n := h.count("away"); n != 3600 {
		t.Errorf("%d readings in the history, want 3600", n)
	}
	if n := h.Sources.Counts.Duplicates.Load(); n > 1 { // the retained one of older comes again
		t.Errorf("%d duplicates", n)
	}
	// A changed source connects anew, a disabled and a deleted one not at all.
	h.asOwner("PATCH", path, `{"enabled":false}`, http.StatusOK)
	h.status(path, "off", "")
	h.asOwner("DELETE", path, "", http.StatusOK)
}

// TestBrokerRefused: what goes wrong on the way to a broker is said at its source.
func TestBrokerRefused(t *testing.T) {
	trial.NeedsAll(t)
	cert, private := certificate(t)
	h := newHouse(t, local)
	passwords := filepath.Join(t.TempDir(), "passwords")
	h.must(os.WriteFile(passwords, []byte("nobody:$7$101$x$x\n"), 0o600))
	secure := newBroker(t, "certfile "+cert, "keyfile "+private)
	locked := newBroker(t, "password_file "+passwords, "allow_anonymous false")
	guarded := filepath.Join(t.TempDir(), "acl")
	h.must(os.WriteFile(guarded, []byte("topic read other/#\n"), 0o600))
	for _, c := range []struct{ url, more, problem string }{
		{"mqtts://" + secure.addr, "", "certificate is not valid"},
		{"mqtt://" + locked.addr, `,"username":"a","password":"b"`, "allow this user"},
		{"mqtts://" + locked.addr, "", "TLS"},
		{"mqtt://" + webServer(t), "", "not an MQTT broker"},
		{"mqtt://10.255.255.1:1883", "", "address is not public"},
		{"mqtt://nobody.invalid:1883", "", "does not resolve"},
	} {
		path := h.brokerSource(c.url, c.more)
		if b := h.status(path, "failing", c.problem); strings.Contains(fmt.Sprint(b), `"b"`) {
			t.Errorf("the password is shown: %v", b)
		}
		h.asOwner("DELETE", path, "", http.StatusOK)
	}
	for _, broker := range []string{
		`{"url":"http://x","topics":["a/#"]}`, `{"url":"mqtt://u:p@x","topics":["a/#"]}`, `{"url":"mqtt://x","topics":["#"]}`, `{"url":"mqtt://x","topics":["$SYS/#"]}`,
		`{"url":"mqtt://x","topics":["a/#/b"]}`, `{"url":"mqtt://x","topics":[]}`, `{"url":"mqtt://x","topics":["a"],"password":"p"}`,
	} {
		h.asOwner("POST", "/sources", `{"kind":"mqtt","name":"x","broker":`+broker+`}`, http.StatusUnprocessableEntity)
	}
	// A source that senders connect to reads no broker.
	broker := `"broker":{"url":"mqtt://x","topics":["a/#"]}`
	h.asOwner("POST", "/sources", `{"name":"x",`+broker+`}`, http.StatusUnprocessableEntity)
	id, _ := h.newSource(`{"name":"push"}`)
	h.asOwner("PATCH", fmt.Sprintf("/sources/%d", id), `{`+broker+`}`, http.StatusUnprocessableEntity)
}

// webServer answers the first bytes of anybody as one does to what is no request.
func webServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 100))
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// reopen starts the server of a house that was stopped again, in its data
// directory.
func reopen(t *testing.T, old *house, change ...func(*app.Config)) *house {
	t.Helper()
	return &house{App: serving(t, change...), t: t, http: old.http, token: old.token, owner: old.owner}
}
