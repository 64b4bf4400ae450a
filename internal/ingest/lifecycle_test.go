package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// timeline returns the lines of an alert's timeline.
func (r *rig) timeline(id int64) []rimewatch.AlertTransition {
	r.t.Helper()
	list, err := r.s.Outbox().AlertTransitions(r.t.Context(), r.ws, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) lines(id int64) (out []string) {
	r.t.Helper()
	for _, t := range r.timeline(id) {
		out = append(out, strings.TrimSpace(fmt.Sprint(t.Kind, " ", t.Severity, " ", t.Actor)))
	}
	return out
}

// TestLifecycle follows a critical alert through people's hands, with a crash
// after each step.
func TestLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_freezer")
		r.warm(id, -20, 10*time.Minute)
		r.warm(id, -5, 62*time.Minute)
		first := r.stored(rimewatch.HighTemperature)[0]
		a, err := r.in.Acknowledge(t.Context(), r.ws, first.ID, "Eva", "", 0)
		if err != nil || a.AckExpiresAt != r.now()+rimewatch.Hour {
			t.Fatal(a.AckExpiresAt, err)
		}
		r.crash()
		r.warm(id, -5, 61*time.Minute)
		if a, err = r.in.NoteAlert(t.Context(), r.ws, first.ID, "Max", "waiting for a part"); err != nil || a.Note != "waiting for a part" || a.AcknowledgedBy != "" {
			t.Fatal(a, err)
		}
		if _, err = r.in.ResolveAlert(t.Context(), r.ws, first.ID, "Eva", "part is in"); err != nil {
			t.Fatal(err)
		}
		r.crash()
		same(t, "the first", r.lines(first.ID)[1:], []string{"acknowledged critical Eva", "acknowledgement_expired critical", "noted critical Max", "resolved critical Eva"})
		r.warm(id, -5, 4*time.Minute)
		same(t, "too early", len(r.stored(rimewatch.HighTemperature)), 1)
		r.warm(id, -5, 3*time.Minute)
		same(t, "it still holds", shortAlerts(r.stored(rimewatch.HighTemperature)), []string{"high_temperature critical resolved manual", "high_temperature critical active"})
		r.crash()
		r.warm(id, -20, 10*time.Minute)
		second := r.stored(rimewatch.HighTemperature)[1]
		same(t, "the second", r.lines(second.ID), []string{"opened critical", "resolved critical"})
		last := r.timeline(second.ID)[1]
		if f := last.Facts; f.Status != rimewatch.AlertResolved || *f.Value != -20 || f.ResolvedAt != second.ResolvedAt {
			t.Errorf("%+v, %+v", last, second)
		}
		broken, err := r.s.Audit().VerifyAudit(t.Context(), r.ws)
		same(t, "audit", []any{broken, err}, []any{int64(0), error(nil)})
	})
}

// TestStorms lets sites lose and find their devices at random, with crashes in
// between, and looks at what people would have been told.
func TestStorms(t *testing.T) {
	for seed := range uint64(shorter(2, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { storm(t, seed) })
		})
	}
}

func storm(t *testing.T, seed uint64) {
	r := newRig(t)
	defer func() { r.close() }()
	rnd := rand.New(rand.NewPCG(seed, 7))
	var devices [][]int64
	for _, name := range []string{"North", "South"} {
		_, ids := r.place(name, 4+rnd.IntN(6))
		devices = append(devices, ids)
	}
	silent := make(map[int64]bool)
	minute := func() {
		var batch []store.Input
		for _, id := range slices.Concat(devices...) {
			if !silent[id] {
				in := store.Input{Kind: store.InputReading, DeviceID: id}
				in.Reading.At = r.now()
				in.Reading.Set(rimewatch.ProductZoneTemp, -20)
				batch = append(batch, in)
			}
		}
		if err := r.in.Submit(t.Context(), batch, nil); err != nil {
			t.Fatal(err)
		}
		active := make(map[int64]int)
		for _, a := range r.stored(rimewatch.SiteOffline) {
			if a.Status == rimewatch.AlertActive {
				if active[a.SiteID]++; active[a.SiteID] > 1 {
					t.Fatalf("site %d has two alerts", a.SiteID)
				}
			}
		}
		time.Sleep(time.Minute)
	}
	for range 10 {
		minute()
	}
	for range 5 * 60 {
		for _, ids := range devices {
			switch dice := rnd.IntN(120); {
			case dice == 0: // the site's line
				for _, id := range ids {
					silent[id] = silent[id] || rnd.IntN(5) > 0
				}
			case dice < 4: // a device alone
				silent[ids[rnd.IntN(len(ids))]] = true
			case dice < 9: // some come back
				for _, id := range ids {
					silent[id] = silent[id] && rnd.IntN(2) > 0
				}
			}
		}
		if rnd.IntN(40) == 0 {
			r.crash()
		}
		minute()
	}
	outages := len(r.stored(rimewatch.SiteOffline))
	if outages == 0 {
		t.Error("no site has been offline: the day is too calm")
	}
	clear(silent)
	for range 65 { // what comes and goes is over after a quiet hour
		minute()
	}
	explained := 0
	for _, a := range append(r.stored(rimewatch.SiteOffline), r.stored(rimewatch.DeviceOffline)...) {
		if a.Status != rimewatch.AlertResolved {
			t.Errorf("%s of %d is %s at the end", a.Type, a.DeviceID, a.Status)
		}
		if a.Type == rimewatch.DeviceOffline {
			explained += toldOnce(t, r.timeline(a.ID))
		}
	}
	if explained < 3*outages {
		t.Errorf("%d outages of sites explain only %d alerts of devices", outages, explained)
	}
}

// toldOnce checks a device's alert: people are told of it when nothing explains
// it for two minutes, or when it is released; never both. It returns how often it
// was explained.
func toldOnce(t *testing.T, list []rimewatch.AlertTransition) int {
	t.Helper()
	opened, told, suppressed := list[0].At, 0, 0
	over := list[len(list)-1].At
	held := false // since it opened nothing has explained it
	for _, x := range list {
		switch x.Kind {
		case rimewatch.TransitionSuppressed:
			suppressed++
			held = held || x.At <= opened+2*rimewatch.Minute
		case rimewatch.TransitionReleased:
			told++
		default: // nobody is told by it
		}
	}
	if !held && over > opened+2*rimewatch.Minute {
		told++
	}
	if told > 1 || suppressed > 1 {
		var lines []string
		for _, x := range list {
			lines = append(lines, fmt.Sprint(x.Kind, " +", x.At-opened, " ms"))
		}
		t.Errorf("told %d times: %s", told, strings.Join(lines, ", "))
	}
	return suppressed
}
