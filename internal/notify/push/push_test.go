package push

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// service is a push service with one browser behind it: it checks who sends (RFC 8292)
// and decrypts what comes (RFC 8291).
type service struct {
	*testing.T
	*httptest.Server
	key    *ecdh.PrivateKey
	auth   []byte
	server string // the public key that the browser has subscribed with
	status int
	header http.Header
	got    *Payload
}

func newService(t *testing.T, keys Keys) *service {
	t.Helper()
	k, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{T: t, key: k, auth: []byte("0123456789abcdef"), server: keys.Public, status: http.StatusCreated}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.Error(err)
	}
	s.header = r.Header.Clone()
	s.verify(r)
	s.got = &Payload{}
	if err := json.Unmarshal(s.decrypt(body), s.got); err != nil {
		s.Error(err)
	}
	w.WriteHeader(s.status)
}

// verify checks the signature of the sender's token and what it claims.
func (s *service) verify(r *http.Request) {
	token, key, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 || key != s.server {
		s.Errorf("authorization %q", r.Header.Get("Authorization"))
		return
	}
	enc := base64.RawURLEncoding
	point, _ := enc.DecodeString(key)
	signature, _ := enc.DecodeString(parts[2])
	claims, _ := enc.DecodeString(parts[1])
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil || len(signature) != 64 {
		s.Errorf("key %v, signature of %d bytes", err, len(signature))
		return
	}
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		s.Error("the token is signed by somebody else")
	}
	var c struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(claims, &c); err != nil || c.Aud != s.URL || c.Sub != "https://watch.example.org" || time.Until(time.Unix(c.Exp, 0)) > 24*time.Hour {
		s.Errorf("claims %s: %v", claims, err)
	}
}

// decrypt is the receiver's side of RFC 8291 and RFC 8188, written from their text.
func (s *service) decrypt(b []byte) []byte {
	salt, size, n := b[:16], binary.BigEndian.Uint32(b[16:20]), int(b[20])
	sender, text := b[21:21+n], b[21+n:]
	if len(text) > int(size) || len(b) > 4096 {
		s.Errorf("a record of %d bytes, %d in all", len(text), len(b))
	}
	their, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		s.Fatal(err)
	}
	shared, err := s.key.ECDH(their)
	if err != nil {
		s.Fatal(err)
	}
	expand := func(secret, salt []byte, info string, size int) []byte {
		k, err := hkdf.Key(sha256.New, secret, salt, info, size)
		if err != nil {
			s.Fatal(err)
		}
		return k
	}
	ikm := expand(shared, s.auth, "WebPush: info\x00"+string(s.key.PublicKey().Bytes())+string(sender), 32)
	block, err := aes.NewCipher(expand(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		s.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		s.Fatal(err)
	}
	plain, err := gcm.Open(nil, expand(ikm, salt, "Content-Encoding: nonce\x00", 12), text, nil)
	if err != nil {
		s.Fatal(err)
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00"))
	if len(plain) == 0 || plain[len(plain)-1] != 2 {
		s.Fatal("no delimiter of the last record")
	}
	return plain[:len(plain)-1]
}

func (s *service) channel() *rimewatch.Channel {
	enc := base64.RawURLEncoding
	return &rimewatch.Channel{ID: 4, WorkspaceID: 3, Name: "Anna – phone", Kind: rimewatch.ChannelPush, Enabled: true, To: []string{"anna@example.org"}, URL: s.URL + "/send/abc", Secret: enc.EncodeToString(s.key.PublicKey().Bytes()) + "." + enc.EncodeToString(s.auth)}
}

// sender is one that trusts the service's certificate and answers as the guard does.
func (s *service) sender(keys Keys, role rimewatch.Role, expired *[]int64) *Sender {
	return New(Config{
		Client: &http.Client{Transport: strict{s.Client().Transport}}, Keys: keys, Contact: "https://watch.example.org",
		Member: func(_ context.Context, workspaceID int64, email string) (rimewatch.Member, error) {
			if workspaceID != 3 || email != "anna@example.org" || role == "" {
				return rimewatch.Member{}, rimewatch.Errorf(rimewatch.CodeNotFound, "The person is not a member any more.")
			}
			return rimewatch.Member{Role: role}, nil
		},
		Expired: func(_ context.Context, c *rimewatch.Channel) { *expired = append(*expired, c.ID) },
	})
}

type strict struct{ http.RoundTripper }

func (x strict) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := x.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode >= 300 {
		_ = resp.Body.Close()
		return nil, &outbound.StatusError{Status: resp.StatusCode}
	}
	return resp, err
}

