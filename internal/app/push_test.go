package app_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/store"
)

// pushService stands for that of a browser's maker; what it decrypts, notify/push tests.
type pushService struct {
	*httptest.Server
	got    chan string // paths
	status chan int    // of the next answers, 201 without one
}

func (s *pushService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := http.StatusCreated
	select {
	case status = <-s.status:
	default:
	}
	s.got <- r.URL.Path // whoever hears of it may say what the next answer is
	w.WriteHeader(status)
}

// RoundTrip reaches the service as the guard would, but for its certificate and address.
func (s *pushService) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.Client().Transport.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		_ = resp.Body.Close()
		return nil, &outbound.StatusError{Status: resp.StatusCode}
	}
	return resp, err
}

func newPushService(t *testing.T) *pushService {
	s := &pushService{got: make(chan string, 100), status: make(chan int, 10)}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

// next waits for a notification of a device.
func (s *pushService) next(t *testing.T, want string) {
	t.Helper()
	select {
	case path := <-s.got:
		if path != want {
			t.Errorf("%s was notified, not %s", path, want)
		}
	case <-time.After(patience):
		t.Fatalf("%s was not notified", want)
	}
}

// subscription is what a browser says, with a name.
func subscription(t *testing.T, endpoint, more string) string {
	t.Helper()
	k, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"endpoint":%q,"keys":{"p256dh":%q,"auth":"MDEyMzQ1Njc4OWFiY2RlZg=="},"name":"Android, Chrome"%s}`, endpoint, base64.RawURLEncoding.EncodeToString(k.PublicKey().Bytes()), more)
}

// TestPushToMyPhone: a person's phone becomes a channel once the test has reached it, is
// told of alerts, and goes when it has ended its subscription.
func TestPushToMyPhone(t *testing.T) {
	s := newPushService(t)
	h := newHouse(t, func(c *app.Config) { c.Push = &http.Client{Transport: s} })
	if key, err := base64.RawURLEncoding.DecodeString(h.asOwner("GET", "/me/push", "", http.StatusOK)["key"].(string)); err != nil || len(key) != 65 {
		t.Errorf("key of %d bytes: %v", len(key), err)
	}
	devices := func() []any { return h.asOwner("GET", "/me/push", "", http.StatusOK)["devices"].([]any) }
	s.status <- http.StatusGone
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/a", ""), http.StatusConflict)
	s.next(t, "/a")
	if list := devices(); len(list) > 0 {
		t.Errorf("stored although the test was refused: %v", list)
	}
	add := func(path, more string) float64 {
		t.Helper()
		d := h.asOwner("POST", "/me/push", subscription(t, s.URL+path, more), http.StatusOK)["device"].(map[string]any)
		s.next(t, path)
		return d["id"].(float64)
	}
	id := add("/a", "")
	if add("/a", "") != id || add("/b", fmt.Sprintf(`,"old_endpoint":%q`, s.URL+"/a")) != id {
		t.Error("a device that is known has got another channel")
	}
	other := add("/c", "")
	channels := h.asOwner("GET", "/channels", "", http.StatusOK)["channels"].([]any)
	first := channels[0].(map[string]any)
	if len(channels) != 2 || first["kind"] != "push" || first["name"] != "O – Android, Chrome" || first["url"] != s.URL+"/•••" || channels[1].(map[string]any)["name"] != "O – Android, Chrome 2" {
		t.Errorf("%v", channels)
	}
	h.asOwner("DELETE", fmt.Sprintf("/me/push/%d", int(other)), "", http.StatusOK)
	h.asOwner("POST", "/devices", `{"serial":"P-1","equipment_type":"walkin_cooler","limits":{"temp_max":5,"delay_s":0,"clear_s":0}}`, http.StatusCreated)
	h.reading("P-1", 9)
	s.next(t, "/b")
	s.status <- http.StatusNotFound
	h.reading("P-1", 2)
	s.next(t, "/b")
	h.eventually(func() error {
		if list := devices(); len(list) > 0 {
			return fmt.Errorf("the device that is gone is still told: %v", list)
		}
		return nil
	})
}

// TestPushIsOnesOwn: a token has no phone, nobody removes another one's, whoever has
// left is not told any more, and who is limited to sites cannot be.
func TestPushIsOnesOwn(t *testing.T) {
	s := newPushService(t)
	h := newHouse(t, func(c *app.Config) { c.Push = &http.Client{Transport: s} })
	owner, now := h.owner, rimewatch.TimeOf(time.Now())
	if status, text := h.push("POST", "/api/v1/me/push", subscription(t, s.URL+"/t", ""), "Authorization", "Bearer "+h.token, "Content-Type", "application/json"); status != http.StatusForbidden {
		t.Errorf("a token: %d %s", status, text)
	}
	if status, text := h.push("POST", "/api/v1/me/push", subscription(t, s.URL+"/t", ""), "Cookie", "rimewatch_session="+owner.Secret, "Sec-Fetch-Site", "cross-site", "Content-Type", "application/json"); status != http.StatusForbidden {
		t.Errorf("another site's page: %d %s", status, text)
	}
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/o", ""), http.StatusOK)
	s.next(t, "/o")
	mine := h.asOwner("GET", "/me/push", "", http.StatusOK)["devices"].([]any)[0].(map[string]any)["id"].(float64)

	v, err := h.Accounts.AddUser(t.Context(), h.workspace(), account.UserRequest{Email: "v@example.com", Name: "V", Password: "correct horse battery", Role: rimewatch.RoleViewer}, now)
	h.must(err)
	h.owner, err = h.Accounts.SignIn(t.Context(), account.Credentials{Email: "v@example.com", Password: "correct horse battery"}, now)
	h.must(err)
	h.asOwner("DELETE", fmt.Sprintf("/me/push/%d", int(mine)), "", http.StatusNotFound)
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/v", ""), http.StatusOK)
	s.next(t, "/v")
	theirs := h.asOwner("GET", "/me/push", "", http.StatusOK)["devices"].([]any)
	if len(theirs) != 1 {
		t.Fatalf("the viewer sees %v", theirs)
	}
	// The owner's browser, used by the viewer now, tells one of them only.
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/o", ""), http.StatusOK)
	s.next(t, "/o")
	all, err := h.Store.Routing().Channels().List(t.Context(), h.workspace())
	h.must(err)
	if len(all) != 2 || !slices.Equal(all[0].To, all[1].To) || all[0].To[0] != "v@example.com" {
		t.Errorf("%+v", all)
	}
	channel := int64(theirs[0].(map[string]any)["id"].(float64))
	_, err = h.Store.People().DeleteMember(t.Context(), h.workspace(), v.ID, now)
	h.must(err)
	d, err := h.Notify.Test(t.Context(), owner.Principal.WorkspaceID, channel)
	h.must(err)
	if d.Status != rimewatch.DeliveryFailed || len(s.got) > 0 || !strings.Contains(d.LastError, "not a member") {
		t.Errorf("%s %s", d.Status, d.LastError)
	}
}

// TestPushToAStoresManager: somebody who is limited to a site is reached there, counts as somebody who is,
// and is told of no other site.
func TestPushToAStoresManager(t *testing.T) {
	s := newPushService(t)
	h := newHouse(t, func(c *app.Config) { c.Push = &http.Client{Transport: s} })
	now := rimewatch.TimeOf(time.Now())
	for _, name := range []string{"Harbour", "Old Town"} {
		site := h.asOwner("POST", "/sites", fmt.Sprintf(`{"name":%q}`, name), http.StatusCreated)["site"].(map[string]any)["id"].(float64)
		h.asOwner("POST", "/devices", fmt.Sprintf(`{"serial":%q,"site_id":%d,"equipment_type":"walkin_cooler","limits":{"temp_max":5,"delay_s":0,"clear_s":0,"critical_max":8,"critical_delay_s":0}}`, name[:1], int(site)), http.StatusCreated)
	}
	for _, serial := range []string{"D-1", "D-2"} {
		h.asOwner("DELETE", "/devices/"+serial, "", http.StatusOK)
	}
	_, err := h.Accounts.AddUser(t.Context(), h.workspace(), account.UserRequest{Email: "mara@example.com", Name: "Mara", Password: "correct horse battery", Role: rimewatch.RoleTechnician}, now)
	h.must(err)
	h.asOwner("PATCH", "/members/2", `{"site_ids":[1]}`, http.StatusOK)
	owner := h.owner
	h.owner, err = h.Accounts.SignIn(t.Context(), account.Credentials{Email: "mara@example.com", Password: "correct horse battery"}, now)
	h.must(err)
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/mara", ""), http.StatusOK)
	s.next(t, "/mara")
	if c := h.asOwner("GET", "/notifications/coverage", "", http.StatusOK)["coverage"].(map[string]any); c["reachable"] != true {
		t.Errorf("her site: %v", c)
	}
	h.owner = owner
	if c := h.asOwner("GET", "/notifications/coverage", "", http.StatusOK)["coverage"].(map[string]any); c["count"] != 1.0 || c["reason"] != "no_route" || c["sites_without"].([]any)[0].(map[string]any)["name"] != "Old Town" {
		t.Errorf("all sites: %v", c)
	}
	h.reading("O", 9) // of the other site: her phone would hear of it first
	h.reading("H", 9)
	s.next(t, "/mara")
	alert := h.asOwner("GET", "/alerts?device_serial=H", "", http.StatusOK)["alerts"].([]any)[0].(map[string]any)["id"].(float64)
	var told map[string]any
	h.eventually(func() error {
		told = h.asOwner("GET", fmt.Sprintf("/alerts/%d", int(alert)), "", http.StatusOK)["alert"].(map[string]any)["escalation"].(map[string]any)
		if list := told["told"].([]any); len(list) != 1 || list[0].(map[string]any)["name"] != "Mara" || list[0].(map[string]any)["kind"] != "member" {
			return fmt.Errorf("%v", told)
		}
		return nil
	})
	list, _, err := h.Store.Outbox().Deliveries(t.Context(), h.workspace(), 0, store.Page{Limit: 100})
	h.must(err)
	for i := range list {
		if list[i].AlertID != 0 && list[i].AlertID != int64(alert) {
			t.Errorf("she is told of %+v", list[i])
		}
	}
}

// TestOddSubscriptions: what no browser says is refused and reaches nobody.
func TestOddSubscriptions(t *testing.T) {
	s := newPushService(t)
	h := newHouse(t, func(c *app.Config) { c.Push = &http.Client{Transport: s} })
	good := subscription(t, s.URL+"/x", "")
	rnd := mathrand.New(mathrand.NewPCG(5, 6))
	for _, odd := range []string{
		`{}`, `[]`, `null`, `{"endpoint":1,"keys":{},"name":[]}`, strings.Replace(good, "https://", "http://", 1), strings.Replace(good, "https://", "https://u:p@", 1),
		strings.Replace(good, "Android, Chrome", strings.Repeat("n", 101), 1), strings.Replace(good, "Android, Chrome", `\u0000`, 1), strings.Replace(good, "/x", "/"+strings.Repeat("x", 3000), 1),
		strings.Replace(good, `"MDEy`, `"`, 1), strings.Replace(good, `"p256dh":"`, `"p256dh":"AAAA`, 1), strings.Replace(good, `"name"`, `"user_id":1,"name"`, 1), good + good,
	} {
		if status := h.oddPush(odd); status < 400 || len(s.got) > 0 {
			t.Errorf("%s: %d", odd, status)
		}
	}
	for range 60 {
		odd := []byte(good)
		at := strings.Index(good, "p256dh") + rnd.IntN(len(good)-strings.Index(good, "p256dh"))
		if odd = append(odd[:at], odd[min(at+1+rnd.IntN(20), len(odd)):]...); !json.Valid(odd) || rnd.IntN(2) == 0 {
			h.oddPush(string(odd))
		}
	}
	if list := h.asOwner("GET", "/me/push", "", http.StatusOK)["devices"].([]any); len(list) > 1 {
		t.Errorf("%d devices", len(list))
	}
}

func (h *house) oddPush(body string) (status int) {
	h.t.Helper()
	status, text := h.push("POST", "/api/v1/me/push", body, "Cookie", "rimewatch_session="+h.owner.Secret, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json")
	// A letter less of the name is a name.
	if status >= 500 || status < 400 && !strings.Contains(text, `"device"`) {
		h.t.Errorf("%s: %d %s", body, status, text)
	}
	return status
}

// TestEndpointsAreGuarded: what a person says is an address of this network is not
// connected to.
func TestEndpointsAreGuarded(t *testing.T) {
	s := newPushService(t)
	h := newHouse(t)
	h.asOwner("POST", "/me/push", subscription(t, s.URL+"/x", ""), http.StatusConflict)
	if len(s.got) > 0 {
		t.Error(errors.New("it was connected to"))
	}
}
