package evaluate

import (
	"math"
	"testing"
	"time"
)

func bools(s string) []bool {
	b := make([]bool, len(s))
	for i := range s {
		b[i] = s[i] == '1'
	}
	return b
}

func seconds(n int) []time.Time {
	t := make([]time.Time, n)
	for i := range t {
		t[i] = time.Date(2020, 3, 9, 10, 0, i, 0, time.UTC)
	}
	return t
}

func TestOutliers(t *testing.T) {
	// TP 2, FP 1, FN 1, TN 4 over two files.
	got := scoreOutliers([]pair{
		{truth: bools("0110"), alarm: bools("0101")},
		{truth: bools("1000"), alarm: bools("1000")},
	})
	want := outlierScore{F1: 2 / (2 + 1.0), FAR: 20, MAR: 100.0 / 3}
	if math.Abs(got.F1-want.F1) > 1e-12 || math.Abs(got.FAR-want.FAR) > 1e-12 || math.Abs(got.MAR-want.MAR) > 1e-12 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEpisodes(t *testing.T) {
	run := func(n int, on ...[2]int) []bool {
		b := make([]bool, n)
		for _, o := range on {
			for i := o[0]; i < o[1]; i++ {
				b[i] = true
			}
		}
		return b
	}
	for _, tc := range []struct {
		name         string
		truth, alarm []bool
		want         episodeScore
	}{
		{"found, tail forgiven", run(400, [2]int{100, 150}), run(400, [2]int{120, 200}), episodeScore{1, 1, 0, 350}},
		{"missed, false", run(400, [2]int{100, 150}), run(400, [2]int{300, 310}), episodeScore{0, 1, 1, 350}},
		{"a chattering alarm is one", run(400), run(400, [2]int{10, 12}, [2]int{60, 61}, [2]int{120, 121}), episodeScore{0, 0, 1, 400}},
		{"61 rows later is another", run(400), run(400, [2]int{10, 11}, [2]int{72, 73}), episodeScore{0, 0, 2, 400}},
		{"constant", run(400, [2]int{100, 150}), run(400, [2]int{0, 400}), episodeScore{1, 1, 1, 350}},
	} {
		if got := scoreEpisodes([]pair{{truth: tc.truth, alarm: tc.alarm}}); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestChanges(t *testing.T) {
	at := func(n int, rows ...int) []bool {
		b := make([]bool, n)
		for _, r := range rows {
			b[r] = true
		}
		return b
	}
	for _, tc := range []struct {
		name    string
		change  []bool
		verdict []bool
		want    changeScore
	}{
		{"silence", at(300, 50, 200), at(300), changeScore{0, 2, 0, 2}},
		{"at once", at(300, 50, 200), at(300, 50, 200), changeScore{100, 0, 0, 2}},
		// One missed: (1 − 1 − (−2)) / (2 − (−2)).
		{"one missed", at(300, 50, 200), at(300, 50), changeScore{50, 1, 0, 2}},
		{"one false", at(300, 50, 200), at(300, 50, 200, 20), changeScore{100 * (2 - 0.11 + 2) / 4, 0, 1, 2}},
		// At the end of the window a hit earns what a false one costs.
		{"at the end", at(300, 50, 200), at(300, 50, 260), changeScore{100 * (1 - 0.11 + 2) / 4, 0, 0, 2}},
		{"after the end", at(300, 50, 200), at(300, 50, 261), changeScore{100 * (-0.11 + 2) / 4, 1, 1, 2}},
		{"overlap: the right window begins where the left one ends", at(300, 50, 80), at(300, 50, 110), changeScore{100, 0, 0, 2}},
	} {
		got := scoreChanges([]pair{{times: seconds(300), truth: at(300), alarm: at(300), change: tc.change, indicated: tc.verdict}}, standardProfile)
		if math.Abs(got.Standard-tc.want.Standard) > 1e-9 || got.Missed != tc.want.Missed || got.False != tc.want.False || got.Changes != tc.want.Changes {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestNAB(t *testing.T) {
	windows := []span{{200, 299}, {500, 599}}
	detect := func(rows ...int) []bool {
		b := make([]bool, 1000)
		for _, r := range rows {
			b[r] = true
		}
		return b
	}
	middle := sigmoid(-0.5) / sigmoid(-1)
	after := -0.11 * -sigmoid(1)
	for _, tc := range []struct {
		name string
		d    []bool
		want nabScore
	}{
		{"silence", detect(), nabScore{0, 0, 2, 0}},
		{"at once", detect(200, 500), nabScore{100, 2, 2, 0}},
		{"in the middle", detect(250, 550), nabScore{100 * (2*middle + 2) / 4, 2, 2, 0}},
		{"only the first in a window counts", detect(200, 290, 500, 501), nabScore{100, 2, 2, 0}},
		{"probation is not judged", detect(10, 200, 500), nabScore{100, 2, 2, 0}},
		{"before all windows", detect(150, 200, 500), nabScore{100 * (2 - 0.11 + 2) / 4, 2, 2, 1}},
		{"one width after a window", detect(200, 500, 698), nabScore{100 * (2 + after + 2) / 4, 2, 2, 1}},
		{"long after", detect(200, 500, 999), nabScore{100 * (2 - 0.11 + 2) / 4, 2, 2, 1}},
	} {
		got := scoreNAB(tc.d, windows, 100, standardProfile)
		if tc.name == "long after" { // 400 rows: place 4.04 > 3
			got.Score = math.Round(got.Score*1e9) / 1e9
		}
		if math.Abs(got.Score-tc.want.Score) > 1e-9 || got.Found != tc.want.Found || got.Want != tc.want.Want || got.False != tc.want.False {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}
