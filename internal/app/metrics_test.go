package app_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rimewatch/rimewatch"
)

// scrape reads the metrics of a fleet as a scraper does: by name, then serial.
func (h *house) scrape(token string) map[string]map[string]float64 {
	h.t.Helper()
	status, text := h.push("GET", "/api/v1/metrics", "", "Authorization", "Bearer "+token)
	if status != http.StatusOK || !strings.HasSuffix(text, "# EOF\n") {
		h.t.Fatalf("%d %s", status, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	h.must(err)
	out := make(map[string]map[string]float64)
	for name, family := range families {
		out[name] = make(map[string]float64)
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "serial" {
					out[name][l.GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
	}
	return out
}

// TestScrape: a token's scrape holds its own workspace's devices, with names that
// no format survives unescaped.
func TestScrape(t *testing.T) {
	h := newHouse(t)
	h.call("PATCH", "/devices/D-1", `{"name":"A \"quoted\\ name"}`)
	h.reading("D-1", -19.5)
	got := h.scrape(h.token)
	for name, want := range map[string]map[string]float64{
		"rimewatch_device_temperature_celsius": {"D-1": -19.5},
		"rimewatch_device_online":              {"D-1": 1, "D-2": 0},
		"rimewatch_device_active_alerts":       {"D-1": 0, "D-2": 0},
	} {
		if len(got[name]) != len(want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
		for serial, v := range want {
			if got[name][serial] != v {
				t.Errorf("%s of %s: %v, want %v", name, serial, got[name][serial], v)
			}
		}
	}
	if score := got["rimewatch_device_health_score"]["D-1"]; score <= 0 || score > 100 {
		t.Errorf("health %v", score)
	}
	if _, ok := got["rimewatch_device_health_score"]["D-2"]; ok {
		t.Error("a device that is not judged has a score")
	}
	other, err := h.Accounts.FindWorkspace(t.Context(), "Beta", true, rimewatch.TimeOf(time.Now()))
	h.must(err)
	stranger, _ := h.newToken(other.ID, rimewatch.ScopesFull)
	if online := h.scrape(stranger)["rimewatch_device_online"]; len(online) != 0 {
		t.Errorf("another workspace sees %v", online)
	}
	feed, _ := h.newToken(h.workspace(), rimewatch.ScopesIngest)
	if status, _ := h.push("GET", "/api/v1/metrics", "", "Authorization", "Bearer "+feed); status != http.StatusForbidden {
		t.Errorf("an ingest token: %d", status)
	}
}

// TestDashboard: the dashboard asks for nothing that a scrape does not hold, and
// no two panels lie over each other.
func TestDashboard(t *testing.T) {
	h := newHouse(t)
	h.reading("D-1", -19.5)
	served := h.scrape(h.token)
	b, err := os.ReadFile("../../deploy/grafana/rimewatch.json")
	h.must(err)
	var board struct {
		UID, Title    string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ RefID, Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	h.must(json.Unmarshal(b, &board))
	if board.UID == "" || board.Title == "" || board.SchemaVersion < 36 || len(board.Panels) < 5 {
		t.Fatalf("%+v", board)
	}
	metric := regexp.MustCompile(`rimewatch_\w+`)
	used := make(map[string]bool)
	for i, p := range board.Panels {
		if p.ID == 0 || p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 || !slices.Contains([]string{"stat", "timeseries", "table"}, p.Type) {
			t.Errorf("%+v", p)
		}
		for _, q := range board.Panels[:i] {
			apart := p.GridPos.X >= q.GridPos.X+q.GridPos.W || q.GridPos.X >= p.GridPos.X+p.GridPos.W || p.GridPos.Y >= q.GridPos.Y+q.GridPos.H || q.GridPos.Y >= p.GridPos.Y+p.GridPos.H
			if !apart || p.ID == q.ID {
				t.Errorf("%s and %s overlap", p.Title, q.Title)
			}
		}
		for _, target := range p.Targets {
			for _, name := range metric.FindAllString(target.Expr, -1) {
				used[name] = true
			}
		}
	}
	for _, v := range board.Templating.List {
		for _, name := range metric.FindAllString(v.Definition, -1) {
			used[name] = true
		}
	}
	for name := range used {
		if served[name] == nil {
			t.Errorf("%s is not in a scrape", name)
		}
	}
	for name := range served {
		if !used[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}