func alert(language string) *message.Message {
	return &message.Message{Data: message.Data{
		Kind: rimewatch.DeliveryOpened, Urgent: true, Tag: "critical", Subject: "[critical] Back walk-in: 8.2 °C, too warm", Text: "Check that the door is shut.", Alert: json.RawMessage(`{"id":41}`),
		Site: &message.Site{Name: "Corner shop"}, Locale: rimewatch.Locale{Language: language},
	}}
}

func TestABrowserReadsWhatIsSent(t *testing.T) {
	keys := KeysOf([32]byte{1})
	s := newService(t, keys)
	var expired []int64
	if remark, err := s.sender(keys, rimewatch.RoleTechnician, &expired).Send(t.Context(), s.channel(), "k", alert("es")); err != nil || remark != "" {
		t.Fatal(remark, err)
	}
	want := &Payload{
		Title: "Crítica: Back walk-in: 8.2 °C, too warm", Body: "Corner shop – Check that the door is shut.", Tag: "alert-41", Path: "/alerts/41", Urgent: true, Lang: "es",
		AlertID: 41, Acknowledge: "Reconocer", Done: "Reconocida", Failed: "No se ha podido reconocer: abra Rimewatch.",
	}
	if diff := cmp.Diff(want, s.got); diff != "" {
		t.Error(diff)
	}
	if s.header.Get("Urgency") != "high" || s.header.Get("Topic") != "alert-41" || s.header.Get("TTL") != "86400" || s.header.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("%v", s.header)
	}
}

// TestWhoMayNotAcknowledge: a viewer gets no button, nobody one for what is over; who
// is not a member any more gets nothing at all.
func TestWhoMayNotAcknowledge(t *testing.T) {
	keys := KeysOf([32]byte{1})
	s := newService(t, keys)
	var expired []int64
	send := func(role rimewatch.Role, m *message.Message) error {
		s.got = nil
		_, err := s.sender(keys, role, &expired).Send(t.Context(), s.channel(), "k", m)
		return err
	}
	if err := send(rimewatch.RoleViewer, alert("en")); err != nil || s.got.AlertID != 0 || s.got.Acknowledge != "" || s.got.Path != "/alerts/41" {
		t.Errorf("%v %+v", err, s.got)
	}
	over := alert("en")
	worse := alert("en")
	worse.Data.Kind, worse.Data.Subject = rimewatch.DeliveryEscalated, "[critical] Now critical: Back walk-in: 8.2 °C, too warm"
	if p := payload(worse, rimewatch.RoleTechnician); p.Title != "Now critical: Back walk-in: 8.2 °C, too warm" {
		t.Errorf("an alert that became critical is %q", p.Title)
	}
	over.Data.Kind, over.Data.Urgent, over.Data.Tag, over.Data.Subject = rimewatch.DeliveryRecovery, false, "resolved", "[resolved] Back walk-in: back in range"
	if err := send(rimewatch.RoleOwner, over); err != nil || s.got.AlertID != 0 || s.got.Title != "Resolved: Back walk-in: back in range" || s.header.Get("Urgency") != "normal" {
		t.Errorf("%v %+v", err, s.got)
	}
	if err := send("", alert("en")); rimewatch.CodeOf(err) != rimewatch.CodeNotFound || s.got != nil || len(expired) > 0 {
		t.Errorf("%v %+v", err, s.got)
	}
}

func TestWhatAServiceRefuses(t *testing.T) {
	keys := KeysOf([32]byte{1})
	s := newService(t, keys)
	var expired []int64
	for status, want := range map[int]rimewatch.Code{404: rimewatch.CodeNotFound, 410: rimewatch.CodeNotFound, 403: rimewatch.CodeConflict, 429: rimewatch.CodeUnavailable, 503: rimewatch.CodeUnavailable} {
		s.status, expired = status, nil
		_, err := s.sender(keys, rimewatch.RoleOwner, &expired).Send(t.Context(), s.channel(), "k", alert("en"))
		if rimewatch.CodeOf(err) != want || (len(expired) > 0) != (want == rimewatch.CodeNotFound) {
			t.Errorf("%d: %v, expired %v", status, err, expired)
		}
	}
	tried := s.channel() // not stored yet
	tried.ID, s.status, expired = 0, 410, nil
	if _, err := s.sender(keys, rimewatch.RoleOwner, &expired).Send(t.Context(), tried, "k", alert("en")); err == nil || len(expired) > 0 {
		t.Errorf("%v %v", err, expired)
	}
}

