package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// mailbox is a webhook's receiver that takes its time, and remembers under which
// ids it was told of which alert.
type mailbox struct {
	verifier *standardwebhooks.Webhook
	mu       sync.Mutex
	opened   map[string]map[string]int // by device: how often under which id
	doubles  int
	wrong    []string
}

func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	var told *message.Message
	if err = m.verifier.Verify(body, r.Header); err == nil {
		told, err = message.Decode(body)
	}
	m.mu.Lock()
	if err != nil {
		m.wrong = append(m.wrong, err.Error())
	} else if told.Type == "alert.opened" && bytes.Contains(told.Data.Alert, []byte(`"high_temperature"`)) {
		ids := m.opened[told.Data.Device.Serial]
		if ids == nil {
			ids = make(map[string]int)
			m.opened[told.Data.Device.Serial] = ids
		}
		id := r.Header.Get("Webhook-Id")
		if ids[id]++; ids[id] > 1 {
			m.doubles++
		}
	}
	m.mu.Unlock()
	select { // a kill may come before the answer
	case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
	case <-r.Context().Done():
	}
}

// missing are the devices that nobody was told of.
func (m *mailbox) missing(devices []string) (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, serial := range devices {
		if len(m.opened[serial]) == 0 {
			list = append(list, serial)
		}
	}
	return list
}

// webhookSecret returns a secret of a webhook, and what verifies messages by it.
func webhookSecret(t *testing.T) (string, *standardwebhooks.Webhook) {
	t.Helper()
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return secret, verifier
}

// TestKill9BeforeDelivery kills a server between commits and deliveries: of every
// reading that was acknowledged and is too warm, people are told, and where they
// are told twice it is under the same id.
func TestKill9BeforeDelivery(t *testing.T) {
	trial.NeedsLong(t)
	secret, verifier := webhookSecret(t)
	box := &mailbox{verifier: verifier, opened: make(map[string]map[string]int)}
	receiver := httptest.NewServer(box)
	defer receiver.Close()
	k := &killer{bin: program(t), data: filepath.Join(t.TempDir(), "data")}
	k.flags = []string{"--data", k.data}
	out, err := exec.Command(k.bin, "token", "create", "--data", k.data, "--workspace", "W", "--create", "--name", "kill9").Output()
	if err != nil {
		t.Fatal(err)
	}
	k.token = strings.TrimSpace(string(out))
	addWebhook(t, k.data, receiver.URL, secret)
	t.Setenv("RIMEWATCH_OUTBOUND_ALLOW", "127.0.0.0/8")

	var told []string
	for round := range rounds(t) {
		told = append(told, k.burst(t, round)...)
	}
	p, _ := k.start(t)
	for deadline := time.Now().Add(patience); len(box.missing(told)) > 0; <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("of %d readings that were acknowledged and too warm nobody was told of %v\n%s", len(told), box.missing(told), p.err.String())
		}
	}
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("the last server ended with %v", err)
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	for serial, ids := range box.opened {
		if len(ids) > 1 {
			t.Errorf("of %s people were told under the ids %v", serial, ids)
		}
	}
	if len(box.wrong) > 0 {
		t.Errorf("%d messages were wrong: %s", len(box.wrong), box.wrong[0])
	}
	t.Logf("%d alerts told, %d doubles", len(told), box.doubles)
}

// addWebhook gives the workspace of a store that nobody uses a channel.
func addWebhook(t *testing.T, dir, url, secret string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, sqlite.FileName), Now: time.Now, HeadBytes: 1 << 20, SealAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.WorkspaceByName(t.Context(), "W")
	if err != nil {
		t.Fatal(err)
	}
	now := rimewatch.TimeOf(time.Now())
	c := rimewatch.Channel{WorkspaceID: w.ID, Name: "Hook", Kind: rimewatch.ChannelWebhook, Enabled: true, URL: url, Secret: secret, CreatedAt: now, UpdatedAt: now}
	if err := s.Routing().Channels().Create(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// burst posts readings that are too warm, kills the server amid them and returns
// the devices whose readings were acknowledged.
func (k *killer) burst(t *testing.T, round int) (told []string) {
	const burst = 16
	p, c := k.start(t)
	var serials []string
	for i := range burst {
		serial := fmt.Sprintf("R%d-%d", round, i)
		serials = append(serials, serial)
		if _, err := c.CreateDevice(t.Context(), serial, client.DeviceFields{
			OfflineAfterS: client.Value(86_400), // of its silence nobody is to be told
			Limits:        &rimewatch.LimitOverrides{TempMin: client.Value(0.0), TempMax: client.Value(5.0), DelayS: client.Value(0)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	acknowledged := make(chan string, burst)
	var posts sync.WaitGroup
	for _, serial := range serials {
		posts.Go(func() {
			<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) // spread over the commits
			warm := client.Reading{DeviceSerial: serial, Measurements: client.Measurements{ProductZoneTemp: client.Value(9.0)}}
			if _, _, err := c.PostReading(context.Background(), warm); err == nil {
				acknowledged <- serial
			}
		})
	}
	// Killed right after one of the commits: its messages are on their way at best.
	for range 1 + rand.IntN(burst/2) {
		select {
		case serial := <-acknowledged:
			told = append(told, serial)
		case err := <-p.done:
			t.Fatalf("the server ended by itself: %v\n%s", err, p.err.String())
		}
	}
	p.kill()
	posts.Wait()
	close(acknowledged)
	for serial := range acknowledged {
		told = append(told, serial)
	}
	if strings.Contains(p.err.String(), "DATA RACE") || strings.Contains(p.err.String(), "panic") {
		t.Fatal(p.err.String())
	}
	return told
}
