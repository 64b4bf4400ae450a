package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// retained returns what a broker keeps, by topic, once want is right.
func retained(t *testing.T, addr string, want func(map[string]map[string]any) error) (found map[string]map[string]any) {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	within(t, func() error {
		// It ends after a second of listening, with 27.
		out, err := exec.CommandContext(t.Context(), "mosquitto_sub", "-h", host, "-p", port, "-v", "-W", "1", "-t", "homeassistant/#", "-t", "rimewatch/#").Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatalf("this test needs mosquitto_sub: apt-get install mosquitto-clients: %v", err)
		}
		found = make(map[string]map[string]any)
		for line := range strings.Lines(string(out)) {
			topic, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
			var v map[string]any
			if json.Unmarshal([]byte(payload), &v) != nil {
				v = map[string]any{"": payload}
			}
			if payload != "" {
				found[topic] = v
			}
		}
		return want(found)
	})
	return found
}

// TestHomeAssistantDiscovery: a Home Assistant at a real broker shows devices,
// their states, and that they are gone.
func TestHomeAssistantDiscovery(t *testing.T) {
	trial.NeedsAll(t)
	h := newInletsHouse(t)
	p := h.start(t)
	cookie := h.signIn(t, inletsPassword)
	body := fmt.Sprintf(`{"kind":"mqtt","name":"home","broker":{"url":"mqtt://%s","topics":["+/nothing"],"discovery_prefix":"homeassistant"}}`, h.broker)
	h.source(t, cookie, body)
	now := rimewatch.TimeOf(time.Now())
	if err := h.webhook(7).send(t.Context(), now-60_000, -18.5); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(h.url, h.token, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.UpdateDevice(t.Context(), "webhook-7", steady())
	if err != nil {
		t.Fatal(err)
	}
	var node string
	check := func(temp any, status string) func(map[string]map[string]any) error {
		return func(found map[string]map[string]any) error {
			for topic, config := range found {
				rest, ok := strings.CutSuffix(topic, fmt.Sprintf("/%d/config", d.ID))
				if !ok {
					continue
				}
				node = strings.TrimPrefix(rest, "homeassistant/device/")
				sensor, _ := config["components"].(map[string]any)["product_zone_temp"].(map[string]any)
				state := found[fmt.Sprint(config["state_topic"])]
				available := found[fmt.Sprint(config["availability_topic"])]
				if sensor["device_class"] != "temperature" || sensor["value_template"] != "{{ value_json.product_zone_temp }}" || config["device"].(map[string]any)["serial_number"] != "webhook-7" ||
					state["product_zone_temp"] != temp || state["reporting"] != "ON" || state["problem"] != "OFF" || available[""] != status {
					return fmt.Errorf("config %v, state %v, available %v", config, state, available)
				}
				return nil
			}
			return fmt.Errorf("not described: %v", found)
		}
	}
	retained(t, h.broker, check(-18.5, "online"))
	if err := h.webhook(7).send(t.Context(), now, -17.25); err != nil {
		t.Fatal(err)
	}
	retained(t, h.broker, check(-17.25, "online"))

	// While the service is away its devices are not available; what is deleted goes,
	// also when the broker has it from an earlier connection.
	if err := p.terminate(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	retained(t, h.broker, check(-17.25, "offline"))
	gone := "homeassistant/device/" + node + "/424242/config"
	host, port, _ := net.SplitHostPort(h.broker)
	if out, err := exec.CommandContext(t.Context(), "mosquitto_pub", "-h", host, "-p", port, "-q", "1", "-r", "-t", gone, "-m", `{"device":{}}`).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p = h.start(t)
	retained(t, h.broker, func(found map[string]map[string]any) error {
		if found[gone] != nil {
			return fmt.Errorf("%s is still there", gone)
		}
		return check(-17.25, "online")(found)
	})
	h.deleteSource(t, "home")
	retained(t, h.broker, func(found map[string]map[string]any) error {
		if len(found) > 0 {
			return fmt.Errorf("after the source was deleted: %v", found)
		}
		return nil
	})
	if err := p.terminate(os.Interrupt); err != nil {
		t.Error(err)
	}
}
