package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// file is readings that somebody brings.
type file []sent

func (f file) Len() int                { return len(f) }
func (f file) At(i int) rimewatch.Time { return f[i].at }
func (f file) Reading(i int) (r rimewatch.Reading) {
	r.At, r.Flags = f[i].at, r.Flags.WithBool(rimewatch.Imported, true)
	r.Set(rimewatch.ProductZoneTemp, f[i].temp)
	return r
}

func (r *rig) bring(id int64, f file) {
	r.t.Helper()
	inputs := make([]store.Input, len(f))
	for i := range f {
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: f.Reading(i)}
	}
	if err := r.in.Submit(r.t.Context(), inputs, nil); err != nil {
		r.t.Fatal(err)
	}
}

// TestImported: readings of a file are no sign of life and raise no alert, however warm the
// newest is; what they change of the record is what was said before, and stays after a restart.
func TestImported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		silent, alive := r.limited("SILENT", -15, 300), r.limited("ALIVE", -15, 300)
		began := r.now() - 6*rimewatch.Hour
		var warm, live file
		for at := began; at < r.now(); at += 5 * rimewatch.Minute {
			x := sent{at, -20}
			if at >= began+rimewatch.Hour && at < began+2*rimewatch.Hour || at >= began+5*rimewatch.Hour {
				x.temp = -5
			}
			warm = append(warm, x)
			live = append(live, sent{at + 1, -20})
		}
		r.submit(alive, live[:20]) // and then it was cut off
		for _, id := range []int64{silent, alive} {
			changes, err := r.in.Rehearse(t.Context(), id, warm)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := r.in.Rehearse(t.Context(), id, warm); len(again) != len(changes) {
				t.Errorf("%d changes, and then %d", len(changes), len(again))
			}
			if len(r.recorded(id)) != 0 {
				t.Fatal("a rehearsal is recorded")
			}
			r.bring(id, warm)
			time.Sleep(2 * time.Second)
			var said []rimewatch.Excursion
			for _, c := range changes {
				if c.Was != nil {
					t.Errorf("changes %+v", c.Was)
				}
				said = append(said, *c.Is)
			}
			list := r.recorded(id)
			if len(list) == 0 || id == silent && len(list) != 2 {
				t.Fatalf("recorded %+v", list)
			}
			sameExcursions(t, "rehearsed", said, list)
		}
		time.Sleep(time.Hour)
		same(t, "alerts of the silent one", len(r.alerts()), 1) // the other fell silent
		if v := r.view("SILENT"); v.Status != rimewatch.Offline || v.LastSeenAt != 0 || v.Latest.At != warm[len(warm)-1].at {
			t.Errorf("%s, last seen %s, latest %s", v.Status, v.LastSeenAt, v.Latest.At)
		}
		kept := r.recorded(silent)
		r.crash()
		time.Sleep(time.Minute)
		sameExcursions(t, "after a restart", r.recorded(silent), kept)
		same(t, "alerts", len(r.alerts()), 1)

		// The record is changed back by what a live reading says.
		r.submit(silent, []sent{{r.now(), -20}})
		if v := r.view("SILENT"); v.Status != rimewatch.Online {
			t.Error(v.Status)
		}
	})
}
