package ingest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/store"
)

// live plays a simulated unit up to now: what is past comes as an import, the
// rest minute by minute.
func (r *rig) live(u *simulate.Unit, id int64, span time.Duration) {
	r.t.Helper()
	var batch []store.Input
	flush := func() {
		if len(batch) > 0 {
			if err := r.in.Submit(r.t.Context(), batch, nil); err != nil {
				r.t.Fatal(err)
			}
			batch = nil
		}
	}
	for u.NextAt() <= r.now() {
		batch = append(batch, store.Input{Kind: store.InputReading, DeviceID: id, Reading: u.Next()})
		if len(batch) == 5000 {
			flush()
		}
	}
	flush()
	for end := r.now() + rimewatch.Time(span.Milliseconds()); u.NextAt() <= end; {
		time.Sleep(time.Until(u.NextAt().Std()))
		batch = append(batch, store.Input{Kind: store.InputReading, DeviceID: id, Reading: u.Next()})
		flush()
	}
}

// worn is a unit whose bearings have been wearing for a week and more.
func (r *rig) worn(seed uint64) *simulate.Unit {
	r.t.Helper()
	start := r.now() - 17*rimewatch.Day
	u, err := simulate.New(simulate.Config{Equipment: "walkin_cooler", Seed: seed, Start: start, Step: 10 * time.Second,
		Faults: []simulate.Fault{{Name: "bearing_wear", Severity: 0.9, Onset: start + 9*rimewatch.Day, Profile: simulate.Linear, Ramp: 12 * 24 * time.Hour}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

func (r *rig) prediction() rimewatch.AlertView {
	r.t.Helper()
	list, _, err := r.s.Alerts(r.t.Context(), r.ws, store.AlertFilter{Type: rimewatch.CompressorFailurePredicted}, store.AlertPage{Limit: 10})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(list) == 0 {
		r.t.Fatal("there is no prediction")
	}
	return list[0]
}

// TestPredictions: imported history teaches and announces nothing; what it shows
// is announced with the first recent readings, survives restarts, and ends by a
// person's verdict.
func TestPredictions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_cooler")
		u := r.worn(4)
		r.live(u, id, 0)
		opened := 0
		for _, e := range r.events() {
			if strings.Contains(e, "predicted") {
				opened++
			}
		}
		if opened != 1 {
			t.Fatalf("%d predictive events of an import that ends now, want the one that still holds", opened)
		}
		v := r.prediction()
		p := v.Prediction
		if p == nil || p.Fault != "bearing_wear" || len(p.Evidence) == 0 || p.Evidence[0].Metric != "vibration_level" || p.Evidence[0].Cycles == 0 {
			t.Fatalf("prediction %+v", p)
		}
		report, _ := r.in.Prediction(id)
		same(t, "report", []any{report.State, report.Prediction.Fault}, []any{"alarmed", "bearing_wear"})
		score, drivers := r.in.DeviceHealth(id)
		if score > 75 || !strings.Contains(strings.ToLower(drivers[0].Component+drivers[len(drivers)-1].Component), "predicted_fault") {
			t.Errorf("health %v %+v", score, drivers)
		}
		for _, restart := range []func(){r.crash, func() { r.close(); r.open() }} {
			restart()
			r.live(u, id, 10*time.Minute)
			same(t, "after a restart", []any{r.prediction().ID, r.prediction().Status}, []any{v.ID, rimewatch.AlertActive})
			if at := r.prediction().LastEvaluatedAt; r.now()-at > 2*rimewatch.Minute {
				t.Errorf("last evaluated at %v, now %v", at, r.now())
			}
		}
		r.events()

		verdict(r, v.ID, rimewatch.Useful, "see you on Monday")
		same(t, "useful", r.events(), []string{"alert.updated compressor_failure_predicted " + string(v.Severity)})
		same(t, "still open", r.prediction().Status, rimewatch.AlertActive)
		verdict(r, v.ID, rimewatch.Fixed, "new compressor")
		got := r.prediction()
		same(t, "fixed", []any{got.Status, got.Resolution, got.ResolvedBy, got.Feedback.Verdict, got.Feedback.Note}, []any{rimewatch.AlertResolved, rimewatch.ResolvedManual, "Olga", rimewatch.Fixed, "new compressor"})
		check := func(when string, want [4]int) {
			t.Helper()
			report, counts := r.in.Prediction(id)
			same(t, when, []any{report.State, counts, r.in.Verdicts()}, []any{"learning", want, want})
		}
		check("learns anew", [4]int{0, 0, 1})
		r.crash()
		check("after a crash", [4]int{0, 0, 1})
		r.in.CheckpointAll()
		r.crash()
		check("from a checkpoint", [4]int{0, 0, 1})
		verdict(r, v.ID, rimewatch.FalseAlarm, "")
		check("another word, afterwards", [4]int{0, 1, 0})
		same(t, "its row", r.prediction().Feedback.Verdict, rimewatch.FalseAlarm)
		counts, err := r.s.AlertCounts(t.Context(), r.ws, 0)
		if err != nil || counts.ResolvedWarning+counts.ResolvedCritical != 1 {
			t.Errorf("counts %+v, %v", counts, err)
		}
	})
}

func verdict(r *rig, id int64, v rimewatch.Verdict, note string) {
	r.t.Helper()
	if _, err := r.in.Feedback(r.t.Context(), r.ws, id, "Olga", v, note); err != nil {
		r.t.Fatal(err)
	}
}

// TestResolvedPrediction: a person who only closes the alert teaches nothing; it
// comes back with the next window that shows it.
func TestResolvedPrediction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_cooler")
		u := r.worn(4)
		r.live(u, id, 0)
		first := r.prediction()
		if _, err := r.in.ResolveAlert(t.Context(), r.ws, first.ID, "Olga", ""); err != nil {
			t.Fatal(err)
		}
		r.crash()
		r.live(u, id, 10*time.Minute)
		same(t, "closed", r.prediction().Status, rimewatch.AlertResolved)
		r.live(u, id, 13*time.Hour)
		if again := r.prediction(); again.ID == first.ID || again.Status != rimewatch.AlertActive {
			t.Errorf("it has not come back: %d %s", again.ID, again.Status)
		}
	})
}

