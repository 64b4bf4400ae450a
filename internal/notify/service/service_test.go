package service

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

var note = &message.Message{Type: "alert.opened", Data: message.Data{Tag: "critical", Subject: "[critical] Back walk-in −8.2 °C", Text: "Look at the door.", Link: "https://watch.example.org/alerts/1"}}

// urls has one of every service that can be used, at a host where it has one.
func urls(host string) map[string]string {
	long := strings.Repeat("a", 64)
	return map[string]string{
		"bark":       "bark://:devicekey@" + host,
		"discord":    "discord://token@123456789",
		"generic":    "generic://" + host + "/hook?disabletls=yes",
		"googlechat": "googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz",
		"gotify":     "gotify://" + host + "/Aaa.bbb.ccc.ddd?disabletls=yes",
		"hangouts":   "hangouts://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz",
		"ifttt":      "ifttt://key/?events=event1",
		"join":       "join://shoutrrr:apikey@join/?devices=device1",
		"lark":       "lark://open.larksuite.com/token?secret=abc",
		"matrix":     "matrix://:token@" + host + "/?rooms=!room:x&disabletls=yes",
		"mattermost": "mattermost://user@" + host + "/token/channel?disabletls=yes",
		"notifiarr":  "notifiarr://apikey",
		"ntfy":       "ntfy://" + host + "/topic?scheme=http",
		"opsgenie":   "opsgenie://api.opsgenie.com/eb243592-faa2-4ba2-a551q-1afdf565c889",
		"pagerduty":  "pagerduty:///" + long[:32],
		"pushbullet": "pushbullet://" + "o." + long[:32],
		"pushover":   "pushover://shoutrrr:token@userkey/",
		"rocketchat": "rocketchat://user@" + host + "/tokenA/tokenB/channel",
		"signal":     "signal://" + host + "/+1234567890/+0987654321?disabletls=yes",
		"slack":      "slack://hook:WNA3PBYV6-F20DUQND3RQ-Webc4MAvoacrpPakR8phF0zi@webhook?botname=x",
		"teams":      "teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05?host=test.webhook.office.com",
		"telegram":   "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?channels=channel-1",
		"twilio":     "twilio://AC" + strings.Repeat("0", 32) + ":" + strings.Repeat("1", 32) + "@sms?from=+15017122661&to=%2B1555%20867-5310",
		"wecom":      "wecom://693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa",
		"zulip":      "zulip://bot-name%40zulipchat.com:correcthorsebatterystable@zulip.example.org?stream=foo&topic=bar",
	}
}

// recorder stands where the guarded transport stands.
type recorder struct {
	mu     sync.Mutex
	hosts  []string
	bodies []string
	status int
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	var body []byte
	if q.Body != nil {
		body, _ = io.ReadAll(q.Body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts, r.bodies = append(r.hosts, q.URL.Host), append(r.bodies, string(body)+q.URL.RawQuery+strings.Join(q.Header.Values("Title"), ""))
	if r.status >= http.StatusBadRequest {
		return nil, &outbound.StatusError{Status: r.status}
	}
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("{}"))), Request: q}, nil
}

// through makes the process's transport another one for the time of a test.
func through(t *testing.T, rt http.RoundTripper) {
	before := http.DefaultTransport
	http.DefaultTransport = &watched{RoundTripper: rt}
	t.Cleanup(func() { http.DefaultTransport = before })
}