// TestALongMessageFits: a message about many alerts is one record that every service takes.
func TestALongMessageFits(t *testing.T) {
	keys := KeysOf([32]byte{1})
	s := newService(t, keys)
	m := alert("es")
	m.Data.Subject, m.Data.Text, m.Data.Alert = "[critical] "+strings.Repeat("Kühlzelle ", 300), strings.Repeat("ß", 5000), json.RawMessage("null")
	for range 50 {
		m.Data.Alerts = append(m.Data.Alerts, message.Line{ID: 1, Text: strings.Repeat("\"\\", 100)})
	}
	var expired []int64
	if _, err := s.sender(keys, rimewatch.RoleOwner, &expired).Send(t.Context(), s.channel(), "k", m); err != nil {
		t.Fatal(err)
	}
	if s.got.Tag != "alerts" || s.got.Path != "/alerts" || !strings.HasSuffix(s.got.Body, "…") {
		t.Errorf("%+v", s.got)
	}
}

// TestLimitedPeopleAreToldOfTheirSites: a limit that came after a message was written leaves of it what
// is of these sites.
func TestLimitedPeopleAreToldOfTheirSites(t *testing.T) {
	site := &message.Site{ID: 7, Name: "Harbour"}
	list := func(lines ...message.Line) []message.Line { return lines }
	for _, c := range []struct {
		name string
		data message.Data
		want string // title and lines, "" = nothing is sent
	}{
		{"its site", message.Data{Subject: "Too warm", Site: site}, "Too warm"},
		{"another", message.Data{Subject: "Too warm", Site: &message.Site{ID: 8}}, ""},
		{"no site", message.Data{Subject: "Too warm"}, ""},
		{"a test", message.Data{Subject: "Test", Kind: rimewatch.DeliveryTest}, "Test"},
		{"several of its own", message.Data{Subject: "2 alerts", Alerts: list(message.Line{ID: 1, SiteID: 7, Text: "a"}, message.Line{Text: "and 3 more"})}, "2 alerts a and 3 more"},
		{"several, one elsewhere", message.Data{Subject: "2 alerts", Text: "In two shops.", Workspace: message.Ref{Name: "Shops"}, Alerts: list(message.Line{ID: 1, SiteID: 7, Text: "a"}, message.Line{ID: 2, SiteID: 8, Text: "b"}, message.Line{Text: "and 3 more"})}, "Shops a"},
		{"all elsewhere", message.Data{Subject: "2 alerts", Alerts: list(message.Line{ID: 1, Text: "a"}, message.Line{ID: 2, SiteID: 8, Text: "b"})}, ""},
	} {
		m, left := within(&message.Message{Data: c.data}, rimewatch.Sites{7})
		got := ""
		if left {
			got = m.Data.Subject
			for _, l := range m.Data.Alerts {
				got += " " + l.Text
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
		if all, _ := within(&message.Message{Data: c.data}, nil); all.Data.Subject != c.data.Subject || len(all.Data.Alerts) != len(c.data.Alerts) {
			t.Errorf("%s: somebody who is not limited gets %+v", c.name, all.Data)
		}
	}
}

func TestKeys(t *testing.T) {
	if a, b := KeysOf([32]byte{1}), KeysOf([32]byte{2}); a != KeysOf([32]byte{1}) || a.Public == b.Public {
		t.Error("keys are not those of the secret")
	}
	var none [32]byte // no scalar
	if KeysOf(none).Public == "" {
		t.Error("no key")
	}
}

// TestPrivateAddressesAreRefused: an endpoint is made up by whoever subscribes.
func TestPrivateAddressesAreRefused(t *testing.T) {
	keys := KeysOf([32]byte{1})
	s := newService(t, keys)
	g := outbound.New(nil)
	defer g.Close()
	x := s.sender(keys, rimewatch.RoleOwner, new([]int64))
	x.cfg.Client = g.Client()
	if _, err := x.Send(t.Context(), s.channel(), "k", alert("en")); rimewatch.CodeOf(err) != rimewatch.CodeForbidden || s.got != nil {
		t.Errorf("%v", err)
	}
}
