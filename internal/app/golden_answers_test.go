package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// asked are the addresses whose answers are kept.
var asked = []string{
	"/workspace", "/members", "/me", "/tokens", "/sites", "/devices", "/devices/F-1", "/devices/V-1", "/devices/D-1", "/readings/latest",
	"/devices/F-1/readings?from=2026-01-01T00:00:00Z&to=2026-11-21T00:00:00Z&limit=1000",
	"/devices/V-1/readings?from=2026-01-01T00:00:00Z&to=2026-11-21T00:00:00Z&limit=1000",
	"/devices/F-1/readings?from=2025-10-15T00:00:00Z&to=2025-10-18T00:00:00Z&step=1h",
	"/devices/V-1/readings?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&step=15m",
	"/alerts?limit=100", "/alerts/1", "/alerts/1/timeline", "/alerts/1/deliveries", "/alerts/1/corrective-actions", "/alerts/2", "/alerts/2/timeline",
	"/alerts/3", "/alerts/3/timeline", "/excursions", "/cases", "/cases/1", "/channels", "/routes", "/silences", "/maintenance-windows", "/maintenance-plans", "/report-schedules", "/contacts", "/rotas", "/work-orders", "/work-orders/1", "/check-templates", "/checks", "/checks/1", "/source-keys", "/channels/1/deliveries",
	"/sources", "/sources/1/bindings", "/sources/1/held", "/devices/V-1/calibrations", "/devices/F-1/corrective-actions", "/predictions/quality",
	"/audit?limit=200",
}

// derived are the members that are judged anew at every start, are about the
// moment, or are sentences that are made when they are read.
var derived = map[string]bool{
	"health": true, "prediction": true, "status": true, "status_changed_at": true, "judged": true, "not_judged": true, "server_time": true, "next_cursor": true,
	"age_s": true, "learning": true, "last_used_at": true, "expires_at": true, "usage": true, "text": true,
}

// answersOf asks everything.
func answersOf(h *house) map[string]any {
	h.t.Helper()
	all := make(map[string]any)
	for _, path := range asked {
		all[path] = answerOf(h, path)
	}
	return all
}

// answerOf asks for one address.
func answerOf(h *house, path string) any {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), "GET", h.URL()+"/api/v1"+path, nil)
	h.must(err)
	req.Header.Set("Cookie", "rimewatch_session="+h.owner.Secret)
	status, text := h.do(req)
	var envelope struct{ Data any }
	text = strings.ReplaceAll(text, "\u00a0", " ") // where a line may end is no matter of the store
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || status != http.StatusOK {
		return fmt.Sprintf("%d %s", status, text)
	}
	return envelope.Data
}

// failures is how often the channels of an answer have failed.
func failures(answer any) (n float64) {
	data, _ := answer.(map[string]any)
	list, _ := data["channels"].([]any)
	for _, c := range list {
		c, _ := c.(map[string]any)
		f, _ := c["failures"].(float64)
		n += f
	}
	return n
}

// toTheSecond is a member of what was answered, as it is answered today: when a reading
// came was said to the millisecond as long as it was not sealed.
func toTheSecond(name string, of map[string]any) any {
	came, _ := of[name].(string)
	recorded, is := of["recorded_at"].(string)
	if name != "received_at" || !is {
		return of[name]
	}
	var r rimewatch.Reading
	r.At, _ = rimewatch.ParseTime(recorded)
	r.ReceivedAt, _ = rimewatch.ParseTime(came)
	return r.Received().String()
}

// lost lists what of want is not in got. More may be.
func lost(at string, want, got any) (list []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v became %v", at, want, got)}
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if !derived[k] {
				list = append(list, lost(at+"."+k, toTheSecond(k, w), g[k])...)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s: %d became %d", at, len(w), len(g))}
		}
		for i := range w {
			list = append(list, lost(fmt.Sprintf("%s.%d", at, i), w[i], g[i])...)
		}
	default:
		if want != got {
			return []string{fmt.Sprintf("%s: %v became %v", at, want, got)}
		}
	}
	return list
}
