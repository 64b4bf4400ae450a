package demo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/trial"
)

const now = rimewatch.Time(1795200000000)

// from is a clock that runs on from a moment.
func from(at rimewatch.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return at.Std().Add(time.Since(began)) }
}

// The market is what it says: twelve devices of different types, each of which
// can be simulated and has a serial of its own.
func TestFixtures(t *testing.T) {
	serials, types, troubles := map[string]bool{}, map[string]bool{}, map[trouble]int{}
	for i := range fixtures {
		f := &fixtures[i]
		serials[f.serial()], types[f.equipment] = true, true
		troubles[f.trouble]++
		if !rimewatch.ValidSerial(f.serial()) {
			t.Errorf("%s: %s is no serial", f.name, f.serial())
		}
		if (f.trouble == healthy) != (f.trouble.story() == "") {
			t.Errorf("%s: story %q", f.name, f.trouble.story())
		}
		if f.place < 0 || f.place >= len(places) {
			t.Errorf("%s: no such place", f.name)
		}
		if _, err := simulate.New(f.config(1, now, 5*time.Second, time.Hour)); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	if len(fixtures) != 12 || len(serials) != 12 || len(types) != 12 {
		t.Errorf("%d fixtures, %d serials, %d types", len(fixtures), len(serials), len(types))
	}
	for _, x := range []trouble{fouling, doorOpen, powerLoss, slipped, mistyped} {
		if troubles[x] != 1 {
			t.Errorf("trouble %d befalls %d devices", x, troubles[x])
		}
	}
}

// Whatever the time of day, the troubles show in the readings at the start, and
// what ends while one watches is better some time later.
func TestTroublesShow(t *testing.T) {
	for hour := range rimewatch.Time(24) {
		for i := range fixtures {
			f := &fixtures[i]
			if f.trouble != doorOpen && f.trouble != powerLoss {
				continue
			}
			start := now + hour*rimewatch.Hour
			if f.trouble == powerLoss { // whatever the season, too: an open door on a cold night harms nothing
				start += hour * 15 * rimewatch.Day
			}
			c := f.config(uint64(1+i), start, time.Minute, time.Hour)
			c.Start = start - 6*rimewatch.Hour
			u, err := simulate.New(c)
			if err != nil {
				t.Fatal(err)
			}
			limits := (&rimewatch.Device{EquipmentType: f.equipment}).LimitsInForce()
			var since rimewatch.Time // of the excursion
			var r rimewatch.Reading
			for u.NextAt() <= start {
				r = u.Next()
				switch temp := r.Values[rimewatch.ProductZoneTemp]; {
				case temp <= *limits.TempMax:
					since = 0
				case since == 0:
					since = r.At
				}
			}
			if since == 0 || r.At-since < rimewatch.Time(limits.DelayS)*rimewatch.Second {
				t.Errorf("%s at %s: %.1f °C, too warm since %s", f.name, start, r.Values[rimewatch.ProductZoneTemp], since)
			}
			if off := r.Values[rimewatch.Voltage] == 0; off != (f.trouble == powerLoss) {
				t.Errorf("%s at %s: %.0f V", f.name, start, r.Values[rimewatch.Voltage])
			}
			for u.NextAt() <= start+3*rimewatch.Hour {
				r = u.Next()
			}
			if temp := r.Values[rimewatch.ProductZoneTemp]; temp > *limits.TempMax || r.Values[rimewatch.Voltage] == 0 {
				t.Errorf("%s at %s: still %.1f °C and %.0f V after three hours", f.name, start, temp, r.Values[rimewatch.Voltage])
			}
		}
	}
}

// lived returns what the engine tells of a fixture in a demo that starts at a moment, until another.
func lived(t *testing.T, f *fixture, seed uint64, start, until rimewatch.Time) (told []alert.Transition) {
	t.Helper()
	u, err := simulate.New(f.config(seed, start, time.Minute, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c := engine.ConfigOf(&rimewatch.Device{EquipmentType: f.equipment})
	var state engine.State
	for u.NextAt() <= until {
		r := u.Next()
		told, _ = state.Step(&c, nil, &engine.Input{Kind: engine.Reading, Reading: &r, Last: true}, r.At, told)
	}
	return told
}

// Whatever the time of day, the probe that slipped is doubted at the start, and no
// machine is suspected.
func TestSlippedShows(t *testing.T) {
	hours := 24
	if !trial.Long() {
		hours = 3
	}
	for hour := range hours {
		start := now + rimewatch.Time(hour)*rimewatch.Hour + rimewatch.Time(7*hour)*rimewatch.Minute
		for i := range fixtures {
			f := &fixtures[i]
			if f.trouble != slipped {
				continue
			}
			told := []string{""}
			for _, tr := range lived(t, f, uint64(1+i+hour%3), start, start) {
				told = append(told, string(tr.Type)+" "+tr.Metric)
			}
			// Before it is doubted it is believed: the line has become too warm.
			if told[len(told)-1] != "sensor_fault compressor_suction_temp" || strings.Contains(fmt.Sprint(told), "suspected") {
				t.Errorf("%s at %s: %v", f.name, start, told)
			}
		}
	}
}

// TestDeadShows: whatever the time of day, the cabinet whose contactor fails is told not to
// cool while somebody watches, before it is too warm, and to cool again after the repair.
func TestDeadShows(t *testing.T) {
	hours := 12
	if !trial.Long() {
		hours = 1
	}
	for hour := range hours {
		start := now + rimewatch.Time(2*hour)*rimewatch.Hour + rimewatch.Time(7*hour)*rimewatch.Minute
		for i := range fixtures {
			f := &fixtures[i]
			if f.trouble != dead {
				continue
			}
			var told []string
			for _, tr := range lived(t, f, uint64(1+i+hour%3), start, start+3*rimewatch.Hour) {
				told = append(told, string(tr.Type)+" "+string(tr.Kind)+" "+string(tr.Unmet)+string(tr.Ending))
			}
			if len(told) < 2 || told[0] != "not_cooling opened no_current" || !slices.Contains(told, "not_cooling resolved beguncools") {
				t.Errorf("%s at %s: %v", f.name, start, told)
			}
		}
	}
}

// At nearly every time of day the unit that counts running hours is defrosting at the
// start, and never too warm by more than a defrost makes it. When that will be over is told where its course is known already: mostly.
func TestDefrostsShow(t *testing.T) {
	trial.NeedsLong(t)
	const hours rimewatch.Time = 12
	told, melting := rimewatch.Time(0), rimewatch.Time(0)
	for hour := range hours {
		start := now + 2*hour*rimewatch.Hour + 7*hour*rimewatch.Minute
		for i := range fixtures {
			f := &fixtures[i]
			c := f.config(uint64(1+i)+uint64(hour%3), start, 5*time.Second, time.Hour)
			if c.Params == nil || c.Params.Trigger != simulate.ByRunTime {
				continue
			}
			u, err := simulate.New(c)
			if err != nil {
				t.Fatal(err)
			}
			ec := engine.ConfigOf(&rimewatch.Device{EquipmentType: f.equipment})
			var state engine.State
			var r rimewatch.Reading
			for minute := c.Start; u.NextAt() <= start; {
				if r = u.Next(); r.At >= minute {
					minute += pastEvery
					state.Step(&ec, nil, &engine.Input{Kind: engine.Reading, Reading: &r, Last: true}, r.At, nil)
				}
			}
			if v := r.Values[rimewatch.ProductZoneTemp]; v > *ec.Health.Limits.TempMax+3 {
				t.Errorf("%s at %s: %.1f °C", f.name, start, v)
			}
			if said, _ := r.Flags.Bool(rimewatch.DefrostActive); said {
				melting++
			}
			if d, ok := state.Unit.Defrost(); ok && d.Back > start+5*rimewatch.Minute && d.Known >= 2 {
				told++
			}
		}
	}
	if melting < hours*3/4 || told < hours/2 {
		t.Errorf("it defrosts at %d of %d hours, and at %d it is told when that will be over", melting, hours, told)
	}
}

func TestStartRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{Serve: config.Serve{Data: dir}}, "is not empty"},
		{Config{Every: time.Millisecond}, "from 1 s to 60 s"},
		{Config{Serve: config.Serve{Listen: "nonsense"}}, "HOST:PORT"},
	} {
		if _, err := Start(context.Background(), tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.c, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Error("something was written into a directory that is not empty")
	}
}

// TestPredictionAtStart: who looks at a fresh demo finds the failing condenser
// predicted, days ahead, from history that was imported a moment ago.
func TestPredictionAtStart(t *testing.T) {
	trial.NeedsLong(t) // TestTold starts one
	// With weather, and with a unit as the seed has it, the third was taken for another fault at this moment.
	const at rimewatch.Time = 1795428000000
	for seed := range uint64(3) {
		d, err := Start(t.Context(), Config{Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 16, SealAfter: time.Hour}, Seed: seed, Now: from(at)})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(d.URL, d.Token, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, doubted := 0, 0
		for a, err := range c.Alerts(t.Context(), client.AlertFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if a.Type == rimewatch.SensorFault {
				doubted++
				if a.DeviceName != "Meat cooler" || a.Metric != rimewatch.CompressorSuctionTemp.String() {
					t.Errorf("seed %d: %s: %s", seed, a.DeviceName, a.Message)
				}
			}
			p := a.Prediction
			if p == nil {
				continue
			}
			found++
			if a.Type != rimewatch.CondenserFoulingSuspected || p.Fault != "condenser_fouling" || p.LeadTimeH == nil || *p.LeadTimeH < 24 || len(p.Evidence) < 2 || !strings.Contains(a.Message, "condenser") {
				t.Errorf("seed %d: %s %+v: %s", seed, a.Type, p, a.Message)
			}
			report, err := c.Prediction(t.Context(), a.DeviceSerial)
			if err != nil || report.State != "alarmed" || report.Prediction == nil || len(report.Drivers) == 0 {
				t.Errorf("seed %d: %+v, %v", seed, report, err)
			}
			judged, err := c.Feedback(t.Context(), a.ID, rimewatch.Fixed, "cleaned")
			if err != nil || judged.Status != rimewatch.AlertResolved || judged.Feedback == nil || judged.Feedback.Note != "cleaned" {
				t.Errorf("seed %d: %+v, %v", seed, judged, err)
			}
			if report, err = c.Prediction(t.Context(), a.DeviceSerial); err != nil || report.State != "learning" || report.Feedback.Fixed != 1 {
				t.Errorf("seed %d: %+v, %v", seed, report, err)
			}
		}
		if found != 1 || doubted != 1 {
			t.Errorf("seed %d: %d predictions, %d sensors doubted", seed, found, doubted)
		}
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestTold: whoever has the night is told of every trouble at the start, by
// messages whose signature they have checked, and somebody else's messages are
// refused.
func TestTold(t *testing.T) {
	news := make(chan News, 16)
	d, err := Start(t.Context(), Config{
		Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 16, SealAfter: time.Hour},
		News:  func(n News) { news <- n },
		Now:   from(now),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}()
	want := map[string]bool{"Fish cooler": true, "Pharmacy refrigerator": true, "Walk-in freezer": true}
	for len(want) > 0 {
		select {
		case n := <-news:
			late := strings.Contains(n.Text, "Not acknowledged yet") // on a slow machine some go on to the manager meanwhile
			if !n.Told || n.Who != nightShift && !late {
				t.Errorf("%+v", n)
			}
			if n.Who != nightShift {
				continue
			}
			for name := range want {
				if strings.Contains(n.Text, name) {
					delete(want, name)
				}
			}
		case <-time.After(10 * time.Minute):
			t.Fatalf("nobody was told of %v", want)
		}
	}
	checkNewcomer(t, d)
	checkBoard(t, d)
	checkOwn(t, d)
	r, err := http.Post("http://"+d.shift.listener.Addr().String()+"/night", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Body.Close(); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("an unsigned message: %s", r.Status)
	}
}

// checkOwn sends by the key that was made for whoever watches, as a shell or a phone does.
func checkOwn(t *testing.T, d *Demo) {
	t.Helper()
	r, err := http.Post(d.URL+"/in/"+d.Key, "", strings.NewReader(`{"id":"phone-1","temperature":"39.2","unit":"°F","battery":81}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(text), `"held":1`) {
		t.Errorf("%s %s %v", r.Status, text, err)
	}
}

// checkNewcomer accepts the probe that nobody has registered.
func checkNewcomer(t *testing.T, d *Demo) {
	t.Helper()
	api, err := client.New(d.URL, d.Token, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for sender, err := range api.Sources().Held(t.Context(), client.SourceOfAPI) {
		if n++; err != nil || sender.ExternalID != Newcomer || sender.Payloads != 10 {
			t.Errorf("what waits: %+v %v", sender, err)
		}
	}
	outcome, err := api.Sources().Bind(t.Context(), client.SourceOfAPI, []client.SenderBinding{{ExternalID: Newcomer, EquipmentType: "dairy_case"}})
	if n != 1 || err != nil || outcome.Accepted != 10 {
		t.Errorf("%d wait, accepted: %+v %v", n, outcome, err)
	}
	if device, err := api.Device(t.Context(), Newcomer); err != nil || device.CurrentTemp == nil {
		t.Errorf("%+v %v", device, err)
	}
}

// checkBoard accepts both probes of the board that waits, at once.
func checkBoard(t *testing.T, d *Demo) {
	t.Helper()
	api, err := client.New(d.URL, d.Token, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []client.SenderBinding
	var source string
	sources, err := api.Sources().List(t.Context())
	for i := range sources {
		if sources[i].Kind == "push" {
			source = strconv.FormatInt(sources[i].ID, 10)
		}
	}
	for sender, err := range api.Sources().Held(t.Context(), source) {
		if strings.HasPrefix(sender.ExternalID, Board+"/") {
			list = append(list, client.SenderBinding{ExternalID: sender.ExternalID, DeviceSerial: fmt.Sprint("PROBE-", len(list)), EquipmentType: "other"})
		}
		if err != nil {
			t.Error(err)
		}
	}
	outcome, boundErr := api.Sources().Bind(t.Context(), source, list)
	if len(list) != 2 || err != nil || boundErr != nil || outcome.Accepted < 20 {
		t.Errorf("%d probes wait, accepted: %+v %v %v", len(list), outcome, err, boundErr)
	}
}
