package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/trial"
)

// plainClient knows the page that describes the service's first API and nothing
// else: that all bodies are JSON, that a request carries a token, and that an answer
// has success and data.
type plainClient struct {
	t           *testing.T
	base, token string
	contentType string // "" = it sends none
}

// call returns the data of an answer that must be a success.
func (c *plainClient) call(method, path, body string) map[string]any {
	c.t.Helper()
	status, data := c.try(method, path, body)
	if status < 200 || status > 299 {
		c.t.Errorf("%s %s %s as %q: %d %v", method, path, body, c.contentType, status, data)
	}
	return data
}

func (c *plainClient) try(method, path, body string) (int, map[string]any) {
	c.t.Helper()
	var sent io.Reader
	if body != "" {
		sent = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, sent)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" && c.contentType != "" {
		req.Header.Set("Content-Type", c.contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var envelope struct {
		Success *bool
		Data    map[string]any
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &envelope); err != nil || envelope.Success == nil || envelope.Data == nil {
		c.t.Fatalf("%s %s: no envelope: %v %s", method, path, err, text)
	}
	if want := resp.StatusCode < 300; *envelope.Success != want {
		c.t.Errorf("%s %s: %d with success %v", method, path, resp.StatusCode, *envelope.Success)
	}
	return resp.StatusCode, envelope.Data
}

// TestFirstClient plays every request of that page, in each way that its silence
// allows: it gets all of them through.
func TestFirstClient(t *testing.T) {
	trial.NeedsAll(t)
	h := bareInletsHouse(t)
	p := h.start(t)
	defer p.kill()
	operator := &plainClient{t: t, base: h.url + "/api", token: h.token, contentType: "application/json"}
	operator.call(http.MethodPost, "/v1/devices", `{"serial":"WIF-0001","name":"Back walk-in","equipment_type":"walkin_freezer"}`)
	for _, kind := range []string{"", "application/json", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded"} {
		c := &plainClient{t: t, base: h.url + "/api", token: h.token, contentType: kind}
		c.writes()
	}
	c := &plainClient{t: t, base: h.url + "/api", token: h.token}
	c.reads()
	public := &plainClient{t: t, base: h.url + "/api"}
	for _, path := range []string{"/v1/policies", "/v1/policies/privacy"} {
		c.call(http.MethodGet, path, "")
		public.call(http.MethodGet, path, "")
	}
	if status, _ := public.try(http.MethodGet, "/v1/devices", ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
}

// writes stores readings with each set of fields, and heartbeats with and without a body.
func (c *plainClient) writes() {
	c.t.Helper()
	fields := map[string]float64{"product_zone_temp": -18.4, "compressor_discharge_temp": 74, "compressor_suction_temp": -24.5, "ambient_temp": 24.1,
		"humidity": 46, "voltage": 229.6, "amp_draw": 14.8, "vibration_level": 2.1}
	all := `{"device_serial":"WIF-0001"`
	for name, v := range fields {
		all += fmt.Sprintf(`,%q:%v`, name, v)
		for _, body := range []string{
			fmt.Sprintf(`{"device_serial":"WIF-0001",%q:%v}`, name, v),
			fmt.Sprintf(`{"device_serial":"WIF-0001",%q:"%v"}`, name, v),
			fmt.Sprintf(`{%q:%d,"device_serial":"wif-0001"}`, name, int(v)),
		} {
			c.call(http.MethodPost, "/v1/readings", body)
		}
	}
	c.call(http.MethodPost, "/v1/readings", all+"}\r\n")
	c.call(http.MethodPost, "/v1/readings", all+`,"battery":81,"firmware":"1.2"}`)
	c.call(http.MethodPost, "/v1/readings", `{"device_serial":"NOT-YET-KNOWN","product_zone_temp":3,"humidity":null}`)
	for _, body := range []string{"", "{}", `{"status":"online"}`, `{"status":"offline"}`, `{"status":"online","uptime":5}`} {
		c.call(http.MethodPatch, "/v1/devices/WIF-0001/heartbeat", body)
	}
}

// reads asks for everything that the page lists, and finds the members that it names.
func (c *plainClient) reads() {
	c.t.Helper()
	for _, query := range []string{"", "?per_page=15", "?status=online", "?equipment_type=walkin_freezer", "?per_page=1&status=online&equipment_type=walkin_freezer", "?status=&equipment_type="} {
		list, _ := c.call(http.MethodGet, "/v1/devices"+query, "")["devices"].([]any)
		if len(list) != 1 {
			c.t.Errorf("devices%s: %v", query, list)
			continue
		}
		d := list[0].(map[string]any)
		if _, number := d["id"].(float64); !number || d["serial"] != "WIF-0001" || d["name"] != "Back walk-in" || d["equipment_type"] != "walkin_freezer" || d["status"] != "online" || d["current_temp"] != -18.4 {
			c.t.Errorf("devices%s: %v", query, d)
		}
	}
	if list, _ := c.call(http.MethodGet, "/v1/devices?status=offline", "")["devices"].([]any); len(list) != 0 {
		c.t.Errorf("offline: %v", list)
	}
	c.call(http.MethodGet, "/v1/devices/WIF-0001", "")
	c.call(http.MethodGet, "/v1/readings/latest", "")
	for _, query := range []string{"", "?status=all", "?status=active", "?status=resolved", "?severity=warning", "?severity=critical", "?status=all&severity=critical", "?status=&severity="} {
		c.call(http.MethodGet, "/v1/alerts"+query, "")
	}
	c.call(http.MethodGet, "/v1/alerts/counts", "")
	summary := c.call(http.MethodGet, "/v1/devices/health/summary", "")
	for _, name := range []string{"total_devices", "online_devices", "health_score", "active_alerts", "temperature_compliance"} {
		if _, number := summary[name].(float64); !number {
			c.t.Errorf("summary: %s is %v", name, summary[name])
		}
	}
}
