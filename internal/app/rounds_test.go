package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestRoundsSurviveAStop: a check opens once by the clock of its site, for the units that stand there; it is missed when its
// time is over, and one whose time came and went while the service was not running says so.
func TestRoundsSurviveAStop(t *testing.T) {
	dir := t.TempDir()
	h, stop := goldenHouse(t, dir, goldenNow) // 13:00 in Berlin
	code, _, err := h.Accounts.SetupCode(t.Context())
	h.must(err)
	_, err = h.Accounts.Setup(t.Context(), account.SetupRequest{Code: code, Workspace: "Corner Shop", Email: "o@example.com", Name: "Olga", Password: goldenPassword}, rimewatch.TimeOf(goldenNow))
	h.must(err)
	h.signIn()
	for _, x := range [][2]string{
		{"/sites", `{"name":"Mitte","timezone":"Europe/Berlin"}`}, {"/sites", `{"name":"Lakeside","timezone":"America/Chicago"}`},
		{"/devices", `{"serial":"B","name":"Fish","equipment_type":"walkin_cooler","site_id":1}`}, {"/devices", `{"serial":"A","equipment_type":"walkin_cooler","site_id":1}`},
		{"/devices", `{"serial":"C","equipment_type":"walkin_cooler","site_id":2}`}, {"/devices", `{"serial":"M","equipment_type":"condensing_unit","site_id":1}`},
		{"/check-templates", `{"name":"Noon","windows":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"12:00","to":"14:00"}]}`},
	} {
		h.asOwner("POST", x[0], x[1], http.StatusCreated)
	}
	checks := func() string {
		t.Helper()
		h.must(h.PlanRounds(t.Context()))
		h.must(h.PlanRounds(t.Context()))
		var list []string
		for _, x := range h.asOwner("GET", "/checks", "", http.StatusOK)["checks"].([]any) {
			c := x.(map[string]any)
			items := c["items"].([]any)
			list = append(list, fmt.Sprintf("%v %v %v %v %d units from %v", c["site_id"], c["day"], c["status"], c["reason"], len(items), items[0].(map[string]any)["name"]))
		}
		return strings.Join(list, "; ")
	}
	is := func(want string) {
		t.Helper()
		if got := checks(); got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
	is("1 2026-11-20 due <nil> 2 units from A")
	stop()
	h, stop = goldenHouse(t, dir, goldenNow.Add(61*time.Minute))
	h.signIn()
	is("1 2026-11-20 missed not_done 2 units from A")
	stop()
	h, _ = goldenHouse(t, dir, goldenNow.Add(26*time.Hour)) // 15:00 in Berlin, 08:00 in Chicago
	h.signIn()
	is("1 2026-11-21 missed service_not_running 2 units from A; 2 2026-11-20 missed service_not_running 1 units from C; 1 2026-11-20 missed not_done 2 units from A")
}
