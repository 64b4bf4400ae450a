package v1

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// drawer draws requests as clients of all kinds send them.
type drawer struct {
	*rand.Rand
	t     *testing.T
	token string
	other string // a token that may only read
}

// one draws one of some texts.
func (d *drawer) one(texts ...string) string { return texts[d.IntN(len(texts))] }

func (d *drawer) value() string {
	return d.one("-18.5", `"-18.5"`, "0", "-0", "1e1", "null", "NaN", "101", `"x"`, `""`, "true", "[1]", "-127", "1998.5", "01", `"4,5"`, "1e400", "0.1234567890123456789")
}

// body draws a reading, or something like one.
func (d *drawer) body() string {
	if d.IntN(4) == 0 {
		return nominalBody
	}
	serial := d.one(`"WIF-0001"`, `"wif-0001"`, `"WIF-0001"`, `"none"`, `"a b"`, "7", "null", `"\u0057IF-0001"`)
	members := []string{`"device_serial":` + serial, `"humidity":` + d.value()}
	for range d.IntN(4) {
		name := d.one("product_zone_temp", "voltage", "compressor_on", "start_count", "battery", "Humidity", "product_zone_tmp", "battery_pct", "rssi_dbm", "firmware_version", "ÿ", "\xff")
		members = append(members, `"`+name+`":`+d.value())
	}
	if d.IntN(3) == 0 {
		name := d.one("recorded_at", "timestamp", "ts", "time", "age_s")
		members = append(members, `"`+name+`":`+d.one(`"2026-11-20T11:00:00Z"`, `"2026-11-20T11:00:00"`, "1795172400", "1795172400123", "1795172400000000000", "0", `"now"`, "null", "90", `"90"`, "-1"))
	}
	d.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + strings.Join(members, d.one(",", " , ", ",\n")) + "}"
	switch d.IntN(14) {
	case 0:
		return "\ufeff" + text
	case 1:
		return text + d.one("\r\n", "  ", "x", "{}")
	case 2:
		return d.one("", "[]", "null", "{", `"x"`, " ", "humidity=1")
	case 3:
		return "\r\n " + text
	case 4:
		return text[:d.IntN(len(text))]
	}
	return text
}

// request draws the bytes of a request.
func (d *drawer) request() string {
	body, head := d.body(), []string{"Host: x", "X-Request-Id: me"}
	head = append(head, d.one("Authorization: Bearer ", "authorization: bearer ", "AUTHORIZATION: Bearer  ", "Authorization: Token ")+d.one(d.token, d.token, d.token, d.token, d.other, "rw_bad", ""))
	if d.IntN(4) > 0 {
		head = append(head, "Content-Type: "+d.one("application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8", "application/json; charset=latin1", "text/plain", "text/plain; charset=iso-8859-1",
			"application/x-www-form-urlencoded", "application/vnd.api+json", "text/csv", "application/octet-stream", "", ";", "application/json, text/plain"))
	}
	for _, extra := range []string{"Accept: */*", "User-Agent: ESP8266HTTPClient", "Connection: keep-alive", "Connection: close", "Accept-Encoding: gzip", "X-Sensor: 1", "Expect: nothing", "X-Forwarded-For: 10.0.0.1"} { // an Idempotency-Key would be answered by what the other of the two has stored
		if d.IntN(6) == 0 {
			head = append(head, extra)
		}
	}
	switch d.IntN(8) {
	case 0:
		head, body = append(head, "Content-Encoding: "+d.one("gzip", "x-gzip", "GZIP")), zipped(d.t, body)
	case 1:
		head = append(head, "Content-Encoding: "+d.one("gzip", "identity", "br", "", "gzip, gzip"))
	}
	if d.IntN(6) == 0 && body != "" {
		cut := d.IntN(len(body))
		head = append(head, "Transfer-Encoding: chunked")
		pieces := ""
		for _, piece := range []string{body[:cut], body[cut:]} {
			if piece != "" {
				pieces += fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
			}
		}
		body = pieces + "0\r\n\r\n"
	} else {
		head = append(head, fmt.Sprintf("Content-Length: %d", len(body)))
	}
	d.Shuffle(len(head), func(i, j int) { head[i], head[j] = head[j], head[i] })
	line := "POST " + d.one("/api/v1/readings", "/api/v1/readings", "/api/v1/readings", "/api/v1/readings/", "/api/v1/readings?a=1") + d.one(" HTTP/1.1", " HTTP/1.1", " HTTP/1.1", " HTTP/1.0")
	return line + "\r\n" + strings.Join(head, "\r\n") + "\r\n\r\n" + body + d.one("", "", "", "\r\n")
}

// TestShortPathDraws: whatever a client sends, the short loop and net/http answer
// the same: status, header and body.
func TestShortPathDraws(t *testing.T) {
	r := newRig(t, func(c *whole) { c.readings.Writer = instantWriter{c.readings.Writer} })
	r.device("WIF-0001", "other")
	short := serveShort(t, r, nil)
	plainServer := httptest.NewServer(r.api)
	defer plainServer.Close()
	seed := trial.Seed(t)
	d := &drawer{rand.New(rand.NewPCG(seed, 1)), t, r.feed, r.read}
	good := fmt.Sprintf("POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nX-Request-Id: me\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", r.feed, len(nominalBody), nominalBody)
	stored := 0
	for i := range 250 { // the device's own limit is not reached
		sent, answers := d.request(), 1
		if d.IntN(3) == 0 { // on a connection that was in the loop before
			sent, answers = good+sent, 2
		}
		want := talk(t, plainServer.Listener.Addr().String(), []string{sent}, answers)
		got := talk(t, short, []string{sent}, answers)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, request %d:\n%q\n%s", seed, i, sent, diff)
		}
		if want[len(want)-1].Status == http.StatusCreated {
			stored++
		}
	}
	if stored == 0 {
		t.Errorf("seed %d: no request was a good one", seed)
	}
}