// TestCommonMode: what most devices of a site do at once has one cause.
func TestCommonMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		_, ids := r.place("harbour", 5)
		_, elsewhere := r.place("hill", 3)
		devices := append(ids[:3:3], elsewhere[0])
		units := make([]*simulate.Unit, len(devices))
		for i, id := range devices {
			units[i] = r.worn(uint64(4 + i))
			r.live(units[i], id, 0)
		}
		for _, id := range append(ids[3:], elsewhere[1:]...) {
			r.send(id, r.now(), -20)
		}
		time.Sleep(5 * time.Second)
		list := func() (out []string) {
			for _, a := range r.stored(rimewatch.CompressorFailurePredicted) {
				out = append(out, shortAlert(a))
			}
			return out
		}
		said := func(i int) bool {
			a := r.stored(rimewatch.CompressorFailurePredicted)[i]
			for _, e := range a.Prediction.Evidence {
				if e.Metric == "common_mode" {
					return e.Observed == 3 && e.OutOf == 5
				}
			}
			return false
		}
		rows := r.stored(rimewatch.CompressorFailurePredicted)
		if len(rows) != 4 {
			t.Fatalf("%d predictions", len(rows))
		}
		by := []int64{0, rows[0].ID, rows[0].ID, 0}
		for i := range rows {
			same(t, list()[i], rows[i].SuppressedBy, by[i])
			same(t, list()[i], said(i), i == 0)
		}
		before := list()
		r.crash()
		for i := range units {
			r.live(units[i], devices[i], 0)
		}
		time.Sleep(5 * time.Second)
		same(t, "after a crash", list(), before)
		same(t, "the oldest still says so", said(0), true)

		if _, err := r.in.UpdateDevice(t.Context(), r.ws, "harbour-1", func(d *rimewatch.Device) error { d.SiteID = 0; return nil }); err != nil {
			t.Fatal(err)
		}
		same(t, "moved away", r.stored(rimewatch.CompressorFailurePredicted)[1].SuppressedBy, int64(0))
		verdict(r, rows[0].ID, rimewatch.Fixed, "")
		time.Sleep(5 * time.Second)
		for i, a := range r.stored(rimewatch.CompressorFailurePredicted) {
			same(t, list()[i]+" without the one that explained it", a.SuppressedBy, int64(0))
		}
	})
}
