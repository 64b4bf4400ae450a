package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestActsSurviveAKill: what a person has asked for is done by whatever process runs when its time
// has come, and, where one was killed between doing it and noting that, once.
func TestActsSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	h, stop := goldenHouse(t, dir, goldenNow)
	code, _, err := h.Accounts.SetupCode(t.Context())
	h.must(err)
	_, err = h.Accounts.Setup(t.Context(), account.SetupRequest{Code: code, Workspace: "Corner Shop", Email: "o@example.com", Name: "Olga", Password: goldenPassword}, rimewatch.TimeOf(goldenNow))
	h.must(err)
	h.signIn()
	h.page = true
	for _, serial := range []string{"A-1", "A-2"} {
		h.asOwner("POST", "/devices", `{"serial":"`+serial+`"}`, http.StatusCreated)
	}
	silence := `{"match":{"severities":["warning"]},"ends_at":"` + h.later(time.Hour) + `","comment":"holiday"}`
	asked := []map[string]any{
		h.asOwner("DELETE", "/devices/A-1", "", http.StatusAccepted), h.asOwner("POST", "/silences", silence, http.StatusAccepted),
		h.asOwner("DELETE", "/devices/A-2", "", http.StatusAccepted),
	}
	last := asked[2]["act"].(map[string]any)["id"].(float64)
	h.asOwner("POST", "/acts/3/undo", "", http.StatusOK)
	if last != 3 {
		t.Fatalf("the acts are %v", asked)
	}
	stop()
	h, _ = goldenHouse(t, dir, goldenNow.Add(11*time.Second))
	h.signIn()
	h.page = true
	h.must(h.CarryOut(t.Context()))
	again := func(id int64) {
		t.Helper()
		_, err := h.Store.Acts().Update(store.WithActor(t.Context(), "x"), 1, id, func(a *rimewatch.Act) error { a.State = rimewatch.ActPending; return nil })
		h.must(err)
	}
	again(1)
	again(2)
	h.must(h.CarryOut(t.Context()))
	for i, want := range []string{"done", "done", "undone"} {
		if act := h.asOwner("GET", []string{"/acts/1", "/acts/2", "/acts/3"}[i], "", http.StatusOK)["act"].(map[string]any); act["state"] != want {
			t.Errorf("%v, want %s", act, want)
		}
	}
	h.asOwner("GET", "/devices/A-1", "", http.StatusNotFound)
	h.asOwner("GET", "/devices/A-2", "", http.StatusOK)
	if list := h.asOwner("GET", "/silences", "", http.StatusOK)["silences"].([]any); len(list) != 1 {
		t.Errorf("silences: %v", list)
	}
}
