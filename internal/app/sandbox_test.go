package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/sandbox"
)

// healthy is a unit that is well, and stays so.
type healthy struct{ n int }

func (u *healthy) After(time.Duration) rimewatch.Reading {
	const temp, swing, steps = -20, 0.2, 5
	var r rimewatch.Reading
	u.n++
	r.Set(rimewatch.ProductZoneTemp, temp+swing*float64(u.n%steps))
	return r
}

func (*healthy) Break(string) error { return nil }

func healthyUnits(string, uint64, rimewatch.Time) (sandbox.Unit, error) { return new(healthy), nil }

// asked makes a request with a token and returns its status, its code and its data.
func (h *house) asked(token, method, path, body string) (status int, code string, data map[string]any) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.URL()+"/api/v1"+path, strings.NewReader(body))
	h.must(err)
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.http.Do(req)
	h.must(err)
	defer resp.Body.Close()
	var envelope struct {
		Data  map[string]any
		Error struct{ Code string }
	}
	h.must(json.NewDecoder(resp.Body).Decode(&envelope))
	return resp.StatusCode, envelope.Error.Code, envelope.Data
}

// TestSandbox: a token with the scope makes a workspace with devices of its own, one at a time, in which
// nothing can be set up that sends messages but webhooks; what ends is erased.
func TestSandbox(t *testing.T) {
	h := newHouse(t, func(c *app.Config) { c.Sandbox = healthyUnits })
	maker, _ := h.newToken(h.workspace(), rimewatch.ScopeSettings)
	expect := func(token, method, path, body string, status int, code string) map[string]any {
		t.Helper()
		got, said, data := h.asked(token, method, path, body)
		if got != status || said != code {
			t.Fatalf("%s %s: %d %s %v", method, path, got, said, data)
		}
		return data
	}
	expect(h.token, "POST", "/sandbox", "", 403, "forbidden")
	expect(maker, "GET", "/sandbox", "", 404, "not_found")
	expect(maker, "POST", "/sandbox", `{"devices":11}`, 422, "validation_failed")
	made := expect(maker, "POST", "/sandbox", `{"devices":2}`, 201, "")
	inside := made["plain_token"].(string)
	if w := made["workspace"].(map[string]any); w["test"] != true || w["delete_at"] == nil {
		t.Errorf("the workspace is %v", w)
	}
	expect(maker, "POST", "/sandbox", "", 409, "conflict")
	expect(maker, "GET", "/sandbox", "", 200, "")
	h.must(h.Sandbox.Step(t.Context()))
	if list := expect(inside, "GET", "/devices", "", 200, "")["devices"].([]any); len(list) != 2 {
		t.Errorf("%d devices", len(list))
	}
	expect(inside, "POST", "/sandbox/devices/SANDBOX-2/fault", `{"fault":"offline"}`, 200, "")
	expect(inside, "POST", "/sandbox/devices/SANDBOX-3/fault", `{"fault":"offline"}`, 404, "device_not_found")
	expect(maker, "POST", "/sandbox/devices/SANDBOX-2/fault", `{"fault":"offline"}`, 404, "device_not_found")
	expect(inside, "POST", "/sandbox/devices/SANDBOX-2/fault", `{"fault":"fire"}`, 422, "validation_failed")
	expect(inside, "POST", "/sandbox", "", 409, "conflict")
	expect(inside, "POST", "/webhooks", `{"url":"https://erp.example.com/x"}`, 201, "")
	for path, body := range map[string]string{
		"/channels": `{"name":"x","kind":"webhook","url":"https://erp.example.com/x"}`, "/members": `{"email":"a@example.com","role":"viewer"}`,
	} {
		expect(inside, "POST", path, body, 403, "forbidden")
	}
	expect(inside, "POST", "/sources", `{"name":"x","kind":"mqtt","broker":{"url":"mqtts://broker.example.com","topics":["a"]}}`, 422, "validation_failed")
	expect(maker, "DELETE", "/sandbox", "", 200, "")
	h.must(h.Erase(t.Context()))
	expect(inside, "GET", "/devices", "", 401, "unauthenticated")
}

// TestSandboxWebhook: a program hears of the alert of a device that it broke, signed with the secret that it was given.
func TestSandboxWebhook(t *testing.T) {
	now := &clock{now: time.Now().Truncate(time.Second)}
	h := newHouse(t, local, func(c *app.Config) { c.Sandbox, c.Now = healthyUnits, now.Now })
	maker, _ := h.newToken(h.workspace(), rimewatch.ScopeSettings)
	_, _, made := h.asked(maker, "POST", "/sandbox", `{"devices":2}`)
	inside := made["plain_token"].(string)
	const secret = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="
	hook := newReceiver(t, secret)
	if status, code, _ := h.asked(inside, "POST", "/webhooks", `{"url":"`+hook.URL+`","types":["alert.opened"],"secret":"`+secret+`"}`); status != http.StatusCreated {
		t.Fatalf("the webhook: %d %s", status, code)
	}
	h.must(h.Sandbox.Step(t.Context()))
	if status, code, _ := h.asked(inside, "POST", "/sandbox/devices/SANDBOX-2/fault", `{"fault":"offline"}`); status != http.StatusOK {
		t.Fatalf("the fault: %d %s", status, code)
	}
	for range 30 {
		now.pass(time.Second)
		h.must(h.Sandbox.Step(t.Context()))
	}
	m := hook.next(t)
	var e struct {
		Type string
		Data struct {
			Alert struct {
				DeviceSerial string `json:"device_serial"`
				Type         string
			}
		}
	}
	h.must(json.Unmarshal(m.raw, &e))
	if e.Type != "alert.opened" || e.Data.Alert.DeviceSerial != "SANDBOX-2" || e.Data.Alert.Type != string(rimewatch.DeviceOffline) {
		t.Errorf("received: %s", m.raw)
	}
}

// TestNoSandbox: the operator can switch sandboxes off.
func TestNoSandbox(t *testing.T) {
	h := newHouse(t, func(c *app.Config) { c.Sandbox, c.NoSandbox = healthyUnits, true })
	maker, _ := h.newToken(h.workspace(), rimewatch.ScopeSettings)
	if status, code, _ := h.asked(maker, "POST", "/sandbox", ""); status != 409 || code != "conflict" {
		t.Errorf("%d %s", status, code)
	}
}