// TestEveryServiceIsGuarded: whatever service it is, its requests go through the
// transport that a guard has put in place; a listener beside it hears nothing.
func TestEveryServiceIsGuarded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	connected := make(chan string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connected <- c.RemoteAddr().String()
			c.Close()
		}
	}()
	all := urls(l.Addr().String())
	var covered []string
	for _, name := range Names() {
		if all[name] != "" {
			covered = append(covered, name)
		}
	}
	if diff := cmp.Diff(Names(), covered); diff != "" {
		t.Fatalf("services without a test: %s", diff)
	}
	for name, url := range all {
		t.Run(name, func(t *testing.T) {
			if err := Check(url); err != nil {
				t.Fatalf("%+v", err)
			}
			rec := &recorder{}
			through(t, rec)
			s := &Sender{transport: rec, running: make(chan struct{}, 1)}
			// Some miss more than {} in the answer.
			if _, err := s.Send(t.Context(), &rimewatch.Channel{URL: url}, "k", note); len(rec.hosts) == 0 {
				t.Errorf("its request did not go through the guard: %v", err)
			}
			if said := strings.Join(rec.bodies, " "); !strings.Contains(said, "Back") || !strings.Contains(said, "door") {
				t.Errorf("it does not tell what is wrong and what to do: %s", said)
			}
			rec.status = http.StatusNotFound
			if _, err := s.Send(t.Context(), &rimewatch.Channel{URL: url}, "k", note); err == nil {
				t.Error("a refusal is taken for a success")
			}
		})
	}
	select {
	case from := <-connected:
		t.Errorf("something connected past the guard, from %s", from)
	default:
	}
}

// TestReal sends to a server over a real connection, and is refused by a guard
// that does not allow its address.
func TestReal(t *testing.T) {
	got := make(chan string, 10)
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- fmt.Sprintf("%s %s|%s", r.URL.Path, r.Header.Get("Title"), b)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{}")
	}))
	defer srv.Close()
	host := srv.Listener.Addr().String()
	open, closed := outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), outbound.New(nil)
	defer open.Close()
	c := &rimewatch.Channel{URL: urls(host)["ntfy"]}
	if _, err := New(open).Send(t.Context(), c, "k", note); rimewatch.CodeOf(err) != rimewatch.CodeForbidden {
		t.Errorf("before Guard: %v", err)
	}
	through(t, open.Transport())
	if _, err := New(open).Send(t.Context(), c, "k", note); err != nil {
		t.Fatal(err)
	}
	if text := <-got; !strings.HasPrefix(text, "/topic ") || !strings.Contains(text, "Look at the door.") || !strings.Contains(text, "https://watch.example.org/alerts/1") {
		t.Errorf("got %s", text)
	}
	for _, name := range []string{"ntfy", "generic", "gotify", "mattermost", "signal"} {
		status = http.StatusNotFound
		if _, err := New(open).Send(t.Context(), &rimewatch.Channel{URL: urls(host)[name]}, "k", note); rimewatch.CodeOf(err) != rimewatch.CodeConflict {
			t.Errorf("%s, 404: %v", name, err)
		}
		status = http.StatusServiceUnavailable
		if _, err := New(open).Send(t.Context(), &rimewatch.Channel{URL: urls(host)[name]}, "k", note); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			t.Errorf("%s, 503: %v", name, err)
		}
		<-got
		<-got
		through(t, closed.Transport())
		if _, err := New(closed).Send(t.Context(), &rimewatch.Channel{URL: urls(host)[name]}, "k", note); rimewatch.CodeOf(err) != rimewatch.CodeForbidden {
			t.Errorf("%s, address refused: %v", name, err)
		}
		through(t, open.Transport())
	}
	if len(got) > 0 {
		t.Errorf("%s came past the guard", <-got)
	}
}

func TestCheckURL(t *testing.T) {
	for _, url := range []string{"", "x", "https://example.org", "smtp://user:pass@host:587/?from=a@x.org&to=b@x.org", "logger://", "xmpp://x", "nobody://x", "ntfy://", "slack://x", "telegram://x", "matrix://", "SMTP://x", "smtp+https://x", "%zz"} {
		err := Check(url)
		if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestSecretsStayInside: no error of a service reveals its URL.
func TestSecretsStayInside(t *testing.T) {
	g := outbound.New(nil)
	through(t, g.Transport())
	_, err := New(g).Send(t.Context(), &rimewatch.Channel{URL: "generic://127.0.0.1:1/very-secret?disabletls=yes"}, "k", note)
	if err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("%v", err)
	}
}
