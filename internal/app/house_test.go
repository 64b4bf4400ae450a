package app_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// patience is how long anything may take that is not about time: the race
// detector is slow and the machine may be busy. What does not happen at all
// fails all the same.
const patience = 10 * time.Minute

// house is a running server with a workspace, an owner who is signed in, and
// two devices.
type house struct {
	*app.App
	t     *testing.T
	owner account.SignedIn
	token string
	id    int64 // of token
	spec  *jsonschema.Compiler
	http  *http.Client
	page  bool // asOwner asks as the web UI does
}

// settings are those of a server on a directory of its own, as change has them.
func settings(t *testing.T, change ...func(*app.Config)) app.Config {
	t.Helper()
	cfg := app.Config{Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: 5 * time.Second}}
	for _, f := range change {
		f(&cfg)
	}
	return cfg
}

// within has a server use a directory that outlives it.
func within(dir string) func(*app.Config) { return func(c *app.Config) { c.Data = dir } }

// by has a server go by a clock.
func by(now func() time.Time) func(*app.Config) { return func(c *app.Config) { c.Now = now } }

// serving is a server with settings, which ends with the test at the latest.
func serving(t *testing.T, change ...func(*app.Config)) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), settings(t, change...))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func newHouse(t *testing.T, change ...func(*app.Config)) *house {
	t.Helper()
	a := serving(t, change...)
	// The certificate of a test is nobody's.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	h := &house{App: a, t: t, http: &http.Client{Transport: transport}}
	now := rimewatch.TimeOf(time.Now())
	code, _, err := a.Accounts.SetupCode(t.Context())
	h.must(err)
	h.owner, err = a.Accounts.Setup(t.Context(), account.SetupRequest{Code: code, Workspace: "W", Email: "o@example.com", Name: "O", Password: "correct horse battery"}, now)
	h.must(err)
	h.token, h.id = h.newToken(h.workspace(), rimewatch.ScopesFull)
	for _, serial := range []string{"D-1", "D-2"} {
		h.must(h.create(h.workspace(), serial, "walkin_freezer"))
	}
	h.describe()
	return h
}

// describe fetches the description that every message is held against.
func (h *house) describe() {
	h.t.Helper()
	resp, err := h.http.Get(h.URL() + "/api/asyncapi.json")
	h.must(err)
	defer resp.Body.Close()
	doc, err := jsonschema.UnmarshalJSON(resp.Body)
	h.must(err)
	closeObjects(doc)
	h.spec = jsonschema.NewCompiler()
	h.must(h.spec.AddResource("http://spec/asyncapi.json", doc))
}

// closeObjects makes a member that is not described a fault.
func closeObjects(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"].(map[string]any); ok && x["type"] == "object" && x["additionalProperties"] == nil {
			x["additionalProperties"] = false
		}
		for _, inner := range x {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range x {
			closeObjects(inner)
		}
	}
}

// check holds a message against a schema of the description.
func (h *house) check(schema string, text []byte) {
	h.t.Helper()
	compiled, err := h.spec.Compile("http://spec/asyncapi.json#/components/schemas/" + schema)
	h.must(err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = compiled.Validate(v)
	}
	if err != nil {
		h.t.Errorf("%s\nis not as described: %v", text, err)
	}
}

// schemaOf names the schema of a message.
func schemaOf(m map[string]any) string {
	names := map[any]string{"subscribed": "Subscribed", "unsubscribed": "Unsubscribed", "error": "Error",
		"devices": "DeviceEvent", "readings": "ReadingEvent", "alerts": "AlertEvent", "summary": "SummaryEvent"}
	if m["op"] == "event" {
		return names[m["channel"]]
	}
	return names[m["op"]]
}

func (h *house) workspace() int64 { return h.owner.Principal.WorkspaceID }

func (h *house) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

func (h *house) newToken(workspaceID int64, s rimewatch.Scopes) (plain string, id int64) {
	h.t.Helper()
	t, plain, err := h.Accounts.CreateToken(h.t.Context(), account.Operator(workspaceID), account.TokenRequest{Name: "t", Scopes: s}, rimewatch.TimeOf(time.Now()))
	h.must(err)
	return plain, t.ID
}

func (h *house) create(workspaceID int64, serial, kind string) error {
	// On a busy machine a test may take longer than a device may be silent.
	_, err := h.Ingest.CreateDevice(h.t.Context(), &rimewatch.Device{WorkspaceID: workspaceID, Serial: serial, Name: "Unit " + serial, EquipmentType: kind, OfflineAfterS: 86_400})
	return err
}

// call makes a request of the REST API and returns its data.
func (h *house) call(method, path, body string) map[string]any {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL()+"/api/v1"+path, strings.NewReader(body))
	h.must(err)
	req.Header.Set("Authorization", "Bearer "+h.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.http.Do(req)
	h.must(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	h.must(err)
	var envelope struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(b, &envelope); err != nil || resp.StatusCode >= 300 {
		h.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, b)
	}
	return envelope.Data
}

// reading posts a reading of a device.
func (h *house) reading(serial string, temp float64) map[string]any {
	h.t.Helper()
	data := h.call("POST", "/readings", fmt.Sprintf(`{"device_serial":%q,"product_zone_temp":%g}`, serial, temp))
	return data["reading"].(map[string]any)
}

// stream is a WebSocket of a test.
type stream struct {
	*websocket.Conn
	h   *house
	ctx context.Context
}

func (h *house) dial(header http.Header, query string) (*stream, *http.Response, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 3*patience)
	h.t.Cleanup(cancel)
	c, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(h.URL(), "http")+"/api/v1/stream"+query, &websocket.DialOptions{
		Subprotocols: []string{"rimewatch.v1"}, HTTPHeader: header, HTTPClient: h.http,
	})
	if err == nil {
		c.SetReadLimit(1 << 20)
		h.t.Cleanup(func() { _ = c.CloseNow() })
	}
	return &stream{c, h, ctx}, resp, err
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func (h *house) stream(token string) *stream {
	h.t.Helper()
	s, _, err := h.dial(bearer(token), "")
	h.must(err)
	if s.Subprotocol() != "rimewatch.v1" {
		h.t.Errorf("subprotocol %q", s.Subprotocol())
	}
	return s
}

func (s *stream) say(text string) {
	s.h.t.Helper()
	s.h.must(s.Write(s.ctx, websocket.MessageText, []byte(text)))
}

// next reads one message.
func (s *stream) next() map[string]any {
	s.h.t.Helper()
	_, b, err := s.Read(s.ctx)
	s.h.must(err)
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		s.h.t.Fatalf("%s: %v", b, err)
	}
	s.h.check(schemaOf(m), b)
	return m
}

// subscribe subscribes and returns the answer.
func (s *stream) subscribe(id int, channel, more string) map[string]any {
	s.h.t.Helper()
	text := fmt.Sprintf(`{"op":"subscribe","id":%d,"channel":%q%s}`, id, channel, more)
	s.h.check("Subscribe", []byte(text))
	s.say(text)
	return s.next()
}

// ended reads until the service closes and returns the code.
func (s *stream) ended() websocket.StatusCode {
	s.h.t.Helper()
	for {
		if _, _, err := s.Read(s.ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// certificate makes a certificate for 127.0.0.1 and returns its files.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	must(os.WriteFile(certFile, chain, 0o600))
	must(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certFile, keyFile
}
